"""SoftMMA beside two other packages on PyPI, on what both compute: results that differ, and speed in the same run.

    pip install torch mmasim mmaemu && pip install .
    python bench/peers.py

mmasim (Xie et al.) computes single instructions, mmaemu (Ding) FP8 products as cuBLAS computes them on an H100 PCIe and
an RTX 4060. Both compute with PyTorch, on the CPU here. Two NaN count as equal.
"""

import importlib.metadata
import statistics
import sys
import time

import numpy as np
import torch

import softmma

TURNS = 5
ROWS = 4096


def bits(x):
    return np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")


def different(x, y):
    both_nan = np.isnan(x.astype(np.float64)) & np.isnan(y.astype(np.float64))
    return (bits(x) != bits(y)) & ~both_nan


def operands(generator, format, shape, kind):
    """Random bits, or normally distributed numbers."""
    dtype = softmma.dtype(format)
    if kind == "normal":
        return softmma.round(generator.standard_normal(shape), format)
    bits_of_format = next(f.bits for f in softmma.formats() if f.name == format)
    return generator.integers(0, 2**bits_of_format, shape, dtype=f"u{dtype.itemsize}", endpoint=False).view(dtype)


def tensor(array):
    """An array's memory as a tensor, in PyTorch's dtype of the same name; FP6 and FP4 in bytes as PTX has them, FP4 in
    bits 5 to 2."""
    unsigned = bits(array) << 2 if array.dtype == softmma.dtype("e2m1") else bits(array)
    return torch.from_numpy(unsigned).view(getattr(torch, array.dtype.name, torch.uint8))


def alternately(one, other):
    """Seconds of both, measured in turn."""
    times = []
    for _ in range(TURNS):
        pair = []
        for function in one, other:
            start = time.perf_counter()
            function()
            pair.append(time.perf_counter() - start)
        times.append(pair)
    return [statistics.median(column) for column in zip(*times)]


# ---- mmasim ----


def mmasim_unit(i, titles):
    """mmasim's operation for an instruction, or None if it has none."""
    from mmasim import amd, nv_ptx

    family, _, rest = i.name.partition(".")
    kinds = {"mma": [""], "wgmma": [""], "tcgen05": ["kind::tf32.", "kind::f16.", "kind::f8f6f4."]}
    classes = {"mma": nv_ptx.MMA, "wgmma": nv_ptx.WGMMA, "tcgen05": nv_ptx.TCGen05MMA}
    arch = titles[i.arch]
    if i.scale:
        return None
    if i.arch.startswith("cdna"):
        candidates = [(amd.MFMA, arch.replace(" ", ""), i.name.removeprefix("v_mfma_"))]
    else:
        shape, _, types = rest.partition(".")
        kinds = [*kinds.get(family, []), *(["kind::f8f6f4."] if i.arch == "rtx-blackwell" else [])]
        candidates = [(classes[family], arch, f"{shape}.{kind}{types}") for kind in kinds]
    for operation, name, spelling in candidates:
        try:
            return operation(name, spelling)
        except (AssertionError, KeyError):
            continue
    return None


def compare_mmasim(generator):
    titles = {gpu.arch: gpu.title for gpu in softmma.gpus()}
    compared = skipped = 0
    disagreements, ours, theirs = [], 0.0, 0.0
    for i in softmma.instructions():
        unit = mmasim_unit(i, titles)
        if unit is None:
            skipped += 1
            continue
        compared += 1
        for kind in "normal", "bits":
            a, b = (operands(generator, f, (ROWS, i.k), kind) for f in (i.a, i.b))
            c = operands(generator, i.c, (ROWS,), kind)
            start = time.perf_counter()
            d = softmma.dot(bits(a), bits(b), bits(c), on=i)
            middle = time.perf_counter()
            other = unit.dpa(tensor(a), tensor(b), tensor(c)).numpy()
            ours, theirs = ours + middle - start, theirs + time.perf_counter() - middle
            count = int(different(d, other).sum())
            if count:
                disagreements.append((i.arch, i.name, kind, count))
    print(f"mmasim {importlib.metadata.version('mmasim')}: {compared} instructions, {skipped} that it has not")
    print(f"  rows: {2 * ROWS} each; SoftMMA is {theirs / ours:.0f} times as fast over all of them")
    for arch, name, kind, count in disagreements:
        print(f"  differ: {arch} {name}: {count} of {ROWS} rows ({kind})")
    if not disagreements:
        print("  no result differs")


# ---- mmaemu ----


def compare_mmaemu(generator, size=256):
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
    torch.set_num_threads(1)
    generator = np.random.default_rng(0)
    print(f"softmma {softmma.__version__}, torch {torch.__version__}, Python {sys.version.split()[0]}, one thread")
    compare_mmasim(generator)
    compare_mmaemu(generator)


if __name__ == "__main__":
    main()
