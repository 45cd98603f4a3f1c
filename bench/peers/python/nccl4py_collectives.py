"""Times collective operations of nccl4py, one process for each GPU, for bench/collectives.ts.

Argument: the plan, as JSON. It prints what collectives.py prints for torch.distributed; memory, streams
and clocks are torch's there and here.
"""

import json
import multiprocessing
import sys
import time

import torch


def call_for(comm, name, size, world):
    from nccl.core import SUM

    count = size // 4
    stream = torch.cuda.current_stream()
    x = torch.ones(count, device="cuda")
    if name == "allReduce":
        return lambda: comm.allreduce(x, x, SUM, stream=stream)
    if name == "broadcast":
        return lambda: comm.broadcast(x, x, 0, stream=stream)
    if name == "allGather":
        part = torch.ones(count // world, device="cuda")
        return lambda: comm.allgather(part, x, stream=stream)
    if name == "reduceScatter":
        part = torch.ones(count // world, device="cuda")
        return lambda: comm.reduce_scatter(x, part, SUM, stream=stream)
    if name == "allToAll":
        out = torch.ones(count, device="cuda")
        return lambda: comm.alltoall(x, out, stream=stream)
    raise ValueError(name)


def run(rank, world, plan, unique, queue):
    import nccl.core as nccl

    torch.cuda.set_device(rank)
    torch.ones(1, device="cuda")
    comm = nccl.Communicator.init(world, rank, nccl.UniqueId.from_bytes(unique))
    gate = torch.ones(1, device="cuda")

    def barrier():
        comm.allreduce(gate, gate, nccl.SUM, stream=torch.cuda.current_stream())
        torch.cuda.synchronize()

    found = []
    for name in plan["calls"]:
        for size, repeats in plan["sizes"]:
            call = call_for(comm, name, size, world)
            for _ in range(5):
                call()
            samples, waited = [], []
            for _ in range(plan["samples"]):
                torch.cuda.synchronize()
                barrier()
                start = torch.cuda.Event(enable_timing=True)
                end = torch.cuda.Event(enable_timing=True)
                call()  # those that are timed begin when all ranks are there
                start.record()
                for _ in range(repeats):
                    call()
                end.record()
                torch.cuda.synchronize()
                samples.append(start.elapsed_time(end) / 1000 / repeats)
                began = time.perf_counter()
                for _ in range(plan["waits"]):
                    call()
                    torch.cuda.synchronize()
                waited.append((time.perf_counter() - began) / plan["waits"])
            found.append({"call": name, "size": size, "samples": samples, "waited": waited})
    if rank == 0:
        versions = nccl.get_version()
        number = [int(part) for part in str(versions.libnccl.version).split(".")]
        queue.put({"version": str(versions.nccl4py), "nccl": number, "found": found})
    comm.destroy()


if __name__ == "__main__":
    import nccl.core as nccl

    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    world = torch.cuda.device_count()
    unique = bytes(nccl.get_unique_id())
    plan = json.loads(sys.argv[1])
    ranks = [
        context.Process(target=run, args=(rank, world, plan, unique, queue)) for rank in range(world)
    ]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
    if any(rank.exitcode != 0 for rank in ranks):
        sys.exit("a rank has failed")
    print(json.dumps(queue.get()))
