#!/usr/bin/env python3
"""Proves that a design computes what a rule says, or prints operands for which it does not.

Usage: prove.py RULE FILE.sv... [--top NAME] [--parameters L=2,F=13] [--tie clk=0,rst=0]
                [--seconds N] [--only LOW-HIGH]

RULE is a target of softmma: GPU:FORMAT, GPU:INSTRUCTION, or the JSON file of a custom unit. The design has the ports of
`softmma rtl`: a, b, c, d, and scale_a and scale_b with scale factors. --tie sets all other inputs to constants.
Registers are replaced by wires, so a pipeline without feedback can be proved, too.

First the solver gets one query for all operands. A query that takes longer than --seconds (default: 10) is split by the
exponent field of c, then by those of a and b. --only proves only these exponent fields of c. Exit status: 0 if the
design is proved equal, 1 with a counterexample, 2 for an error.
"""

import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOFTMMA = os.environ.get("SOFTMMA", "softmma")


def fail(text):
    print(text, file=sys.stderr)
    sys.exit(2)


def run(*command):
    try:
        done = subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True)
    except FileNotFoundError:
        fail(f"{command[0]} is not there: install it (Debian: yosys)")
    if done.returncode:
        fail(f"{command[0]}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


class Reference:
    """The module that softmma writes, and the formats of its ports."""

    def __init__(self, rule):
        self.text = run(SOFTMMA, "rtl", rule, "--name", "reference")
        self.k = int(re.search(r"k < (\d+)", self.text).group(1))
        names = dict(re.findall(r"\b([abcd]): ([^,;. ]+)", self.text.split("\nmodule ")[0]))
        scale = re.search(r"scale factors: ([^,]+), one for (\d+)", self.text)
        self.ports = {port: (1 if port in "cd" else self.k, *self.format(names[port])) for port in "abcd"}
        if scale:
            count = self.k // int(scale.group(2))
            self.ports |= {port: (count, *self.format(scale.group(1))) for port in ("scale_a", "scale_b")}

    @staticmethod
    def format(name):
        """Returns (bits, exponent bits, fraction bits, bits below the fraction)."""
        row = run(SOFTMMA, "list", "--formats", name).splitlines()[1].split()
        bits, exponent, fraction = (int(x) if x != "-" else 0 for x in row[1:4])
        return bits, exponent, fraction, {"tf32": 13, "e8m13": 10}.get(name, 0)

    def width(self, port):
        return self.ports[port][0] * self.ports[port][1]

    def inputs(self):
        return [port for port in self.ports if port != "d"]


def miter(reference, top, parameters, ties):
    """Returns a module that compares design and reference. Its output `differ` is 1 if their results differ."""
    ports = "".join(f"    input  logic [{reference.width(port) - 1}:0] {port},\n" for port in reference.inputs())
    wires = ", ".join(f".{port}({port})" for port in reference.inputs())
    settings = ", ".join(".{}({})".format(*word.split("=")) for word in parameters)
    tied = "".join(f", .{name}(1'b{value})" for name, value in (word.split("=") for word in ties))
    d = f"logic [{reference.width('d') - 1}:0]"
    return (
        f"module miter (\n{ports}    output {d} d,\n    output {d} expected,\n    output logic differ\n);\n"
        f"  {top} {'#(' + settings + ') ' if settings else ''}design ({wires}{tied}, .d(d));\n"
        f"  reference rule ({wires}, .d(expected));\n  assign differ = d != expected;\nendmodule\n"
    )


def synthesize(reference, files, top, parameters, ties, folder):
    """Writes the miter as SMT-LIB."""
    (folder / "reference.sv").write_text(reference.text)
    (folder / "miter.sv").write_text(miter(reference, top, parameters, ties))
    sources = " ".join(str(x) for x in (*files, folder / "reference.sv", folder / "miter.sv"))
    script = (
        f"read_verilog -sv {sources}; hierarchy -check -top miter; proc; flatten; techmap -map {HERE}/forward.v; "
        f"opt -full; check -assert; write_smt2 -stbv {folder}/miter.smt2"
    )
    run("yosys", "-q", "-p", script)
    return folder / "miter.smt2"


class Case:
    """A set of operands: for some exponent fields, the range of their values."""

    def __init__(self, ranges=()):
        self.ranges = dict(ranges)

    def formula(self, reference):
        terms = ["(|miter_n differ| s)"]
        for (port, element), (low, high) in self.ranges.items():
            _, bits, exponent, fraction, below = reference.ports[port]
            at = element * bits + below + fraction
            field = f"((_ extract {at + exponent - 1} {at}) (|miter_n {port}| s))"
            terms.append(f"(and (bvuge {field} (_ bv{low} {exponent})) (bvule {field} (_ bv{high} {exponent})))")
        return terms

    def halves(self, reference):
        """Splits a query in two: at the exponent field of c until it is one value, then at the widest exponent field of
        a and b."""
        fields = [("c", 0)] + [(port, n) for n in range(reference.k) for port in ("a", "b")]
        spans = {}
        for port, element in fields:
            exponent = reference.ports[port][2]
            low, high = self.ranges.get((port, element), (0, 2**exponent - 1))
            if exponent and low < high:
                spans[port, element] = (low, high)
        if not spans:
            return None
        field = ("c", 0) if ("c", 0) in spans else max(spans, key=lambda x: spans[x][1] - spans[x][0])
        low, high = spans[field]
        middle = (low + high) // 2
        return [Case({**self.ranges, field: part}) for part in ((low, middle), (middle + 1, high))]

    def words(self):
        return (
            ", ".join(f"{port}[{n}] {low}-{high}" for (port, n), (low, high) in self.ranges.items()) or "all operands"
        )


class Solver:
    """The miter in bitwuzla."""

    def __init__(self, file, seconds):
        try:
            import bitwuzla
        except ImportError:
            fail("bitwuzla is not there: python3 -m pip install bitwuzla")
        self.bitwuzla, self.seconds = bitwuzla, seconds
        self.terms = bitwuzla.TermManager()
        self.parser = bitwuzla.Parser(self.terms, bitwuzla.Options())
        file.write_text(file.read_text() + "\n(declare-const s |miter_s|)\n")
        self.parser.parse(str(file), True, True)

    def ask(self, formulas, reference):
        """Returns None if no operands satisfy them, operands that do, or False if time ran out."""
        options = self.bitwuzla.Options()
        options.set(self.bitwuzla.Option.PRODUCE_MODELS, True)
        options.set(self.bitwuzla.Option.TIME_LIMIT_PER, int(1000 * self.seconds))
        solver = self.bitwuzla.Bitwuzla(self.terms, options)
        for text in formulas:
            solver.assert_formula(self.parser.parse_term(text))
        result = solver.check_sat()
        if result == self.bitwuzla.Result.UNSAT:
            return None
        if result != self.bitwuzla.Result.SAT:
            return False
        value = {
            port: int(solver.get_value(self.parser.parse_term(f"(|miter_n {port}| s)")).value(10))
            for port in (*reference.inputs(), "d", "expected")
        }
        return value


def elements(reference, port, number):
    count, bits, *_ = reference.ports[port]
    return " ".join(f"{number >> n * bits & 2**bits - 1:0{(bits + 3) // 4}x}" for n in range(count))


def report(reference, rule, value):
    scales = "".join(
        f" --{port.replace('_', '-')} '{elements(reference, port, value[port])}'"
        for port in reference.inputs()
        if port.startswith("scale")
    )
    print(
        f"COUNTEREXAMPLE: the design has {elements(reference, 'd', value['d'])}, "
        f"the rule {elements(reference, 'd', value['expected'])}"
    )
    print(
        f"softmma dot {rule} --hex --explain --a '{elements(reference, 'a', value['a'])}' "
        f"--b '{elements(reference, 'b', value['b'])}' --c {elements(reference, 'c', value['c'])}{scales}"
    )


def prove(reference, solver, rule, first):
    cases, proved = collections.deque([first]), 0
    while cases:
        case = cases.popleft()
        answer = solver.ask(case.formula(reference), reference)
        if answer:
            report(reference, rule, answer)
            return 1
        if answer is False:
            halves = case.halves(reference)
            if not halves:
                fail(f"not decided within {solver.seconds} seconds: {case.words()}; give more --seconds")
            cases += halves
        else:
            proved += 1
    print(f"PROVED: the design equals {rule} for {first.words()}; {proved} cases")
    return 0


def main():
    parser = argparse.ArgumentParser(description="Proves that a design equals a rule of softmma.")
    parser.add_argument("rule")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--top", help="the design's module (default: the name of the first file)")
    parser.add_argument("--parameters", default="", help="of the design: L=2,F=13")
    parser.add_argument("--tie", default="", help="inputs of the design beside the operands: clk=0,rst=0")
    parser.add_argument("--seconds", type=float, default=10, help="of the solver, before a question is split")
    parser.add_argument("--only", help="only these exponent fields of c: LOW-HIGH")
    arguments = parser.parse_args()
    start = time.time()
    reference = Reference(arguments.rule)
    split = [[word for word in text.split(",") if word] for text in (arguments.parameters, arguments.tie)]
    first = Case({("c", 0): tuple(int(x) for x in arguments.only.split("-"))} if arguments.only else {})
    with tempfile.TemporaryDirectory() as name:
        file = synthesize(reference, arguments.files, arguments.top or arguments.files[0].stem, *split, Path(name))
        status = prove(reference, Solver(file, arguments.seconds), arguments.rule, first)
    print(f"{time.time() - start:.1f} seconds")
    sys.exit(status)


if __name__ == "__main__":
    main()
