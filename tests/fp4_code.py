#!/usr/bin/env python3
"""Counts the instructions of each product in FP4's kernel from its machine code, and what an H200 can reach.

Usage: fp4_code.py MODULE [TARGET...]   (what cuobjdump reads; status 1 if the kernel is not what it should be)
"""

import re
import sys
from collections import Counter

from chain_code import CLOCKS, PIPES, functions, loops, opcode

PRODUCTS = 8 * 4 * 64  # of a thread in a step


def usual(code):
    """The instructions of a step of which no element is computed once more: all but what a branch jumps over that has
    a loop in it."""
    step = max(loops(code), key=lambda s: sum(s[0] <= a <= s[1] and opcode(i) == "IDP" for a, i in code))
    inner = [s for s in loops(code) if step[0] < s[0] and s[1] < step[1]]
    skips = [(a, int(x[1], 16)) for a, i in code
             if (x := re.search(r"\bBRA(?:\.\w+)* .*?(0x[0-9a-f]+)$", i)) and step[0] <= a and int(x[1], 16) <= step[1]]
    over = [s for s in skips if any(s[0] < l[0] and l[1] < s[1] for l in inner)]
    first, last = max(over, key=lambda s: s[1] - s[0])
    return Counter(opcode(i) for a, i in code if step[0] <= a <= step[1] and not first < a < last)


def main(module, targets):
    kernels, wrong = 0, 0
    for (target, name), code in sorted(functions(module).items()):
        if name != "smma_fp4" or targets and target not in targets:
            continue
        kernels += 1
        counts = usual(code)
        total = sum(counts.values())
        bound = {"issue": 128 * PRODUCTS / total}
        for pipe, (rate, kinds) in PIPES.items():
            bound[pipe] = rate * PRODUCTS / sum(n for kind, n in counts.items() if kind in kinds)
        least = min(bound, key=bound.get)
        local = sum(opcode(i) in ("LDL", "STL") for _, i in code)
        problems = [f"{local} accesses of local memory"] if local else []
        if counts["IDP"] != PRODUCTS // 4:
            problems.append(f"{counts['IDP']} IDP in a step")
        if counts["DFMA"] + counts["DADD"] != 4 * PRODUCTS // 64:
            problems.append(f"{counts['DFMA'] + counts['DADD']} in FP64")
        if total > PRODUCTS:
            problems.append("more than one instruction a product")
        wrong += len(problems)
        shown = ", ".join(f"{kind} {n / PRODUCTS:.2f}" for kind, n in counts.most_common(9))
        print(f"{'FAILED ' if problems else 'ok     '} {target} {name}: {total / PRODUCTS:.2f} a product ({shown})"
              + "".join(f"; {p}" for p in problems))
        if target == "sm_90":
            print(f"        at most {bound[least]:.1f} a clock, {bound[least] * CLOCKS / 1e12:.1f}e12 a second on an H200,"
                  f" by {least}")
    return 1 if wrong or not kernels else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
