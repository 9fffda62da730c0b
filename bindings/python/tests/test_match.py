"""match, claim and gemm return for arrays what the command returns for files."""

import os
import signal
import threading

import numpy as np
import pytest

import softmma
from conftest import bits

TIER = "check"
GENERATOR = np.random.default_rng(7)
A, B = GENERATOR.standard_normal((8, 64)), GENERATOR.standard_normal((64, 8))
HALVES = {"name": "halves", "sum": [{"deal": "contiguous", "parts": 2}]}


# ---- gemm ----


@pytest.mark.parametrize(
    "options",
    [
        {"in_dtype": "f16", "alpha": 2, "beta": 0.5, "scaling": "operands"},
        {"in_dtype": "tf32", "round_in": "toward-zero"},
        {"in_dtype": "e4m3", "on": "B200"},
        {"in_dtype": ("e4m3", "e5m2"), "promote_every": 32},
        {"in_dtype": "bf16", "plan": HALVES},
        {"instr": "mma.m16n8k16.f32.f16.f16.f32", "split_k": 2},
    ],
)
@pytest.mark.filterwarnings("ignore:.*rounded to:RuntimeWarning")
def test_gemm_is_matmul(options):
    c = None if "plan" in options else np.ones((8, 8), np.float32)
    product = softmma.gemm(A, B, c, **options)
    assert bits(product.d).tolist() == bits(softmma.matmul(A, B, c, **options)).tolist()
    assert (product.m, product.n, product.k) == (8, 8, 64)
    turned = softmma.gemm(A.T.copy(), B.T.copy(), c, transpose_a=True, transpose_b=True, **options)
    assert bits(turned.d).tolist() == bits(product.d).tolist()
    assert any("a: f64 rounded to" in note for note in product.notes)


def test_gemm_takes_encodings_and_quantizes():
    x, y = (GENERATOR.integers(0, 120, shape).astype("u1") for shape in ((8, 64), (64, 8)))
    options = {"on": "H100", "in_dtype": "e4m3"}
    assert bits(softmma.gemm(x, y, **options).d).tolist() == bits(softmma.matmul(x, y, **options)).tolist()
    a, b = softmma.quantize(A, "mxfp8_e4m3", axis=1), softmma.quantize(B, "mxfp8_e4m3", axis=0)
    whole = softmma.matmul(a.values, b.values, on="B200", in_dtype="mxfp8", scale_a=a.scales, scale_b=b.scales)
    assert bits(softmma.gemm(A, B, on="B200", in_dtype="mxfp8").d).tolist() == bits(whole).tolist()


@pytest.mark.parametrize(
    ("dtype", "options"),
    [
        ("f8", {"in_dtype": "f16", "method": "words", "accuracy": 1e-9}),
        ("f4", {"in_dtype": "bf16", "method": "markidis", "words": 2, "sum": "f32", "subnormals": "off"}),
        ("f8", {"in_dtype": "s8", "method": "ozaki", "slices": 3, "slice_bits": 6, "products": "all"}),
        ("f4", {"in_dtype": "e4m3", "method": "fallback", "through": "bf16"}),
        ("f2", {"in_dtype": "f16", "method": "two-level", "promote_every": 32}),
    ],
)
def test_methods_are_the_commands(command, tmp_path, monkeypatch, dtype, options):
    monkeypatch.chdir(tmp_path)
    a, b = A.astype(dtype), B.astype(dtype)
    np.save("a.npy", a)
    np.save("b.npy", b)
    given = [f"--{name.replace('in_dtype', 'in').replace('_', '-')}={value}" for name, value in options.items()]
    command("gemm", "a.npy", "b.npy", "-o", "d.npy", "--on", "H100", *given)
    product = softmma.gemm(a, b, on="H100", **options)
    assert product.d.dtype == np.load("d.npy").dtype and bits(product.d).tolist() == bits(np.load("d.npy")).tolist()
    assert product.method == options["method"]


def test_gemm_complaints():
    for options, words in (
        ({"in_dtype": "f16", "method": "words"}, "words P or accuracy X is missing"),
        ({"in_dtype": "f16", "words": 2}, "words: this is for method words, markidis; name one"),
        ({"in_dtype": "f16", "method": "words", "words": 2, "alpha": 2}, "alpha: method words computes A B alone"),
        ({"in_dtype": "f16", "bias": np.zeros(8)}, "bias: it takes a plan"),
        ({"in_dtype": "f16", "plan": HALVES, "scale_d": 2}, "scale_d: the plan of halves has no place for it"),
        ({"in_dtype": "f16", "transpose_a": True}, "transpose_a, transpose_b"),
        ({"in_dtype": "tf32", "round_in": "up"}, "round_in: 'up' is no rounding mode"),
    ):
        with pytest.raises(ValueError, match=words):
            softmma.gemm(A, B, **options)


# ---- match ----


