"""Compares SoftMMA with other models of matrix units: counts differing results, and measures both in the same run
(docs/peers.md).

    pip install torch mmasim mmaemu fpy2 && pip install .
    git clone https://github.com/north-numerical-computing/MATLAB-tensor-core      # and Octave
    git clone https://github.com/bksaiki/fpy
    OMP_NUM_THREADS=1 python bench/peers.py --toolbox MATLAB-tensor-core --fpy fpy

mmasim (Xie et al.) and FPy's models (Saiki) compute single instructions. The MATLAB toolbox (Khattak, Mikaitis), which
Octave runs, computes chains of instructions over K. mmaemu (Ding) computes FP8 products as cuBLAS does on an H100 PCIe
and an RTX 4060. mmasim and mmaemu need PyTorch; here it runs on the CPU. Two NaN count as equal. Times are CPU times,
so that other programs on the machine change them little. A model without its option is left out, with a message.
"""

import argparse
import importlib.metadata
import os
import sys
import time
from pathlib import Path

import numpy as np
import torch
from peers_rows import (
    compare_recorded,
    different,
    mmasim_rows,
    mmasim_unit,
    operands,
    random_rows,
    softmma_rows,
    tensor,
    timed,
)

import softmma

TURNS = 5
ROWS = 4096


def alternately(one, other):
    """Returns the least CPU seconds of each of two functions, which run in turn."""
    times = []
    for _ in range(TURNS):
        pair = []
        for function in one, other:
            start = time.process_time()
            function()
            pair.append(time.process_time() - start)
        times.append(pair)
    return [min(column) for column in zip(*times)]


# ---- mmasim ----


def rows_of_zeros(i):
    """Returns vectors whose products are 2^-25, one of 2^-42, 2^-43, ... 2^-48, and zeros; c is 0. 2^-25 is half of
    FP16's least number. The result is that number if alignment retains the second product, otherwise 0. This depends on
    the exponent of a zero, and random vectors hardly ever show it.
    """
    exponents = range(42, 49)
    a, b = (np.zeros((len(exponents), i.k), np.float16) for _ in "ab")
    a[:, 0], b[:, 0] = 2.0**-12, 2.0**-13
    a[:, 1], b[:, 1] = [2.0 ** (24 - e) for e in exponents], 2.0**-24
    return a, b, np.zeros(len(exponents), np.float16)


def rows_of_both(i, unit, *row):
    """Returns the number of differing vectors, and the seconds of SoftMMA and of mmasim."""
    d, seconds = timed(softmma_rows, i, *row)
    other, other_seconds = timed(mmasim_rows, i, unit, *row)
    return int(different(d, other).sum()), seconds, other_seconds


def compare_rows(generator, titles):
    compared, skipped, disagreements, ours, theirs = 0, [], [], 0.0, 0.0
    for i in softmma.instructions():
        unit = mmasim_unit(i, titles)
        if unit is None:
            skipped.append(i)
            continue
        compared += 1
        rows = {kind: random_rows(generator, i, kind, ROWS) for kind in ("normal", "bits")}
        if i.a == i.b == i.c == i.d == "f16":
            rows["zeros"] = rows_of_zeros(i)
        for kind, operands_of_rows in rows.items():
            count, seconds, other_seconds = rows_of_both(i, unit, *operands_of_rows)
            if kind != "zeros":
                ours, theirs = ours + seconds, theirs + other_seconds
            if count:
                of_all = len(operands_of_rows[0])
                disagreements.append(f"  differ: {i.arch} {i.name}: {count} of {of_all} rows ({kind})")
    print(f"mmasim {importlib.metadata.version('mmasim')}: {compared} instructions, {len(skipped)} that it has not")
    print(f"  {2 * ROWS} rows each; SoftMMA's reference core is {theirs / ours:.0f} times as fast over all of them")
    print("\n".join(disagreements) or "  no result differs")


def compare_speed(generator, titles, on, name):
    """Compares the speed of a whole instruction."""
    i = softmma.instruction(on, name)
    unit = mmasim_unit(i, titles)
    a, b = operands(generator, i.a, (i.m, i.k), "normal"), operands(generator, i.b, (i.k, i.n), "normal")
    c = np.zeros((i.m, i.n), np.float32)
    x, y, z = tensor(a), tensor(b), tensor(c)
    seconds, other = alternately(lambda: softmma.matmul(a, b, c, on=i, threads=1), lambda: unit(x, y, z))
    print(f"  {i.name}: SoftMMA on one thread is {other / seconds:.0f} times as fast")


def compare_mmasim(generator):
    titles = {gpu.arch: gpu.title for gpu in softmma.gpus()}
    compare_rows(generator, titles)
    compare_speed(generator, titles, "H100", "wgmma.m64n256k16.f32.f16.f16")
    compare_speed(generator, titles, "MI300X", "v_mfma_f32_32x32x16_fp8_fp8")


# ---- mmaemu ----


def compare_mmaemu(generator, size=512):
    import mmaemu

    print(f"mmaemu {importlib.metadata.version('mmaemu')}: products of {size} x {size} x {size}, fast accumulation")
    for gpu, profile in ("H100", "hopper"), ("L40S", "ada"):
        for a_format, b_format in ("e4m3", "e4m3"), ("e5m2", "e4m3"):
            a, b = (operands(generator, f, (size, size), "normal") for f in (a_format, b_format))
            x, w = tensor(a), tensor(np.ascontiguousarray(b.T))

            def theirs(x=x, w=w, profile=profile):
                return mmaemu.accumulate(x, w, use_fast_accum=True, profile=profile, splitk=1).numpy()

            def ours(a=a, b=b, gpu=gpu):
                return softmma.matmul(a, b, on=gpu, threads=1)

            count = int(different(ours(), theirs()).sum())
            seconds, other_seconds = alternately(ours, theirs)
            print(
                f"  {gpu} {a_format} x {b_format}: {count} of {size * size} results differ; "
                f"SoftMMA on one thread is {other_seconds / seconds:.0f} times as fast"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in "toolbox", "fpy":
        parser.add_argument(f"--{name}", type=Path, metavar="CLONE")
    parser.add_argument("--rows", type=int, default=200, help="random rows of each kind and instruction (default: 200)")
    parser.add_argument("--only", choices=("rows", "mmasim", "mmaemu"), help="this part alone")
    given = parser.parse_args()
    if os.environ.get("OMP_NUM_THREADS") != "1":
        sys.exit("peers: set OMP_NUM_THREADS=1, so that SoftMMA has one thread as the others have")
    torch.set_num_threads(1)
    generator = np.random.default_rng(0)
    print(f"softmma {softmma.__version__}, torch {torch.__version__}, Python {sys.version.split()[0]}, one thread")
    for name in "toolbox", "fpy":
        if not getattr(given, name):
            print(f"without --{name}: left out")
    parts = {
        "rows": lambda: compare_recorded(generator, given.toolbox, given.fpy, given.rows),
        "mmasim": lambda: compare_mmasim(generator),
        "mmaemu": lambda: compare_mmaemu(generator),
    }
    for name, part in parts.items():
        if given.only in (None, name):
            part()


if __name__ == "__main__":
    main()
