"""Explaining, comparing, probing."""

import itertools
import os
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
import xml.etree.ElementTree
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import softmma

TIER = "check"


def test_explain():
    e = softmma.explain([1, 2], [3, 4], 5, in_dtype="f16")
    assert e.results == (16,) and e.exact == (16,) and e.difference == ""
    assert repr(e) == e.text and "a[1]*b[1]" in e.text
    assert xml.etree.ElementTree.fromstring(e._repr_svg_()).tag.endswith("svg")
    e = softmma.explain([np.inf], [1], in_dtype="f16")
    assert e.results == (np.inf,) and e.exact == (None,)


def test_explain_two_instructions():
    names = "wgmma.m64n8k32.f32.e4m3.e4m3", "mma.m16n8k32.f32.e4m3.e4m3.f32"
    e = softmma.explain([1, 2**-6], [1, 2**-9], on="H100", instr=names)
    assert e.results == (1, 1 + 2**-15) and e.exact == (1 + 2**-15,) * 2
    assert "a[1]*b[1]" in e.difference and all(name in e.text for name in names)
    with pytest.raises(ValueError, match="do not take the same operands: a: f16 in one and bf16 in the other"):
        softmma.explain([1], [1], on=("H100:f16", "H100:bf16"))


def test_explain_two_values_of_k():
    e = softmma.explain([-8192, 1, 1, 1], [1024, -0.5, -0.25, -0.125], 2**23, on=("V100:f16", "A100:f16"))
    assert e.results == (0, -0.5) and "K = 4, " in e.text and "; A100:f16: K = 16" in e.text
    with pytest.raises(ValueError, match="5"):
        softmma.explain([1] * 5, [1] * 5, on=("V100:f16", "A100:f16"))
    names = [f"tcgen05.m128n8k{k}.block32.f32.e2m1.e2m1.ue8m0" for k in (32, 64)]
    with pytest.raises(ValueError, match="scale_a has 1 elements; tcgen05.m128n8k64.* takes 2"):
        softmma.explain([1], [1], on="B200", instr=names, scale_a=[1], scale_b=[1])


def test_explain_errors():
    with pytest.raises(ValueError, match="one dot product"):
        softmma.explain(np.ones((2, 3)), np.ones(3), in_dtype="f16")
    with pytest.raises(ValueError, match="at most two"):
        softmma.explain([1], [1], on=("H100", "A100", "V100"), in_dtype="f16")
    with pytest.raises(ValueError, match="on has 2 units and instr 3"):
        softmma.explain([1], [1], on=("H100", "A100"), instr=("x", "y", "z"))


def test_compare(generator):
    a, b = generator.standard_normal((8, 64)), generator.standard_normal((64, 8))
    table = softmma.compare(a, b, ["V100", "H100", "H100:e4m3"])
    assert [unit.label for unit in table] == ["V100", "H100", "H100:e4m3"]
    assert table[0].different == 0 and table[1].different > 0
    assert table[2].error > table[1].error > table[1].unit_error > 0
    np.testing.assert_array_equal(table[1].d, softmma.matmul(a, b, on="H100", in_dtype="f16"))
    assert "H100:e4m3" in repr(table) and "<table>" in table._repr_html_()
    np.testing.assert_array_equal(table.pairs(), table.pairs().T)
    narrow = a.astype(np.float16), b.astype(np.float16)
    of_columns = softmma.compare(*map(np.asfortranarray, narrow), ["V100", "H100"])
    assert of_columns.value == softmma.compare(*narrow, ["V100", "H100"]).value


@pytest.mark.parametrize("name", ["bf16", "f16", "e4m3"])
def test_compare_in_the_arrays_format(name):
    """Arrays whose format has at most 16 bits are multiplied in that format. All other arrays are multiplied in f16."""
    one = np.ones((2, 2), softmma.dtype(name))
    assert {u.instruction.a for u in softmma.compare(one, one, ["H100", "H200", "B200"])} == {name}
    assert softmma.compare(one.astype(np.float32), np.int16([[1], [2]]), ["H100", "A100"])[1].instruction.a == "f16"


def test_compare_shows_no_sign_flips():
    """A result near zero that changes sign is billions of ulp away, but near in value."""
    a = np.array([[2.0**-12, 1, 1, 1], [1, 0, 0, 0]], np.float16)
    b = np.array([[-1], [2048], [-2048], [0]], np.float16)
    comparison = softmma.compare(a, b, ["V100", "H100"])
    assert "ulp" not in repr(comparison)
    assert all(u.largest_difference <= 2.0**-11 for u in comparison)


@pytest.mark.parametrize("on", ["H100", ["H100"], ["H100", "h100"], []])
def test_compare_of_nothing(on):
    with pytest.raises(ValueError, match="on: "):
        softmma.compare(np.eye(2), np.eye(2), on)


