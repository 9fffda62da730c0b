"""Plans: ways to make one, products that follow one, plans of libraries, error messages."""

import importlib.util
import json
import os
import pickle
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import softmma
from conftest import REPOSITORY, bits

TIER = "check"
SLICES = {"name": "three slices", "sum": [{"deal": "contiguous", "parts": 3, "grain": 16}]}
HALF = {"name": "half", "d": "f16", "sum": [{"deal": "interleaved", "parts": 2, "tile": 16}]}


def same(x, y):
    assert x.dtype == y.dtype and x.shape == y.shape
    np.testing.assert_array_equal(bits(x), bits(y))


@pytest.fixture
def operands(generator):
    return [generator.standard_normal(shape).astype(np.float16) for shape in ((5, 130), (130, 7))]


def test_descriptions(tmp_path):
    """A plan is the same whether it is made from a mapping, its JSON text, a file, a pickle or its own text. A
    library's name gives another plan."""
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"softmma-plan": 1, **SLICES}))
    plan = softmma.Plan(SLICES)
    for other in (path, str(path), path.read_text(), plan.text, plan.to_dict()):
        assert softmma.Plan(other) == plan and hash(softmma.Plan(other)) == hash(plan)
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert (plan.name, plan.d, plan.sources) == ("three slices", None, ())
    assert repr(plan) == "<plan three slices: contiguous 3 of 16>"
    assert softmma.Plan("deepgemm").d == "bf16" and softmma.Plan("deepgemm").sources
    assert repr(softmma.Plan({"name": "x"})) == "<plan x: one chain>"
    for example in sorted((REPOSITORY / "examples" / "plans").glob("*.json")):
        assert softmma.Plan(example).text == softmma.Plan(softmma.Plan(example).text).text


def test_slices(operands):
    """Slices are separate products, added in FP32."""
    a, b = operands
    cuts = [slice(0, 48), slice(48, 96), slice(96, 130)]
    parts = [softmma.matmul(a[:, cut], b[cut], on="H100") for cut in cuts]
    same(softmma.matmul(a, b, on="H100", plan=SLICES), (parts[0] + parts[1]) + parts[2])
    same(softmma.matmul(a, b, on="H100", plan=SLICES), softmma.matmul(a, b, on="H100", split_k=3))


def test_order_and_format(operands):
    a, b = operands
    k = np.arange(130) // 16 % 2 == 0
    d = softmma.matmul(a[:, k], b[k], on="A100") + softmma.matmul(a[:, ~k], b[~k], on="A100")
    same(softmma.matmul(a, b, on="A100", plan=HALF), d.astype(np.float16))


def test_epilogue(operands, generator):
    a, b = operands
    c, bias = generator.standard_normal((5, 7)).astype(np.float32), generator.standard_normal(7).astype(np.float32)
    plan = softmma.Plan({"name": "x", "d": "bf16", "epilogue": ["alpha", "bias", "scale-d", "relu"]})
    d = ((softmma.matmul(a, b) * np.float32(0.5)) + bias) * np.float32(3)
    d = np.maximum(d, 0).astype(ml_dtypes.bfloat16)
    same(softmma.matmul(a, b, plan=plan, alpha=0.5, bias=bias, scale_d=3), d)
    same(softmma.matmul(a, b, plan=plan, alpha=0.5, bias=bias.astype(np.float64)[::-1][::-1], scale_d=3), d)
    starts = softmma.Plan({"name": "x", "start": "c"})
    same(softmma.matmul(a, b, c, plan=starts), softmma.matmul(a, b, c))
    same(softmma.matmul(a, b[:, 0], plan=starts), softmma.matmul(a, b[:, 0]))


