"""Times collective operations of torch.distributed, one process for each GPU, for bench/collectives.ts.

Argument: the plan, as JSON. Prints seconds for each call and size: of calls in a row on the GPU's own
clock, and of one call that is waited for.
"""

import json
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def call_for(name, size, world, rank):
    count = size // 4
    x = torch.ones(count, device="cuda")
    if name == "allReduce":
        return lambda: dist.all_reduce(x)
    if name == "broadcast":
        return lambda: dist.broadcast(x, src=0)
    if name == "allGather":
        part = torch.ones(count // world, device="cuda")
        return lambda: dist.all_gather_into_tensor(x, part)
    if name == "reduceScatter":
        part = torch.ones(count // world, device="cuda")
        return lambda: dist.reduce_scatter_tensor(part, x)
    if name == "allToAll":
        out = torch.ones(count, device="cuda")
        return lambda: dist.all_to_all_single(out, x)
    raise ValueError(name)


def run(rank, world, plan, queue):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = "29534"
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=world)
    found = []
    for name in plan["calls"]:
        for size, repeats in plan["sizes"]:
            call = call_for(name, size, world, rank)
            for _ in range(5):
                call()
            samples, waited = [], []
            for _ in range(plan["samples"]):
                torch.cuda.synchronize()
                dist.barrier()
                torch.cuda.synchronize()
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
        queue.put({"version": torch.__version__, "nccl": torch.cuda.nccl.version(), "found": found})
    dist.destroy_process_group()


if __name__ == "__main__":
    world = torch.cuda.device_count()
    queue = mp.get_context("spawn").SimpleQueue()
    mp.spawn(run, args=(world, json.loads(sys.argv[1]), queue), nprocs=world)
    print(json.dumps(queue.get()))
