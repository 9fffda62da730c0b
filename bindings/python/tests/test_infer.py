"""Models inferred for black boxes: functions, and units by name."""

import json
import os
import signal
import threading

import numpy as np
import pytest

import softmma
from conftest import bits

TIER = "check"

V100 = softmma.instruction("V100", "mma.m8n8k4.f32.f16.f16.f32")
FEW = {"rows": 5000, "search": 2000}


def volta(a, b, c):
    return softmma.dot(a, b, c, on=V100)


def in_order(a, b, c):
    with np.errstate(all="ignore"):
        for k in range(a.shape[1]):
            c = c + a[:, k].astype(np.float32) * b[:, k].astype(np.float32)
    return c


@pytest.fixture(scope="module")
def told():
    return []


@pytest.fixture(scope="module")
def found(told):
    def unit(a, b, c):
        assert a.dtype == b.dtype == np.float16 and c.dtype == np.float32
        assert a.shape == b.shape == (len(c), 4) and c.ndim == 1
        a, b, c = a.copy(), b.copy(), c.copy()
        return volta(a, b, c)

    return softmma.infer(unit, on=V100, **FEW, progress=told.append)


def test_found(found, told, generator):
    assert found and found.outcome == "found" and found.unit == "unit" and found.instruction == V100
    assert found.same.name == V100.name and found.same.arch == "volta"
    assert softmma.equal(found.model, V100)
    assert found.fresh == 5000 and found.rows > 4000 and found.calls > 1 and found.wrong == 0
    assert found.nan == "all-ones" and found.misfit is None and found.no_function is None
    assert any("checking" in line for line in told)
    a, b = generator.standard_normal((8, 8)), generator.standard_normal((8, 8))
    d = softmma.matmul(a, b, on=found.model, in_dtype="f16")
    np.testing.assert_array_equal(bits(d), bits(softmma.matmul(a, b, on="V100", in_dtype="f16")))


def test_proof(found):
    """For a test vector that excludes a value, the model has the unit's result, and the value gives another."""
    parameter = {p.name: p for p in found.parameters}["alignment_bits"]
    assert parameter.value == 23 and parameter.step == 1
    assert parameter.values("excluded") == (22, 24, "exact") and parameter.values("free") == ()
    rows = found.proof
    np.testing.assert_array_equal(bits(softmma.dot(*rows[:3], on=found.model)), bits(rows.d))
    excluded = [n for p in found.parameters for n in p.neighbours if n.status == "excluded"]
    assert sorted({n.row for n in excluded}) == list(range(len(rows.d)))
    assert all(bits(n.d) != bits(rows.d[n.row]) for n in excluded)
    for n in parameter.neighbours[:2]:
        other = softmma.Custom({**found.model.to_custom(), "alignment_bits": n.value})
        assert bits(softmma.dot(*(x[n.row] for x in rows[:3]), on=other)) == bits(n.d)


def test_report(found):
    lines = repr(found).splitlines()
    assert lines[0] == f"volta {V100.name} on unit: found" and lines[1] == f"model: {V100._model_text()}"
    assert any(line.split() == ["step", "1", "alignment_bits", "23", "22,", "24,", "exact", "-"] for line in lines)
    assert "all others" in repr(found) and "overflow (step 1)" in lines[-1]
    assert "left open" not in repr(found) and "<table>" in found._repr_html_()


def test_command(found, command):
    """Checks that the function and the command return the same outcome, model, parameters and test vectors."""
    said = json.loads(command("infer", "--unit", "model", "--on", "V100", "--instr", V100.name, "--rows", FEW["rows"],
                              "--search", FEW["search"], "--json"))  # fmt: skip
    assert said["outcome"] == found.outcome and said["model"] == found.model.to_custom()
    for name in ("rows", "calls", "fresh", "rounds", "tried", "samples", "wrong", "nan"):
        assert said[name] == getattr(found, name), name
    assert [(p["step"], p["key"], p["value"]) for p in said["parameters"]] == [
        (p.step, p.name, str(p.value)) for p in found.parameters
    ]
    for theirs, own in zip(said["parameters"], found.parameters, strict=True):
        for x, y in zip(theirs["neighbours"], own.neighbours, strict=True):
            assert (x["value"], x["is"]) == (str(y.value), y.status)
            if y.row is not None:
                assert int(x["row"]["with_value"][0], 16) == bits(y.d)[0]
                assert [int(v, 16) for v in x["row"]["a"]] == list(bits(found.proof.a[y.row]))


