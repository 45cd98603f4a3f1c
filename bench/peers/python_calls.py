"""Makes the calls that people write first with one library, and prints their seconds as JSON:
python_calls.py torch|cupy|jax PLAN. Run by first_calls.ts; first_calls/plan.ts says what the plan is."""

import importlib
import json
import platform
import sys
import time

import numpy

MIB = 1 << 20
PEERS = {"torch": "PyTorch", "cupy": "CuPy", "jax": "JAX"}
WARM_COUNT = 8


def sample_count(byte_length, phase):
    if phase == "cold":
        return 2 if byte_length > 256 * MIB else 3
    if byte_length > 256 * MIB:
        return 3
    return max(5, min(101, 256 * MIB // byte_length))


class Torch:
    """Tensors: .cuda(), .cpu() and copy_()."""

    call_names = ("upload", "uploadInto", "download", "downloadNew", "downloadUsed")

    def __init__(self):
        self.torch = importlib.import_module("torch")
        self.device = self.torch.cuda.get_device_name(0)
        self.versions = {"torch": self.torch.__version__}
        self.torch.cuda.init()

    def call(self, name, up, down):
        torch = self.torch
        source, used = torch.from_numpy(up), torch.from_numpy(down)
        wait = torch.cuda.synchronize

        def upload():
            made = source.cuda()
            wait()
            return made

        if name == "upload":
            return upload
        device = torch.zeros(up.size, dtype=torch.uint8, device="cuda")
        wait()

        def upload_into():
            device.copy_(source)
            wait()

        return {
            "uploadInto": upload_into,
            "download": device.cpu,
            "downloadNew": lambda: torch.zeros(up.size, dtype=torch.uint8).copy_(device),
            "downloadUsed": lambda: used.copy_(device),
        }[name]


class Cupy:
    """Arrays: asarray(), asnumpy(), set() and get()."""

    call_names = Torch.call_names

    def __init__(self):
        self.cupy = importlib.import_module("cupy")
        properties = self.cupy.cuda.runtime.getDeviceProperties(0)
        self.device = properties["name"].decode()
        self.versions = {"cupy": self.cupy.__version__}

    def call(self, name, up, down):
        cupy = self.cupy
        wait = cupy.cuda.get_current_stream().synchronize

        def upload():
            made = cupy.asarray(up)
            wait()
            return made

        if name == "upload":
            return upload
        device = cupy.zeros(up.size, cupy.uint8)
        wait()

        def upload_into():
            device.set(up)
            wait()

        return {
            "uploadInto": upload_into,
            "download": lambda: cupy.asnumpy(device),
            "downloadNew": lambda: device.get(out=numpy.zeros(up.size, numpy.uint8)),
            "downloadUsed": lambda: device.get(out=down),
        }[name]


class Jax:
    """Arrays: device_put() and numpy.asarray(); it copies into no memory of the program's."""

    call_names = ("upload", "download")

    def __init__(self):
        self.jax = importlib.import_module("jax")
        self.device = self.jax.devices()[0].device_kind
        self.versions = {"jax": self.jax.__version__}

    def call(self, name, up, _down):
        jax = self.jax
        if name == "upload":
            return lambda: jax.device_put(up).block_until_ready()
        device = jax.numpy.zeros(up.size, numpy.uint8).block_until_ready()

        def download():
            return numpy.asarray(self.next)

        def prepare():
            # An array keeps what was downloaded of it, so each is downloaded once.
            self.next = device.copy().block_until_ready()

        download.prepare = prepare
        return download


LIBRARIES = {"torch": Torch, "cupy": Cupy, "jax": Jax}


def seconds_of(call):
    prepare = getattr(call, "prepare", None)
    if prepare is not None:
        prepare()
    start = time.perf_counter()
    kept = call()
    seconds = time.perf_counter() - start
    del kept
    return seconds


def warm_up(library, up, down):
    count = min(8 * MIB, up.size)
    for name in library.call_names:
        call = library.call(name, up[:count], down[:count])
        for _ in range(WARM_COUNT):
            seconds_of(call)


def main():
    name, text = sys.argv[1:]
    plan = json.loads(text)
    largest = max(plan["sizes"])
    phase = plan["phase"]
    wanted = plan.get("calls", LIBRARIES[name].call_names)
    if not set(wanted) & set(LIBRARIES[name].call_names):
        print(json.dumps({"peer": PEERS[name], "device": "none", "versions": {}, "results": []}))
        return
    library = LIBRARIES[name]()
    # In a cold program other arrays stay untouched, as in ours.
    source, used = numpy.empty(largest, numpy.uint8), numpy.empty(largest, numpy.uint8)
    if phase == "warm" or any(call.startswith("upload") for call in wanted):
        source[:] = numpy.resize(numpy.arange(251, dtype=numpy.uint8), largest)
    if phase == "warm" or "downloadUsed" in wanted:
        used[:] = 1
    results = []
    document = {"peer": PEERS[name], "device": library.device, "versions": library.versions}
    library.versions["python"] = platform.python_version()
    if phase == "warm":
        warm_up(library, source, used)
    for size in plan["sizes"]:
        for call_name in library.call_names:
            if call_name not in wanted:
                continue
            call = library.call(call_name, source[:size], used[:size])
            if phase == "warm":
                seconds_of(call)
            samples = [seconds_of(call) for _ in range(sample_count(size, phase))]
            results.append(
                {
                    "call": call_name,
                    "form": "blocking",
                    "phase": phase,
                    "byteLength": size,
                    "samples": samples,
                }
            )
    print(json.dumps({**document, "results": results}))


if __name__ == "__main__":
    main()