def test_compare_of_own_results(generator):
    """A result of the user's own is compared with the units and the exact product like theirs."""
    a, b = (generator.standard_normal(shape).astype(np.float16) for shape in ((5, 64), (64, 7)))
    d = softmma.matmul(a, b, on="V100")
    other = d.copy()
    other[1, 2] += 1
    found = softmma.compare(a, b, ["V100", "H100"], d={"mine": d, "other": other.astype(float)})
    assert [u.label for u in found] == ["V100", "H100", "mine", "other"]
    assert found[2].different == 0 and found[3].different == 1 and found[2].instruction is None
    assert found[2].error == found[0].error < found[3].error and np.isnan(found[2].unit_error)
    np.testing.assert_array_equal(found[3].d, other)
    assert found.pairs()[2].tolist() == [0, found[1].different, 0, 1]
    same = {"different": 0, "largest_ulps": 0, "largest_difference": 0.0, "special": 0}
    assert found.value["units"][2] == {"file": "mine", **same, "error": found.value["units"][0]["error"]}
    assert found.value["units"][3]["different"] == found[3].different > 0
    assert any("mine" in line and "your result" in line for line in repr(found).splitlines())
    assert "<td>your result</td>" in found._repr_html_()
    assert [u.label for u in softmma.compare(a, b, "V100:f16", d=[d, other])] == ["V100:f16", "d[0]", "d[1]"]
    assert softmma.compare(np.eye(2), np.eye(2), "V100:f16", d=np.eye(2, dtype=int))[1].different == 0
    with pytest.raises(ValueError, match="d: d is not 5 x 7, as the product is"):
        softmma.compare(a, b, "V100", d=d.T)
    with pytest.raises(ValueError, match="values of d are not numbers of f32"):
        softmma.compare(a, b, "V100", d=d.astype(float) / 3)
    with pytest.raises(ValueError, match="d: 32 results; at most 31 are compared"):
        softmma.compare(a, b, "V100", d=[d] * 32)


def test_tolerance_takes_the_arrays_format(generator):
    a, b = (generator.standard_normal(shape).astype(ml_dtypes.float8_e4m3fn) for shape in ((4, 64), (64, 4)))
    found = softmma.tolerance(a, b, on="H100")
    assert found.targets[0].inputs == "e4m3" and found.measured == softmma.tolerance(a, b, on="H100:e4m3").measured
    swept = softmma.sweep("split_k=1,2", a, b, on="H100")
    assert swept.value == softmma.sweep("split_k=1,2", a, b, on="H100:e4m3").value
    half = softmma.tolerance(a.astype(np.float32), b.astype(np.float32), on="H100")
    assert half.targets[0].inputs == "f16"


def test_random_data_do_not_depend_on_k():
    """The instructions of these GPUs have K of 4, 8 and 16."""
    exact = [row.exact for row in softmma.sweep("k=64", on=["V100", "T4", "H100"], shape=(8, 8, 64)).rows]
    assert exact[0] == exact[1] == exact[2]


def test_the_file_of_a_custom_unit_is_no_gpu():
    for call in (softmma.matmul, softmma.tolerance, lambda a, b, on: softmma.compare(a, b, [on, "H100"])):
        with pytest.raises(LookupError, match=r"'unit.json' is no GPU; .* softmma.Custom in Python"):
            call(np.eye(2), np.eye(2), on="unit.json")


A, B = np.eye(4, dtype=np.float32), np.ones((4, 4), np.float32)


@pytest.mark.parametrize(
    "study",
    [
        lambda on, **given: softmma.diff(on, rows=100, **given),
        lambda on, **given: softmma.differences([*on, "L40S:bf16"], rows=100, **given),
        lambda on, **given: softmma.equal(*on, rows=100, **given),
        lambda on, **given: softmma.compare(A, B, on, **given),
        lambda on, **given: softmma.compare(A.astype("f2"), B.astype("f2"), on, **given),
        lambda on, **given: softmma.trace(A.astype("f2"), B.astype("f2"), on=on, **given),
        lambda on, **given: softmma.tolerance(on=on, shape=(4, 4, 32), **given),
        lambda on, **given: softmma.sweep("k=16,32", on=on, shape=(4, 4, 32), **given),
    ],
)
def test_a_gpu_without_a_format_beside_one_with_another(study):
    with pytest.warns(UserWarning, match="^A100 is given without a format, so it computes in f16; A100:F") as found:
        study(["H100:bf16", "A100"])
    assert [warning.filename for warning in found] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study(["H100:f16", "A100"]), study(["A100", "H100:bf16"]), study(["H100", ":bf16"])
        study(["H100:bf16", "A100"], in_dtype="bf16")


def test_differences_as_text():
    text = repr(softmma.differences(["V100", "A100", "L40S"], rows=500))
    assert re.search(r"^V100 +- +\d\d\.\d\d% +\d\d\.\d\d%$", text, re.M) and re.search(r"^L40S .* = +-$", text, re.M)
    assert "number of products added at once (block, FMA size): 4, 8, 8" in text
    assert "number of carry bits: at least 3 and at least 4" in repr(softmma.diff(["A100", "H100"], rows=50))


