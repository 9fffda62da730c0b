"""Through Python, every instruction gives the results in the vector files of the repository and of SOFTMMA_VECTORS."""

import os
from pathlib import Path

import numpy as np
import pytest

import softmma
from conftest import REPOSITORY, bits
from softmma import _core

TIER = "check"
FOLDER = os.environ.get("SOFTMMA_VECTORS")
KINDS = ("hardware", "model")


def read(path):
    """Returns the header, and the operands and results of all test vectors as raw encodings."""
    header, rows = {}, []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("#"):
                key, _, value = line[1:].partition(":")
                header[key.strip()] = value.strip()
            elif line.strip():
                rows.append([int(word, 16) for word in line.split()])
    return header, np.array(rows, dtype=np.uint64)


def columns(i, rows):
    """Returns a, b, c, scale_a, scale_b and d of test vectors. They are unsigned encodings if their format shares its
    dtype with another format."""
    scales = i.k // i.scale_block if i.scale else 0
    ends = np.cumsum([i.k, i.k, 1, scales, scales, 1])
    formats = i.a, i.b, i.c, i.scale or i.a, i.scale or i.a, i.d
    parts = []
    for part, format in zip(np.split(rows, ends[:-1], axis=1), formats):
        kind = softmma.dtype(format)
        encodings = np.ascontiguousarray(part.astype(f"u{kind.itemsize}"))
        parts.append(encodings.view(kind) if _core.format(kind) == format else encodings)
    a, b, c, scale_a, scale_b, d = parts
    return a, b, c[:, 0], scale_a if scales else None, scale_b if scales else None, d[:, 0]


def differs(i, expected, got, *, computed=False):
    """Returns the test vectors whose bits differ. NaN equals NaN, because payloads of hardware are not known
    everywhere. Zeros of computed test vectors have the sign that their model gave them before an H100 contradicted
    it (docs/evidence.md)."""
    both_nan = np.isnan(expected.astype(np.float64)) & np.isnan(got.astype(np.float64))
    both_zero = computed & (expected == 0) & (got == 0)
    return np.flatnonzero((bits(expected) != bits(got)) & ~both_nan & ~both_zero)


def instruction_of(header):
    """Returns the instruction of a vector file. Properties that AMD writes separately from an instruction's name are
    part of its name here."""
    name = header["instruction"]
    if name.endswith(("_iu8", "_iu4")):
        name += f".{header['a']}.{header['b']}"
    if "wave" in header:
        name += f".w{header['wave']}"
    for key, suffix in (("fp16_ovfl", ".ovfl"), ("clamp", ".clamp")):
        if int(header.get(key, 0)):
            name += suffix
    return softmma.instruction(header["arch"], name)


def check(path, *, computed=False):
    header, rows = read(path)
    i = instruction_of(header)
    a, b, c, scale_a, scale_b, d = columns(i, rows)
    got = softmma.dot(a, b, c, on=i, scale_a=scale_a, scale_b=scale_b)
    wrong = differs(i, d, got, computed=computed)
    assert not wrong.size, f"{path} row {wrong[0] + 1}: {softmma.explain(a[wrong[0]], b[wrong[0]], c[wrong[0]], on=i)}"
    if ".sp." in i.name:  # a test vector has only the selected products
        return i
    if scale_a is not None:
        scale_a, scale_b = scale_a[:, None, :], scale_b[:, :, None]
    products = softmma.matmul(a[:, None, :], b[:, :, None], c[:, None, None], on=i, scale_a=scale_a, scale_b=scale_b)
    assert not differs(i, got, products[:, 0, 0]).size
    return i


@pytest.mark.parametrize("path", sorted((REPOSITORY / "tests" / "vectors").rglob("*.txt")), ids=lambda path: path.stem)
def test_own(path):
    check(path)


@pytest.mark.skipif(not FOLDER, reason="SOFTMMA_VECTORS is not set: recorded and computed vector files are NOT checked")
@pytest.mark.parametrize("kind", KINDS)
def test_all(kind):
    paths = sorted(Path(FOLDER, kind).rglob("*.txt"))
    seen = {check(path, computed=kind == "model") for path in paths if b"# instruction" in path.read_bytes()[:4096]}
    assert seen


def test_recorded_fact():
    """For a test vector recorded on an H100, only a zero exponent of -133 gives the H100's result."""
    a = "9b94 19f3 9a2e 1a67 9a25 9b4e 9b29 9a33 99e0 1a14 9914 99d1 9ae9 1b1a 9a9c 1b3a"
    b = "9aaf 99f3 9acc 1b7c 19ed 1b25 9a1b 9a20 9af7 9a48 1ae1 1b32 1b12 1b0e 9a68 1735"
    a, b = (np.array([int(word, 16) for word in text.split()], dtype=np.uint16) for text in (a, b))
    assert bits(softmma.dot(a, b, on="H100", in_dtype="bf16")) == 0x0000000B
