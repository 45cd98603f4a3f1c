"""GGUF files by Python's gguf: `peer.py random FOLDER COUNT`, `peer.py split FOLDER`, `peer.py big FILE`,
`peer.py fixture FILE`, `peer.py digest FILE...`, `peer.py types`."""

import hashlib
import json
import struct
import sys
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf import GGUFReader, GGUFValueType, GGUFWriter

# The library has 40 bytes for a block of Q8_1, ggml 36; no model has it.
SIZES = {t: s for t, s in gguf.GGML_QUANT_SIZES.items() if t is not Type.Q8_1}
NUMBERS = [getattr(np, n) for n in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")]


def value(random, writer, key):
    """Adds one value of a random kind."""
    kind = random.integers(8)
    if kind == 0:
        writer.add_bool(key, bool(random.integers(2)))
    elif kind == 1:
        writer.add_string(key, "".join(chr(c) for c in random.integers(32, 0x2FF, random.integers(20))))
    elif kind == 2:
        writer.add_float64(key, float(random.normal()))
    elif kind == 3:
        writer.add_float32(key, float(np.float32(random.normal())))
    elif kind == 4:
        writer.add_array(key, [f"t{i} é" for i in range(1 + random.integers(9))])
    elif kind == 5:
        writer.add_array(key, [int(i) for i in random.integers(-9, 9, 1 + random.integers(9))])
    elif kind == 6:
        writer.add_array(key, [float(np.float32(x)) for x in random.normal(size=1 + random.integers(9))])
    else:
        number = NUMBERS[random.integers(len(NUMBERS))]
        limits = np.iinfo(number)
        whole = int(random.integers(limits.min, limits.max, dtype=number, endpoint=True))
        getattr(writer, f"add_{number.__name__}")(key, whole)


def write(path, random, wanted=None):
    """Writes a model: tensors of random types, or one of each wanted type."""
    writer = GGUFWriter(path, "test")
    if random.integers(3) == 0:
        writer.add_custom_alignment(int(2 ** random.integers(3, 9)))
    for i in range(random.integers(12)):
        value(random, writer, f"test.key{i}")
    types = wanted or [list(SIZES)[i] for i in random.integers(len(SIZES), size=random.integers(1, 9))]
    for i, kind in enumerate(types):
        block, size = SIZES[kind]
        outer = [int(n) for n in random.integers(1, 4, random.integers(0, 3))]
        row = int(random.integers(1, 4)) * size * (1 if block > 1 else int(random.integers(1, 9)))
        raw = random.integers(0, 256, [*outer, row], dtype=np.uint8)
        writer.add_tensor(f"blk.{i}.{kind.name}", raw, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def split(path):
    """Writes a model of five tensors in three files."""
    writer = GGUFWriter(path, "test", split_max_tensors=2)
    for i in range(5):
        writer.add_tensor(f"t{i}", np.full((2, 32), i, np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def plain(field):
    """A value as JSON, numbers as the bytes of a double, or as digits where they are none."""
    if field.types[0] == GGUFValueType.ARRAY:
        return [text(v) for v in field.contents()]
    return text(field.contents())


def text(v):
    if isinstance(v, str):
        return v
    if isinstance(v, bool):
        return str(v).lower()
    is_exact = isinstance(v, float) or abs(v) < 2**53
    return struct.pack(">d", float(v)).hex() if is_exact else str(v)


def held(tensor):
    """The shape of the data: numpy has no bfloat16, and the library takes its bytes."""
    *outer, last = tensor.data.shape
    return [*outer, last // 2 if tensor.tensor_type is Type.BF16 else last]


def digest(path):
    """All that the library reads from a file."""
    reader = GGUFReader(path)
    hidden = ("GGUF.version", "GGUF.tensor_count", "GGUF.kv_count")
    return {
        "metadata": {k: plain(f) for k, f in reader.fields.items() if k not in hidden},
        "tensors": {
            t.name: {
                "format": t.tensor_type.name,
                "shape": [int(n) for n in reversed(t.shape)],
                "held": held(t),
                "sha": hashlib.sha256(t.data.tobytes()).hexdigest(),
            }
            for t in reader.tensors
        },
    }


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "types":
        print(json.dumps({t.name: [t.value, *s] for t, s in gguf.GGML_QUANT_SIZES.items()}))
    elif what == "random":
        random = np.random.default_rng(7)
        write(Path(rest[0]) / "all.gguf", random, list(SIZES))
        for i in range(int(rest[1])):
            write(Path(rest[0]) / f"{i}.gguf", random)
    elif what == "fixture":
        writer = GGUFWriter(rest[0], "test")
        writer.add_array("tokenizer.ggml.tokens", ["a", "größe", ""])
        for kind, (block, size) in SIZES.items():
            raw = (np.arange(2 * size) * 7 + kind.value).astype(np.uint8).reshape(2, size)
            writer.add_tensor(kind.name, raw, raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    elif what == "split":
        split(Path(rest[0]) / "model.gguf")
    elif what == "big":
        writer = GGUFWriter(rest[0], "test", endianess=gguf.GGUFEndian.BIG)
        writer.add_tensor("t", np.ones(4, np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    elif what == "digest":
        print(json.dumps([digest(path) for path in rest]))
