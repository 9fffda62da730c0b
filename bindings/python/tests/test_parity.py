"""Python reaches every command: what `softmma NAME --json` prints is what softmma.NAME returns as `value`."""

import json
import re
from pathlib import Path

import pytest

import softmma

TIER = "check"
RECORDED = Path(__file__).resolve().parents[3] / "tests/vectors/recorded/gpu"

# Of the machine and of the program, not of matrix units.
COMMAND_ALONE = {"bench", "version"}

F16 = "mma.m16n8k16.f32.f16.f16.f32"  # of Ampere and later
V100 = "mma.m8n8k4.f32.f16.f16.f32"

# Command -> its arguments without --json, and the same call in Python.
CALLS = {
    "self-test": (["self-test"], lambda: softmma.self_test()),
    "probe model": (["probe", "--on", "A100", "--in", "f16"], lambda: softmma.probe("A100")),
    "probe scale factors": (
        ["probe", "--unit", "model", "--on", "B200", "--in", "nvfp4", "--rows", "64"],
        lambda: softmma.probe("B200", in_dtype="nvfp4", unit="model", rows=64),
    ),
    "diff differ": (
        ["diff", "--on", "A100,H100", "--in", "f16", "--rows", "500"],
        lambda: softmma.diff(["A100", "H100"], rows=500),
    ),
    "diff same": (
        ["diff", "--on", "A100,L40S", "--instr", F16, "--against", "model", "--rows", "500", "--seed", "3"],
        lambda: softmma.diff(["A100", "L40S"], instr=F16, against="model", rows=500, seed=3),
    ),
    "equal proved": (
        ["equal", "H100", "B200", "--in", "bf16"],
        lambda: softmma.equal("H100", "B200", in_dtype="bf16"),
    ),
    "equal refuted": (["equal", "V100", "T4"], lambda: softmma.equal("V100", "T4")),
    "equal plans": (
        ["equal", "H100", "H100", "--in", "e4m3", "--plan", "none,cutlass:2xacc"],
        lambda: softmma.equal("H100", "H100", in_dtype="e4m3", plan=(None, "cutlass:2xacc")),
    ),
    "equal permuted": (["equal", "--permute", "B200:nvfp4"], lambda: softmma.permute("B200:nvfp4")),
    "equal permuted plan": (
        ["equal", "--permute", "H100", "--plan", "cutlass:2xacc"],
        lambda: softmma.permute("H100", plan="cutlass:2xacc"),
    ),
    "tree instruction": (
        ["tree", "--on", "MI250X", "--instr", "v_mfma_f32_32x32x8_f16"],
        lambda: softmma.unit_tree("MI250X", instr="v_mfma_f32_32x32x8_f16"),
    ),
    "tree plan": (
        ["tree", "--on", "A100", "--instr", F16, "--plan", "cutlass:2xacc", "-k", "300"],
        lambda: softmma.unit_tree("A100", instr=F16, plan="cutlass:2xacc", k=300),
    ),
    "coverage rows": (
        ["coverage", "--on", "H100", "--instr", F16, "--kind", "edge", "--rows", "100"],
        lambda: softmma.coverage(*softmma.rows(100, kind="edge", on="H100", instr=F16), on="H100", instr=F16),
    ),
    "coverage files": (
        ["coverage", str(RECORDED / "v100-f16-f32.txt"), "--search", "500"],
        lambda: softmma.coverage_files(RECORDED / "v100-f16-f32.txt", search=500)[0],
    ),
    "infer found": (
        ["infer", "--unit", "model", "--on", "V100", "--instr", V100, "--rows", "2000", "--search", "1000"],
        lambda: softmma.infer("model", on="V100", instr=V100, rows=2000, search=1000),
    ),
    "infer not found": (
        ["infer", "--unit", "model", "--on", "V100", "--instr", V100, "--rows", "0", "--search", "9", "--budget", "9"],
        lambda: softmma.infer("model", on="V100", instr=V100, rows=0, search=9, budget=9),
    ),
}

NOT_ALIKE = {"seconds", "unit_seconds"}  # which a clock measures

# Commands whose result Python has no `value` of yet.
MISSING = {
    "list",
    "show",
    "dot",
    "explain",
    "gemm",
    "compare",
    "trace",
    "tolerance",
    "verify",
    "gen",
    "convert",
    "match",
    "custom",
    "plan",
    "next",
    "units",
    "campaign",
    "merge",
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
    arguments, call = CALLS[name]
    printed, value = json.loads(command(*arguments, "--json", status=(0, 1, 2))), call().value
    if isinstance(value, dict):
        printed, value = ({k: v for k, v in x.items() if k not in NOT_ALIKE} for x in (printed, value))
    assert printed == value
