"""Compares recipes with their formulas, written here independently for one element, row or block at a time."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tensors import bits, tensors

import softmma
from softmma import recipes

TIER = "check"

F32 = np.float32


@pytest.fixture
def generator():
    return np.random.default_rng(17)


def scale_of(amax, greatest):
    """Returns the scale of Transformer Engine's compute_scale_from_amax."""
    if amax == 0 or not np.isfinite(amax):
        return F32(1)
    with np.errstate(over="ignore"):
        return min(F32(greatest) / F32(amax), np.finfo(F32).max)


def cut(scale):
    """Returns the largest power of two that is not above the scale."""
    return F32(2.0 ** np.floor(np.log2(np.float64(scale))))


def test_rounding_mode_of_one_operand():
    """A product gets the mode of the operand that it rounds; the other one is rounded already."""
    unit = recipes.Unit("H100", recipes.recipe("weight_only_s8", round_in="toward-zero"))
    x, w = np.float32([[1 + 2**-7 - 2**-20]]), np.float32([[127]])  # x becomes 1
    weights, activations = (unit.operand(role, "forward") for role in ("weights", "activations"))
    assert unit.arguments(activations, weights, "forward")["round_in"] == "toward-zero"
    assert unit.arguments(weights, activations, "forward")["round_in"] == "toward-zero"
    a, b = unit.prepare(x, "activations", "forward", "a"), unit.prepare(w, "weights", "forward", "b")
    expected = unit.multiply(a, b).item()
    assert expected == b.values.item() and unit.multiply(a._replace(values=x), b).item() == expected
    assert unit.multiplier(b, activations).multiply(a._replace(values=x)).item() == expected


def test_names():
    for made in recipes.recipes():
        assert recipes.recipe(made.name) == made and recipes.recipe(made) is not None
        assert made.source or made.name in ("fp32", "tf32", "bf16", "fp16", "fp16_fp16")
        assert made.name in str(made)
    assert recipes.recipe("fp8_delayed", history=3).activations.history == 3
    assert recipes.recipe("fp8_rowwise", wgrad="bf16").operand("gradients", "wgrad") == recipes.Operand("bf16")
    assert recipes.recipe("fp8_tensorwise", promote=(128, 128)).promote == (128, 128)
    assert recipes.recipe(recipes.recipe("mxfp8"), promote=(128, 128), name="own").name == "own"
    assert recipes.recipe("mxfp8", two_dimensional=True).weights == recipes.Operand("e4m3", "32x32", formula="te")
    assert recipes.recipe("mxfp4", scale_rounding="even").weights.scale_rounding == "even"
    assert recipes.recipe("deepseek", formula="deepseek").gradients.formula == "deepseek"
    assert recipes.recipe("deepseek", formula="te") != recipes.recipe("fp8_blockwise")
    assert recipes.recipe("weight_only_nvfp4", formula="modelopt").source.startswith("ModelOpt")
    four_or_six = recipes.recipe("nvfp4", formula="te_4over6", hadamard=False, stochastic=False, row_factors=True)
    assert four_or_six.gradients == recipes.Operand("e2m1", "1x16") and four_or_six.activations.row_factors
    with pytest.raises(LookupError, match="recipe: 'fp9' is not one of fp32, tf32, bf16"):
        recipes.recipe("fp9")
    with pytest.raises(TypeError, match="recipe bf16 has no option margin"):
        recipes.recipe("bf16", margin=1)
    with pytest.raises(ValueError, match="scaling: '1x64' is not one of none, tensor, row, 1x128"):
        recipes.Operand("e4m3", "1x64")
    with pytest.raises(LookupError, match="format: 'e9m9' is not one of f64"):
        recipes.Operand("e9m9")


