"""The random allocation trace that every pool replays, made as trace.ts makes it.
Both files must change together: a test pins the trace, and each result carries its peak."""

import time
from dataclasses import dataclass

STEP_COUNT = 100_000
LIVE_LIMIT_COUNT = 192
SEED = 0x5EED1234
SMALLEST_EXPONENT = 8
OCTAVE_COUNT = 20
MASK = 0xFFFFFFFF


@dataclass(frozen=True)
class Trace:
    """Steps: n > 0 allocates n bytes; -n frees live block n - 1, and the last takes its place."""

    steps: list
    peak_live_bytes: int


def xorshift32(seed):
    state = seed
    while True:
        state ^= (state << 13) & MASK
        state ^= state >> 17
        state ^= (state << 5) & MASK
        yield state


def allocation_trace(step_count=STEP_COUNT):
    """Draws an octave, a place and a choice a step; five in eight allocate within the limit."""
    draw = xorshift32(SEED).__next__
    steps, live = [], []
    live_bytes = peak_live_bytes = 0
    for _ in range(step_count):
        exponent = SMALLEST_EXPONENT + draw() % OCTAVE_COUNT
        byte_length = (1 << exponent) + (draw() & ((1 << exponent) - 1))
        wants = draw() % 8 < 5
        if not live or (wants and len(live) < LIVE_LIMIT_COUNT):
            steps.append(byte_length)
            live.append(byte_length)
            live_bytes += byte_length
            peak_live_bytes = max(peak_live_bytes, live_bytes)
            continue
        victim = draw() % len(live)
        steps.append(-victim - 1)
        live_bytes -= live[victim]
        live[victim] = live[-1]
        live.pop()
    return Trace(steps, peak_live_bytes)


def replay(trace, allocate):
    """Replays a trace, freeing by dropping the last reference; gives seconds a step."""
    live = []
    start = time.perf_counter()
    for step in trace.steps:
        if step > 0:
            live.append(allocate(step))
            continue
        last = live.pop()
        if -step - 1 < len(live):
            live[-step - 1] = last
        last = None
    return (time.perf_counter() - start) / len(trace.steps)


def measure_trace(report, method, *, allocate, peak_reserved_bytes, reset):
    """Replays the trace three times, each from an empty pool."""
    trace = allocation_trace()
    seconds, ratios = [], []
    for _ in range(3):
        reset()
        seconds.append(replay(trace, allocate))
        ratios.append(peak_reserved_bytes() / trace.peak_live_bytes)
    reset()
    report.add_seconds("traceStep", method, seconds, peakLiveBytes=trace.peak_live_bytes)
    report.add(
        "tracePeakReservedOverLive", method, "ratio", ratios, peakLiveBytes=trace.peak_live_bytes
    )
