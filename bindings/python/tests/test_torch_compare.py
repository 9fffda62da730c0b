"""Points at which runs of a PyTorch network on several targets diverge."""

import contextlib
import copy
import dataclasses
import doctest
import itertools
import json
import math
import random
from typing import NamedTuple

import numpy as np
import pytest

import softmma
from conftest import REPOSITORY

torch = pytest.importorskip("torch", reason="PyTorch is not installed: softmma.torch.compare is NOT tested")
from torch.utils.checkpoint import checkpoint

from softmma.torch import compare, emulate
from softmma.torch._record import tensors_in

TIER = "all"
nn, F = torch.nn, torch.nn.functional
FP8 = {"weights": "e4m3", "activations": "e4m3"}
BF16 = "H100", {"weights": "bf16", "activations": "bf16"}


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture
def network():
    return nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 10))


@pytest.fixture
def x():
    return torch.randn(32, 64)


def bits(x):
    return x.detach().contiguous().numpy().view(np.uint8).reshape(*x.shape, -1)


def by_hand(x, y):
    """Returns the number of differing elements, the largest and the relative difference."""
    a, b = x.detach().double().numpy(), y.detach().double().numpy()
    relative = math.sqrt(((a - b) ** 2).sum() / (b**2).sum())
    return int((bits(x) != bits(y)).any(-1).sum()) if x.dtype == y.dtype else None, abs(a - b).max(), relative


def outputs(model, x, **emulated):
    """Returns each layer's output of a Sequential, computed without compare."""
    found = []
    with torch.no_grad(), emulate(**emulated):
        for layer in model:
            x = layer(x)
            found.append(x)
    return found


def test_numbers_are_those_by_hand(network, x):
    d = compare(network, x, ["A100", ("H100", FP8)])
    assert d.targets == ("A100", "H100 weights=e4m3 activations=e4m3") and [layer.title for layer in d] == [
        "0",
        "1",
        "2",
    ]
    runs = {"A100": outputs(network, x, on="A100"), d.targets[1]: outputs(network, x, on="H100", **FP8)}
    double = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 10)).double()
    double.load_state_dict(network.state_dict())
    runs["FP32"], runs["FP64"] = [], []
    with torch.no_grad():
        for run, model, y in ("FP32", network, x), ("FP64", double, x.double()):
            for layer in model:
                runs[run].append(y := layer(y))
    for n, layer in enumerate(d):
        assert layer.shape == tuple(runs["A100"][n].shape) and layer.dtype == "float32"
        for (a, b), found in layer.difference.items():
            differ, greatest, relative = by_hand(runs[a][n], runs[b][n])
            assert found.greatest == greatest and found.relative == pytest.approx(relative, rel=1e-12)
            assert differ is None or found.differ == differ
            if greatest:
                where = abs(runs[a][n].double() - runs[b][n].double())
                assert where[found.at] == greatest
    for run in ("FP32", *d.targets):
        (ranking,) = [r for r in d.rankings if r.run == run and r.against == "FP64"]
        best, best64 = (runs[each][-1].argmax(-1) for each in (run, "FP64"))
        assert ranking.argmax == [(int(i),) for i in torch.nonzero(best != best64)[:, 0]] and ranking.positions == 32
        assert d.argmax[""][run].tolist() == best.tolist()
        order, order64 = (runs[each][-1].argsort(-1, descending=True)[:, :5] for each in (run, "FP64"))
        assert ranking.order == [(int(i),) for i in torch.nonzero((order != order64).any(-1))[:, 0]]


def test_equal_targets(network, x):
    d = compare(network, x, ["A100", "L40S", "A100", {"again": "A100"}])
    assert d.targets == ("A100", "L40S", "A100 (2)", "again") and d.first is None
    for layer in d:
        assert set(layer.cause.values()) == {"equal"}
        assert all(layer.difference[p, q][:3] == (0, 0, 0) for p in d.targets for q in d.targets if p != q)
    assert "all targets have the same bits" in repr(d) and "A100 = L40S = A100 (2) = again" in repr(d)
    with pytest.raises(ValueError, match="no layer has other bits"):
        d.trace()
    assert compare(network, x, ["A100", "A100", {"A100 (2)": "A100"}]).targets == ("A100", "A100 (2)", "A100 (2) (2)")


def test_first_and_trace(network, x):
    d = compare(network, x, ["A100", "L40S", "H100"])
    with pytest.warns(DeprecationWarning, match="Layer.parted is now Layer.differing"):
        assert d.first.parted == d.first.differing
    assert d.first is d[0] and d.first.differing == [("A100", "H100"), ("L40S", "H100")]
    assert [layer.cause["A100", "H100"] for layer in d] == ["own", "inherited", "inherited"]
    t = d.trace()
    a, h = (outputs(network, x, on=on)[0] for on in ("A100", "H100"))
    assert t.targets == ("A100", "H100") and t.cause == "own" and "this layer's own" in repr(t)
    assert abs(a - h)[t.at] == abs(a - h).max() and t.element == t.at and (t.product, t.products) == (0, 1)
    w = network[0].weight.detach().numpy()
    expected = softmma.trace(x.numpy(), w.T, at=t.at, on=["A100", "H100"], in_dtype="bf16")
    assert t.same_operands and t.trace.divergence == expected.divergence
    for mine, theirs in zip(t.trace.targets, expected.targets):
        assert mine.result == theirs.result and mine.instruction == theirs.instruction
        np.testing.assert_array_equal(mine.steps, theirs.steps)
    inherited = d.trace(2, between=("H100", "L40S"))
    assert inherited.targets == ("L40S", "H100") and inherited.cause == "inherited" and not inherited.same_operands
    assert "not this layer's alone" in repr(inherited)
    assert "no product" in repr(d.trace("1"))
    with pytest.raises(ValueError, match="have the same bits"):
        d.trace(0, between=("A100", "L40S"))
    with torch.no_grad():
        network[0].weight += 1
    with pytest.raises(ValueError, match="has changed"):
        d.trace()


