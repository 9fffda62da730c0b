"""Python returns the results of the command."""

import json

import numpy as np
import pytest

import softmma
from conftest import bits, random_encodings
from test_vectors import columns, differs

TIER = "check"
INSTRUCTIONS = softmma.instructions()


@pytest.mark.parametrize("arch", sorted({i.arch for i in INSTRUCTIONS}))
def test_every_instruction(command, arch):
    """Checks test vectors of `softmma vectors gen`, of every kind, on every instruction."""
    for i in softmma.instructions(arch):
        output = command("vectors", "gen", "--on", arch, "--instr", i.name, "--rows", 60, "--seed", 1)
        lines = [line.split() for line in output.splitlines() if not line.startswith("#")]
        a, b, c, scale_a, scale_b, d = columns(i, np.array([[int(x, 16) for x in line] for line in lines], np.uint64))
        wrong = differs(i, d, softmma.dot(a, b, c, on=i, scale_a=scale_a, scale_b=scale_b))
        assert not wrong.size, f"{i.name}, row {wrong[0] + 1} of softmma vectors gen --seed 1"


def test_catalogue(command):
    """Python lists the same instructions, with the same fields, in the same order."""
    listed = json.loads(command("list", "--json"))
    ours = softmma.instructions(every_n=True)
    assert len(ours) == len(listed)
    for i, row in zip(ours, listed):
        scale = f"{i.scale} per {i.scale_block}" if i.scale else None
        assert (i.arch, i.name, i.m, i.n, i.k, i.a, i.b, i.c, i.d, scale, i.model) == tuple(
            row[key] for key in ("arch", "name", "m", "n", "k", "a", "b", "c", "d", "scale", "model")
        )
        assert dict(i.parameters) == row["parameters"]
        assert (list(i.evidence), list(i.questions), i.basis) == (row["evidence"], row["questions"], row["basis"])
    for i, row in list(zip(ours, listed))[::50]:
        assert i.aliases == row["aliases"]


def test_lists(command):
    rows = int(command("list").split()[-2])
    assert len(INSTRUCTIONS) == rows
    gpus = [(row["arch"], row["name"]) for row in json.loads(command("list", "--gpus", "--json"))]
    assert [(gpu.arch, gpu.name) for gpu in softmma.gpus()] == gpus
    formats = [row["name"] for row in json.loads(command("list", "--formats", "--json"))]
    assert [format.name for format in softmma.formats()] == formats


PRODUCTS = [
    ("V100", "f16", []),
    ("A100", "tf32", ["--split-k", "2"]),
    ("A100", "f64", []),
    ("L40S", "e4m3", ["--promote-every", "64"]),
    ("H100", "bf16", ["--alpha", "0.5", "--beta", "2", "--scaling", "operands"]),
    ("H100", "e5m2", ["--alpha", "3", "--beta", "0.3"]),
    ("B200", "e2m1", []),
    ("MI250X", "f16", []),
    ("MI300X", "e4m3fnuz", []),
    ("MI300X", "f32", []),
]
KEYWORDS = {
    "--scaling": "scaling",
    "--split-k": "split_k",
    "--promote-every": "promote_every",
    "--alpha": "alpha",
    "--beta": "beta",
}


@pytest.mark.parametrize("gpu, format, options", PRODUCTS)
def test_products(command, tmp_path, generator, gpu, format, options):
    """gemm returns the command's whole products, for values that must be rounded and for the command's options."""
    a, b = generator.standard_normal((37, 150)), generator.standard_normal((150, 29))
    c = generator.standard_normal((37, 29)).astype(np.float64 if format == "f64" else np.float32)
    for name, array in ("a", a), ("b", b), ("c", c):
        np.save(tmp_path / f"{name}.npy", array)
    files = [tmp_path / "a.npy", tmp_path / "b.npy", "-C", tmp_path / "c.npy", "-o", tmp_path / "d.npy"]
    command("gemm", "--on", gpu, "--in", format, *files, *options)
    values = [value if value.isalpha() else json.loads(value) for value in options[1::2]]
    keywords = {KEYWORDS[name]: value for name, value in zip(options[::2], values)}
    d = softmma.matmul(a, b, c, on=gpu, in_dtype=format, **keywords)
    np.testing.assert_array_equal(bits(d), bits(np.load(tmp_path / "d.npy")))


