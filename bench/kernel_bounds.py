#!/usr/bin/env python3
"""Counts the vector operations of kernels, and derives the highest ratio to SGEMM that each kernel can reach
(docs/performance.md, "What limits the ratios").

How the machine code is found: bench/kernel_trace.c computes one panel of a product, and every machine instruction that
the kernel's `run` executes is recorded: on x86 in single steps, for NEON by qemu. On a CPU without AVX-512, the steps
of the AVX-512 kernels are those of an emulated computer (tests/avx512_computer.sh). Nothing is estimated: calls,
branches and copies of registers count. Packing is not part of `run`. llvm-mca has the execution ports of each
instruction. The bound is the least number of cycles, for any order of the instructions, in which the ports and the
dispatch unit can process them.

Usage: bench/kernel_bounds.py [BUILD [WORD]]   (default: build)
Counts the kernels whose row of KERNELS contains WORD. Builds the library in BUILD, and in BUILD/neon if the tools for
aarch64 are installed. Traces are stored in BUILD/bounds. Needs llvm-mca of LLVM 19 (llvm-19).
"""

import itertools
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
# Name, GPU and instruction of each kernel.
KERNELS = [
    ("T-FDPA, F = 25, L = 16", "H100", "wgmma.m64n256k16.f32.f16.f16"),
    ("the same, D in FP16", "H100", "wgmma.m64n256k16.f16.f16.f16"),
    ("the same, BF16", "H100", "wgmma.m64n256k16.f32.bf16.bf16"),
    ("T-FDPA, F = 24, L = 8", "A100", "mma.m16n8k16.f32.f16.f16.f32"),
    ("the same, BF16", "A100", "mma.m16n8k16.f32.bf16.bf16.f32"),
    ("T-FDPA, F = 23, L = 4", "V100", "mma.m8n8k4.f32.f16.f16.f32"),
    ("T-FDPA, F = 24, L = 4, TF32", "A100", "mma.m16n8k8.f32.tf32.tf32.f32"),
    ("T-FDPA, F = 25, L = 8, TF32", "H100", "wgmma.m64n256k8.f32.tf32.tf32"),
    ("T-FDPA, F = 25, L = 32", "B200", "tcgen05.m128n256k32.f32.e4m3.e4m3"),
    ("ST-FDPA, MXFP8", "B200", "tcgen05.m128n256k32.block32.f32.e4m3.e4m3.ue8m0"),
    ("T-FDPA, F = 13, L = 32", "H100", "wgmma.m64n256k32.f32.e4m3.e4m3"),
    ("T-FDPA, F = 13, L = 16", "L40S", "mma.m16n8k32.f32.e4m3.e4m3.f32"),
    ("FP8 by FP16", "H100", "mma.m16n8k32.f32.e4m3.e4m3.f32"),
    ("GST-FDPA, MXFP4", "B200", "tcgen05.m128n256k64.block32.f32.e2m1.e2m1.ue8m0"),
    ("GST-FDPA, NVFP4", "B200", "tcgen05.m128n256k64.block16.f32.e2m1.e2m1.ue4m3"),
    ("TR-FDPA, L = 8, FP16", "MI300X", "v_mfma_f32_16x16x16_f16"),
    ("TR-FDPA, L = 4, xf32", "MI300X", "v_mfma_f32_16x16x8_xf32"),
    ("GTR-FDPA, FP8", "MI300X", "v_mfma_f32_16x16x32_fp8_fp8"),
    ("GD-FDPA, RDNA 4 FP16", "rdna4", "v_wmma_f32_16x16x16_f16"),
    ("E-FDPA, FP16", "MI100", "v_mfma_f32_16x16x16f16"),
    ("E-FDPA, BF16", "MI100", "v_mfma_f32_16x16x8bf16"),
    ("FTZ-AddMul, FP16", "MI250X", "v_mfma_f32_16x16x16f16"),
    ("FTZ-AddMul, BF16", "MI250X", "v_mfma_f32_16x16x8bf16"),
    ("FTZ-FMA, BF16", "x86", "vdpbf16ps"),
    ("INTEGER, S8", "H100", "wgmma.m64n256k32.s32.s8.s8"),
    ("FMA, FP32", "MI300X", "v_mfma_f32_16x16x4_f32"),
]


