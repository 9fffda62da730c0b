"""GPUs, formats, instructions, custom units."""

import ast
import copy
import doctest
import importlib
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import softmma
from conftest import REPOSITORY
from softmma import _compare, _products, _scaled, _study, _tolerance, _trace, _units

TIER = "check"


@pytest.mark.parametrize("module", [softmma, _units, _products, _scaled, _study, _compare, _tolerance, _trace])
def test_docstrings(module):
    assert doctest.testmod(module).failed == 0


def test_names():
    """The stub declares the names that are imported on first use, and nothing else is imported before."""
    stub = ast.parse(Path(softmma.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    declared = {a.asname: n.module for n in stub.body if isinstance(n, ast.ImportFrom) for a in n.names}
    modules = {name: declared.pop(name) for name in ("jax", "recipes", "torch")}
    assert set(modules.values()) == {"softmma"} and sorted(declared) == softmma.__all__
    for name, module in declared.items():
        assert getattr(importlib.import_module(module), name) is getattr(softmma, name)
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        softmma.no_such_name  # noqa: B018
    code = "import softmma, sys; print(sorted(x for x in sys.modules if x.startswith('softmma.')))"
    loaded = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True).stdout
    assert loaded == "['softmma._core']\n"


def test_old_names():
    """Old names work, with a warning."""
    traced = softmma.trace(np.ones((1, 3), np.float16), np.ones((3, 1), np.float16), at=(0, 0))
    with pytest.warns(DeprecationWarning, match=r"Trace\.parting is now Trace\.divergence"):
        assert traced.parting is traced.divergence
    with pytest.warns(DeprecationWarning, match=r"softmma\.Parting is now softmma\.SumDivergence"):
        assert softmma.Parting is softmma.SumDivergence


def test_targets_name_instructions():
    assert softmma.instruction("H100:f16") == softmma.instructions("H100")[0]
    assert softmma.instruction("H100:HMMA.16816.F32") == softmma.instruction("H100", "HMMA.16816.F32")
    with pytest.raises(ValueError, match=r"name is missing: .* instruction\('H100:f16'\)"):
        softmma.instruction("H100")
    for function in softmma.matmul, softmma.gemm, softmma.trace, softmma.tolerance:
        with pytest.raises(TypeError, match="c is 'H100'; a unit is given by keyword: on='H100'"):
            function(np.ones((2, 2)), np.ones((2, 2)), "H100")
    with pytest.raises(TypeError, match="on='H100'"):
        softmma.dot([1.0], [1.0], "H100")


def test_results_are_shown_in_one_line():
    a, b = np.full((1, 3), 4096, np.float16), np.float16([[4096], [-4096], [2**-12]])
    product = softmma.gemm(a.astype("f4"), b.astype("f4"), on="A100", in_dtype="s8", method="ozaki", slices="auto")
    assert product.slices == (product.value["slices_of_a"], product.value["slices_of_b"])
    assert repr(product) == "<product of 1 x 1 x 3 in f32 by ampere mma.m16n8k32.s32.s8.s8.s32>"
    assert softmma.gemm(a, b).slices is None
    traced = softmma.trace(a, b, on=["V100", "H100"], at=(0, 0))
    assert repr(traced) == "<trace of [0, 0]: V100 0.0, H100 1.0; V100 and H100 diverge at 3 products (instruction)>"
    d = softmma.matmul(a, b, on="H100")
    assert repr(softmma.claim(a, b, d, "H100")) == "<claim H100: holds>"
    assert repr(softmma.claim(a, b, d + 1, "H100")) == "<claim H100: 1 of 1 elements differ>"
    for found in softmma.match(a, b, d, on="H100"), softmma.match(a, b, d + 1, on="H100"):
        assert len(repr(found)) < 200 and repr(found).startswith("<match of 1 x 1 x 3 in f32: ")


def test_everything_is_documented():
    for name in softmma.__all__:
        assert getattr(softmma, name).__doc__, name


def test_formats_have_dtypes():
    dtypes = {format.name: format.dtype for format in softmma.formats()}
    assert dtypes["bf16"] == ml_dtypes.bfloat16 and dtypes["tf32"] == np.float32
    assert dtypes["e2m1"] == ml_dtypes.float4_e2m1fn and dtypes["ue8m0"] == ml_dtypes.float8_e8m0fnu
    for format in softmma.formats():
        assert format.dtype.itemsize == format.bytes and format.bits <= 8 * format.bytes
        assert softmma.dtype(format.name) == format.dtype
    assert softmma.dtype("half") == np.float16
    with pytest.raises(LookupError, match="'float9' is no number format"):
        softmma.dtype("float9")
    with pytest.raises(LookupError, match="no number format"):
        softmma.dtype(complex)


@pytest.mark.parametrize(
    "format", [f for f in softmma.formats() if f.bits <= 16 and f.name != "ocp_int8"], ids=lambda f: f.name
)
def test_dtypes_have_the_formats_values(format):
    """Every encoding of a narrow format is the same number for ml_dtypes and for the library."""
    every = np.arange(2**format.bits, dtype=f"u{format.bytes}").view(format.dtype)
    if format.name == "ue4m3":
        every = every[:128]
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(softmma.round(every, "f64"), every.astype(np.float64))


# Formats without a dtype, with the codes (without a sign) of infinity and of the first and the last NaN, and whether
# the code of -0 is NaN.
SPELLED = {
    "e3m4": (0x70, 0x71, 0x7F, False), "e4m3-bias11-fnuz": (None, None, None, True),
    "e5m2-finite": (None, None, None, False), "ue5m3-bias16-nan": (None, 0xFF, 0xFF, False),
    "binary8p3se": (0x7F, None, None, True), "binary8p1ue": (0xFE, 0xFF, 0xFF, False),
    "binary8p1uf": (None, 0xFF, 0xFF, False), "binary8p1sf": (None, None, None, True),
    "binary6p3uf": (None, 0x3F, 0x3F, False),
    "s5": (None, None, None, False), "u7": (None, None, None, False),
}  # fmt: skip


def values_of(name, facts):
    """Returns the number of each encoding of a format as a dict."""
    if name == "ocp_int8":
        return {code: (code - (256 if code >= 128 else 0)) / 64 for code in range(256)}
    if name not in SPELLED:
        dtype = softmma.dtype(name)
        used = 128 if name == "ue4m3" else 2**facts.bits
        with np.errstate(invalid="ignore"):
            values = np.arange(used, dtype=f"u{dtype.itemsize}").view(dtype).astype(np.float64)
        return dict(enumerate(values.tolist()))
    infinity, first, last, zero_is_nan = SPELLED[name]
    if facts.bias is None:
        half = 2 ** (facts.bits - 1) if name[0] == "s" else 2**facts.bits
        return {code: code - (2 * half if code >= half else 0) for code in range(2**facts.bits)}
    sign, fraction = 1 << facts.exponent_bits + facts.fraction_bits, 1 << facts.fraction_bits
    value = {}
    for code in range(2**facts.bits):
        fields = code % sign
        exponent = fields // fraction
        x = (fields % fraction / fraction + (exponent > 0)) * 2.0 ** (max(exponent, 1) - facts.bias)
        if fields == infinity:
            x = np.inf
        elif first is not None and first <= fields <= last or zero_is_nan and code == sign:
            x = np.nan
        value[code] = -x if code >= sign else x
    return value


@pytest.mark.parametrize("name", [*(f.name for f in softmma.formats() if f.bits in (4, 6, 8, 16)), *SPELLED])
def test_format(name):
    """The numbers and encodings of a format are those of all its codes."""
    facts = softmma.format(name)
    value = values_of(name, facts)
    finite = {code: x for code, x in value.items() if np.isfinite(x)}
    assert (facts.max, facts.min) == (max(finite.values()), min(finite.values()))
    assert [int(code, 16) for code in facts.infinity] == [code for code, x in value.items() if np.isinf(x)]
    assert [int(code, 16) for code in facts.zero] == [code for code, x in value.items() if x == 0]
    assert all(len(code) == (facts.bits + 3) // 4 for code in facts.infinity + facts.zero + sum(facts.nan, []))
    nan = [code for first, last in facts.nan for code in range(int(first, 16), int(last, 16) + 1)]
    assert nan == [code for code, x in value.items() if np.isnan(x)]
    if facts.bias is None:
        assert facts.smallest_normal is facts.smallest_subnormal is None
        return
    exponents = (1 << facts.exponent_bits) - 1
    is_normal = {code: code >> facts.fraction_bits & exponents or name == "ue8m0" for code in finite}
    normal = [abs(x) for code, x in finite.items() if x and is_normal[code]]
    subnormal = [abs(x) for code, x in finite.items() if x and not is_normal[code]]
    assert facts.smallest_normal == (min(normal) if normal else None)
    assert facts.smallest_subnormal == (min(subnormal) if subnormal else None)


def test_formats_of_blocks():
    facts = softmma.format("nvfp4")
    assert (facts.block, facts.element.name, facts.scale.name) == (16, "e2m1", "ue4m3")
    assert softmma.format("mxfp8").name == "mxfp8_e4m3"
    assert softmma.format("half").max == 65504 and softmma.format("f64").max == np.finfo(float).max
    assert softmma.format("bf16").smallest_subnormal == ml_dtypes.finfo(ml_dtypes.bfloat16).smallest_subnormal
    for name in "fp8", "float9":
        with pytest.raises(LookupError, match=f"'{name}'"):
            softmma.format(name)


def test_instructions_of_a_format():
    """The name of several formats finds the instructions that have one of these formats, and finds all of the formats."""
    found = softmma.instructions(in_dtype="fp8")
    assert {i.a for i in found} | {i.b for i in found} >= {"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"}
    assert all({i.a, i.b, i.scale} & {"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"} for i in found)
    everything = softmma.instructions(every_n=True)
    for name in "tf32", "e2m1", "ue4m3":
        own = [i for i in everything if name in (i.a, i.b, i.scale)]
        assert list(softmma.instructions(every_n=True, in_dtype=name)) == own
    pair = softmma.instructions("H100", every_n=True, in_dtype="e4m3,e5m2", out_dtype="f16")
    assert pair and {(i.a, i.b, i.d) for i in pair} == {("e4m3", "e5m2", "f16")}
    scaled = softmma.instructions("B200", in_dtype="nvfp4")
    assert scaled and {(i.a, i.scale, i.scale_block) for i in scaled} == {("e2m1", "ue4m3", 16)}
    assert softmma.instructions("V100", in_dtype="e4m3") == []
    for wrong in {"in_dtype": "fp9"}, {"out_dtype": "fp9"}:
        with pytest.raises(LookupError, match="fp9"):
            softmma.instructions(**wrong)


def test_instruction():
    i = softmma.instruction("GH200", "QGMMA.64x8x32.F32.E4M3.E4M3")
    assert (i.arch, i.name, i.shape) == ("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3", (64, 8, 32))
    assert (i.a, i.b, i.c, i.d, i.scale) == ("e4m3", "e4m3", "f32", "f32", None)
    assert i.model == "T-FDPA" and i.parameters == {"F": 13, "L": 32, "rho": "RZ-E8M13", "e_zero": -133}
    assert any("H100" in text for text in i.evidence) and i.basis == "recorded"
    assert softmma.instruction("B300", "tcgen05.m64n8k16.f32.bf16.bf16").basis == "reported"
    assert "QGMMA.64x8x32.F32.E4M3.E4M3" in i.aliases
    assert "wgmma.m64n8k32.f32.e4m3.e4m3" in repr(i) and "<table>" in i._repr_html_()
    with pytest.raises(LookupError, match="nearest"):
        softmma.instruction("H100", "wgmma.m64n8k33.f32.e4m3.e4m3")


def test_instructions_are_values():
    i = softmma.instruction("A100", "HMMA.16816.F32")
    for other in copy.deepcopy(i), pickle.loads(pickle.dumps(i)):
        assert other == i and hash(other) == hash(i)
        assert softmma.dot([1], [2], on=other) == 2


def test_lists():
    assert {i.arch for i in softmma.instructions("cdna3-r1")} == {"cdna3-r1"}
    assert all(i.arch != "cdna3-r1" for i in softmma.instructions())
    listed = softmma.instructions("H100")
    assert "wgmma.m64n8k16" in repr(listed) and "<table>" in listed._repr_html_()
    assert len(softmma.instructions("H100", every_n=True)) > len(listed)
    with pytest.raises(LookupError, match="nearest.*H100"):
        softmma.instructions("H1000")
    assert ("MI300X", "cdna3", "CDNA 3", "AMD") in softmma.gpus()


@pytest.mark.parametrize(
    "on, words, name",
    [
        ("H100", "wgmma fp8", "wgmma.m64n8k32.f32.e4m3.e4m3"),
        ("H100", "WGMMA half", "wgmma.m64n8k16.f32.f16.f16"),
        ("B200", "nvfp4", "tcgen05.m128n8k64.block16.f32.e2m1.e2m1.ue4m3"),
        ("B200", "mxfp8 e5m2", "tcgen05.m128n8k32.block32.f32.e4m3.e5m2.ue8m0"),
        ("MI300X", "bf8", "v_mfma_f32_16x16x32_bf8_bf8"),
        (None, "vdpbf16ps", "vdpbf16ps"),
    ],
)
def test_find(on, words, name):
    assert name in [i.name for i in softmma.find(on, words)]


@pytest.mark.parametrize("name", ["mxfp8_e4m3", "mxfp4", "nvfp4"])
def test_find_blocks(name):
    f = softmma.format(name)
    for i in softmma.find(None, name):
        assert (i.a, i.scale, i.scale_block) == (f.element.name, f.scale.name, f.block)


def test_find_nothing():
    with pytest.raises(
        LookupError, match="H100 has no instruction that answers to 'wgmma fp4'; inputs there are: .*e4m3"
    ):
        softmma.find("H100", "wgmma fp4")


# ---- Custom units ----


def test_custom():
    original = softmma.instruction("H100", "HMMA.16816.F32")
    a, b, c = [-8192, 1, 1, 1], [1024, -0.5, -0.25, -0.125], 2.0**23
    same = softmma.Custom(original.to_custom())
    assert softmma.dot(a, b, c, on=same) == softmma.dot(a, b, c, on=original) == -0.75
    narrower = softmma.Custom({**original.to_custom(), "alignment_bits": 24})
    assert softmma.dot(a, b, c, on=narrower) == softmma.dot(a, b, c, on="A100", instr="HMMA.16816.F32") == -0.5
    assert isinstance(narrower, softmma.Instruction) and narrower.parameters["F"] == 24
    for other in copy.deepcopy(narrower), pickle.loads(pickle.dumps(narrower)):
        assert softmma.dot(a, b, c, on=other) == -0.5
    units = softmma.compare(np.ones((2, 16)), np.ones((16, 2)), ["H100", narrower])
    assert units[1].different == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: softmma.gpu("H100\0x"),
        lambda: softmma.instructions("H100\0x"),
        lambda: softmma.instruction("H100", "HMMA.16816.F32\0x"),
        lambda: softmma.instruction("H100\0x", "HMMA.16816.F32"),
        lambda: softmma.dtype("f16\0z"),
        lambda: softmma.format("f16\0z"),
        lambda: softmma.matmul([[1]], [[1]], in_dtype="f16\0z"),
        lambda: softmma.matmul([[1]], [[1]], in_dtype="f16,f16\0z"),
        lambda: softmma.matmul([[1]], [[1]], on="H100:f16\0z"),
        lambda: softmma.rows(1, "edge\0x", on=softmma.instructions("H100")[0]),
        lambda: softmma.match([[1]], [[1]], [[1]], on=["H100\0x"]),
        lambda: softmma.campaign("model", on="H100\0x", rows=1),
        lambda: softmma.campaign("model", on="H100\0x", open=True),
        lambda: softmma.experiment("monotonicity", small=True, parameters={"pairs": "2\0x"}),
        lambda: softmma.sweep("k=64..64\0x", on="H100"),
    ],
)
def test_names_do_not_end_at_a_zero_character(call):
    with pytest.raises(ValueError, match="zero character|null character"):
        call()


