"""Cuts the frames of snapshots that make.py made, and packs them. Usage: cut.py FOLDER.

Snapshots that the folder lacks stay as they are: those of two devices need a machine of their own.
"""

import gzip, json, os, pickle, re, sys

source, out = sys.argv[1], os.path.dirname(os.path.abspath(__file__))
NAMES = ["mlp_before", "mlp_after", "fragment", "streams", "expandable", "annotations", "cpp", "oom", "state",
         "devices"]
STATS = {"active_bytes": "active_bytes.all.current", "requested_bytes": "requested_bytes.all.current",
         "requested_bytes_peak": "requested_bytes.all.peak", "reserved_bytes_peak": "reserved_bytes.all.peak",
         "inactive_split_bytes": "inactive_split_bytes.all.current"}

def pack(file, data):
    with open(f"{out}/{file}.gz", "wb") as f:
        f.write(gzip.compress(data, 9, mtime=0))

def cut(name):
    """Returns a snapshot with short frames, of which equal ones are one object."""
    with open(f"{source}/{name}.pickle", "rb") as f:
        data = pickle.load(f)
    frames, lists = {}, {}

    def short(all):
        python = [f for f in all if f["filename"].endswith(".py")]
        others = [f for f in all if not f["filename"].endswith(".py")]
        kept = []
        for f in all if name == "cpp" else others[3:6] + python:
            file = re.sub(r"^.*/(?=make\.py$)", "", f["filename"])
            file = re.sub(r"^.*/((site|dist)-packages/)", r"\1", file)
            key = (file, f["line"], f["name"][:80])
            kept.append(frames.setdefault(key, {"name": key[2], "filename": file, "line": f["line"]}))
        return lists.setdefault(tuple(map(id, kept)), kept)

    for s in data["segments"]:
        for part in [s, *s["blocks"]]:
            if "frames" in part:
                part["frames"] = short(part["frames"])
    for t in data["device_traces"]:
        for e in t:
            if "frames" in e:
                e["frames"] = list(short(e["frames"]))
    return data

def figures_of(name):
    with open(f"{source}/{name}.figures.json") as f:
        own = json.load(f)
    devices = []
    for number, d in enumerate(own["devices"]):
        stats = {key: d["memory_stats"][path] for key, path in STATS.items()}
        devices.append({**{key: d[key] for key in ("memory_allocated", "memory_reserved")}, **stats,
                        "events": own["events"][number]})
    return {"torch": own["torch"], "gpu": own["gpu"], "python": own["python"], "segments": own["segments"],
            "blocks": own["blocks"], "devices": devices}

with open(f"{out}/figures.json") as f:
    figures = json.load(f)
for name in NAMES:
    if not os.path.exists(f"{source}/{name}.pickle"):
        continue
    data = cut(name)
    pack(f"{name}.pickle", pickle.dumps(data, 4))
    figures[name] = figures_of(name)
    if name == "mlp_before":
        for protocol in (2, 3, 5):
            pack(f"{name}_p{protocol}.pickle", pickle.dumps(data, protocol))
        pack(f"{name}.json", json.dumps(data).encode())
with open(f"{out}/figures.json", "w") as f:
    json.dump(figures, f, indent=1)
