"""Python reaches every command: what `softmma NAME --json` prints is what softmma.NAME returns as `value`."""

import json
import re

import numpy as np
import pytest

import softmma

TIER = "check"

# Of the machine and of the program, not of matrix units.
COMMAND_ALONE = {"bench", "version"}

GENERATOR = np.random.default_rng(0)
# The matrices of CALLS, which stand in files of their names.
A, B = (GENERATOR.standard_normal(shape).astype(np.float32) for shape in ((9, 100), (100, 7)))
C, D = (GENERATOR.standard_normal((9, 7)).astype(np.float32) for _ in range(2))
MATRICES = {"a": A, "b": B, "c": C, "d": D}
LINEAR = {"name": "linear.json", "sum": [{"deal": "every", "k": 32, "from": "zero"}], "epilogue": ["linear"]}

# Command -> its arguments without --json, and the same call in Python.
CALLS = {
    "self-test": (["self-test"], lambda: softmma.self_test()),
    "compare one": (
        ["compare", "--on", "V100,H100,H100:e4m3", "a", "b"],
        lambda: softmma.compare(A, B, ["V100", "H100", "H100:e4m3"]),
    ),
    "compare blocks": (
        ["compare", "--on", "B200:nvfp4,B200:mxfp8:mxfp4,MI300X", "a", "b"],
        lambda: softmma.compare(A, B, ["B200:nvfp4", "B200:mxfp8:mxfp4", "MI300X"]),
    ),
    "compare plans": (
        ["compare", "--on", "H100,H100", "--plan", "none,cutlass:2xacc", "a", "b"],
        lambda: softmma.compare(A, B, ["H100", "H100"], plan=[None, "cutlass:2xacc"]),
    ),
    "compare modes": (
        ["compare", "--on", "A100,A100", "--in", "tf32", "--round-in", "default,toward-zero", "a", "b"],
        lambda: softmma.compare(A, B, ["A100", "A100"], in_dtype="tf32", round_in=[None, "toward-zero"]),
    ),
    "trace one": (
        ["trace", "--on", "V100,H100", "a", "b", "--at", "3,5"],
        lambda: softmma.trace(A, B, at=(3, 5), on=["V100", "H100"], in_dtype="f16"),
    ),
    "trace worst": (
        ["trace", "--on", "H100,H100:bf16,MI250X", "-C", "c", "--alpha", "2", "a", "b"],
        lambda: softmma.trace(A, B, C, on=["H100", "H100:bf16", "MI250X"], in_dtype="f16", alpha=2),
    ),
    "trace results": (
        ["trace", "--on", "H100,V100", "--d", "d,c", "--every", "3", "a", "b"],
        lambda: softmma.trace(A, B, on=["H100", "V100"], in_dtype="f16", d={"d": D, "c": C}, every=3),
    ),
    "trace plans": (
        [
            "trace",
            "--on",
            "H100,H100,H100",
            "--in",
            "e4m3",
            "--plan",
            "none,deepgemm,linear.json",
            "a",
            "b",
            "--at",
            "1,1",
        ],
        lambda: softmma.trace(
            A, B, at=(1, 1), on=["H100"] * 3, in_dtype="e4m3", plan=[None, "deepgemm", softmma.Plan(LINEAR)]
        ),
    ),
    "trace blocks": (
        ["trace", "--on", "B200,RTX-5090", "--in", "nvfp4", "a", "b"],
        lambda: softmma.trace(A, B, on=["B200", "RTX-5090"], in_dtype="nvfp4"),
    ),
    "tolerance data": (
        ["tolerance", "--in", "bf16", "--shape", "8x8x300", "--store", "bf16"],
        lambda: softmma.tolerance(in_dtype="bf16", shape=(8, 8, 300), store="bf16"),
    ),
    "tolerance plans": (
        [
            "tolerance",
            "--on",
            "H100:e4m3,A100",
            "--plan",
            "deepgemm,linear.json",
            "--data",
            "uniform",
            "--shape",
            "8x8x64",
        ],
        lambda: softmma.tolerance(
            on=["H100:e4m3", "A100"], plan=["deepgemm", softmma.Plan(LINEAR)], data="uniform", shape=(8, 8, 64)
        ),
    ),
    "tolerance matrices": (
        ["tolerance", "--on", "H100,MI300X", "-C", "c", "--alpha", "2", "--beta", ".5", "--margin", "3", "a", "b"],
        lambda: softmma.tolerance(A, B, C, on=["H100", "MI300X"], alpha=2, beta=0.5, margin=3),
    ),
    "tolerance blocks": (
        ["tolerance", "--on", "B200:nvfp4,B200:mxfp8", "--split-k", "3", "a", "b"],
        lambda: softmma.tolerance(A, B, on=["B200:nvfp4", "B200:mxfp8"], split_k=3),
    ),
}

# Commands whose result Python has no `value` of yet.
MISSING = {
    "list",
    "show",
    "dot",
    "explain",
    "gemm",
    "verify",
    "gen",
    "convert",
    "coverage",
    "probe",
    "diff",
    "equal",
    "match",
    "custom",
    "plan",
    "infer",
    "next",
    "units",
    "campaign",
    "merge",
    "tree",
    "record",
    "experiment",
}


def commands(command):
    return set(re.findall(r"^  ([a-z][a-z-]+) ", command("--help"), re.M))


def test_every_command_is_here(command):
    named = {name.split()[0] for name in CALLS}
    assert named | MISSING | COMMAND_ALONE == commands(command)
    assert not named & MISSING


@pytest.mark.parametrize("name", CALLS)
def test_value(command, name, tmp_path, monkeypatch):
    """A name may have a word behind the command's, to tell its calls apart."""
    monkeypatch.chdir(tmp_path)
    for matrix, values in MATRICES.items():
        with open(matrix, "wb") as file:
            np.save(file, values)
    (tmp_path / "linear.json").write_text(json.dumps({"softmma-plan": 1, **LINEAR}))
    arguments, call = CALLS[name]
    assert json.loads(command(*arguments, "--json", status=(0, 1))) == call().value
