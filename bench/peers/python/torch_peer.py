"""PyTorch: tensors moved with copy_(), .cuda() and .cpu(), memory from its caching allocator.
Pageable cases end with a synchronize, so that they count whole copies."""

import torch

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
    report.versions = {"torch": torch.__version__, "cuda": str(torch.version.cuda)}
    report.device = torch.cuda.get_device_name(0)
    torch.cuda.init()
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
            "torch.empty",
            allocate=device_bytes,
            peak_reserved_bytes=torch.cuda.max_memory_reserved,
            reset=reset_allocator,
        )


def device_bytes(byte_length):
    return torch.empty(byte_length, dtype=torch.uint8, device="cuda")


def reset_allocator():
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()


def measure_allocation(report):
    report.add_seconds(
        "allocateFree",
        "torch.empty",
        sample_batches(lambda: device_bytes(ALLOCATION_BYTES), settle=torch.cuda.synchronize),
        byte_length=ALLOCATION_BYTES,
    )


def measure_small_copies(report):
    host = torch.ones(1, dtype=torch.float32, pin_memory=True)
    device = torch.zeros(1, dtype=torch.float32, device="cuda")
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()

    def queue():
        device.copy_(host, non_blocking=True)

    def copy_and_wait():
        device.copy_(host, non_blocking=True)
        stream.synchronize()

    with torch.cuda.stream(stream):
        queued = sample_batches(queue, settle=stream.synchronize)
        waited = sample_calls(copy_and_wait, count=2001)
        read = sample_calls(device.item, count=2001)
    report.add_seconds("queueUpload", "copy_(non_blocking=True), pinned", queued, byte_length=4)
    report.add_seconds(
        "uploadAndWait", "copy_(non_blocking=True), pinned, and synchronize", waited, byte_length=4
    )
    report.add_seconds("downloadAndWait", "item()", read, byte_length=4)


def measure_pinned(report, byte_length):
    host = torch.from_numpy(random_bytes(byte_length)).pin_memory()
    sink = torch.zeros(byte_length, dtype=torch.uint8, pin_memory=True)
    device = torch.zeros(byte_length, dtype=torch.uint8, device="cuda")
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()

    def elapsed_seconds(run):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record(stream)
        run()
        end.record(stream)
        stream.synchronize()
        return start.elapsed_time(end) / 1e3

    def speeds(target, source):
        return sample_speeds(
            lambda: target.copy_(source, non_blocking=True),
            byte_length,
            elapsed_seconds=elapsed_seconds,
        )

    with torch.cuda.stream(stream):
        up = speeds(device, host)
        down = speeds(sink, device)
    require_equal(sink.numpy(), host.numpy())
    report.add_speeds("pinnedUpload", "copy_(non_blocking=True)", up, byte_length=byte_length)
    report.add_speeds("pinnedDownload", "copy_(non_blocking=True)", down, byte_length=byte_length)


def measure_pageable(report, byte_length):
    source = torch.from_numpy(random_bytes(byte_length))
    sink = torch.ones(byte_length, dtype=torch.uint8)
    device = torch.zeros(byte_length, dtype=torch.uint8, device="cuda")
    torch.cuda.synchronize()

    def waited(copy):
        def run():
            result = copy()
            torch.cuda.synchronize()
            return result

        return sample_calls(run, count=pageable_run_count(byte_length))

    up = waited(lambda: device.copy_(source))
    down = waited(lambda: sink.copy_(device))
    require_equal(sink.numpy(), source.numpy())
    fresh_up = waited(source.cuda)
    fresh_down = waited(device.cpu)
    require_equal(source.cuda().cpu().numpy(), source.numpy())
    for name, method, seconds in (
        ("pageableUpload", "copy_()", up),
        ("pageableDownload", "copy_()", down),
        ("freshUpload", "cuda()", fresh_up),
        ("freshDownload", "cpu()", fresh_down),
    ):
        report.add_seconds(name, method, seconds, byte_length=byte_length)
