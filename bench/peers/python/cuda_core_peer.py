"""cuda.core: NVIDIA's own Python API, buffers copied with copy_to(), memory from the driver's pool.
It has no copy of ordinary host memory, so only page-locked cases are here."""

import ctypes

import cuda.core
import numpy
from cuda.core import Device, EventOptions, LegacyPinnedMemoryResource

from .measure import (
    ALLOCATION_BYTES,
    PINNED_SIZES,
    random_bytes,
    require_equal,
    sample_batches,
    sample_calls,
    sample_speeds,
)


def measure(report):
    device = Device()
    device.set_current()
    report.versions = {"cuda.core": cuda.core.__version__}
    report.device = device.name
    stream = device.create_stream()
    with report.section("allocateFree"):
        measure_allocation(report, device, stream)
    with report.section("small copies"):
        measure_small_copies(report, device, stream)
    with report.section("pinned copies"):
        for byte_length in PINNED_SIZES:
            measure_pinned(report, device, stream, byte_length)


def array_over(buffer):
    memory = (ctypes.c_uint8 * buffer.size).from_address(int(buffer.handle))
    return numpy.ctypeslib.as_array(memory)


def measure_allocation(report, device, stream):
    def pair():
        device.allocate(ALLOCATION_BYTES, stream=stream).close(stream)

    report.add_seconds(
        "allocateFree",
        "Device.allocate, Buffer.close",
        sample_batches(pair, settle=stream.sync, call_count=1000),
        byte_length=ALLOCATION_BYTES,
    )


def measure_small_copies(report, device, stream):
    host = LegacyPinnedMemoryResource().allocate(4)
    array_over(host)[:] = 1
    target = device.allocate(4, stream=stream)

    def queue():
        host.copy_to(target, stream=stream)

    def copy_and_wait():
        host.copy_to(target, stream=stream)
        stream.sync()

    queued = sample_batches(queue, settle=stream.sync)
    waited = sample_calls(copy_and_wait, count=2001)
    for buffer in (target, host):
        buffer.close(stream)
    report.add_seconds("queueUpload", "Buffer.copy_to, pinned", queued, byte_length=4)
    report.add_seconds(
        "uploadAndWait", "Buffer.copy_to, pinned, and Stream.sync", waited, byte_length=4
    )


def measure_pinned(report, device, stream, byte_length):
    pinned = LegacyPinnedMemoryResource()
    host, sink = pinned.allocate(byte_length), pinned.allocate(byte_length)
    array_over(host)[:] = random_bytes(byte_length)
    array_over(sink)[:] = 0
    target = device.allocate(byte_length, stream=stream)

    def elapsed_seconds(run):
        options = EventOptions(timing_enabled=True)
        start = stream.record(options=options)
        run()
        end = stream.record(options=options)
        end.sync()
        return (end - start) / 1e3

    def speeds(source, destination):
        return sample_speeds(
            lambda: source.copy_to(destination, stream=stream),
            byte_length,
            elapsed_seconds=elapsed_seconds,
        )

    up = speeds(host, target)
    down = speeds(target, sink)
    require_equal(array_over(sink), array_over(host))
    report.add_speeds("pinnedUpload", "Buffer.copy_to", up, byte_length=byte_length)
    report.add_speeds("pinnedDownload", "Buffer.copy_to", down, byte_length=byte_length)
    for buffer in (target, host, sink):
        buffer.close(stream)
    stream.sync()