def test_plan_is_found_again():
    plan = softmma.plan("cublaslt:13.1", on="H100", in_dtype="f16", k=256, algo=66, stages=35, splitk=2)
    a, b = np.tile(A, 4).astype("f2"), np.tile(B, (4, 1)).astype("f2")
    d = softmma.matmul(a, b, on="H100", plan=plan, out_dtype="f32")
    found = softmma.match(a, b, d, on="H100")
    assert found and found.near is None and found.round_in is None and not found.notes
    fit = found.fits[0]
    assert ("hopper", "wgmma.m64n8k16.f32.f16.f16") in fit.instructions and fit.difference is None
    assert any(library.library.startswith("cublaslt:13.1") for library in fit.libraries)
    assert bits(softmma.matmul(a, b, on="H100", plan=fit.plan)).tolist() == bits(d).tolist()
    assert softmma.claim(a, b, d, fit.plan, on="H100")
    assert not softmma.claim(a, b, d, "none", on="H100")


def test_rounding_is_found():
    a, b = A.astype("f4"), B.astype("f4")
    options = {"on": "A100", "in_dtype": "tf32"}
    d = softmma.matmul(a, b, round_in="toward-zero", **options)
    found = softmma.match(a, b, d, on=softmma.find("A100", "tf32")[0], in_dtype="tf32")
    assert found and found.round_in == "toward-zero" and "toward-zero" in found.round_in_tried
    assert not softmma.match(a, b, d, round_in="nearest-even", **options)
    assert softmma.claim(a, b, d, "A100:tf32", in_dtype="tf32").round_in == "toward-zero"


def test_nothing_fits():
    a, b = A.astype("f2"), B.astype("f2")
    whole = softmma.matmul(a, b, on="V100")
    d = whole.copy()
    d[3, 5] += 1
    found = softmma.match(a, b, d, on="V100")
    assert not found and found.near is not None
    assert found.near.difference.different == 1 and found.near.difference.first == (3, 5)
    assert 0 < found.distance < 0.1
    assert abs(softmma.match(a, b, 3 * whole, on="V100").factor - 3) < 0.1
    assert softmma.match(a.T, b.T, softmma.matmul(a, b), on="H100", transpose_a=True, transpose_b=True)


def test_interrupt():
    """Control-C ends a search of all plans of all GPUs."""
    a, b = np.tile(A, 64).astype("f2"), np.tile(B, (64, 1)).astype("f2")
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        softmma.match(a, b, np.ones((8, 8), "f4"))
    timer.join()


def test_complaints():
    a, b, d = A.astype("f2"), B.astype("f2"), np.zeros((8, 8), "f4")
    for error, words, call in (
        (LookupError, "nope", lambda: softmma.match(a, b, d, on="nope")),
        (ValueError, "on: the list is empty", lambda: softmma.match(a, b, d, on=[])),
        (ValueError, "D, d, is 8 x 7, but must be 8 x 8", lambda: softmma.match(a, b, d[:, :7], on="V100")),
        (
            ValueError,
            "scale_a and scale_b go together",
            lambda: softmma.match(a, b, d, on="V100", scale_a=np.ones((8, 1))),
        ),
        (ValueError, "give its format with out_dtype", lambda: softmma.match(a, b, A[:, :8], out_dtype="f32")),
        (ValueError, "in_dtype: a holds 16-bit integers", lambda: softmma.match(a.view("u2"), b, d)),
        (ValueError, "beta: needs c", lambda: softmma.match(a, b, d, beta=2)),
        (ValueError, "claim: .* does not multiply f16 by f16", lambda: softmma.claim(a, b, d, "H100:bf16")),
        (LookupError, "m16", lambda: softmma.claim(a, b, d, "H100:m16")),
        (TypeError, "complex128", lambda: softmma.match(a, b, d.astype(complex))),
    ):
        with pytest.raises(error, match=words):
            call()


def test_targets_behind_a_colon():
    """GPU:FORMAT gives the formats of the search, GPU:INSTRUCTION one instruction; other words are refused."""
    a, b = A.astype(np.float16), B.astype(np.float16)
    d = softmma.matmul(a, b, on="V100")
    assert softmma.match(a, b, d, on="V100:f16")
    one = softmma.match(a, b, d, on="V100:mma.m8n8k4.f32.f16.f16.f32")
    assert {i for fit in one.fits for i in fit.instructions} == {("volta", "mma.m8n8k4.f32.f16.f16.f32")}
    assert not softmma.match(a, b, d, on="H100:mma.m16n8k16.f32.f16.f16.f32")
    with pytest.raises(LookupError):
        softmma.match(a, b, d, on="V100:nonsense")
    with pytest.raises(ValueError, match="another target has other formats"):
        softmma.match(a, b, d, on=["V100:f16", "H100:bf16"])
    with pytest.raises(ValueError, match="in_dtype gives the formats"):
        softmma.match(a, b, d, on="V100:f16", in_dtype="f16")
    with pytest.raises(ValueError, match="sparse: it does not multiply two whole matrices"):
        softmma.match(a, b, d, on="A100:mma.sp.m16n8k16.f32.f16.f16.f32")
    for what in "V100", "V100:f16", "V100:f16:f16", "V100:f16,f16", "V100:mma.m8n8k4.f32.f16.f16.f32":
        assert softmma.claim(a, b, d, what), what
    with pytest.raises(LookupError, match="no instruction for nvfp4"):
        softmma.claim(a, b, d, "H100:nvfp4")
    with pytest.raises(ValueError, match="'none' is a plan; on, the name of its GPU, is missing"):
        softmma.claim(a, b, d, "none")