@pytest.mark.parametrize(("rtol", "atol"), [(0, 0), (1e-6, 0), (0.0, 3e-5), (2.0**-20, 2.0**-18)])
def test_compare_with_tolerances(generator, rtol, atol):
    """Counts what numpy.isclose counts, with specials and a difference that is exactly the tolerance."""
    a, b = generator.standard_normal((40, 64)), generator.standard_normal((64, 30))
    model = softmma.matmul(a, b, on="H100", in_dtype="f16")
    own = model * np.float32(1 + 2**-20)
    own[0, :4] = np.nan, np.inf, -np.inf, 0
    own[1, 0] = model[1, 0] + np.float32(2**-18)
    found = softmma.compare(a, b, ["H100:f16", "V100:f16"], d={"mine": own}, rtol=rtol, atol=atol)
    y = found[0].d.astype(np.float64)
    for unit in found:
        close = np.isclose(unit.d.astype(np.float64), y, rtol, atol, equal_nan=True)
        assert unit.beyond == close.size - close.sum()
    assert ("differ by more than" in repr(found)) and softmma.compare(a, b, "H100:f16", d=own)[1].beyond is None


def test_compare_refuses_tolerances():
    for wrong in ({"rtol": -1}, {"atol": np.nan}, {"rtol": 0, "atol": np.inf}):
        with pytest.raises(ValueError, match=f"{list(wrong)[-1]}: .* is no number from 0 on"):
            softmma.compare(np.eye(2), np.eye(2), ["V100", "H100"], **wrong)


def test_compare_in_blocks(generator):
    a, b = generator.standard_normal((20, 100)), generator.standard_normal((100, 12))
    units = softmma.compare(a, b, ["B200:nvfp4", "B200:mxfp8:mxfp4", "H100:e4m3:e5m2"])
    assert [row[1] for row in units._rows()] == ["nvfp4", "mxfp8_e4m3,mxfp4", "e4m3,e5m2"]
    qa, qb = softmma.quantize(a, "nvfp4"), softmma.quantize(b, "nvfp4", axis=-2)
    scales = {"scale_a": qa.scales, "scale_b": qb.scales, "alpha": qa.factor * qb.factor}
    d = softmma.matmul(qa.values, qb.values, on="B200", **scales)
    assert (units[0].d == d).all() and units[0].error > 0.01 and units[0].unit_error < 1e-6
    d = softmma.matmul(a, b, in_dtype="e4m3,e5m2")
    assert (units[2].d == d).all() and units[2].instruction.b == "e5m2"


def test_compare_errors():
    with pytest.raises(ValueError, match=r"a is \(3,\)"):
        softmma.compare([1, 2, 3], np.eye(3), ["H100"])
    with pytest.raises(ValueError, match="not a list of two targets or more"):
        softmma.compare(np.eye(3), np.eye(3), [])
    with pytest.raises(ValueError, match=r"a is \(2, 3\) and b is \(2, 3\)"):
        softmma.compare(np.ones((2, 3)), np.ones((2, 3)), ["H100", "A100"])
    with pytest.raises(ValueError, match="results in f16, H100 in f32"):
        softmma.compare(np.eye(3), np.eye(3), ["H100", softmma.instruction("H100", "HMMA.16816.F16")])


def test_compare_of_encodings(generator):
    """Encodings in unsigned integers have the errors of the numbers that they encode."""
    a, b = (generator.standard_normal(shape).astype(softmma.dtype("e4m3")) for shape in ((3, 64), (64, 2)))
    found = softmma.compare(a.view(np.uint8), b.view(np.uint8), ["H100:e4m3", "B200:e4m3"])
    assert found.value == softmma.compare(a, b, ["H100:e4m3", "B200:e4m3"]).value and found[1].error < 1e-6
    with pytest.raises(ValueError, match="a: uint8 may be numbers or encodings, and the targets have several formats"):
        softmma.compare(a.view(np.uint8), b, ["H100:f16", "H100:e4m3"])


def test_compare_says_what_is_not_finite():
    a = np.ones((2, 1), np.float16)
    a[0] = np.nan
    shown = repr(softmma.compare(a, np.full((1, 3), 6e4, np.float32), ["H100", "H100:e4m3"]))
    no_error = "no finite error, because they or the exact results are not finite: 3 of 6 on H100, 3 of 6 on H100:e4m3"
    assert shown.splitlines()[4:] == [no_error]
    one_side = repr(softmma.compare([[1e6]], [[1]], ["H100", "H100:e4m3"], in_dtype="f16"))
    assert "NaN or infinity on one side, not in the largest difference: 1 of 1 on H100:e4m3" in one_side.splitlines()


def test_compare_with_plans(generator):
    a, b = generator.standard_normal((4, 300)), generator.standard_normal((300, 5))
    found = softmma.compare(a, b, ["H100", "H100"], plan=[None, "cutlass:2xacc"])
    np.testing.assert_array_equal(found[1].d, softmma.matmul(a, b, in_dtype="f16", plan="cutlass:2xacc"))
    assert found[1].plan.name in repr(found) and found[1].different == found.value["pairs"][0]["different"] > 0
    with pytest.raises(ValueError, match="given twice"):
        softmma.compare(a, b, ["H100", "H100"], plan="cutlass:2xacc")


