#!/usr/bin/env python3
"""Counts the instructions for each product in the kernels of NVIDIA GPUs (chains of FP64, FP4 kernels, and sums in two
binary32 numbers) from their machine code, and estimates the throughput that an H200 or an RTX 4090 can reach. Only
the listed kernels may use local memory. The status is 1 if a kernel misses a limit.

Usage: kernel_code.py MODULE [TARGET...]   (MODULE is a file that cuobjdump reads)
"""

import re
import subprocess
import sys
from collections import Counter

# Maximum number of instructions for each product, for each chain on compute capability 9.0.
MOST = {"25_16": 3.15, "24_8": 3.55, "23_4": 4.85, "13_32": 2.70, "13_16": 2.90, "25_32_wide": 3.3,
        "25_16_wide": 4.0, "25_8_wide": 5.3, "24_8_wide": 5.3, "24_4_wide": 8.3,
        "tr_24_8": 4.6, "tr_24_8_wide": 6.1, "tr_24_4_wide": 9.7, "gtr_24_16": 4.7}
# Registers that do not fit, and how often a kernel stores and loads them.
SPILLS = {("sm_100", "smma_chain_gtr_24_16"): 60, ("sm_120", "smma_fp4"): 12}
# Kernels that index arrays by the operation. The operation is an argument here; NVRTC compiles the kernels for one
# operation.
INDEXED = {"smma_kernel_core", "smma_kernel_rows", "smma_kernel_compare", "smma_kernel_generate"}
CHAIN_ELEMENTS, CHAIN_DEPTH = 64, 16  # elements of a thread; products of a panel
TILE_ELEMENTS, FP4_STEP, TWO_DEPTH = 32, 64, 32
H200, RTX_4090 = ("H200", 132 * 1.98e9), ("RTX 4090", 128 * 2.52e9)  # clock cycles of all multiprocessors per second
# Results per clock of one multiprocessor of compute capability 9.0. Instructions without a pipe in this table only use
# issue slots.
PIPES = {"fp64": (64, {"DFMA", "DADD", "DMUL"}),
         "alu": (64, {"IADD3", "LOP3", "SHF", "LEA", "PRMT", "VIMNMX", "VIADDMNMX", "VIADD", "ISETP", "SEL", "FSEL",
                      "PLOP3", "IMNMX", "FMNMX", "FSETP"}),
         "fma": (64, {"IMAD", "IDP", "MOV"}),
         "conversion": (16, {"F2F", "I2F", "F2I"})}


def cuobjdump(*arguments):
    return subprocess.run(["cuobjdump", *arguments], check=True, capture_output=True, text=True).stdout.splitlines()


def stacks(module):
    """Returns (target, name) -> bytes of local memory, for each kernel."""
    found, target, name = {}, "", ""
    for line in cuobjdump("-res-usage", module):
        if x := re.search(r"(?:arch = |code for )(sm_\w+)", line):
            target = x[1]
        elif x := re.search(r"Function (\w+):", line):
            name = x[1]
        if x := re.search(r"STACK:(\d+) .*LOCAL:(\d+)", line):
            found[target, name] = int(x[1]) + int(x[2])
    return found


def functions(module, target, names):
    """Returns name -> [(address, instruction)] for each of these kernels."""
    found, code = {}, None
    for line in cuobjdump("-sass", "-arch", target, "-fun", ",".join(names), module):
        if x := re.search(r"Function : (\w+)", line):
            code = found.setdefault(x[1], [])
        elif x := re.match(r"\s+/\*([0-9a-f]{4,})\*/\s+(.*?) ?;", line):
            code.append((int(x[1], 16), x[2]))
    return found


def unpredicated(instruction):
    return re.sub(r"^@!?U?P\w+ ", "", instruction)


def opcode(instruction):
    return unpredicated(instruction).split()[0].split(".")[0]


def branch(instruction):
    """Returns the target address of a branch, or None."""
    x = re.search(r"\bBRA(?:\.\w+)* .*?(0x[0-9a-f]+)$", instruction)
    return int(x[1], 16) if x else None


