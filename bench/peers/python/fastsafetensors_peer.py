"""fastsafetensors: a file read by several threads and copied to the device as a whole."""

from importlib.metadata import version

import torch
from fastsafetensors import fastsafe_open

from .model import measure_load


def measure(report, model_path):
    report.versions = {"fastsafetensors": version("fastsafetensors"), "torch": torch.__version__}
    measure_load(report, model_path, method="fastsafe_open(nogds=True)", load=load)


def load(path):
    with fastsafe_open(filenames=[str(path)], nogds=True, device="cuda:0") as file:
        # Its tensors are parts of memory that it takes back at the end.
        tensors = {name: file.get_tensor(name).clone() for name in file.keys()}
    torch.cuda.synchronize()
    return tensors
