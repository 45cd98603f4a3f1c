"""Makes memory snapshots with PyTorch, and its own figures at the same moment beside them.

Usage: make.py NAME FOLDER, where NAME is mlp, fragment, streams, expandable, cpp, annotations, state,
oom or devices; needs a GPU. Then cut.py FOLDER makes the files here of them.
"""

import hashlib, json, os, pickle, sys, time

name, out = sys.argv[1], sys.argv[2]
if name.startswith("expandable"):
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
    os.environ["PYTORCH_ALLOC_CONF"] = "expandable_segments:True"
import torch
import torch.cuda._memory_viz as viz
M = torch.cuda.memory

def figures(data):
    devices = []
    for d in range(torch.cuda.device_count()):
        devices.append({
            "device": d,
            "memory_allocated": torch.cuda.memory_allocated(d),
            "memory_reserved": torch.cuda.memory_reserved(d),
            "max_memory_allocated": torch.cuda.max_memory_allocated(d),
            "max_memory_reserved": torch.cuda.max_memory_reserved(d),
            "memory_stats": torch.cuda.memory_stats(d),
        })
    r = {"torch": torch.__version__, "python": sys.version.split()[0], "cuda": torch.version.cuda,
         "gpu": torch.cuda.get_device_name(0), "devices": devices,
         "keys": sorted(data.keys()),
         "settings": data.get("allocator_settings"),
         "annotations": len(data.get("external_annotations", [])),
         "segments": len(data["segments"]),
         "blocks": sum(len(s["blocks"]) for s in data["segments"]),
         "events": [len(t) for t in data["device_traces"]],
         "segment_keys": sorted({k for s in data["segments"] for k in s}),
         "block_keys": sorted({k for s in data["segments"] for b in s["blocks"] for k in b}),
         "event_keys": sorted({k for t in data["device_traces"] for e in t for k in e}),
         "actions": {}, "states": {}}
    for t in data["device_traces"]:
        for e in t:
            r["actions"][e["action"]] = r["actions"].get(e["action"], 0) + 1
    for s in data["segments"]:
        for b in s["blocks"]:
            r["states"][b["state"]] = r["states"].get(b["state"], 0) + b["size"]
    for what, call in [("segsum", lambda: viz.segsum(data)), ("trace", lambda: viz.trace(data)),
                       ("memory", lambda: viz.memory(data, format_flamegraph=lambda x: x))]:
        try:
            text = call()
            r[what] = text if len(text) < 20000 else {"length": len(text), "end": text[-400:], "sha256": hashlib.sha256(text.encode()).hexdigest()}
        except Exception as e:
            r[what] = {"error": repr(e)}
    return r

def dump(label):
    path = f"{out}/{label}.pickle"
    M._dump_snapshot(path)
    stats = [(torch.cuda.memory_allocated(d), torch.cuda.memory_reserved(d)) for d in range(torch.cuda.device_count())]
    with open(path, "rb") as f:
        raw = f.read()
    t = time.time(); data = pickle.loads(raw); t = time.time() - t
    fig = figures(data)
    assert stats == [(d["memory_allocated"], d["memory_reserved"]) for d in fig["devices"]]
    fig["bytes"] = len(raw); fig["python_load_seconds"] = round(t, 3); fig["protocol"] = raw[1]
    with open(f"{out}/{label}.figures.json", "w") as f:
        json.dump(fig, f, indent=1)
    print(label, len(raw), "bytes", fig["segments"], "segments", fig["blocks"], "blocks", fig["events"], "events", flush=True)
    return raw, data

def mlp(width=512, depth=3):
    layers = []
    for _ in range(depth):
        layers += [torch.nn.Linear(width, width), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers).cuda()

def train(model, optimizer, steps, batch=256, width=512):
    for _ in range(steps):
        x = torch.randn(batch, width, device="cuda")
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

def run_mlp():
    M._record_memory_history()
    model = mlp()
    optimizer = torch.optim.Adam(model.parameters())
    train(model, optimizer, 1)
    raw, data = dump("mlp_before")
    for protocol in (2, 3, 5):
        with open(f"{out}/mlp_before_p{protocol}.pickle", "wb") as f:
            pickle.dump(data, f, protocol)
    with open(f"{out}/mlp_before.snapshot.json", "w") as f:
        json.dump(data, f)
    with open(f"{out}/mlp_before_segments.pickle", "wb") as f:
        pickle.dump(torch.cuda.memory_snapshot(), f)
    extra = [torch.empty(3 << 20, dtype=torch.uint8, device="cuda") for _ in range(3)]
    train(model, optimizer, 3, batch=1024)
    dump("mlp_after")
    del extra