def test_block_scaled(command, tmp_path, generator):
    a, b = random_encodings(generator, (9, 100), "e2m1"), random_encodings(generator, (100, 5), "e2m1")
    scale_a, scale_b = random_encodings(generator, (9, 7), "ue8m0"), random_encodings(generator, (7, 5), "ue8m0")
    scale_a, scale_b = (softmma.round(1 + np.abs(bits(x).astype(float)) % 9, "ue4m3") for x in (scale_a, scale_b))
    for name, array in ("a", a), ("b", b), ("sa", scale_a), ("sb", scale_b):
        np.save(tmp_path / f"{name}.npy", bits(array))
    name = "tcgen05.m128n8k64.block16.f32.e2m1.e2m1.ue4m3"
    files = [tmp_path / "a.npy", tmp_path / "b.npy", "-o", tmp_path / "d.npy"]
    scales = ["--scale-a", tmp_path / "sa.npy", "--scale-b", tmp_path / "sb.npy"]
    command("gemm", "--on", "B200", "--raw", "--instr", name, *files, *scales)
    for options in {"instr": name}, {}:
        d = softmma.matmul(a, b, on="B200", scale_a=scale_a, scale_b=scale_b, **options)
        np.testing.assert_array_equal(bits(d), bits(np.load(tmp_path / "d.npy")))


def test_compare(command, tmp_path, generator):
    a, b = (generator.standard_normal(shape).astype(np.float32) for shape in ((20, 64), (64, 10)))
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    on = ["V100", "H100", "H100:e4m3", "MI300X"]
    told = json.loads(
        command("compare", "--json", "--on", ",".join(on), tmp_path / "a.npy", tmp_path / "b.npy", status=(1,))
    )
    ours = softmma.compare(a, b, on)
    for unit, row in zip(ours, told["units"]):
        assert unit.label.startswith(row["on"]) and unit.instruction.name == row["instruction"]
        assert unit.error == pytest.approx(row["error"]["largest"], rel=1e-15)
        assert unit.unit_error == pytest.approx(row["unit_error"]["largest"], rel=1e-15)
    pairs = ours.pairs()
    for pair in told["pairs"]:
        assert pairs[pair["first"], pair["second"]] == pair["different"]
        if pair["first"] == 0:
            unit = ours[pair["second"]]
            assert (unit.different, unit.largest_ulps, unit.special) == tuple(
                pair[key] for key in ("different", "largest_ulps", "special")
            )
            assert unit.largest_difference == pair["largest_difference"]


@pytest.mark.parametrize("gpu", ["H100", "MI250X"])
def test_probe(command, gpu):
    told = json.loads(command("probe", "--json", "--on", gpu, "--in", "f16"))[0]
    ours = softmma.probe(gpu)
    assert ours.rows == told["rows"]
    assert {name: finding.value for name, finding in ours.items()} == {
        name: feature["value"] for name, feature in told["features"].items()
    }


def test_explain(command):
    operands = ["-a", "-8192 1*3 0*12", "-b", "1024 -0.5 -0.25 -0.125 0*12", "-c", "0x1p23"]
    a, b, c = [-8192, 1, 1, 1], [1024, -0.5, -0.25, -0.125], 2.0**23
    one = ["--on", "H100", "--instr", "HMMA.16816.F32"]
    explanation = softmma.explain(a, b, c, instr="HMMA.16816.F32")
    assert explanation.text == command("explain", *one, *operands)
    assert explanation.svg == command("explain", *one, *operands, "--svg", "-")
    two = ["--on", "H100,A100", "--instr", "HMMA.16816.F32"]
    both = softmma.explain(a, b, c, on=("H100", "A100"), instr="HMMA.16816.F32")
    assert both.text == command("explain", *two, *operands, status=(1,))
    assert both.difference == json.loads(command("explain", *two, *operands, "--json", status=(1,)))["first_difference"]