@dataclass
class Processor:
    """A processor as llvm-mca models it. `pipes` matches its vector pipes. `width` is the number of instructions that
    it dispatches in a cycle. `sgemm` is the number of products of SGEMM in a cycle: FMA pipes times lanes times the
    share that OpenBLAS reaches, as measured on x86.
    """
    name: str
    mcpu: str
    triple: str
    kernel: str
    pipes: str
    width: int
    sgemm: float


X86, ARM = "x86_64-linux-gnu", "aarch64-linux-gnu"
# Arm's software optimization guide gives the width of Neoverse V2: macro-operations in a cycle.
PROCESSORS = [
    Processor("AVX-512, Zen 4", "znver4", X86, "avx512", r"Zn4FP[0-3]$", 6, 16 * 0.85),
    Processor("AVX2, Zen 4", "znver4", X86, "avx2", r"Zn4FP[0-3]$", 6, 16 * 0.87),
    Processor("NEON, Neoverse V2", "neoverse-v2", ARM, "neon", r"V2UnitV\d$", 8, 16 * 0.85),
]


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def llvm_mca():
    """Returns the path of llvm-mca of LLVM 19, or ends the program with a message."""
    for name in ("llvm-mca-19", "/usr/lib/llvm-19/bin/llvm-mca"):
        if path := shutil.which(name):
            return path
    sys.exit("kernel_bounds: llvm-mca of LLVM 19 is missing; install llvm-19")


def program_of(build, triple):
    """Builds kernel_trace for this triple and returns its path, or None if tools are missing."""
    compiler = "cc"
    if triple == ARM:
        compiler, build = "aarch64-linux-gnu-gcc", build / "neon"
        if not shutil.which(compiler) or not shutil.which("qemu-aarch64"):
            print(f"{compiler} or qemu-aarch64 is missing, so NEON is not counted", file=sys.stderr)
            return None
        run("cmake", "-S", SOURCE, "-B", build, "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
            f"-DCMAKE_C_COMPILER={compiler}", "-DSOFTMMA_COMMAND=OFF")
    run("cmake", "--build", build, "--target", "softmma_static")
    program = build / "kernel_trace"
    run(compiler, "-std=gnu11", "-O2", f"-I{SOURCE}/include", f"-I{SOURCE}/src", SOURCE / "bench/kernel_trace.c",
        build / "lib/libsoftmma.a", "-static", "-fopenmp", "-lm", "-o", program)
    return program


def steps_of_emulator(program, arguments):
    """Returns the number of products, and the addresses of instructions that qemu executes between the marks."""
    begin, end = (int(line.split()[0], 16) for name in ("begin", "end")
                  for line in run("aarch64-linux-gnu-nm", program).splitlines()
                  if line.endswith(f"kernel_trace_{name}"))
    command = ["qemu-aarch64", "-singlestep", "-d", "exec,nochain", "-D", "/dev/stderr", program, *arguments]
    log = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    counts, counting, first, last = Counter(), False, f"/{begin:016x}/", f"/{end:016x}/"
    for line in log.stderr:
        if counting and last in line:
            counting = False
        elif counting:
            counts[line.split("/", 2)[1]] += 1
        elif first in line:
            counting = True
    products = int(log.stdout.read().split()[1])
    if log.wait():
        sys.exit(f"kernel_bounds: qemu-aarch64 {program} failed")
    return products, {int(at, 16): count for at, count in counts.items()}


def stored_trace(program, kernel, gpu, instruction):
    """Returns the file of a trace, and whether it holds the trace of this program."""
    stored = program.parent / "bounds" / f"{kernel}-{gpu}-{instruction}"
    stored.parent.mkdir(exist_ok=True)
    return stored, stored.exists() and stored.stat().st_mtime > program.stat().st_mtime


def store_emulated_traces(program, kernels):
    """Stores the traces of AVX-512 kernels, all from one run of the emulated computer."""
    missing = [(file, gpu, instruction) for _, gpu, instruction in kernels
               for file, current in [stored_trace(program, "avx512", gpu, instruction)] if not current]
    if not missing:
        return
    lines = "".join(f"{gpu} {instruction} avx512\n" for _, gpu, instruction in missing)
    computer = subprocess.run([SOURCE / "tests/avx512_computer.sh", program.parent / "bounds", program], input=lines,
                              text=True, stdout=subprocess.PIPE)
    if computer.returncode:
        sys.exit("kernel_bounds: this CPU has no AVX-512, and no computer that has it could be emulated")
    for (file, gpu, instruction), trace in zip(missing, re.split(r"^status .*\n", computer.stdout, flags=re.M)):
        if not trace.startswith("products "):
            sys.exit(f"kernel_bounds: kernel_trace {gpu} {instruction} avx512 failed on the emulated computer: {trace}")
        file.write_text(trace)


