"""JAX: arrays moved with device_put() and numpy.asarray(); it has no copies of page-locked memory."""

import jax
import numpy

from .measure import (
    PAGEABLE_SIZES,
    pageable_run_count,
    random_bytes,
    require_equal,
    sample_calls,
)


def measure(report):
    report.versions = {"jax": jax.__version__}
    report.device = jax.devices()[0].device_kind
    with report.section("pageable copies"):
        for byte_length in PAGEABLE_SIZES:
            measure_pageable(report, byte_length)


def measure_pageable(report, byte_length):
    source = random_bytes(byte_length)
    count = pageable_run_count(byte_length)
    up = sample_calls(lambda: jax.device_put(source).block_until_ready(), count=count)
    device = jax.device_put(source).block_until_ready()
    # An array keeps what was downloaded of it, so each is downloaded once.
    copies = iter([device.copy().block_until_ready() for _ in range(count + 1)])
    down = sample_calls(lambda: numpy.asarray(next(copies)), count=count)
    require_equal(numpy.asarray(device), source)
    report.add_seconds("freshUpload", "device_put()", up, byte_length=byte_length)
    report.add_seconds("freshDownload", "numpy.asarray()", down, byte_length=byte_length)
