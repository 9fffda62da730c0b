"""Python reaches every command: what `softmma NAME --json` prints is what softmma.NAME returns as `value`."""

import json
import re

import pytest

import softmma

TIER = "check"

# Of the machine and of the program, not of matrix units.
COMMAND_ALONE = {"bench", "version"}

OPERANDS = ["--a", "-8192 1 1 1 0*12", "--b", "1024 -0.5 -0.25 -0.125 0*12", "--c", "0x1p23"]
A, B, C = [-8192, 1, 1, 1], [1024, -0.5, -0.25, -0.125], 2**23
MULTIPLY = ["--instr", "HMMA.16816.F32", *OPERANDS]

# Command and a word to tell its calls apart -> its arguments without --json, and the same call in Python.
CALLS = {
    "list": (["list"], lambda: softmma.instructions(every_n=True)),
    "list one": (["list", "--arch", "MI300X"], lambda: softmma.instructions("MI300X", every_n=True)),
    "list gpus": (["list", "--gpus"], softmma.gpus),
    "list formats": (["list", "--formats"], softmma.formats),
    "list questions": (["list", "--experiments"], softmma.questions),
    "show": (["show", "HMMA.16816.F32", "--on", "A100"], lambda: softmma.instruction("A100", "HMMA.16816.F32")),
    "explain": (
        ["explain", "--on", "A100", *MULTIPLY],
        lambda: softmma.explain(A + [0] * 12, B + [0] * 12, C, on="A100", instr="HMMA.16816.F32"),
    ),
    "explain two": (
        ["explain", "--on", "H100,A100", *MULTIPLY],
        lambda: softmma.explain(A + [0] * 12, B + [0] * 12, C, on=("H100", "A100"), instr="HMMA.16816.F32"),
    ),
    "units": (["units"], softmma.units),
    "experiment list": (["experiment"], softmma.experiments),
    "experiment": (
        ["experiment", "monotonicity", "--small", "--no-plot", "--seed", "3"],
        lambda: softmma.experiment("monotonicity", small=True, seed=3),
    ),
    "self-test": (["self-test"], softmma.self_test),
}

# Commands that return arrays in Python (dot, gemm) or write files; what compares them.
COMPARED_HERE = {"gen", "convert", "custom", "plan", "dot"}

# Commands whose result Python has no `value` of yet.
MISSING = set("gemm compare trace tolerance verify coverage probe diff equal match infer next campaign merge tree record".split())


def commands(command):
    return set(re.findall(r"^  ([a-z][a-z-]+) ", command("--help"), re.M))


def test_every_command_is_here(command):
    named = {name.split()[0] for name in CALLS}
    assert named | COMPARED_HERE | MISSING | COMMAND_ALONE == commands(command)
    assert not (named | COMPARED_HERE) & MISSING


@pytest.mark.parametrize("name", CALLS)
def test_value(command, name, tmp_path, monkeypatch):
    """A name may have a word behind the command's, to tell its calls apart."""
    monkeypatch.chdir(tmp_path)
    arguments, call = CALLS[name]
    assert json.loads(command(*arguments, "--json", status=(0, 1))) == call().value


@pytest.mark.parametrize("options", [{}, {"seed": 5, "kind": "edge", "rows": 40}, {"cover": True}])
def test_gen_and_convert(command, options, tmp_path):
    """The same bytes."""
    words = [word for name, x in options.items() for word in (f"--{name}", *([] if x is True else [x]))]
    command("gen", "--on", "H100", "--instr", "HMMA.16816.F32", *words, "-o", tmp_path / "command")
    softmma.gen(tmp_path / "python", on="H100", instr="HMMA.16816.F32", **options)
    assert (tmp_path / "command").read_bytes() == (tmp_path / "python").read_bytes()
    for format in "binary", "readmemh":
        command("convert", tmp_path / "command", "--format", format, "-o", tmp_path / "command.copy")
        softmma.convert(tmp_path / "python", tmp_path / "python.copy", format)
        assert (tmp_path / "command.copy").read_bytes() == (tmp_path / "python.copy").read_bytes()


def test_descriptions(command, tmp_path):
    """Custom units and plans: what the command prints of a file, and what the object says."""
    unit = tmp_path / "unit.json"
    unit.write_text(command("custom", "--from", "H100", "--instr", "HGMMA.64x8x16.F32"))
    assert json.loads(command("custom", unit, "--json")) == softmma.Custom(unit).value
    assert softmma.Custom(unit).to_custom() == json.loads(unit.read_text())
    plan = tmp_path / "plan.json"
    plan.write_text(command("plan", "--as", "deepgemm", "--on", "H100", "--in", "e4m3", "-k", "256"))
    assert json.loads(command("plan", plan)) == softmma.Plan(plan).value


def test_dot(command):
    """Python returns an array; its bits are those of "d"."""
    said = json.loads(command("dot", "--on", "A100", *MULTIPLY, "--json"))
    d = softmma.dot(A + [0] * 12, B + [0] * 12, C, on="A100", instr="HMMA.16816.F32")
    assert f"{int(d.view('uint32')):08x}" == said["d"] and float(d) == said["value"]