def test_explanation(network, x):
    """Explains the instruction at which the two sums diverge. Its operands are those that both units received, and its
    two results equal the traced sums after that instruction."""
    d = compare(network, x, ["A100", "H100"], loss=lambda y: y.square().sum(), isolate=True)
    for title in "0", "0.weight wgrad":
        t = d.trace(title)
        e, p = t.explain(), t.trace.divergence
        for target, result in zip(t.trace.targets, e.results):
            assert target.steps["sum"][target.steps["products"] == p.products][-1] == float(result)
    assert e.difference and e.results[0] != e.results[1] and t.trace.value["parting"]["first_difference"] in repr(t)
    with pytest.raises(ValueError, match="do not diverge at an instruction"):
        compare(network, x, ["A100", "H100"]).trace("1").explain()
    fp8 = [(on, {**FP8, "promote_every": 32}) for on in ("H100", "B200")]
    with pytest.raises(ValueError, match="does not show a sum with promote_every"):
        compare(nn.Linear(300, 7), torch.randn(6, 300), fp8).trace().explain()


@pytest.mark.parametrize("scaling", ["tensor", "block", "none"])
def test_trace_of_narrow_formats(scaling):
    """The trace uses the operands that the unit received, which are scaled as in the emulation."""
    layer, x = nn.Linear(300, 7), torch.randn(2, 3, 300)
    d = compare(layer, x, [(on, {**FP8, "scaling": scaling}) for on in ("H100", "B200")] + ["A100"])
    t = d.trace(between=d.targets[:2])
    assert t.same_operands and t.products == 1 and t.trace.divergence is not None
    assert t.trace.targets[0].result != t.trace.targets[1].result
    other = d.trace(between=(d.targets[0], "A100"))
    assert not other.same_operands


def test_trace_of_promotion():
    """Targets that differ only in the sum get the same operands."""
    layer, x = nn.Linear(400, 7), torch.randn(6, 400)
    d = compare(layer, x, [("H100", {**FP8, "promote_every": every}) for every in (128, None)])
    t = d.trace()
    assert t.same_operands and t.trace.divergence is None
    assert "got the same operands, and sum them differently" in repr(t)


@pytest.mark.parametrize(
    "shapes", [((8, 8, 40), (40, 9)), ((8, 40), (8, 40, 8)), ((8, 40), (40, 8)), ((2, 3, 8, 40), (3, 40, 8))]
)
def test_trace_of_matmul(shapes):
    """If the second operand is a batch, PyTorch multiplies transposed matrices. The trace still reports the element's
    index in the untransposed product."""

    class Product(nn.Module):
        def forward(self, x, y):
            return x @ y

    x, y = (torch.randn(shape) for shape in shapes)
    d = compare(Product(), (x, y), ["A100", "H100"])
    t = d.trace()
    results = []
    for on in "A100", "H100":
        with emulate(on):
            results.append(x @ y)
    if t.at is not None:
        assert [target.result for target in t.trace.targets] == [result[t.at] for result in results]
    else:
        assert shapes[1] == (8, 40, 8)
    values = {(a.item(), h.item()) for a, h in zip(*(result.flatten() for result in results))}
    assert tuple(float(target.result) for target in t.trace.targets) in values and t.same_operands
    assert t.trace.targets[0].result != t.trace.targets[1].result


class Residual(nn.Module):
    """A network with two branches. Sums of the first branch are exact on any unit, so only the second branch
    diverges."""

    def __init__(self):
        super().__init__()
        self.exact, self.other, self.last = (nn.Linear(16, 16, bias=False) for _ in range(3))
        with torch.no_grad():
            self.exact.weight.copy_(torch.eye(16))

    def forward(self, x):
        y = self.exact(x)
        return self.last(y + x + self.other(x).relu()) + y


def test_branches():
    net, x = nn.Sequential(Residual(), nn.LayerNorm(16)), torch.randn(50, 16)
    d = compare(net, x, ["MI300X", "H100"])
    cause = {layer.title: layer.cause["MI300X", "H100"] for layer in d}
    assert cause == {"0.exact": "equal", "0.other": "own", "0.last": "inherited", "0": "inside", "1": "inherited"}
    assert d.first is d["0.other"]
    alone = compare(net, x, ["MI300X", "H100"], isolate=True)
    cause = {layer.title: layer.cause["MI300X", "H100"] for layer in alone}
    assert cause == {"0.exact": "equal", "0.other": "own", "0.last": "own", "0": "equal", "1": "equal"}


def test_isolated_layers_get_the_inputs_of_fp32(network, x):
    d = compare(network, x, ["A100", ("H100", FP8)], isolate=True)
    with torch.no_grad():
        inner = network[1](network[0](x))
        exact = F.linear(inner.double(), network[2].weight.double(), network[2].bias.double())
        plain = network[2](inner)
        with emulate("A100"):
            a = network[2](inner)
    found = d["2"].difference
    assert found["A100", "FP64"].greatest == abs(a - exact).max()
    assert found["FP32", "FP64"].greatest == abs(plain - exact).max()
    assert found["A100", "FP32"][:2] == by_hand(a, plain)[:2]
    assert d.isolated and d.rankings == () and "each layer alone" in repr(d)
    t = d.trace("2")
    assert t.cause == "own" and t.trace.targets[0].result == softmma.matmul(
        inner.numpy()[t.at[:1]], network[2].weight.detach().numpy()[t.at[1]], on="A100", in_dtype="bf16"
    )


