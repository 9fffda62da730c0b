"""Runs the experiments of docs/claims.md in small sizes, and checks the statements that the page makes about their
tables."""

import json
import subprocess
import sys

import numpy as np
import pytest

from conftest import REPOSITORY, bits

TIER = "check"
CLAIMS = REPOSITORY / "examples" / "python" / "claims"


@pytest.fixture
def tables(tmp_path):
    """Runs a program and returns its tables. Its conclusions must stand below them, on the screen and in the file."""

    def run(name):
        command = [sys.executable, CLAIMS / name, "--small", "--json", tmp_path / "found.json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found = json.loads((tmp_path / "found.json").read_text())
        assert found["conclusions"] and done.stdout.splitlines()[-1] == f"- {found['conclusions'][-1]}"
        return list(found["tables"].values())

    return run


def test_drift(tables):
    """GPUs with equal sums have equal outputs in every way of rounding. If sums differ, rounding to 16 bits hides small
    differences, but not large ones."""
    drift, errors, first, cause, trained = tables("drift.py")
    for row in drift:
        assert (row["logits"] == 0) == (row["pair"] == "H100, B200")
    of = {(row["format"], row["pair"], row["way"]): row["last layer"] for row in drift}
    for one, other in (("V100", "A100"), ("V100", "H100"), ("A100", "H100"), ("H100", "MI300X")):
        pair = "f16", f"{one}, {other}"
        assert of[(*pair, "16 bits")] > 100 * of[(*pair, "FP32")] > 0
    assert of["bf16", "A100, H100", "16 bits"] == 0 < of["bf16", "A100, H100", "FP32"]
    assert all(1000 * row["sums alone"] < row["rounding alone"] for row in errors)
    assert all((row["of these flip"] > 0) == (row["pair"] != "H100, B200") for row in first)
    assert all(row["by < 1/2 ulp"] <= row["sums differ"] for row in first)
    for row in cause:
        assert row["median, not rounded"] > 0
        assert row["t"] == "2^-24" or row["runs that drift"] == 0
    for row in trained:
        differ = 0 if row["pair"] == "H100, B200" else row["images"] if row["way"] == "FP32" else row["images"] // 4
        assert row["images that differ"] <= differ and (row["way"] != "FP32" or row["images that differ"] == differ)
        assert row["other answers"] == 0


def test_fp22(tables):
    """The measurements of the source are reproduced. Recorded test vectors contradict its interpretation (FP22)."""
    zero, judged, smallest, errors = tables("fp22.py")
    assert [row["D is C cut to FP22"] for row in zero[:2]] == [row["rows"] for row in zero[:2]]
    assert [row["D is C"] for row in zero[2:]] == [row["rows"] for row in zero[2:]]
    wrong = {(row["GPU"], row["model"]): row["differ"] for row in judged}
    assert {row["rows"] for row in judged} == {700}
    assert [wrong["L40S", m] for m in ("rule", "FP22", "FP22, nearest", "FP22, one by one")] == [0, 286, 329, 382]
    assert [wrong["H100", m] for m in ("rule", "FP22", "FP22, nearest", "FP22, one by one")] == [0, 146, 212, 312]
    assert [(row["rule"], row["FP22"], row["FP22, one by one"]) for row in smallest] == [(0, 16, 0)] * 2
    for row in errors:
        assert row["H100, FP32 every 64"] < row["H100, FP32 every 128"] < row["H100 wgmma"]
        assert (row["H100 wgmma"] > row["FP22"]) == (row["V"] == "N(1, 1)")


def test_accumulator(tables):
    """Finer formats and terms of one sign need more accumulator bits; longer blocks need at most one bit less."""
    knees, curves, over_k, network = tables("accumulator.py")
    least = {(row["product"], row["operands"]): row["F, the same, L = 4"] for row in knees}
    for product in {name for name, _ in least}:
        assert least[product, "e4m3"] < least[product, "bf16"]
    assert least["linear", "e4m3"] < least["linear", "bf16"] < least["linear", "f16"] < least["all positive", "f16"]
    assert least["linear", "e4m3"] < least["all positive", "e4m3"] <= 13
    assert all(0 <= row["F, the same, L = 4"] - row["F, the same, L = 32"] <= 1 for row in knees if row["format costs"])
    assert over_k[0]["all positive: F, the same"] < over_k[1]["all positive: F, the same"]
    assert all(row["other than exact, L = 4"] == 0 for row in network if row["F"] >= 6)
    assert all(row["F = 4"] > row["F = 13"] for row in curves)


def test_refinement(tables):
    """GMRES converges further than plain refinement; the format decides, and FP32 needs the fewest steps."""
    rows, _ = tables("refinement.py")
    steps = {(row["format"], row["condition"]): row["plain: steps"] for row in rows}
    assert [steps[format, "1e2"] for format in ("f32", "f16", "bf16")] == [2, 5, 8]
    assert [steps[format, "1e6"] for format in ("f16", "bf16", "e4m3")] == [None, None, None]
    assert steps["bf16", "1e2"] < steps["e4m3", "1e2"]
    assert all(row["iterations"] is not None for row in rows)


def test_lu_slices(tables):
    """Eight slices are enough for entries of similar size, but not for entries of very different sizes."""
    norm, element = ({row["matrix"]: row for row in rows} for rows in tables("lu_slices.py")[:2])
    for matrix in ("uniform", "normal"):
        assert norm[matrix]["8 slices"] < 2 * norm[matrix]["FP64"] < norm[matrix]["6 slices"]
        assert element[matrix]["8 slices"] < 2 * element[matrix]["FP64"] < element[matrix]["6 slices"]
    assert norm["condition 1e12"]["8 slices"] > 2 * norm["condition 1e12"]["FP64"] > norm["condition 1e12"]["9 slices"]
    for matrix in ("2^N(0, 10)", "2^N(0, 40)"):
        assert element[matrix]["10 slices"] > 2 * element[matrix]["FP64"]


@pytest.mark.parametrize("count", [1, 3, 8, 12])
def test_slices(monkeypatch, command, tmp_path, generator, count):
    """The slices' product has the same bits as the command's."""
    monkeypatch.syspath_prepend(str(CLAIMS))
    product = __import__("lu_slices").product
    a, b = (generator.standard_normal(s) * np.exp2(generator.integers(-9, 9, s)) for s in ((7, 40), (40, 9)))
    a[2], b[:, 3] = 0, 0
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    files = [tmp_path / f"{name}.npy" for name in "abd"]
    command(
        *("gemm", "--on", "H100", "--in", "s8", "--method", "ozaki", "--slices", count),
        *("--products", "leading", "--sum", "f64", *files[:2], "-o", files[2]),
    )
    assert (bits(product(a, b, count)) == bits(np.load(files[2]))).all()
