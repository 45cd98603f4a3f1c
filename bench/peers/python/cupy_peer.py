"""CuPy: arrays moved with set(), get(), asarray() and asnumpy(), memory from its pool.
Copies of page-locked memory call the runtime as CuPy binds it, since its arrays never queue them.
"""

import cupy
import numpy
from cupy.cuda import runtime

from .measure import (
    ALLOCATION_BYTES,
    PAGEABLE_SIZES,
    PINNED_SIZES,
    pageable_run_count,
    random_bytes,
    require_equal,
    sample_batches,
    sample_calls,
    sample_speeds,
)
from .trace import measure_trace


def measure(report):
    properties = runtime.getDeviceProperties(0)
    report.versions = {"cupy": cupy.__version__, "cudaRuntime": str(runtime.runtimeGetVersion())}
    report.device = properties["name"].decode()
    cupy.cuda.Device(0).use()
    with report.section("allocateFree"):
        measure_allocation(report)
    with report.section("small copies"):
        measure_small_copies(report)
    with report.section("pinned copies"):
        for byte_length in PINNED_SIZES:
            measure_pinned(report, byte_length)
    with report.section("pageable copies"):
        for byte_length in PAGEABLE_SIZES:
            measure_pageable(report, byte_length)
    with report.section("trace"):
        measure_trace(
            report,
            "cupy.cuda.alloc",
            allocate=cupy.cuda.alloc,
            # The pool only shrinks when it is told to, so what it holds at the end is its peak.
            peak_reserved_bytes=cupy.get_default_memory_pool().total_bytes,
            reset=reset_pool,
        )


def reset_pool():
    runtime.deviceSynchronize()
    cupy.get_default_memory_pool().free_all_blocks()


def pinned_array(byte_length):
    return numpy.frombuffer(cupy.cuda.alloc_pinned_memory(byte_length), numpy.uint8, byte_length)


def measure_allocation(report):
    report.add_seconds(
        "allocateFree",
        "cupy.cuda.alloc",
        sample_batches(lambda: cupy.cuda.alloc(ALLOCATION_BYTES), settle=runtime.deviceSynchronize),
        byte_length=ALLOCATION_BYTES,
    )
    report.add_seconds(
        "allocateFree",
        "cupy.empty",
        sample_batches(
            lambda: cupy.empty(ALLOCATION_BYTES, numpy.uint8), settle=runtime.deviceSynchronize
        ),
        byte_length=ALLOCATION_BYTES,
    )


def measure_small_copies(report):
    host = pinned_array(4)
    host[:] = 1
    device = cupy.empty(4, numpy.uint8)
    stream = cupy.cuda.Stream(non_blocking=True)
    target, source, handle = device.data.ptr, host.ctypes.data, stream.ptr

    def queue():
        runtime.memcpyAsync(target, source, 4, runtime.memcpyHostToDevice, handle)

    def copy_and_wait():
        runtime.memcpyAsync(target, source, 4, runtime.memcpyHostToDevice, handle)
        stream.synchronize()

    queued = sample_batches(queue, settle=stream.synchronize)
    waited = sample_calls(copy_and_wait, count=2001)
    require_equal(cupy.asnumpy(device), host)
    read = sample_calls(device.view(numpy.float32)[0].item, count=2001)
    report.add_seconds("queueUpload", "runtime.memcpyAsync, pinned", queued, byte_length=4)
    report.add_seconds(
        "uploadAndWait", "runtime.memcpyAsync, pinned, and synchronize", waited, byte_length=4
    )
    report.add_seconds("downloadAndWait", "item()", read, byte_length=4)


def measure_pinned(report, byte_length):
    host, sink = pinned_array(byte_length), pinned_array(byte_length)
    host[:] = random_bytes(byte_length)
    sink[:] = 0
    device = cupy.empty(byte_length, numpy.uint8)
    stream = cupy.cuda.Stream(non_blocking=True)

    def elapsed_seconds(run):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record(stream)
        run()
        end.record(stream)
        stream.synchronize()
        return cupy.cuda.get_elapsed_time(start, end) / 1e3

    def speeds(target, source, kind):
        return sample_speeds(
            lambda: runtime.memcpyAsync(target, source, byte_length, kind, stream.ptr),
            byte_length,
            elapsed_seconds=elapsed_seconds,
        )

    up = speeds(device.data.ptr, host.ctypes.data, runtime.memcpyHostToDevice)
    down = speeds(sink.ctypes.data, device.data.ptr, runtime.memcpyDeviceToHost)
    require_equal(sink, host)
    report.add_speeds("pinnedUpload", "runtime.memcpyAsync", up, byte_length=byte_length)
    report.add_speeds("pinnedDownload", "runtime.memcpyAsync", down, byte_length=byte_length)


def measure_pageable(report, byte_length):
    source = random_bytes(byte_length)
    sink = numpy.ones(byte_length, numpy.uint8)
    device = cupy.empty(byte_length, numpy.uint8)

    def waited(copy):
        def run():
            result = copy()
            runtime.deviceSynchronize()
            return result

        return sample_calls(run, count=pageable_run_count(byte_length))

    up = waited(lambda: device.set(source))
    down = waited(lambda: device.get(out=sink))
    require_equal(sink, source)
    fresh_up = waited(lambda: cupy.asarray(source))
    fresh_down = waited(lambda: cupy.asnumpy(device))
    require_equal(cupy.asnumpy(cupy.asarray(source)), source)
    for name, method, seconds in (
        ("pageableUpload", "set()", up),
        ("pageableDownload", "get(out=)", down),
        ("freshUpload", "asarray()", fresh_up),
        ("freshDownload", "asnumpy()", fresh_down),
    ):
        report.add_seconds(name, method, seconds, byte_length=byte_length)
