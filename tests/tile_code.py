#!/usr/bin/env python3
"""Counts the instructions of each product in the kernels of tiles (FP4's, and sums in two numbers of binary32) from
their machine code, and what an H200, or an RTX 4090, can reach.

Usage: tile_code.py MODULE [TARGET...]   (what cuobjdump reads; status 1 if a kernel is not what it should be)
"""

import re
import sys
from collections import Counter

from chain_code import CLOCKS, PIPES, functions, loops, opcode

ELEMENTS, STEP, DEPTH = 32, 64, 32  # of a thread; products of a step of FP4, and of a panel
RTX_4090 = 128 * 2.52e9  # clocks of its multiprocessors, a second


def within(code, span):
    return [i for a, i in code if span[0] <= a <= span[1]]


def count(code, span, kind):
    return sum(re.sub(r"^@!?U?P\w+ ", "", i).startswith(kind) for i in within(code, span))


def fp4(code):
    """The instructions of a product in a step of which no element is computed once more: all but what a branch jumps
    over that has a loop in it."""
    step = max(loops(code), key=lambda s: count(code, s, "IDP"))
    inner = [s for s in loops(code) if step[0] < s[0] and s[1] < step[1]]
    jumps = [(a, int(x[1], 16)) for a, i in code
             if (x := re.search(r"\bBRA(?:\.\w+)* .*?(0x[0-9a-f]+)$", i)) and step[0] <= a and int(x[1], 16) <= step[1]]
    first, last = max((s for s in jumps if any(s[0] < l[0] and l[1] < s[1] for l in inner)), key=lambda s: s[1] - s[0])
    counts = Counter(opcode(i) for a, i in code if step[0] <= a <= step[1] and not first < a < last)
    return Counter({kind: n / (ELEMENTS * STEP) for kind, n in counts.items()})


def two_level(code, block):
    """The instructions of a product, and its roundings."""
    spans = [s for s in loops(code) if count(code, s, "FFMA")]
    panel = max(spans, key=lambda s: s[1] - s[0])
    counts, roundings = Counter(), Counter()
    for address, instruction in code:
        if not panel[0] <= address <= panel[1]:
            continue
        times = 1
        for span in spans:
            if span == panel or not span[0] <= address <= span[1]:
                continue
            products = count(code, span, "FFMA.RZ")
            if products and count(code, span, "IDP"):  # over blocks
                times *= DEPTH // block
            elif products:
                times *= block * ELEMENTS / products
            else:  # over sums of eight powers
                times *= block / 8
        counts[opcode(instruction)] += times / (ELEMENTS * DEPTH)
        for kind in ("FFMA.RZ", "FFMA.RM"):
            roundings[kind] += times / (ELEMENTS * DEPTH) * (kind in instruction)
    return counts, roundings


def main(module, targets):
    kernels, wrong = 0, 0
    for (target, name), code in sorted(functions(module).items()):
        two = re.match(r"smma_two_\d+_(\d+)", name)
        if not two and name != "smma_fp4" or targets and target not in targets:
            continue
        kernels += 1
        local = sum(opcode(i) in ("LDL", "STL") for _, i in code)
        problems = [f"{local} accesses of local memory"] if local else []
        if two:
            counts, roundings = two_level(code, int(two[1]))
            wanted = {"FFMA.RZ": roundings["FFMA.RZ"] == 1, "FFMA.RM": roundings["FFMA.RM"] == 1,
                      "IDP": 0.25 <= counts["IDP"] < 0.2501, "all": sum(counts.values()) < 16}
        else:
            counts = fp4(code)
            wanted = {"IDP": counts["IDP"] == 0.25, "FP64": counts["DFMA"] + counts["DADD"] == 4 / STEP,
                      "all": sum(counts.values()) < 1}
        problems += [f"not as many {kind} a product as was meant" for kind, right in wanted.items() if not right]
        total = sum(counts.values())
        bound = {"issue": 128 / total}
        for pipe, (rate, kinds) in PIPES.items():
            if used := sum(n for kind, n in counts.items() if kind in kinds):
                bound[pipe] = rate / used
        least = min(bound, key=bound.get)
        wrong += len(problems)
        shown = ", ".join(f"{kind} {n:.2f}" for kind, n in counts.most_common(9))
        print(f"{'FAILED ' if problems else 'ok     '} {target} {name}: {total:.2f} a product ({shown})"
              + "".join(f"; {p}" for p in problems))
        clocks, device = (RTX_4090, "RTX 4090") if two else (CLOCKS, "H200")
        a_second = f"{bound[least] * clocks / 1e12:.1f}e12 a second on an {device}"
        print(f"        at most {bound[least]:.1f} a clock, {a_second}, by {least}")
    print(f"{kernels} kernels")
    return 1 if wrong or not kernels else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
