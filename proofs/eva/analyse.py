#!/usr/bin/env python3
"""Runs Frama-C's Eva on smma_dot_add with the catalogue's operations of each algorithm and any encodings.

Usage: analyse.py PRINTER FOLDER [ALGORITHM...]

PRINTER is the program of operations.c, FOLDER a folder for logs. Every alarm must stand in alarms.txt, where a reason
is given; an alarm that is not there is a failure.
"""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

here = Path(__file__).resolve().parent
root = here.parent.parent
# The algorithms, each with HEADROOM (operation.c): terms are below 2^HEADROOM.
ALGORITHMS = {
    "FMA": 2,
    "T_FDPA": 2,
    "ST_FDPA": 4,
    "GST_FDPA": 13,
    "E_FDPA": 2,
    "FTZ_ADDMUL": 2,
    "TR_FDPA": 2,
    "GTR_FDPA": 2,
    "FP8_BY_FP16": 2,
    "FTZ_FMA": 2,
    "INTEGER": 31,
    "C_FDPA": 31,
    "GD_FDPA": 31,
    "COMPOSITION": 31,
}
OPTIONS = [
    *("-eva", "-eva-precision", "1", "-eva-auto-loop-unroll", "300", "-eva-split-return", "auto"),
    *("-eva-domains", "cvalue,equality,gauges,symbolic-locations,octagon", "-eva-octagon-through-calls"),
    *("-machdep", "gcc_x86_64", "-warn-signed-overflow", "-warn-invalid-bool"),
]


def analyse(printer, folder, name):
    """Analyses one algorithm; returns the number of operations and the alarms as `FILE: TEXT`."""
    of_algorithm = folder / name
    of_algorithm.mkdir(parents=True, exist_ok=True)
    operations = subprocess.run([printer, name], check=True, capture_output=True, text=True).stdout
    (of_algorithm / "operations.h").write_text(operations)
    places = f"-I{here} -I{root / 'src'} -I{root / 'include'} -I{of_algorithm} -DHEADROOM={ALGORITHMS[name]}"
    command = ["frama-c", *OPTIONS, f"-cpp-extra-args={places}", str(here / "operation.c")]
    log = subprocess.run(command, capture_output=True, text=True, cwd=root).stdout
    (of_algorithm / "log").write_text(log)
    if "ANALYSIS SUMMARY" not in log or "functions analyzed" not in log:
        sys.exit(f"{name}: Frama-C did not finish; see {of_algorithm / 'log'}")
    alarms = re.findall(r"\[eva:alarm\] (\S+):\d+: Warning:\s+((?:.+\n)(?:  .+\n)*)", log)
    return operations.count("/*"), sorted({f"{Path(f).name}: {' '.join(text.split())}" for f, text in alarms})


def known():
    """Returns the known alarms: algorithm -> alarms. A line `FILE: TEXT` follows those of its algorithms."""
    alarms, names = {}, []
    for line in (here / "alarms.txt").read_text().split("\n\n", 1)[1].splitlines():
        if line.startswith("for "):
            names = line[4:].split()
        elif line.startswith("  "):
            for name in names:
                alarms.setdefault(name, set()).add(line.strip())
    return alarms


def main():
    if not shutil.which("frama-c"):
        stars = 70 * "*"
        print(
            f"{stars}\nSKIPPED: frama-c is missing (Debian package frama-c-base); the core was NOT analysed.\n{stars}"
        )
        return 77
    printer, folder, failures = sys.argv[1], Path(sys.argv[2]), 0
    named = subprocess.run([printer], check=True, capture_output=True, text=True).stdout.split()
    if unknown := [name for name in named if name not in ALGORITHMS]:
        sys.exit(f"{', '.join(unknown)}: no headroom in ALGORITHMS of {Path(__file__).name}")
    for name in sys.argv[3:] or ALGORITHMS:
        start = time.time()
        operations, alarms = analyse(printer, folder, name)
        explained = known().get(name, set())
        new = [x for x in alarms if x not in explained]
        failures += len(new)
        print(
            f"{name}: {operations} operations, {len(alarms)} alarms, {len(new)} unexplained, {time.time() - start:.0f} s",
            flush=True,
        )
        for alarm in new:
            print(f"  {alarm}", flush=True)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