def trace_of(program, kernel, gpu, instruction):
    """Returns the number of products, and how often each address was executed. Stored traces are used again."""
    stored, current = stored_trace(program, kernel, gpu, instruction)
    if current:
        lines = stored.read_text().splitlines()
    elif kernel == "neon":
        products, counts = steps_of_emulator(program, [gpu, instruction, kernel])
        lines = [f"products {products}"] + [f"{at:x} {count}" for at, count in counts.items()]
    else:
        lines = run(program, gpu, instruction, kernel).splitlines()
    stored.write_text("\n".join(lines))
    return int(lines[0].split()[1]), {int(at, 16): int(count) for at, count in map(str.split, lines[1:])}


def disassembly(program, triple):
    """Returns address -> instruction, as objdump writes it."""
    tool = "aarch64-linux-gnu-objdump" if triple == ARM else "objdump"
    lines = (line.partition(":\t") for line in run(tool, "-d", "--no-show-raw-insn", program).splitlines())
    return {int(at, 16): text for at, separator, text in lines if separator}


def readable(text, triple):
    """Returns an instruction of objdump in the form that llvm-mca reads."""
    text = text.split("//" if triple == ARM else "#")[0]
    text = re.sub(r"\s*<[^>]*>", "", text).strip()
    text = re.sub(r"^(j\w+|call|b|bl|b\.\w+)\s+[0-9a-f]+$", r"\1 target", text)
    text = re.sub(r"^(cbn?z\s+\w+|tbn?z\s+\w+, #\w+), [0-9a-f]+$", r"\1, target", text)
    text = re.sub(r"^(adrp?\s+\w+), [0-9a-f]+$", r"\1, target", text)
    return "nop" if re.search(r"\bnop", text) else text


def is_broadcast(text):
    """Reports whether an instruction of x86 only broadcasts a number from memory."""
    return re.match(r"v(p)?broadcast\w+\s+[^%]*\(", text) is not None


@dataclass
class Costs:
    """What one instruction occupies: resource -> cycles."""
    uses: dict = field(default_factory=dict)
    operations: int = 1


def costs_of(processor, texts):
    """Returns instruction -> Costs by llvm-mca's tables."""
    texts = sorted(set(texts))
    target = [f"-mtriple={processor.triple}", f"-mcpu={processor.mcpu}"]
    listing = json.loads(run(llvm_mca(), *target, "-instruction-tables", "-json", input="\n".join(texts) + "\n",
                             stderr=subprocess.DEVNULL))
    region, names = listing["CodeRegions"][0], listing["TargetInfo"]["Resources"]
    information = region["InstructionInfoView"]["InstructionList"]
    assert len(information) == len(texts), "llvm-mca reads other instructions than objdump writes"
    costs = [Costs(operations=x["NumMicroOpcodes"]) for x in information]
    for x in region["ResourcePressureView"]["ResourcePressureInfo"]:
        if x["InstructionIndex"] < len(texts):  # the last index is the sum of all
            costs[x["InstructionIndex"]].uses[names[x["ResourceIndex"]]] = x["ResourceUsage"]
    for text, cost in zip(texts, costs):
        # llvm-mca sends broadcasts from memory through a vector pipe. Zen's load units broadcast: with them,
        # bench/product_cycles.c takes no more cycles than without.
        if is_broadcast(text):
            cost.uses = {name: used for name, used in cost.uses.items() if not re.match(processor.pipes, name)}
        # llvm-mca counts the 512-bit dot products twice: kernels start more of them than its bound allows.
        elif text.startswith("vpdp") and "%zmm" in text:
            cost.uses = {name: used / (2 if re.match(processor.pipes, name) else 1) for name, used in cost.uses.items()}
    return dict(zip(texts, costs))


@dataclass
class Bound:
    """Vector operations of a product, the cycles that it takes at least, and the letter of the unit that needs them."""
    operations: float
    cycles: float
    unit: str


