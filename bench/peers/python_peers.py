"""Measures one Python library on device 0: python_peers.py NAME.
Prints one JSON document on standard output; each library runs in a process of its own."""

import argparse
import importlib
import platform

from python.measure import Report

PEERS = {
    "torch": "PyTorch",
    "cupy": "CuPy",
    "jax": "JAX",
    "cuda_core": "cuda.core",
    "safetensors": "safetensors",
    "fastsafetensors": "fastsafetensors",
    "runai_model_streamer": "run:ai model streamer",
}
LOADERS = {"safetensors", "fastsafetensors", "runai_model_streamer"}


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("peer", choices=sorted(PEERS))
    arguments.add_argument(
        "--model",
        default="model.safetensors",
        help="the safetensors file to load, made when missing",
    )
    options = arguments.parse_args()
    report = Report(PEERS[options.peer])
    with report.section("import and start"):
        peer = importlib.import_module(f"python.{options.peer}_peer")
        if options.peer in LOADERS:
            peer.measure(report, options.model)
        else:
            peer.measure(report)
    report.versions["python"] = platform.python_version()
    report.print()


if __name__ == "__main__":
    main()
