"""What a launch of a kernel with eight parameters costs the host, in CuPy and cuda.core. Prints JSON:
seconds by name, or the error of a library that is missing. `python3 launches.py`"""

import json
import statistics
import time

BATCHES, LAUNCHES = 101, 200
PTX = b""".version 7.0
.target sm_70
.address_size 64
.visible .entry eight(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u32 e,
  .param .u32 f, .param .f32 g, .param .f64 h) { ret; }
\0"""


def median_seconds(launch, settle):
    samples = []
    for batch in range(BATCHES + 1):
        settle()
        start = time.perf_counter()
        for _ in range(LAUNCHES):
            launch()
        if batch > 0:
            samples.append((time.perf_counter() - start) / LAUNCHES)
    settle()
    return statistics.median(samples)


def with_cupy():
    import tempfile

    import cupy
    import numpy

    with tempfile.NamedTemporaryFile(suffix=".ptx") as file:
        file.write(PTX.rstrip(b"\0"))
        file.flush()
        kernel = cupy.RawModule(path=file.name).get_function("eight")
    stream = cupy.cuda.Stream(non_blocking=True)
    x = cupy.zeros(1024, dtype=cupy.float32)
    values = (x, x, x, x, numpy.uint32(1), numpy.uint32(1), numpy.float32(0.5), numpy.float64(0.25))
    with stream:
        return median_seconds(lambda: kernel((1,), (32,), values), stream.synchronize)


def with_cuda_core():
    import ctypes

    try:
        from cuda.core import Device, LaunchConfig, ObjectCode, launch
    except ImportError:
        from cuda.core.experimental import Device, LaunchConfig, ObjectCode, launch

    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = ObjectCode.from_ptx(PTX.rstrip(b"\0")).get_kernel("eight")
    config = LaunchConfig(grid=1, block=32)
    x = device.allocate(4096, stream=stream)
    numbers = (ctypes.c_uint32(1), ctypes.c_uint32(1), ctypes.c_float(0.5), ctypes.c_double(0.25))
    return median_seconds(lambda: launch(stream, config, kernel, x, x, x, x, *numbers), stream.sync)


def attempt(measure):
    try:
        return measure()
    except Exception as error:  # one library that fails must not cost the other
        return f"{type(error).__name__}: {error}"


print(json.dumps({"CuPy": attempt(with_cupy), "cuda.core": attempt(with_cuda_core)}))
