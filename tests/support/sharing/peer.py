"""Another process with CuPy or PyTorch, which obeys as peer_program.ts does: `python3 peer.py cupy
SNIPPET`, where SNIPPET is the file with the code of the page about other processes.
"""

import gc
import importlib.util
import json
import sys

library, snippet = sys.argv[1:]
spec = importlib.util.spec_from_file_location("snippet", snippet)
tickets = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tickets)

if library == "cupy":
    import cupy

    def opened(text):
        return cupy.asarray(tickets.Opened(text))

    def filled(count, value):
        return cupy.full(count, value, dtype="uint8")

    def as_list(x):
        return cupy.asnumpy(x).reshape(-1).view("uint8").tolist()

    def fill(x, value):
        x.view("uint8").fill(value)

    def wait():
        cupy.cuda.Device().synchronize()

    def free_unused():
        cupy.get_default_memory_pool().free_all_blocks()

    cupy.zeros(1)
else:
    import torch

    def opened(text):
        return torch.as_tensor(tickets.Opened(text), device="cuda")

    def filled(count, value):
        return torch.full((count,), value, dtype=torch.uint8, device="cuda")

    def as_list(x):
        return x.reshape(-1).view(torch.uint8).cpu().tolist()

    def fill(x, value):
        x.view(torch.uint8).fill_(value)

    def wait():
        torch.cuda.synchronize()

    def free_unused():
        torch.cuda.empty_cache()

    torch.zeros(1, device="cuda")

arrays = {}
gc.freeze()  # a collection after each round does not look through the whole library


def obey(command):
    name = command.get("name", "x")
    match command["do"]:
        case "alloc":
            arrays[name] = filled(command["byteLength"], command["value"])
            return command["byteLength"]
        case "share":
            return json.loads(tickets.share(arrays[name]))
        case "open":
            arrays[name] = opened(json.dumps(command["ticket"]))
            return [str(arrays[name].dtype).replace("torch.", ""), *arrays[name].shape]
        case "read":
            return as_list(arrays[name])
        case "last":
            return as_list(arrays[name].reshape(-1)[-1:])[-1]
        case "fill":
            fill(arrays[name], command["value"])
            wait()
            return True
        case "dispose":
            del arrays[name]
            gc.collect()
            wait()
            free_unused()
            return len(arrays)
    raise ValueError(f"no such command: {command}")


for line in sys.stdin:
    try:
        answer = {"value": obey(json.loads(line))}
    except Exception as error:
        answer = {"error": {"name": type(error).__name__, "message": str(error)}}
    print(json.dumps(answer), flush=True)