def loops(code):
    """Returns the [(first, last)] addresses of loops, from their backward branches."""
    backward = {}
    for address, instruction in code:
        to = branch(instruction)
        if to is not None and to < address:
            backward[to] = max(address, backward.get(to, 0))
    return sorted(backward.items())


def count(code, span, kind):
    """Returns the number of instructions with this opcode, or with this opcode and suffix, such as "FFMA.RZ"."""
    return sum(span[0] <= a <= span[1] and re.match(re.escape(kind) + r"\b", unpredicated(i)) is not None
               for a, i in code)


def counted(code, span, times, skipped=(0, 0)):
    """Counts the instructions of each kind in a span. Each instruction is counted times(address) times."""
    counts = Counter()
    for address, instruction in code:
        if span[0] <= address <= span[1] and not skipped[0] < address < skipped[1]:
            counts[opcode(instruction)] += times(address)
    return counts


def times_of(spans, trips, of_all):
    """Returns how often an address is reached for each of `of_all` products."""
    trips_of = [(span, trips(span)) for span in spans]

    def times(address):
        product = 1 / of_all
        for span, number in trips_of:
            if span[0] <= address <= span[1]:
                product *= number
        return product

    return times


def chain(code, block, sums):
    """Returns the instructions for each product in the loop over panels, for a block of `sums` sums."""
    length, depth = block // sums, max(block, CHAIN_DEPTH)  # products of a sum, and of a stage
    spans = [s for s in loops(code) if count(code, s, "DFMA") or count(code, s, "IDP")]
    stage = max(spans, key=lambda s: s[1] - s[0])

    def trips(span):
        """Returns how often a loop runs each time it is entered."""
        if span == stage:
            return 1
        if count(code, span, "DFMA") and count(code, span, "HMMA"):  # the loop over blocks
            return depth // block
        kind, all_of_block = "DFMA", CHAIN_ELEMENTS * length
        if not count(code, span, "DFMA"):
            # A loop with IDP instructions computes a quarter of the elements. One IDP computes four products.
            kind, all_of_block = "IDP", CHAIN_ELEMENTS // 4 * length // 4
        within = [s for s in spans if s != span and span[0] <= s[0] and s[1] <= span[1]]
        around = [s for s in spans if s != span and s[0] <= span[0] and span[1] <= s[1] and not count(code, s, "HMMA")]
        if within:  # the loop over panels
            return block // 16
        return all_of_block // (block // 16 if around else 1) // count(code, span, kind)

    return counted(code, stage, times_of(spans, trips, CHAIN_ELEMENTS * depth))


def chain_problems(target, name, counts):
    rule, block = re.match(r"(g?tr)?_?\d+_(\d+)", name).groups()
    wanted = {"DFMA": 1 + 2 / int(block), "IDP": 0.25}
    if rule:
        wanted["DADD"] = (4 if rule == "tr" else 8) / int(block)
    for kind, number in wanted.items():
        if abs(counts[kind] - number) > 0.001:
            yield f"{counts[kind]:.3f} {kind} a product, not {number:.3f}"
    total, most = sum(counts.values()), MOST.get(name, 0)
    if target == "sm_90" and total > most:
        yield f"{total:.2f} instructions a product, above {most}"


def fp4(code):
    """Returns the number of instructions per product, for a step in which no element has to be computed again. So code
    with a loop that a branch skips is not counted.
    """
    step = max(loops(code), key=lambda s: count(code, s, "IDP"))
    inner = [s for s in loops(code) if step[0] < s[0] and s[1] < step[1]]
    jumps = [(a, to) for a, i in code if (to := branch(i)) is not None and step[0] <= a and to <= step[1]]
    jump = max((s for s in jumps if any(s[0] < l[0] and l[1] < s[1] for l in inner)), key=lambda s: s[1] - s[0])
    return counted(code, step, lambda _: 1 / (TILE_ELEMENTS * FP4_STEP), jump)


def fp4_problems(target, counts):
    most = 1.2 if target == "sm_120" else 1  # ptxas adds NOPs around FP64 there
    wanted = {"IDP": counts["IDP"] == 0.25, "FP64": counts["DFMA"] + counts["DADD"] == 4 / FP4_STEP,
              "all": sum(counts.values()) < most}
    return [f"not as many {kind} a product as was meant" for kind, right in wanted.items() if not right]


