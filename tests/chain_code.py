#!/usr/bin/env python3
"""Counts the instructions of each product in the chain's kernels from their machine code, and what an H200 can reach.

Usage: chain_code.py MODULE [TARGET...]   (what cuobjdump reads; status 1 if a kernel is not what it should be)
"""

import re
import subprocess
import sys
from collections import Counter

# Instructions a product, of each kernel on compute capability 9.0 at most.
MOST = {"25_16": 3.15, "24_8": 3.55, "23_4": 4.85, "13_32": 2.70, "13_16": 2.90, "25_32_wide": 3.3,
        "25_16_wide": 4.0, "25_8_wide": 5.3, "24_8_wide": 5.3, "24_4_wide": 8.3}
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
        kind, all_of_block = "DFMA", PER_THREAD * block
        if not count("DFMA", span):
            kind, all_of_block = "IDP", PER_THREAD // 4 * block // 4  # of a quadrant, four products each
        within = [s for s in spans if s != span and span[0] <= s[0] and s[1] <= span[1]]
        around = [s for s in spans if s != span and s[0] <= span[0] and span[1] <= s[1] and not count("HMMA", s)]
        if within:  # over panels
            return block // 16
        return all_of_block // (block // 16 if around else 1) // count(kind, span)

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
        block = int(kernel[2])
        counts = per_product(code, block)
        bound = {"issue": 128 / sum(counts.values())}
        for pipe, (rate, kinds) in PIPES.items():
            bound[pipe] = rate / max(1e-9, sum(n for kind, n in counts.items() if kind in kinds))
        least = min(bound, key=bound.get)
        local = sum(opcode(i) in ("LDL", "STL") for _, i in code)
        problems = []
        if local:
            problems.append(f"{local} accesses of local memory")
        if abs(counts["DFMA"] - 1 - 2 / block) > 0.001:
            problems.append(f"{counts['DFMA']:.3f} DFMA a product")
        if not 0.25 <= counts["IDP"] < 0.2501:
            problems.append(f"{counts['IDP']:.3f} IDP a product")
        most = MOST.get(name.removeprefix("smma_chain_"), 0)
        if target == "sm_90" and sum(counts.values()) > most:
            problems.append(f"{sum(counts.values()):.2f} instructions a product, above {most}")
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