@pytest.mark.parametrize("order", [np.ascontiguousarray, np.asfortranarray])
def test_tolerance(generator, order):
    """Every target's product is within the tolerances, and a faulty product is not. The layouts of arrays do not
    matter."""
    a, b = (order(generator.standard_normal(shape).astype(np.float16)) for shape in ((20, 96), (96, 300)))
    found = softmma.tolerance(a, b, on=["V100", "H100:bf16"])
    exact = a.astype(float) @ b.astype(float)
    for accepted in (found.measured, found.proven):
        np.testing.assert_allclose(softmma.matmul(a, b, on="V100"), exact, accepted.rtol, accepted.atol)
    assert found.elements == 20 * 256 and [t.inputs for t in found.targets] == ["f16", "bf16"]
    assert found.value == softmma.tolerance(a.copy(), b.copy(), on=["V100", "H100:bf16"], threads=1).value
    assert {v.wrong: v.measured for v in found.verdicts}["zeros for D"] > 0.9
    assert str(found).count("torch.testing.assert_close(D.double(), A.double() @ B.double(), rtol=") == 2


def test_tolerance_of_every_gpu():
    assert {t.arch for t in softmma.tolerance(in_dtype="e4m3fnuz", shape=(1, 1, 64)).targets} == {"cdna3"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"margin": 0.5}, "margin: 0.5 is not a number from 1 to 1000"),
        ({"shape": (0, 1, 2)}, "shape: 0 x 1 x 2"),
        ({"data": "odd"}, "data: no data are called 'odd'"),
        ({"store": "s8"}, "store: s8 of results in f32 is not what kernels store"),
        ({"with_c": True, "plan": "cutlass:2xacc"}, "with_c: the plan of cutlass:2xacc has no place for it"),
        ({"alpha": np.inf}, "alpha, beta: they are finite numbers"),
        ({"c": np.eye(2)}, "c: it goes with a and b"),
        ({"round_in": "toward-zero"}, "round_in: it is for arrays"),
        ({"a": np.eye(2), "b": np.eye(2), "data": "normal"}, "data: it describes random data"),
        ({"a": np.eye(2), "b": np.eye(2), "seed": 1}, "seed: it describes random data"),
        ({"seed": -1}, "seed is -1; it is from 0"),
        ({"a": np.eye(2)[:0], "b": np.eye(2)}, "a times b is empty"),
        ({"split_k": 0}, "split_k"),
    ],
)
def test_tolerance_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        softmma.tolerance(on="H100", **arguments)


def of_target(row):
    return row.error, row.bound, row.unbounded, row.left_out, row.overflowed


@pytest.mark.parametrize("on", ["H100:e4m3", "B200:mxfp8"])
def test_sweep_of_k(generator, on):
    """The errors at each k are those of the product of the first k columns and rows, for any layout of the matrices."""
    a, b = generator.standard_normal((9, 160)), generator.standard_normal((160, 7))
    found = softmma.sweep("k=32..128", np.asfortranarray(a), b, on=on)
    assert found.values == (32, 64, 128) and found.elements == 63
    for row in found.rows:
        alone = softmma.tolerance(a[:, : row.at], b[: row.at], on=on)
        assert of_target(row) == of_target(alone.targets[0]) and row.k == row.at


def test_sweep_of_a_parameter():
    """The errors at a value of a parameter are those of a custom unit with that value, and at the unit's own value
    those of the instruction."""
    own = softmma.instruction("A100", "HMMA.16816.F32")
    chain = {**own.to_custom(), "algorithm": "G-FDPA", "sticky_bit": True}
    for unit, name, description in (own, "F", own.to_custom()), (softmma.Custom(chain), "alignment_bits", chain):
        found = softmma.sweep({name: [12, 24]}, on=unit, shape=(1, 1, 64))
        changed = softmma.Custom({**description, "alignment_bits": 12})
        for row, one in zip(found.rows, (changed, unit)):
            assert of_target(row) == of_target(softmma.tolerance(on=one, shape=(1, 1, 64)).targets[0])
        assert found.rows[0].error["max"] > found.rows[1].error["max"] > 0


