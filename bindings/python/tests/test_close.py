"""assert_close: products of every unit pass, products of faulty kernels fail."""

import ml_dtypes
import numpy as np
import pytest

import softmma
import softmma.recipes

TIER = "check"
GPUS = ["V100", "T4", "A100", "L40S", "H100", "B200", "MI100", "MI250X", "MI300X"]


@pytest.fixture
def operands(generator):
    a = generator.standard_normal((24, 384)).astype(np.float16)
    return a, generator.standard_normal((384, 40)).astype(np.float16)


@pytest.mark.parametrize("gpu", GPUS)
def test_products_pass(operands, gpu):
    a, b = operands
    softmma.assert_close(softmma.matmul(a, b, on=gpu), a, b, on=gpu)


@pytest.mark.parametrize("gpu", GPUS)
def test_what_is_wrong_does_not(operands, gpu):
    a, b = operands
    d = softmma.matmul(a, b, on=gpu)
    one = d.copy()
    one[3, 7] += 0.01
    wrong = [np.zeros_like(d), 2 * d, 1.1 * d, one, softmma.matmul(a[:, :-16], b[:-16], on=gpu), d[::-1].copy()]
    for x in wrong:
        with pytest.raises(AssertionError, match=r"elements cannot be " + gpu):
            softmma.assert_close(x, a, b, on=gpu)


def test_one_unit_must_have_all(operands):
    """A product must satisfy the bounds of one unit in all elements. Ada retains 13 bits in sums of FP8, Blackwell
    25."""
    a, b = operands
    ada = softmma.matmul(a, b, on="L40S", in_dtype="e4m3")
    softmma.assert_close(ada, a, b, on=["B200", "L40S"], in_dtype="e4m3")
    with pytest.raises(AssertionError, match="cannot be B200's"):
        softmma.assert_close(ada, a, b, on="B200", in_dtype="e4m3")


def test_message(operands):
    a, b = operands
    d = softmma.matmul(a, b, on="A100")
    d[3, 7] = np.nan
    with pytest.raises(AssertionError, match=r"^1 of 960 elements cannot be A100's \(mma.*\[3, 7\]: got nan, exact "):
        softmma.assert_close(d, a, b, on="A100")


@pytest.mark.parametrize("d", ["e6m9", "e4m2"])
def test_encodings(d):
    """D in a format without a dtype is an array of encodings."""
    text = {"softmma-unit": 1, "name": "unit", "algorithm": "T-FDPA", "k": 4, "a": "bf16", "b": "bf16", "d": d,
            "alignment_bits": 25, "block": 4, "rounding": "nearest-even", "zero_exponent": -133}  # fmt: skip
    unit = softmma.Custom(text)
    a = np.array([[1, 2, 3, 4], [-5, 0.5, 7, 1]], ml_dtypes.bfloat16)
    b = np.ones((4, 3), ml_dtypes.bfloat16)
    result = softmma.matmul(a, b, on=unit)
    assert result.dtype.kind == "u"
    softmma.assert_close(result, a, b, on=unit)
    with pytest.raises(AssertionError, match="cannot be unit's.*exact"):
        softmma.assert_close(result + result.dtype.type(4), a, b, on=unit)


@pytest.mark.parametrize("key", [{"widen": "f16"}, {"product_limit": 10}])
def test_infinities_of_factors_and_products(key):
    """A unit whose factors or products become infinite returns NaN where the exact sum is infinite."""
    step = {"take": 4, "join": "chain", "start": "c", "alignment_bits": 25, "output": "f32", "rounding": "nearest-even"}
    unit = softmma.Custom({"softmma-unit": 1, "name": "unit", "algorithm": "composition", "k": 4, "a": "bf16",
                           "b": "bf16", "d": "f32", **key, "steps": [step]})  # fmt: skip
    a = np.array([[2.0**20, -np.inf, 0, 0]], ml_dtypes.bfloat16)
    b = np.array([[1], [1], [0], [0]], ml_dtypes.bfloat16)
    result = softmma.matmul(a, b, on=unit)
    assert np.isnan(result).all()
    softmma.assert_close(result, a, b, on=unit)


