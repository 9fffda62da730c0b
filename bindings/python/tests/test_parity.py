"""Python reaches every command: what `softmma NAME --json` prints is what softmma.NAME returns as `value`."""

import json
import re

import pytest

import softmma

TIER = "check"

# Of the machine and of the program, not of matrix units.
COMMAND_ALONE = {"bench", "version"}

# Command -> its arguments without --json, and the same call in Python.
CALLS = {
    "self-test": (["self-test"], lambda: softmma.self_test()),
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
    arguments, call = CALLS[name]
    assert json.loads(command(*arguments, "--json", status=(0, 1))) == call().value
