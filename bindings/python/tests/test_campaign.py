"""Campaigns, shards, recordings and vector files of Python functions; test_parity compares them with the command."""

import json

import numpy as np
import pytest

import softmma
from conftest import bits

TIER = "check"
I = softmma.instruction("A100", "mma.m16n8k16.f32.f16.f16.f32")


def model(a, b, c):
    return softmma.dot(a, b, c, on=I)


def flushed(a, b, c):
    """Computes as the model, except that a subnormal b[5] counts as zero."""
    b = b.copy()
    b[(np.abs(b[:, 5]) < 2.0**-14), 5] *= 0
    return softmma.dot(a, b, c, on=I)


def test_campaign_of_a_function():
    found = softmma.campaign(model, on=I, rows=3000)
    assert found and found.complete and found.mismatches == 0 and found.value["softmma-report"] == 1
    assert found.unit["name"] == "a Python function" and found.against["name"] == "model"
    found = softmma.campaign(flushed, on=I, rows=70000)
    assert not found and found.mismatches > 0
    (kind,) = found.classes
    assert kind["change"] == "a subnormal b[5] counts as zero" and kind["arch"] == "ampere"
    assert str(found) == f"instructions=1 rows=70000 mismatches={found.mismatches}"


def test_going_on_and_shards(tmp_path):
    file = tmp_path / "state.json"
    softmma.campaign(flushed, on=I, rows=66000, kind="edge", resume=file)
    whole = softmma.campaign(flushed, on=I, rows=140000, kind="edge", resume=file)
    parts = [softmma.campaign(flushed, on=I, rows=140000, kind="edge", shard=(n, 3)) for n in (1, 2, 3)]
    assert all("classes" not in i for part in parts for i in part.instructions)
    merged = softmma.merge(reversed(parts))
    again = softmma.campaign(flushed, on=I, rows=140000, kind="edge", resume=merged)
    assert again.instructions == whole.instructions and again.mismatches == merged.mismatches > 0
    with pytest.raises(ValueError, match="report 1 and report 2 are both shard 2 of 3"):
        softmma.merge([parts[1], parts[1], parts[2]])
    with pytest.raises(ValueError, match="shard 1 of 3 is missing"):
        softmma.merge(parts[1:])
    with pytest.raises(ValueError, match="resume is of another seed than 1"):
        softmma.campaign(flushed, on=I, rows=140000, kind="edge", resume=whole, seed=1)
    with pytest.raises(ValueError, match="no shard's report"):
        softmma.merge([file])


def test_interrupted(tmp_path):
    """If the unit raises an exception, the file still has the test vectors that were compared before it."""
    calls = []

    def ends(a, b, c):
        calls.append(len(a))
        if sum(calls) > 10**6:
            raise KeyboardInterrupt
        return model(a, b, c)

    file = tmp_path / "state.json"
    with pytest.raises(KeyboardInterrupt):
        softmma.campaign(ends, on=I, rows=10**9, kind="zeros", resume=file)
    report = json.loads(file.read_text())
    assert not report["complete"] and report["instructions"][0]["rows"] >= 65536


def test_recording(tmp_path):
    kept = softmma.record(flushed, on=I, rows=70000)
    assert kept.a.shape == (70000, 16) and kept.d.shape == kept.c.shape == (70000,) and kept.scale_a is None
    assert (bits(kept.d) == bits(flushed(kept.a, kept.b, kept.c))).all() and len(kept) == 70000
    assert kept.recorded_on.startswith("a Python function; ")
    kept.write(tmp_path / "rows.txt")
    found = softmma.verify(tmp_path)
    assert not found and found.files == 1 and found.rows == 70000 and len(found.shown) == 10
    (of_file,) = found.classes
    assert of_file["classes"]["list"][0]["change"] == "a subnormal b[5] counts as zero"
    assert softmma.verify([tmp_path / "rows.txt"], unit=flushed)
    of_rows = softmma.verify(kept)
    assert of_rows.classes[0]["classes"]["list"][0]["change"] == "a subnormal b[5] counts as zero"
    assert of_rows.mismatches == found.mismatches and softmma.verify(kept, unit=flushed).rows == 70000
    assert of_rows.shown[0]["file"] == "rows" and not of_rows.shown[0]["got"] == of_rows.shown[0]["expected"]
    with pytest.raises(ValueError, match="format: 'parquet' is not text"):
        kept.write(tmp_path / "rows.parquet", "parquet")


@pytest.mark.parametrize("call", [lambda: softmma.verify([]), lambda: softmma.coverage_files()])
def test_no_file_is_an_error(call):
    with pytest.raises(ValueError, match="^paths: "):
        call()