def test_sweep_of_accurate_products(generator):
    """A sweep over accurate products reports the errors of gemm's methods. With `auto` D is the exact product, rounded
    once."""
    a, b = generator.standard_normal((5, 60)), generator.standard_normal((60, 4))
    exact = np.array([[sum(map(Fraction.__mul__, map(Fraction, x), map(Fraction, y))) for y in b.T] for x in a])
    for text, on, arguments in (
        ("slices=3,auto", "H100:s8", {"method": "ozaki", "slices": 3}),
        ("words=2", "H100:bf16", {"method": "words", "words": 2}),
        ("markidis=3", "H100:bf16", {"method": "markidis", "words": 3}),
    ):
        found = softmma.sweep(text, a, b, on=on)
        gpu, in_dtype = on.split(":")
        d = softmma.gemm(a, b, on=gpu, in_dtype=in_dtype, **arguments).d
        most = max(abs(Fraction(x) - y) for x, y in zip(d.flat, exact.flat))
        assert found.rows[0].error["max"] == pytest.approx(float(most), rel=1e-12) and found.rows[0].bound is None
    found = softmma.sweep("slices=auto", a, b, on="H100:s8")
    used = softmma.gemm(a, b, on="H100", in_dtype="s8", method="ozaki", slices="auto").value
    assert found.auto == (used["slices_of_a"], used["slices_of_b"]) and found.rows[0].error["max"] < 1e-14


def test_sweep_table_and_picture():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: Sweep.plot is NOT tested").use("agg")
    for text, on in ("k=64..1024", ["H100", "A100"]), ("format=f16,e4m3", ["H100", "A100"]), ("slices=1..3", "H100:s8"):
        found = softmma.sweep(text, on=on, shape=(1, 1, 64))
        axes = found.plot()
        assert axes.get_yscale() == "log" and axes.get_xlabel() == found.name
        assert axes.get_xscale() == ("log" if found.name == "k" else "linear")
        assert len(found.to_pandas()) == len(found.rows) and found.plot(axes) is axes
    with pytest.raises(TypeError, match="axes: int is no Axes of matplotlib"):
        found.plot(3)
    labels = softmma.sweep("format=f16,bf16", on="H100", shape=(1, 1, 8)).plot().get_xticklabels()
    assert [label.get_text() for label in labels] == ["f16", "bf16"]


def test_sweep_printed():
    halves = {"name": "halves", "sum": [{"deal": "contiguous", "parts": 2}]}
    found = softmma.sweep("k=64,128", on=["V100", "H100"], plan=[None, halves], in_dtype="f16", shape=(8, 8, 128))
    title, header, *lines = repr(found).splitlines()
    assert title == f"|result - exact| over k: {found.elements} elements of 8 x 8 products, data normal"
    assert len(lines) == 4
    assert header.split() == ["k", "GPU", "inputs", "plan", "50", "%", "99", "%", "max", "bound"]
    assert lines[0].split() == ["64", "V100", "f16", "none", *lines[0].split()[4:]]
    assert f"<caption>{title}</caption>" in found._repr_html_()


def test_sweep_of_a_dict():
    for over in "k=2..4", {"k": [2, 4]}, {"k": "2..4"}:
        assert softmma.sweep(over, on="H100", shape=(1, 1, 1)).values == (2, 4)
    with pytest.raises(TypeError, match="over: list is neither a text"):
        softmma.sweep(["k"])


@pytest.mark.parametrize(
    ("over", "arguments", "message"),
    [
        ("k", {}, "sweep: 'k' is not NAME=VALUES"),
        ({"k": [1], "data": ["normal"]}, {}, "2 quantities"),
        ("k=4..2", {}, "sweep: the range 4..2 is empty"),
        ("k=9", {"a": np.eye(2), "b": np.eye(2)}, "sweep: k = 9: a and b have K = 2"),
        ("G=3", {}, "'G' is no parameter of .*; it has alignment_bits, block"),
        ("F=99", {}, "alignment_bits = '99' is not allowed; allowed: 0 to"),
        ("block=5", {}, "block = 5: 5 does not divide k"),
        ("format=f16,tf32", {"on": "H100:f16"}, "has a format of its own"),
        ("slices=0", {"on": "H100:s8"}, "sweep: slices = '0' is not a number from 1 to 2098 or auto"),
        ("slices=3", {}, "slices need an instruction with A and B in s8"),
        ("words=3", {"on": "H100:s8"}, "words need a floating-point instruction"),
        ("words=3", {"with_c": True}, "with_c: accurate products compute A B alone"),
        ("split_k=2", {"plan": "cutlass:2xacc"}, "sweep: split_k: the plan of"),
    ],
)
def test_sweep_errors(over, arguments, message):
    with pytest.raises(ValueError, match=message):
        softmma.sweep(over, **{"on": "H100", **arguments})


def test_probe():
    found = softmma.probe("H100")
    assert found["alignment_bits"].value == "25"
    assert found["alignment_bits"].source and found["alignment_bits"].title in repr(found)
    assert "<table>" in found._repr_html_() and len(found) == len(list(found))
    a, b, c, d = found["alignment_bits"].witness
    assert softmma.dot(a, b, c[0], on=found.instruction) == d[0]


def test_probe_a_function():
    """A function that computes the model of an A100 has the features of the A100. A function that computes in float64
    has other features."""
    unit = softmma.instruction("A100", "HMMA.16816.F32")

    def ampere(a, b, c):
        assert a.dtype == np.float16 and a.shape[1] == 16 and c.dtype == np.float32
        return softmma.dot(a, b, c, on=unit)

    def double(a, b, c):
        with np.errstate(invalid="ignore"):
            return np.einsum("rk,rk->r", a.astype(float), b.astype(float)) + c

    model, function, other = softmma.probe(unit), softmma.probe(unit, unit=ampere), softmma.probe(unit, unit=double)
    assert {name: f.value for name, f in function.items()} == {name: f.value for name, f in model.items()}
    assert other["alignment_bits"].value != "24"
    assert "ampere" in repr(function)


