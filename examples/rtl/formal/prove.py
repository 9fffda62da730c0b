#!/usr/bin/env python3
"""Proves that a design computes what a rule says, or prints operands for which it does not.

Usage: prove.py RULE FILE.sv... [--top NAME] [--parameters L=2,F=13] [--tie clk=0,rst=0]
                [--points FILE] [--seconds N] [--only LOW-HIGH]

RULE is a target of softmma: GPU:FORMAT, GPU:INSTRUCTION, or the JSON file of a custom unit. The design has the ports of
`softmma rtl`: a, b, c, d, and scale_a and scale_b with scale factors. --tie sets all other inputs to constants.
Registers are replaced by wires, so a pipeline without feedback can be proved, too.

First the solver gets one query for all operands. A query that takes longer than --seconds (default: 10, or 3600 with
--points) is split by the exponent field of c, then by those of a and b. --only proves only these exponent fields of c.
Exit status: 0 if the design is proved equal, 1 with a counterexample, 2 for an error.

--points names intermediate results that design and rule have in common; they turn one hard question into several
simple ones. The lines of the file are proved in their order, and then used in the lines below and for the result:

    X = Y         the design's signal X equals the rule's signal Y
    cut X = Y     as above; and what is below does not depend on how X and Y are computed: any value with as many bits
                  as they need may occur there
    cut signed X = Y, signed X = Y
                  as above, for signals that are not declared signed but are
    apart Y       operands for which the rule's signal Y is not 0 are proved apart, without other lines

Signals have the names of the flattened modules, such as `round.magnitude`. `X[i of N]` is element i of a signal of N
equal elements. i and N are numbers, or K (products in a row), K+1 or k; a line with k stands for each k < K. The
narrower signal is extended to the other's width, with the sign if one of them is declared signed.
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


class Netlist:
    """The miter, flattened."""

    def __init__(self, reference, files, top, parameters, ties, points, folder):
        self.folder, self.number = folder, 0
        (folder / "reference.sv").write_text(reference.text)
        (folder / "miter.sv").write_text(miter(reference, top, parameters, ties))
        sources = " ".join(str(x) for x in (*files, folder / "reference.sv", folder / "miter.sv"))
        kept = "".join(f" w:{name}" for name in points.wires())
        keep = f"setattr -set keep 1{kept}; " if kept else ""
        run(
            *("yosys", "-q", "-p"),
            f"read_verilog -sv {sources}; hierarchy -check -top miter; proc; flatten; techmap -map {HERE}/forward.v; "
            f"{keep}opt -full; check -assert; write_ilang {folder}/miter.il",
        )
        wires = re.findall(r"^  wire (.*?)\\(\S+)$", (folder / "miter.il").read_text(), re.M)
        self.width = {name: int(dict(re.findall(r"(width) (\d+)", words)).get("width", 1)) for words, name in wires}
        self.is_signed = {name for words, name in wires if "signed" in words.split()}

    def smt(self, cuts=()):
        """Writes the miter as SMT-LIB, with free variables in place of the wires `cuts`."""
        self.number += 1
        file = self.folder / f"miter{self.number}.smt2"
        cut = "cutpoint" + "".join(f" w:{name}" for name in cuts) + "; " if cuts else ""
        run("yosys", "-q", "-p", f"read_ilang {self.folder}/miter.il; {cut}opt -full; write_smt2 -stbv {file}")
        return file


class Signal:
    """A signal of the flattened miter, or one of its equal elements."""

    def __init__(self, side, text, k, count):
        found = re.fullmatch(r"(\S+?)(?:\[(k|K|\d+) of (K\+1|K|\d+)\])?", text)
        if not found:
            fail(f"--points: '{text}' is not the name of a signal, or NAME[i of N]")
        number = {"k": k, "K": count, "K+1": count + 1}
        self.wire = f"{side}.{found[1]}"
        self.index, self.of = ((number[x] if x in number else int(x)) for x in (found[2] or "0", found[3] or "1"))

    def resolve(self, netlist):
        """Finds the bits. Called when the miter has been flattened."""
        if self.wire not in netlist.width:
            fail(f"--points: {self.wire.replace('.', ' has no signal ', 1)}")
        width = netlist.width[self.wire]
        if width % self.of or self.index >= self.of:
            fail(f"--points: {self.wire} has {width} bits, and no element {self.index} of {self.of} equal ones")
        self.width = width // self.of
        self.low = self.index * self.width
        self.is_signed = self.of == 1 and self.wire in netlist.is_signed

    def formula(self):
        return f"((_ extract {self.low + self.width - 1} {self.low}) (|miter_n {self.wire}| s))"


class Point:
    """An intermediate result that design and rule have in common."""

    def __init__(self, design, rule, is_cut, is_signed):
        self.design, self.rule, self.is_cut, self.is_signed = design, rule, is_cut, is_signed

    def resolve(self, netlist):
        for signal in (self.design, self.rule):
            signal.resolve(netlist)
        self.extend = "sign_extend" if self.is_signed or self.design.is_signed or self.rule.is_signed else "zero_extend"
        self.facts = []

    def equal(self):
        width = max(self.design.width, self.rule.width)
        both = (f"((_ {self.extend} {width - x.width}) {x.formula()})" for x in (self.design, self.rule))
        return f"(= {' '.join(both)})"

    def fits(self, bits):
        """Returns the formula that the value has at most so many bits."""
        value = self.rule.formula()
        return f"(= {value} ((_ {self.extend} {self.rule.width - bits}) ((_ extract {bits - 1} 0) {value})))"

    def at_least(self, least, other):
        """Returns the formula that this value is at least `least`, unless `other` is 0."""
        width = self.rule.width
        compare = "bvsge" if self.extend == "sign_extend" else "bvuge"
        zero = f"(= {other.rule.formula()} (_ bv0 {other.rule.width}))"
        return f"(or {zero} ({compare} {self.rule.formula()} (_ bv{least % 2**width} {width})))"

    def range(self):
        width = self.rule.width
        return (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if self.extend == "sign_extend" else (0, 2**width - 1)


class Points:
    """The file of --points."""

    def __init__(self, path, count):
        self.points, self.apart = [], []
        for line in path.read_text().splitlines() if path else []:
            words = re.sub(r"#.*", "", line).strip()
            found = re.fullmatch(r"(cut +)?(signed +)?(\S.*?)\s*=\s*(\S.*?)|apart +(\S.*)", words)
            if words and not found:
                fail(f"--points: '{line}' is neither '[cut] [signed] X = Y' nor 'apart Y'")
            for k in range(count if "[k of" in words else 1) if words else ():
                if found[5]:
                    self.apart.append(Signal("rule", found[5], k, count))
                else:
                    sides = (Signal("design", found[3], k, count), Signal("rule", found[4], k, count))
                    self.points.append(Point(*sides, bool(found[1]), bool(found[2])))

    def wires(self):
        return sorted({x.wire for point in self.points for x in (point.design, point.rule)} | {x.wire for x in self.apart})

    def resolve(self, netlist):
        for x in (*self.points, *self.apart):
            x.resolve(netlist)

    def cuts(self, count):
        """Returns the wires that can be cut after the first `count` points: those that are not in further ones."""
        later = {x.wire for point in self.points[count:] for x in (point.design, point.rule)}
        done = {x.wire for point in self.points[:count] if point.is_cut for x in (point.design, point.rule)}
        return sorted(done - later)

    def usual(self):
        """Returns the formula for operands that are not proved apart."""
        return "(and true true" + "".join(f" (= {x.formula()} (_ bv0 {x.width}))" for x in self.apart) + ")"


class Case:
    """A set of operands: for some exponent fields, the range of their values."""

    def __init__(self, ranges=()):
        self.ranges = dict(ranges)

    def formula(self, reference):
        terms = []
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
        """Returns None if no operands satisfy the formulas, operands that satisfy them, or False if time ran out."""
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


DIFFER = "(|miter_n differ| s)"
SECONDS, SECONDS_OF_POINTS = 10, 3600  # of one question, unless --seconds says otherwise


class Undecided(Exception):
    pass


class Prover:
    def __init__(self, reference, netlist, points, rule, seconds, first):
        self.reference, self.netlist, self.points, self.rule = reference, netlist, points, rule
        self.seconds, self.first = seconds, first

    def search(self, solver, formulas):
        """Splits the operands until the solver answers for each part. Returns the number of parts, or operands that
        satisfy the formulas."""
        cases, decided = collections.deque([self.first]), 0
        while cases:
            case = cases.popleft()
            answer = solver.ask([*formulas, *case.formula(self.reference)], self.reference)
            if answer:
                return answer
            if answer is False:
                halves = case.halves(self.reference)
                if not halves:
                    raise Undecided(f"not decided within {self.seconds} seconds: {case.words()}; give more --seconds")
                cases += halves
            else:
                decided += 1
        return decided

    def known(self, count):
        """Returns what the first `count` points say."""
        return [self.points.usual(), *(fact for point in self.points.points[:count] for fact in point.facts)]

    def refutes(self, solver, formulas):
        """Returns true if no operands satisfy the formulas, and false if some do, or if time runs out."""
        return solver.ask([*formulas, *self.first.formula(self.reference)], self.reference) is None

    def measure(self, solver, count):
        """Adds to a point that will be cut the number of its bits, and the least value that points before it have if
        its value is not 0."""
        point = self.points.points[count]
        known = [*self.known(count), point.equal()]
        bits = point.rule.width
        while bits > 1 and self.refutes(solver, [*known, f"(not {point.fits(bits - 1)})"]):
            bits -= 1
        if bits < point.rule.width:
            point.facts.append(point.fits(bits))
        for before in self.points.points[:count]:
            if before.is_cut:
                continue
            low, high = before.range()
            while low < high:
                middle = (low + high + 1) // 2
                if self.refutes(solver, [*known, f"(not {before.at_least(middle, point)})"]):
                    low = middle
                else:
                    high = middle - 1
            point.facts.append(before.at_least(low, point))

    def ask(self, count, goal):
        """Searches for operands that satisfy the goal, given the first `count` points. Where cuts admit some, asks
        again without cuts, because values of wires that are cut need not occur. Returns the solver, and the number of
        parts or operands."""
        cuts = self.points.cuts(count)
        for wires in (cuts, ()) if cuts else ((),):
            solver = Solver(self.netlist.smt(wires), self.seconds)
            answer = self.search(solver, [*self.known(count), goal])
            if isinstance(answer, int):
                break
        return solver, answer

    def drop(self, count):
        """Drops a point that does not hold. Returns true if a short search finds a counterexample."""
        point = self.points.points.pop(count)
        print(f"{point.design.wire} and {point.rule.wire} differ for some operands; the proof goes on without them")
        solver = Solver(self.netlist.smt(), min(self.seconds, SECONDS))
        answer = solver.ask([DIFFER, *self.first.formula(self.reference)], self.reference)
        if answer:
            report(self.reference, self.rule, answer)
        return bool(answer)

    def prove_points(self):
        """Proves the points, and drops those that do not hold. Returns false if there is a counterexample."""
        count = 0
        while count < len(self.points.points):
            point = self.points.points[count]
            solver, answer = self.ask(count, f"(not {point.equal()})")
            if not isinstance(answer, int):
                if self.drop(count):
                    return False
                continue
            if point.is_cut:
                self.measure(solver, count)
            point.facts.append(point.equal())
            count += 1
        return True

    def run(self):
        """Returns the exit status."""
        if not self.prove_points():
            return 1
        count = len(self.points.points)
        answer = self.ask(count, DIFFER)[1]
        if isinstance(answer, int) and self.points.apart:
            solver = Solver(self.netlist.smt(), self.seconds)
            more = self.search(solver, [f"(not {self.points.usual()})", DIFFER])
            answer = answer + more if isinstance(more, int) else more
        if not isinstance(answer, int):
            report(self.reference, self.rule, answer)
            return 1
        by = f"{count} points and " if count else ""
        print(f"PROVED: the design equals {self.rule} for {self.first.words()}; {by}{answer} cases")
        return 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, usage=argparse.SUPPRESS, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rule")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--top", help="the design's module (default: the name of the first file)")
    parser.add_argument("--parameters", default="", help="of the design: L=2,F=13")
    parser.add_argument("--tie", default="", help="inputs of the design beside the operands: clk=0,rst=0")
    parser.add_argument("--points", type=Path, help="file of intermediate results that design and rule have in common")
    parser.add_argument("--seconds", type=float, help="of the solver, before a question is split")
    parser.add_argument("--only", help="only these exponent fields of c: LOW-HIGH")
    arguments = parser.parse_args()
    start = time.time()
    reference = Reference(arguments.rule)
    split = [[word for word in text.split(",") if word] for text in (arguments.parameters, arguments.tie)]
    for word in split[0] + split[1]:
        if not re.fullmatch(r"[A-Za-z_]\w*=-?\d+", word):
            fail(f"prove.py: '{word}' is not NAME=NUMBER, as in --parameters L=2,F=13 and --tie clk=0,rst=0")
    if arguments.only and not re.fullmatch(r"\d+-\d+", arguments.only):
        fail(f"prove.py: --only: '{arguments.only}' is not LOW-HIGH, two numbers")
    first = Case({("c", 0): tuple(int(x) for x in arguments.only.split("-"))} if arguments.only else {})
    points = Points(arguments.points, reference.k)
    with tempfile.TemporaryDirectory() as name:
        top = arguments.top or arguments.files[0].stem
        seconds = arguments.seconds or (SECONDS_OF_POINTS if points.points else SECONDS)
        netlist = Netlist(reference, arguments.files, top, *split, points, Path(name))
        points.resolve(netlist)
        try:
            status = Prover(reference, netlist, points, arguments.rule, seconds, first).run()
        except Undecided as words:
            fail(words)
    print(f"{time.time() - start:.1f} seconds")
    sys.exit(status)


if __name__ == "__main__":
    main()
