"""Events of test vectors: Python reports the same events as the command."""

import json

import numpy as np
import pytest

import softmma

TIER = "check"
INSTR = "mma.m16n8k16.f32.f16.f16.f32"


def test_events_are_those_of_the_command(command, tmp_path):
    file = tmp_path / "rows.txt"
    file.write_text(command("vectors", "gen", "--on", "H100", "--instr", INSTR, "--kind", "edge", "--rows", "300"))
    (said,) = json.loads(command("coverage", "--json", "--search", "5000", str(file)))
    x = softmma.coverage(*softmma.rows(300, "edge", on="H100", instr=INSTR), on="H100", instr=INSTR, search=5000)
    assert (x.rows, x.tried, x.hit, x.missed, x.impossible) == tuple(
        said[name] for name in ("rows", "tried", "hit", "missed", "impossible")
    )
    assert [(e["kind"], e["event"], e["hits"], e["state"], e.get("because")) for e in said["events"]] == list(x.events)
    assert x.instruction.name == INSTR and x.of("found by the search") and x.of("impossible")
    assert str(x).splitlines()[0].endswith(f"300 rows, {x.hit} of {x.hit + x.missed} events that are not impossible")
    assert "<table>" in x._repr_html_()


def test_files(command, tmp_path):
    """Saved counts are added to those of test vectors; a truncated file is reported."""
    rows, counts, cut = tmp_path / "rows.txt", tmp_path / "counts.json", tmp_path / "cut.json"
    rows.write_text(command("vectors", "gen", "--on", "H100", "--instr", INSTR, "--kind", "edge", "--rows", "50"))
    command("coverage", str(rows), "-o", str(counts))
    (once,), (twice,) = softmma.coverage_files(rows), softmma.coverage_files(rows, counts)
    assert (once.rows, twice.rows, twice.instruction) == (50, 100, softmma.instruction("H100", INSTR))
    assert [2 * e.hits for e in once.events] == [e.hits for e in twice.events]
    assert [e["hits"] for e in twice.value[0]["events"]] == [e.hits for e in twice.events]
    cut.write_text(counts.read_text()[:300])
    with pytest.raises(ValueError, match=r"cut.json:1:301: "):
        softmma.coverage_files(cut)
    with pytest.raises(ValueError, match="nothing.txt: No such file"):
        softmma.coverage_files(tmp_path / "nothing.txt")


def test_one_row_and_scale_factors():
    x = softmma.coverage(np.float16([1, 2]), np.float16([3, 4]), on="H100", instr=INSTR)
    y = softmma.coverage(np.float16([1, 2]), np.float16([3, 4]), np.float32(0), on="H100", instr=INSTR)
    assert x == y and x.rows == 1 and x.tried == 0 and 0 < x.hit < 100
    i = softmma.instruction("B200", "tcgen05.m128n8k32.block32.f32.e4m3.e4m3.ue8m0")
    a, b, c, scale_a, scale_b = softmma.rows(50, on=i)
    assert softmma.coverage(a, b, c, on=i, scale_a=scale_a, scale_b=scale_b).rows == 50


@pytest.mark.parametrize("wrong", [{"search": -1}, {"seed": 2**63}, {"scale_a": 1.0}])
def test_what_is_wrong(wrong):
    with pytest.raises(ValueError):
        softmma.coverage(np.float16([[1]]), np.float16([[1]]), on="H100", instr=INSTR, **wrong)
