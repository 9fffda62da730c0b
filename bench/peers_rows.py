"""Test vectors computed by SoftMMA and by other models, for peers.py: one function for each model. It returns None if
the model does not have the instruction."""

import importlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

import softmma

SOURCE = Path(__file__).resolve().parent.parent


def bits(x):
    return np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")


def different(x, y):
    both_nan = np.isnan(x.astype(np.float64)) & np.isnan(y.astype(np.float64))
    return (bits(x) != bits(y)) & ~both_nan


def operands(generator, format, shape, kind):
    """Returns operands of one kind: random bits, or normally distributed numbers."""
    dtype = softmma.dtype(format)
    if kind == "normal":
        return softmma.round(generator.standard_normal(shape), format)
    bits_of_format = next(f.bits for f in softmma.formats() if f.name == format)
    return generator.integers(0, 2**bits_of_format, shape, dtype=f"u{dtype.itemsize}", endpoint=False).view(dtype)


def tensor(array):
    """Returns an array's memory as a tensor, in PyTorch's dtype of the same name, or as bytes if PyTorch has no such
    dtype."""
    return torch.from_numpy(bits(array)).view(getattr(torch, array.dtype.name, torch.uint8))


def random_rows(generator, i, kind, rows):
    """Returns random a, b, c and scale factors."""
    a, b = (operands(generator, f, (rows, i.k), kind) for f in (i.a, i.b))
    c = operands(generator, i.c, (rows,), kind)
    scales = [operands(generator, i.scale, (rows, i.k // i.scale_block), "bits") for _ in "ab"] if i.scale else []
    return a, b, c, *scales


def softmma_rows(i, a, b, c, *scales):
    named = dict(zip(("scale_a", "scale_b"), map(bits, scales)))
    return softmma.dot(bits(a), bits(b), bits(c), on=i, **named)


# ---- mmasim ----


def mmasim_unit(i, titles):
    """Returns mmasim's operation for an instruction, or None if mmasim does not have the instruction."""
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
    """Returns FP6 and FP4 elements in bytes, as PTX defines them: FP4 in bits 5 to 2, or two elements per byte with the
    first in the high half."""
    if array.dtype != softmma.dtype("e2m1"):
        return tensor(array)
    if i.k < 64:
        return tensor(bits(array) << 2)
    return tensor(bits(array)[..., 0::2] << 4 | bits(array)[..., 1::2])


def mmasim_rows(i, unit, a, b, c, *scales):
    return unit.dpa(mmasim_tensor(i, a), mmasim_tensor(i, b), tensor(c), *map(tensor, scales)).numpy()


# ---- FPy's examples/mmasim ----

# FPy's parameters (L, F, rho, e_zero in its nv.py) by (architecture, format of A and B, format of D), for the
# instructions with recorded vectors. FPy has no entry for FP8 through mma on an H100 or B200, where HMMA computes it.
FPY = {
    ("volta", "f16", "f32"): (4, 23, "RZ_FP32", -131),
    ("volta", "f16", "f16"): (4, 23, "RNE_FP16", -20),
    ("ampere", "tf32", "f32"): (4, 24, "RZ_FP32", -132),
    ("ampere", "bf16", "f32"): (8, 24, "RZ_FP32", -132),
    ("ampere", "f16", "f32"): (8, 24, "RZ_FP32", -132),
    ("ampere", "f16", "f16"): (8, 24, "RNE_FP16", -21),
    ("ada", "e4m3", "f32"): (16, 13, "RZ_E8M13", -132),
    ("ada", "e5m2", "f32"): (16, 13, "RZ_E8M13", -132),
    ("hopper", "tf32", "f32"): (8, 25, "RZ_FP32", -133),
    ("hopper", "bf16", "f32"): (16, 25, "RZ_FP32", -133),
    ("hopper", "f16", "f32"): (16, 25, "RZ_FP32", -133),
    ("hopper", "f16", "f16"): (16, 25, "RNE_FP16", -22),
    ("hopper", "e4m3", "f32"): (32, 13, "RZ_E8M13", -133),
    ("hopper", "e5m2", "f32"): (32, 13, "RZ_E8M13", -133),
}
FPY |= {("ada", *key[1:]): value for key, value in FPY.items() if key[0] == "ampere"}
FPY |= {("blackwell", *key[1:]): value for key, value in FPY.items() if key[0] == "hopper" and key[1][0] != "e"}
FPY_FORMATS = {"f16": "FP16", "bf16": "BF16", "tf32": "TF32", "f32": "FP32", "e4m3": "MX_E4M3", "e5m2": "MX_E5M2"}


def fpy_model(clone, i):
    if (i.arch, i.a, i.d) not in FPY:
        return None
    import fpy2

    if str(clone / "examples/mmasim") not in sys.path:
        sys.path.insert(0, str(clone / "examples/mmasim"))
    nv = importlib.import_module("nv")
    block, kept, rho, e_zero = FPY[i.arch, i.a, i.d]
    a, c = (getattr(fpy2, FPY_FORMATS[f]) for f in (i.a, i.c))
    return nv.make_t_fdpa_chain(block, a, a, c, kept, getattr(nv, rho), e_zero=e_zero)


def fpy_rows(i, model, a, b, c):
    values = [x.astype(np.float64).tolist() for x in (a, b, c)]
    return np.array([float(model(*row)) for row in zip(*values)]).astype(softmma.dtype(i.d))


# ---- The MATLAB toolbox, in Octave ----

TOOLBOX_FORMATS = {"f16": "fp16", "bf16": "bf16", "tf32": "tf32", "e4m3": "e4m3", "e5m2": "e5m2", "f32": "fp32"}


def toolbox_rows(clone, jobs):
    """Computes the jobs [(GPU, instruction, a, b, c)] in one run of Octave, and returns [(d, seconds)]. The start of
    Octave is not counted. The operands need no rounding, so CPFloat is not required."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for n, (gpu, i, *columns) in enumerate(jobs):
            for name, column in zip("abc", columns):
                np.savetxt(work / f"{n}.{name}", column.astype(np.float64).reshape(len(column), -1), "%.17g")
            formats = [i.d] if gpu == "V100" else [i.a, i.d]  # a V100 has FP16 alone, which its model is not told
            (work / f"{n}.job").write_text(" ".join([f"{gpu}TC", *(TOOLBOX_FORMATS[f] for f in formats)]))
        program = SOURCE / "bench" / "peers_toolbox.m"
        subprocess.run(
            ["octave", "--no-gui", "--quiet", "--norc", program, clone, work, str(len(jobs))],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        read = lambda n: (np.loadtxt(work / f"{n}.d", ndmin=1), float((work / f"{n}.seconds").read_text()))
        return [
            (d.astype(softmma.dtype(i.d)), seconds)
            for (_, i, *_), (d, seconds) in zip(jobs, map(read, range(len(jobs))))
        ]


# ---- Recorded rows ----


def recorded():
    """Returns [(GPU, instruction, a, b, c, d)], with one entry for each file in tests/vectors/recorded/gpu."""
    return [read_rows(path) for path in sorted((SOURCE / "tests/vectors/recorded/gpu").glob("*.txt"))]


def read_rows(path):
    lines = path.read_text().splitlines()
    header = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    i = softmma.instruction(header["arch"], header["instruction"])
    words = np.array([[int(x, 16) for x in line.split()] for line in lines if not line.startswith("#")], np.uint64)

    def column(at, name):
        dtype = softmma.dtype(name)
        return words[:, at].astype(f"u{dtype.itemsize}").view(dtype)

    a, b, c, d = slice(0, i.k), slice(i.k, 2 * i.k), 2 * i.k, 2 * i.k + 1
    return header["recorded on"], i, column(a, i.a), column(b, i.b), column(c, i.c), column(d, i.d)


def timed(function, *arguments, turns=1):
    """Calls the function `turns` times. Returns its result and the CPU seconds of the fastest call."""
    seconds = []
    for _ in range(turns):
        start = time.process_time()
        d = function(*arguments)
        seconds.append(time.process_time() - start)
    return d, min(seconds)


def all_peers(cases, toolbox, fpy):
    """Computes the cases [(GPU, instruction, a, b, c)] by every model that has the instruction, and returns {model:
    {number of the case: (d, seconds)}}."""
    titles = {gpu.arch: gpu.title for gpu in softmma.gpus()}
    peers = {"SoftMMA": {n: timed(softmma_rows, i, a, b, c, turns=5) for n, (_, i, a, b, c) in enumerate(cases)}}
    units = {n: mmasim_unit(case[1], titles) for n, case in enumerate(cases)}
    peers["mmasim"] = {
        n: timed(mmasim_rows, cases[n][1], unit, *cases[n][2:], turns=5) for n, unit in units.items() if unit
    }
    if toolbox:
        peers["MATLAB toolbox"] = dict(enumerate(toolbox_rows(toolbox, cases)))
    if fpy:
        models = {n: fpy_model(fpy, case[1]) for n, case in enumerate(cases)}
        peers["FPy"] = {n: timed(fpy_rows, cases[n][1], m, *cases[n][2:]) for n, m in models.items() if m}
    return peers


def compare_recorded(generator, toolbox, fpy, rows):
    """Compares all models on vectors that GPUs have computed, and on random vectors of the same instructions, which
    nobody has recorded."""
    files = recorded()
    print(f"rows recorded on GPUs: {len(files)} files of {len(files[0][2])} rows; differ: from what the GPU returned")
    peers = all_peers([case[:5] for case in files], toolbox, fpy)
    print(f"  {'':<16}{'files':>6}{'rows':>8}{'differ':>8}{'rows/s':>10}   SoftMMA's core is")
    for name, done in peers.items():
        count = sum(len(d) for d, _ in done.values())
        wrong = sum(int(different(files[n][5], d).sum()) for n, (d, _) in done.items())
        seconds = sum(s for _, s in done.values())
        ours = sum(peers["SoftMMA"][n][1] for n in done)
        times = f"{seconds / ours:.3g} times as fast"
        print(f"  {name:<16}{len(done):>6}{count:>8}{wrong:>8}{count / seconds:>10.3g}   {times}")
    for name, done in peers.items():
        list_differing(files, {n: (files[n][5], "the GPU", d, name) for n, (d, _) in done.items()})
    for kind in "normal", "bits":
        cases = [(gpu, i, *as_numbers(i, *random_rows(generator, i, kind, rows))) for gpu, i, *_ in files]
        peers = all_peers(cases, toolbox, fpy)
        for name, done in list(peers.items())[1:]:
            results = {n: (peers["SoftMMA"][n][0], "SoftMMA", d, name) for n, (d, _) in done.items()}
            wrong = sum(int(different(ours, d).sum()) for ours, _, d, _ in results.values())
            print(f"{name}, {rows} rows ({kind}) of {len(done)} instructions: {wrong} differ from SoftMMA")
            list_differing(cases, results)


def as_numbers(i, a, b, c):
    """Clears the bits of TF32 operands that the instruction ignores. Only mmasim clears them itself; other models leave
    this to the caller."""
    if i.a == "tf32":
        a, b = ((bits(x) & 0xFFFFE000).view(x.dtype) for x in (a, b))
    return a, b, c


def list_differing(cases, results):
    for n, (one, whose, other, by_whom) in results.items():
        at = different(one, other)
        if at.any():
            row = one_row(cases[n], at, one, whose, other, by_whom)
            print(f"  {cases[n][0]} {cases[n][1].name}: {at.sum()} of {len(at)}; {row}")


def one_row(case, at, ours, whose, theirs, by_whom):
    """Returns the command that computes the vector with the fewest nonzero products, and both results."""
    gpu, i, a, b, c = case[:5]
    k = min(np.flatnonzero(at), key=lambda row: np.count_nonzero((bits(a)[row] != 0) & (bits(b)[row] != 0)))
    words = lambda x: " ".join(f"{int(w):x}" for w in np.atleast_1d(bits(x)))
    row = f"softmma dot --hex --on {gpu} --instr {i.name} --a '{words(a[k])}' --b '{words(b[k])}' --c {words(c[k])}"
    return f"{whose} {words(ours[k])}, {by_whom} {words(theirs[k])}: {row}"
