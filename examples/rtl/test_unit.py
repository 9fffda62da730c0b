"""Compares a unit with its model in cocotb: rows and results come from the Python package softmma, a batch at a time.

`make cocotb` runs it on Icarus Verilog; needs cocotb 2 and softmma of PyPI. The environment has what the Makefile says.
"""

import os
import re
from pathlib import Path

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

import softmma

BATCH = 1000
ON, INSTR = os.environ["ON"], os.environ["INSTR"]


def port(row):
    """Packs elements of 16 bits into one port, the first in the low bits."""
    return int.from_bytes(np.ascontiguousarray(row).tobytes(), "little")


def bits(x):
    return np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")


async def answers(dut, a, b, c):
    """Returns the unit's results for rows, with a new row at every clock."""
    results = []
    for sent in range(len(c) + 8):
        await FallingEdge(dut.clk)
        if dut.valid_out.value:
            results.append(int(dut.d.value))
        dut.valid_in.value = sent < len(c)
        if sent < len(c):
            dut.a.value, dut.b.value, dut.c.value = port(a[sent]), port(b[sent]), int(bits(c)[sent])
    return np.array(results, np.uint32)


@cocotb.test()
async def equals_its_model(dut):
    cocotb.start_soon(Clock(dut.clk, 2, "ns").start())
    dut.rst.value, dut.valid_in.value = 1, 0
    await FallingEdge(dut.clk)
    dut.rst.value = 0
    rows, seed = int(os.environ["ROWS"]), int(os.environ["SEED"])
    for first in range(0, rows, BATCH):
        a, b, c = softmma.rows(min(BATCH, rows - first), seed=seed, first=first, on=ON, instr=INSTR)
        wanted = softmma.dot(a, b, c, on=ON, instr=INSTR)
        got = await answers(dut, a, b, c)
        assert len(got) == len(c), f"{len(got)} results of {len(c)} rows"
        for row in np.flatnonzero(got != bits(wanted)):  # of AMD's units any two NaN are the same
            text = softmma.explain(a[row], b[row], c[row], on=ON, instr=INSTR)
            raise AssertionError(f"row {first + row} of seed {seed}: the unit has {got[row]:#010x}\n{text}")
    dut._log.info("rows=%d mismatches=0", rows)


if __name__ == "__main__":
    from cocotb_tools.runner import get_runner

    here = Path(__file__).resolve().parent
    unit, build = os.environ["UNIT"], os.environ["BUILD"]
    more = dict(re.findall(r"\.(\w+)\(([^)]*)\)", os.environ["PARAMETERS"]))
    runner = get_runner("icarus")
    runner.build(
        sources=[here / name for name in (f"{unit}.sv", "products.sv", "multiply.sv", "decode.sv", "round_f32.sv")],
        hdl_toplevel=unit,
        parameters={"BUG": os.environ["BUG"], "L": os.environ["K"], **more},
        build_args=["-g2012"],
        build_dir=build,
        timescale=("1ns", "1ns"),
        always=True,
    )
    runner.test(hdl_toplevel=unit, test_module=Path(__file__).stem, test_dir=build, build_dir=build)