def test_c_begins():
    """C is rounded if it begins a total in BF16, and it begins the first part, whatever the order of the parts."""
    total = {"name": "x", "start": "c", "sum": [{"deal": "every", "k": 32, "from": "zero", "total": "bf16"}]}
    a, b = np.float16([[2.0**-9] + [0] * 15]), np.ones((16, 1), np.float16)
    assert softmma.matmul(a, b, np.float32([[1 + 2.0**-8]]), on="H100", plan=total) == 1
    last = {"name": "x", "start": "c", "sum": [{"deal": "every", "k": 16, "fold": "last-first"}]}
    for parts in (2, 3, 4):
        a, b = np.zeros((1, 16 * parts), np.float16), np.zeros((16 * parts, 1), np.float16)
        a[0, 0], a[0, 16], b[0], b[16] = 2.0**13, -(2.0**13), 2.0**11, 2.0**11
        d = softmma.matmul(a, b, np.float32([[3]]), on="H100", plan=last)
        assert d == 2, parts


def test_scaled_parts(generator):
    """Each part is multiplied by its factors in the FMA that adds it."""
    a, b = (generator.standard_normal(shape).astype(ml_dtypes.float8_e4m3fn) for shape in ((4, 300), (300, 3)))
    x, y = (generator.uniform(0.5, 2, shape).astype(np.float32) for shape in ((4, 3), (3, 3)))
    total = np.zeros((4, 3), np.float32)
    for i, k in enumerate(range(0, 300, 128)):
        part = softmma.matmul(a[:, k : k + 128], b[k : k + 128], on="H100")
        s = (x[:, i, None] * y[i]).astype(np.float32)
        exact = s.astype(np.longdouble) * part + total  # 64 bits hold it with at most one rounding
        total = exact.astype(np.float32)
    d = softmma.matmul(a, b, on="H100", plan="deepgemm", scale_a=x, scale_b=y)
    same(d, total.astype(ml_dtypes.bfloat16))
    kept = softmma.Multiplier(b, on="H100", plan="deepgemm", scale_b=y)
    same(kept.matmul(a, scale_a=x), d)
    with pytest.raises(ValueError, match="the plan takes scale factors"):
        softmma.matmul(a, b, on="H100", plan="deepgemm")
    with pytest.raises(ValueError, match=r"scale_b must be"):
        softmma.matmul(a, b, on="H100", plan="deepgemm", scale_a=x, scale_b=y[:2])


def test_batches_and_multipliers(generator):
    a = generator.standard_normal((2, 3, 4, 130)).astype(np.float16)
    b = generator.standard_normal((3, 130, 7)).astype(np.float16)
    bias = generator.standard_normal(7)
    plan = softmma.Plan({**HALF, "start": "c", "epilogue": ["bias"]})
    d = softmma.matmul(a, b, plan=plan, bias=bias)
    for i in range(3):
        kept = softmma.Multiplier(b[i], plan=plan, bias=bias)
        same(kept.matmul(a[:, i]), d[:, i])
        same(kept.matmul(a[0, i, 0]), d[0, i, 0])
        same(kept.matmul(a[0, i], np.float32(2)), softmma.matmul(a[0, i], b[i], np.float32(2), plan=plan, bias=bias))


def test_command(command, operands, tmp_path):
    """The result equals the command's, for each example that needs only A and B."""
    a, b = operands
    for name, x in (("a", a), ("b", b)):
        np.save(tmp_path / f"{name}.npy", x)
    for plan in ("split-k", "two-level", "split-k-serial-bf16"):
        path = REPOSITORY / "examples" / "plans" / f"{plan}.json"
        arguments = ["--on", "H100", "--in", "f16", "--plan", path, tmp_path / "a.npy", tmp_path / "b.npy"]
        command("gemm", *arguments, "-o", tmp_path / "d.npy")
        d = softmma.matmul(a, b, on="H100", plan=path)
        np.testing.assert_array_equal(bits(np.load(tmp_path / "d.npy")), bits(d))
    asked = ["--as", "cublaslt:13.1", "--on", "H100", "--in", "f16", "-k", 8192]
    text = command("plan", *asked, "--algo", 66, "--stages", 35, "--splitk", 3)
    assert softmma.plan("cublaslt:13.1", on="H100", in_dtype="f16", k=8192, algo=66, stages=35, splitk=3).text == text
    assert softmma.plan_libraries() == command("plan", "--list").split()