def test_c_and_factors(operands, generator):
    a, b = operands
    c = generator.standard_normal((24, 40)).astype(np.float32)
    d = softmma.matmul(a, b, c, on="H100", alpha=0.5, beta=-3)
    softmma.assert_close(d, a, b, c, on="H100", alpha=0.5, beta=-3)
    with pytest.raises(AssertionError):
        softmma.assert_close(d, a, b, on="H100", alpha=0.5)


def test_stored_formats(operands):
    a, b = operands
    d = softmma.matmul(a, b, on="H100")
    for kind in (ml_dtypes.bfloat16, np.float16, ml_dtypes.float8_e5m2, np.float64):
        softmma.assert_close(d.astype(kind), a, b, on="H100")
    with pytest.raises(AssertionError):
        softmma.assert_close(d.astype(ml_dtypes.bfloat16).astype(np.float32), a, b, on="H100")


@pytest.mark.parametrize(
    "plan",
    [
        {"name": "slices", "d": "bf16", "sum": [{"deal": "contiguous", "parts": 3, "grain": 16, "total": "d"}]},
        {"name": "lanes", "sum": [{"deal": "interleaved", "parts": 8, "tile": 16, "fold": "halving"}], "group": 8},
        "cutlass:2xacc",
        {"name": "epilogue", "d": "f16", "epilogue": ["alpha", "bias", "scale-d", "relu"]},
    ],
)
def test_plans(operands, generator, plan):
    a, b = operands
    plan = softmma.Plan(plan)
    options = {"alpha": 0.5, "bias": generator.standard_normal(40), "scale_d": 3.0} if plan.name == "epilogue" else {}
    d = softmma.matmul(a, b, on="A100", plan=plan, **options)
    softmma.assert_close(d, a, b, on="A100", plan=plan, **options)
    wrong = d.copy()
    wrong[3, 7] += np.abs(d.astype(np.float64)).max() / 8
    for x in (wrong, softmma.matmul(a[:, :-16], b[:-16], on="A100", plan=plan, **options)):
        with pytest.raises(AssertionError, match=rf"cannot be A100's \(mma.*, {plan.name}\)"):
            softmma.assert_close(x, a, b, on="A100", plan=plan, **options)


def test_scaled_parts(generator):
    a, b = generator.standard_normal((8, 300)), generator.standard_normal((300, 5))
    scales = {"scale_a": generator.uniform(1, 2, (8, 3)), "scale_b": generator.uniform(1, 2, (3, 5))}
    d = softmma.matmul(a, b, in_dtype="e4m3", plan="deepgemm", **scales)
    softmma.assert_close(d, a, b, in_dtype="e4m3", plan="deepgemm", **scales)
    with pytest.raises(AssertionError, match="deepgemm"):
        softmma.assert_close(d * 1.1, a, b, in_dtype="e4m3", plan="deepgemm", **scales)


def test_batches_and_vectors(generator):
    a, b = generator.standard_normal((3, 1, 5, 64)), generator.standard_normal((2, 64, 7))
    d = softmma.matmul(a, b, on="H100", in_dtype="bf16")
    softmma.assert_close(d, a, b, on="H100", in_dtype="bf16")
    with pytest.raises(AssertionError, match=r"\[2, 1, 4, 6\]"):
        d[2, 1, 4, 6] = 1000
        softmma.assert_close(d, a, b, on="H100", in_dtype="bf16")
    with pytest.raises(ValueError, match=r"d is \(3, 2, 5, 6\), but the product is \(3, 2, 5, 7\)"):
        softmma.assert_close(d[..., :6], a, b, on="H100", in_dtype="bf16")
    for x, y in ((a[0, 0, 0], b[0]), (a[0, 0], b[0, :, 0]), (a[0, 0, 0], b[0, :, 0])):
        softmma.assert_close(softmma.matmul(x, y, in_dtype="f16"), x, y, in_dtype="f16")


