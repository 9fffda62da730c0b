#!/usr/bin/env python3
"""Counts the instructions of each product in the chain's kernels from their machine code, and what an H200 can reach.

Usage: chain_code.py MODULE [TARGET...]   (what cuobjdump reads; status 1 if a kernel is not what it should be)
"""

import re
import subprocess
import sys
from collections import Counter

PER_THREAD = 64  # elements
CLOCKS = 132 * 1.98e9  # of an H200's multiprocessors, a second
# Results a clock of one multiprocessor of compute capability 9.0; what has no pipe here only takes issue slots.
PIPES = {"fp64": (64, {"DFMA", "DADD", "DMUL"}),
         "alu": (64, {"IADD3", "LOP3", "SHF", "LEA", "PRMT", "VIMNMX", "VIADDMNMX", "VIADD", "ISETP", "SEL", "FSEL",
                      "PLOP3", "IMNMX", "FMNMX", "FSETP"}),
         "fma": (64, {"IMAD", "IDP", "MOV"})}


def functions(module):
    """(target, name) -> [(address, instruction)] of each kernel."""
    found, code, target = {}, None, ""
    dump = subprocess.run(["cuobjdump", "-sass", module], check=True, capture_output=True, text=True).stdout
    for line in dump.splitlines():
        if x := re.match(r"arch = (\w+)", line):
            target = x[1]
        elif x := re.search(r"Function : (\w+)", line):
            code = found.setdefault((target, x[1]), [])
        elif x := re.match(r"\s+/\*([0-9a-f]{4,})\*/\s+(.*?) ?;", line):
            code.append((int(x[1], 16), x[2]))
    return found


def opcode(instruction):
    return re.sub(r"^@!?U?P\w+ ", "", instruction).split()[0].split(".")[0]


def loops(code):
    """[(first, last)] addresses of loops, from the branches back."""
    backward = {}
    for address, instruction in code:
        if x := re.search(r"\bBRA(?:\.\w+)* .*?(0x[0-9a-f]+)$", instruction):
            if int(x[1], 16) < address:
                backward[int(x[1], 16)] = max(address, backward.get(int(x[1], 16), 0))
    return sorted(backward.items())


def per_product(code, block):
    """Instructions of each kind for one product, in the loop over panels."""
    depth = max(block, 16)  # products of a stage

    def count(kind, span):
        return sum(span[0] <= a <= span[1] and opcode(i) == kind for a, i in code)

    spans = [s for s in loops(code) if count("DFMA", s) or count("IDP", s)]
    stage = max(spans, key=lambda s: s[1] - s[0])

    def trips(span):
        """How often a loop runs each time it is entered."""
        if span == stage:
            return 1
        if count("DFMA", span) and count("HMMA", span):  # over blocks
            return depth // block
        if count("DFMA", span):
            return PER_THREAD * block // count("DFMA", span)
        return block // 4  # groups of four products

    counts = Counter()
    for address, instruction in code:
        if stage[0] <= address <= stage[1]:
            times = 1
            for span in spans:
                if span[0] <= address <= span[1]:
                    times *= trips(span)
            counts[opcode(instruction)] += times / (PER_THREAD * depth)
    return counts


def main(module, targets):
    wrong, kernels = 0, 0
    for (target, name), code in sorted(functions(module).items()):
        kernel = re.match(r"smma_chain_(\d+)_(\d+)", name)
        if not kernel or targets and target not in targets:
            continue
        kernels += 1
        counts = per_product(code, int(kernel[2]))
        bound = {"issue": 128 / sum(counts.values())}
        for pipe, (rate, kinds) in PIPES.items():
            bound[pipe] = rate / max(1e-9, sum(n for kind, n in counts.items() if kind in kinds))
        least = min(bound, key=bound.get)
        local = sum(opcode(i) in ("LDL", "STL") for _, i in code)
        problems = []
        if local:
            problems.append(f"{local} accesses of local memory")
        if not 1 <= counts["DFMA"] < 1.001:
            problems.append(f"{counts['DFMA']:.3f} DFMA a product")
        if not 0.25 <= counts["IDP"] < 0.2501:
            problems.append(f"{counts['IDP']:.3f} IDP a product")
        wrong += len(problems)
        shown = ", ".join(f"{kind} {n:.2f}" for kind, n in counts.most_common(9))
        print(f"{'FAILED ' if problems else 'ok     '} {target} {name}: {sum(counts.values()):.2f} a product ({shown})"
              + "".join(f"; {p}" for p in problems))
        if target == "sm_90":
            a_second = f"{bound[least] * CLOCKS / 1e12:.1f}e12 a second on an H200"
            print(f"        at most {bound[least]:.1f} a clock, {a_second}, by {least}")
    print(f"{kernels} kernels")
    return 1 if wrong or not kernels else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
