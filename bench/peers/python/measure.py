"""Samples, medians and the JSON document that every peer program prints.
A section that fails leaves one entry with its error; the sections after it still run."""

import json
import statistics
import sys
import time
import traceback
from contextlib import contextmanager

import numpy

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
PAGEABLE_SIZES = (16 * MIB, 64 * MIB, 256 * MIB, GIB)
PINNED_SIZES = (16 * MIB, 256 * MIB, GIB)
ALLOCATION_BYTES = MIB
WARM_UP_COUNT = 4
COPY_COUNT = 16
SPEED_SAMPLE_COUNT = 5
KEPT_SAMPLE_COUNT = 21


def seconds_of(action):
    """Times one call and drops what it returned only after the clock has stopped."""
    start = time.perf_counter()
    kept = action()
    seconds = time.perf_counter() - start
    del kept
    return seconds


def sample_calls(action, *, count, after=lambda: None):
    """Times single calls after one that is not counted; `after` runs between them, untimed."""
    samples = []
    for index in range(count + 1):
        seconds = seconds_of(action)
        after()
        if index > 0:
            samples.append(seconds)
    return samples


def sample_batches(action, *, settle, count=11, call_count=10_000):
    """Times batches of a short call, in seconds a call; `settle` runs between batches, untimed."""
    samples = []
    for index in range(count + 1):
        settle()
        action()
        start = time.perf_counter()
        for _ in range(call_count):
            action()
        seconds = time.perf_counter() - start
        if index > 0:
            samples.append(seconds / call_count)
    settle()
    return samples


def sample_speeds(enqueue, byte_length, *, elapsed_seconds):
    """Times 16 copies after 4 uncounted ones; `elapsed_seconds(run)` brackets `run` with events."""

    def warm_up():
        for _ in range(WARM_UP_COUNT):
            enqueue()

    def copies():
        for _ in range(COPY_COUNT):
            enqueue()

    speeds = []
    for _ in range(SPEED_SAMPLE_COUNT):
        warm_up()
        speeds.append(byte_length * COPY_COUNT / elapsed_seconds(copies) / 1e9)
    return speeds


def pageable_run_count(byte_length):
    """Few runs for a gigabyte, more for a megabyte: about a second a size."""
    return max(5, min(31, GIB // byte_length))


def require_equal(actual, expected):
    """Fails the section when a timed copy did not move the right bytes."""
    if not numpy.array_equal(actual, expected):
        raise RuntimeError("Cannot trust the copy: its bytes differ from the source")


def random_bytes(byte_length):
    """Makes bytes that never repeat at an offset, so that a shifted or stale copy shows."""
    words = numpy.random.default_rng(7).integers(
        0, 1 << 63, byte_length // 8 + 1, dtype=numpy.uint64
    )
    return words.view(numpy.uint8)[:byte_length]


class Report:
    """Collects one peer's results."""

    def __init__(self, peer):
        self.peer = peer
        self.device = "none"
        self.versions = {}
        self.results = []

    def add(self, name, method, unit, samples, *, byte_length=None, **details):
        entry = {"name": name, "method": method}
        if byte_length is not None:
            entry["byteLength"] = byte_length
        # Thousands of samples of one short call say no more than twenty evenly spread ones.
        kept = samples[:: -(-len(samples) // KEPT_SAMPLE_COUNT)]
        entry.update(
            value=statistics.median(samples),
            unit=unit,
            samples=kept,
            sampleCount=len(samples),
            **details,
        )
        self.results.append(entry)

    def add_seconds(self, name, method, samples, **details):
        self.add(name, method, "s", samples, **details)

    def add_speeds(self, name, method, samples, **details):
        self.add(name, method, "GB/s", samples, **details)

    @contextmanager
    def section(self, name):
        print(f"{self.peer}: {name}", file=sys.stderr, flush=True)
        try:
            yield
        except Exception as error:  # one failing section must not cost the others
            traceback.print_exc()
            self.results.append({"name": name, "error": f"{type(error).__name__}: {error}"})

    def print(self):
        print(
            json.dumps(
                {
                    "peer": self.peer,
                    "device": self.device,
                    "versions": self.versions,
                    "results": self.results,
                }
            )
        )
