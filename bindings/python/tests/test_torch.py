"""PyTorch modules with emulated products."""

from collections import Counter

import numpy as np
import pytest

import softmma
from softmma import recipes

torch = pytest.importorskip("torch", reason="PyTorch is not installed: softmma.torch is NOT tested")

from softmma.torch._tensors import rounded  # noqa: E402 (needs PyTorch)

TIER = "all"
OVERFLOWS = recipes.Operand("e4m3", saturate=False)


@pytest.fixture
def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(64, 96), torch.nn.ReLU(), torch.nn.Linear(96, 10))


@pytest.fixture
def batch():
    torch.manual_seed(1)
    return torch.randn(32, 64), torch.randint(0, 10, (32,))


def loss_of(network, batch):
    return torch.nn.functional.cross_entropy(network(batch[0]), batch[1])


def calls(emulation):
    counts = Counter()
    for row in emulation.report():
        counts[row.operation, row.a, row.b] += row.calls
    return dict(counts)


def test_fp32_is_what_pytorch_computes(network, batch):
    """With a chain of FP32 additions, only the order differs from PyTorch's."""
    loss_of(network, batch).backward()
    expected = [p.grad.clone() for p in network.parameters()]
    network.zero_grad()
    with softmma.torch.emulate("MI300X", weights="f32", activations="f32"):
        loss_of(network, batch).backward()
    for p, gradient in zip(network.parameters(), expected):
        torch.testing.assert_close(p.grad, gradient, rtol=1e-4, atol=1e-6)


def test_linear_is_the_units(batch):
    layer, x = torch.nn.Linear(64, 10), batch[0]
    with torch.no_grad(), softmma.torch.emulate("A100", weights="bf16", activations="bf16"):
        d = layer(x)
    w, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    np.testing.assert_array_equal(d.numpy(), softmma.matmul(x.numpy(), w.T, on="A100", in_dtype="bf16") + bias)


ROUNDED = {
    "overflow": recipes.recipe("fp32", weights=OVERFLOWS, activations=OVERFLOWS),
    "one overflows": recipes.recipe("fp32", weights=recipes.Operand("e4m3"), activations=OVERFLOWS),
    "two modes": recipes.recipe(
        "fp32",
        weights=recipes.Operand("bf16", round_in="toward-zero"),
        activations=recipes.Operand("bf16", round_in="toward-positive"),
    ),
    "weight-only": recipes.recipe("weight_only_s8", round_in="toward-zero"),
}


@pytest.mark.parametrize("recipe", ROUNDED.values(), ids=ROUNDED)
@pytest.mark.parametrize("keep_weights", [True, False])
def test_operands_are_rounded_as_the_recipe_says(batch, recipe, keep_weights):
    """Also if they are only rounded; and `statistics` does not change a result."""
    x, w = batch[0] * 300, torch.nn.Parameter(torch.randn(64, 10))
    x[0, 0] = 1000
    unit = recipes.Unit("H100", recipe)
    a = unit.prepare(x.numpy(), "activations", "forward", "a")
    expected = unit.multiply(a, unit.prepare(w.detach().numpy(), "weights", "forward", "b"))
    for statistics in (False, True):
        options = {"statistics": statistics, "keep_weights": keep_weights}
        with torch.no_grad(), softmma.torch.emulate("H100", recipe, **options):
            d = x @ w
        np.testing.assert_array_equal(d.numpy(), expected)
    assert rounded(x, "e4m3", "nearest-even", saturate=False) is None  # on a GPU, too, it takes another way


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_beta_times_c_is_not_rounded(dtype):
    """C of 16 bits becomes FP32 before it is multiplied by beta."""
    torch.manual_seed(2)
    a, b, c = torch.randn(8, 64).to(dtype), torch.randn(64, 12).to(dtype), torch.randn(8, 12).to(dtype)
    operands = {
        torch.addmm: (c, a, b),
        torch.baddbmm: (c[None], a[None], b[None]),
        torch.addmv: (c[:, 0], a, b[:, 0]),
        torch.addbmm: (c, a[None], b[None]),
    }
    format = str(dtype).removeprefix("torch.")
    for operation, (x, y, z) in operands.items():
        with softmma.torch.emulate("H100", weights=format, activations=format):
            d = operation(x, y, z, beta=0.3)
            product = y.float() @ z.float() if operation is not torch.addbmm else y[0].float() @ z[0].float()
        assert torch.equal(d, (product + 0.3 * x.float()).to(dtype)), operation