def test_verify_takes_only_numbers_of_the_formats():
    """A machine cannot have had other operands or results, so they are not rounded to those of the models."""
    on = {"on": "A100", "instr": "HMMA.16816.F16"}
    a, b, c = softmma.rows(20, kind="normal", **on)
    d = softmma.dot(a, b, c, **on)
    assert softmma.verify(rows=(a.astype(np.float64), b.view(np.uint16), c, d.astype(np.float32)), **on)
    for n, name in enumerate("abcd"):
        given = [a, b, c, d]
        given[n] = given[n].astype(np.float32) * np.float32(1.0001)
        with pytest.raises(ValueError, match=rf"^{name}: \d+ values are not numbers of f16, the instruction's format"):
            softmma.verify(rows=given, **on)
    zeros, special = np.zeros((4, 16), np.int8), np.float64([np.nan, np.inf, -np.inf, 0])
    assert softmma.verify(rows=(zeros, zeros, special, softmma.dot(zeros, zeros, special, **on)), **on)


def test_rows_with_scale_factors():
    on = {"on": "B200", "instr": "tcgen05.m128n8k32.block32.f32.e4m3.e4m3.ue8m0"}
    kept = softmma.record("model", **on, rows=300)
    assert softmma.verify(kept)
    changed = bits(kept.d).copy()
    changed[7] ^= 1
    found = softmma.verify(rows=(kept.a, kept.b, kept.c, changed, kept.scale_a, kept.scale_b), **on)
    assert found.mismatches == 1 and found.shown[0]["line"] == 8


def test_open_questions_of_a_function():
    def negative(a, b, c):
        d = model(a, b, c)
        return np.where(d == 0, np.float32(-0.0), d)

    found = softmma.campaign(negative, on=I, open=True)
    assert found.answers == len(found.experiments) and found.others == 1 and not found
    assert softmma.campaign(model, on=I, open=True)
    assert {x["experiment"] for x in found.experiments if x["answer"] != "as the model"} == {"zero-sign"}


def test_next_of_functions():
    found = softmma.next([model, flushed, "model"], on=I, rows=4)
    assert not found and found.not_told_apart == ((0, 2),) and found.d.shape == (len(found.a), 3)
    assert (bits(found.d[:, 0]) == bits(model(found.a, found.b, found.c))).all()
    assert (bits(found.d[:, 1]) == bits(flushed(found.a, found.b, found.c))).all()
    assert (found.different == 2).all()


def test_tables():
    pytest.importorskip("pandas")
    found = softmma.campaign(flushed, on=I, rows=20000)
    assert found.to_pandas()["mismatches"].tolist() == [found.mismatches]


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"rows": 0}, "rows is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"kind": "diagonals"}, "kind: there is no 'diagonals'"),
        ({"shard": (3, 2)}, r"shard is \(3, 2\)"),
        ({"unit": "modle"}, "unknown unit 'modle'; nearest: model"),
        ({"unit": lambda a, b, c: c[:1]}, "the function returned"),
        ({"only": "zero-sign"}, "only and every are of open=True"),
        ({"open": True, "rows": 5}, "open has rows of its own"),
        ({"open": True, "only": "zero"}, "unknown experiment 'zero'"),
        ({"on": None, "instr": "mma"}, "on says which"),
        ({"resume": {}}, "resume is of another unit than model"),
        ({"resume": "."}, "no regular file"),
    ],
)
def test_wrong(wrong, said):
    with pytest.raises(ValueError, match=said):
        softmma.campaign(**{"unit": "model", "on": I, "rows": 100, **wrong} if "open" not in wrong else
                         {"unit": "model", "on": I, **wrong})  # fmt: skip


def test_wrong_elsewhere(tmp_path):
    with pytest.raises(LookupError):
        softmma.campaign("model", on="H1000")
    with pytest.raises(OSError, match="off the bus"):
        softmma.record(fails, on=I, rows=3)
    with pytest.raises(ValueError, match="no vector file found"):
        softmma.verify(tmp_path)
    with pytest.raises(ValueError, match="none.txt: No such file"):
        softmma.verify("none.txt")
    a, b, c = softmma.rows(5, on=I)
    for rows, said in [((a, b, c), "rows: 3 arrays"), ((a, b, c[:4], c), "c: of 5 rows"), ((a[:, :3], b, c, c), "a: of 5")]:
        with pytest.raises(ValueError, match=said):
            softmma.verify(rows=rows, on=I)
    with pytest.raises(ValueError, match="give paths or rows"):
        softmma.verify("rows.txt", rows=(a, b, c, c), on=I)
    with pytest.raises(ValueError, match="units: 1; give 2 to 16"):
        softmma.next(["model"], on=I)
    with pytest.raises(ValueError, match="reports: there are none"):
        softmma.merge([])


def fails(a, b, c):
    raise OSError("the device fell off the bus")
