#!/usr/bin/env python3
"""Checks that no option is dropped silently: in each use of each command, every further option changes what the command
prints, returns or writes, or is refused.

Usage: options.py SOFTMMA
"""

import os
import random
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

softmma = Path(sys.argv[1]).resolve()
inputs, folder = Path("options-inputs").resolve(), Path("options-work").resolve()
os.environ["OMP_NUM_THREADS"] = "1"

# One use of a command a line. They write the file OUT or the folder DIR.
USES = """
list
list H100
list e4m3
list H100:fp8 --out f32
list --gpus
list --gpus --in e4m3
list --formats
list --experiments
list --facts
show H100
show H100:f16
show H100:fp8
show e5m2
show HMMA.16816.F32
show HMMA.16816.F32 A100
units
dot H100:f16 --a 0.3,2 --b 3,4
dot H100:f16 --a 0.3,2 --b 3,4 --explain
gemm H100:f16 A.npy B.npy -o OUT
gemm A100:bf16 A.npy B.npy --method words --words 2 -o OUT
gemm H100 A.npy B.npy --in s8 --method ozaki --slices auto -o OUT
gemm H100:e4m3 A.npy B.npy --plan cutlass:2xacc -o OUT
explain H100:f16 --a 0.3,2 --b 3,4
explain H100:f16 A100:f16 --a 0.3,2 --b 3,4
explain H100:f16 --a 0.3,2 --b 3,4 --svg OUT
explain rows.txt --row 2
explain rows.txt --row 2 H100:f16
trace H100:f16 A.npy B.npy --at 0,0
trace H100:f16 A100:f16 A.npy B.npy --at 0,0
compare H100 A100 A.npy B.npy
compare H100:f16 A100:f16 A.npy B.npy
diff H100:f16 A100:f16 --rows 50
diff H100 A100 V100 --rows 50
diff H100:f16 A100:f16 --prove
diff H100 --permute
tolerance H100:f16 --shape 4x4x32
tolerance H100 A100 --shape 4x4x32
tolerance H100:f16 A.npy B.npy
test --unit model V100:f16 -n 9
test --unit model V100 -n 9
test --unit model V100:f16 -n 9 --json
probe V100:f16 --rows 16
probe V100 A100 --rows 16
probe --list
tree H100:f16
tree H100:e4m3 --plan cutlass:2xacc -k 256
match A.npy B.npy D.npy H100:f16
match A.npy B.npy D.npy --in f16 --claim H100:f16
vectors gen H100:f16 -n 3
vectors record --unit model H100:f16 -n 3 -o OUT
vectors record --unit model rows.txt -o OUT
vectors convert rows.txt --format binary -o OUT
vectors convert rows.txt OUT.txt
vectors merge counts.json counts.json -o OUT
verify rows.txt
coverage H100:f16 -n 20
coverage rows.txt
coverage counts.json
custom unit.json
custom H100:f16
custom H100:f16 --steps
rtl H100:f16
rtl H100:f16 --sva
plan --list
plan plan.json
plan plan.json H100:e4m3 -k 512
plan deepgemm H100:e4m3 -m 1 -n 1 -k 512
experiment
"""

# Values to try for an option. One that is not listed takes "1".
VALUES = {
    "a": ["5"], "against": ["model:core"], "alpha": ["2"], "at": ["1,1"], "beta": ["2"], "c": ["1", "C.npy"],
    "claim": ["H100"], "d": ["C.npy"], "data": ["uniform"], "dot": ["OUT2"], "format": ["binary"], "from": ["H100"], "html": ["OUT2"],
    "in": ["bf16"], "instr": ["HMMA.16816.F32"], "k": ["64"], "kernel": ["portable"], "kind": ["normal"],
    "method": ["words"], "on": ["H100", "V100"], "out": ["f16"], "output": ["OUT2"], "plan": ["plan.json"],
    "round-in": ["toward-zero"], "rows": ["7"], "scale-d": ["2"], "seed": ["9"], "shape": ["4x4x64"], "shard": ["1/2"], "show": ["2"],
    "slices": ["3"], "split-k": ["2"], "svg": ["OUT2"], "sweep": ["k=8,16"], "unit": ["x86"], "words": ["3"],
}  # fmt: skip

# Options that may have no effect here: the commands below compute too little for them to change the output.
ANYWHERE = {"raw", "threads", "seed"}
# Options that may have no effect in these commands: the output has what the option requests anyway, or has nothing that
# the option changes.
IN_COMMAND = {
    "list": {"json"},
    "match": {"json", "round-in"},
    "test": {"all", "kind"},
    "verify": {"show"},
    "plan": {"m", "n", "k", "a-strided", "b-strided"},
    "experiment": {"list"},
}


def run(words):
    return subprocess.run([softmma, *words], capture_output=True, stdin=subprocess.DEVNULL, check=False)


def save(name, line):
    Path(name).write_bytes(run(line.split()).stdout)


def save_matrix(name, rows, columns):
    """Writes numbers in FP32 as a .npy file."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}".ljust(117) + "\n"
    numbers = [random.gauss(0, 1) for _ in range(rows * columns)]
    data = struct.pack(f"<6sBBH{len(header)}s{len(numbers)}f", b"\x93NUMPY", 1, 0, len(header), header.encode(), *numbers)
    Path(name).write_bytes(data)


def make_inputs():
    shutil.rmtree(inputs, ignore_errors=True)
    inputs.mkdir()
    os.chdir(inputs)
    random.seed(1)
    for name, rows, columns in ("A.npy", 8, 32), ("B.npy", 32, 8), ("C.npy", 8, 8):
        save_matrix(name, rows, columns)
    save("rows.txt", "vectors gen H100:f16 -n 5")
    save("unit.json", "custom H100:f16")
    save("plan.json", "plan deepgemm H100:e4m3 -m 1 -n 1 -k 512")
    run("gemm H100:f16 A.npy B.npy -o D.npy".split())
    run("coverage H100:f16 -n 20 -o counts.json".split())


def outcome(words):
    """Runs a command among copies of the inputs, and returns its status, its output and the files that it made."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(inputs, folder)
    os.chdir(folder)
    ran = run(words)
    made = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file() and not (inputs / p.name).exists()}
    return ran.returncode, ran.stdout, ran.stderr, made


def options_of(command):
    """Returns the options in the command's help: the name, and whether it has a value."""
    text = run([*command, "--help"]).stdout.decode()
    found = re.findall(r"^\s+(?:-\w, )?--([\w-]+)(=\S)?", text, re.M)
    return [(name, bool(value)) for name, value in found if name not in {"help", "quiet", "strict"}]


def main():
    make_inputs()
    failures = tried = 0
    for use in USES.strip().splitlines():
        words = use.split()
        command = words[:2] if words[0] == "vectors" else words[:1]
        plain = outcome(words)
        if plain[0] not in (0, 1):
            print(f"FAIL: softmma {use}: status {plain[0]}: {plain[2].decode()}")
            failures += 1
            continue
        may_be_dropped = ANYWHERE | IN_COMMAND.get(words[0], set())
        for name, has_value in options_of(command):
            if f"--{name}" in words or name in may_be_dropped:
                continue
            tried += 1
            ends = [["--" + name, value] for value in VALUES.get(name, ["1"])] if has_value else [["--" + name]]
            if all(outcome(words + end) == plain for end in ends):
                print(f"FAIL: softmma {use} {' '.join(ends[-1])}: the option changes nothing")
                failures += 1
    print(f"{tried} options in {len(USES.split(chr(10))) - 2} uses, {failures} failures")
    return failures > 0 or tried < 400


sys.exit(main())