def test_customs_are_equal_if_their_descriptions_are():
    description = softmma.instruction("H100", "HMMA.16816.F32").to_custom()
    one, other = (softmma.Custom({**description, "nan": nan}) for nan in ("all-ones", "quiet"))
    same = softmma.Custom(dict(reversed(one.to_custom().items())))
    assert same == one != other and hash(same) == hash(one) and {one: 1, other: 2}[same] == 1
    assert one != softmma.instruction("H100", "HMMA.16816.F32") and one != "custom"
    a, b = np.full((2, 16), np.inf), np.zeros((16, 2))
    assert [x.d.view(np.uint32).max() for x in softmma.compare(a, b, [one, other])] == [0x7FFFFFFF, 0x7FC00000]
    with pytest.raises(ValueError, match="given twice"):
        softmma.compare(a, b, [one, same])
    copied = pickle.loads(pickle.dumps(softmma.Custom(REPOSITORY / "examples" / "custom" / "sticky.json")))
    read = softmma.Custom(REPOSITORY / "examples" / "custom" / "sticky.json")
    assert copied == read and {copied} == {read}


def test_custom_from_a_file():
    path = REPOSITORY / "examples" / "custom" / "sticky.json"
    assert softmma.dot([1, 2**-14, 2**-14], [1, 2**-10, 2**-14], on=softmma.Custom(path)) == np.float32(1.0000001)
    with pytest.raises(FileNotFoundError):
        softmma.Custom("no-such.json")


