"""Emulation of tensors on a GPU. Tensors of this CPU replace them, and the tests' driver replaces the GPU."""

import numpy as np
import pytest

import softmma
from softmma import _core, _devices

torch = pytest.importorskip("torch", reason="PyTorch is not installed: emulation on a GPU is NOT tested")

from softmma.torch import _call, _emulate, _tensors

TIER = "all"
pytestmark = pytest.mark.usefixtures("cuda_driver")


@pytest.fixture
def tensors(monkeypatch):
    """Makes every tensor count as one on cuda:0. Returns a list of the copies from and to the host in C."""
    copied = []
    for module in (_call, _emulate):
        monkeypatch.setattr(module, "is_there", lambda x, kernel: kernel is not None)
    monkeypatch.setattr(_call, "array", lambda x: copied.append(x) or _tensors.array(x))
    monkeypatch.setattr(_devices, "is_there", lambda x: isinstance(x, torch.Tensor))

    def view(x):
        if not isinstance(x, torch.Tensor):
            return x
        array = _tensors.array(x) if x.dtype not in (torch.uint8, torch.uint32) else x.numpy()
        turned = x.dim() > 1 and x.stride(-1) != 1
        there = _core.device_write("cuda", np.ascontiguousarray(array.swapaxes(-1, -2) if turned else array))
        return there.swapaxes(-1, -2) if turned else there

    monkeypatch.setattr(_devices, "view", view)
    monkeypatch.setattr(_devices, "back", lambda d, like, device: _tensors.tensor(_core.device_read("cuda", d)))
    return copied


def results(kernel, on, recipe):
    """Returns the output and the gradients of a network with a convolution, a linear layer and attention."""
    torch.manual_seed(3)
    image = torch.randn(2, 3, 8, 8, requires_grad=True)
    conv, linear = torch.nn.Conv2d(3, 4, 3, stride=2), torch.nn.Linear(36, 16)
    with softmma.torch.emulate(on, recipe, kernel=kernel, strict=True) as emulation:
        x = linear(conv(image).flatten(1)).reshape(1, 1, 2, 16)
        y = torch.nn.functional.scaled_dot_product_attention(x, x, x)
        (y @ y.mT).square().mean().backward()
    found = [y.detach(), image.grad, conv.weight.grad, linear.weight.grad, linear.bias.grad]
    return found, emulation.report()


RECIPES = (
    ("H100", "bf16", True), ("V100", "fp16", True), ("A100", "tf32", True), ("MI300X", "fp32", True),
    ("MI300X", softmma.recipes.custom("e4m3", "e4m3", "e5m2", scaling="none"), True), ("H100", "fp8_tensorwise", False),
    ("B200", "mxfp8", False),
)  # fmt: skip


@pytest.mark.parametrize(("on", "recipe", "stays"), RECIPES)
def test_emulate(tensors, on, recipe, stays):
    """Operands that are only rounded stay on the device; operands with scale factors are prepared on the host."""
    found, report = results("cuda", on, recipe)
    assert bool(tensors) == (not stays)
    expected, plain = results(None, on, recipe)
    for x, y in zip(found, expected, strict=True):
        assert torch.equal(x.view(torch.int32), y.view(torch.int32))
    assert str(report) == str(plain)


def test_scaled_mm_and_integers(tensors, generator):
    a, b = torch.randn(16, 32).to(torch.float8_e4m3fn), torch.randn(16, 32).to(torch.float8_e4m3fn).t()
    one = torch.ones(())
    x, y = (torch.randint(-128, 128, shape, dtype=torch.int8) for shape in ((17, 32), (32, 16)))
    both = []
    for kernel in ("cuda", None):
        with softmma.torch.emulate("H100", "bf16", strict=True, kernel=kernel):
            both.append((torch._scaled_mm(a, b, one, one, out_dtype=torch.float32), torch._int_mm(x, y)))
            if kernel:
                assert not tensors
    for one, other in zip(*both, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("format", ["f16", "bf16", "tf32", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"])
@pytest.mark.parametrize("source", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("mode", ["nearest-even", "nearest-away", "toward-zero"])
def test_rounding(generator, format, source, mode):
    """PyTorch's conversion with the additional steps gives the bits of softmma.round; a NaN may be any NaN."""
    count = 1 << 16
    width = {4: (np.uint32, torch.int32), 2: (np.uint16, torch.int16)}[source.itemsize]
    codes = np.arange(count) if source.itemsize == 2 else generator.integers(0, 1 << 32, count)
    x = torch.from_numpy(codes.astype(width[0]).view(f"i{source.itemsize}")).view(source)
    edges = torch.tensor([448, 464, 465, 240, 248, 57344, 61440, 65519, 65520, 2.0**-10, 3 * 2.0**-11]).to(source)
    x = torch.cat([x, edges, -edges]).reshape(2, -1)
    values = _tensors.array(x)
    expected = np.asarray(softmma.round(values, format, mode))
    found = _tensors.rounded(x, format, mode)
    if found is None:
        assert format != "tf32" and mode != "nearest-even"
        return
    found = found.numpy() if found.dtype in (torch.uint8, torch.uint32) else _tensors.array(found)
    number = ~torch.isnan(x).numpy()
    bits = f"u{expected.dtype.itemsize}"
    assert np.array_equal(found.view(bits)[number], expected.view(bits)[number])
    assert np.isnan(found.view(expected.dtype).astype(np.float32)[~number]).all()


def test_emulate_refused():
    with pytest.raises(ValueError, match="'flash' with kernel='cuda'"):
        softmma.torch.emulate("H100", kernel="cuda", attention="flash")
