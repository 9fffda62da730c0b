"""Python reaches every command: what `softmma NAME --json` prints is what softmma.NAME returns as `value`."""

import json
import re

import numpy as np
import pytest

import softmma

TIER = "check"

# Of the machine and of the program, not of matrix units.
COMMAND_ALONE = {"bench", "version"}

# Matrices, of which the commands find files: "a" and so on.
GENERATOR = np.random.default_rng(35)
A, B, C = (GENERATOR.standard_normal(shape).astype("f4") for shape in ((8, 64), (64, 8), (8, 8)))
D = softmma.matmul(A, B, on="V100", in_dtype="f16")
# What is another each time, or of the command's files alone.
UNLIKE = {"gemm": {"seconds", "d"}, "match": {"seconds"}}

# Command -> its arguments without --json, and the same call in Python.
CALLS = {
    "self-test": (["self-test"], lambda: softmma.self_test()),
    "gemm": (["gemm", "a", "b", "-C", "c", "-o", "o", "--on", "H100", "--in", "f16", "--alpha", "2"],
             lambda: softmma.gemm(A, B, C, on="H100", in_dtype="f16", alpha=2)),
    "gemm words": (["gemm", "a", "b", "-o", "o", "--on", "A100", "--in", "bf16", "--method", "words", "--words", "3"],
                   lambda: softmma.gemm(A, B, on="A100", in_dtype="bf16", method="words", words=3)),
    "match": (["match", "a", "b", "d", "--on", "V100,A100", "--in", "f16"],
              lambda: softmma.match(A, B, D, on=["V100", "A100"], in_dtype="f16")),
    "match nothing": (["match", "a", "b", "c", "--on", "V100", "--in", "f16", "--round-in", "toward-zero"],
                      lambda: softmma.match(A, B, C, on="V100", in_dtype="f16", round_in="toward-zero")),
    "match claim": (["match", "a", "b", "d", "-C", "c", "--in", "f16", "--claim", "H100:f16"],
                    lambda: softmma.claim(A, B, D, "H100:f16", c=C, in_dtype="f16")),
    "match chain": (["match", "a", "b", "d", "--in", "f16", "--on", "H100", "--claim", "none"],
                    lambda: softmma.claim(A, B, D, "none", on="H100", in_dtype="f16")),
}

# Commands whose result Python has no `value` of yet.
MISSING = {
    "list",
    "show",
    "dot",
    "explain",
    "compare",
    "trace",
    "tolerance",
    "verify",
    "gen",
    "convert",
    "coverage",
    "probe",
    "diff",
    "equal",
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
    for matrix in "abcd":
        with open(matrix, "wb") as file:
            np.save(file, globals()[matrix.upper()])
    arguments, call = CALLS[name]
    printed, value = json.loads(command(*arguments, "--json", status=(0, 1))), dict(call().value)
    for key in UNLIKE.get(name.split()[0], ()):
        printed.pop(key, None), value.pop(key, None)
    assert printed == value