def test_probe_a_wrong_function():
    def fails(a, b, c):
        raise OSError("the GPU is not there")

    with pytest.raises(OSError, match="not there"):
        softmma.probe(unit=fails)
    with pytest.raises(ValueError, match=r"the function returned \(3,\) for \d+ rows"):
        softmma.probe(unit=lambda a, b, c: np.zeros(3))


def test_probe_with_scale_factors():
    found = softmma.probe("B200", instr="tcgen05.m128n8k32.block32.f32.e4m3.e4m3.ue8m0")
    again = softmma.probe(
        found.instruction,
        unit=lambda a, b, c, x, y: softmma.dot(a, b, c, on=found.instruction, scale_a=x, scale_b=y),
    )
    assert found["alignment_bits"].value == again["alignment_bits"].value == "25"


def test_diff():
    found = softmma.diff(["A100", "H100"], rows=2000)
    assert found.differ and found.instruction.arch in ("ampere", "hopper")
    a, b, c = found.row
    for gpu, result in zip(("A100", "H100"), found.results):
        assert softmma.matmul(a[None], b[:, None], c[None], on=gpu, in_dtype="f16").item() == result.item()
    assert found.normal[0] == found.all[0] == 2000 and found.normal[1] > 0
    assert ("8", "16") in found.features.values()
    same = softmma.diff(["A100", "L40S"], rows=2000)
    assert not same.differ and same.row is None and same.results is None and same.all == (2000, 0)


def test_diff_of_a_function():
    """A function that returns the model's results does not differ from the model; one that returns them with the
    opposite sign does."""
    i = softmma.instruction("A100", "HMMA.16816.F32")

    def ampere(a, b, c):
        return softmma.dot(a, b, c, on=i)

    def wrong(a, b, c):
        return -softmma.dot(a, b, c, on=i)

    assert not softmma.diff([i, i], unit=ampere, rows=500).differ
    found = softmma.diff([i, i], unit=wrong, rows=500)
    assert found.differ and found.results[0] == -found.results[1]


def test_diff_with_scale_factors():
    names = [f"tcgen05.m128n8k{k}.block32.f32.e2m1.e2m1.ue8m0" for k in (64, 64)]
    assert not softmma.diff(["B200", "B200"], instr=names, rows=100).differ


def test_differences_are_those_of_each_pair():
    names = ["V100:f16", "A100", "L40S"]
    found = softmma.differences(names, rows=1000)
    assert found.on == tuple(names) and found.differ and np.isnan(np.diag(found.shares)).all()
    for x, y in ((0, 1), (0, 2), (1, 2)):
        pair = softmma.diff([names[x], names[y]], rows=1000)
        rows, mismatches = pair.normal
        assert found.shares[x, y] == found.shares[y, x] or not pair.differ
        assert np.isnan(found.shares[x, y]) if not pair.differ else found.shares[x, y] == mismatches / rows
        for title, values in pair.features.items():  # a pair is examined with the greater K, which shows more
            assert all(own in (None, value) for own, value in zip((found.features[title][x], found.features[title][y]), values))
    assert not softmma.differences(["A100", "L40S"], rows=500).features
    with pytest.raises(ValueError, match="2 to 16"):
        softmma.differences(["A100"] * 17)
    with pytest.raises(ValueError, match="one for all 3 units"):
        softmma.differences(names, instr=["mma", "mma"])


def test_diff_of_common_operands():
    """Both instructions get only numbers that FP16 and TF32 can both hold, and the example consists of such numbers."""
    found = softmma.diff(["A100:tf32", "A100:f16"], rows=2000)
    assert found.differ and found.value["common_operands"] and found.value["rows_of"] == "mma.m16n8k16.f32.f16.f16.f32"
    assert not softmma.diff(["A100:s4", ":s8"], rows=2000).differ
    compared = softmma.compare(np.eye(4), np.eye(4), ["H100:f16", ":bf16"])
    assert [unit["in"] for unit in compared.value["units"]] == ["f16", "bf16"]


def test_diff_of_what_is_not_alike():
    def fails(a, b, c):
        raise OSError("the GPU is not there")

    with pytest.raises(OSError, match="not there"):
        softmma.diff(["A100", "A100"], unit=fails)
    with pytest.raises(ValueError, match="have not the same formats"):
        softmma.diff(["A100:f16", "A100:s8"])
    with pytest.raises(ValueError, match="on has 1 units"):
        softmma.diff(["A100"])
    with pytest.raises(ValueError, match="rows is 0"):
        softmma.diff(["A100", "H100"], rows=0)
    with pytest.raises(LookupError):
        softmma.diff(["A100", "H1000"])