def least_cycles(processor, counts, costs):
    """Returns (cycles, letter): the greatest number of cycles for which a unit is busy, and its letter. A set of vector
    pipes is busy for the work of all instructions that can use no other pipe.
    """
    work, units, dispatched = Counter(), Counter(), 0
    for text, count in counts.items():
        pipes = {name: used for name, used in costs[text].uses.items() if re.match(processor.pipes, name)}
        work[frozenset(pipes)] += count * sum(pipes.values())
        for name, used in costs[text].uses.items():
            if name not in pipes:
                units[name] += count * used
        dispatched += count
    every = sorted(set().union(*work))
    busy = {"dispatch": dispatched / processor.width}
    for name, cycles in units.items():
        busy[re.sub(r"^(Zn\d|V2Unit)|\W.*", "", name)] = cycles
    for size in range(1, len(every) + 1):
        for subset in itertools.combinations(every, size):
            cycles = sum(cycles for pipes, cycles in work.items() if pipes <= set(subset)) / size
            busy["+".join(re.sub(r"^(Zn\d|V2Unit)", "", name) for name in subset)] = cycles
    unit = max(busy, key=busy.get)
    return busy[unit], letter_of(unit, "+".join(re.sub(r"^(Zn\d|V2Unit)", "", name) for name in every))


def fused(code, counts):
    """Returns instruction -> count. On x86 a comparison and the branch after it are one operation. `rep stos` makes a
    step for each 8 bytes, but stores 32 bytes at a time.
    """
    total, addresses = Counter(), sorted(counts)
    for at, after in zip(addresses, addresses[1:] + [0]):
        if code[at].startswith("rep stos"):
            total["vmovdqu %ymm0,(%rdi)"] += counts[at] / 4
        elif not (re.match(r"(cmp|test)", code[at]) and re.match(r"j", code.get(after, "")) and after - at < 12):
            total[code[at]] += counts[at]
    return total


def bound_of(processor, program, code, gpu, instruction):
    products, counts = trace_of(program, processor.kernel, gpu, instruction)
    counts = {at: count for at, count in counts.items() if at in code}
    counts = fused({at: readable(code[at], processor.triple) for at in counts}, counts)
    costs = costs_of(processor, counts)
    vector = sum(count for text, count in counts.items()
                 if any(re.match(processor.pipes, name) for name in costs[text].uses))
    cycles, unit = least_cycles(processor, counts, costs)
    return Bound(vector / products, cycles / products, unit)


def letter_of(unit, every):
    """Returns the letter of a unit: V all vector pipes, M those that multiply, C those that convert, L loads, S stores,
    D dispatch. `every` has the names of all vector pipes.
    """
    if unit == every:
        return "V"
    letters = {"FP0+FP1": "M", "FP2+FP3": "C", "V0+V2": "C", "FP45": "L", "L01": "L", "Load": "L",
               "LSU": "L", "FPSt": "S", "Store": "S", "dispatch": "D"}
    return letters.get(unit, unit)


def measured():
    """Returns kernel -> (GPU, instruction) -> the ratio to OpenBLAS on Zen 4, from docs/performance.md."""
    section = (SOURCE / "docs/performance.md").read_text().split("\n### An AMD EPYC\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (\S[^|]*) \| `([^`]*)` \| ([\d.]+) \| ([\d.]+) \|$", section, re.M)
    return {kernel: {row[:2]: row[column] for row in rows} for column, kernel in ((2, "avx512"), (3, "avx2"))}


def main(build, word):
    programs = {triple: program_of(build, triple) for triple in (X86, ARM)}
    code = {triple: disassembly(program, triple) for triple, program in programs.items() if program}
    reached = measured()
    kernels = [(name, gpu, instruction) for name, gpu, instruction in KERNELS if word in f"{name} {gpu} {instruction}"]
    if "avx512_vnni" not in Path("/proc/cpuinfo").read_text():
        store_emulated_traces(programs[X86], kernels)
    print("| kernel | AVX-512: operations | bound | reached | AVX2: operations | bound | reached | NEON: operations | bound |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, gpu, instruction in kernels:
        cells = []
        for p in PROCESSORS:
            if p.triple not in code:
                continue
            x = bound_of(p, programs[p.triple], code[p.triple], gpu, instruction)
            cells += [f"{16 * x.operations:.1f}", f"{1 / x.cycles / p.sgemm:.2f} {x.unit}"]
            if p.kernel != "neon":
                cells.append(reached[p.kernel].get((gpu, instruction), ""))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build"), sys.argv[2] if len(sys.argv) > 2 else "")