def test_isolated_outputs_of_all_kinds():
    """With `isolate`, outputs can be expanded, changed in place, several tensors, or no tensor."""

    class Kinds(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc, self.relu, self.lstm = nn.Linear(8, 8), nn.ReLU(inplace=True), nn.LSTM(8, 8)
            self.wide, self.same, self.none = Expand(), nn.Identity(), Nothing()

        def forward(self, x):
            y, _ = self.lstm(self.relu(self.fc(x)))
            self.none(y)
            return self.fc(self.same(self.wide(y)) * 2)

    class Expand(nn.Module):
        def forward(self, x):
            return (x[:, :1] * 1.1).expand(-1, 3, -1)

    class Nothing(nn.Module):
        def forward(self, x):
            return None

    d = compare(Kinds(), torch.randn(5, 3, 8), ["A100", "H100"], isolate=True)
    assert [layer.title for layer in d if layer.cause["A100", "H100"] not in ("equal", "own")] == []
    assert {"lstm[0]", "lstm[1][0]", "wide", "same", "fc", "fc #2"} <= {layer.title for layer in d}


def test_isolated_gradients_inside_a_model():
    """A model may itself compute gradients: with `isolate`, the graph continues through the substituted tensors."""

    class Force(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc, self.out = nn.Linear(3, 8), nn.Linear(8, 1)

        def forward(self, x):
            with torch.enable_grad():
                x = x.detach().requires_grad_()
                return torch.autograd.grad(self.out(self.fc(x).tanh()).sum(), x)[0]

    model, x = Force(), torch.randn(5, 3)
    d = compare(model, x, ["A100", "H100"], isolate=True)
    assert 0 < d[-1].difference["A100", "FP64"].relative < 0.01 and d[-1].difference["FP32", "FP64"].relative < 1e-6


class Point(NamedTuple):
    x: torch.Tensor
    n: int


@dataclasses.dataclass
class Result:
    logits: torch.Tensor
    rest: tuple


class Structured(nn.Module):
    """A network with several calls of one module, products outside modules, arguments by name, and outputs in a
    dataclass."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(16, 16))
        self.fc = nn.Linear(16, 16)

    def forward(self, x, *, mask, point=None):
        y = self.fc(self.fc(x @ self.w)) * mask
        z = F.scaled_dot_product_attention(y, y, y)
        return Result(torch.einsum("bij,kj->bik", z, self.w), (Point(z, 3), {"mask": mask, "none": None}))


# ---- Backward passes ----


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(32), nn.Linear(32, 96), nn.Linear(32, 32)
        self.gain = nn.Parameter(torch.ones(32))

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).unflatten(-1, (3, 4, 8)).permute(2, 0, 3, 1, 4)
        return x + self.out((q @ k.mT).softmax(-1).matmul(v).transpose(1, 2).flatten(-2)) * self.gain


NETWORKS = {
    "mlp": (lambda: nn.Sequential(nn.Linear(64, 96), nn.ReLU(inplace=True), nn.Linear(96, 10)), (32, 64)),
    "convolution": (lambda: nn.Sequential(nn.Conv2d(4, 8, 3), nn.ReLU(), nn.Conv2d(8, 4, 3, 2), nn.Flatten()), (2, 4, 9, 9)),
    "attention": (lambda: nn.Sequential(Attention(), nn.Linear(32, 10)), (2, 5, 32)),
}  # fmt: skip
RECIPES = [("H100", "bf16"), ("H100", "fp8_tensorwise"), ("MI300X", "fp8_tensorwise"), ("H100", "fp8_delayed"),
           ("B200", "mxfp8"), ("B200", "nvfp4")]  # fmt: skip


def gradients(model, x, expected, emulated=None):
    """Returns the gradients of parameters by name, and of each child's output, computed without compare."""
    model, outputs = copy.deepcopy(model), {}
    names = [name for name, _ in model.named_children()]
    for name, following in itertools.pairwise(names):
        if getattr(model[int(following)], "inplace", False):
            continue

        def keep(module, args, output, name=following):
            output.retain_grad()
            outputs[f"{name} dgrad"] = output

        model[int(name)].register_forward_hook(keep)
    with emulate(*emulated) if emulated else contextlib.nullcontext():
        loss = F.mse_loss(model(x), expected)
        loss.backward()
    found = {title: y.grad for title, y in outputs.items()}
    for name, p in model.named_parameters():
        found[f"{name} wgrad"] = p.grad
    return loss.item(), found


@pytest.mark.parametrize("kind", NETWORKS)
def test_gradients_are_those_of_emulate(kind):
    make, shape = NETWORKS[kind]
    model, x = make(), torch.randn(shape)
    expected = torch.randn_like(model(x))
    d = compare(model, x, RECIPES, loss=F.mse_loss, expected=expected)
    runs = dict(zip(("FP32", *d.targets), (gradients(model, x, expected, e) for e in (None, *RECIPES)), strict=True))
    assert {run: d.losses[run] for run in runs} == {run: loss for run, (loss, _) in runs.items()}
    titles = {layer.title.replace(":sum", ""): layer for layer in d}
    for title in runs["FP32"][1]:
        for run, against in itertools.combinations(runs, 2):
            a, b = runs[run][1][title], runs[against][1][title]
            found = titles[title].difference[run, against]
            assert (found.differ, found.greatest) == by_hand(a, b)[:2], (title, run, against)
    products = [layer.product for layer in d]
    assert products == sorted(products, key="forward".__ne__) and d.backward[0].operation == "mse_loss"


def test_causes_of_gradients():
    """Only the weight gradients have inexact sums. Their difference is therefore caused by the product itself ("own");
    all other products are equal on both GPUs."""
    layers = [nn.Linear(64, 64, bias=False) for _ in range(3)]
    with torch.no_grad():
        for layer in layers:
            layer.weight.copy_(torch.eye(64))
    model, x = nn.Sequential(*layers), torch.zeros(40, 64)
    x[:, :8] = torch.randn(40, 8).bfloat16().float()
    factors = torch.randn(40, 64).bfloat16().float()
    d = compare(model, x, ["A100", "H100"], loss=lambda y: (y * factors).sum())
    causes = {layer.title: layer.cause["A100", "H100"] for layer in d}
    assert {causes.pop(f"{n}.weight wgrad") for n in range(3)} == {"own"} and set(causes.values()) == {"equal"}
    assert d.first is d.first_between("A100", "H100", "wgrad") is d["2.weight wgrad"]
    assert d.first_between("A100", "H100", "dgrad") is None
    assert "first gradient: 2.weight wgrad (Linear): A100 and H100 differ in" in repr(d)
    t = d.trace()
    assert t.same_operands and t.products == 1 and t.cause == "own" and t.trace.divergence is not None
    w = softmma.trace(factors.T.numpy(), x.numpy(), at=t.at, on=["A100", "H100"], in_dtype="bf16")
    assert [a.result for a in t.trace.targets] == [b.result for b in w.targets] and t.trace.divergence == w.divergence


def test_isolated_gradients(network, x):
    """With `isolate`, each gradient is computed from the values and gradients of the FP32 run."""
    d = compare(network, x, ["A100", ("H100", FP8)], loss=lambda y: y.square().mean(), isolate=True)
    causes = {layer.title: layer.cause[d.targets] for layer in d}
    own = {"0", "2", "2 dgrad", "0.weight wgrad", "2.weight wgrad"}
    assert {title for title, cause in causes.items() if cause == "own"} == own
    assert {cause for title, cause in causes.items() if title not in own} == {"equal"} and d.losses == {}
    hidden = network[1](network[0](x)).detach().requires_grad_()
    y = network[2](hidden)
    arrived = torch.autograd.grad(y.square().mean(), y)[0]
    for on, formats in ("A100", {}), ("H100", FP8):
        with emulate(on, **formats):
            a = torch.autograd.grad(network[2](hidden), (hidden, network[2].weight), arrived)
        b = torch.autograd.grad(network[2](hidden), (hidden, network[2].weight), arrived)
        run = d.targets[on == "H100"]
        for title, mine, theirs in zip(("2 dgrad", "2.weight wgrad"), a, b, strict=True):
            assert d[title].difference[run, "FP32"][:2] == by_hand(mine, theirs)[:2]
    t = d.trace("2 dgrad", between=d.targets)
    assert t.at == t.element and not t.same_operands


def test_gradients_that_several_calls_add_up():
    """Gradients are added up for a tied weight, a weight used twice, a weight used outside products, and layers that
    checkpoints repeat."""

    class Tied(nn.Module):
        def __init__(self, repeats=None):
            super().__init__()
            self.embed, self.fc, self.gain = nn.Embedding(12, 32), nn.Linear(32, 32), nn.Parameter(torch.ones(32))
            self.repeats = repeats

        def forward(self, x):
            y = self.embed(x) * self.gain
            y = self.fc(self.fc(y)) if self.repeats is None else checkpoint(self.fc, y, use_reentrant=self.repeats)
            return y @ self.embed.weight.T

    x = torch.randint(0, 12, (2, 6))
    loss = lambda y: y.square().mean()
    d = compare(Tied(), x, ["A100", "H100"], loss=loss)
    titles = [layer.title for layer in d.backward]
    assert titles[0] == "(loss):loss dgrad" and set(titles[1:3]) == {"(model) dgrad", "(model).embed.weight wgrad"}
    assert set(titles[3:9]) == {
        f"fc{call}{of}" for call in ("", " #2") for of in (".bias wgrad", ".weight wgrad", " dgrad")
    }
    assert titles[9:] == [
        "embed.weight wgrad", "(model):sum.gain wgrad", "embed:sum.weight wgrad", "fc:sum.weight wgrad",
        "fc:sum.bias wgrad",
    ]  # fmt: skip
    for repeats in False, True:
        repeated = compare(Tied(repeats), x, ["A100", "H100"], loss=loss)
        assert any("repeats layers" in note for note in repeated.notes) and not d.notes
        assert ("fc.weight wgrad" in [layer.title for layer in repeated]) == (not repeats)
        assert repeats == ("fc:sum.weight wgrad" in [layer.title for layer in repeated])


class Function(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x @ w.T

    @staticmethod
    def backward(ctx, gradient):
        x, w = ctx.saved_tensors
        return gradient @ w, gradient.T @ x


class Mixed(nn.Module):
    """A network with a custom autograd function, a frozen layer, a layer without gradients, changes in place, views,
    and an unused layer."""

    def __init__(self):
        super().__init__()
        self.w, self.frozen = nn.Parameter(torch.randn(16, 16) / 4), nn.Linear(16, 16).requires_grad_(False)
        self.a, self.b, self.unused = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(3, 3)

    def forward(self, x):
        with torch.no_grad():
            target = self.b(x)
        y = self.a(self.frozen(Function.apply(x, self.w)))
        y += target
        u, v = y.mul_(2).chunk(2, -1)
        with torch.autocast("cpu", torch.bfloat16):
            z = torch.cat([u * v.sigmoid(), self.b(y)], -1)
        return z.float()


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (Mixed, (6, 16)),
        (
            lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0), 2),
            (2, 5, 16),
        ),
        (lambda: nn.GRU(16, 8, 2, bidirectional=True), (4, 2, 16)),
        (lambda: nn.Sequential(nn.Linear(16, 16), nn.LayerNorm(16), nn.Linear(16, 4)).bfloat16(), (6, 16)),
    ],
)
def test_gradients_of_all_kinds_of_networks(make, shape):
    """The last row for each parameter equals the gradient of a run without `compare`. Parameters without a gradient
    have no row."""
    model, targets = make(), [("H100", "bf16"), ("B200", "mxfp8")]
    x = torch.randn(shape, dtype=next(model.parameters()).dtype)

    def loss(y):
        return (y if isinstance(y, torch.Tensor) else y[0]).float().square().mean()

    d = compare(model, x, targets, loss=loss)
    rows = {}
    for layer in d.backward:
        if layer.product == "wgrad":
            rows[f"{layer.name}{layer.output}".strip(".")] = layer
    runs = []
    for target in targets:
        copied = copy.deepcopy(model)
        with emulate(*target):
            loss(copied(x)).backward()
        runs.append({name: p.grad for name, p in copied.named_parameters() if p.grad is not None})
    assert rows.keys() == runs[0].keys()
    for name, row in rows.items():
        a, b = (run[name].float() for run in runs)  # exact, so that NumPy has the dtype
        assert row.difference[d.targets].greatest == abs(a.double() - b.double()).max()
        assert row.difference[d.targets].differ == (bits(a) != bits(b)).any(-1).sum()