def test_other_k():
    found = softmma.infer(in_order, on="V100", in_dtype="f16", k=2, **FEW)
    assert found and found.instruction.k == found.model.k == 2 and found.model.model == "FMA" and found.same is None
    with pytest.raises(ValueError, match="k is 2: a model of .* has K = 4"):
        softmma.infer("model", on=V100, k=2)
    with pytest.raises(ValueError, match="k is 65; it is from 1 to 64"):
        softmma.infer(in_order, on=V100, k=65)


def test_a_bug_at_one_exponent():
    def exponents(x):
        return np.where(np.isfinite(x) & (x != 0), np.maximum(np.frexp(x.astype(float))[1] - 1, -14), -100)

    def unit(a, b, c):
        d = in_order(a, b, c)
        wrong = ((exponents(a) + exponents(b))[:, 0] == 5) & np.isfinite(d)
        return (bits(d) ^ wrong.astype(np.uint32) << 8).view(np.float32)

    found = softmma.infer(unit, on="V100", in_dtype="f16", k=1, budget=10**6, **FEW)
    m = found.misfit
    assert not found and found.outcome == "not found" and found.model is not None
    assert found.because.startswith("models have computed the budget of 1000000 vectors, ")
    assert found.because in repr(found)
    assert found.structures >= found.left > 0 and found.computed >= 10**6
    assert 0 < m.share < 0.1 and m.wrong == sum(wrong for wrong, _ in m.kinds.values())
    assert m.asked == sum(asked for _, asked in m.kinds.values())
    assert "the greatest always of exponent 5" in m.where and "all with a product at k = 0" in m.where
    np.testing.assert_array_equal(bits(unit(*m.rows[:3])), bits(m.rows.d))
    np.testing.assert_array_equal(bits(softmma.dot(*m.rows[:3], on=found.model)), bits(m.model))
    assert (bits(m.model) != bits(m.rows.d)).all()
    assert m.where in repr(found) and f"{m.wrong} of {m.asked} new rows: " in repr(found)


def test_no_function(generator):
    """infer reports that a unit with random results is no function. The unit has scale factors."""
    name, shapes = "tcgen05.m128n8k32.block32.f32.e4m3.e4m3.ue8m0", set()

    def unit(a, b, c, scale_a, scale_b):
        shapes.add((a.shape[1:], c.shape[1:], scale_a.shape[1:], scale_b.dtype.name, len(a) == len(scale_b)))
        return generator.standard_normal(len(a)).astype(np.float32)

    found = softmma.infer(unit, on="B200", instr=name, **FEW)
    assert shapes == {((32,), (), (1,), "float8_e8m0fnu", True)}
    n = found.no_function
    assert not found and found.outcome == "no function" and found.model is None and not found.parameters
    assert (n.row, n.place, n.at_once) == (0, 0, True) and n.batch > 1000 and n.not_repeated == n.batch
    assert n.operands.a.shape == (1, 32) and n.operands.scale_a.shape == (1, 1) and len(found.proof.d) == 0
    assert "repeated at place 0" in repr(found)
    assert n.neighbour is None and n.why.startswith("cannot tell what decides")


def test_a_neighbour_matters():
    """infer finds that a unit's result depends on the previous test vector."""

    def unit(a, b, c):
        d = volta(a, b, c)
        return np.where((np.roll(bits(c), 1) & 7 == 0) & np.isfinite(d), -d, d)

    found = softmma.infer(unit, on=V100, **FEW)
    n = found.no_function
    assert n and n.not_alike and not n.not_repeated and not n.at_once
    assert n.neighbour in (n.row - 1, n.row + 1) and n.why.startswith("a neighbour decides") and n.why in repr(found)


def test_exceptions():
    def fails(a, b, c):
        raise OSError("the GPU is not there")

    def says(line):
        raise KeyError(line)

    with pytest.raises(OSError, match="not there"):
        softmma.infer(fails, on=V100)
    with pytest.raises(KeyError, match="is it a function"):
        softmma.infer(volta, on=V100, progress=says)
    with pytest.raises(ValueError, match=r"the function returned \(3,\) for \d+ rows"):
        softmma.infer(lambda a, b, c: np.zeros(3), on=V100)
    with pytest.raises(ValueError, match=r"the function returned \(\d+, 1\) for \d+ rows"):
        softmma.infer(lambda a, b, c: c[:, None], on=V100)
    with pytest.raises(TypeError, match="the function's result: its dtype, complex128, is no number format"):
        softmma.infer(lambda a, b, c: np.zeros(len(a), complex), on=V100)
    with pytest.raises(TypeError, match="argument"):
        softmma.infer(lambda a, b: a, on=V100)


def test_most_rows():
    found = softmma.infer(volta, on=V100, **FEW, most_rows=36000)
    assert found and found.rows + found.fresh == 36000


