"""The format's own Python library beside the kit: writes the fixtures, and checks what the kit saved.

    python3 peer.py write FOLDER            writes types.safetensors and wide.safetensors anew
    python3 peer.py check FILE              compares a file that the kit saved with what it should hold
    python3 peer.py random FOLDER COUNT     writes files of random tensors: 0.safetensors and so on
    python3 peer.py compare FOLDER OTHER    compares all files of a folder with those of another
    python3 peer.py judge FILE              reads many files in one, each behind its length in 8 bytes,
                                            and prints for each whether it is taken
    python3 peer.py save FILE BYTES COUNT   replaces a file COUNT times, and prints the seconds of each

Needs: pip install safetensors numpy, and ml_dtypes for write and check
"""

import json
import random
import struct
import sys
import time
from pathlib import Path

import numpy
from safetensors import SafetensorError, TensorSpec, deserialize, safe_open, serialize_file
from safetensors.numpy import load_file, save_file

METADATA = {"made_by": "safetensors"}


def typed_tensors():
    """One tensor of each type that numpy knows, a scalar, an empty one, and names with signs in them."""
    import ml_dtypes

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


# Bytes of one element of each type that the library writes.
TYPES = {"uint8": 1, "int8": 1, "bool": 1, "int16": 2, "uint16": 2, "float16": 2, "bfloat16": 2} | {
    "int32": 4, "uint32": 4, "float32": 4, "int64": 8, "uint64": 8, "float64": 8, "complex64": 8
} | {
    "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e8m0fnu": 1, "float8_e4m3fnuz": 1
} | {"float8_e5m2fnuz": 1, "float4_e2m1fn_x2": 1}
SIGNS = "abcXYZ019._-/ \\\"\n\t\x01\x7fäßλ中🙂\u2028\ufeff"


def random_text(choices, most):
    return "".join(choices.choice(SIGNS) for _ in range(choices.randint(0, most)))


def random_tensor(choices):
    shape = tuple(choices.randint(0, 5) for _ in range(choices.randint(0, 4)))
    dtype = choices.choice(list(TYPES))
    if dtype == "float4_e2m1fn_x2" and not shape:
        shape = (1,)
    data = choices.randbytes(int(numpy.prod(shape)) * TYPES[dtype])
    return dtype, shape, bytes(byte & 1 for byte in data) if dtype == "bool" else data


def six_bit_file(choices):
    """A file with floats of 6 bits, which the library reads but has no name for to write them."""
    count = 4 * choices.randint(0, 9)
    data = choices.randbytes(count * 3 // 4)
    dtype = choices.choice(["F6_E2M3", "F6_E3M2"])
    header = json.dumps({"w": {"dtype": dtype, "shape": [count], "data_offsets": [0, len(data)]}}).encode()
    return struct.pack("<Q", len(header)) + header + data


def write_random(folder, count):
    for index in range(int(count)):
        choices = random.Random(index)
        path = folder / f"{index}.safetensors"
        if index % 10 == 9:
            path.write_bytes(six_bit_file(choices))
            continue
        tensors = {random_text(choices, 30): random_tensor(choices) for _ in range(choices.randint(0, 12))}
        metadata = {random_text(choices, 9): random_text(choices, 30) for _ in range(choices.randint(0, 3))}
        arrays = {name: numpy.frombuffer(data, "uint8") for name, (_, _, data) in tensors.items()}
        specs = {
            name: TensorSpec(
                dtype=dtype, shape=shape, data_ptr=arrays[name].ctypes.data, data_len=len(data)
            )
            for name, (dtype, shape, data) in tensors.items()
        }
        serialize_file(specs, str(path), metadata or None)


def contents(path):
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata() or {}
    tensors = deserialize(path.read_bytes())
    return {name: (t["dtype"], t["shape"], bytes(t["data"])) for name, t in tensors}, metadata


def compare(folder, other):
    paths = sorted(folder.glob("*.safetensors"))
    for path in paths:
        if contents(path) != contents(Path(other) / path.name):
            raise SystemExit(f"Cannot accept {path.name}: it differs")
    print(len(paths))


def judge(path):
    data = path.read_bytes()
    verdicts = []
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        at += 8
        try:
            deserialize(data[at : at + length])
            verdicts.append("")
        except SafetensorError as error:
            verdicts.append(str(error))
        at += length
    json.dump(verdicts, sys.stdout)


def save(path, byte_length, count):
    tensors = {
        f"layers.{index}.weight": numpy.ones(int(byte_length) // 300 // 2, "float16")
        for index in range(300)
    }
    seconds = []
    for _ in range(int(count)):
        start = time.perf_counter()
        save_file(tensors, path)
        seconds.append(time.perf_counter() - start)
    json.dump(seconds, sys.stdout)


if __name__ == "__main__":
    command, path, *rest = sys.argv[1:]
    {
        "write": write,
        "check": check,
        "random": write_random,
        "compare": compare,
        "judge": judge,
        "save": save,
    }[command](Path(path), *rest)
