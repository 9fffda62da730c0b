"""Orders of sums: functions of known orders, NumPy's functions, models of units, and black boxes that are not a
function."""

import math
from functools import partial

import ml_dtypes
import numpy as np
import pytest

import softmma
from conftest import bits
from softmma._order import Sums, plan_members

TIER = "check"
FMA = {"name": "fma", "algorithm": "FMA", "m": 1, "n": 1, "k": 1, "a": "f32", "b": "f32", "d": "f32", "nan": "quiet"}


def normal(k, node, sums):
    """Returns a tree as nested sets, in any order."""
    made = list(range(k))
    for below in sums:
        made.append(frozenset(made[x] for x in below))
    return made[node]


def adder(k, sums, product=np.float32, total=np.float32):
    """Returns a function that adds products in an order of sums of two."""

    def f(a, b):
        values = [total(x) for x in a[0].astype(product) * b[:, 0].astype(product)]
        for x, y in sums:
            values.append(total(values[x] + values[y]))
        return values[-1]

    return f


def serial(nodes, k, sums):
    total = nodes[0]
    for node in nodes[1:]:
        sums.append((total, node))
        total = k + len(sums) - 1
    return total


def neighbours(nodes, k, sums):
    while len(nodes) > 1:
        nodes = [serial(nodes[i : i + 2], k, sums) for i in range(0, len(nodes), 2)]
    return nodes[0]


def halving(nodes, k, sums):
    while len(nodes) > 1:
        half = len(nodes) // 2
        nodes = [serial([nodes[i], nodes[i + half]], k, sums) for i in range(half)]
    return nodes[0]


def parts_of(length):
    return lambda k: [list(range(i, min(i + length, k))) for i in range(0, k, length)]