def test_block_scaled_and_integers(generator):
    a, b = generator.standard_normal((8, 128)), generator.standard_normal((128, 8))
    x, y = softmma.quantize(a, "nvfp4"), softmma.quantize(b, "nvfp4", axis=-2)
    scales = {"scale_a": x.scales, "scale_b": y.scales}
    d = softmma.matmul(x.values, y.values, on="B200", **scales)
    softmma.assert_close(d, x.values, y.values, on="B200", **scales)
    i, j = (generator.integers(-128, 128, (8, 8), dtype=np.int8) for _ in range(2))
    d = softmma.matmul(i, j, on="A100")
    softmma.assert_close(d, i, j, on="A100")
    with pytest.raises(AssertionError):
        softmma.assert_close(d + 1, i, j, on="A100")


def test_special_values():
    a, b = np.float16([[np.inf, 1], [np.nan, 1], [1, 1]]), np.float16([[1], [2]])
    softmma.assert_close(softmma.matmul(a, b, on="H100"), a, b, on="H100")
    with pytest.raises(AssertionError, match="got 3.0, expected inf"):
        softmma.assert_close(np.float32([[3], [np.nan], [3]]), a, b, on="H100")


def test_errors(operands):
    with pytest.raises(ValueError, match="bias: it takes a plan"):
        softmma.assert_close(np.zeros((24, 40)), *operands, bias=np.zeros(40))
    with pytest.raises(ValueError, match="plan 'x': K = 384: .*beyond K"):
        plan = {"name": "x", "sum": [{"deal": "list", "list": [[[0, 400]]]}]}
        softmma.assert_close(np.zeros((24, 40)), *operands, plan=plan)
    with pytest.raises(ValueError, match="the list of GPUs is empty"):
        softmma.assert_close(np.zeros((24, 40)), *operands, on=[])
    with pytest.raises(LookupError):
        softmma.assert_close(np.zeros((24, 40)), *operands, on="H1000")


@pytest.mark.all
def test_tensors(operands):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    a, b = (torch.from_numpy(x) for x in operands)
    d = torch.from_numpy(softmma.matmul(*operands, on="H100"))
    softmma.assert_close(d, a, b, on="H100")
    softmma.assert_close(d.bfloat16(), a, b, on="H100")
    with pytest.raises(AssertionError):
        softmma.assert_close(d * 1.1, a, b, on="H100")


TIES = np.float32([[2049, -2049], [2051, 4098]])
"""Numbers halfway between two numbers of tf32."""
ROUNDED = {
    "nearest-away": [[2050, -2050], [2052, 4100]],
    "toward-zero": [[2048, -2048], [2050, 4096]],
    "nearest-even": [[2048, -2048], [2052, 4096]],
    "toward-positive": [[2050, -2048], [2052, 4100]],
    "toward-negative": [[2048, -2050], [2050, 4096]],
}


