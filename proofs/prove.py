#!/usr/bin/env python3
"""Proves the lemmas of docs/proofs.md.

Usage: prove.py [--seconds N] [--library libsoftmma.a] [--mutations] [--build FOLDER] [NAME...]

Each lemma of *.c is a C function; clang compiles it, formula.py makes a formula of it, and the solver bitwuzla shows
that no arguments make it false or undefined. exhaustive.c, linked with the library, computes the lemmas of small
domains. With --mutations each line of mutations.txt is applied to the sources: its lemma must then be false.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STARS = 70 * "*"


def skip(what):
    print(f"{STARS}\nSKIPPED: {what} is missing; the lemmas of docs/proofs.md were NOT proved.\n{STARS}")
    sys.exit(77)


try:
    import bitwuzla
    import z3
except ImportError as missing:
    skip(f"{missing.name} (pip install z3-solver bitwuzla)")

import formula
from mutations import mutated, mutations

here = Path(__file__).resolve().parent
root = here.parent
CLANG = os.environ.get("CLANG", "clang")
COMMON = ["-O2", "-w", "-ffp-contract=off", "-march=x86-64-v3"]
TO_LLVM = [
    *("-fno-vectorize", "-fno-slp-vectorize", "-fno-jump-tables", "-fno-math-errno"),
    *("-fsanitize=shift,integer-divide-by-zero,bounds,unreachable,bool", "-fsanitize-trap=all"),
    *("-mllvm", "-unroll-threshold=1000000", "-mllvm", "-inline-threshold=1000000"),
    *("-Dinline=inline __attribute__((always_inline))", "-S", "-emit-llvm", "-o", "-"),
]
CHECKED = ["-fsanitize=signed-integer-overflow", "-fsanitize-trap=all"]
SOURCES = {
    "core.c": CHECKED,
    "defined.c": CHECKED,
    "lanes.c": ["-fwrapv"],
    "kernels.c": ["-fwrapv"],
    "equal.c": CHECKED,
    "coverage.c": CHECKED,
}


def compiled(source, folder):
    """Returns the functions of a source as LLVM code; `folder` holds src and include."""
    command = [
        CLANG,
        *COMMON,
        *SOURCES[source],
        *TO_LLVM,
        *(f"-I{folder / x}" for x in ("src", "include")),
        f"-I{here}",
        here / source,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{source}: {done.stderr}")
    return {n: f for n, f in formula.functions_of(done.stdout).items() if n.startswith(("lemma_", "refuted_"))}


def solve(condition, seconds):
    """Returns "unsat", "sat" or "unknown", and for "sat" the arguments as hexadecimal numbers."""
    solver = z3.Solver()
    solver.add(condition)
    manager, options = bitwuzla.TermManager(), bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    options.set(bitwuzla.Option.TIME_LIMIT_PER, seconds * 1000)
    parser = bitwuzla.Parser(manager, options)
    parser.parse(solver.to_smt2().replace("(check-sat)", ""), True, False)
    answer, judge = str(parser.bitwuzla().check_sat()).lower().rsplit(".", 1)[-1], parser.bitwuzla()
    arguments = []
    for x in parser.get_declared_funs() if answer == "sat" else []:
        if x.symbol().startswith("argument_"):
            arguments.append((int(x.symbol()[9:]), judge.get_value(x).value(16)))
    return answer, [value for _, value in sorted(arguments)]


def decide(name, function, seconds):
    mode = re.match(r"lemma_in_mode_(down|zero)_", name)
    return solve(formula.Machine(*function, mode[1] if mode else "nearest").violations(), seconds)


def plain(name):
    return re.sub(r"^(lemma_in_mode_(down|zero)|lemma|refuted)_", "", name)


def is_asked(name, names):
    return not names or plain(name) in names


def prove(names, seconds):
    """Proves all lemmas with these names (all if there are none); returns the number of failures."""
    failures = 0
    for source in SOURCES:
        for name, function in compiled(source, root).items():
            if not is_asked(name, names):
                continue
            start, expected = time.time(), "sat" if name.startswith("refuted_") else "unsat"
            answer, arguments = decide(name, function, seconds)
            words = {"unsat": "proved", "sat": "false for " + " ".join(arguments), "unknown": "not decided"}
            good = answer == expected
            failures += not good
            expectation = " (as it must be)" if expected == answer == "sat" else ""
            print(
                f"{'' if good else 'FAILED '}{plain(name)}: {words[answer]}{expectation}, {time.time() - start:.1f} s",
                flush=True,
            )
    return failures


def compute(names, library, folder):
    """Computes the exhaustive lemmas."""
    program = folder / "exhaustive"
    command = [
        CLANG,
        *COMMON,
        *(f"-I{root / x}" for x in ("src", "include")),
        f"-I{here}",
        here / "exhaustive.c",
        library,
    ]
    subprocess.run([*command, "-fopenmp=libgomp", "-lm", "-ldl", "-lpthread", "-o", program], check=True)
    start, lines = time.time(), subprocess.run([program], check=True, capture_output=True, text=True).stdout.split("\n")
    failures = 0
    for name, holds in (line.split() for line in lines if line):
        if is_asked(name, names):
            failures += holds != "1"
            print(f"{name}: computed, holds" if holds == "1" else f"FAILED {name}: does not hold")
    print(f"exhaustive lemmas: {time.time() - start:.1f} s", flush=True)
    return failures


def refute(names, seconds):
    """Shows that each mutation makes its lemma false."""
    sources = {plain(n): (s, n) for s in SOURCES for n in compiled(s, root) if n.startswith("lemma_")}
    failures = 0
    for lemma, file, original, replacement in mutations():
        if names and lemma not in names:
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder, start = Path(temporary), time.time()
            shutil.copytree(root / "src", folder / "src")
            (folder / "include").symlink_to(root / "include")
            (folder / "src" / file).write_text(mutated(file, original, replacement))
            source, name = sources[lemma]
            answer, arguments = decide(name, compiled(source, folder)[name], seconds)
        failures += answer != "sat"
        told = f"false for {' '.join(arguments)}" if answer == "sat" else answer
        good = "" if answer == "sat" else "FAILED "
        print(f"{good}{lemma} with `{replacement}` in {file}: {told}, {time.time() - start:.1f} s", flush=True)
    return failures


def lemmas():
    """Returns the names of all lemmas."""
    found = [plain(n) for s in SOURCES for n in compiled(s, root) if n.startswith("lemma_")]
    return found + re.findall(r"^EXHAUSTIVE\((\w+)\)", (here / "exhaustive.c").read_text(), re.M)


def unlisted():
    """Reports lemmas without a line in docs/proofs.md, where one line may stand for all formats; returns their number."""
    told = set(re.findall(r"`([\w*]+)`", (root / "docs" / "proofs.md").read_text()))
    missing = [x for x in lemmas() if not {x, re.sub(r"_[A-Z\d]+$", "_FORMAT", x)} & told]
    missing = [x for x in missing if not any(t.endswith("*") and x.startswith(t[:-1]) for t in told)]
    for x in missing:
        print(f"FAILED {x}: docs/proofs.md does not list this lemma")
    return len(missing)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("names", nargs="*", help="lemmas; all if there are none")
    p.add_argument("--seconds", type=int, default=600, help="time limit of one lemma")
    p.add_argument("--library", help="libsoftmma.a, for the lemmas that are computed")
    p.add_argument("--build", default=tempfile.gettempdir(), type=Path, help="folder for programs")
    p.add_argument("--mutations", action="store_true", help="show that changes of the sources make lemmas false")
    p.add_argument("--list", action="store_true", help="print the lemmas' names")
    a = p.parse_args()
    if not shutil.which(CLANG):
        skip(CLANG)
    if a.list:
        print("\n".join(lemmas()))
        return 0
    failures = unlisted() + (refute(a.names, a.seconds) if a.mutations else prove(a.names, a.seconds))
    if a.library and not a.mutations:
        failures += compute(a.names, a.library, a.build)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
