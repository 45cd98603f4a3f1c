"""The format's own Python library beside the kit: writes the fixtures, and checks what the kit saved.

    python3 peer.py write FOLDER    writes types.safetensors and wide.safetensors anew
    python3 peer.py check FILE      compares a file that the kit saved with what it should hold

Needs: pip install safetensors numpy ml_dtypes
"""

import sys
from pathlib import Path

import ml_dtypes
import numpy
from safetensors import TensorSpec, safe_open, serialize_file
from safetensors.numpy import load_file, save_file

METADATA = {"made_by": "safetensors"}


def typed_tensors():
    """One tensor of each type that numpy knows, a scalar, an empty one, and names with signs in them."""
    tensors = {
        name: numpy.arange(6).reshape(2, 3).astype(name)
        for name in ("uint8", "int8", "int16", "uint16", "float16", "int32", "uint32", "float32")
        + ("float64", "int64", "uint64")
    }
    tensors["bool"] = numpy.array([True, False, True])
    tensors["bfloat16"] = numpy.array([0.5, -1.5, 3.0], dtype=ml_dtypes.bfloat16)
    tensors["scalar"] = numpy.array(2.5, dtype="float32")
    tensors["empty"] = numpy.zeros((0, 4), dtype="float32")
    tensors['größe/"α"'] = numpy.array([-1, 2**62], dtype="int64")
    return tensors


def wide_tensors():
    """Types that no typed array holds, as bytes: 8-bit floats, complex numbers, 4-bit floats."""
    phase = numpy.array([1 + 2j, -3.5 + 0.25j], dtype="complex64")
    return {
        "scale": ("float8_e8m0fnu", (4,), bytes([127, 128, 126, 0])),
        "weight": ("float8_e4m3fn", (2, 2), bytes([56, 184, 0, 126])),
        "phase": ("complex64", (2,), phase.tobytes()),
        "packed": ("float4_e2m1fn_x2", (2, 2), bytes([0x10, 0x32, 0x54, 0x76])),
    }


def write(folder):
    save_file(typed_tensors(), folder / "types.safetensors", metadata=METADATA)
    arrays = {name: numpy.frombuffer(data, "uint8") for name, (_, _, data) in wide_tensors().items()}
    specs = {
        name: TensorSpec(
            dtype=dtype, shape=shape, data_ptr=arrays[name].ctypes.data, data_len=len(data)
        )
        for name, (dtype, shape, data) in wide_tensors().items()
    }
    serialize_file(specs, str(folder / "wide.safetensors"), None)


def check(path):
    expected = typed_tensors()
    actual = load_file(path)
    if sorted(actual) != sorted(expected):
        raise SystemExit(f"Cannot accept {path}: it has {sorted(actual)}")
    for name, tensor in expected.items():
        found = actual[name]
        same = found.dtype == tensor.dtype and found.shape == tensor.shape
        if not same or found.tobytes() != tensor.tobytes():
            raise SystemExit(f"Cannot accept {path}: {name} is {found!r}, expected {tensor!r}")
    with safe_open(path, framework="numpy") as file:
        if file.metadata() != METADATA:
            raise SystemExit(f"Cannot accept {path}: its metadata is {file.metadata()}")
    print(f"{path}: {len(actual)} tensors as expected")


if __name__ == "__main__":
    command, path = sys.argv[1:]
    {"write": write, "check": check}[command](Path(path))