def expected_members(said, slices):
    """Translates the result of bitequiv's planner to members of a plan and the length of its slices."""
    mode, group = said["mode"], {"group": said.get("k_per_dot"), "residue": "first-tile"}
    cut = {"deal": "contiguous", "parts": slices, "fold": "serial", "from": "first"}
    if mode == "plain":
        return {"sum": []}
    if mode == "k_per_dot":
        return {"sum": [], **group}
    if mode == "splitk_groups":
        merge = {"total": "d"} if said["merge_scheme"] == 3 else {}
        return {"sum": [{**cut, "grain": 64, **merge}], "tile": said["block_k"], **group}
    if mode == "split":
        return {"sum": [{**cut, "grain": 64}], "lost_tail": 64}
    if mode == "split_blocks":
        blocks = {"deal": "every", "k": said["block_k"], "fold": "serial", "from": "zero"}
        return {"sum": [{**cut, "grain": said["block_k"]}, blocks] if slices > 1 else [blocks]}
    if mode == "gemmsn":
        parts, block = said["simt"]
        chunks = {**cut, "parts": parts, "grain": 1, "from": "zero"}
        blocks = {"deal": "every", "k": block, "fold": "serial", "from": "zero"}
        return {"sum": [chunks] * (parts > 1) + [blocks] * (block > 0), "group": 1}
    if mode == "gemv13":
        (load, lanes, tiles, halved), _ = said["gemv"]
        lane = {"deal": "interleaved", "parts": lanes, "tile": abs(load), "fold": "halving" if halved else "serial"}
        blocks = {"deal": "every", "k": tiles * abs(load), "fold": "serial", "from": "first"}
        return {"sum": [{**lane, "from": "first"}] + [blocks] * (tiles > 0), "group": 1}
    if mode == "gemv_cslice":
        lanes, block = said["gemv"]
        blocks = {"deal": "every", "k": block, "fold": "serial", "from": "first"}
        return {"sum": [{**cut, "parts": lanes, "grain": 1}, blocks], "group": 1}
    assert mode == "gemv14"
    blocks, load = said["gemv"]
    inner = {"deal": "interleaved", "from": "first"}
    levels = [
        {**inner, "parts": blocks, "tile": 128 * load, "fold": "strides", "strides": [128, 64, 32, 4, 1]},
        {**inner, "parts": 128, "tile": load, "fold": "halving"},
        {**inner, "parts": load, "tile": 1, "fold": "serial"},
    ]
    return {"sum": levels[: 3 if load > 1 else 2], "group": 1}


