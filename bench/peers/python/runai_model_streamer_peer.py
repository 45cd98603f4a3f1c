"""run:ai's model streamer: a file read by several threads, its tensors copied to the device."""

from importlib.metadata import version

import torch
from runai_model_streamer import SafetensorsStreamer

from .model import measure_load


def measure(report, model_path):
    report.versions = {
        "runai-model-streamer": version("runai-model-streamer"),
        "torch": torch.__version__,
    }
    measure_load(report, model_path, method="SafetensorsStreamer.stream_file()", load=load)


def load(path):
    with SafetensorsStreamer() as streamer:
        streamer.stream_file(str(path))
        tensors = {name: tensor.to("cuda:0") for name, tensor in streamer.get_tensors()}
    torch.cuda.synchronize()
    return tensors
