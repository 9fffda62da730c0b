"""PyTorch modules with emulated products."""

import numpy as np
import pytest

import softmma

torch = pytest.importorskip("torch", reason="PyTorch is not installed: softmma.torch is NOT tested")


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
    return {(row.operation, row.a, row.b): row.calls for row in emulation.report()}


def test_fp32_is_what_pytorch_computes(network, batch):
    """A chain of FP32 additions: only the order differs from PyTorch's."""
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


def test_scaling_per_tensor(batch):
    x, w = batch[0] * 1e-3, torch.randn(64, 10) * 1e3
    with softmma.torch.emulate("H100", weights="e4m3", activations="e4m3"):
        d = x @ w
    scale_x, scale_w = 448 / x.abs().max(), 448 / w.abs().max()
    scaled = softmma.matmul((x * scale_x).numpy(), (w * scale_w).numpy(), in_dtype="e4m3")
    np.testing.assert_array_equal(d.numpy(), (torch.from_numpy(scaled) / scale_x / scale_w).numpy())
    with softmma.torch.emulate("H100", weights="e4m3", activations="e4m3", scaling="none"):
        np.testing.assert_array_equal((x @ w).numpy(), softmma.matmul(x.numpy(), w.numpy(), in_dtype="e4m3"))


def test_scaling_per_block():
    """Blocks of 128 along K, a scale for each row of A and column of B in each, added in FP32."""
    torch.manual_seed(2)
    x, w = torch.randn(5, 300) * torch.logspace(-3, 3, 300), torch.randn(300, 7)
    with softmma.torch.emulate("MI300X", weights="e5m2fnuz", activations="e5m2fnuz", scaling="block"):
        d, row, column, number = x @ w, x[0] @ w, x @ w[:, 0], x[0] @ w[:, 0]
        batched = torch.stack([x, 2 * x]) @ torch.stack([w, w])
    expected = torch.zeros(5, 7)
    for k in range(0, 300, 128):
        a, b = x[:, k : k + 128], w[k : k + 128]
        scale_a, scale_b = 57344 / a.abs().amax(1, keepdim=True), 57344 / b.abs().amax(0, keepdim=True)
        part = softmma.matmul((a * scale_a).numpy(), (b * scale_b).numpy(), on="MI300X", in_dtype="e5m2fnuz")
        expected += torch.from_numpy(part) / scale_a / scale_b
    assert torch.equal(d, expected) and torch.equal(batched, torch.stack([expected, 2 * expected]))
    assert torch.equal(row, d[0]) and torch.equal(column, d[:, 0]) and torch.equal(number, d[0, 0])


def test_integers(network, batch):
    """Symmetric quantisation of each tensor to 8 bits."""
    expected = network(batch[0])
    with softmma.torch.emulate("A100", weights="s8", activations="s8") as emulation:
        found = network(batch[0])
    assert 0 < (found - expected).norm() < 0.05 * expected.norm()
    assert calls(emulation) == {("addmm", "s8", "s8"): 2}


def test_roles(network, batch):
    """Weights, activations and gradients are told apart, forward and backward."""
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


@pytest.mark.parametrize("format", softmma.QUANTIZED_FORMATS)
def test_block_scaled(network, batch, format):
    expected = network(batch[0])
    formats = {"weights": format, "activations": format}
    with softmma.torch.emulate("B200", **formats) as emulation:
        found = network(batch[0])
        found.sum().backward()
    assert 0 < (found - expected).norm() < 0.3 * expected.norm()
    assert set(calls(emulation)) == {("addmm", format, format), ("mm", format, format)}
    mixed = softmma.torch.emulate("B200", weights=format, activations="e4m3")
    with pytest.raises(ValueError, match="goes with another one only"), mixed:
        network(batch[0])


@pytest.mark.parametrize("training", [True, False])
def test_attention(training):
    """All products of a layer: four projections and two of attention, whatever PyTorch would fuse."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True).train(training)
    x = torch.randn(2, 8, 32)
    with torch.set_grad_enabled(training), softmma.torch.emulate("H100") as emulation:
        d = layer(x)
    rows = calls(emulation)
    assert sum(n for (operation, *_), n in rows.items() if operation == "bmm") == 2
    assert sum(rows.values()) == 6
    torch.testing.assert_close(d, layer(x), rtol=0, atol=0.1)


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
    expected = torch.from_numpy(softmma.matmul(x, y.T, in_dtype="e4m3")) * scale_a * scale_b
    assert torch.equal(d, expected.bfloat16())
    assert calls(emulation) == {("_scaled_mm", "e4m3", "e4m3"): 1}


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


def test_errors(batch):
    with pytest.raises(LookupError, match="no number format"):
        softmma.torch.emulate("H100", weights="e9m9")
    with pytest.raises(ValueError, match="scaling: 'row' is none of tensor, block, none"):
        softmma.torch.emulate("H100", scaling="row")
    with pytest.raises(LookupError, match="V100 has no instruction for bf16"), softmma.torch.emulate("V100"):
        batch[0] @ batch[0].T
    assert torch.backends.mha.get_fastpath_enabled()


def test_memory_of_roles_is_bounded(batch):
    with softmma.torch.emulate("H100") as emulation:
        for _ in range(5000):
            torch.ones(1, 4) @ torch.ones(4, 1)
    assert sum(calls(emulation).values()) == 5000