def test_sampled_configurations():
    """Checks our plans of sampled cuBLASLt configurations against those that bitequiv's planner derives. The cases are
    fixtures of bitequiv's own tests, for sm_90 and cuBLASLt 13.1."""
    folder = os.environ.get("SOFTMMA_PLANS")
    if not folder:
        pytest.skip("SOFTMMA_PLANS is not set: sampled configurations are NOT checked; it names a folder with them")
    cases = json.loads((Path(folder) / "bitequiv_plan_sm90_sample.json").read_text())["cases"]
    fma = softmma.Custom(REPOSITORY / "examples" / "custom" / "fma32-f16.json")
    names = ("algo", "tile", "splitk", "reduction", "swizzle", "custom", "stages", "inner", "cluster")
    for case in cases:
        numbers = {name: x for name, x in zip(names, case["config"]) if x is not None}
        kind = {"fp16": "f16", "bf16": "bf16", "fp8": "e4m3"}[case["kind"]]
        if numbers["stages"] == 36:  # the stages of FP8 products, which the sample requests with FP16
            with pytest.raises(ValueError, match="no rule is known for stages 36"):
                softmma.plan("cublaslt:13.1", on="H100", in_dtype=kind, k=case["K"], **numbers)
            kind = "e4m3"
        on = fma if numbers["algo"] in (11, 13, 14, 16) else "H100"
        sizes = {"m": case["M"], "n": case["N"], "k": case["K"]}
        strided = numbers["algo"] == 11 or numbers["algo"] == 14 and case["N"] != 1  # in these cases B is row-major
        asked = {"on": on, "b_strided": strided, **sizes, **numbers} | ({"in_dtype": kind} if on == "H100" else {})
        if case["reason"] != "ok":
            with pytest.raises(ValueError, match="no rule is known for algorithm"):
                softmma.plan("cublaslt:13.1/H100", **asked)
            continue
        said = softmma.plan("cublaslt:13.1/H100", **asked).to_dict()
        expected = expected_members(case["plan"], numbers["splitk"])
        assert {name: said.get(name) for name in expected} == expected, case
        if "k_chunk" in case["plan"] and numbers["splitk"] > 1:
            level = said["sum"][0]
            steps = -(-case["K"] // level["parts"])
            assert -(-steps // level["grain"]) * level["grain"] == case["plan"]["k_chunk"]
    assert len(cases) == 57


def mmaemu_plan(gpu, fast, slices, custom, out):
    numbers = {"algo": 66, "stages": 36} if gpu == "H100" else {"algo": 60 if fast else 35, "stages": 17}
    merged = {"splitk": slices, "reduction": 2, "custom": custom}
    return softmma.plan("cublaslt:12.8", on=gpu, in_dtype="e4m3", out_dtype=out, k=624, fast=fast, **numbers, **merged)


@pytest.mark.all
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("gpu", "profile", "scheme", "custom"),
    [("H100", "hopper", "contiguous", 0), ("RTX4060", "ada", "serial", 0), ("RTX4060", "ada", "pairwise", 1)],
)
@pytest.mark.parametrize("fast", [False, True])
def test_mmaemu(generator, gpu, profile, scheme, custom, fast):
    """mmaemu computes FP8 products as an H100 PCIe and an RTX 4060 return them, with independent code."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed, so plans are NOT compared with mmaemu")
    mmaemu = pytest.importorskip("mmaemu", reason="mmaemu is not installed, so plans are NOT compared with it")
    k = 624
    a, b = (generator.standard_normal(s).astype(ml_dtypes.float8_e4m3fn) for s in ((16, k), (k, 32)))
    factors = [np.float32(0.37), np.float32(1.83)]
    tensors = [torch.from_numpy(np.ascontiguousarray(x).view(np.uint8)).view(torch.float8_e4m3fn) for x in (a, b.T)]
    for slices in (1, 3):
        for out, kind in (("f32", torch.float32), ("bf16", torch.bfloat16), ("e4m3", torch.float8_e4m3fn)):
            d = mmaemu.scaled_mm(
                tensors[0], tensors[1].t(), torch.tensor(factors[0]), torch.tensor(factors[1]), out_dtype=kind,
                use_fast_accum=fast, profile=profile, splitk=(slices, scheme) if slices > 1 else 1,
            )  # fmt: skip
            plan = mmaemu_plan(gpu, fast, slices, custom, out)
            mine = softmma.matmul(a, b, on=gpu, in_dtype="e4m3", plan=plan, alpha=float(factors[0] * factors[1]))
            expected = d.view({4: torch.int32, 2: torch.int16, 1: torch.uint8}[d.element_size()]).numpy()
            np.testing.assert_array_equal(bits(mine), expected.view(f"u{d.element_size()}"))


def test_recorded_shapes(generator):
    """For shapes in mmaemu's tables the plans are those of the tables. For other shapes there is no plan."""
    place = importlib.util.find_spec("mmaemu")
    if place is None:
        pytest.skip("mmaemu is not installed, so recorded shapes are NOT compared with its tables")
    formats = ("e4m3", "e5m2")
    for gpu, name in (("H100", "h100pcie"), ("RTX4060", "rtx4060")):
        path = Path(place.submodule_search_locations[0]) / "platform" / "data" / f"heur_{name}_lt12.8.3.14.npz"
        table = {key: x.astype(int) for key, x in np.load(path).items()}
        keys = np.flatnonzero((table["ws"] == 1) | ((table["ws"] == 3) & (gpu == "H100")))
        for i in generator.choice(keys, int(os.environ.get("SOFTMMA_SHAPES", "300"))):
            row = {key: int(x[i]) for key, x in table.items()}
            asked = {
                "in_dtype": (formats[row["fa"]], formats[row["fb"]]),
                "out_dtype": ("f32", "bf16", "f16", "e4m3", "e5m2")[row["out"]],
                "m": row["M"], "n": row["N"], "fast": bool(row["fast"]), "workspace": (0, 2**20, 0, 2**25)[row["ws"]],
            }  # fmt: skip
            plan = softmma.plan("cublaslt:12.8", on=gpu, k=row["K"], **asked)
            custom = row["custom"] if row["splitK"] > 1 else 0
            assert f"algo {row['algo']} " in plan.name
            assert plan.name.endswith(f"splitk {row['splitK']} reduction {row['reduction']} custom {custom}")
            with pytest.raises(ValueError, match="not recorded"):
                softmma.plan("cublaslt:12.8", on=gpu, k=row["K"] + 1, **asked)


def test_rounded_results(operands):
    """D in BF16 is rounded once, after alpha, beta and C, if no instruction has it."""
    a, b = (x.astype(ml_dtypes.bfloat16) for x in operands)
    c = np.linspace(-3, 3, a.shape[0] * b.shape[1], dtype=np.float32).reshape(a.shape[0], -1)
    for given in ({}, {"alpha": 0.3}, {"c": c, "beta": 0.5, "alpha": -2.0}, {"c": c}, {"split_k": 3}, {"promote_every": 64}):
        expected = softmma.matmul(a, b, on="H100", scaling="epilogue", **given).astype(ml_dtypes.bfloat16)
        same(softmma.matmul(a, b, on="H100", out_dtype="bf16", **given), expected)
        same(softmma.gemm(a, b, on="H100:bf16", out_dtype="bf16", **given).d, expected)
    multiplier = softmma.Multiplier(b, on="H100", out_dtype="bf16")
    same(multiplier.matmul(a, c), softmma.matmul(a, b, c, on="H100", out_dtype="bf16"))
    assert softmma.gemm(a, b, on="H100", out_dtype="bf16").value["rounded_from"] == "f32"


def test_torch_scaled_mm(generator):
    """The plans by name equal torch._scaled_mm, including the conversion of D to FP8."""
    a, b = (generator.standard_normal(s).astype(ml_dtypes.float8_e4m3fn) for s in ((4, 300), (300, 5)))
    same(softmma.matmul(a, b, plan="torch:_scaled_mm", alpha=1.0), softmma.matmul(a, b, promote_every=128))
    same(softmma.matmul(a, b, plan="torch:_scaled_mm:fast"), softmma.matmul(a, b))
    narrow = softmma.plan("torch:_scaled_mm", out_dtype="e4m3")
    d = softmma.matmul(a, b, plan=narrow, alpha=100.0, scale_d=0.5)
    y = (softmma.matmul(a, b, promote_every=128) * np.float32(100)) * np.float32(0.5)
    same(d, np.clip(y, -448, 448).astype(ml_dtypes.float8_e4m3fn))
    assert softmma.plan("torch:_scaled_mm:fast", out_dtype="bf16").d == "bf16"
    assert softmma.plan("deepgemm", out_dtype="bf16") == softmma.Plan("deepgemm")
    with pytest.raises(ValueError, match="deepgemm: D is in bf16, not in f16"):
        softmma.plan("deepgemm", out_dtype="f16")


def test_torch_scaled_rows(generator):
    """Plans of torch._scaled_mm with factors of rows and columns (the column's factor is applied first), and with
    factors of blocks."""
    a, b = (generator.standard_normal(s).astype(ml_dtypes.float8_e4m3fn) for s in ((4, 300), (300, 5)))
    rows, columns = (generator.uniform(0.5, 2, s).astype(np.float32) for s in ((4, 1), (1, 5)))
    for plan, every in (("torch:_scaled_mm:row", 128), ("torch:_scaled_mm:row:fast", 0)):
        d = softmma.matmul(a, b, plan=plan, scale_a=rows, scale_b=columns)
        same(d, (softmma.matmul(a, b, promote_every=every) * columns) * rows)
        same(d, softmma.scaled_matmul(a, b, rows, columns, fast=not every))
        assert softmma.Plan(plan.replace("row", "rowwise")) == softmma.Plan(plan)
    one, other = np.float32(0.3), np.float32([[1.7]])
    bias = generator.standard_normal(5).astype(np.float32)
    d = softmma.matmul(a, b, plan="torch:_scaled_mm", alpha=one * other.item()) + bias
    same(softmma.scaled_matmul(a, b, one, other, bias=bias, out_dtype="bf16"), softmma.round(d, "bf16"))
    for shape in (6,), (1,), (4, 1), (4, 5), ():
        with pytest.raises(ValueError, match=r"^bias is \(.*\), but b has 5 columns"):
            softmma.scaled_matmul(a, b, one, other, bias=np.ones(shape))
    with pytest.raises(LookupError, match="dtype: None is no number format"):
        softmma.scaled_matmul(a, b, one, other, out_dtype=None)
    for dtype, on in ((np.int8, "A100"), (np.float64, "A100"), (np.float16, "H100")):
        d = softmma.scaled_matmul(np.full((1, 4), 3, dtype), np.full((4, 1), 5, dtype), one, np.float32(1), on=on)
        same(d, np.float32([[60]]) * one)
    rows, columns = (generator.uniform(0.5, 2, s).astype(np.float32) for s in ((4, 3), (3, 5)))
    blocks = softmma.matmul(a, b, plan=softmma.plan("torch:_scaled_mm:1x128,128x128", out_dtype="bf16"), scale_a=rows, scale_b=columns)
    same(blocks, softmma.matmul(a, b, plan="deepgemm", scale_a=rows, scale_b=columns))
    both = softmma.matmul(a, b, plan="torch:_scaled_mm:1x128,1x128", scale_a=rows, scale_b=columns)
    same(softmma.scaled_matmul(a, b, rows, columns), both)
    columns[:] = columns[:, :1]  # one factor for 128 columns
    same(softmma.scaled_matmul(a, b, rows, columns[:, :1], out_dtype="bf16"), softmma.matmul(
        a, b, plan="deepgemm", scale_a=rows, scale_b=columns))  # fmt: skip
    for scale_a, scale_b in ((rows[:1], columns[:, :1]), (rows[:, :2], columns), (rows.astype("f8"), columns)):
        with pytest.raises(ValueError, match="^scale_a is .* lists the factors$"):
            softmma.scaled_matmul(a, b, scale_a, scale_b)
    with pytest.raises(ValueError, match="the columns of a must be the rows of b"):
        softmma.scaled_matmul(a, a, rows, columns)


@pytest.mark.parametrize("on", ["H100", "B200"])
@pytest.mark.parametrize(("m", "k", "n"), [(3, 0, 4), (256, 0, 128), (0, 128, 4), (3, 128, 0)])
def test_scaled_matmul_of_empty_matrices(on, m, k, n):
    """A sum of nothing is zero, with every kind of factors, also where a library sums parts of K."""
    a, b = softmma.round(np.ones((m, k)), "e4m3"), softmma.round(np.ones((k, n)), "e4m3")
    blocks = -(-k // 128)
    of_tensors, of_rows = (np.float32(2), np.float32(3)), (np.ones((m, 1), np.float32), np.ones((1, n), np.float32))
    for factors in of_tensors, of_rows, (np.ones((m, blocks), np.float32), np.ones((blocks, n), np.float32)):
        for fast in False, True:
            d = softmma.scaled_matmul(a, b, *factors, on=on, fast=fast, bias=np.ones(n))
            np.testing.assert_array_equal(d, np.ones((m, n), np.float32), strict=True)


@pytest.mark.parametrize(("format", "on"), [("mxfp8_e4m3", "B200"), ("mxfp6_e2m3", "RTX 5090"), ("mxfp4", "B200"), ("nvfp4", "B200")])
def test_swizzled_scale_factors(generator, format, on):
    a, b = generator.standard_normal((130, 200)), generator.standard_normal((200, 9))
    qa, qb = softmma.quantize(a, format), softmma.quantize(b, format, axis=-2)
    d = softmma.matmul(qa.values, qb.values, on=on, scale_a=qa.scales, scale_b=qb.scales)
    same(softmma.scaled_matmul(qa.values, qb.values, qa.scales, qb.scales, on=on), d)
    scales = softmma.swizzle_scales(qa.scales), softmma.swizzle_scales(qb.scales.T)
    same(softmma.scaled_matmul(qa.values, qb.values, *scales, on=on, swizzled=True), d)
    with pytest.raises(ValueError, match="lists the factors"):
        softmma.scaled_matmul(qa.values, qb.values, *scales, on=on)
    with pytest.raises(LookupError):
        softmma.scaled_matmul(qa.values, qb.values, qa.scales, qb.scales, on="A100")


@pytest.mark.parametrize("shape", [(1, 1), (128, 4), (129, 5), (300, 37), (0, 3), (5, 0)])
def test_swizzling(generator, shape):
    """Scale factors have the layout of torchao's to_blocked: tiles of 128 lines x 4 factors, in which the four groups
    of 32 lines alternate."""
    scales = generator.integers(0, 256, shape, np.uint8)
    lines, blocks = (-(-size // tile) * tile for size, tile in zip(shape, (128, 4), strict=True))
    padded = np.zeros((lines, blocks), np.uint8)
    padded[: shape[0], : shape[1]] = scales
    tiles = padded.reshape(-1, 128, blocks // 4, 4).swapaxes(1, 2) if padded.size else padded
    expected = tiles.reshape(-1, 4, 32, 4).swapaxes(1, 2).reshape(-1)
    swizzled = softmma.swizzle_scales(scales.view(ml_dtypes.float8_e8m0fnu))
    assert swizzled.dtype == ml_dtypes.float8_e8m0fnu and (swizzled.view(np.uint8) == expected).all()
    back = softmma.unswizzle_scales(swizzled.reshape(-1, 16), *shape)
    assert (back.view(np.uint8) == scales).all() and back.shape == shape
    with pytest.raises(ValueError, match="scales: [0-9]+ bytes without gaps are needed"):
        softmma.unswizzle_scales(np.zeros(7, np.uint8), *shape)
    for other in (np.zeros(shape), scales[0] if len(scales) else np.zeros(3, np.uint8)):
        with pytest.raises(ValueError, match="^scales is "):
            softmma.swizzle_scales(other)


def test_complaints(operands, tmp_path):
    a, b = operands
    (tmp_path / "bad.json").write_text('{"softmma-plan": 1, "name": "x",\n "sum": [{"deal": "evenly"}]}')
    with pytest.raises(ValueError, match=r'bad.json:2:19: "deal" cannot be evenly; allowed: contiguous, every'):
        softmma.Plan(tmp_path / "bad.json")
    with pytest.raises(ValueError, match=r'^plan:5:12: "group" cannot be 0'):
        softmma.matmul(a, b, plan={"name": "x", "start": "c", "group": 0})
    with pytest.raises(FileNotFoundError):
        softmma.Plan("nowhere.json")
    with pytest.raises(ValueError, match="no plans are known of 'cutlas'; known: .*cutlass:2xacc"):
        softmma.Plan("cutlas")
    with pytest.raises(ValueError, match="cublaslt:13.1/H100: the instruction is missing"):
        softmma.Plan("cublaslt:13.1/H100")
    with pytest.raises(ValueError, match="cuBLASLt's choice: give algo, stages"):
        softmma.plan("cublaslt:13.1", on="H100", in_dtype="f16", k=64)
    with pytest.raises(ValueError, match="a size is not negative"):
        softmma.plan("deepgemm", k=-1)
    with pytest.raises(TypeError):
        softmma.Plan(3)
    for argument, value in {
        "split_k": 2, "promote_every": 64, "scaling": "epilogue", "c": 1.0, "beta": 0.5, "bias": np.zeros(7),
        "scale_d": 2.0, "alpha": 2.0,
    }.items():  # fmt: skip
        with pytest.raises(ValueError, match=f"^{argument}: the plan 'half' has no place for it"):
            softmma.matmul(a, b, plan=HALF, **{argument: value})
    with pytest.raises(ValueError, match=r'"start": "c" for c, "epilogue": \["linear"\] for alpha, beta and c'):
        softmma.matmul(a, b, plan=HALF, c=1.0)
    with pytest.raises(LookupError, match='H100 has no instruction for .* a plan with "d": "e4m3" rounds f32 to it'):
        softmma.matmul(a, b, on="H100", out_dtype="e4m3")
    for of in softmma.matmul, softmma.gemm:
        for given in {"plan": HALF}, {"scaling": "operands"}, {"promote_every": 5}:
            with pytest.raises(ValueError, match="no D in|D is rounded|not a multiple of the instruction's K"):
                of(a, b, on="H100", in_dtype="bf16", out_dtype="bf16", **given)
    q = np.ones((2, 64), ml_dtypes.float8_e4m3fn)
    with pytest.raises(LookupError, match=r"use softmma.scaled_matmul\(a, b, scale_a, scale_b\)"):
        row, column = np.ones((2, 1), np.float32), np.ones((1, 2), np.float32)
        softmma.matmul(q, q.T, on="H100", plan="torch:_scaled_mm", scale_a=row, scale_b=column)
    with pytest.raises(ValueError, match="^c: the multiplier's plan has no place"):
        softmma.Multiplier(b, plan=HALF).matmul(a, 1.0)
    biased = {"name": "x", "epilogue": ["bias"]}
    with pytest.raises(ValueError, match="^bias: the plan 'x' adds one"):
        softmma.matmul(a, b, plan=biased)
    for bias in (np.zeros(6), np.zeros((7, 1)), 1.0):
        with pytest.raises(ValueError, match=r"^bias is \(.*\), but b has 7 columns"):
            softmma.matmul(a, b, plan=biased, bias=bias)
    for argument in ("bias", "scale_d"):
        with pytest.raises(ValueError, match=f"^{argument}: it takes a plan"):
            softmma.matmul(a, b, **{argument: 2.0})
    listed = {"name": "x", "sum": [{"deal": "list", "list": [[[0, 140]]]}]}
    for product in (lambda: softmma.matmul(a, b, plan=listed), lambda: softmma.Multiplier(b, plan=listed)):
        with pytest.raises(ValueError, match=r"plan 'x': K = 130: .*beyond K"):
            product()
    with pytest.raises(ValueError, match="K is 0"):
        softmma.matmul(a[:, :0], b[:0], plan=HALF)
    with pytest.raises(TypeError, match="unexpected keyword argument 'c'"):
        softmma.Multiplier(b, c=1)
