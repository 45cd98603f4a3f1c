"""safetensors: a model of 300 tensors and 2 GiB loaded from the page cache straight to the device.
The model file is written when it is missing, so that another reader can be timed on the same bytes.
"""

import math
from pathlib import Path

import safetensors
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


def measure(report, model_path):
    report.versions = {"safetensors": safetensors.__version__, "torch": torch.__version__}
    report.device = torch.cuda.get_device_name(0)
    torch.cuda.init()
    with report.section("loadModel"):
        path = Path(model_path)
        if not path.exists():
            write_model(path)
        require_equal_tensors(load(path), load_file(str(path)))
        seconds = sample_calls(lambda: load(path), count=5)
        report.add_seconds(
            "loadModel", "load_file(device='cuda')", seconds, byte_length=path.stat().st_size
        )


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


def load(path):
    tensors = load_file(str(path), device="cuda:0")
    torch.cuda.synchronize()
    return tensors


def require_equal_tensors(actual, expected):
    for name, tensor in expected.items():
        if not torch.equal(actual[name].cpu().view(torch.int16), tensor.view(torch.int16)):
            raise RuntimeError(f"Cannot trust the load: {name} differs")
