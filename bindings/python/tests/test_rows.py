"""Test vectors for an instruction's corner cases, and a cocotb unit that is compared with its model on them."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import softmma
from conftest import REPOSITORY, bits

TIER = "check"
INSTR = "mma.m16n8k16.f32.bf16.bf16.f32"


def test_rows_are_those_of_the_command(command):
    text = command("vectors", "gen", "--on", "H100", "--instr", INSTR, "--kind", "edge", "--seed", "7", "--rows", "40")
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    numbers = np.array([[int(x, 16) for x in line] for line in lines], np.uint32)
    a, b, c = softmma.rows(40, "edge", seed=7, on="H100", instr=INSTR)
    assert (bits(a) == numbers[:, :16]).all() and (bits(b) == numbers[:, 16:32]).all()
    assert (bits(c) == numbers[:, 32]).all()
    assert (bits(softmma.dot(a, b, c, on="H100", instr=INSTR)) == numbers[:, 33]).all()


def test_portions_kinds_and_scales():
    whole = softmma.rows(30, on="H100", instr=INSTR)
    parts = [softmma.rows(10, first=first, on="H100", instr=INSTR) for first in (0, 10, 20)]
    for x, *y in zip(whole, *parts, strict=True):
        assert (bits(x) == bits(np.concatenate(y))).all()
    i = softmma.instruction("B200", "tcgen05.m128n8k32.block32.f32.e4m3.e4m3.ue8m0")
    scaled = softmma.rows(3, "normal", on=i)
    assert [x.shape for x in scaled] == [(3, 32), (3, 32), (3,), (3, 1), (3, 1)]
    assert softmma.dot(*scaled[:3], on=i, scale_a=scaled[3], scale_b=scaled[4]).shape == (3,)
    assert softmma.rows(0, instr=i)[0].shape == (0, 32)


@pytest.mark.parametrize("wrong", [{"kind": "diagonals"}, {"count": -1}, {"seed": -1}, {"first": 2**63}])
def test_what_is_wrong(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        softmma.rows(**{"count": 1, **wrong})
    with pytest.raises(LookupError):
        softmma.rows(1, on="H1000", instr=INSTR)


@pytest.mark.all
@pytest.mark.parametrize("bug", [0, 1])
def test_cocotb(bug, tmp_path):
    pytest.importorskip("cocotb")
    if not shutil.which("iverilog"):
        pytest.skip("Icarus Verilog is not there")
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    done = subprocess.run(
        ["make", "-C", REPOSITORY / "examples" / "rtl", "cocotb", f"BUG={bug}", "ROWS=300", f"BUILD={tmp_path}"],
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if bug:
        assert done.returncode != 0 and "row 30 of seed 0: the unit has 0x40730000" in done.stdout
        assert "T-FDPA, F = 25, L = 16" in done.stdout
    else:
        assert done.returncode == 0 and "rows=300 mismatches=0" in done.stdout, done.stdout


@pytest.mark.parametrize("call", [lambda: softmma.rows(4), lambda: softmma.gen("rows"), lambda: softmma.record("model")])
def test_no_format(call):
    """Messages of functions without arrays do not mention arrays."""
    with pytest.raises(TypeError, match="^instr and in_dtype are missing; give one of them, for example in_dtype='f16'$"):
        call()