@pytest.mark.parametrize("side", ["a", "b"])
@pytest.mark.parametrize("scaling", ["tensor", "row", "1x128", "128x128"])
@pytest.mark.parametrize("power_of_two", [False, True])
def test_fp32_factors(generator, side, scaling, power_of_two):
    x = (generator.standard_normal((150, 300)) * np.exp(generator.standard_normal((150, 1)) * 4)).astype(F32)
    x[3], x[4, 5], x[140, 290] = 0, np.inf, np.nan
    operand = recipes.Operand("e4m3", scaling, power_of_two=power_of_two)
    p = recipes.prepare(x if side == "a" else x.T, operand, side)
    values = p.values if side == "a" else p.values.T
    factor = p.factor if side == "a" or p.factor is None else p.factor.T
    scales = p.scales if side == "a" or p.scales is None else p.scales.T
    rows, columns = {"tensor": (150, 300), "row": (1, 300), "1x128": (1, 128), "128x128": (128, 128)}[scaling]
    for r in range(0, 150, rows):
        for k in range(0, 300, columns):
            block = x[r : r + rows, k : k + columns]
            scale = scale_of(np.fmax.reduce(np.abs(block), None), 448)
            scale = cut(scale) if power_of_two else scale
            with np.errstate(over="ignore"):
                expected = softmma.round(block * scale, "e4m3")
            assert (bits(values[r : r + rows, k : k + columns]) == bits(expected)).all()
            if columns == 128:
                assert (scales[r : r + rows, k // 128] == F32(1) / scale).all() and factor is None
            else:
                assert factor[min(r, len(factor) - 1), 0] == F32(1) / scale and scales is None


def test_fp8_tensorwise_product(generator):
    """The scale is 448 / amax, and the product is multiplied by 1 / scale of both operands."""
    x, w = generator.standard_normal((5, 70)).astype(F32) * F32(1e-3), generator.standard_normal((70, 6)).astype(F32)
    unit = recipes.Unit("H100", "fp8_tensorwise")
    a, b = unit.prepare(x, "activations", "forward", "a"), unit.prepare(w, "weights", "forward", "b")
    sa, sb = scale_of(np.abs(x).max(), 448), scale_of(np.abs(w).max(), 448)
    expected = softmma.matmul(softmma.round(x * sa, "e4m3"), softmma.round(w * sb, "e4m3")) * (
        (F32(1) / sa) * (F32(1) / sb)
    )
    np.testing.assert_array_equal(unit.multiply(a, b), expected)
    assert expected.dtype == F32
    np.testing.assert_array_equal(unit.multiplier(b, a.operand).multiply(a), expected)
    # Backward FP8 products are promoted every 128 of K on a unit that retains 13 bits; gradients are E5M2.
    g = generator.standard_normal((5, 300)).astype(F32)
    v = generator.standard_normal((300, 6)).astype(F32)
    a, b = unit.prepare(g, "gradients", "dgrad", "a"), unit.prepare(v, "weights", "dgrad", "b")
    assert a.operand.format == "e5m2"
    behind = a.factor * b.factor
    fast = softmma.matmul(a.values, b.values)
    slow = softmma.matmul(a.values, b.values, promote_every=128)
    np.testing.assert_array_equal(unit.multiply(a, b, "dgrad"), slow * behind)
    np.testing.assert_array_equal(unit.multiply(a, b, "forward"), fast * behind)
    assert (fast != slow).any()
    everywhere = recipes.custom("e4m3", "e4m3", scaling="none", promote_every=128)
    by_unit = replace(everywhere, promote_everywhere=False)  # Ada retains 13 bits, Blackwell 25
    for recipe, on, promote in ((everywhere, "B200", 128), (by_unit, "L40S", 128), (by_unit, "B200", 0)):
        own = recipes.Unit(on, recipe)
        x, y = own.prepare(g, "activations", "forward", "a"), own.prepare(v, "weights", "forward", "b")
        d = softmma.matmul(x.values, y.values, on=on, promote_every=promote)
        np.testing.assert_array_equal(own.multiply(x, y), d)


def test_blockwise_product(generator):
    """Partial sums of 128 are multiplied by both factors and added in FP32 by FMA."""
    x, w = generator.standard_normal((3, 300)).astype(F32), generator.standard_normal((300, 4)).astype(F32)
    for name in "fp8_blockwise", "deepseek":
        unit = recipes.Unit("H100", name)
        a, b = unit.prepare(x, "activations", "forward", "a"), unit.prepare(w, "weights", "forward", "b")
        expected = np.zeros((3, 4), F32)
        for block in range(3):
            k = slice(128 * block, 128 * block + 128)
            part = softmma.matmul(a.values[:, k], b.values[k])
            factor = a.scales[:, block, None] * b.scales[None, block]
            for i in np.ndindex(3, 4):  # one rounding: exact in rational numbers
                exact = Fraction(float(factor[i])) * Fraction(float(part[i])) + Fraction(float(expected[i]))
                expected[i] = F32(float(exact))
        np.testing.assert_array_equal(unit.multiply(a, b), expected)
    assert np.array_equal(
        np.log2(recipes.Unit("H100", "fp8_blockwise").prepare(x, "activations", "forward", "a").scales) % 1,
        np.zeros((3, 3)),
    )


FRACTION_BITS = {"e4m3": 3, "e5m2": 2, "e2m3": 3, "e3m2": 2, "e2m1": 1, "s8": 7, "e4m3fnuz": 3}


def rounded_significand(x, fraction_bits):
    """Rounds a positive number to this many bits after the first, ties up."""
    unit = 2.0 ** (np.floor(np.log2(float(x))) - fraction_bits)
    return np.floor(float(x) / unit + 0.5) * unit


@pytest.mark.parametrize("format", ["e4m3", "e5m2", "e2m3", "e3m2", "e2m1"])
@pytest.mark.parametrize("rounding", recipes.SCALE_ROUNDINGS)
def test_powers_of_two(generator, format, rounding):
    greatest = float(softmma.round(np.inf, format))
    x = (generator.standard_normal((40, 64)) * np.exp2(generator.integers(-140, 120, (40, 1)))).astype(F32)
    x[1], x[2, 3] = 0, np.nan
    x[5, :32] = [greatest] * 32  # amax divided by the format's largest number is a power of two
    p = recipes.prepare(x, recipes.Operand(format, "1x32", scale_rounding=rounding), "a")
    for r in range(40):
        for block in range(2):
            part = x[r, 32 * block : 32 * block + 32]
            amax = float(np.abs(part).max())
            if np.isnan(amax):
                assert np.isnan(float(p.scales[r, block]))
                continue
            if amax == 0:
                e = -127
            elif rounding == "rceil":
                e = int(np.ceil(np.log2(float(F32(amax) * F32(1 / greatest)))))
            else:
                amax = rounded_significand(amax, FRACTION_BITS[format]) if rounding == "even" else amax
                exponent = np.ceil(np.log2(amax)) if rounding == "ceil" else np.floor(np.log2(amax))
                e = int(exponent - np.floor(np.log2(greatest)))
            e = min(max(e, -127), 127)
            assert float(p.scales[r, block]) == 2.0**e
            expected = softmma.round(part.astype(float) / 2.0**e, format)
            assert (bits(p.values[r, 32 * block : 32 * block + 32]) == bits(expected)).all()


@pytest.mark.parametrize("magnitude", [1e-30, 1e-4, 1.0, 1e6, 1e30])
@pytest.mark.parametrize("scaling", ["1x16", "16x16"])
def test_nvfp4(generator, magnitude, scaling):
    x = (generator.standard_normal((40, 70)) * magnitude).astype(F32)
    x[3], x[20:, 32:48] = 0, x[20:, 32:48] * F32(1e-9)
    p = recipes.prepare(x, recipes.Operand("e2m1", scaling), "a", measure=True)
    largest = np.abs(x).max()
    encode = F32(6 * 448) / largest
    assert p.factor.shape == (1, 1) and p.factor[0, 0] == largest / F32(6 * 448)
    rows = 16 if scaling == "16x16" else 1
    became = np.zeros(x.shape)
    for r in range(0, 40, rows):
        for block in range(5):
            at = slice(r, r + rows), slice(16 * block, 16 * block + 16)
            amax = np.abs(x[at]).max()
            factor = softmma.round(amax * (encode * (F32(1) / F32(6))), "e4m3")
            assert (p.scales[r : r + rows, block].astype(float) == float(factor)).all()
            with np.errstate(divide="ignore"):
                scale = min(F32(1) / (F32(factor) * (F32(1) / encode)), np.finfo(F32).max)
            assert (bits(p.values[at]) == bits(softmma.round(x[at] * scale, "e2m1"))).all()
            became[at] = p.values[at].astype(float) * float(factor) * float(p.factor[0, 0])
    s = p.statistics
    assert s.zeros == ((became == 0) & (x != 0)).sum() and s.elements == x.size and s.nan == s.infinite == 0
    assert 0 < s.error < 0.02 * s.norm


def test_nvfp4_keeps_gradients(generator):
    """NVFP4 retains values beyond the range of a UE4M3 factor, because the tensor has a factor, too."""
    x = generator.standard_normal((64, 256))
    for magnitude in 1e-30, 1e-4, 1, 1e6, 1e30:
        q = softmma.quantize(x * magnitude, "nvfp4")
        back = q.values.astype(float) * np.repeat(q.scales.astype(float), 16, 1) * float(q.factor)
        assert np.linalg.norm(back - x * magnitude) < 0.1 * np.linalg.norm(x * magnitude)
    one = softmma.quantize(x * 1e-4, "nvfp4", factor=1)
    assert one.factor == 1 and not one.scales.astype(float).any()


def test_nvfp4_product(generator):
    x, w = generator.standard_normal((5, 64)).astype(F32) * F32(1e5), generator.standard_normal((64, 6)).astype(F32)
    unit = recipes.Unit("B200", "nvfp4")
    a, b = unit.prepare(x, "activations", "forward", "a"), unit.prepare(w, "weights", "forward", "b")
    d = softmma.matmul(a.values, b.values, on="B200", scale_a=a.scales, scale_b=b.scales)
    np.testing.assert_array_equal(unit.multiply(a, b), d * (a.factor * b.factor))
    assert a.operand.scaling == "1x16" and b.operand.scaling == "16x16"


def test_stochastic_rounding():
    """Results are one of the two neighbours, with frequencies according to the distances; representable values stay."""
    x = np.repeat(F32([[1.0, 1.125, 4.5, -2.75, 0.1, 6.0]]), 20000, 0)
    operand = recipes.Operand("e2m1", stochastic=True)
    p = recipes.prepare(x, operand, "a", generator=np.random.default_rng(0))
    found = p.values.astype(float)
    shares = {1.0: (1.0, 1.0, 0), 1.125: (1.0, 1.5, 0.25), 4.5: (4.0, 6.0, 0.25), -2.75: (-3.0, -2.0, 0.25),
              0.1: (0.0, 0.5, 0.2), 6.0: (6.0, 6.0, 0)}  # fmt: skip
    for column, (low, high, share) in enumerate(shares.values()):
        assert set(found[:, column]) == {low, high}
        up = int((found[:, column] == high).sum()) if high != low else 0
        assert abs(up - 20000 * share) < 5 * np.sqrt(20000 * share * (1 - share)) + 1  # five standard deviations
    again = recipes.prepare(x, operand, "a", generator=np.random.default_rng(0))
    assert (bits(again.values) == bits(p.values)).all()
    with pytest.raises(ValueError, match="needs a generator"):
        recipes.prepare(x, operand, "a")


@pytest.mark.parametrize("k", [16, 40, 64])
def test_hadamard(generator, k):
    """The matrix of blocks is orthogonal, so the product stays the same; Sylvester's matrix gives the same numbers."""
    h = np.ones((1, 1))
    while len(h) < 16:
        h = np.block([[h, h], [h, -h]])
    h = recipes.HADAMARD[:, None] * h / 4
    assert (h @ h.T == np.eye(16)).all()
    x, y = generator.integers(-8, 9, (3, k)).astype(F32), generator.integers(-8, 9, (k, 4)).astype(F32)
    operand = recipes.Operand("f32", hadamard=True, hadamard_in="f32")
    a, b = recipes.prepare(x, operand, "a"), recipes.prepare(y, operand, "b")
    padded = np.pad(x, ((0, 0), (0, -k % 16)))
    expected = (padded.reshape(3, -1, 16) @ h).reshape(3, -1)
    np.testing.assert_array_equal(a.values, expected)
    np.testing.assert_array_equal(a.values.astype(float) @ b.values, x.astype(float) @ y)
    # Transformer Engine's kernels round the result to BF16 before amax, scales and codes.
    x = generator.standard_normal((3, k)).astype(F32)
    y = (np.pad(x, ((0, 0), (0, -k % 16))).reshape(3, -1, 16) @ h).reshape(3, -1)
    in_bf16 = softmma.round(y, "bf16", overflow="infinity").astype(F32)
    a, b = (recipes.prepare(z, recipes.Operand("e2m1", "1x16", hadamard=z is x), "a") for z in (x, in_bf16))
    assert all((bits(one) == bits(other)).all() for one, other in zip(a[:3], b[:3], strict=True))


def test_delayed_scaling():
    """The scale comes from earlier uses; zeros and infinities leave it unchanged."""
    unit = recipes.Unit("H100", recipes.recipe("fp8_delayed", history=2))
    history = recipes.History(2)
    seen = []
    for amax in 4.0, 1.0, 0.5, 0.25, np.inf, 0.25, 0.25:
        p = unit.prepare(F32([[amax, 0]]), "activations", "forward", "a", history=history, measure=True)
        seen.append(float(p.factor[0, 0]))
    f = [float(F32(1) / (F32(448) / F32(amax))) for amax in (4, 4, 1, 0.5)]
    assert seen == [1, *f, f[3], f[3]] and history.scale == F32(448) / F32(0.25)
    for order in (4, np.nan), (np.nan, 4):  # NaN is skipped, wherever it occurs
        history = recipes.History(3)
        for amax in order:
            unit.prepare(F32([[amax, 0]]), "activations", "forward", "a", history=history)
        assert history.scale == F32(448) / F32(4)
    p = unit.prepare(F32([[1000, 1]]), "activations", "forward", "a", history=recipes.History(2), measure=True)
    assert p.statistics.saturated == 1 and float(p.values[0, 0]) == 448
    with pytest.raises(ValueError, match="needs a history"):
        unit.prepare(F32([[1]]), "activations", "forward", "a")


@pytest.mark.parametrize("name", ["s8", "s4", "e4m3", "mxfp4", "nvfp4"])
def test_weight_only(generator, name):
    """Forward and dgrad use the same numbers, although dgrad multiplies the weight along its other axis."""
    w, x = generator.standard_normal((130, 48)).astype(F32), generator.standard_normal((3, 130)).astype(F32)
    unit = recipes.Unit("A100", f"weight_only_{name}")
    b, across = unit.prepare(w, "weights", "forward", "b"), unit.prepare(w.T, "weights", "dgrad", "b")
    assert b.factor is None and b.scales is None and (bits(b.values) == bits(across.values.T)).all()
    d = unit.multiply(unit.prepare(x, "activations", "forward", "a"), b)
    np.testing.assert_array_equal(d, softmma.matmul(x, b.values.astype(F32), on="A100", in_dtype="bf16"))
    error = np.linalg.norm(b.values.astype(float) - w) / np.linalg.norm(w)
    assert 0 < error < {"s8": 0.02, "e4m3": 0.05}.get(name, 0.2)
    if name == "s4":
        for options in {}, {"zero_point": True}, {"formula": "torchao_intx", "group_size": 64}, {"formula": None}:
            unit = recipes.Unit("A100", recipes.recipe("weight_only_s4", **options))
            column = w[: options.get("group_size", 128), 0]
            low, high = min(column.min(), F32(0)), max(column.max(), F32(0))
            factor = (high - low) / F32(15) if "zero_point" in options else np.abs(column).max() / F32(7.5)
            zero = np.rint(F32(-8) - low / factor) if "zero_point" in options else F32(0)
            scaled = column * (1 / factor) if options.get("formula") else column / factor
            if "formula" in options and options["formula"] is None:
                scale = scale_of(np.abs(column).max(), 7)
                scaled, factor = column * scale, F32(1) / scale
            expected = (np.clip(np.rint(scaled + zero), -8, 7) - zero) * factor
            values = unit.prepare(w, "weights", "forward", "b").values[: len(column), 0]
            np.testing.assert_array_equal(values, softmma.round(expected, "bf16"))


@pytest.mark.parametrize("recipe", [r.name for r in recipes.recipes()])
def test_every_recipe_multiplies(generator, recipe):
    """Every recipe multiplies with a result near the exact product. Vectors, batches, empty arrays and prepared
    operands work, too."""
    on = {"fp32": "MI300X", "mxfp8": "B200", "mxfp6": "B200", "mxfp4": "B200", "nvfp4": "B200"}.get(recipe, "H100")
    unit = recipes.Unit(on, recipe)
    x, w = generator.standard_normal((2, 3, 160)).astype(F32), generator.standard_normal((160, 5)).astype(F32)

    def product(x, w, of="forward", roles=("activations", "weights")):
        history = recipes.History(9), recipes.History(9)
        sides = zip((x, w), roles, ("a", "b"), history)
        a, b = (unit.prepare(y, role, of, side, history=each) for y, role, side, each in sides)
        d = unit.multiply(a, b, of)
        if w.ndim == 2:
            np.testing.assert_array_equal(unit.multiplier(b, a.operand, of).multiply(a), d)
        return d

    for of, roles in (("forward", ("activations", "weights")), ("dgrad", ("gradients", "weights")),
                      ("wgrad", ("gradients", "activations")), ("other", ("activations", "activations"))):  # fmt: skip
        d = product(x, w, of, roles)
        assert d.shape == (2, 3, 5) and d.dtype == F32
        assert np.linalg.norm(d - x @ w) < 0.25 * np.linalg.norm(x @ w)
    assert product(x[0, 0], w).shape == (5,) and product(x[0], w[:, 0]).shape == (3,)
    assert product(x[0, 0], w[:, 0]).shape == ()
    assert product(x[:, :0], w).shape == (2, 0, 5)
    assert not product(x[..., :0], w[:0]).any()


def test_units_own_fp8(generator):
    """On MI300X, FP8 is E4M3FNUZ, whose largest number is 240."""
    x = generator.standard_normal((3, 64)).astype(F32)
    for on, format in ("MI300X", "e4m3fnuz"), ("H100", "e4m3"):
        p = recipes.Unit(on, "fp8_rowwise").prepare(x, "activations", "forward", "a")
        assert p.operand.format == format
    assert repr(recipes.Unit("H100", "mxfp8")) == "<unit H100 with recipe mxfp8>"
    with pytest.raises(TypeError, match=r"^a is of type numpy.ndarray; give a .*Prepared, which unit.prepare\("):
        recipes.Unit("H100", "mxfp8").multiply(np.ones((2, 2)), np.ones((2, 2)))
    with pytest.raises(LookupError, match="A100 has no instruction for e4m3 x e4m3"):
        unit = recipes.Unit("A100", "fp8_tensorwise")
        unit.multiply(*(unit.prepare(x[:, :3], "weights", "forward", side) for side in "ab"))
    with pytest.raises(LookupError, match="H100 has no .* e2m1 x e2m1 with factors of 16 elements; it is in B200, "):
        unit = recipes.Unit("H100", "nvfp4")
        unit.multiply(*(unit.prepare(x[:, :3], "weights", "forward", side) for side in "ab"))


def test_operands_that_do_not_go_together():
    x = np.ones((16, 16), F32)
    cases = [
        ("nvfp4", replace(recipes.recipe("nvfp4"), weights=recipes.Operand("e4m3")), "factors of 16 elements"),
        ("blocks", replace(recipes.recipe("deepseek"), weights=recipes.Operand("e4m3")), "factors of 128 elements"),
        ("hadamard", replace(recipes.recipe("bf16"), weights=recipes.Operand("bf16", hadamard=True)), "Hadamard"),
    ]
    for _, recipe, message in cases:
        unit = recipes.Unit("B200", recipe)
        a, b = unit.prepare(x, "activations", "forward", "a"), unit.prepare(x, "weights", "forward", "b")
        with pytest.raises(ValueError, match=message):
            unit.multiply(a, b)
    with pytest.raises(ValueError, match="a block-scaled format goes with another one only"):
        recipes.custom("nvfp4", "e4m3")


def test_without_saturation():
    """Without saturation an overflow becomes infinity, or NaN in formats without infinity. FP4 and integers have
    neither, so they always saturate."""
    x = F32([[1e6, -1e6, np.inf, 3, 449]])
    for format, expected in {
        "e5m2": [np.inf, -np.inf, np.inf, 3, 448], "e4m3": [np.nan, np.nan, np.nan, 3, 448],
        "e2m1": [6, -6, 6, 3, 6], "f16": [np.inf, -np.inf, np.inf, 3, 449],
    }.items():  # fmt: skip
        for measure in False, True:
            p = recipes.prepare(x, recipes.Operand(format, saturate=False), "a", measure=measure)
            np.testing.assert_array_equal(p.values.astype(float), [expected])
        assert p.statistics[2:5] == {"e5m2": (0, 3, 0), "e4m3": (0, 0, 3), "e2m1": (4, 0, 0), "f16": (0, 3, 0)}[format]
    assert str(recipes.Operand("e5m2", saturate=False)) == "e5m2 overflows"


def test_ties_of_microxcaling():
    """microxcaling rounds elements to nearest, with ties away from zero unless round="even"."""
    x = F32([[4, 0.25, -1.25, 2.5, 3.5] * 8])
    for mode, expected in ("nearest-away", [4, 0.5, -1.5, 3, 4]), (None, [4, 0, -1, 2, 4]):
        p = recipes.prepare(x, recipes.Operand("e2m1", "1x32", round_in=mode), "a")
        assert p.values.astype(float).tolist() == [expected * 8] and (p.scales.astype(float) == 1).all()


def test_rows_of_nvfp4_multiply(generator):
    """The result's rows have their own factors (Transformer Engine's row-scaled activations)."""
    x, w = generator.standard_normal((5, 64)), generator.standard_normal((64, 6)).astype(F32)
    x = (x * np.exp2(generator.integers(-20, 20, (5, 1)))).astype(F32)
    unit = recipes.Unit("B200", recipes.recipe("nvfp4", row_factors=True))
    a, b = unit.prepare(x, "activations", "forward", "a"), unit.prepare(w, "weights", "forward", "b")
    d = softmma.matmul(a.values, b.values, on="B200", scale_a=a.scales, scale_b=b.scales)
    assert a.factor.shape == (5, 1) and b.factor.shape == (1, 1)
    np.testing.assert_array_equal(unit.multiply(a, b), d * (a.factor * b.factor))


def test_factors_of_rows_act_one_after_the_other(generator):
    """The column's factor comes first, as in torch._scaled_mm on an H100."""
    x, w = generator.standard_normal((40, 64)).astype(F32), generator.standard_normal((64, 30)).astype(F32)
    unit = recipes.Unit("H100", recipes.custom("e4m3", "e4m3", scaling="row"))
    a, b = unit.prepare(x, "activations", "forward", "a"), unit.prepare(w, "weights", "forward", "b")
    scaled = softmma.scaled_matmul(a.values, b.values, a.factor, b.factor, on="H100", fast=True)
    np.testing.assert_array_equal(unit.multiply(a, b), scaled)
    assert (scaled != softmma.matmul(a.values, b.values, on="H100") * (a.factor * b.factor)).any()


def test_special_values_of_transformer_engine():
    """Transformer Engine ignores NaN in amax. If amax is infinite, a scale factor has the exponent 127; factors of
    NVFP4 remain finite."""
    x = np.ones((1, 32), F32)
    x[0, 3], x[0, 5] = np.nan, 448
    p = recipes.Unit("B200", "mxfp8").prepare(x, "activations", "forward", "a")
    assert p.scales.view(np.uint8)[0, 0] == 127 and np.isnan(float(p.values[0, 3])) and float(p.values[0, 5]) == 448
    x[0, 7] = -np.inf
    p = recipes.Unit("B200", "mxfp8").prepare(x, "activations", "forward", "a")
    assert p.scales.view(np.uint8)[0, 0] == 0xFE and float(p.values[0, 7]) == -448 and float(p.values[0, 5]) == 0
    p = recipes.Unit("B200", "nvfp4").prepare(x, "activations", "forward", "a")
    assert p.scales.astype(float).tolist() == [[448, 0.171875]] and np.isinf(p.factor[0, 0])
    assert p.values.astype(float)[0, [3, 5, 7]].tolist() == [6, 1, -6]


def test_groups_need_a_format_of_products():
    x, w = np.ones((2, 64), F32), np.ones((64, 3), F32)
    for operand in recipes.Operand("s8", "group32"), recipes.Operand("s8", "row", formula="qwix", zero_point=True):
        unit = recipes.Unit("A100", replace(recipes.recipe("weight_only_s8"), weights=operand, activations=operand))
        a, b = unit.prepare(x, "activations", "forward", "a"), unit.prepare(w, "weights", "forward", "b")
        with pytest.raises(ValueError, match="groups and zero points need compute"):
            unit.multiply(a, b)


def test_statistics():
    x = F32([[1000, -1e-9, 0, np.nan, np.inf, 1, 3.3, 500]])
    s = recipes.prepare(x, recipes.Operand("e4m3"), "a", measure=True).statistics
    assert s[:5] == (8, 1, 3, 0, 1)  # infinity saturates, like 1000 and 500
    assert s.norm == float(1000.0**2 + 1e-18 + 1 + np.float64(F32(3.3)) ** 2 + 500.0**2)
    s = recipes.prepare(F32([[1e6, np.inf, 1e-9]]), recipes.Operand("f16"), "a", measure=True).statistics
    assert s[:5] == (3, 1, 0, 2, 0)


# ---- The extension module's arithmetic on any arrays, in any layout ----


def spread(numbers, rows, columns, shape):
    return np.repeat(np.repeat(numbers, rows, 0), columns, 1)[: shape[0], : shape[1]]


def by_formula(x, operand, dtype="f32"):
    """Returns four arrays: the values, for each element the factor of its block, the factors of the tensor or of its
    lines, and the zero points. The last two may be None. The formula of each library is written as in its source."""
    rows, columns = recipes.SCALINGS[operand.scaling]
    rows, columns = rows or len(x), columns or x.shape[1]
    padded = np.pad(x, ((0, -len(x) % rows), (0, -x.shape[1] % columns)))
    blocks = padded.reshape(padded.shape[0] // rows, rows, -1, columns).transpose(0, 2, 1, 3)
    formula = operand.formula or ("ocp" if operand.factor == "ue8m0" else "te")
    ignores = formula.startswith("te")  # whether amax ignores NaN; np.fmax would not ignore a signalling NaN
    amax = np.where(np.isnan(blocks) & ignores, F32(0), np.abs(blocks)).max((2, 3))
    made = {"f32": by_number, "ue8m0": by_power, "ue4m3": by_two_levels}[operand.factor]

    def at(y):
        return spread(y, rows, columns, x.shape)

    scaled, factor, tensor, zeros = made(x, operand, formula, amax, at, dtype, blocks)
    return softmma.round(scaled, operand.format), at(factor), tensor, zeros


def greatest_of(format):
    return {"s8": 127.0, "s4": 7.0}.get(format) or float(softmma.round(np.inf, format, overflow="saturate"))


def by_number(x, operand, formula, amax, at, dtype, blocks):
    greatest, integers = F32(greatest_of(operand.format)), operand.format[0] == "s"
    least = -greatest - 1 if integers else -greatest

    def native(y):
        return softmma.round(y, "bf16", overflow="infinity").astype(F32) if dtype == "bf16" else np.asarray(y, F32)

    if formula == "te":
        most = F32(3.3895313892515355e38) if dtype == "bf16" and operand.scaling.endswith("x128") else np.finfo(F32).max
        scale = np.where((amax == 0) | np.isinf(amax), F32(1), np.minimum(greatest / amax, np.inf))
        scale = np.where(np.isinf(scale), most, scale)
        scale = np.vectorize(cut, otypes=[F32])(scale) if operand.power_of_two else scale
        return x * at(scale), 1 / scale, None, None
    if formula == "torchao" and not integers:
        scale = F32(float(greatest) * (1 / np.maximum(amax.astype(float), 1e-12)))
        scale = np.exp2(np.floor(np.log2(scale))) if operand.power_of_two else scale
        return x * at(scale), 1 / scale, None, None
    if formula in ("deepgemm", "deepseek"):
        factor = np.maximum(amax, F32(1e-4)) / ((greatest - least) / F32(2))
        if operand.power_of_two:
            factor = np.exp2(np.ceil(np.log2(factor.astype(float)))).astype(F32)
            factor = np.where(np.isfinite(factor) | (formula == "deepseek"), factor, F32(2.0**127))
        return (x * at(1 / factor) if formula == "deepgemm" else x / at(factor)), factor, None, None
    if formula == "torchao_float8":
        factor = native(amax / greatest)
        return x / at(factor), factor, None, None
    low, high = (np.minimum(blocks.min((2, 3)), F32(0)), np.maximum(blocks.max((2, 3)), F32(0)))
    span, parts = (native(high - low), greatest - least) if operand.zero_point else (amax, (greatest - least) / 2)
    factor = native(span * (1 / parts) if formula == "qwix" else span / parts)  # XLA multiplies by the reciprocal
    bf16, first = dtype == "bf16", factor
    if formula == "compressed_tensors":
        factor = np.where(factor == 0, F32(2.0**-7 if bf16 else 2.0**-23), factor)
    elif formula == "qwix":
        factor = np.where(factor < F32(2.0**-63), F32(1), factor)
    else:
        tiny = F32(2.0**-126 if formula == "torchao_intx" else 2.0**-23)
        factor, first = np.maximum(factor, tiny), np.maximum(factor, tiny)
    if formula == "torchao":
        scaled = x * at(1 / factor)
    elif formula == "qwix":
        scaled = native(x * at(1 / factor))
    else:
        scaled = native(x * at(native(1 / factor))) if formula == "torchao_intx" else native(x / at(factor))
    if not operand.zero_point:
        return scaled, factor, None, None
    steps = native(low / (factor if formula == "qwix" else first))
    zeros = native(least - np.rint(steps)) if formula.startswith("torchao") else np.rint(native(least - steps))
    zeros = np.where(np.isnan(zeros), 0, np.clip(zeros, least, greatest))
    shifted = np.rint(scaled) + at(zeros) if formula.startswith("torchao") else native(scaled + at(zeros))
    return shifted, factor, None, zeros


def by_power(x, operand, formula, amax, at, dtype, blocks):
    greatest, bits = greatest_of(operand.format), FRACTION_BITS[operand.format]
    rounding = operand.scale_rounding or {"te": "rceil", "compressed_tensors": "even"}.get(formula, "floor")
    bits = 1 if formula == "compressed_tensors" and operand.format == "e4m3" else bits

    def exponent(y):
        if y == 0:
            return -127.0
        if rounding == "rceil":
            part = y / F32(greatest) if formula == "torchao" else y * F32(1 / greatest)
            return -127.0 if part == 0 else np.inf if np.isinf(part) else ceiling(part)
        if np.isinf(y):
            return 128 - np.floor(np.log2(greatest))
        y = rounded_significand(y, bits) if rounding == "even" else float(y)
        return (ceiling(y) if rounding == "ceil" else np.floor(np.log2(y))) - np.floor(np.log2(greatest))

    known = np.isfinite(amax) | (np.isinf(amax) & (formula in ("te", "torchao")))
    e = np.full(amax.shape, np.nan)
    for i in zip(*np.nonzero(known), strict=True):
        e[i] = np.clip(exponent(amax[i]), -127, 127)
    scale = np.where(np.isnan(e), np.nan, np.exp2(-e))
    if formula == "torchao":
        scale = np.where(e == -127, 1.0 if rounding == "rceil" else 2.0**126, scale)
        scale = np.where(np.isnan(e) & (rounding != "rceil"), 0, scale)
    scaled = np.where(np.isnan(x), x, x.astype(float) * at(scale))
    if formula == "compressed_tensors" and operand.format == "e2m1":
        scaled = scaled.astype(F32) + 0
    return scaled, np.exp2(e), None, None


def ceiling(x):
    """Returns the logarithm of x, rounded up, without a rounding error."""
    e = int(np.floor(np.log2(float(x))))
    return float(e + (Fraction(float(x)) > Fraction(2) ** e))


def by_two_levels(x, operand, formula, amax, at, dtype, blocks):
    lines = operand.row_factors
    largest = amax.max(1, keepdims=True) if lines else amax.max(keepdims=True)
    bound, six = F32(256 if formula in ("te_4over6", "te_4over6_mse") else 448), F32(6)
    if formula == "torchao":
        tensor = largest / F32(2688)
        factor = softmma.round(np.clip(amax / six / tensor, F32(2.0**-6), F32(448)), "e4m3").astype(F32)
        return x * at(1 / tensor / factor), factor, tensor, None
    if formula == "modelopt":
        tensor = largest / F32(2688)
        factor = amax / (six * tensor)
        factor = np.clip(np.where(factor == 0, F32(1), factor), F32(2.0**-9), F32(448))
        factor = softmma.round(factor, "e4m3").astype(F32)
        return x / at(factor * tensor) + F32(0), factor, tensor, None
    if formula == "compressed_tensors":
        encode = F32(2688) * (1 / np.maximum(largest, np.finfo(F32).tiny))
        encode = np.where(np.isfinite(encode), encode, F32(1))
        factor = softmma.round(np.clip(encode * (amax / six), -448, 448), "e4m3").astype(F32)
        factor = np.where(factor == 0, F32(0.125), factor)
        return x / at(factor / encode) + F32(0), factor, 1 / encode, None
    encode = np.where((largest == 0) | np.isinf(largest), F32(1), np.minimum(bound * six / largest, np.finfo(F32).max))
    tensor = np.where(largest == 0, F32(1), largest / (six * bound))
    if not formula.startswith("te_4over6"):
        factor = softmma.round(amax * (encode * (F32(1) / six)), "e4m3").astype(F32)
        scale = np.minimum(1 / (factor * (1 / encode)), np.finfo(F32).max)
        return x * at(scale), factor, tensor, None
    found = []
    for expand in F32(1.5), F32(1):
        factor = softmma.round(np.minimum(amax / six * encode * expand, F32(448)), "e4m3").astype(F32)
        scale = np.minimum(1 / (factor * (1 / encode)), np.finfo(F32).max)
        codes = softmma.round(blocks * scale[..., None, None], "e2m1").astype(F32)
        error = codes * factor[..., None, None] * largest[..., None, None] / (six * bound) - blocks
        error = error * error if "mse" in formula else np.abs(error)
        total = np.zeros(error.shape[:3], F32)
        for i in range(16):
            total = total + error[..., i]
        while total.shape[2] > 1:
            total = total[..., : total.shape[2] // 2] + total[..., total.shape[2] // 2 :]
        found.append((total[..., 0], factor, scale))
    four = found[0][0] < found[1][0]
    factor, scale = (np.where(four, found[0][i], found[1][i]) for i in (1, 2))
    return x * at(scale), factor, tensor, None


OPERANDS = [
    recipes.Operand(format, scaling, **more)
    for scaling, options in {
        "tensor": [{}], "row": [{}, {"power_of_two": True}], "1x128": [{}], "128x128": [{}, {"power_of_two": True}],
        "1x32": [{}, {"scale_rounding": "rceil"}], "32x32": [{}], "1x16": [{}], "16x16": [{}],
    }.items()
    for more in options
    for format in {"1x16": ["e2m1"], "16x16": ["e2m1"]}.get(scaling, ["e4m3", "e5m2", "e2m1", "e4m3fnuz", "s8"])
]  # fmt: skip

OWNERS = [
    *(recipes.Operand("e4m3", "row", formula="torchao", power_of_two=cut) for cut in (False, True)),
    recipes.Operand("e5m2", "tensor", formula="torchao"),
    *(recipes.Operand("e4m3", scaling, power_of_two=cut) for scaling in ("row", "1x128") for cut in (False, True)),
    *(recipes.Operand("e4m3", scaling, formula=formula, power_of_two=cut)
      for scaling in ("1x128", "128x128") for formula in ("deepgemm", "deepseek") for cut in (False, True)),
    *(
        recipes.Operand("e4m3", scaling, formula=formula)
        for scaling in ("row", "128x128")
        for formula in ("compressed_tensors", "qwix", "torchao_float8")
    ),
    *(recipes.Operand(format, scaling, formula=formula, zero_point=zero)
      for format in ("s8", "s4") for scaling in ("row", "group32", "group64", "group128", "tensor")
      for formula in ("torchao", "torchao_intx", "compressed_tensors", "qwix") for zero in (False, True)),
    *(recipes.Operand(format, scaling, formula=formula, scale_rounding=rounding)
      for format in ("e4m3", "e2m1") for scaling in ("1x32", "32x32")
      for formula in ("ocp", "torchao") for rounding in recipes.SCALE_ROUNDINGS),
    *(recipes.Operand(format, "1x32", formula=formula) for format in ("e4m3", "e2m1", "e2m3")
      for formula in ("te", "compressed_tensors")),
    *(recipes.Operand("e2m1", scaling, formula=formula) for scaling in ("1x16", "16x16")
      for formula in recipes.FORMULAS if "ue4m3" in recipes.FORMULAS[formula]),
    *(recipes.Operand("e2m1", "1x16", formula=formula, row_factors=True) for formula in ("te", "te_4over6", "torchao")),
]  # fmt: skip


def compare(p, q, x, operand, dtype="f32"):
    """Compares operands A and B of the same numbers with the formula."""
    with np.errstate(all="ignore"):
        values, factors, tensor, zeros = by_formula(x, operand, dtype)
    assert (bits(p.values) == bits(values)).all() and (bits(q.values) == bits(values.T)).all()
    for one, other in ((p.scales, q.scales), (p.factor, q.factor), (p.zero_points, q.zero_points)):
        assert (one is None) == (other is None)
        assert one is None or (bits(one) == bits(other.T)).all()
    if p.scales is not None:
        columns = recipes.SCALINGS[operand.scaling][1]
        np.testing.assert_array_equal(p.scales.astype(float), factors[:, ::columns].astype(float))
        assert p.scales.shape == (len(x), -(-x.shape[1] // columns))
    if p.factor is not None:
        expected = tensor if p.scales is not None else factors[:, :1]
        np.testing.assert_array_equal(p.factor, np.broadcast_to(expected, (len(x), 1))[: len(p.factor)])
    if p.zero_points is not None:
        np.testing.assert_array_equal(p.zero_points, zeros)


@pytest.mark.parametrize("operand", OPERANDS, ids=str)
@pytest.mark.parametrize("shape", [(35, 70), (1, 1), (130, 300), (17, 128)])
def test_any_numbers(generator, operand, shape):
    if shape[1] == 300:
        shape = shape if operand.format == "e4m3" else (40, 7)
    for number, x in enumerate(tensors(generator, shape).values()):
        wide = np.zeros((shape[0], 2 * shape[1]), F32)
        wide[:, ::2] = x
        for way, y in enumerate((x, np.asfortranarray(x), wide[:, ::2], x[::-1][::-1], x.T.copy().T)):
            p = recipes.prepare(y, operand, "a", threads=way % 3, measure=way == 1)
            q = recipes.prepare(y.T, operand, "b", threads=1)
            if way == 0:
                first = p
                compare(p, q, x, operand)
            assert (bits(p.values) == bits(first.values)).all(), (number, way)
            assert (bits(q.values) == bits(first.values.T)).all(), (number, way)


@pytest.mark.parametrize("operand", OWNERS, ids=str)
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_formulas_of_libraries(generator, operand, dtype):
    if dtype == "bf16" and operand.formula == "compressed_tensors" and operand.factor != "f32":
        return  # test_recipe_owners.py compares with compressed-tensors itself
    for x in tensors(generator, (35, 150)).values():
        if dtype == "bf16":
            x = softmma.round(x, "bf16", overflow="infinity")
        p, q = recipes.prepare(x, operand, "a"), recipes.prepare(x.T, operand, "b")
        compare(p, q, x.astype(F32), operand, dtype)


def test_batches_and_dtypes(generator):
    """Each matrix of a batch has its own scale factors, but all share the tensor's factor. FP64 numbers are first
    rounded to FP32, except with blocks of 32, which are computed in FP64."""
    x = generator.standard_normal((2, 3, 40, 70)) * np.exp2(generator.integers(-20, 20, (2, 3, 1, 1)))
    for operand in OPERANDS:
        for side in "ab":
            p = recipes.prepare(x.astype(F32), operand, side)
            if operand.scaling not in ("tensor", "1x16", "16x16"):
                one = recipes.prepare(x[1, 2].astype(F32), operand, side)
                for whole, part in zip(p[:3], one[:3], strict=True):
                    assert part is None or (bits(whole[1, 2]) == bits(part)).all()
            wide = recipes.prepare(x, operand, side)
            if recipes.SCALINGS[operand.scaling][1] != 32:
                assert (bits(wide.values) == bits(p.values)).all()
            half = x.astype(np.float16)
            q, r = recipes.prepare(half, operand, side), recipes.prepare(half.astype(F32), operand, side)
            assert all(a is None or (bits(a) == bits(b)).all() for a, b in zip(q[:3], r[:3], strict=True))
    q = recipes.prepare(x[0, 0], recipes.Operand("e4m3", "1x32"), "a")
    exact = x[0, 0] / np.repeat(q.scales.astype(float), 32, 1)[:, :70]
    assert (bits(q.values) == bits(softmma.round(exact, "e4m3"))).all()


@pytest.mark.parametrize("operand", OPERANDS, ids=str)
def test_threads(generator, operand):
    x = generator.standard_normal((300, 400)).astype(F32)
    one, two = (recipes.prepare(x, operand, "a", threads=threads, measure=True) for threads in (1, 2))
    assert all(a is None or (bits(a) == bits(b)).all() for a, b in zip(one[:3], two[:3], strict=True))
    assert one.statistics == two.statistics


def test_stochastic_rounding_by_formula(generator):
    """An element is rounded up if the random number of its place among the lines is below its distance from the lower
    neighbour."""
    for x in tensors(generator, (20, 40)).values():
        with np.errstate(all="ignore"):
            scaled = x * scale_of(np.fmax.reduce(np.abs(x), None), 6)
        below, above = (softmma.round(scaled, "e2m1", mode=f"toward-{way}") for way in ("negative", "positive"))
        low, high = below.astype(float), above.astype(float)
        with np.errstate(invalid="ignore"):
            up = np.random.default_rng(5).random(x.shape) * (high - low) < scaled.astype(float) - low
        operand = recipes.Operand("e2m1", "tensor", stochastic=True)
        a = recipes.prepare(x, operand, "a", generator=np.random.default_rng(5))
        b = recipes.prepare(x.T, operand, "b", generator=np.random.default_rng(5))
        assert (bits(a.values) == bits(np.where(up, above, below))).all() and (bits(b.values.T) == bits(a.values)).all()


def test_quantize_by_the_formula_of_a_library(generator):
    x = generator.standard_normal((7, 96)).astype(F32)
    x[0, :16] *= F32(1e-9)
    for format, element, scaling, options in (
        ("nvfp4", "e2m1", "1x16", {"formula": "modelopt"}),
        ("nvfp4", "e2m1", "1x16", {"formula": "te_4over6"}),
        ("mxfp4", "e2m1", "1x32", {"scale_rounding": "even"}),
        ("mxfp8_e4m3", "e4m3", "1x32", {"formula": "torchao", "scale_rounding": "rceil"}),
    ):
        q, p = (
            softmma.quantize(x, format, **options),
            recipes.prepare(x, recipes.Operand(element, scaling, **options), "a"),
        )
        assert (bits(q.values) == bits(p.values)).all() and (bits(q.scales) == bits(p.scales)).all()
        assert q.factor == (1 if p.factor is None else p.factor[0, 0])
        plain = softmma.quantize(x, format)
        assert (bits(q.values) != bits(plain.values)).any()


@pytest.mark.parametrize("format", softmma.QUANTIZED_FORMATS)
def test_as_the_command_quantises(generator, format):
    """`quantize` scales as the C library does for the command's `gemm --in`, compare and trace."""
    x = generator.standard_normal((50, 100)) * np.exp2(generator.integers(-6, 6, (50, 1)))
    if format != "nvfp4":
        x *= np.exp2(generator.integers(-130, 110, (50, 1)))
        x[3], x[4, 50], x[5, 1] = 0, np.nan, np.inf
    q = softmma.quantize(x, format)
    values, scales, factor = softmma._core.quantize(x, *softmma._units.BLOCK_FORMATS[format])
    assert (bits(q.values) == bits(values)).all() and (bits(q.scales) == bits(scales)).all() and q.factor == factor


@pytest.mark.parametrize("scale", [1e-3, 1, 1e20])
def test_products_of_numbers_quantised_to_nvfp4(generator, scale):
    """gemm, compare and trace quantise numbers to NVFP4 and multiply the result by both tensors' factors. They return
    the same as matmul with the operands and factors of `quantize`."""
    a, b = (generator.standard_normal(shape).astype(np.float32) for shape in ((5, 100), (100, 3)))
    a, c = a * np.float32(scale), generator.standard_normal((5, 3)).astype(np.float32)
    qa, qb = softmma.quantize(a, "nvfp4"), softmma.quantize(b, "nvfp4", axis=-2)
    scales = {"scale_a": qa.scales, "scale_b": qb.scales, "alpha": 2 * (qa.factor * qb.factor)}
    d = softmma.matmul(qa.values, qb.values, c, on="B200", **scales, beta=0.5)
    product = softmma.gemm(a, b, c, on="B200", in_dtype="nvfp4", alpha=2, beta=0.5)
    assert (bits(product.d) == bits(d)).all() and product.value["factor_a"] == qa.factor
    traced = softmma.trace(a, b, c, at=(3, 1), on="B200:nvfp4", alpha=2, beta=0.5)
    assert traced.targets[0].result == d[3, 1]
    compared = softmma.compare(a, b, ["B200:nvfp4", "H100:f16"])
    plain = softmma.matmul(qa.values, qb.values, on="B200", **{**scales, "alpha": qa.factor * qb.factor})
    assert (bits(compared[0].d) == bits(plain)).all() and compared[0].unit_error < 1e-6
    with pytest.raises(ValueError, match="no place for"):
        softmma.gemm(a, b, on="B200", in_dtype="nvfp4", plan="cutlass:fast")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x: recipes.Unit("H100").prepare(x, "weight", "forward", "a"), "role: 'weight' is not one of weights, act"),
        (lambda x: recipes.Unit("H100").prepare(x, "weights", "forwards", "a"), "product: 'forwards' is not one of forw"),
        (lambda x: recipes.Unit("H100").prepare(x, "weights", "forward", "c"), "side: 'c' is not one of a, b"),
        (lambda x: recipes.Unit("H100").prepare(x[0, 0], "weights", "forward", "a"), "a is a number, not an array"),
        (lambda x: recipes.Unit("H100").prepare(1j * x, "weights", "forward", "b"), "b is complex64, not an array"),
        (lambda x: recipes.Unit("H100").prepare([["x"]], "weights", "forward", "b"), "b is <U1, not an array"),
        (lambda x: softmma.quantize(x, "nvfp4", factor=0), "factor: 0 is no positive FP32 number"),
        (lambda x: softmma.quantize(x, "nvfp4", factor=-1), "factor: -1 is no positive"),
        (lambda x: softmma.quantize(x, "nvfp4", factor=np.nan), "factor: nan is no positive"),
        (lambda x: softmma.quantize(x, "nvfp4", factor=1e38), "factor: 1e[+]38 is no positive"),
        (lambda x: recipes.Operand("e4m3", "tensor", history=-1), "history: -1 uses"),
        (lambda x: recipes.Operand("bf16", "1x32"), "scaling '1x32' is of formats of 8 bits and less, not bf16"),
        (
            lambda x: recipes.Operand("e4m3", "row", formula="ocp"),
            "formula: 'ocp' with scaling 'row'; .* has te, torchao",
        ),
        (lambda x: recipes.Operand("e4m3", formula="te"), "formula: 'te' with scaling 'none'; this scaling has none"),
        (lambda x: recipes.Operand("e4m3", "row", formula="torchao_intx"), "'torchao_intx' is of integer formats"),
        (lambda x: recipes.Operand("e4m3", "row", scale_rounding="even"), "scale_rounding: goes with scaling '1x32' and '32x32', not 'row'"),
        (lambda x: softmma.quantize(x, "mxfp4", scale_rounding="up"), "is not one of floor, ceil, even, rceil"),
        (lambda x: recipes.Operand("s8", "row", zero_point=True), "zero_point: goes with integer formats"),
        (lambda x: recipes.Operand("e2m1", "16x16", row_factors=True), "row_factors: goes with scaling '1x16'"),
        (lambda x: recipes.Operand("e2m1", "1x16", hadamard=True, hadamard_in="f16"), "hadamard_in: 'f16' is not one of"),
        (lambda x: recipes.Operand("e2m1", "1x16", stochastic=True, formula="te_4over6"), "stochastic: formula"),
        (lambda x: recipes.recipe("nvfp4", formula="te_4over6"), "goes with hadamard=False and stochastic=False"),
        (lambda x: recipes.recipe("deepseek", formula="qwix"), "formula: 'qwix' is not one of deepgemm, deepseek, te"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make(np.ones((2, 32), F32))