def test_interrupt():
    """Control-C ends a search that would take hours."""
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        softmma.diff(["A100", "L40S"], rows=10**10)
    timer.join()


@pytest.mark.parametrize("study", ["compare", "trace"])
def test_interrupt_of_exact_products(study, monkeypatch):
    """Control-C ends the exact product, which takes most of the time: the extension has then returned no result."""
    exponents = np.random.default_rng(0).integers(-400, 400, (256, 8192))
    a, real, returned = np.ldexp(1.0, exponents), getattr(softmma._core, study), []
    calls = {
        "compare": lambda: softmma.compare(a, a.T, d=np.zeros((256, 256)), on="A100:f64"),
        "trace": lambda: softmma.trace(a, a.T, at="worst", on="A100:f64"),
    }
    # No bytecode runs between the extension's return and `extend`, so Control-C cannot come between them.
    monkeypatch.setattr(softmma._core, study, lambda *x: returned.extend(itertools.starmap(real, [x])))
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        calls[study]()
    timer.join()
    assert not returned


def test_diff_after_fork():
    """OpenMP's threads do not survive a fork; the child process must not wait for them."""
    softmma.diff(["A100", "L40S"], rows=1000)
    child = os.fork()
    if child == 0:
        os._exit(softmma.diff(["A100", "L40S"], rows=1000).differ)
    for _ in range(6000):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert done and status == 0


TASKS = """
import os, sys
import numpy as np
import softmma
x = np.linspace(-1, 1, 512 * 512, dtype=np.float32).reshape(512, 512)
d = softmma.matmul(x[:16], x[:, :16], on="H100", in_dtype="f16", threads=1)
before = len(os.listdir("/proc/self/task"))
eval(sys.argv[1])
sys.exit(len(os.listdir("/proc/self/task")) - before)
"""


LIMITED_CALLS = [
    "softmma.gemm(x, x, on='B200', in_dtype='nvfp4', threads=1)",
    "softmma.compare(x, x, ['H100', 'A100'], in_dtype='bf16', threads=1)",
    "softmma.tolerance(x[:64], x, on='H100', in_dtype='f16', threads=1)",
    "softmma.sweep('k=256', x[:64], x, on='H100', in_dtype='f16', threads=1)",
    "softmma.match(x[:16], x[:, :16], d, on='H100', in_dtype='f16', threads=1)",
    "softmma.claim(x[:16], x[:, :16], d, 'H100:f16', threads=1)",
    "softmma.experiment('monotonicity', small=True, threads=1)",
]


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="this system does not list a process's threads")
@pytest.mark.parametrize("call", LIMITED_CALLS)
def test_one_thread(call):
    """With threads=1, nothing of a computation starts another thread."""
    two = {**os.environ, "OMP_NUM_THREADS": "2"}
    assert subprocess.run([sys.executable, "-c", TASKS, call], env=two, check=False).returncode == 0


@pytest.mark.parametrize("call", LIMITED_CALLS)
@pytest.mark.parametrize("threads", [-1, 1025, 2**70])
def test_number_of_threads(call, threads):
    """Every computation refuses the same numbers of threads, in the same words."""
    x, d = np.ones((16, 16), np.float32), np.full((16, 16), 16, np.float32)
    with pytest.raises(ValueError, match=f"threads is {threads}; it is from 0 to 1,024"):
        eval(call.replace("threads=1", f"threads={threads}"), {"softmma": softmma, "x": x, "d": d})


def test_experiment_printed():
    found = softmma.experiment("monotonicity", small=True)
    title, header, *lines, last = repr(found).splitlines()
    assert title == f"monotonicity, seed 0, pairs = 200: {len(found.rows)} rows"
    assert header.split() == list(found.rows[0]) and len(lines) == 20
    assert last == f"... and {len(found.rows) - 20} more, in `rows`"


OVERFLOWS = np.float16([[300, 300, 0.1], [1.1, 0.3, 0.7]]), np.float16([[300, 1.3], [300, 0.7], [1, 0.9]])


def test_tolerance_of_what_overflows(command, tmp_path):
    """No rtol and atol accept a result that is infinite where the exact one is finite."""
    found = softmma.tolerance(*OVERFLOWS, on="H100", out_dtype="f16")
    assert found.measured is None and found.proven is None and found.paste == ""
    assert found.targets[0].overflowed == 1 and found.targets[0].unbounded == 1
    assert all(v.measured is None and v.bound > 0 for v in found.verdicts)
    assert "1 result differs from the exact one; at least one of the two is infinite or NaN" in found.text
    assert softmma.tolerance(*OVERFLOWS, on="H100").measured is not None
    (row,) = softmma.sweep("k=3", *OVERFLOWS, on="H100", out_dtype="f16").rows
    assert row.overflowed == 1


