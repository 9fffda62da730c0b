"""softmma.trace: the last sum equals the product's element, errors are exact, and the point at which targets diverge is
found."""

import warnings
from fractions import Fraction

import numpy as np
import pytest

import softmma

TIER = "check"


def numbers(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float16)


TWO = {"name": "two", "sum": [{"deal": "every", "k": 32, "from": "zero"}]}
IN_TURN = {"name": "in turn", "sum": [{"deal": "interleaved", "parts": 2, "tile": 16}], "d": "bf16"}


@pytest.mark.parametrize("plan", [None, TWO, IN_TURN, "cutlass:2xacc"])
@pytest.mark.parametrize("gpu", ["V100", "H100", "MI300X", "MI250X"])
def test_results(gpu, plan):
    a, b = numbers((3, 100)), numbers((100, 2), 1)
    d = softmma.matmul(a, b, on=gpu, plan=plan)
    for i in range(3):
        for j in range(2):
            target = softmma.trace(a, b, at=(i, j), on=gpu, plan=plan).targets[0]
            assert target.result.dtype == d.dtype and target.result.tobytes() == d[i, j].tobytes()
            assert target.steps["sum"][-1] == float(d[i, j])
            assert sorted(target.k[target.k >= 0]) == list(range(100))


def test_exact():
    a, b = numbers((1, 64)), numbers((64, 1), 1)
    steps = softmma.trace(a, b, at=(0, 0), on="H100").targets[0].steps
    for step in steps:
        n = step["products"]
        exact = sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a[0, :n], b[:n, 0]))
        assert step["exact"] == float(exact)
        assert step["error"] == float(Fraction(float(step["sum"])) - exact)


def test_divergence():
    a = np.zeros((1, 64), np.float16)
    a[0, [0, 16, 32, 48]] = 4096, 1, 1, 1
    found = softmma.trace(a, a.T, at=(0, 0), on=["H100", "H100"], plan=[None, TWO])
    assert found.divergence == softmma.SumDivergence((0, 1), "instruction", 32, 48)
    assert [t.steps["sum"][-1] for t in found.targets] == [2**24, 2**24 + 2]
    assert found.targets[1].plan.name == "two"
    assert softmma.trace(a, a.T, at=(0, 0), on=["H100", "B200"]).divergence is None


def with_specials(x):
    x[1, 3], x[2, 7] = np.inf, np.nan
    return x


def quantized(axis, seed=0):
    shape = (256, 4) if axis == -2 else (3, 256)
    q = softmma.quantize(numbers(shape, seed), "mxfp8_e4m3", axis=axis)
    return q.values, q.scales


LARGEST_ERROR = {
    "one chain": {"on": "H100"},
    "from C, with factors": {"on": "V100", "c": numbers((3, 4), 2).astype("f4"), "alpha": 0.3, "beta": 3.0},
    "alpha on the operands": {"on": "H100", "alpha": 3.3, "scaling": "operands"},
    "a plan": {"on": "MI250X", "plan": TWO},
    "a plan that omits k": {"on": "H100", "plan": {"name": "some", "sum": [{"deal": "list", "list": [[[0, 90]]]}]}},
    "FP32 factors": {
        "b": numbers((256, 4), 1).round(2),
        "on": "H100:e4m3",
        "plan": "deepgemm",
        "scale_a": np.exp2(numbers((3, 2), 3)).astype("f4"),
        "scale_b": np.exp2(numbers((2, 4), 4)).astype("f4"),
    },
    "block factors": {"on": "B200:mxfp8_e4m3", "scale_a": quantized(-1)[1], "scale_b": quantized(-2, 1)[1]},
    "columns": {"on": "A100", "order": np.asfortranarray},
    "specials": {"on": "H100", "a": with_specials(numbers((3, 256)))},
    "all exact": {"on": "A100:s8", "a": np.ones((3, 256), "i1"), "b": np.ones((256, 4), "i1")},
    "bits": {"on": "A100:b1", "a": np.ones((3, 256), "u1"), "b": np.ones((256, 4), "u1")},
}  # fmt: skip


@pytest.mark.parametrize("case", LARGEST_ERROR)
def test_largest_error(case):
    """at="worst" of one target is the element whose last step has the largest error."""
    options = {"a": numbers((3, 256)), "b": numbers((256, 4), 1), "order": np.ascontiguousarray} | LARGEST_ERROR[case]
    if case == "block factors":
        options |= {"a": quantized(-1)[0], "b": quantized(-2, 1)[0]}
    order = options.pop("order")
    a, b = order(options.pop("a")), order(options.pop("b"))
    steps = [softmma.trace(a, b, at=divmod(n, 4), **options).targets[0].steps for n in range(12)]
    exact, error = (np.array([s[name][-1] for s in steps]) for name in ("exact", "error"))
    distance = np.where(np.isfinite(exact), np.where(np.isfinite(error), abs(error), np.inf), 0)
    found = softmma.trace(a, b, at="worst", **options)
    assert found.at == divmod(int(np.argmax(distance)), 4)
    assert found.why.startswith("all results of " if distance.max() == 0 else "the error of ")
    assert np.isfinite(exact).sum() == (4 if case == "specials" else 12)
    with pytest.raises(ValueError, match="at: 'best' is neither"):
        softmma.trace(a, b, at="best", **options)