@pytest.mark.parametrize("mode", ROUNDED)
def test_rounding_of_operands(mode):
    """If no rounding of A and B is named, D passes if it is the product for any rounding. With a name, only that
    rounding passes. The rounding also applies to multipliers, traces, comparisons and recipes."""
    eye, of = np.eye(2, dtype=np.float32), {"on": "A100", "in_dtype": "tf32"}
    d = softmma.matmul(TIES, eye, round_in=mode, **of)
    assert d.tolist() == ROUNDED[mode]
    turned = np.asfortranarray(np.repeat(TIES, 2, axis=1))[:, ::2]
    assert softmma.matmul(turned, eye, round_in=mode, **of).tolist() == ROUNDED[mode]
    plan = {"name": "p", "round_in": mode}
    assert softmma.matmul(TIES, eye, plan=plan, **of).tolist() == ROUNDED[mode]
    assert softmma.Multiplier(eye, round_in=mode, **of).matmul(TIES).tolist() == ROUNDED[mode]
    assert softmma.Multiplier(eye, plan=plan, **of).matmul(TIES).tolist() == ROUNDED[mode]
    assert softmma.dot(TIES[0, :1], [1], round_in=mode, **of).item() == ROUNDED[mode][0][0]
    assert softmma.trace(TIES, eye, at=(0, 1), round_in=mode, **of).targets[0].result.item() == ROUNDED[mode][0][1]
    units = softmma.compare(TIES, eye, ["A100", "RTX 3090"], in_dtype="tf32", round_in=["nearest-away", mode])
    assert units[1].d.tolist() == ROUNDED[mode] and units[1].unit_error == 0 and f"tf32, {mode}" in str(units)
    unit = softmma.recipes.Unit("A100", softmma.recipes.recipe("tf32", round_in=mode))
    for measure in False, True:
        a = unit.prepare(TIES, "activations", "forward", "a", measure=measure)
        assert unit.multiply(a, unit.prepare(eye, "weights", "forward", "b")).tolist() == ROUNDED[mode]
    softmma.assert_close(d, TIES, eye, **of)
    softmma.assert_close(d, TIES, eye, round_in=mode, **of)
    for other in ROUNDED:
        if other != mode:
            with pytest.raises(AssertionError, match=f"cannot be A100's .*{other}"):
                softmma.assert_close(d, TIES, eye, round_in=other, **of)
            with pytest.raises(AssertionError, match="cannot be"):
                softmma.assert_close(d, TIES, eye, plan={"name": "p", "round_in": other}, **of)
    with pytest.raises(AssertionError, match="cannot be"):
        softmma.assert_close(d + 8, TIES, eye, **of)


def test_usual_rounding_of_operands():
    """By default operands are rounded as libraries round them: TF32 as cuBLAS does, with ties away from zero (an RTX
    3090 gives 1025), on Hopper to even; XF32 toward zero; all other formats to nearest even. NaN remains NaN."""
    one = np.ones((1, 1), np.float32)

    def product(x, gpu, format, **more):
        return softmma.matmul(np.float32([[x]]), one, on=gpu, in_dtype=format, **more).item()

    assert product(1024.5, "RTX 3090", "tf32") == 1025 and product(-1024.5, "H100", "tf32") == -1024
    assert product(1024.9, "MI300X", "tf32") == 1024
    assert product(2049, "A100", "f16") == 2048 and product(2049, "A100", "f16", round_in="toward-positive") == 2050
    low_nan = np.array([[0x7F800001]], np.uint32).view(np.float32)
    largest, subnormal = float(np.finfo(np.float32).max), 2.0**-137
    for mode in ROUNDED:
        assert np.isnan(softmma.matmul(low_nan, one, on="A100", in_dtype="tf32", round_in=mode)).all()
    assert product(largest, "A100", "tf32", round_in="toward-zero") == float.fromhex("0x1.ffcp127")
    with pytest.warns(RuntimeWarning, match="a: rounded to tf32, 1 values became infinite"):
        assert product(largest, "A100", "tf32") == np.inf
    assert softmma.round(np.float32([subnormal]), "tf32", "nearest-away").view(np.uint32).tolist() == [0x2000]
    with pytest.raises(ValueError, match="round_in: 'up' is not one of nearest-even"):
        product(1, "A100", "tf32", round_in="up")
    with pytest.raises(ValueError, match="round_in: .* a rule of their own"):
        q = softmma.quantize(np.ones((1, 32), np.float32), "mxfp8_e4m3")
        softmma.matmul(q.values, q.values.T, on="B200", scale_a=q.scales, scale_b=q.scales.T, round_in="toward-zero")
