#!/usr/bin/env python3
"""Checks that the steps in docs/howto-add.md are sufficient, and that every file they name is needed.

Applies the examples of that page to a copy of the source. The tests must then pass. They must fail if any one of the
files is left out, or if an example has a mistake. With --compile it applies all examples at once and only compiles
them, with the other files of their folders.

Usage: change_cost.py [--compile] SOURCE BUILD COMPILER [ADDITION...]    (without ADDITION: all of them)
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

compiles_only = sys.argv[1] == "--compile"
source, build, compiler, *chosen = sys.argv[1 + compiles_only :]
source, build = Path(source).resolve(), Path(build).resolve()

# Sections whose examples belong together, and the tests that check them.
ADDITIONS = {
    "format": (["A number format"], ["test_format", "test_oracle test_formats"]),
    "instruction": (["An instruction"], ["test_catalogue", "test_oracle test_catalogue"]),
    "architecture": (["A rule", "An architecture"], ["test_catalogue", "test_oracle test_catalogue"]),
    "gpu": (["A GPU"], ["test_catalogue test_gpu_names"]),
    "algorithm": (
        ["An algorithm"],
        [
            "test_catalogue test_algorithms_are_documented",
            "test_custom test_every_parameter_has_a_key",
            "test_custom test_random_catalogue_units",
            "test_composition test_random_units",
        ],
    ),
    "command": (["A command"], ["tests/manual.sh softmma"]),
    "probe": (["A probe"], ["tests/features.sh softmma"]),
    "experiment": (["A numerical experiment"], ["tests/experiment.sh softmma halves"]),
}

# Mistakes to make in an example: FILE, original text, replacement.
MISTAKES = {
    "format": ("include/softmma/number.h", "SMMA_E3M4 = 0x1803134,", "SMMA_E3M4 = 21,"),
    "gpu": ("src/isa/gpus.def", 'SMMA_GPU("T10", turing)', 'SMMA_GPU("T10", volta)'),
    "algorithm": ("src/core/ro_fdpa.h", "| (uint64_t)lost", "+ (uint64_t)lost"),
    "probe": ("src/probe/infinite_c.c", '"infinity" : "not infinity"', '"not infinity" : "infinity"'),
    "experiment": ("src/experiment/halves.c", "SMALL = 0x0c00", "SMALL = 0x0800"),
}

# Files of an addition that nothing else needs.
UNNEEDED = {"gpu": {"tests/test_catalogue.c"}}

# Compiles only the changed files; everything else comes from the built libraries.
MAKEFILE = """
FLAGS = -std=c11 -O1 -g0 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -Wno-maybe-uninitialized -fopenmp \\
  -ffp-contract=off -Isrc -Iinclude -Itests -I{build}/generated -DCATALOGUE='"tests/catalogue.txt"' -DDOCS='"docs"' \\
  -DMANUAL='"docs/softmma.1"' $(shell pkg-config --cflags jansson popt)
