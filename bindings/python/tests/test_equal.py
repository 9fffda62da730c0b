"""`equal` and `permute` give the command's answers, and their counterexamples are correct."""

import json

import numpy as np
import pytest

import softmma
from conftest import bits

TIER = "check"
HALVES = {"name": "halves", "sum": [{"deal": "contiguous", "parts": 2}]}


@pytest.mark.parametrize(
    ("targets", "options", "arguments"),
    [
        (("H100", "B200"), {"in_dtype": "bf16"}, ["--in", "bf16"]),
        (("H100:e4m3", "B200:e4m3"), {}, []),
        (("A100:bf16", "L40S:bf16"), {}, []),
        (("H100", "H100"), {"in_dtype": "e4m3", "plan": (None, "cutlass:2xacc")}, ["--plan", "none,cutlass:2xacc"]),
        (("H100", "H100"), {"in_dtype": "e4m3", "plan": "deepgemm", "k": 300}, ["--plan", "deepgemm", "-k", 300]),
        (("H100", "A100"), {"k": 40}, ["-k", 40]),
        (("H100:tf32", ":f16"), {}, []),
        (("B200:e2m1", "B200:e2m3"), {}, []),
    ],
)
def test_command(command, targets, options, arguments):
    found = softmma.equal(*targets, **options)
    if "in_dtype" in options and "--in" not in arguments:  # cases may omit --in if it equals in_dtype
        arguments = [*arguments, "--in", options["in_dtype"]]
    report = json.loads(command("diff", "--prove", *targets, *arguments, "--json", status=(0, 1, 2)))
    assert found.answer == report["answer"] and bool(found) == (report["answer"] == "equal")
    assert found.rows == report["rows"]
    if found.row is not None and report["row"]:
        assert [int(d.view(f"u{d.itemsize}")[0]) for d in found.row.results] == [
            int(x[0], 16) for x in report["row"]["d"]
        ]


@pytest.mark.parametrize(("x", "y"), [("H100:tf32", "H100:f16"), ("H100:bf16", "H100:f16"), ("B200:e2m1", "B200:e4m3")])
def test_row_of_common_operands(x, y):
    """The operands of the test vector are numbers of both formats, and matmul returns the results that the
    counterexample states."""
    row = softmma.equal(x, y).row
    for target, d in zip((x, y), row.results):
        gpu, inputs = target.split(":")
        a, b = (softmma.round(values.astype(np.float64), inputs) for values in (row.a, row.b))
        for values, cast in (row.a, a), (row.b, b):
            np.testing.assert_array_equal(values.astype(np.float64), cast.astype(np.float64))
        computed = softmma.matmul(a[None, :], b[:, None], row.c.reshape(1, 1), on=gpu, in_dtype=inputs)
        assert bits(computed).ravel() == bits(d).ravel()


def test_row():
    """For the counterexample, matmul returns the two results that the counterexample states."""
    plan = softmma.Plan(HALVES)
    found = softmma.equal("H100", "H100", plan=[None, plan], k=40)
    assert found.answer == "different" and found.k == found.row.k == 40 and not found
    a, b = np.zeros((2, 1, 40), np.float16)
    a[0, list(found.row.at)], b[0, list(found.row.at)] = found.row.a, found.row.b
    results = [softmma.matmul(a, b.T, on="H100"), softmma.matmul(a, b.T, on="H100", plan=plan)]
    assert [bits(d)[0, 0] for d in results] == [bits(d)[0] for d in found.row.results]
    assert "halves" in found.why


def test_proved_for_multiples():
    found = softmma.equal(*(f"MI300X:v_mfma_f32_{shape}_bf16" for shape in ("16x16x16", "32x32x8")))
    assert found and found.multiple_of == 16 and found.k is None
    assert found.row is not None and found.row.k % 16


def test_errors():
    with pytest.raises(ValueError, match="give one for both"):
        softmma.equal("H100", "B200", plan=[None] * 3)
    with pytest.raises(ValueError, match="rows is 0"):
        softmma.equal("H100", "B200", rows=0)
    with pytest.raises(ValueError, match="k is 0"):
        softmma.equal("H100", "B200", k=0)
    with pytest.raises(LookupError):
        softmma.equal("H100", "B2000")
    with pytest.raises(ValueError, match="no functions of the same operands"):
        softmma.equal("H100:bf16", "H100:s8")
    with pytest.raises(ValueError, match="beyond K"):
        softmma.equal("H100", "H100", plan={"name": "x", "sum": [{"deal": "list", "list": [[[0, 90]]]}]}, k=64)


def test_permute():
    """If the two k that the counterexample names are exchanged, matmul returns the second result that it states."""
    found = softmma.permute("A100")
    assert not found and found.order == "matters" and found.zeros == "change nothing" and found.k is None
    a, b = (np.array(x)[None, :] for x in (found.row.a, found.row.b))
    order = np.arange(found.row.k)
    order[list(found.exchanged)] = order[list(found.exchanged)[::-1]]
    results = [
        softmma.matmul(a[:, o], b[:, o].T, found.row.c[:, None], on="A100") for o in (np.arange(found.row.k), order)
    ]
    assert [bits(d)[0, 0] for d in results] == [bits(d)[0] for d in found.row.results]
    planned = softmma.permute("H100", plan=HALVES, k=40)
    assert planned.k == 40 and planned.block_k is None and planned.value["plan"] == "halves"


def test_printed():
    """Answers are printed as one sentence."""
    assert repr(softmma.equal("H100", "H200")).startswith("equal: both are one chain over k, 16 products")
    found = softmma.equal("H100", "A100")
    one, other = (str(result[0]) for result in found.row.results)
    assert repr(found) == f"different: {found.why}; a counterexample of K = 16, `row`, gives {one} and {other}"
    assert repr(softmma.permute("A100:s8")).startswith("order of k: any; ")
    assert "with k = 0 and 31 exchanged, a counterexample of K = 32" in repr(softmma.permute("A100"))


@pytest.mark.parametrize(
    ("on", "k", "answer"),
    [("H100:f16", 16, "any"), ("H100:f16", 1, "any"), ("V100", 2, "any"), ("B200:mxfp8", 32, "any"),
     ("H100:f16", 17, "matters"), ("MI250X:f16", 4, "matters"), ("B200:mxfp8", 64, "cannot tell")],
)  # fmt: skip
def test_order_within_one_sum(on, k, answer):
    """One fused sum has no order."""
    found = softmma.permute(on, k=k, rows=1000)
    assert answer in found.order or answer in found.text.splitlines()[1]
    assert "0 rows" not in found.text