def test_formats_and_operands(network, x):
    """The report first names targets whose formats differ. The elements that operands lose are those that `emulate`
    counts."""
    loss, targets = (
        lambda y: y.square().mean() * 1e-6,
        {"H100": ("H100", "fp8_tensorwise"), "none": ("H100", {**FP8, "scaling": "none"})},
    )
    d = compare(network, x, {**targets, "MI300X": ("MI300X", "fp8_tensorwise")}, loss=loss)
    assert repr(d).startswith(
        "other formats: activations and weights: e4m3 up to 448 (H100, none), e4m3fnuz up to 240 (MI300X); "
        "gradients: e5m2 up to 57344 (H100), e4m3 up to 448 (none), e5m2fnuz up to 57344 (MI300X)\n"
    )
    assert "other formats" not in repr(compare(network, x, ["A100", "H100"], loss=loss))
    with emulate("H100", **FP8, scaling="none", statistics=True) as emulation:
        loss(network(x)).backward()
    expected = [
        (
            "none",
            p.layer,
            p.product,
            o.role,
            o.format,
            o.rule,
            o.elements,
            o.zeros,
            o.saturated,
            o.infinite,
            o.nan,
            o.error,
        )
        for p in emulation.report().products
        for o in (p.a, p.b)
    ]
    assert [tuple(o) for o in d.operands if o.run == "none"] == expected
    zeros = next(o for o in d.operands if (o.run, o.product, o.role) == ("none", "dgrad", "gradients"))
    assert zeros.lost == 1 and f"none: 2 dgrad: gradients in e4m3: {zeros.elements} became zero" in repr(d)
    data = json.loads(d.to_json())
    assert d.value["first"] == data["first"] and len(data["operands"]) == len(d.operands)
    assert data["losses"]["none"] == d.losses["none"]
    assert {r["product"] for r in data["layers"]} == {"forward", "dgrad", "wgrad"}