def test_arguments():
    with pytest.raises(TypeError, match="unit is 3; give a function"):
        softmma.infer(3)
    with pytest.raises(LookupError):
        softmma.infer(volta, on="V1000")
    for wrong in ({"rows": -1}, {"search": 0}, {"seed": 2**63}):
        with pytest.raises(ValueError, match="is -?[0-9]+; it is from [01] to"):
            softmma.infer(volta, on=V100, **wrong)
    with pytest.raises(ValueError, match="budget is 0; it is from 1"):
        softmma.infer(volta, on=V100, budget=0)
    with pytest.raises(ValueError, match="unknown unit 'modle'; nearest: model"):
        softmma.infer("modle", on=V100)
    with pytest.raises(ValueError, match="nothing.json"):
        softmma.infer("custom:nothing.json", on=V100)
    with pytest.raises(ValueError, match="zero character"):
        softmma.infer("model\0", on=V100)


def test_units_by_name(tmp_path):
    """A custom unit from a file is inferred by name. It accepts only test vectors in its own formats."""
    description = {"name": "two", "algorithm": "FMA", "k": 2, "a": "bf16", "b": "bf16", "d": "f32"}
    path = tmp_path / "unit.json"
    path.write_text(json.dumps({"softmma-unit": 1, **description}))
    with pytest.raises(ValueError, match="the custom unit has k = 2"):
        softmma.infer(f"custom:{path}", on=V100)
    for unit in f"custom:{path}", "model":
        found = softmma.infer(unit, on=softmma.Custom(path), **FEW)
        assert found and found.model.model == "FMA" and found.same is None and found.unit == unit


@pytest.mark.all
def test_record(tmp_path, found):
    """Recorded answers are not requested again; they are also a recording."""
    path, asked = tmp_path / "answers.txt", []

    def unit(a, b, c):
        asked.append(len(a))
        return volta(a, b, c)

    with pytest.raises(KeyError):
        softmma.infer(unit, on=V100, **FEW, record=path, progress=lambda line: {}[line[:3]] and None)
    kept = softmma.infer(unit, on=V100, **FEW, record=path)
    first = sum(asked)
    asked.clear()
    again = softmma.infer(unit, on=V100, **FEW, record=str(path))
    assert kept and again and again.parameters[0] == kept.parameters[0] and again.rows == found.rows
    assert sum(asked) < first - 4000
    with pytest.raises(RuntimeError, match="this search's record has"):
        softmma.infer(unit, on=V100, **FEW, record=path, seed=5)
    recorded = softmma.infer(f"file:{path}", on=V100, search=500)
    assert recorded and recorded.model.parameters["F"] == 23 and recorded.fresh == 0
    with pytest.raises(ValueError, match="is a recording already"):
        softmma.infer(f"file:{path}", on=V100, record=tmp_path / "other.txt")
    with pytest.raises(ValueError, match="has its rows already"):
        softmma.infer(f"file:{path}", on=V100, most_rows=5)


def test_rivals(tmp_path):
    """If a few recorded test vectors agree with several models, infer lists the models, each with a test vector that
    would distinguish it."""
    path = tmp_path / "rows.txt"
    softmma.infer(volta, on=V100, **FEW, record=path)
    rows = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    head = [line for line in path.read_text().splitlines() if line.startswith("#")]
    path.write_text("\n".join([*head, *rows[100:124]]) + "\n")
    found = softmma.infer(f"file:{path}", on=V100, search=500)
    assert found and found.rivals and not found.more_rivals and "other models found that agree" in str(found)
    for rival in found.rivals:
        a, b, c = (getattr(found.proof, name)[rival.row : rival.row + 1] for name in "abc")
        assert softmma.dot(a, b, c, on=rival.model) == rival.d != softmma.dot(a, b, c, on=found.model)


@pytest.mark.parametrize("unit", ["model", lambda a, b, c: softmma.dot(a, b, c, on="H100")], ids=["name", "function"])
def test_interrupt(unit):
    """Control-C ends an endless search; another thread, which sends the signal, runs at the same time."""
    sender = threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT))

    def begun(line):
        if sender.ident is None:
            sender.start()

    with pytest.raises(KeyboardInterrupt):
        softmma.infer(unit, on="H100", in_dtype="e4m3", rows=10**12, search=10**6, progress=begun)
    sender.join()


def test_inside_a_unit():
    """A unit's function may itself call units of the package. Exceptions that it catches do not affect the search."""
    seen = []

    def unit(a, b, c):
        if not seen:
            seen.append(softmma.infer(volta, on=V100, most_rows=1, **FEW).because)
            with pytest.raises(ZeroDivisionError):
                softmma.probe(V100, unit=lambda a, b, c: 1 // 0)
        return volta(a, b, c)

    assert softmma.infer(unit, on=V100, **FEW) and seen == ["the limit of 1 rows is reached"]
