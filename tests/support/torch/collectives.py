"""Does collective operations with torch.distributed, one process for each GPU.

Arguments: a folder with cases.json and the input of each case and rank. Writes the bytes that each
rank has afterwards beside them.
"""

import json
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def load(folder, case, rank):
    dtype = getattr(torch, case["dtype"])
    with open(f"{folder}/{case['id']}_{rank}.in", "rb") as file:
        return torch.frombuffer(bytearray(file.read()), dtype=dtype).cuda()


def perform(case, x, rank, size):
    call, root = case["call"], case["root"]
    op = getattr(dist.ReduceOp, case["op"].upper())
    if call == "allReduce":
        dist.all_reduce(x, op=op)
    elif call == "reduce":
        dist.reduce(x, dst=root, op=op)
        if rank != root:
            return None
    elif call == "broadcast":
        dist.broadcast(x, src=root)
    elif call == "allGather":
        out = torch.empty(x.numel() * size, dtype=x.dtype, device=x.device)
        dist.all_gather_into_tensor(out, x)
        return out
    elif call == "reduceScatter":
        out = torch.empty(x.numel() // size, dtype=x.dtype, device=x.device)
        dist.reduce_scatter_tensor(out, x, op=op)
        return out
    elif call == "allToAll":
        out = torch.empty_like(x)
        dist.all_to_all_single(out, x)
        return out
    elif call == "gather":
        parts = [torch.empty_like(x) for _ in range(size)] if rank == root else None
        dist.gather(x, parts, dst=root)
        return torch.cat(parts) if rank == root else None
    elif call == "scatter":
        out = torch.empty(x.numel() // size, dtype=x.dtype, device=x.device)
        dist.scatter(out, list(x.chunk(size)) if rank == root else None, src=root)
        return out
    elif call == "sendRecv":
        out = torch.empty_like(x)
        ops = [
            dist.P2POp(dist.isend, x, (rank + 1) % size),
            dist.P2POp(dist.irecv, out, (rank - 1) % size),
        ]
        for work in dist.batch_isend_irecv(ops):
            work.wait()
        return out
    return x


def run(rank, size, folder):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = "29533"
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=size)
    with open(f"{folder}/cases.json") as file:
        cases = json.load(file)
    for case in cases:
        result = perform(case, load(folder, case, rank), rank, size)
        torch.cuda.synchronize()
        if result is None:
            continue
        data = result.contiguous().view(torch.uint8).cpu().numpy().tobytes()
        with open(f"{folder}/{case['id']}_{rank}.out", "wb") as file:
            file.write(data)
    dist.destroy_process_group()


if __name__ == "__main__":
    world = torch.cuda.device_count()
    mp.spawn(run, args=(world, sys.argv[1]), nprocs=world)