def test_addmm_with_another_format_of_c():
    """`out_dtype` allows C in FP32 beside narrower factors."""
    torch.manual_seed(2)
    a, b, c = torch.randn(8, 64).bfloat16(), torch.randn(64, 12).bfloat16(), torch.randn(8, 12)
    with softmma.torch.emulate("H100", weights="bf16", activations="bf16", strict=True) as emulation:
        product = torch.mm(a, b, out_dtype=torch.float32)
        d = torch.addmm(c, a, b, out_dtype=torch.float32)
        batched = torch.baddbmm(c[None], a[None], b[None], out_dtype=torch.float32)
    assert d.dtype == torch.float32 and torch.equal(d, product + c) and torch.equal(batched, d[None])
    assert sum(calls(emulation).values()) == 3


@pytest.mark.parametrize("name", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float64"])
def test_array(name):
    dtype = getattr(torch, name)
    x = torch.tensor([[0, 1, 3], [1, 0, 2]]).to(dtype)
    found = softmma.torch.array(x)
    assert found.dtype.name == name and found.astype(int).tolist() == x.long().tolist()


def test_scaling_per_tensor(batch):
    x, w = batch[0] * 1e-3, torch.randn(64, 10) * 1e3
    with softmma.torch.emulate("H100", weights="e4m3", activations="e4m3"):
        d = x @ w
    greatest, one = torch.tensor(448.0), torch.tensor(1.0)  # a number divided by a tensor would be rounded twice
    scale_x, scale_w = greatest / x.abs().max(), greatest / w.abs().max()
    scaled = softmma.matmul((x * scale_x).numpy(), (w * scale_w).numpy(), in_dtype="e4m3")
    np.testing.assert_array_equal(d.numpy(), (torch.from_numpy(scaled) * ((one / scale_x) * (one / scale_w))).numpy())
    with softmma.torch.emulate("H100", weights="e4m3", activations="e4m3", scaling="none"):
        np.testing.assert_array_equal((x @ w).numpy(), softmma.matmul(x.numpy(), w.numpy(), in_dtype="e4m3"))


def test_scaling_per_block():
    """Blocks of 128 along K with factors for each row of A and column of B, added by an FP32 FMA."""
    torch.manual_seed(2)
    x, w = torch.randn(5, 300) * torch.logspace(-3, 3, 300), torch.randn(300, 7)
    with softmma.torch.emulate("MI300X", weights="e5m2fnuz", activations="e5m2fnuz", scaling="block"):
        d, row, column, number = x @ w, x[0] @ w, x @ w[:, 0], x[0] @ w[:, 0]
        batched = torch.stack([x, 2 * x]) @ torch.stack([w, w])
    expected = torch.zeros(5, 7)
    for k in range(0, 300, 128):
        a, b = x[:, k : k + 128], w[k : k + 128]
        greatest, one = torch.tensor(57344.0), torch.tensor(1.0)  # a number divided by a tensor would be rounded twice
        scale_a, scale_b = greatest / a.abs().amax(1, keepdim=True), greatest / b.abs().amax(0, keepdim=True)
        part = softmma.matmul((a * scale_a).numpy(), (b * scale_b).numpy(), on="MI300X", in_dtype="e5m2fnuz")
        factors = ((one / scale_a) * (one / scale_b)).double()
        expected = (expected.double() + torch.from_numpy(part).double() * factors).float()
    assert torch.equal(d, expected) and torch.equal(batched, torch.stack([expected, 2 * expected]))
    assert torch.equal(row, d[0]) and torch.equal(column, d[:, 0]) and torch.equal(number, d[0, 0])


def test_integers(network, batch):
    """Products of integers equal exact products, if each tensor is quantised symmetrically to 8 bits."""
    expected = network(batch[0])
    with softmma.torch.emulate("A100", weights="s8", activations="s8") as emulation:
        found = network(batch[0])
    assert 0 < (found - expected).norm() < 0.05 * expected.norm()
    assert calls(emulation) == {("addmm", "s8", "s8"): 2}


def test_roles(network, batch):
    """Weights, activations and gradients are distinguished, forward and backward."""
    with softmma.torch.emulate("B200", weights="e2m3", activations="e4m3", gradients="e5m2") as emulation:
        for _ in range(2):
            loss_of(network, batch).backward()
    assert calls(emulation) == {("addmm", "e4m3", "e2m3"): 4, ("mm", "e5m2", "e4m3"): 4, ("mm", "e5m2", "e2m3"): 2}
    assert {row.instruction for row in emulation.report()} <= {i.name for i in softmma.instructions()}
    assert "e2m3" in repr(emulation.report()) and "<table>" in emulation.report()._repr_html_()


def test_training_on_narrow_formats(network, batch):
    optimizer = torch.optim.SGD(network.parameters(), 0.5)
    start = loss_of(network, batch).item()
    formats = {"weights": "e4m3fnuz", "activations": "e4m3fnuz", "gradients": "e5m2fnuz"}
    with softmma.torch.emulate("MI300X", **formats, promote_every=128):
        for _ in range(20):
            optimizer.zero_grad()
            loss_of(network, batch).backward()
            optimizer.step()
    assert loss_of(network, batch).item() < start / 2


@pytest.mark.parametrize("format", softmma.QUANTIZED_FORMATS[:-1])  # a B200 has no MXINT8
def test_block_scaled(network, batch, format):
    expected = network(batch[0])
    formats = {"weights": format, "activations": format}
    with softmma.torch.emulate("B200", **formats) as emulation:
        found = network(batch[0])
        found.sum().backward()
    assert 0 < (found - expected).norm() < 0.3 * expected.norm()
    assert set(calls(emulation)) == {("addmm", format, format), ("mm", format, format)}
    with pytest.raises(ValueError, match="goes with another one only"):
        softmma.torch.emulate("B200", weights=format, activations="e4m3")


@pytest.mark.parametrize("training", [True, False])
def test_attention(training):
    """All products of an attention layer are emulated, even if PyTorch would fuse them: four projections, and two
    products of attention."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True).train(training)
    x = torch.randn(2, 8, 32)
    with torch.set_grad_enabled(training), softmma.torch.emulate("H100") as emulation:
        d = layer(x)
    rows = calls(emulation)
    assert sum(n for (operation, *_), n in rows.items() if operation == "bmm") == 2
    assert sum(rows.values()) == 6
    torch.testing.assert_close(d, layer(x), rtol=0, atol=0.1)


def test_inference_mode(multipliers):
    """The products equal those without gradients, although operations are not decomposed and weights are cached."""
    torch.manual_seed(0)
    linear, layer = torch.nn.Linear(32, 8), torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True).eval()
    x, found, rows = torch.randn(2, 3, 32), [], []
    for mode in torch.no_grad, torch.inference_mode:
        with mode(), softmma.torch.emulate("H100", weights="e4m3", activations="e5m2") as emulation:
            found.append([linear(x), layer(x), linear(x[0, 0]), torch.einsum("bik,bjk->bij", x, x), x @ x.mT])
            rows.append(sorted((row.a, row.b, row.multiplications, row.calls) for row in emulation.report()))
            assert sum(calls(emulation).values()) == 10 and 4 <= len(multipliers) <= 5
            multipliers.clear()
    assert {row[:2] for row in rows[0]} == {row[:2] for row in rows[1]}
    assert all(torch.equal(d, e) for d, e in zip(*found, strict=True))
    with softmma.torch.emulate("H100") as emulation, torch.inference_mode():
        linear(x)
    assert sum(calls(emulation).values()) == 1 and not emulation.kept


def test_other_operations():
    a, b = torch.randn(3, 4, 5), torch.randn(3, 5, 6)
    exact = torch.bmm(a, b)
    with softmma.torch.emulate("H100", weights="f16", activations="f16") as emulation:
        found = [torch.bmm(a, b), torch.einsum("kij,kjl->kil", a, b), torch.baddbmm(torch.zeros(3, 4, 6), a, b)]
        column, element = a[0] @ b[0][:, 0], a[0, 0] @ b[0][:, 0]
        integers = torch.ones(2, 2, dtype=torch.int64) @ torch.ones(2, 2, dtype=torch.int64)
    for d in found:
        torch.testing.assert_close(d, exact, rtol=0, atol=0.02)
    torch.testing.assert_close(column, exact[0, :, 0], rtol=0, atol=0.02)
    torch.testing.assert_close(element, exact[0, 0, 0], rtol=0, atol=0.02)
    assert (integers == 2).all()
    multiplications = {row.operation: row.multiplications for row in emulation.report()}
    assert multiplications == {"bmm": 720, "baddbmm": 360, "mv": 20, "dot": 5}
    assert torch.equal(torch.bmm(a, b), exact)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_dtypes(dtype):
    x = torch.randn(4, 8).to(dtype)
    with softmma.torch.emulate("H100"):
        d = x @ x.T
    assert d.dtype == dtype
    expected = softmma.matmul(x.double().numpy(), x.double().numpy().T, in_dtype="bf16")
    assert torch.equal(d, torch.from_numpy(expected).to(dtype))


@pytest.mark.parametrize("rows", [False, True])
def test_scaled_mm(rows):
    a, b = (torch.randn(16, 32).to(torch.float8_e4m3fn) for _ in range(2))
    scale_a, scale_b = (torch.rand(16, 1), torch.rand(1, 16)) if rows else (torch.tensor(2.0), torch.tensor(0.25))
    with softmma.torch.emulate("H100") as emulation:
        d = torch._scaled_mm(a, b.t(), scale_a, scale_b, out_dtype=torch.bfloat16)
    x, y = (t.view(torch.uint8).numpy() for t in (a, b))
    expected = torch.from_numpy(softmma.matmul(x, y.T, in_dtype="e4m3")) * scale_b * scale_a
    assert torch.equal(d, expected.bfloat16())
    assert calls(emulation) == {("_scaled_mm", "e4m3", "e4m3"): 1}


# ---- Factors of blocks, and groups ----

M, N, K = 70, 48, 320


def scaled_by(recipe_a, recipe_b, swizzle=0, on="H100", out_dtype=torch.float32):
    """Returns a function that calls torch._scaled_mm_v2 inside an emulation. Its recipes are numbers of torch's
    ScalingType."""

    def run(a, b, scale_a, scale_b):
        with softmma.torch.emulate(on, strict=True):
            return torch._scaled_mm_v2(
                a, b, scale_a, recipe_a, [swizzle] * len(recipe_a), scale_b, recipe_b, [swizzle] * len(recipe_b), None, out_dtype
            )

    return run


def scaled(a, b, scale_a, scale_b, on="H100"):
    with softmma.torch.emulate(on, strict=True):
        return torch._scaled_mm(a, b, scale_a, scale_b, out_dtype=torch.float32)


@pytest.fixture
def fp8():
    torch.manual_seed(0)
    return torch.randn(M, K).to(torch.float8_e4m3fn), torch.randn(N, K).to(torch.float8_e4m3fn)


def numbers(*tensors):
    return tuple(softmma.torch._tensors.narrow(x, 1) for x in tensors)


@pytest.mark.skipif(not hasattr(torch, "_scaled_mm_v2"), reason="this PyTorch has no _scaled_mm_v2")
def test_factors_of_128(fp8):
    """_scaled_mm and _scaled_mm_v2 return the same, although their layouts of factors differ. For B and for square
    blocks, v2 has K as the first axis, padded to a multiple of 4."""
    a, b = fp8
    row, column = torch.rand(3, M).t() + 0.5, torch.rand(3, N) + 0.5
    pad = torch.nn.functional.pad
    x, y = numbers(a, b)
    lines = softmma.scaled_matmul(x, y.T, row.numpy(), column.numpy())
    assert torch.equal(scaled(a, b.t(), row, column), torch.from_numpy(lines))
    assert torch.equal(scaled_by([4], [4])(a, b.t(), [row], [column.t()]), torch.from_numpy(lines))
    square = column[:, :1]
    expected = torch.from_numpy(softmma.scaled_matmul(x, y.T, row.numpy(), square.numpy()))
    assert torch.equal(scaled(a, b.t(), row, square), expected)
    assert torch.equal(scaled_by([4], [5])(a, b.t(), [row], [pad(square, (0, 0, 0, 1))]), expected)
    turned = scaled_by([5], [4])(b, a.t(), [pad(square.t(), (0, 1)).t()], [row])
    assert torch.equal(turned, expected.t())
    # One factor for each line; without a recipe they count as factors of rows.
    few, other = a[:, :64], b[:, :64]
    rows = scaled_by([1], [1])(few, other.t(), [row[:, :1]], [column[:1]])
    assert torch.equal(rows, scaled(few, other.t(), row[:, :1], column[:1]))
    blocks = scaled_by([4], [4])(few, other.t(), [row[:, :1]], [column[:1].t()])
    assert not torch.equal(rows, blocks) and torch.allclose(rows, blocks)


def blocked(scales):
    return torch.from_numpy(softmma.swizzle_scales(scales.numpy()))


def factors(lines, block, e8m0):
    if e8m0:
        return torch.randint(126, 130, (lines, K // block), dtype=torch.uint8)
    return torch.exp2(torch.randint(-1, 2, (lines, K // block))).to(torch.float8_e4m3fn).view(torch.uint8)


@pytest.mark.skipif(not hasattr(torch, "_scaled_mm_v2"), reason="this PyTorch has no _scaled_mm_v2")
def test_swizzled_factors(fp8):
    """Swizzled factors of MXFP8, MXFP4 and NVFP4, with one and two levels, give correct products. Sums are exact here,
    so every element is compared with an exact result."""
    fp8 = [torch.randint(-4, 5, x.shape).float().to(x.dtype) for x in fp8]
    e8m0, e4m3, fp4 = torch.float8_e8m0fnu, torch.float8_e4m3fn, torch.float4_e2m1fn_x2
    packed = [torch.randint(0, 256, (lines, K // 2), dtype=torch.uint8).view(fp4) for lines in (M, N)]
    for (a, b), kind, recipe, block in ((fp8, e8m0, 3, 32), (packed, e8m0, 3, 32), (packed, e4m3, 2, 16)):
        of_a, of_b = factors(M, block, kind == e8m0), factors(N, block, kind == e8m0)
        scale_a, scale_b = blocked(of_a).view(kind), blocked(of_b).view(kind)
        d = scaled(a, b.t(), scale_a, scale_b, "B200")
        (x, y), (s, t) = numbers(a, b), numbers(of_a.view(kind), of_b.view(kind))
        assert torch.equal(d, torch.from_numpy(softmma.matmul(x, y.T, on="B200", scale_a=s, scale_b=t.T)))
        p, q = (v.astype(np.float64) * np.repeat(w.astype(np.float64), block, 1) for v, w in ((x, s), (y, t)))
        assert torch.equal(d.double(), torch.from_numpy(p @ q.T))
        swizzled = scaled_by([recipe], [recipe], 1, "B200")
        assert torch.equal(d, swizzled(a, b.t(), [scale_a], [scale_b]))
        plain = scaled_by([recipe], [recipe], 0, "B200")
        assert torch.equal(d, plain(a, b.t(), [of_a.view(kind)], [of_b.view(kind)]))
        if kind == e4m3:
            one, other = torch.tensor(0.37), torch.tensor(1.7)
            both = scaled_by([2, 0], [2, 0], 1, "B200")(a, b.t(), [scale_a, one], [scale_b, other])
            assert torch.equal(both, d * (one * other))
    with softmma.torch.emulate("H100") as emulation, pytest.raises((ValueError, NotImplementedError, RuntimeError)):
        torch._scaled_mm(a, b.t(), scale_a, scale_b, out_dtype=torch.float32)
    assert [row.why for row in emulation.report().outside] == ["the unit has no nvfp4"]
    with softmma.torch.emulate("B200") as emulation, pytest.raises((ValueError, NotImplementedError, RuntimeError)):
        torch._scaled_mm(a, b.t(), scale_a[:-1], scale_b, out_dtype=torch.float32)
    assert [row.why for row in emulation.report().outside] == ["scale factors of an unknown kind"]


@pytest.mark.skipif(not hasattr(torch, "_grouped_mm"), reason="this PyTorch has no _grouped_mm")
def test_groups():
    """Each group is multiplied separately, in all four forms of PyTorch's grouped product and in the backward pass. All
    sums are exact."""
    torch.manual_seed(0)
    x = torch.randint(-2, 3, (32, 64)).bfloat16()
    w = torch.nn.Parameter(torch.randint(-2, 3, (3, 16, 64)).bfloat16())
    ends = torch.tensor([8, 8, 32], dtype=torch.int32)

    def forms():
        y = w.detach()
        return [
            torch._grouped_mm(x, y.transpose(1, 2), ends),
            torch._grouped_mm(y, x.t(), ends),
            torch._grouped_mm(x.t(), x[:, :24], ends),
            torch._grouped_mm(y, y.transpose(1, 2)),
        ]

    with softmma.torch.emulate("H100", strict=True) as emulation:
        found = forms()
        d = torch._grouped_mm(x, w.transpose(1, 2), offs=ends)
        d.float().square().sum().backward()
        one = x[:8] @ w.detach()[0].t()
    for y, expected in zip(found, forms(), strict=True):
        assert torch.equal(y, expected)
    assert torch.equal(found[0][:8], one) and torch.equal(found[0], d)
    assert w.grad.shape == w.shape and (w.grad[1] == 0).all() and w.grad[2].abs().sum() > 0
    products = {(row.product, row.operation) for row in emulation.report() if row.operation == "_grouped_mm"}
    assert products == {("other", "_grouped_mm"), ("forward", "_grouped_mm"), ("wgrad", "_grouped_mm")}
    short = torch.tensor([8, 8, 30], dtype=torch.int32)
    with softmma.torch.emulate("H100"):
        assert (torch._grouped_mm(x, w.detach().transpose(1, 2), short)[30:] == 0).all()


@pytest.mark.skipif(not hasattr(torch, "_scaled_grouped_mm"), reason="this PyTorch has no _scaled_grouped_mm")
def test_groups_with_factors(fp8):
    """Factors of rows, and swizzled factors of MX, of each group: rows of A by the ends, and K by the ends."""
    a, b = fp8
    ends, starts = torch.tensor([24, 24, M], dtype=torch.int32), (0, 24, 24)
    experts = torch.stack([b, b.roll(1, 0), b.roll(1, 1)])
    rows, columns = torch.rand(M) + 0.5, torch.rand(3, N) + 0.5
    of_a, of_b = factors(M, 32, True), torch.stack([factors(N, 32, True) for _ in range(3)])
    e8m0 = torch.float8_e8m0fnu
    parts = [blocked(of_a[s:e]) for s, e in zip(starts, ends.tolist(), strict=True)]
    swizzled = torch.cat([*parts, torch.zeros(1024, dtype=torch.uint8)]).reshape(-1, 4).view(e8m0)
    stacked = torch.stack([blocked(each) for each in of_b]).view(e8m0)
    with softmma.torch.emulate("B200", strict=True):
        by_rows = torch._scaled_grouped_mm(a, experts.transpose(1, 2), rows, columns, ends)
        mx = torch._scaled_grouped_mm(a, experts.transpose(1, 2), swizzled, stacked, ends)
    for g, (s, e) in enumerate(zip(starts, ends.tolist(), strict=True)):
        if s == e:
            continue
        one = scaled(a[s:e], experts[g].t(), rows[s:e, None].clone(), columns[g : g + 1], "B200")
        assert torch.equal(by_rows[s:e], one.bfloat16())
        one = scaled(a[s:e], experts[g].t(), blocked(of_a[s:e]).view(e8m0), blocked(of_b[g]).view(e8m0), "B200")
        assert torch.equal(mx[s:e], one.bfloat16())
    ends = torch.tensor([64, K], dtype=torch.int32)  # of K
    both = [torch.cat([blocked(x[:, :2].contiguous()), blocked(x[:, 2:].contiguous())]).view(e8m0) for x in (of_a, of_b[0])]
    rows, columns = torch.rand(2, M) + 0.5, torch.rand(2, N) + 0.5
    with softmma.torch.emulate("B200", strict=True):
        mx = torch._scaled_grouped_mm(a, b.t(), both[0].reshape(128, -1), both[1].reshape(128, -1), ends)
        by_rows = torch._scaled_grouped_mm(a, b.t(), rows.flatten(), columns.flatten(), ends)
    for g, k in enumerate((slice(0, 64), slice(64, K))):
        blocks = slice(k.start // 32, k.stop // 32)
        s, t = (blocked(x[:, blocks].contiguous()).view(e8m0) for x in (of_a, of_b[0]))
        assert torch.equal(mx[g], scaled(a[:, k], b[:, k].t(), s, t, "B200").bfloat16())
        one = scaled(a[:, k], b[:, k].t(), rows[g][:, None], columns[g][None], "B200")
        assert torch.equal(by_rows[g], one.bfloat16())


def test_compiled(network, batch):
    """A function that was compiled before is emulated, forward and backward."""
    compiled = torch.compile(network)
    loss_of(compiled, batch).backward()
    network.zero_grad()
    with softmma.torch.emulate("H100", weights="e4m3", activations="e4m3", gradients="e5m2") as emulation:
        loss_of(compiled, batch).backward()
    gradients = [p.grad.clone() for p in network.parameters()]
    network.zero_grad()
    with softmma.torch.emulate("H100", weights="e4m3", activations="e4m3", gradients="e5m2") as eager:
        loss_of(network, batch).backward()
    assert sum(calls(emulation).values()) == sum(calls(eager).values()) == 5
    for p, gradient in zip(network.parameters(), gradients):
        torch.testing.assert_close(p.grad, gradient)


@pytest.fixture
def multipliers(monkeypatch):
    """Records the shape of each multiplier that is made."""
    made = []

    class Counted(softmma.Multiplier):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            made.append(self.shape)

    monkeypatch.setattr(softmma.recipes, "Multiplier", Counted)
    return made


FORMATS = {
    "f16": ("H100", "f16", "tensor"),
    "e4m3": ("H100", "e4m3", "tensor"),
    "s8": ("A100", "s8", "tensor"),
    "blocks": ("H100", "e4m3", "block"),
    "nvfp4": ("B200", "nvfp4", "tensor"),
}


@pytest.fixture(params=FORMATS)
def kept_and_not(request):
    """Emulations with and without cached weights."""
    on, format, scaling = FORMATS[request.param]
    options = {"weights": format, "activations": format, "scaling": scaling}
    return [softmma.torch.emulate(on, **options, keep_weights=keep) for keep in (True, False)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_weights_are_kept(kept_and_not, multipliers, dtype):
    """A multiplier that is made once gives the bits of a new product: for Linear, x @ w and parts of a weight, forward
    and backward."""
    torch.manual_seed(3)
    layer, w = torch.nn.Linear(300, 6).to(dtype), torch.nn.Parameter(torch.randn(300, 8, dtype=dtype))
    found = []
    for emulation in kept_and_not:
        torch.manual_seed(4)
        results = []
        with emulation:
            for rows in 1, 3, 40:
                x = torch.randn(rows, 300, dtype=dtype)
                layer.zero_grad()
                w.grad = None
                parts = [layer(x[None]), x @ w, x @ w[:, 2:5], x @ w.t()[:3].t(), x @ w[:, ::2]]
                sum(part.sum() for part in parts).backward()
                results += [*parts, layer.weight.grad, w.grad]
        found.append(results)
        if emulation.keep_weights:
            count = len(multipliers)
            assert 0 < count <= 12
        else:
            assert len(multipliers) == count
    assert all(torch.equal(x, y) for x, y in zip(*found, strict=True))


def written_by_numpy(layer):
    layer.weight.detach().numpy()[2, 5] = 7


def optimised(layer):
    layer.weight.grad = torch.ones_like(layer.weight)
    torch.optim.Adam([layer.weight], lr=0.5).step()


def loaded(layer):
    torch.manual_seed(9)
    layer.load_state_dict({"weight": torch.randn(6, 40)})


def with_no_grad(layer):
    with torch.no_grad():
        layer.weight.mul_(1.5)


def in_inference_mode(layer):
    with torch.inference_mode():
        layer.weight[3, 3] += 100


def swapped_data(layer):
    layer.weight.data = torch.randn(6, 40, generator=torch.manual_seed(5))


def transposed_data(layer):
    layer.weight.data = torch.randn(40, 6, generator=torch.manual_seed(5)).t()


def reshaped(layer):
    layer.weight.data = torch.randn(5, 40, generator=torch.manual_seed(5))


def of_another_dtype(layer):
    layer.weight.data = layer.weight.data.double() + 0.125


def through_its_storage(layer):
    layer.weight.untyped_storage()[3] = layer.weight.untyped_storage()[3] ^ 0x40


def replaced(layer):
    layer.weight = torch.nn.Parameter(layer.weight.detach() + 1)


CHANGES = [
    lambda layer: layer.weight.data.copy_(torch.ones(6, 40)),
    lambda layer: layer.weight.data.add_(1),
    lambda layer: layer.weight.detach().neg_(),
    written_by_numpy, optimised, loaded, with_no_grad, in_inference_mode, swapped_data, transposed_data, reshaped,
    of_another_dtype, through_its_storage, replaced,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_changed_weights_are_seen(kept_and_not, change):
    """Whenever a weight changes, whether or not PyTorch counts the change, the next product uses its new values."""
    layer = torch.nn.Linear(40, 6, bias=False)
    kept, fresh = kept_and_not
    with torch.no_grad(), kept:
        layer(torch.ones(2, 40))
        change(layer)
        x = torch.randn(2, 40, dtype=layer.weight.dtype)
        found = layer(x), layer(-x)
    with torch.no_grad(), fresh:
        for d, rows in zip(found, (x, -x)):
            expected = layer(rows)
            assert d.dtype == expected.dtype and torch.equal(d.view(torch.int32), expected.view(torch.int32))


def test_training_with_kept_weights():
    """Every step of an optimiser is noticed, forward and backward."""
    found = []
    for keep in True, False:
        torch.manual_seed(6)
        network = torch.nn.Sequential(torch.nn.Linear(20, 30), torch.nn.Tanh(), torch.nn.Linear(30, 4))
        optimizer = torch.optim.AdamW(network.parameters(), 0.05)
        x, y = torch.randn(16, 20), torch.randint(0, 4, (16,))
        with softmma.torch.emulate("H100", weights="e4m3", activations="e4m3", gradients="e5m2", keep_weights=keep):
            for _ in range(5):
                optimizer.zero_grad()
                loss_of(network, (x, y)).backward()
                optimizer.step()
        found.append([p.detach() for p in network.parameters()])
    assert all(torch.equal(p, q) for p, q in zip(*found, strict=True))


def test_plans_are_made_once(multipliers):
    """One multiplier is made for each weight and direction, and a new one after the weight has changed. Activations
    have no multiplier."""
    layer = torch.nn.Linear(64, 96)
    x = torch.randn(4, 64, requires_grad=True)
    with softmma.torch.emulate("H100"):
        for _ in range(5):
            layer(x).sum().backward()
            x @ torch.ones(64, 2)
        assert multipliers == [(64, 96), (96, 64)]
        layer.weight.data.mul_(2)
        layer(x), layer(x)
        assert multipliers == [(64, 96), (96, 64), (64, 96)]
        torch.optim.SGD([layer.weight], 0.0).step()  # the step writes the same values again
        layer(x)
        assert len(multipliers) == 3
    with softmma.torch.emulate("H100", keep_weights=False):
        layer(x)
        assert len(multipliers) == 3


@pytest.mark.parametrize("format", ["bf16", "e4m3"])
def test_kept_weights_are_freed(format):
    """Multipliers are freed with the tensor, and when the emulation ends; of many views, the last few remain."""
    emulation = softmma.torch.emulate("H100", weights=format, activations=format)
    layers = [torch.nn.Linear(16, 16) for _ in range(3)]
    with emulation:
        for layer in layers:
            layer(torch.ones(1, 16)).sum().backward()
        assert len(emulation.kept) == 3
        del layers[1:], layer
        assert len(emulation.kept) == 1
        for k in range(1, 17):
            torch.ones(1, k) @ layers[0].weight[:k]
        (views,) = emulation.kept.values()
        assert len(views) == softmma.torch._call.MOST_VIEWS
    assert not emulation.kept


@pytest.mark.parametrize("scaling", ["tensor", "block"])
def test_shapes_that_do_not_fit(scaling):
    """Errors are raised, and leave nothing behind."""
    layer, x = torch.nn.Linear(256, 3, bias=False), torch.randn(2, 256)
    with torch.no_grad(), softmma.torch.emulate("H100", weights="e4m3", activations="e4m3", scaling=scaling):
        for k in 128, 384:
            with pytest.raises(ValueError, match="the columns of a must be the rows of b"):
                layer(torch.ones(2, k))
        found = layer(x)
    with torch.no_grad(), softmma.torch.emulate("H100", weights="e4m3", activations="e4m3", scaling=scaling):
        assert torch.equal(layer(x), found)


def test_lossy_weights_warn():
    layer = torch.nn.Linear(2, 1, bias=False)
    layer.weight.data.fill_(1e6)
    warning = pytest.warns(RuntimeWarning, match="b: rounded to f16, 2 values became infinite")
    with torch.no_grad(), softmma.torch.emulate("H100", weights="f16", activations="f16"), warning:
        layer(torch.ones(1, 2))


def test_errors(batch):
    with pytest.raises(LookupError, match="no number format"):
        softmma.torch.emulate("H100", weights="e9m9")
    with pytest.raises(ValueError, match="scaling: 'rows' is not one of tensor, row, block, none"):
        softmma.torch.emulate("H100", scaling="rows")
    with pytest.raises(LookupError, match="V100 has no instruction for bf16"), softmma.torch.emulate("V100"):
        batch[0] @ batch[0].T
    assert torch.backends.mha.get_fastpath_enabled()


def test_memory_of_roles_is_bounded(batch):
    with softmma.torch.emulate("H100") as emulation:
        for _ in range(5000):
            torch.ones(1, 4) @ torch.ones(4, 1)
    assert sum(calls(emulation).values()) == 5000