def lanes_of(count, tile=1):
    return lambda k: [[x for x in range(k) if x // tile % count == lane] for lane in range(count)]


@pytest.mark.parametrize(
    ("k", "deal", "fold", "level"),
    [
        (67, parts_of(67), serial, {}),
        (67, parts_of(23), serial, {"deal": "contiguous", "parts": 3, "grain": 1}),
        (67, parts_of(16), serial, {"deal": "every", "k": 16}),
        (67, parts_of(16), neighbours, {"deal": "every", "k": 16, "fold": "neighbours"}),
        (101, lanes_of(8), neighbours, {"deal": "interleaved", "parts": 8, "tile": 1, "fold": "neighbours"}),
        (101, lanes_of(8), halving, {"deal": "interleaved", "parts": 8, "tile": 1, "fold": "halving"}),
        (101, lanes_of(3, 4), serial, {"deal": "interleaved", "parts": 3, "tile": 4}),
        (64, parts_of(1), halving, {"deal": "every", "k": 1, "fold": "halving"}),
        (
            77,
            lambda k: [list(range(30)), list(range(30, 37)), list(range(37, 59)), list(range(59, 77))],
            serial,
            {"deal": "list"},
        ),
        (30, lambda k: [list(range(k))[::-1]], serial, {"deal": "list"}),
    ],
)
@pytest.mark.parametrize("total", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
def test_known_orders(k, deal, fold, level, total):
    """The tree is the function's, the plan has its form, and products with the plan have the function's bits."""
    sums = []
    fold([serial(part, k, sums) for part in deal(k)], k, sums)
    f = adder(k, sums, total, total)
    found = softmma.tree(f, k, dtype=total)
    assert normal(k, -1, found.sums) == normal(k, -1, sums)
    said = found.plan.to_dict()["sum"][0] if level else {}
    assert {name: said[name] for name in level} == level
    assert found.arithmetic and found.unit and "cannot" not in found.verdict
    generator = np.random.default_rng(1)
    a, b = generator.standard_normal((2, 1, k)).astype(total)
    d = softmma.matmul(a.astype(np.float64 if total is np.float64 else np.float32), b.T, on=found.unit, plan=found.plan)
    assert bits(d)[0, 0] == bits(f(a, b.T))


def test_random_orders(generator):
    """Random orders in which every sum has two terms are found. Only a few of them can be written as a plan."""
    for k in (1, 2, 3, 10, 50):
        nodes, sums = list(range(k)), []
        while len(nodes) > 1:
            x, y = (nodes.pop(int(generator.integers(len(nodes)))) for _ in range(2))
            sums.append((x, y))
            nodes.append(k + len(sums) - 1)
        found = softmma.tree(adder(k, sums), k, seed=k)
        assert normal(k, -1, found.sums) == normal(k, -1, sums)
        assert found.arithmetic == "products rounded to f32, sums in f32"
        assert found.plan is not None or "none of the forms" in found.verdict


@pytest.mark.parametrize("block", [2, 4, 16])
def test_fused_sums(generator, block):
    """Blocks of fused sums, one after another, of a custom unit, with and without slices of K."""
    unit = softmma.Custom({**softmma.find("H100", "wgmma f16")[0].to_custom(), "block": block})
    for slices, k in ((1, 37), (3, 101)):
        found = softmma.tree(partial(softmma.matmul, on=unit, split_k=slices), k, dtype="f16", on=unit)
        assert found.plan and found.unit is unit and not found.arithmetic
        a, b = (generator.standard_normal(shape).astype(np.float16) for shape in ((5, k), (k, 6)))
        d = softmma.matmul(a, b, on=unit, plan=found.plan)
        np.testing.assert_array_equal(bits(d), bits(softmma.matmul(a, b, on=unit, split_k=slices)))
        assert str(k - 1) in found.text and "fused" in found.text
    other = softmma.tree(partial(softmma.matmul, on=unit), 37, dtype="f16")
    assert other.unit is None and "cannot be told" in other.verdict


@pytest.mark.parametrize(
    "levels",
    [
        [],
        [{"deal": "contiguous", "parts": 3, "grain": 8}],
        [{"deal": "interleaved", "parts": 5, "tile": 8, "fold": "last-first"}],
        [{"deal": "interleaved", "parts": 16, "tile": 1, "fold": "strides", "strides": [8, 2, 1]}],
        [
            {"deal": "contiguous", "parts": 2, "grain": 16},
            {"deal": "interleaved", "parts": 4, "tile": 2, "fold": "halving"},
        ],
        [{"deal": "list", "list": [[[0, 10]], [[50, 130]], [[10, 50]]]}, {"deal": "every", "k": 7}],
    ],
)
def test_plans_there_and_back(levels):
    """The order of a product with a plan gives a plan with the same bits."""
    unit = softmma.Custom(FMA)
    plan = softmma.Plan({"name": "there", "sum": levels})
    found = softmma.tree(lambda a, b: softmma.matmul(a, b, on=unit, plan=plan), 130, m=3, n=2, element=(2, 1))
    assert found.arithmetic == "FMA in f32"
    if found.plan is not None:
        again = softmma.tree(lambda a, b: softmma.matmul(a, b, on=found.unit, plan=found.plan), 130)
        assert again.sums == found.sums and "random sums" in found.verdict
    else:
        assert levels[0]["deal"] == "list"


FUNCTIONS = {
    "matmul": np.matmul,
    "dot": lambda a, b: np.dot(a[0], b[:, 0]),
    "einsum": lambda a, b: np.einsum("ik,kj->ij", a, b),
    "sum": lambda a, b: (a * b.T).sum(),
    "cumsum": lambda a, b: np.cumsum(a * b.T)[-1],
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f16", "f32", "f64", "bf16"])
@pytest.mark.parametrize("k", [7, 261])
def test_numpy(name, dtype, k):
    """For NumPy on this machine, the order and the arithmetic are found, or a reason is given."""
    try:
        found = softmma.tree(FUNCTIONS[name], k, dtype=dtype)
    except TypeError as why:
        pytest.skip(f"NumPy has no such {name}: {why}")
    assert sorted(x for below in found.sums for x in below if x < k) == list(range(k))
    assert bool(found.arithmetic) != ("no arithmetic that was tried" in found.verdict)
    if name == "cumsum":
        assert found.arithmetic and found.unit and found.plan


def test_pairwise_sum():
    """NumPy adds 128 numbers in eight lanes, then the lanes as neighbours."""
    found = softmma.tree(FUNCTIONS["sum"], 128)
    level = {"deal": "interleaved", "parts": 8, "tile": 1, "fold": "neighbours", "from": "first"}
    assert found.plan.to_dict()["sum"][0] == level
    lines = found.text.splitlines()
    assert lines[0] == "d = +" and lines[3] == "|  |  |- k = 0..120 by 8 in order"


def test_members_are_few():
    """Each form of a level is listed once, the simplest form first."""
    sums = []
    serial(list(range(9)), 9, sums)
    assert next(plan_members(Sums(9, tuple(sums)))) == {"sum": []}


@pytest.mark.parametrize("dtypes", [("e5m2", "e4m3"), ("f32", "e4m3"), ("bf16", "f16"), ("e8m0", "f32")])
def test_two_formats(dtypes):
    """A and B have formats with different ranges, and one of them may have no sign. M and the ones are products of
    numbers of both formats."""
    found = softmma.tree(lambda a, b: np.cumsum(a[0].astype("f4") * b[:, 0].astype("f4"))[-1], 40, dtype=dtypes)
    assert found.text == "d = k = 0..39 in order" and found.calls < 700


def test_many_products():
    """For pairs of pairs, half of K log2 K calls are sufficient, because each call shows both halves. tests/test_tree.c
    tests sums of thousands of products."""
    pairs, sums = 1024, []
    neighbours(list(range(pairs)), pairs, sums)

    def f(a, b):
        x = a[0] * b[:, 0]
        while len(x) > 1:
            x = x[::2] + x[1::2]
        return x[0]

    found = softmma.tree(f, pairs)
    assert normal(pairs, -1, found.sums) == normal(pairs, -1, sums)
    assert found.calls <= pairs * 5 + 300


def test_no_order(generator):
    with pytest.raises(ValueError, match="cannot tell: .* sums may be exact"):
        softmma.tree(lambda a, b: math.fsum(a[0].astype(float) * b[:, 0]), 30)
    with pytest.raises(ValueError, match="cannot tell: sums of integers are exact"):
        softmma.tree(np.matmul, 30, dtype="s8")
    with pytest.raises(ValueError, match="cannot tell: .*come through alone"):
        softmma.tree(lambda a, b: np.float32(0), 30)
    with pytest.raises(ValueError, match="cannot tell: "):
        softmma.tree(lambda a, b: (a @ b).astype(ml_dtypes.float8_e4m3fn), 30)
    with pytest.raises(ValueError, match="cannot tell: neither A's format nor B's has a sign"):
        softmma.tree(np.matmul, 30, dtype="e8m0")
    with pytest.raises(ValueError, match="f gives another result for the same arguments"):
        softmma.tree(lambda a, b: (a @ b) * np.float32(generator.choice([1, 1 + 2**-23])), 30)
    with pytest.raises(ValueError, match=r"returns an array of shape \(2,\); a product has \(1, 1\)"):
        softmma.tree(lambda a, b: np.zeros(2, np.float32), 30)
    with pytest.raises(ValueError, match="no such element"):
        softmma.tree(np.matmul, 30, element=(0, 1))
    with pytest.raises(ValueError, match="no such element"):
        softmma.tree(np.matmul, 0)


def test_changes_of_order():
    """A function that adds in another order each time is detected."""
    orders = iter(np.random.default_rng(0).permutation([0, 1] * 50000))

    def f(a, b):
        products = a[0] * b[:, 0]
        return np.cumsum(products[::-1] if next(orders) else products)[-1]

    with pytest.raises(ValueError, match="cannot tell|no function"):
        softmma.tree(f, 40)


def test_tensors():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    found = softmma.tree(torch.matmul, 100, m=3, n=4, dtype="f32", device="cpu")
    assert len(found.sums) == 99
    assert softmma.tree(torch.matmul, 33, dtype="bf16", device="cpu").k == 33


def test_unit_tree():
    """Checks the trees of a model, a named unit and a function, and the errors for a unit that ignores its products and
    for arguments of plans."""
    i = softmma.instruction("V100", "mma.m8n8k4.f32.f16.f16.f32")

    def in_order(a, b, c):
        with np.errstate(all="ignore"):
            for k in range(a.shape[1]):
                c = c + a[:, k].astype(np.float32) * b[:, k]
        return c

    model, named = softmma.unit_tree(i), softmma.unit_tree(i, unit="model")
    assert model == named and model.tree["fused"] and model.tree["terms"] == ["c", 0, 1, 2, 3]
    found = softmma.unit_tree(i, unit=in_order)
    assert (
        str(found) == "starting with c, 4 additions in a row, each of a product" and found.unit == "a Python function"
    )
    with pytest.raises(ValueError, match="cannot tell the order: "):
        softmma.unit_tree(i, unit=lambda a, b, c: c)
    with pytest.raises(ValueError, match="give both or neither"):
        softmma.unit_tree(i, k=64)
    with pytest.raises(ValueError, match="k is 0: the order of a plan"):
        softmma.unit_tree(i, plan="cutlass:2xacc", k=0)
