"""The same program with a Python library: peer.py LIBRARY BYTES."""

import sys

library, size = sys.argv[1], int(sys.argv[2])
import numpy

array = numpy.full(size, 7, dtype=numpy.uint8)
if library == "cuda.core":
    from cuda.core import Device

    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    buffer = device.memory_resource.allocate(size, stream=stream)
    from cuda.bindings import driver

    driver.cuMemcpyHtoDAsync(int(buffer.handle), array.ctypes.data, size, stream.handle)
    back = numpy.empty_like(array)
    driver.cuMemcpyDtoHAsync(back.ctypes.data, int(buffer.handle), size, stream.handle)
    stream.sync()
elif library == "cupy":
    import cupy

    back = cupy.asnumpy(cupy.asarray(array))
elif library == "jax":
    import jax

    back = numpy.asarray(jax.device_put(array))
elif library == "torch":
    import torch

    back = torch.from_numpy(array).cuda().cpu().numpy()
else:
    raise ValueError(f"no such library: {library}")
assert back[0] == 7 and back[-1] == 7
