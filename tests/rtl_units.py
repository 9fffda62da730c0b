#!/usr/bin/env python3
"""Compares units that `softmma rtl` writes with the core: Verilator compiles each, a C++ program feeds it test vectors.

Usage: rtl_units.py RTL_UNIT TESTS KIND FIRST COUNT ROWS [EVERY [SIMULATOR]]

RTL_UNIT writes the units (tests/rtl_unit.c names the kinds); TESTS is the folder of rtl_rows.h. With EVERY only units
whose number is a multiple of it. SIMULATOR icarus runs Icarus Verilog instead, and Yosys reads the units, too, if it is
there. Exit status: 0 if all results agree, 77 without the simulator, else 1.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

GROUP = 24  # number of units in one C++ program; its headers take longer to compile than a unit
PORTS = ("a", "b", "c", "scale_a", "d")


def run(*command):
    return subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True)


def width(text, port):
    found = re.search(rf"(?:input|output)\s+logic \[(\d+):0\] {port}\b", text)
    return int(found.group(1)) + 1 if found else 0


def driver(folder, units):
    """Writes one C++ file with the models of all units, and a main function that compares them."""
    code, main = ['#include "rtl_rows.h"'], []
    for number, stages, name in units:
        a, b, c, scale, d = (width((folder / f"u{number}.sv").read_text(), port) for port in PORTS)
        code += [
            f'#include "{file}"'
            for file in sorted((folder / f"v{number}").glob("*.cpp"))
            if not file.name.endswith("ALL.cpp")
        ]
        put = "".join(
            f"put_port(m.{port}, w, {bits}); w += words_of({bits});"
            for port, bits in zip(("a", "b", "c", "scale_a", "scale_b"), (a, b, c, scale, scale))
            if bits
        )
        clock = "m.clk = level; m.eval();" if stages else "(void)m; (void)level;"
        code.append(
            f"struct put{number} {{ void operator()(Vu{number} &m, const uint32_t *w) {{ {put} }}"
            f" void clock(Vu{number} &m, int level) {{ {clock} }} }};"
        )
        main.append(
            f'bad += compare<Vu{number}>("u{number} {name}", "{folder}/u{number}.rows",'
            f" ports{{{a}, {b}, {c}, {scale}, {d}, {stages}}}, put{number}());"
        )
    file = folder / "driver.cpp"
    file.write_text("\n".join([*code, "int main() {", "long bad = 0;", *main, "return bad != 0;", "}\n"]))
    return file


def compile_objects(include, folder):
    objects = []
    for name in ("verilated", "verilated_threads"):
        if (include / f"{name}.cpp").exists():
            objects.append(folder / f"{name}.o")
            made = run(
                "g++",
                "-std=c++17",
                "-O1",
                "-w",
                "-I",
                include,
                "-I",
                include / "vltstd",
                "-c",
                include / f"{name}.cpp",
                "-o",
                objects[-1],
            )
            if made.returncode:
                sys.exit(made.stderr)
    return objects


def verilate(folder, number):
    made = run(
        "verilator",
        "--cc",
        "-O3",
        "--x-assign",
        "fast",
        "--prefix",
        f"Vu{number}",
        "--top-module",
        f"u{number}",
        "--Mdir",
        folder / f"v{number}",
        "--output-split",
        "0",
        folder / f"u{number}.sv",
    )
    if made.returncode or made.stderr:
        print(f"u{number}: Verilator complains:\n{made.stderr[:2000]}")
    return not made.returncode and not made.stderr


def write_units(rtl_unit, kind, numbers, rows, folder):
    """Writes units; yields number, stages and name of each. Ends at the first number without a unit."""
    for number in numbers:
        made = run(rtl_unit, kind, number, 1, rows, folder)
        if made.returncode:
            sys.exit(made.stderr or f"rtl_unit ended with status {made.returncode} at {kind} {number}")
        line = made.stdout.strip()
        if not line:
            return
        _, stages, _, unit = line.split(" ", 3)
        yield number, stages, unit


def compare(rtl_unit, tests, include, objects, kind, numbers, rows):
    """Compares one group of units. Returns whether all agree, the number compared, and the number that exist."""
    failed, exist = False, 0
    with tempfile.TemporaryDirectory() as name:
        folder, units = Path(name), []
        for number, stages, unit in write_units(rtl_unit, kind, numbers, rows, folder):
            exist += 1
            if stages == "refused":
                print(f"{number} refused: {unit}")
            elif verilate(folder, number):
                units.append((number, int(stages), unit))
            else:
                failed = True
        if not units:
            return not failed, 0, exist
        made = run(
            "g++",
            "-std=c++17",
            "-O0",
            "-w",
            "-I",
            include,
            "-I",
            include / "vltstd",
            "-I",
            tests,
            driver(folder, units),
            *objects,
            "-o",
            folder / "driver",
            "-lpthread",
        )
        if made.returncode:
            print(made.stderr[:3000])
            return False, len(units), exist
        done = run(folder / "driver")
        print(done.stdout, end="", flush=True)
        return not failed and done.returncode == 0, len(units), exist


TESTBENCH = """module testbench;
  localparam integer WIDTH = {width}, ROWS = {rows}, STAGES = {stages};
  reg [WIDTH-1:0] memory [0:ROWS-1];
  reg [WIDTH-1:0] row;
  reg clk = 0;
  wire [{d}-1:0] d;
  integer r, mismatches = 0;
  u{number} unit ({ports}.d(d));
  initial begin
    $readmemh("{file}", memory);
    for (r = 0; r < ROWS + STAGES; r = r + 1) begin
      if (r < ROWS) row = memory[r];
      #1;
      if (STAGES > 0) begin clk = 1; #1; clk = 0; #1; end
      if (STAGES == 0 || (r >= STAGES - 1 && r - STAGES + 1 < ROWS)) begin
        if (d !== memory[STAGES == 0 ? r : r - STAGES + 1][{at} +: {d}]) mismatches = mismatches + 1;
      end
    end
    $display("u{number} {name} rows=%0d mismatches=%0d", ROWS, mismatches);
    $finish(0);
  end
