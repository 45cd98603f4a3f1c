"""How long copies of elements that lie apart take in PyTorch and CuPy, until they are done. Prints JSON:
seconds by case for each library, or the error of one that is missing. `python3 strided_copies.py PLAN`"""

import json
import statistics
import sys

from measure import sample_calls

PLAN = json.loads(sys.argv[1])


def seconds_of_cases(make_copy, synchronize):
    found = {}
    for case in PLAN["cases"]:
        copy = make_copy(case)
        if copy is None:
            continue

        def until_done():
            copy()
            synchronize()

        found[case["name"]] = statistics.median(sample_calls(until_done, count=PLAN["copyCount"]))
    return found


def element_count(case):
    ends = (max(0, (size - 1) * stride) for size, stride in zip(case["shape"], case["strides"]))
    return case["offset"] + sum(ends) + 1


def with_torch():
    import torch

    def make_copy(case):
        if min(case["strides"]) < 0:  # as PyTorch has no such views
            return None
        dtype = getattr(torch, case["dtype"])
        source = torch.zeros(element_count(case), dtype=dtype, device="cuda")
        target = torch.zeros(case["shape"], dtype=dtype, device="cuda")
        view = source.as_strided(case["shape"], case["strides"], case["offset"])
        return lambda: target.copy_(view)

    return seconds_of_cases(make_copy, torch.cuda.synchronize)


def with_cupy():
    import cupy

    def make_copy(case):
        source = cupy.zeros(element_count(case), dtype=case["dtype"])
        target = cupy.zeros(case["shape"], dtype=case["dtype"])
        strides = [stride * source.itemsize for stride in case["strides"]]
        view = cupy.lib.stride_tricks.as_strided(source[case["offset"] :], case["shape"], strides)

        def copy():
            target[...] = view

        return copy

    return seconds_of_cases(make_copy, cupy.cuda.Device().synchronize)


def attempt(measure):
    try:
        return measure()
    except Exception as error:  # one library that fails must not cost the other
        return f"{type(error).__name__}: {error}"


print(json.dumps({"PyTorch": attempt(with_torch), "CuPy": attempt(with_cupy)}))