def run_fragment():
    import random
    random.seed(7)
    M._record_memory_history(max_entries=4000)
    held = []
    def grow():
        held.append(torch.empty(random.choice([100, 700, 3000, 50000, 300000, 1500000, 3 << 20, 12 << 20]) + random.randrange(99), dtype=torch.uint8, device="cuda"))
    def shrink():
        held.pop(random.randrange(len(held)))
    for _ in range(400):
        grow()
        if len(held) > 60 or (held and random.random() < 0.45):
            shrink()
    dump("fragment")

def run_streams():
    M._record_memory_history()
    base = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
    s1, s2 = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(s1):
        a = torch.ones(1 << 20, device="cuda")
    with torch.cuda.stream(s2):
        b = torch.ones(3 << 20, device="cuda")
    torch.cuda.synchronize()
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        c = torch.empty(5 << 20, dtype=torch.uint8, device="cuda")
    static = torch.ones(1024, 1024, device="cuda")
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        d = static * 2
        e = d + 1
        del d
    g.replay()
    # a block that is freed while another stream still uses it
    f = torch.ones(4 << 20, device="cuda")
    with torch.cuda.stream(s1):
        torch.cuda._sleep(2_000_000_000)
        f.add_(1)
        f.record_stream(s1)
    del f
    dump("streams")
    torch.cuda.synchronize()

def run_expandable():
    M._record_memory_history()
    held = []
    for i in range(1, 13):
        held.append(torch.empty(i * (5 << 20) + 1000, dtype=torch.uint8, device="cuda"))
        held.append(torch.empty(i * 3000, dtype=torch.uint8, device="cuda"))
    del held[4:10]
    torch.cuda.empty_cache()
    held.append(torch.empty(8 << 20, dtype=torch.uint8, device="cuda"))
    dump("expandable")

def run_cpp():
    M._record_memory_history(stacks="all")
    model = mlp(256, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    train(model, optimizer, 2, 64, 256)
    dump("cpp")

def run_annotations():
    try:
        M._record_memory_history(global_record_annotations=True, compile_context=True)
    except TypeError:
        M._record_memory_history()
    from torch.profiler import record_function
    model = mlp(256, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    for step in range(3):
        M._set_memory_metadata(f"step {step}")
        with record_function(f"## step {step} ##"):
            with record_function("forward"):
                loss = model(torch.randn(64, 256, device="cuda")).square().mean()
            with record_function("backward"):
                loss.backward()
            with record_function("optimizer"):
                optimizer.step(); optimizer.zero_grad()
    dump("annotations")

def run_state():
    M._record_memory_history("state")
    model = mlp(256, 2)
    dump("state")
    M._record_memory_history(None)
    more = torch.empty(1000, device="cuda")
    dump("unrecorded")

def run_oom():
    M._record_memory_history()
    torch.cuda.set_per_process_memory_fraction(0.02)
    total = torch.cuda.mem_get_info()[1]
    def observer(device, alloc, allocated, free):
        M._dump_snapshot(f"{out}/oom_observer.pickle")
    torch._C._cuda_attach_out_of_memory_observer(observer)
    held = []
    def more():
        held.append(torch.empty(200 << 20, dtype=torch.uint8, device="cuda"))
    try:
        while True:
            more()
    except torch.OutOfMemoryError as error:
        with open(f"{out}/oom.txt", "w") as f:
            f.write(str(error))
    dump("oom")

def run_devices():
    if torch.cuda.device_count() < 2:
        return print("one GPU: no snapshot of several")
    M._record_memory_history()
    held = []
    for d in range(torch.cuda.device_count()):
        with torch.cuda.device(d):
            for i in range(1, 6):
                held.append(torch.empty((i + d) * (1 << 20), dtype=torch.uint8, device=f"cuda:{d}"))
            held.append(held[-1].to(f"cuda:{(d + 1) % 2}"))
            del held[-3]
    dump("devices")

globals()[f"run_{name}"]()