@pytest.mark.parametrize(
    "change, line",
    [
        ({"alignment_bits": 99}, 'custom:.*"alignment_bits".*0 to 50'),
        ({"rounding": "nearest"}, "toward-zero"),
        ({"colour": "red"}, '"colour"'),
    ],
)
def test_wrong_custom(change, line):
    with pytest.raises(ValueError, match=line):
        softmma.Custom({**softmma.instruction("H100", "HMMA.16816.F32").to_custom(), **change})


def test_targets():
    """Functions accept "GPU:FORMAT" and "GPU:INSTRUCTION" as targets, like the command."""
    generator = np.random.default_rng(2)
    a, b = (generator.standard_normal(shape).astype(np.float32) for shape in ((3, 40), (40, 2)))
    instr = "mma.m16n8k32.f32.e4m3.e5m2.f32"
    for target, given in [
        ("H100:e4m3", {"on": "H100", "in_dtype": "e4m3"}),
        ("H100:e4m3:e5m2", {"on": "H100", "in_dtype": ("e4m3", "e5m2")}),
        (f"H100:{instr}", {"on": "H100", "instr": instr}),
        ("gfx942:sramecc+:xnack-", {"on": "MI300X", "in_dtype": "f32"}),
        ("gfx942:sramecc+:xnack-:bf16", {"on": "MI300X", "in_dtype": "bf16"}),
    ]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_array_equal(softmma.matmul(a, b, on=target), softmma.matmul(a, b, **given))
    both = softmma.compare(a, b, ["gfx942:sramecc+:xnack-", "gfx942:sramecc+:bf16", "H100"], in_dtype="f16")
    assert [pair["different"] for pair in both.value["pairs"]][0] > 0  # f16 and bf16 of one GPU
    with pytest.raises(ValueError, match="zero character"):
        softmma.matmul(a, b, on="H100\0:f16")
    with pytest.raises(ValueError, match="in_dtype: on='H100:e4m3' already gives it"):
        softmma.matmul(a, b, on="H100:e4m3", in_dtype="f16")
    with pytest.raises(ValueError, match="instr: on='H100:e4m3' already gives it"):
        softmma.matmul(a, b, on="H100:e4m3", instr=instr)
    with pytest.raises(LookupError, match="on: .*e9m9"):
        softmma.matmul(a, b, on="H100:e9m9")
    with pytest.raises(LookupError, match="on: 'fp8' names several formats; type e4m3 or e5m2"):
        softmma.matmul(a, b, on="H100:fp8")


@pytest.mark.parametrize("arch", sorted({i.arch for i in softmma.instructions()}))
def test_gpu_has_every_instruction(arch):
    found = softmma.gpu(arch)
    every = softmma.instructions(arch, every_n=True)
    assert sum(one.instructions for one in found.sums) == found.instructions == len(every)
    assert {one.d for one in found.sums} == {i.d for i in every} and len(found.sums) < 26
    assert {text for i in every for text in i.evidence} == set(found.evidence)
