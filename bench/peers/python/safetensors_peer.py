"""safetensors: load_file() straight to the device, as PyTorch's users call it."""

import safetensors
import torch
from safetensors.torch import load_file

from .model import measure_load


def measure(report, model_path):
    report.versions = {"safetensors": safetensors.__version__, "torch": torch.__version__}
    measure_load(report, model_path, method="load_file(device='cuda')", load=load)


def load(path):
    tensors = load_file(str(path), device="cuda:0")
    torch.cuda.synchronize()
    return tensors