def test_tolerance_of_nan():
    """A NaN is left out once, and each test refuses what differs from it."""
    a, b = np.ones((8, 32), np.float16), np.ones((32, 8), np.float16)
    a[3, 5] = np.nan
    found = softmma.tolerance(a, b, on=["V100", "H100"])
    assert [t.left_out for t in found.targets] == [8, 8] and "\n8 elements are left out" in found.text
    assert "equal_nan=True" in found.paste
    zeros = found.verdicts[0]
    assert (zeros.measured, zeros.bound) == (1, 1)
    with pytest.raises(ValueError, match="all exact results are NaN or infinite; there is nothing to measure"):
        softmma.tolerance(np.full_like(a, np.nan), b, on="H100")


@pytest.mark.parametrize(
    ("on", "options", "message"),
    [
        ("A100:mma.sp.m16n8k16.f32.f16.f16.f32", {}, "is sparse: A needs metadata"),
        ("H100", {"promote_every": 5}, "promote_every: 5 is not a multiple of 16, the K of wgmma"),
    ],
)
def test_tolerance_of_what_has_none(on, options, message):
    with pytest.raises(ValueError, match=message):
        softmma.tolerance(on=on, shape=(8, 8, 32), **options)


@pytest.mark.parametrize(
    ("over", "options"),
    [("split_k=1,2", {"split_k": 4}), ("promote_every=16,32", {"promote_every": 16}), ("data=normal", {"data": "uniform"})],
)
def test_sweep_takes_nothing_twice(over, options):
    with pytest.raises(ValueError, match=f"{next(iter(options))}: the sweep gives it"):
        softmma.sweep(over, on="H100", shape=(8, 8, 64), **options)


def test_tolerance_of_several_formats():
    found = softmma.tolerance(on=["V100", "H100:wgmma.m64n8k16.f16.f16.f16"], shape=(8, 8, 32))
    assert [t.stored for t in found.targets] == ["f32", "f16"] and ", results in f32 and f16;" in found.text
    found = softmma.tolerance(on=["V100", "H100:wgmma.m64n8k16.f16.f16.f16"], shape=(8, 8, 32), store="f16")
    assert ", results in f16, rounded from f32;" in found.text


# ---- Numbers of vectors, and seeds ----

UNIT = {"on": softmma.instruction("A100", "HMMA.16816.F32")}
ROWS = softmma.rows(10, **UNIT)
SMALL = {"on": "V100", "search": 100}


@pytest.mark.parametrize(
    ("function", "given", "most"),
    [
        (lambda **x: softmma.rows(**x, **UNIT), {"count": 2, "seed": 3, "first": 4}, 2**63),
        (lambda **x: softmma.campaign("model", **x, **UNIT), {"rows": 20, "seed": 3}, 2**63),
        (lambda **x: softmma.record("model", **x, **UNIT), {"rows": 20, "seed": 3}, 2**63),
        (lambda **x: softmma.next(["model", "model"], **x, **UNIT), {"rows": 2, "search": 20, "seed": 3}, 2**63),
        (lambda **x: softmma.verify(rows=(*ROWS, softmma.dot(*ROWS, **UNIT)), **UNIT, **x), {"show": 2}, 2**63),
        (lambda **x: softmma.coverage(*ROWS, **UNIT, **x), {"search": 20, "seed": 3}, 2**63),
        (lambda **x: softmma.diff(["A100", "H100"], **x), {"rows": 10, "seed": 3}, 2**63),
        (lambda **x: softmma.differences(["A100", "H100"], **x), {"rows": 10, "seed": 3}, 2**63),
        (lambda **x: softmma.probe("A100", **x), {"rows": 100}, 10**7 + 1),
        (lambda **x: softmma.equal("A100", "H100", **x), {"rows": 10, "seed": 3}, 2**63),
        (lambda **x: softmma.equal("A100", "H100", **x), {"k": 16}, 2**24 + 1),
        (lambda **x: softmma.permute("A100", **x), {"rows": 10, "seed": 3}, 2**63),
        (lambda **x: softmma.infer("model", **SMALL, **x), {"rows": 20, "seed": 3, "budget": 10**7}, 2**63),
        (lambda **x: softmma.infer("model", on="V100", **x), {"search": 100, "most_rows": 10**5}, 2**63),
        (lambda **x: softmma.experiment("monotonicity", small=True, **x), {"seed": 3}, 2**63),
        (lambda **x: softmma.tolerance(on="H100", shape=(4, 4, 16), **x), {"seed": 3}, 2**63),
        (lambda **x: softmma.sweep("k=64..64", on="H100", shape=(4, 4, 16), **x), {"seed": 3}, 2**63),
    ],
)
def test_numbers(function, given, most):
    """Numbers may be of any integer type; numbers out of range are an error, not taken modulo 2^64."""
    function(**{name: np.int64(number) for name, number in given.items()})
    for name in given:
        for number in (-1, most, 2**64 + 1):
            with pytest.raises(ValueError, match=f"^{name} is {number}; it is from"):
                function(**{**given, name: number})
        with pytest.raises(TypeError, match=f"^{name} is 2.5; give an integer"):
            function(**{**given, name: 2.5})
