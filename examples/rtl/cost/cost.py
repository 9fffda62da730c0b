#!/usr/bin/env python3
"""Prints what a rule costs as a circuit: NAND2 equivalents, and gates on the longest path.

Usage: cost.py RULE... [--set KEY=VALUES]... [--netlist FILE.v] [--json]

RULE is a target of softmma: GPU:FORMAT, GPU:INSTRUCTION, or the JSON file of a custom unit. --set changes a key of the
rule's file; VALUES are a list, or a range A..B of numbers. F stands for alignment_bits, L for block and k: the unit then
computes one block. Several --set give every combination. --netlist writes the gates of a single unit as Verilog.

Yosys synthesizes the module that `softmma rtl` writes to the gates of gates.genlib. Exit status: 0, or 2 for an error.
"""

import argparse
import dataclasses
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOFTMMA = os.environ.get("SOFTMMA", "softmma")
if os.sep in SOFTMMA:
    SOFTMMA = os.path.abspath(SOFTMMA)
# ABC's resyn2, then the gates. Without SAT sweeping (dch, fraig), which takes hours on some adders.
OPTIMIZE = (
    "strash; balance; rewrite; refactor; balance; rewrite; rewrite -z; balance; refactor -z; rewrite -z; balance; "
    "map; topo; print_stats"
)


class CostError(Exception):
    """A tool is missing, or refuses its input."""


def run(*command, folder=None):
    try:
        done = subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True, cwd=folder)
    except FileNotFoundError:
        raise CostError(f"{command[0]} is not there: install it, or put it in the PATH") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise CostError(said.removeprefix("softmma: ") if command[0] == SOFTMMA else f"{command[0]}: {said}")
    return done.stdout


@dataclasses.dataclass
class Cost:
    """The size of one unit."""

    nand2: float  # NAND2 equivalents
    depth: int  # gates on the longest path
    products: int

    @property
    def per_product(self):
        return self.nand2 / self.products


def rule_of(target):
    """Returns a target's rule as the keys of a custom unit's file."""
    try:
        text = Path(target).read_text() if target.endswith(".json") else run(SOFTMMA, "custom", "--from", target)
        return json.loads(text)
    except OSError as error:
        raise CostError(f"{target}: {error.strerror}") from None
    except json.JSONDecodeError as error:
        raise CostError(f"{target}: {error}") from None


def change(rule, changes):
    """Returns the rule with other values of some keys."""
    rule = dict(rule)
    for key, value in changes.items():
        if key == "L":
            rule |= {"k": value} | ({"block": value} if "block" in rule else {})
        else:
            rule[{"F": "alignment_bits"}.get(key, key)] = value
    return rule


def measure(rule, netlist=None):
    """Synthesizes a rule and returns its cost. Writes the gates to `netlist`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rule.json").write_text(json.dumps(rule))
        run(SOFTMMA, "rtl", "rule.json", "--name", "unit", "-o", "unit.sv", folder=folder)
        (folder / "optimize.abc").write_text(OPTIMIZE.replace("; ", "\n") + "\n")
        log = run(
            "yosys",
            "-p",
            f"read_verilog -sv {folder}/unit.sv; synth -flatten -noshare -noabc -top unit; "
            f"abc -genlib {HERE}/gates.genlib -script {folder}/optimize.abc; opt_clean; stat; "
            f"write_verilog -noattr {folder}/netlist.v",
        )
        if netlist:
            Path(netlist).write_text((folder / "netlist.v").read_text())
    stats = re.findall(r"area =\s*([\d.]+)\s+delay =\s*([\d.]+)", log)
    cells = dict(re.findall(r"^ +(NAND2|NOT|BUF) +(\d+)$", log[log.rindex("Number of cells:") :], re.M))
    nand2 = int(cells.get("NAND2", 0)) + int(cells.get("BUF", 0)) + int(cells.get("NOT", 0)) / 2
    if not stats or float(stats[-1][0]) != nand2:
        raise CostError(f"yosys: the netlist has {nand2} NAND2 equivalents, ABC counts {stats}")
    return Cost(nand2, round(float(stats[-1][1])), rule["k"])


def values_of(text):
    """Reads KEY=VALUES: A..B, or words and numbers with commas."""
    key, _, values = text.partition("=")
    if not key or not values:
        raise CostError(f"--set {text}: write KEY=VALUES, for example F=13..25")
    limits = re.fullmatch(r"(-?\d+)\.\.(-?\d+)", values)
    if limits:
        return key, list(range(int(limits[1]), int(limits[2]) + 1))
    return key, [int(word) if re.fullmatch(r"-?\d+", word) else word for word in values.split(",")]


def main():
    parser = argparse.ArgumentParser(description="Prints what a rule costs as a circuit.")
    parser.add_argument("rule", nargs="+", help="GPU:FORMAT, GPU:INSTRUCTION, or the JSON file of a custom unit")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUES", help="F=13..25, L=4,8, a=e2m1")
    parser.add_argument("--netlist", help="writes the gates of the unit, which must be the only one")
    parser.add_argument("--json", action="store_true", help="one object a line")
    arguments = parser.parse_args()
    try:
        keys, values = zip(*(values_of(text) for text in arguments.set)) if arguments.set else ((), ())
        units = list(itertools.product(arguments.rule, itertools.product(*values)))
        if arguments.netlist and len(units) > 1:
            raise CostError(f"--netlist: these are {len(units)} units; name one")
        if not arguments.json:
            print(f"{'NAND2':>8} {'a product':>9} {'longest path':>12}  unit")
        for target, chosen in units:
            changes = dict(zip(keys, chosen))
            cost = measure(change(rule_of(target), changes), arguments.netlist)
            if arguments.json:
                found = {"rule": target} | changes | dataclasses.asdict(cost)
                print(json.dumps(found), flush=True)
                continue
            words = " ".join([target, *(f"{key}={value}" for key, value in changes.items())])
            print(f"{cost.nand2:8.0f} {cost.per_product:9.0f} {cost.depth:12}  {words}", flush=True)
    except CostError as error:
        print(f"cost.py: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