LIBRARY := $(patsubst %.c,%.o,$(wildcard src/isa/*.c src/api/*.c) src/host/evaluator.c)
NEW := $(filter-out $(patsubst {source}/%,%,$(wildcard {source}/src/*/*.c)),$(wildcard src/*/*.c))
COMMAND := $(patsubst %.c,%.o,$(sort $(NEW) $(wildcard src/probe/*.c src/campaign/*.c) \\
  $(shell grep -l SMMA_PROBE_COUNT src/cli/*.c) src/cli/main.c \\
  src/cli/command.c src/experiment/experiment.c))
ORACLE := $(patsubst %.c,%.o,$(wildcard tests/oracle*.c) tests/operands.c)
UNITS := $(ORACLE) $(patsubst %.c,%.o,$(wildcard src/explain/*.c) tests/support.c tests/random_unit.c)
test_oracle: $(LIBRARY) $(ORACLE) tests/test_oracle.o
test_format: $(LIBRARY) tests/support.o tests/test_format.o
test_catalogue: $(LIBRARY) tests/support.o tests/test_catalogue.o
test_custom: $(LIBRARY) $(UNITS) tests/test_custom.o
test_composition: $(LIBRARY) $(UNITS) tests/test_composition.o
test_oracle test_format test_catalogue test_custom test_composition:
	{compiler} $^ {build}/lib/libsoftmma_study.a {build}/lib/libsoftmma.a -fopenmp -lcmocka \\
	  $(shell pkg-config --libs jansson) -lgmp -ldl -lm -o $@
softmma: $(COMMAND)
	{compiler} $^ $(patsubst %,{build}/lib/libsoftmma%.a,_cli _study) {build}/lib/libsoftmma.a \\
	  -fopenmp $(shell pkg-config --libs jansson popt) -ldl -lm -o $@
%.o: %.c
	{compiler} $(FLAGS) -MMD -MP -c $< -o $@
%.checked: %.c
	{compiler} $(FLAGS) -fsyntax-only $<
-include $(wildcard src/*/*.d tests/*.d)
"""
PROGRAMS = {"test_format", "test_oracle", "test_catalogue", "test_custom", "test_composition", "softmma"}
FEW = {"SOFTMMA_ORACLE_ROWS": "4000", "SOFTMMA_CUSTOM_UNITS": "150", "SOFTMMA_COMPOSITIONS": "150"}


def examples(section):
    """Returns {FILE: [(TEXT or None, lines)]} of a section."""
    text = (source / "docs/howto-add.md").read_text().split(f"\n## {section}\n")[1].split("\n## ")[0]
    found, lines = {}, None
    for line in text.splitlines():
        if place := re.fullmatch(r"    >>> (\S+?)(?:, behind (.+))?", line):
            lines = []
            found.setdefault(place[1], []).append((place[2], lines))
        elif lines is not None and (line.startswith("    ") or not line):
            lines.append(line[4:])
        else:
            lines = None
    return found


def changed(name, pieces):
    """Returns the text of a file with the lines of the section inserted."""
    file = source / name
    lines = file.read_text().splitlines() if file.exists() else []
    for behind, new in pieces:
        while new and not new[-1]:
            new = new[:-1]
        at = len(lines)
        if behind:
            at = max((i + 1 for i, line in enumerate(lines) if behind in line), default=None)
            if at is None:
                raise SystemExit(f"docs/howto-add.md: there is no '{behind}' in {name}")
        lines[at:at] = new
    return "\n".join(lines) + "\n"


def passes(copy, tests):
    """Builds and runs the tests. Returns whether they pass, and their output."""
    programs = PROGRAMS & {word for test in tests for word in test.split()}
    for program in programs:  # otherwise make would not rebuild a program if only some of its objects are outdated
        (copy / program).unlink(missing_ok=True)
    made = subprocess.run(["make", "-s", "-j2", *sorted(programs)], cwd=copy, capture_output=True, text=True)
    if made.returncode:
        return False, made.stderr
    environment = {**os.environ, **FEW}
    for test in tests:
        name, *arguments = test.split()
        ran = subprocess.run([f"./{name}", *arguments], cwd=copy, capture_output=True, text=True, env=environment)
        if ran.returncode:
            lines = (ran.stdout + ran.stderr).splitlines()
            return False, "\n".join(line for line in lines if not line.startswith("ok "))
    return True, ""


def pieces_of(sections):
    """Returns {FILE: [(TEXT or None, lines)]} of several sections."""
    pieces = {}
    for section in sections:
        found = examples(section)
        if not found:
            raise SystemExit(f"docs/howto-add.md: there is no example in '{section}'")
        for name, more in found.items():
            pieces.setdefault(name, []).extend(more)
    return pieces


def put(copy, name, text):
    """Writes a file of the copy, or removes it if there is no text."""
    if text is None:
        for suffix in (Path(name).suffix, ".o", ".d"):
            (copy / name).with_suffix(suffix).unlink(missing_ok=True)
    else:
        (copy / name).write_text(text)


def compile_all(copy, what):
    """Applies the examples of all these additions at once. Compiles the changed C files, the other files of their
    folders in src, and the files that distinguish algorithms. Returns the failures."""
    pieces = pieces_of([section for name in what for section in ADDITIONS[name][0]])
    for name in pieces:
        put(copy, name, changed(name, pieces[name]))
    folders = {(copy / name).parent for name in pieces if name.startswith("src/")}
    files = {copy / name for name in pieces if name.endswith(".c")}
    files |= {file for folder in folders for file in folder.glob("*.c")}
    files |= {file for file in copy.glob("src/*/*.c") if "case SMMA_T_FDPA:" in file.read_text()}
    targets = sorted(str(file.relative_to(copy).with_suffix(".checked")) for file in files)
    made = subprocess.run(["make", "-s", "-k", "-j2", *targets], cwd=copy, capture_output=True, text=True)
    print(f"{', '.join(what)}: {len(targets)} files compiled", flush=True)
    return [made.stderr[-3000:]] if made.returncode else []


def judge(copy, what):
    """Applies the examples of an addition and returns the failures."""
    sections, tests = ADDITIONS[what]
    pieces, failures = pieces_of(sections), []
    originals = {name: (source / name).read_text() if (source / name).exists() else None for name in pieces}
    for name in pieces:
        put(copy, name, changed(name, pieces[name]))
    fine, said = passes(copy, tests)
    if not fine:
        failures.append(f"{what}: with all of {', '.join(pieces)} something fails:\n{said[-3000:]}")
    needed = [name for name in pieces if name not in UNNEEDED.get(what, ())]
    attempts = [(name, originals[name], f"without {name}") for name in needed]
    if what in MISTAKES:
        name, right, wrong = MISTAKES[what]
        text = changed(name, pieces[name])
        if text.count(right) != 1:
            raise SystemExit(f"docs/howto-add.md: '{right}' does not stand once in {name}")
        attempts.append((name, text.replace(right, wrong), f"with '{wrong}' in {name}"))
    for name, text, how in attempts if fine else ():
        put(copy, name, text)
        if passes(copy, tests)[0]:
            failures.append(f"{what}: nothing fails {how}")
        put(copy, name, changed(name, pieces[name]))
    for name in pieces:
        put(copy, name, originals[name])
    print(f"{what}: {len(pieces)} files", flush=True)
    return failures


with tempfile.TemporaryDirectory() as folder:
    copy = Path(folder)
    for part in ("src", "include", "tests", "docs"):
        unused = shutil.ignore_patterns("corpus", "vectors", "pictures", "*.png")
        shutil.copytree(source / part, copy / part, ignore=unused)
    makefile = MAKEFILE.replace("{source}", str(source)).replace("{build}", str(build)).replace("{compiler}", compiler)
    (copy / "Makefile").write_text(makefile)
    what = chosen or list(ADDITIONS)
    failures = compile_all(copy, what) if compiles_only else [f for name in what for f in judge(copy, name)]
print("\n".join(f"FAILED  {failure}" for failure in failures))
sys.exit(bool(failures))
