#!/usr/bin/env python3
"""Compares units that `softmma rtl` writes with the core: Verilator compiles each, a C++ program feeds it test vectors.

Usage: rtl_units.py RTL_UNIT TESTS KIND FIRST COUNT ROWS [EVERY]

RTL_UNIT writes the units (tests/rtl_unit.c names the kinds); TESTS is the folder of rtl_rows.h. With EVERY only units
whose number is a multiple of it. Exit status: 0 if all results agree, 77 without Verilator, else 1.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

GROUP = 24  # units in one C++ program: its headers take longer to compile than a unit
PORTS = ("a", "b", "c", "scale_a", "d")


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def width(text, port):
    found = re.search(rf"(?:input|output)\s+logic \[(\d+):0\] {port}\b", text)
    return int(found.group(1)) + 1 if found else 0


def driver(folder, units):
    """Writes one C++ file with the models of all units, and a main function that compares them."""
    code, main = ['#include "rtl_rows.h"'], []
    for number, stages, name in units:
        a, b, c, scale, d = (width((folder / f"u{number}.sv").read_text(), port) for port in PORTS)
        code += [f'#include "{file}"' for file in sorted((folder / f"v{number}").glob("*.cpp"))
                 if not file.name.endswith("ALL.cpp")]
        put = "".join(f"put_port(m.{port}, w, {bits}); w += words_of({bits});"
                      for port, bits in zip(("a", "b", "c", "scale_a", "scale_b"), (a, b, c, scale, scale)) if bits)
        clock = "m.clk = level; m.eval();" if stages else "(void)m; (void)level;"
        code.append(f"struct put{number} {{ void operator()(Vu{number} &m, const uint32_t *w) {{ {put} }}"
                    f" void clock(Vu{number} &m, int level) {{ {clock} }} }};")
        main.append(f'bad += compare<Vu{number}>("u{number} {name}", "{folder}/u{number}.rows",'
                    f" ports{{{a}, {b}, {c}, {scale}, {d}, {stages}}}, put{number}());")
    file = folder / "driver.cpp"
    file.write_text("\n".join([*code, "int main() {", "long bad = 0;", *main, "return bad != 0;", "}\n"]))
    return file


def compile_objects(include, folder):
    objects = []
    for name in ("verilated", "verilated_threads"):
        if (include / f"{name}.cpp").exists():
            objects.append(folder / f"{name}.o")
            made = run("g++", "-std=c++17", "-O1", "-w", "-I", include, "-I", include / "vltstd", "-c", include / f"{name}.cpp",
                       "-o", objects[-1])
            if made.returncode:
                sys.exit(made.stderr)
    return objects


def verilate(folder, number):
    made = run("verilator", "--cc", "-O3", "--x-assign", "fast", "--prefix", f"Vu{number}", "--top-module", f"u{number}",
               "--Mdir", folder / f"v{number}", "--output-split", "0", folder / f"u{number}.sv")
    if made.returncode or made.stderr:
        print(f"u{number}: Verilator complains:\n{made.stderr[:2000]}")
    return not made.returncode and not made.stderr


def compare(rtl_unit, tests, include, objects, kind, numbers, rows):
    """Compares one group of units; returns whether all agree, and how many there were."""
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder, units = Path(name), []
        for number in numbers:
            for line in run(rtl_unit, kind, number, 1, rows, folder).stdout.splitlines():
                _, stages, _, unit = line.split(" ", 3)
                if stages == "refused":
                    print(line)
                elif verilate(folder, number):
                    units.append((number, int(stages), unit))
                else:
                    failed = True
        if not units:
            return not failed, 0
        made = run("g++", "-std=c++17", "-O0", "-w", "-I", include, "-I", include / "vltstd", "-I", tests,
                   driver(folder, units), *objects, "-o", folder / "driver", "-lpthread")
        if made.returncode:
            print(made.stderr[:3000])
            return False, len(units)
        done = run(folder / "driver")
        print(done.stdout, end="", flush=True)
        return not failed and done.returncode == 0, len(units)


def main():
    rtl_unit, tests, kind, first, count, rows = sys.argv[1:7]
    every = int(sys.argv[7]) if len(sys.argv) > 7 else 1
    for tool in ("verilator", "g++"):
        if not shutil.which(tool):
            print(f"SKIPPED: {tool} is not there; units of softmma rtl were NOT compared with the core.")
            sys.exit(77)
    include = Path(run("verilator", "--getenv", "VERILATOR_ROOT").stdout.strip()) / "include"
    good, total = True, 0
    numbers = [n for n in range(int(first), int(first) + int(count)) if n % every == 0]
    with tempfile.TemporaryDirectory() as name:
        objects = compile_objects(include, Path(name))
        for at in range(0, len(numbers), GROUP):
            agree, units = compare(rtl_unit, tests, include, objects, kind, numbers[at : at + GROUP], rows)
            good, total = good and agree, total + units
    print(f"{total} units, {'0 differences' if good else 'FAILED'}")
    sys.exit(not good or total == 0)


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C")
    main()
