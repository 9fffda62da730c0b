"""Python reaches every command: what `softmma NAME --json` prints is what softmma.NAME returns as `value`."""

import json
import re
from pathlib import Path

import pytest

import softmma

TIER = "check"

# Of the machine and of the program, not of matrix units.
COMMAND_ALONE = {"bench", "version"}

AMPERE = {"on": "A100", "instr": "mma.m16n8k16.f32.f16.f16.f32"}
ON_AMPERE = ["--on", "A100", "--instr", "mma.m16n8k16.f32.f16.f16.f32"]
BLACKWELL = {"on": "B200", "instr": "tcgen05.m128n8k32.block32.f32.e4m3.e4m3.ue8m0"}
ON_BLACKWELL = ["--on", "B200", "--instr", "tcgen05.m128n8k32.block32.f32.e4m3.e4m3.ue8m0"]


def make_unit():
    unit = softmma.instruction("A100", AMPERE["instr"]).to_custom()
    Path("unit.json").write_text(json.dumps({**unit, "alignment_bits": 23}))


def make_vectors():
    make_unit()
    kept = softmma.record("custom:unit.json", **AMPERE, rows=3000)
    kept.write("rows.bin", "binary")
    kept.write("rows.txt")


def make_shards():
    make_unit()
    for n in (1, 2, 3):
        softmma.campaign("custom:unit.json", **AMPERE, rows=200000, kind="edge", shard=(n, 3), resume=f"part-{n}.json")


# Command -> its arguments without --json, and the same call in Python.
CALLS = {
    "campaign": (["campaign", "--unit", "model", *ON_AMPERE], lambda: softmma.campaign("model", **AMPERE)),
    "campaign of a GPU": (
        ["campaign", "--unit", "model", "--on", "V100", "--rows", "100", "--seed", "5", "--kind", "normal"],
        lambda: softmma.campaign("model", on="V100", rows=100, seed=5, kind="normal"),
    ),
    "campaign with classes": (
        ["campaign", "--unit", "custom:unit.json", *ON_AMPERE, "--rows", "5000"],
        lambda: softmma.campaign("custom:unit.json", **AMPERE, rows=5000),
    ),
    "campaign of a recording": (
        ["campaign", "--unit", "model", "--against", "file:rows.txt", *ON_AMPERE],
        lambda: softmma.campaign("model", against="file:rows.txt", **AMPERE),
    ),
    "campaign in shards": (
        ["campaign", "--unit", "custom:unit.json", *ON_AMPERE, "--rows", "200000", "--kind", "edge", "--shard", "2/3"],
        lambda: softmma.campaign("custom:unit.json", **AMPERE, rows=200000, kind="edge", shard=(2, 3)),
    ),
    "campaign that goes on": (
        ["campaign", "--unit", "custom:unit.json", *ON_AMPERE, "--rows", "200000", "--kind", "edge", "--resume", "a"],
        lambda: softmma.campaign(
            "custom:unit.json", **AMPERE, rows=200000, kind="edge", resume=softmma.merge(sorted(Path().glob("part-*")))
        ),
    ),
    "campaign with open questions": (
        ["campaign", "--open", "--unit", "custom:unit.json", *ON_AMPERE],
        lambda: softmma.campaign("custom:unit.json", open=True, **AMPERE),
    ),
    "campaign without a model": (
        ["campaign", "--open", "--unit", "model", "--on", "MI350X"],
        lambda: softmma.campaign("model", open=True, on="MI350X"),
    ),
    "campaign with one question": (
        ["campaign", "--open", "--unit", "model", "--all", "--on", "V100", "--only", "zero-sign"],
        lambda: softmma.campaign("model", open=True, on="V100", only="zero-sign", every=True),
    ),
    "merge": (
        ["merge", "part-3.json", "part-1.json", "part-2.json"],
        lambda: softmma.merge(["part-1.json", Path("part-2.json"), json.loads(Path("part-3.json").read_text())]),
    ),
    "verify": (["verify", "rows.txt"], lambda: softmma.verify("rows.txt")),
    "verify of a unit": (
        ["verify", ".", "rows.bin", "--unit", "custom:unit.json", "--show", "0"],
        lambda: softmma.verify([Path("."), "rows.bin"], unit="custom:unit.json", show=0),
    ),
    "record": (
        ["record", "--unit", "custom:unit.json", *ON_AMPERE, "--rows", "300"],
        lambda: softmma.record("custom:unit.json", **AMPERE, rows=300),
    ),
    "record with scale factors": (
        ["record", "--unit", "model", *ON_BLACKWELL, "--rows", "20", "--seed", "3", "--kind", "tiny"],
        lambda: softmma.record("model", **BLACKWELL, rows=20, seed=3, kind="tiny"),
    ),
    "next": (
        ["next", "--unit", "model", "--against", "custom:unit.json", *ON_AMPERE, "--rows", "3", "--seed", "1"],
        lambda: softmma.next(["model", "custom:unit.json"], **AMPERE, rows=3, seed=1),
    ),
    "next of units that are alike": (
        ["next", "--unit", "model", "--against", "model", *ON_BLACKWELL, "--search", "500"],
        lambda: softmma.next(["model", "model"], **BLACKWELL, search=500),
    ),
    "self-test": (["self-test"], lambda: softmma.self_test()),
}

# Call -> what makes the files that it reads.
FILES = {
    "campaign with classes": make_unit,
    "campaign of a recording": make_vectors,
    "campaign in shards": make_unit,
    "campaign that goes on": make_shards,
    "campaign with open questions": make_unit,
    "merge": make_shards,
    "verify": make_vectors,
    "verify of a unit": make_vectors,
    "record": make_unit,
    "next": make_unit,
}

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
    "units",
    "tree",
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
    FILES.get(name, lambda: None)()
    arguments, call = CALLS[name]
    printed, value = json.loads(command(*arguments, "--json", status=(0, 1))), call().value
    assert printed.pop("date", None) is None or value.pop("date")  # when each began
    assert printed == value