def two_level(code, block):
    """Returns the instructions for each product, and the deviations of its roundings from the intended ones."""
    spans = [s for s in loops(code) if count(code, s, "FFMA")]
    panel = max(spans, key=lambda s: s[1] - s[0])

    def trips(span):
        products = count(code, span, "FFMA.RZ")
        if span == panel:
            return 1
        if products and count(code, span, "IDP"):  # the loop over blocks
            return TWO_DEPTH // block
        return block * TILE_ELEMENTS / products if products else block / 8  # or over sums of eight powers

    times = times_of(spans, trips, TILE_ELEMENTS * TWO_DEPTH)
    counts = counted(code, panel, times)
    wanted = {kind: sum(times(a) for a, i in code if panel[0] <= a <= panel[1] and kind in i) == 1
              for kind in ("FFMA.RZ", "FFMA.RM")}
    wanted["IDP"] = 0.25 <= counts["IDP"] < 0.2501
    wanted["all"] = sum(counts.values()) < 16
    return counts, [f"not as many {kind} a product as was meant" for kind, right in wanted.items() if not right]


def examined(target, name, code):
    """Returns the instructions of an instruction's kernel for each product, its problems, and the device that the limit
    is for.
    """
    if x := re.match(r"smma_chain_((g?tr)?_?\d+_(\d+)\w*)", name):
        counts = chain(code, int(x[3]), 2 if x[2] == "gtr" else 1)
        return counts, list(chain_problems(target, x[1], counts)), H200
    if name == "smma_fp4":
        counts = fp4(code)
        return counts, fp4_problems(target, counts), H200
    if x := re.match(r"smma_two_\d+_(\d+)", name):
        return *two_level(code, int(x[1])), RTX_4090
    raise ValueError(name)


def kernels(module, targets):
    """Returns (target, name, instructions, bytes of local memory) for each kernel whose instructions are counted.
    Checks the local memory of all other kernels.
    """
    stack = stacks(module)
    for target in sorted({t for t, _ in stack if not targets or t in targets}):
        names = {n: s for (t, n), s in stack.items() if t == target}
        chains_there = target in ("sm_80", "sm_90", "sm_100")
        counted_here = [n for n in names if n == "smma_fp4" or re.match(r"smma_two_\d", n)
                        or chains_there and re.match(r"smma_chain_(g?tr_)?\d", n)]
        code = functions(module, target, counted_here)
        for name in sorted(counted_here):
            yield target, name, code[name], names[name]
        for name in sorted(set(names) - set(counted_here) - INDEXED):
            yield target, name, None, names[name]


def main(module, targets):
    wrong, examined_kernels = 0, 0
    for target, name, code, stack in kernels(module, targets):
        examined_kernels += 1
        if code is None:
            wrong += stack > 0
            print(f"{'FAILED ' if stack else 'ok     '} {target} {name}: {stack} bytes of local memory")
            continue
        counts, problems, (device, clocks) = examined(target, name, code)
        local = sum(opcode(i) in ("LDL", "STL") for _, i in code)
        most = SPILLS.get((target, name), 0)
        if local > most or (stack and not most):
            problems.append(f"{local} accesses of local memory, {stack} bytes")
        bound = {"issue": 128 / sum(counts.values())}
        for pipe, (rate, kinds) in PIPES.items():
            if used := sum(n for kind, n in counts.items() if kind in kinds):
                bound[pipe] = rate / used
        least = min(bound, key=bound.get)
        wrong += len(problems)
        shown = ", ".join(f"{kind} {n:.2f}" for kind, n in counts.most_common(9))
        print(f"{'FAILED ' if problems else 'ok     '} {target} {name}: {sum(counts.values()):.2f} a product ({shown})"
              + (f"; {local} accesses of local memory" if local else "") + "".join(f"; {p}" for p in problems))
        if target == "sm_90":
            a_second = f"{bound[least] * clocks / 1e12:.1f}e12 a second on an {device}"
            print(f"        at most {bound[least]:.1f} a clock, {a_second}, by {least}")
    print(f"{examined_kernels} kernels")
    return 1 if wrong or not examined_kernels else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
