"""The model that loaders of safetensors files are timed on: 300 tensors, 2 GiB, in the page cache.
It is written when it is missing, so that every loader reads the same bytes."""

import math
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from .measure import sample_calls

# A hundred layers of three: 16 MiB, about 4.5 MiB and 8 KiB of 16-bit floats, 2 GiB in all.
LAYER_COUNT = 100
SHAPES = {
    "attention.weight": (4096, 2048),
    "projection.weight": (1147, 2048),
    "norm.weight": (4096,),
}


def measure_load(report, model_path, *, method, load):
    """Times a loader that returns tensors on the device, after it loaded the right bytes once."""
    report.device = torch.cuda.get_device_name(0)
    torch.cuda.init()
    with report.section("loadModel"):
        path = Path(model_path)
        if not path.exists():
            write_model(path)
        require_equal_tensors(load(path), load_file(str(path)))
        seconds = sample_calls(lambda: load(path), count=5)
        report.add_seconds("loadModel", method, seconds, byte_length=path.stat().st_size)


def write_model(path):
    generator = torch.Generator().manual_seed(7)

    def random_tensor(shape):
        words = torch.randint(
            -(2**62), 2**62, (math.prod(shape) // 4,), generator=generator, dtype=torch.int64
        )
        return words.view(torch.bfloat16).reshape(shape)

    tensors = {
        f"layers.{layer}.{name}": random_tensor(shape)
        for layer in range(LAYER_COUNT)
        for name, shape in SHAPES.items()
    }
    save_file(tensors, str(path))


def require_equal_tensors(actual, expected):
    for name, tensor in expected.items():
        if not torch.equal(actual[name].cpu().view(torch.int16), tensor.view(torch.int16)):
            raise RuntimeError(f"Cannot trust the load: {name} differs")