def test_what_a_gradient_run_leaves(x):
    """The model, its gradients, the inputs, the expected outputs and the generators are as before. The loss may be a
    module with weights, and inputs may ask for gradients."""
    model = nn.Sequential(nn.Linear(64, 10), nn.BatchNorm1d(10), nn.Dropout(0.5))
    criterion, labels = nn.CrossEntropyLoss(weight=torch.rand(10)), torch.arange(32) % 10
    x.requires_grad_()
    before, state = copy.deepcopy(model.state_dict()), torch.get_rng_state()
    d = compare(model, x, ["A100", "A100", "H100"], loss=criterion, expected=labels)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert x.grad is None and all(p.grad is None for p in model.parameters()) and torch.is_grad_enabled()
    assert torch.equal(state, torch.get_rng_state())
    assert d["0 dgrad"].shape == (32, 64) and d["0 dgrad"].difference["A100", "A100 (2)"].differ == 0
    assert d["0 dgrad"].difference["FP32", "FP64"].relative < 1e-5


@pytest.mark.parametrize(
    ("options", "error", "line"),
    [
        ({"loss": lambda y: y}, ValueError, r"loss returns a tensor \(32, 10\): it must return one number"),
        ({"loss": lambda y: 3.0}, ValueError, "loss returns a float: it must return one number"),
        ({"loss": lambda y: y.detach().sum()}, ValueError, "there are no gradients"),
        ({"loss": "mse"}, TypeError, "loss is a str"),
        ({"expected": torch.ones(3)}, ValueError, "expected is given without a loss"),
        ({"loss": F.mse_loss, "expected": torch.ones(3, device="meta")}, ValueError, "expected is on meta"),
    ],
)
def test_bad_loss(network, x, options, error, line):
    with pytest.raises(error, match=line):
        compare(network, x, ["H100"], **options)


# ---- Training ----


def batches_of(x):
    return [(x + n, torch.arange(32) % (n + 2)) for n in range(3)]


def trained(model, batches, steps, optimizer, seed, emulated):
    """Returns the losses and the final parameters of a run, computed without compare_training."""
    model, optimizer = copy.deepcopy((model, optimizer))
    losses = []
    with torch.random.fork_rng(devices=[]), emulate(*emulated) if emulated else contextlib.nullcontext():
        torch.manual_seed(seed)
        for step in range(steps):
            x, y = batches[step % len(batches)]
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses, list(model.parameters())