def test_own_results():
    """Without `at`, the traced element is the one with the largest difference."""
    a, b = np.ones((2, 16), np.float16), np.ones((16, 2), np.float16)
    ours = np.full((2, 2), 16, np.float64)
    theirs = np.float32([[16, 16.5], [17, 16]])
    found = softmma.trace(a, b, on=["H100", "V100"], d=[ours, theirs])
    assert found.at == (1, 0) and found.why.startswith("d[0] and d[1] differ in 2 of 4 elements, here most, by 0.0625")
    assert [r["as"] for r in found.value["results"]] == [["H100", "V100"], []]
    assert softmma.trace(a, b, on="H100", d={"theirs": theirs}).why.startswith("theirs and H100 differ in 2 of 4")
    assert softmma.trace(a, b, on=["H100", "V100"]).why == "all results are the same"
    with pytest.raises(ValueError, match="d: 1 values of d are not numbers of f32"):
        softmma.trace(a, b, d=ours + [[0.1, 0], [0, 0]])
    with pytest.raises(ValueError, match="d: d is not 2 x 2"):
        softmma.trace(a, b, d=ours[:1])
    with pytest.raises(ValueError, match="in different formats"):
        softmma.trace(a, b, on=["H100", "H100"], plan=[None, IN_TURN])


@pytest.mark.parametrize("order", [np.ascontiguousarray, np.asfortranarray])
def test_explained(order):
    """The explained instructions, in which the targets diverge, belong to the traced element, in any memory layout of A
    and B."""
    a, b = order(numbers((3, 64))), order(numbers((64, 3), 1))
    found = softmma.trace(a, b, on=["V100", "H100"])
    alone = softmma.trace(a[[found.at[0]]], b[:, [found.at[1]]], at=(0, 0), on=["V100", "H100"])
    assert found.value["parting"] == alone.value["parting"] and len(found.value["parting"]["explanations"]) == 2


def test_scale_factors():
    """Formats of A and B with scale factors choose the block-scaled instruction."""
    q, r = (
        softmma.quantize(numbers((3, 64)), "mxfp8_e4m3"),
        softmma.quantize(numbers((64, 2), 1), "mxfp8_e4m3", axis=-2),
    )
    scales = {"scale_a": q.scales, "scale_b": r.scales, "in_dtype": "e4m3", "on": "B200"}
    target = softmma.trace(q.values, r.values, at=(2, 1), **scales).targets[0]
    assert target.instruction.scale_block == 32 and target.result == softmma.matmul(q.values, r.values, **scales)[2, 1]


def test_operands():
    c, bias = np.float32([[3]]), [5.0]
    x = np.ones((1, 16), np.float16)
    plan = {"name": "end", "epilogue": ["linear", "bias", "relu"]}
    target = softmma.trace(x, x.T, c, at=(0, 0), plan=plan, alpha=0.5, beta=-5, bias=bias).targets[0]
    assert target.steps["sum"].tolist() == [16, -7, -2, 0]
    assert target.steps["kind"].tolist() == ["instruction"] + 3 * ["epilogue"]
    assert len(softmma.trace(x[:, :0], x[:, :0].T, at=(0, 0)).targets[0].steps) == 0


def test_warning_of_f16():
    """A target without a format computes in the arrays' own format; only if it is FP16 is there a warning."""
    for dtype, a in ((np.float16, "f16"), (np.float64, "f64")):
        x = np.ones((2, 16), dtype)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = softmma.trace(x, x.T, at=(0, 0), on=["H100:tf32", "A100"])
        assert found.targets[1].instruction.a == a
        assert [("computes in f16" in str(each.message)) for each in caught] == [True] * (a == "f16")


def test_errors():
    x = np.ones((2, 16), np.float16)
    with pytest.raises(IndexError, match=r"\(2, 0\) is not in the product, which is \(2, 2\)"):
        softmma.trace(x, x.T, at=(2, 0))
    with pytest.raises(IndexError):
        softmma.trace(x, x.T, at=(-1, 0))
    with pytest.raises(ValueError, match="not of a batch"):
        softmma.trace(x[None], x.T, at=(0, 0))
    with pytest.raises(ValueError, match="2 plans for 1 target;"):
        softmma.trace(x, x.T, at=(0, 0), plan=[None, TWO])
    with pytest.raises(ValueError, match="the columns of a"):
        softmma.trace(x, x, at=(0, 0))
    with pytest.raises(TypeError):
        softmma.trace(x, x.T, at=(0, 0), colour="red")
