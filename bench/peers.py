"""SoftMMA beside two other packages on PyPI, on what both compute: results that differ, and speed in the same run.

    pip install torch mmasim mmaemu && pip install .
    python bench/peers.py

mmasim (Xie et al.) computes single instructions, mmaemu (Ding) FP8 products as cuBLAS computes them on an H100 PCIe and
an RTX 4060. Both compute with PyTorch, on the CPU here. Two NaN count as equal.
"""

import importlib.metadata
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
    """An array's memory as a tensor, in PyTorch's dtype of the same name; bytes where there is none."""
    return torch.from_numpy(bits(array)).view(getattr(torch, array.dtype.name, torch.uint8))


def alternately(one, other):
    """Seconds of both, measured in turn: the least of each."""
    times = []
    for _ in range(TURNS):
        pair = []
        for function in one, other:
            start = time.perf_counter()
            function()
            pair.append(time.perf_counter() - start)
        times.append(pair)
    return [min(column) for column in zip(*times)]


# ---- mmasim ----


def mmasim_unit(i, titles):
    """mmasim's operation for an instruction, or None if it has none."""
    from mmasim import amd, nv_ptx

    arch = titles[i.arch]
    if i.arch.startswith("cdna"):
        candidates = [(amd.MFMA, arch.replace(" ", ""), i.name.removeprefix("v_mfma_"))]
    else:
        family, _, rest = i.name.partition(".")
        shape, _, types = rest.partition(".")
        kinds = ["kind::mxf8f6f4.", "kind::mxf4.", "kind::mxf4nvf4."] if i.scale else ["", *PLAIN_KINDS]
        classes = {
            "mma": nv_ptx.MMABlockScale if i.scale else nv_ptx.MMA,
            "wgmma": nv_ptx.WGMMA,
            "tcgen05": nv_ptx.TCGen05MMABlockScale if i.scale else nv_ptx.TCGen05MMA,
        }
        candidates = [(classes[family], arch, f"{shape}.{kind}{types}") for kind in kinds if family in classes]
    for operation, name, spelling in candidates:
        try:
            return operation(name, spelling)
        except (AssertionError, KeyError):
            continue
    return None


PLAIN_KINDS = ["kind::tf32.", "kind::f16.", "kind::f8f6f4."]


def mmasim_tensor(i, array):
    """FP6 and FP4 in bytes as PTX has them: FP4 in bits 5 to 2, or two in a byte, the first in the high half."""
    if array.dtype != softmma.dtype("e2m1"):
        return tensor(array)
    if i.k < 64:
        return tensor(bits(array) << 2)
    return tensor(bits(array)[..., 0::2] << 4 | bits(array)[..., 1::2])


def random_rows(generator, i, kind):
    """a, b, c and scale factors."""
    a, b = (operands(generator, f, (ROWS, i.k), kind) for f in (i.a, i.b))
    c = operands(generator, i.c, (ROWS,), kind)
    scales = [operands(generator, i.scale, (ROWS, i.k // i.scale_block), "bits") for _ in "ab"] if i.scale else []
    return a, b, c, *scales


def rows_of_zeros(i):
    """2^-25 + 2^-42, 2^-43, ... 2^-48 beside zeros, c = 0. In FP16 2^-25 is half of the least number: the result is that
    number where the other product is kept, else 0, and a zero's exponent decides which. Random rows hardly ever show it.
    """
    exponents = range(42, 49)
    a, b = (np.zeros((len(exponents), i.k), np.float16) for _ in "ab")
    a[:, 0], b[:, 0] = 2.0**-12, 2.0**-13
    a[:, 1], b[:, 1] = [2.0 ** (24 - e) for e in exponents], 2.0**-24
    return a, b, np.zeros(len(exponents), np.float16)


def rows_of_both(i, unit, a, b, c, *scales):
    """Rows that differ, and the seconds of both."""
    start = time.perf_counter()
    named = dict(zip(("scale_a", "scale_b"), map(bits, scales)))
    d = softmma.dot(bits(a), bits(b), bits(c), on=i, **named)
    middle = time.perf_counter()
    other = unit.dpa(mmasim_tensor(i, a), mmasim_tensor(i, b), tensor(c), *map(tensor, scales)).numpy()
    return int(different(d, other).sum()), middle - start, time.perf_counter() - middle


def compare_rows(generator, titles):
    compared, skipped, disagreements, ours, theirs = 0, [], [], 0.0, 0.0
    for i in softmma.instructions():
        unit = mmasim_unit(i, titles)
        if unit is None:
            skipped.append(i)
            continue
        compared += 1
        rows = {kind: random_rows(generator, i, kind) for kind in ("normal", "bits")}
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
    """One whole instruction."""
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
    torch.set_num_threads(1)
    generator = np.random.default_rng(0)
    print(f"softmma {softmma.__version__}, torch {torch.__version__}, Python {sys.version.split()[0]}, one thread")
    compare_mmasim(generator)
    compare_mmaemu(generator)


if __name__ == "__main__":
    main()