def test_training_is_that_of_emulate(x):
    """Losses and parameters have the bits of separate runs, which go on with the optimiser's state."""
    model = nn.Sequential(nn.Linear(64, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Dropout(0.2), nn.Linear(96, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    F.cross_entropy(model(x), torch.arange(32) % 10).backward()
    optimizer.step()
    before, state = copy.deepcopy((model.state_dict(), optimizer.state_dict())), torch.get_rng_state()
    found = softmma.torch.compare_training(
        model, batches_of(x), RECIPES, loss=F.cross_entropy, optimizer=optimizer, steps=5, seed=3
    )
    after = model.state_dict(), optimizer.state_dict()
    pairs = zip(tensors_in(before), tensors_in(after), strict=True)
    assert all(torch.equal(a, b) for (_, a), (_, b) in pairs) and torch.equal(state, torch.get_rng_state())
    assert found.runs == ("FP32", *found.targets) and found.steps == 5
    runs = dict(
        zip(found.runs, (trained(model, batches_of(x), 5, optimizer, 3, e) for e in (None, *RECIPES)), strict=True)
    )
    for run, (losses, parameters) in runs.items():
        assert found.losses[run] == losses
        a, b = (torch.cat([p.detach().flatten() for p in ps]) for ps in (parameters, runs["FP32"][1]))
        assert found.distance[run] == pytest.approx(by_hand(a, b)[2], rel=1e-12)
    assert found.first_beyond(0.0, "B200 nvfp4") == 1 and found.first_beyond(10.0, "B200 nvfp4") is None
    assert repr(found).startswith("other formats: ") and found.losses == softmma.torch.compare_training(
        model, batches_of(x), RECIPES[-1:], loss=F.cross_entropy, optimizer=optimizer, steps=5, seed=3
    ).losses | {run: found.losses[run] for run in found.targets[:-1]}


def test_where_training_parts():
    """Gradients have exact sums for all parameters except one, so training diverges there. Equal targets never
    diverge."""
    model = nn.Sequential(nn.Linear(64, 64, bias=False), nn.Linear(64, 64, bias=False))
    with torch.no_grad():
        for layer in model:
            layer.weight.copy_(torch.eye(64))
    model[0].requires_grad_(False)
    x, factors = torch.randn(40, 64).bfloat16().float(), torch.randn(40, 64).bfloat16().float()
    found = softmma.torch.compare_training(
        model, [(x, factors)] * 2, ["A100", "L40S", "H100"], loss=lambda y, f: (y * f).sum(),
        optimizer=lambda p: torch.optim.SGD([x for x in p if x.requires_grad], lr=1e-3),
    )  # fmt: skip
    same, other, _ = found.divergences
    with pytest.warns(DeprecationWarning, match=r"Training\.partings is now Training\.divergences"):
        assert found.partings is found.divergences
    with pytest.warns(DeprecationWarning, match="TrainingParting is now TrainingDivergence"):
        assert softmma.torch.TrainingParting is softmma.torch.TrainingDivergence
    assert same == (("A100", "L40S"), None, (), None)
    assert other == (("A100", "H100"), 1, ("1.weight",), 2) and found.losses["A100"][0] == found.losses["H100"][0]
    text = repr(found)
    assert "A100 and L40S: the same bits after every step" in text and "L40S and H100" not in text
    assert "A100 and H100: parameters diverge in step 1 (1.weight); losses from step 2 on" in text
    assert json.loads(found.to_json())["partings"][1]["loss_step"] == 2 and found._repr_html_().count("<table>") == 2


def test_training_results(network, x, tmp_path, capsys):
    pytest.importorskip("pandas", reason="pandas is not installed: Training.to_pandas is NOT tested")
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: Training.plot is NOT tested")
    network[0].weight.data[0, 0] = math.nan
    found = softmma.torch.compare_training(
        network, iter(batches_of(x)), "H100", loss=nn.CrossEntropyLoss(), optimizer=torch.optim.SGD, progress=True
    )
    frame = found.to_pandas()
    assert len(frame) == 3 * 2 and frame[(frame.step == 2) & (frame.run == "H100")].loss.isna().all()
    assert json.loads(found.to_json())["losses"]["H100"] == ["NaN"] * 3 and found.first_beyond(0, "H100") is None
    found.plot(tmp_path / "losses.svg")
    assert (tmp_path / "losses.svg").read_text().rstrip().endswith("</svg>")
    assert "H100: 3 of 3 steps, 0 s left" in capsys.readouterr().err
    with pytest.raises(ValueError, match="'A100' is not a run; the runs are FP32, H100"):
        found.first_beyond(0.1, "A100")


@pytest.mark.parametrize(
    ("options", "error", "line"),
    [
        ({"steps": 0}, ValueError, "steps is 0"),
        ({"batches": []}, ValueError, "batches is empty"),
        ({"batches": [torch.ones(3)]}, TypeError, r"batches holds a Tensor: each batch is a pair"),
        ({"batches": [(3, 4)]}, TypeError, "inputs is a int"),
        ({"loss": 3}, TypeError, "loss is a int"),
        ({"loss": lambda y, e: y}, ValueError, "must return one number"),
        ({"optimizer": 3}, TypeError, "optimizer is a int"),
        ({"optimizer": torch.optim.SGD([nn.Parameter(torch.ones(2))])}, ValueError, "that are not the model's"),
        ({"optimizer": lambda p: None}, RuntimeError, "FP32: AttributeError"),
    ],
)
def test_bad_training(network, x, options, error, line):
    given = {"batches": [(x, torch.arange(32) % 10)], "loss": F.cross_entropy, "optimizer": torch.optim.SGD}
    with pytest.raises(error, match=line):
        softmma.torch.compare_training(network, on="H100", **{**given, **options})


def test_structures():
    x, mask = torch.randn(2, 5, 16), torch.rand(16) > 0.5
    d = compare(Structured(), {"x": x, "mask": mask}, ["A100", "H100"])
    assert [(layer.name, layer.operation, layer.call, layer.output) for layer in d] == [
        ("", "matmul", 1, ""), ("fc", "Linear", 1, ""), ("fc", "Linear", 2, ""),
        ("", "scaled_dot_product_attention", 1, ""), ("", "einsum", 1, ""), ("", "Structured", 1, ".logits"),
        ("", "Structured", 1, ".rest[0].x"), ("", "Structured", 1, ".rest[1]['mask']"),
    ]  # fmt: skip
    assert d[-1].dtype == "bool" and d[-1].cause["A100", "H100"] == "equal"
    assert {r.output for r in d.rankings} == {".logits", ".rest[0].x"}
    assert (
        d.first.operation == "matmul"
        and d.first.cause["A100", "H100"] == "own"
        and "first: (model):matmul (matmul)" in repr(d)
    )
    t = d.trace()
    assert t.at is not None and t.element == (t.at[0] * 5 + t.at[1], t.at[2]) and t.same_operands


def test_states_and_random_numbers(x):
    """BatchNorm and a counter change their state, and dropout draws random numbers. Each run starts from the same
    state, and the model is unchanged afterwards."""

    class Stateful(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(64, 16), nn.BatchNorm1d(16), nn.Dropout(0.5))
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            x += 1
            noise = torch.rand(16) + torch.randn_like(x[:, :16]) + random.random() + np.random.rand()
            return self.net(x) * torch.bernoulli(torch.full((16,), 0.5)) + noise

    model = Stateful()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    kept, states = x.clone(), (torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist())
    d = compare(model, x, ["A100", "A100", "H100"])
    assert model.calls == 0 and model.training and torch.equal(x, kept)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert torch.equal(states[0], torch.get_rng_state()) and states[1] == random.getstate()
    assert states[2] == np.random.get_state()[1].tolist() and torch.get_default_dtype() == torch.float32
    assert d[-1].difference["A100", "A100 (2)"].differ == 0 and d[-1].difference["FP32", "FP64"].relative < 1e-5
    assert d[-1].difference["A100", "FP64"].relative < 0.1
    assert compare(model, x, ["A100"], seed=1)[-1].difference != d[-1].difference
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def test_exceptions_leave_nothing(x):
    class Fails(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(64, 8)

        def forward(self, x):
            try:
                self.inner(x)
            except AttributeError:
                pass
            if (y := self.fc(x)).dtype == torch.float32:
                raise KeyError("no such thing")
            return y

    model, state = Fails(), torch.get_rng_state()
    with pytest.raises(RuntimeError, match="the model does not run in FP32: KeyError: 'no such thing'"):
        compare(model, x, ["A100"])
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
    assert torch.equal(state, torch.get_rng_state()) and torch.get_default_dtype() == torch.float32
    assert torch.backends.mha.get_fastpath_enabled()


def test_the_reference_is_in_double():
    """The reference computes in float64, even for a model that switches to float32 inside, and for a model in
    bfloat16."""

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(32, 32)
            self._constants = {"scale": [torch.full((32,), 0.3)], "eye": torch.eye(32)}

        def forward(self, x):
            y = self.fc(x).float().to(torch.float32).type(torch.float32)
            y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + torch.full((1,), 1e-6, dtype=torch.float32))
            return F.softmax(y, -1, dtype=torch.float32) @ self._constants["eye"] * self._constants["scale"][0]

    model, x = Norm(), torch.randn(6, 32)
    d = compare(model, x, ["A100"])
    y = F.linear(x.double(), model.fc.weight.double(), model.fc.bias.double())
    y = F.softmax(y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6), -1) * torch.full((32,), 0.3).double()
    with torch.no_grad(), emulate("A100"):
        a = model(x)
    assert d[-1].difference["A100", "FP64"].greatest == pytest.approx(abs(a - y).max().item(), rel=1e-9) and not d.notes
    half = compare(nn.Linear(32, 32).bfloat16(), x.bfloat16(), ["A100", "H100"])
    assert half[0].dtype == "bfloat16" and half[0].difference["FP32", "FP64"].relative < 1e-6


def test_fp8_in_the_model():
    """`torch._scaled_mm` multiplies operands as given; the reference has no FP8."""
    if not hasattr(torch, "_scaled_mm"):
        pytest.skip("this PyTorch has no _scaled_mm: FP8 in a model is NOT tested")

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("w", torch.randn(64, 32).to(torch.float8_e4m3fn))

        def forward(self, x):
            one = torch.ones(())
            return torch._scaled_mm(
                x.to(torch.float8_e4m3fn), self.w.t().contiguous().t()[:, :16], one, one * 2, out_dtype=torch.float32
            )

    model, x = Scaled(), torch.randn(16, 64)
    try:
        model(x)
    except RuntimeError as error:
        pytest.skip(f"this PyTorch does not compute _scaled_mm here, which is NOT tested: {error}")
    d = compare(model, x, ["H100", "B200"])
    exact = 2 * x.double() @ model.w[:, :16].double()
    (layer,) = d
    assert layer.operation in ("_scaled_mm", "Scaled")
    with torch.no_grad(), emulate("H100"):
        h = model(x)
    assert layer.difference["H100", "FP64"].greatest == abs(h.double() - exact).max()


def test_special_values():
    layer, x = nn.Linear(4, 3, bias=False), torch.randn(5, 4)
    x[1, 1], x[2] = math.nan, torch.tensor([math.inf, 0, 0, 0])
    d = compare(layer, x, ["A100", ("H100", {**FP8, "scaling": "none"})])
    assert d[0].nan["A100"] == 3 and d[0].infinite["A100"] == 3 and d[0].difference["A100", "FP64"].left_out == 6
    assert math.isfinite(d[0].difference["A100", "FP64"].relative) and "3 NaN, 3 inf" in repr(d)
    json.loads(d.to_json())
    zero = compare(nn.Linear(4, 3, bias=False), torch.zeros(2, 4), ["A100", "H100"])
    assert zero[0].difference["A100", "FP64"][:3] == (0, 0, 0) and zero.first is None
    empty = compare(layer, torch.zeros(0, 4), ["A100", "H100"])
    assert empty[0].shape == (0, 3) and empty[0].difference["A100", "H100"] == (0, 0, 0, 0, None)


def test_calls_that_are_not_in_all_runs():
    """If a branch depends on the values, a call that only some runs make is listed as missing in the others."""

    class Routed(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc, self.up, self.down = nn.Linear(64, 1), nn.Linear(64, 8), nn.Linear(64, 4)
            self.least = 0.0

        def forward(self, x):
            return self.up(x) if self.fc(x).sum() > self.least else self.down(x[:1])

    model, x = Routed(), torch.randn(16, 64)
    sums = []
    for formats in {}, FP8:
        with torch.no_grad(), emulate("H100", **formats):
            sums.append(model.fc(x).sum().item())
    assert sums[0] != sums[1]
    model.least = sum(sums) / 2
    d = compare(model, x, ["H100", ("H100", FP8)])
    causes = {layer.title: layer.cause[d.targets] for layer in d}
    assert causes == {"fc": "own", "up": "missing", "down": "missing"}
    assert d.first is d["fc"] and "missing" in repr(d) and json.loads(d.to_json())
    assert d.trace("up").trace is None


def test_inputs_that_are_not_tensors():
    """A layer's inputs include numbers, and tensors inside objects."""

    class Cache:
        def __init__(self, x):
            self.x = x

    class Scaled(nn.Module):
        def forward(self, x, scale, cache):
            return x * scale + cache.x

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc, self.scaled = nn.Linear(64, 1), Scaled()

        def forward(self, x):
            y = self.fc(x)
            by_number = self.scaled(x, y.sum().item(), Cache(x))
            return by_number + self.scaled(x, 1, Cache(y))

    d = compare(Model(), torch.randn(3, 64), ["A100", ("H100", FP8)])
    causes = [layer.cause[d.targets] for layer in d]
    assert [layer.title for layer in d] == ["fc", "scaled", "scaled #2", "(model)"]
    assert causes == ["own", "inherited", "inherited", "inside"]


def test_recipes_and_choices(network, x):
    """Targets take recipes by name. Choices by module, class and name apply to the copies of the model that run."""
    recipe = softmma.recipes.recipe("fp8_tensorwise")
    d = compare(network, x, [("H100", "fp8_delayed"), ("H100", recipe), ("B200", "nvfp4"), "H100"])
    assert d.targets == ("H100 fp8_delayed", "H100 fp8_tensorwise", "B200 nvfp4", "H100")
    errors = [d[-1].difference[run, "FP64"].relative for run in d.targets]
    assert errors[3] < errors[0] < errors[2] and errors[3] < errors[1] < errors[2]
    first = network[0]
    skips = [("A100", {"skip": skip}) for skip in (["0"], lambda name, module: name == "0")]
    skips += [
        {"given": emulate("A100", skip=["0"], model=network)},
        {"model": {"on": "A100", "skip": "0", "model": network}},
    ]
    d = compare(network, x, [*skips, "A100"])
    assert len(d.targets) == 5 and d.first is d[0] and d[0].groups(d.targets) == [list(d.targets[:4]), ["A100"]]
    assert d[0].difference["given", "FP32"].differ == 0 and network[0] is first
    assert {row.why for row in d.reports["given"].outside} == {"skipped"} and not d.notes
    with pytest.raises(TypeError, match=r"compare takes what is in it, model\.module"):
        compare(emulate("A100").wrap(network), x, ["A100"])


def test_convolutions_and_what_is_left():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.bilinear = nn.Conv2d(3, 8, 3, groups=1), nn.Bilinear(5, 5, 4)

        def forward(self, x):
            y = self.conv(x).mean((2, 3))[:, :5]
            return self.bilinear(y, y)

    model, x = Model(), torch.randn(2, 3, 9, 9)
    d = compare(model, x, ["A100", "H100"])
    assert d.first is d["conv"] and "A100: calls outside of the unit: " in d.notes[0] and "trilinear" in d.notes[0]
    t = d.trace()
    w = model.conv.weight.detach().permute(2, 3, 1, 0).reshape(-1, 8).numpy()
    pixels = F.unfold(x, 3).mT.reshape(-1, 3, 9).mT.reshape(-1, 27).numpy()
    assert t.at is None and t.same_operands
    for target in t.trace.targets:
        on = target.label
        assert softmma.matmul(pixels, w, on=on, in_dtype="bf16")[t.element] == target.result


def test_state_that_another_layer_left():
    """A layer's inputs include values that another module has stored, under any name."""

    class Keeps(nn.Module):
        def __init__(self):
            super().__init__()
            self._last = None
            self.gain = nn.Parameter(torch.ones(1))
            self.computed = self.gain * 2

        def forward(self, x):
            y = x if self._last is None else x + self._last["x"][0]
            self._last = {"x": [x]}
            return y * self.computed

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc, self.keeps = nn.Linear(64, 64), Keeps()

        def forward(self, x):
            return self.keeps(x) + self.keeps(self.fc(x)) + self.keeps(x)

    d = compare(Model(), torch.randn(3, 64), ["A100", ("H100", FP8)])
    causes = {layer.title: layer.cause[d.targets] for layer in d}
    assert causes == {
        "keeps": "equal", "fc": "own", "keeps #2": "inherited", "keeps #3": "inherited", "(model)": "inside"
    }  # fmt: skip


def test_targets(network, x):
    """All kinds of targets are accepted, and each has a name in the result."""
    unit = softmma.find("H100", "wgmma bf16")[0]
    emulation = emulate("A100", weights="f16", activations="f16")
    d = compare(network, (x,), ["H100", BF16, unit, {"mine": emulation, "dict": {"on": "H100", "weights": "bf16"}}])
    assert d.targets == ("H100", "H100 weights=bf16 activations=bf16", unit.name, "mine", "dict")
    assert d[0].groups(d.targets)[0] == [d.targets[0], d.targets[1], unit.name, "dict"]
    assert (
        not emulation.report()
        and d.reports["mine"][0].a == "f16"
        and compare(network, [x], "H100").targets == ("H100",)
    )
    assert compare(network, x, {"a": "MI300X", "b": "H100"}).targets == ("a", "b")


class Silent(nn.Module):
    def forward(self, x):
        return 3


@pytest.mark.parametrize(
    ("model", "inputs", "on", "error", "line"),
    [
        (lambda x: x, torch.ones(1), ["H100"], TypeError, "model is a function: compare takes a torch.nn.Module"),
        (nn.Linear(2, 2), 3, ["H100"], TypeError, "inputs is a int"),
        (nn.Sequential(), (), ["H100"], RuntimeError, "the model does not run in FP32: TypeError"),
        (Silent(), torch.ones(2), ["H100"], ValueError, "the model returns no tensors"),
        (nn.Linear(2, 2), torch.ones(2), [], ValueError, "it lists targets"),
        (nn.Linear(2, 2), torch.ones(2), [3], TypeError, "3 is no target"),
        (nn.Linear(2, 2), torch.ones(2), [()], TypeError, "is no target"),
        (nn.Linear(2, 2), torch.ones(2), {"FP64": "H100"}, ValueError, "FP64 runs anyway"),
        (nn.Linear(2, 2), torch.ones(2), ["H1000"], LookupError, "H1000"),
        (nn.Linear(2, 2), torch.ones(2), [("H100", {"weights": "e9m9"})], LookupError, "e9m9"),
        (nn.Linear(2, 2), torch.ones(2), {"mine": ("V100", FP8)}, LookupError, "mine: V100 has no instruction"),
        (nn.Linear(2, 2, device="meta"), torch.ones(2), ["H100"], ValueError, "weight is on meta"),
        (nn.Linear(2, 2), torch.ones(2, device="meta"), ["H100"], ValueError, "inputs is on meta"),
        (nn.Linear(2, 2), torch.ones(3), ["H100"], RuntimeError, "the model does not run in FP32: RuntimeError"),
    ],
)
def test_bad_input(model, inputs, on, error, line):
    with pytest.raises(error, match=line):
        compare(model, inputs, on)


def test_what_is_passed_on(network, x, tmp_path):
    d = compare(network, x, ["A100", "H100", ("H100", FP8)])
    data = json.loads(d.to_json(tmp_path / "d.json"))
    assert json.loads((tmp_path / "d.json").read_text()) == data
    assert data["first"] == 0 and len(data["layers"]) == 3 * 10 and data["targets"] == list(d.targets)
    one = next(r for r in data["layers"] if (r["number"], r["run"], r["against"]) == (2, "H100", "A100"))
    assert one["differ"] == d[2].difference["H100", "A100"].differ and one["cause"] == "inherited"
    assert d._repr_html_().count("<table>") == 2 and "A100" in d.table("FP32") and d.table("A100") != d.table("FP32")
    with pytest.raises(ValueError, match="the runs are FP64, FP32, A100"):
        d.table("B200")
    with pytest.raises(KeyError, match="there is no layer 'fc'"):
        d["fc"]


def test_pandas(network, x):
    pytest.importorskip("pandas", reason="pandas is not installed: to_pandas is NOT tested")
    d = compare(network, x, ["A100", "H100"])
    frame = d.to_pandas()
    assert len(frame) == 3 * 6
    row = frame[(frame.number == 0) & (frame.run == "H100") & (frame.against == "FP64")].iloc[0]
    assert row.greatest == d[0].difference["H100", "FP64"].greatest and row["shape"] == (32, 96)
    assert len(d.to_pandas("rankings")) == 6
    with pytest.raises(ValueError, match="layers, rankings and operands"):
        d.to_pandas("all")


def test_plot(network, x, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: Divergence.plot is NOT tested")
    compare(network, x, ["A100", "H100"]).plot(tmp_path / "d.svg")
    assert (tmp_path / "d.svg").read_text().rstrip().endswith("</svg>")
    compare(network, x, "A100").plot(tmp_path / "d.png")


def test_progress(network, x, capsys):
    compare(network, x, ["A100", "H100"], progress=True)
    err = capsys.readouterr().err
    assert "A100: 6 of 6 calls, 0 s left" in err and "H100: 6 of 6" in err and err.count("\n") == 2
    compare(network, x, ["A100"])
    assert capsys.readouterr().err == ""


def test_files_and_parts(network, x, monkeypatch):
    """Activations in a file, compared in parts, give the same result."""
    expected = compare(network, x, ["A100", ("H100", FP8)])
    monkeypatch.setattr("softmma.torch._compare.CHUNK", 100)
    found = compare(network, x, ["A100", ("H100", FP8)], memory=1000)
    for a, b in zip(expected, found):
        for pair, d in a.difference.items():
            assert b.difference[pair]._replace(relative=0) == d._replace(relative=0)
            assert b.difference[pair].relative == pytest.approx(d.relative, rel=1e-12)
    assert found.bytes == expected.bytes > 1000


@pytest.mark.parametrize("page", ["networks.md", "tutorial-ml.md"])
def test_session(page):
    """Runs the sessions of the pages. Only numbers of the FP32 run depend on the machine; the pages replace them by
    "..."."""
    result = doctest.testfile(str(REPOSITORY / "docs" / page), False, optionflags=doctest.ELLIPSIS)
    assert result.attempted and not result.failed