endmodule
"""


def by_icarus(folder, number, stages, name):
    """Reports whether a unit agrees with the core in Icarus Verilog, and whether Yosys reads it."""
    source = folder / f"u{number}.sv"
    text = source.read_text()
    bits = [(port, width(text, port)) for port in ("a", "b", "c", "scale_a", "scale_b", "d")]
    words = {port: (n + 31) // 32 for port, n in bits}
    stride, at, ports = sum(words.values()), 0, ".clk(clk), " if stages else ""
    for port, n in bits:
        if n and port != "d":
            ports += f".{port}(row[{at * 32} +: {n}]), "
        at += words[port] if port != "d" else 0
    data = (folder / f"u{number}.rows").read_bytes()
    rows = [data[i : i + 4 * stride] for i in range(0, len(data), 4 * stride)]
    memory = folder / f"u{number}.mem"
    memory.write_text("".join(f"{int.from_bytes(row, 'little'):x}\n" for row in rows))
    bench = folder / f"u{number}_bench.sv"
    bench.write_text(
        TESTBENCH.format(
            width=32 * stride,
            rows=len(rows),
            stages=stages,
            d=dict(bits)["d"],
            number=number,
            ports=ports,
            file=memory,
            at=at * 32,
            name=name,
        )
    )
    made = run("iverilog", "-g2012", "-s", "testbench", "-o", folder / "bench.vvp", bench, source)
    done = run("vvp", "-n", folder / "bench.vvp") if made.returncode == 0 else made
    print(done.stdout or done.stderr[:2000], end="", flush=True)
    good = f"rows={len(rows)} mismatches=0\n" in done.stdout
    if shutil.which("yosys"):
        read = run(
            "yosys", "-q", "-p", f"read_verilog -sv {source}; hierarchy -check -top u{number}; proc; check -assert"
        )
        if read.returncode or read.stderr.strip():
            print(f"u{number}: Yosys complains:\n{(read.stderr or read.stdout)[:2000]}")
            good = False
    return good


def compare_by_icarus(rtl_unit, kind, numbers, rows):
    good, total = True, 0
    with tempfile.TemporaryDirectory() as name:
        for number, stages, unit in write_units(rtl_unit, kind, numbers, rows, name):
            if stages != "refused":
                good, total = by_icarus(Path(name), number, int(stages), unit) and good, total + 1
    return good, total


def main():
    rtl_unit, tests, kind, first, count, rows = sys.argv[1:7]
    every = int(sys.argv[7]) if len(sys.argv) > 7 else 1
    icarus = sys.argv[8:] == ["icarus"]
    for tool in ("iverilog",) if icarus else ("verilator", "g++"):
        if not shutil.which(tool):
            print(f"SKIPPED: {tool} is not there; units of softmma rtl were NOT compared with the core.")
            sys.exit(77)
    numbers = [n for n in range(int(first), int(first) + int(count)) if n % every == 0]
    if icarus:
        good, total = compare_by_icarus(rtl_unit, kind, numbers, rows)
        print(f"{total} units in Icarus Verilog, {'0 differences' if good else 'FAILED'}")
        sys.exit(not good or total == 0)
    include = Path(run("verilator", "--getenv", "VERILATOR_ROOT").stdout.strip()) / "include"
    good, total = True, 0
    with tempfile.TemporaryDirectory() as name:
        objects = compile_objects(include, Path(name))
        for at in range(0, len(numbers), GROUP):
            group = numbers[at : at + GROUP]
            agree, units, exist = compare(rtl_unit, tests, include, objects, kind, group, rows)
            good, total = good and agree, total + units
            if exist < len(group):
                break
    print(f"{total} units, {'0 differences' if good else 'FAILED'}")
    sys.exit(not good or total == 0)


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C")
    main()
