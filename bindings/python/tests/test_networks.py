"""Emulates whole networks: convolutions, operations left to PyTorch, choices by layer, backward passes inside and
outside the context, attention in blocks."""

import copy
import json
import pickle
import socket
import threading
import warnings
from collections import Counter

import numpy as np
import pytest

import softmma
from softmma import recipes

torch = pytest.importorskip("torch", reason="PyTorch is not installed: softmma.torch is NOT tested")
from torch import nn
from torch._dynamo.backends.debugging import aot_eager
from torch.utils.checkpoint import checkpoint

TIER = "all"
FORMATS = {"weights": "f32", "activations": "f32"}
"""On an MI300X these products are chains of FP32 additions, so they differ from PyTorch's only in the order of
additions."""


def counts(emulation):
    found = Counter()
    for row in emulation.report():
        found[row.product] += row.calls
    return dict(found)


def left(emulation):
    found = Counter()
    for row in emulation.report().outside:
        found[row.operation, row.why] += row.calls
    return dict(found)


@pytest.fixture
def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(20, 30), nn.Tanh(), nn.Linear(30, 4))


@pytest.fixture
def x():
    return torch.randn(8, 20, generator=torch.Generator().manual_seed(1))


# ---- Convolutions ----

CONVOLUTIONS = [
    (1, {}), (1, {"stride": 3, "padding": 2, "dilation": 2}), (2, {"padding": 1}), (2, {"stride": 2, "groups": 2}),
    (2, {"stride": (2, 3), "padding": (0, 2), "dilation": (2, 1), "bias": False}), (2, {"padding": "same"}),
    (2, {"padding": 1, "padding_mode": "circular"}), (3, {"stride": 2, "padding": 1, "groups": 4}),
]  # fmt: skip
TRANSPOSED = [(1, {}), (2, {"stride": 2, "padding": 1, "output_padding": 1}), (2, {"groups": 2, "dilation": 2}),
              (3, {"stride": (1, 2, 3), "output_padding": (0, 1, 2), "bias": False})]  # fmt: skip


@pytest.mark.parametrize(
    "transposed, rank, options", [(False, *c) for c in CONVOLUTIONS] + [(True, *c) for c in TRANSPOSED]
)
def test_convolutions(transposed, rank, options):
    """Forward and both backward products equal PyTorch's except for the order of sums."""
    torch.manual_seed(0)
    layer = getattr(nn, f"Conv{'Transpose' * transposed}{rank}d")(4, 8, 3, **options)
    x = torch.randn(2, 4, *[9, 8, 7][:rank], requires_grad=True)
    found = []
    for inside in False, True:
        layer.zero_grad()
        x.grad = None
        with softmma.torch.emulate("MI300X", **FORMATS) if inside else torch.enable_grad() as emulation:
            y = layer(x)
            y.square().sum().backward()
        found.append([y.detach(), x.grad, *(p.grad for p in layer.parameters())])
    for got, expected in zip(*found, strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)
    assert counts(emulation).keys() == {"forward", "dgrad", "wgrad"}
    assert not emulation.report().outside


def test_order_of_a_convolution():
    """K runs over the filter's positions, with channels innermost."""
    torch.manual_seed(3)
    x, w = torch.randn(1, 40, 6, 5), nn.Parameter(torch.randn(7, 40, 3, 2))
    with torch.no_grad(), softmma.torch.emulate("H100", "fp16"):
        d = nn.functional.conv2d(x, w)
    pixels = [x[0, :, i : i + 3, j : j + 2].permute(1, 2, 0).flatten() for i in range(4) for j in range(4)]
    filters = w.detach().permute(0, 2, 3, 1).flatten(1)
    expected = softmma.matmul(torch.stack(pixels).numpy(), filters.numpy().T, in_dtype="f16", on="H100")
    assert torch.equal(d[0].flatten(1).T, torch.from_numpy(expected))


def test_strides_bring_no_zeros_into_k():
    """In dgrad with stride 2, each pixel is a sum over only the positions that reach it."""
    w = nn.Parameter(torch.randn(16, 16, 2, 2))
    x = torch.randn(1, 16, 8, 8, requires_grad=True)
    with softmma.torch.emulate("H100") as emulation:
        nn.functional.conv2d(x, w, stride=2).sum().backward()
    rows = {row.product: row for row in emulation.report()}
    assert (rows["dgrad"].calls, rows["dgrad"].multiplications) == (4, rows["forward"].multiplications)


def test_convolution_in_inference_mode():
    layer, x = nn.Conv2d(3, 4, 3), torch.randn(1, 3, 8, 8)
    with softmma.torch.emulate("H100") as emulation:
        with torch.inference_mode():
            y = layer(x)
        assert torch.equal(y, layer(x))
    assert counts(emulation) == {"forward": 2} and not left(emulation)


# ---- Operations outside ----


def solve(x):
    return torch.linalg.solve(x[:, :8], x)


OUTSIDE = {
    "_euclidean_dist": lambda x: torch.cdist(x.tile(4, 1), x.tile(4, 1)),
    "_cdist_forward": lambda x: torch.cdist(x, x, p=1.0),
    "_trilinear": lambda x: nn.functional.bilinear(x, x, torch.ones(3, 20, 20)),
    "addr": lambda x: torch.addr(torch.zeros(20, 20), x[0], x[1]),
    "mm": lambda x: x.to(torch.complex64) @ x.T.to(torch.complex64),
    "_linalg_solve_ex": solve,
    "linalg_qr": torch.linalg.qr,
    "_sparse_addmm": lambda x: torch.sparse.mm(x.to_sparse(), x.T),
    "linalg_matrix_exp": lambda x: torch.linalg.matrix_exp(x[:, :8]),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_products_that_are_not_emulated_are_reported(x, name):
    for strict in False, True:
        with softmma.torch.emulate("H100", strict=strict) as emulation:
            try:
                OUTSIDE[name](x)
            except RuntimeError as error:
                refused = str(error).startswith("strict: ")
                assert refused == strict and (not refused or name in str(error))
            else:
                assert not strict
        assert strict or (next(iter(left(emulation)))[0], counts(emulation)) == (name, {})


def test_all_operations_are_classified():
    """Every operation of the installed PyTorch whose name suggests products is emulated, reported, or listed in this
    test."""
    from softmma.torch._operations import EMULATED, outside

    named = "mm conv dot linear attention rnn lstm gru matmul mv cdist solve chol eig svd qr det inv lstsq".split()
    no_products = {
        "_convert_weight_to_int4pack", "_convert_weight_to_int4pack_for_cpu", "_convert_indices_from_coo_to_csr",
        "_convert_indices_from_csr_to_coo", "_compute_linear_combination", "_cudnn_rnn_flatten_weight",
        "_use_cudnn_rnn_flatten_weight", "_linalg_check_errors", "mkldnn_reorder_conv2d_weight",
        "mkldnn_reorder_conv3d_weight", "_fused_sdp_choice",
    }  # fmt: skip
    unclear = set()
    for full in torch._C._dispatch_get_all_op_names():
        namespace, _, name = full.split(".")[0].partition("::")
        composite = torch._C._dispatch_has_kernel_for_dispatch_key(full, "CompositeImplicitAutograd")
        words = {word.rstrip("0123456789d") or word for word in name.strip("_").split("_")}
        speaks = any(word in named or word.removeprefix("add").removeprefix("b") in named for word in words)
        if namespace == "aten" and speaks and not composite and name.removesuffix("_") not in EMULATED:
            if outside(namespace, name) is None and name not in no_products:
                unclear.add(name)
    assert not {
        name
        for name in unclear
        if not name.startswith(("_thnn_fused", "upsample", "linalg_vector", "linalg_cross", "linalg__powsum"))
    }


def test_integers_are_reported_or_exact():
    a, b = (torch.randint(-128, 128, (32, 40), dtype=torch.int8) for _ in range(2))
    with softmma.torch.emulate("H100") as emulation:
        d = torch._int_mm(a, b.T)
        a.long() @ b.T.long()
    assert torch.equal(d, (a.long() @ b.T.long()).int())
    assert [row.operation for row in emulation.report()] == ["_int_mm"] and left(emulation) == {("mm", "int64"): 1}
    with softmma.torch.emulate("V100") as emulation:
        assert torch.equal(torch._int_mm(a, b.T), d)
    assert left(emulation) == {("_int_mm", "the unit has no s8"): 1}


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_layers(kind):
    torch.manual_seed(0)
    layer, x = kind(6, 5, num_layers=2, bidirectional=True), torch.randn(4, 3, 6, requires_grad=True)
    found = []
    for inside in False, True:
        x.grad = None
        with softmma.torch.emulate("MI300X", **FORMATS) if inside else torch.enable_grad() as emulation:
            layer(x)[0].square().sum().backward()
        found.append(x.grad)
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-5)
    assert not left(emulation) and counts(emulation)["forward"] >= 16
    assert torch.backends.mkldnn.enabled


def test_custom_operations_are_not_trusted(x):
    @torch.library.custom_op("softmma_test::twice", mutates_args=())
    def twice(y: torch.Tensor) -> torch.Tensor:
        return y @ torch.eye(20) * 2

    with softmma.torch.emulate("H100") as emulation:
        twice(x)
    assert [row.operation for row in emulation.report().outside] == ["softmma_test::twice"]


# ---- Backward passes ----


def gradients(network):
    return [p.grad.clone() for p in network.parameters()]


@pytest.mark.parametrize("recipe", ["bf16", "fp8_rowwise"])
def test_backward_outside_is_the_one_inside(network, x, recipe):
    found = []
    for inside in True, False:
        network.zero_grad()
        emulation = softmma.torch.emulate("H100", recipe)
        with emulation:
            loss = network(x).square().sum()
            if inside:
                loss.backward()
        report = emulation.report()
        assert report.gradients == (2, 2 if inside else 0) and ("0 of 2" in repr(report)) != inside
        if not inside:
            loss.backward()
            assert emulation.report().gradients == (2, 2)
        found.append((gradients(network), counts(emulation)))
        assert not torch.utils._python_dispatch._get_current_dispatch_mode_stack()
    assert found[0][1] == found[1][1] == {"forward": 2, "dgrad": 1, "wgrad": 2}
    assert all(torch.equal(g, h) for g, h in zip(found[0][0], found[1][0], strict=True))


def test_operations_in_place_and_errors_of_autograd(network, x):
    """An operation in place that PyTorch refuses is refused during emulation, too."""
    w = nn.Parameter(torch.randn(20, 20))
    with softmma.torch.emulate("H100"):
        y = x @ w
        z = (y @ w).sum()
        y.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.backward()
        with pytest.raises(RuntimeError):
            torch.mm(x, torch.ones(20, 3, dtype=torch.bfloat16))
        d = torch.zeros(8, 20).addmm_(x, w.detach())
        out = torch.empty(0)
        torch.mm(x, w.detach(), out=out)
        assert torch.equal(d, out) and torch.equal(d, x @ w)
        assert torch.equal(torch.addmm(torch.ones(20), x, w, alpha=2, beta=3), 2 * d + 3)


def test_double_backward(x):
    w = nn.Parameter(torch.randn(20, 5, generator=torch.Generator().manual_seed(2)))
    found = []
    for inside in False, True:
        y = x.clone().requires_grad_()
        with softmma.torch.emulate("MI300X", **FORMATS) if inside else torch.enable_grad() as emulation:
            (g,) = torch.autograd.grad((y @ w).tanh().sum(), y, create_graph=True)
            found.append(torch.autograd.grad(g.square().sum(), w)[0])
    torch.testing.assert_close(*found, rtol=1e-2, atol=1e-3)
    print(emulation.report())
    assert sum(counts(emulation).values()) == 5


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("inside", [False, True])
def test_checkpoints(network, x, reentrant, inside):
    """A checkpoint repeats a forward pass. The pass is counted once, its layers keep their recipes, and it is emulated
    in both runs."""
    x.requires_grad_()
    with softmma.torch.emulate("H100", "fp8_rowwise", skip=["2"]) as plain:
        network(x).square().sum().backward()
    expected = gradients(network)
    network.zero_grad()
    emulation = softmma.torch.emulate("H100", "fp8_rowwise", skip=["2"], model=network)
    with emulation:
        y = checkpoint(network, x, use_reentrant=reentrant).square().sum()
        if inside:
            y.backward()
    if not inside:
        y.backward()
    assert all(torch.equal(g, h) for g, h in zip(gradients(network), expected, strict=True))
    twice = {"forward": 2, "dgrad": 1, "wgrad": 1}
    assert counts(plain) == {**twice, "forward": 1} and counts(emulation) == twice
    assert {row.why for row in emulation.report().outside} == {"skipped"}
    assert {p.layer for p in emulation.report().by_layer()} == {"0"}


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoints_of_attention(reentrant):
    """A forward pass that is repeated after the context is not fused either, and the switches are restored."""
    torch.manual_seed(0)
    layer, x = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0), torch.randn(3, 2, 16, requires_grad=True)
    with softmma.torch.emulate("H100", strict=True) as plain:
        layer(x).square().sum().backward()
    expected = gradients(layer)
    layer.zero_grad()
    with softmma.torch.emulate("H100", strict=True) as emulation:
        y = checkpoint(layer, x, use_reentrant=reentrant).square().sum()
    y.backward()
    assert all(torch.equal(g, h) for g, h in zip(gradients(layer), expected, strict=True))
    assert counts(emulation)["wgrad"] == counts(plain)["wgrad"] == 4
    assert torch.backends.cuda.flash_sdp_enabled() and torch.backends.mkldnn.enabled
    assert not nn.modules.module._global_forward_hooks


def test_errors_in_a_backward_pass_outside(x):
    y = x.clone().requires_grad_()
    with softmma.torch.emulate("H100", strict=True):
        z = (y @ x.T).sum()
    with softmma.torch.emulate("H100", skip=[nn.Linear]) as emulation:
        d = torch.cdist(y, x).sum()
    y.register_hook(lambda gradient: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        z.backward()
    assert not torch.utils._python_dispatch._get_current_dispatch_mode_stack()
    with (
        softmma.torch.emulate("H100", strict=True) as other,
        pytest.raises(RuntimeError, match="strict: _cdist_backward"),
    ):
        d.backward()
    assert not torch.utils._python_dispatch._get_current_dispatch_mode_stack()
    assert left(emulation) and not left(other)


def test_forward_outside(network, x):
    """If only the backward pass runs inside the context, its products are emulated, and their layer is unknown."""
    loss = network(x).square().sum()
    with softmma.torch.emulate("H100") as emulation:
        loss.backward()
    assert {p.layer for p in emulation.report().by_layer()} == {"-"}
    assert sum(counts(emulation).values()) == 3


# ---- Layers ----


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(8, 2, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))

    def forward(self, x):
        return x + self.mlp(x + self.attn(x, x, x, need_weights=False)[0])


@pytest.fixture
def model():
    torch.manual_seed(0)
    return nn.Sequential(Block(), Block(), nn.Linear(8, 3))


def by_layer(emulation):
    found = {}
    for p in emulation.report().by_layer():
        found.setdefault((p.layer, p.product), Counter())[p.b.format] += p.calls
    return found


def test_layers_have_names(model):
    with softmma.torch.emulate("H100") as emulation:
        model(torch.randn(2, 5, 8)).sum().backward()
    found = by_layer(emulation)
    assert found["0.mlp.2", "forward"] == {"bf16": 1} and found["0.mlp.2", "dgrad"] == {"bf16": 1}
    assert found["1.attn", "forward"] == {"bf16": 2} and found["1.attn", "other"] == {"bf16": 6}
    assert found["2", "wgrad"] == {"bf16": 1} and "-" not in {layer for layer, _ in found}


def test_choices_by_layer(model):
    """Recipes are chosen for layers by name, class and function. The innermost matching layer decides. A backward
    product has the same recipe as its forward product."""
    layers = {"*.attn": "fp16", nn.Linear: "tf32", "0": "bf16"}
    emulation = softmma.torch.emulate(
        "H100", "fp8_rowwise", skip=lambda name, _: name == "2", layers=layers, model=model
    )
    with emulation:
        loss = model(torch.randn(2, 5, 8)).sum()
    loss.backward()
    found = {(layer, format) for (layer, _), formats in by_layer(emulation).items() for format in formats}
    # out_proj of attention is a Linear that is not called as a module
    expected = {(f"{i}.mlp.{j}", "tf32") for i in (0, 1) for j in (0, 2)} | {(f"{i}.attn", "f16") for i in (0, 1)}
    assert found == expected
    assert left(emulation) == {("addmm", "skipped"): 1, ("mm", "skipped"): 2}
    assert {row.layer for row in emulation.report().outside} == {"2"}


def test_patterns_that_nothing_answers_to(model):
    with pytest.raises(ValueError, match=r"no module of the model answers to 'lm_haed'; it has 0, 0\.attn"):
        softmma.torch.emulate("H100", skip=["lm_haed"], model=model)
    with pytest.raises(ValueError, match="lm_haed"):
        softmma.torch.emulate("H100", layers={"lm_haed": "bf16"}).wrap(model)
    with (
        pytest.warns(RuntimeWarning, match="no module answers to 'lm_haed'"),
        softmma.torch.emulate("H100", skip="lm_haed"),
    ):
        model(torch.randn(1, 2, 8))
    for wrong in 3, [3]:
        with pytest.raises(TypeError, match="skip: 3 is no name's pattern"):
            softmma.torch.emulate("H100", skip=wrong)
    with pytest.raises(LookupError, match="recipe"):
        softmma.torch.emulate("H100", "fp9")
    with pytest.raises(ValueError, match="recipe and weights: a recipe says that"):
        softmma.torch.emulate("H100", "bf16", weights="f16")


def test_skipped_products_are_pytorchs(network, x):
    expected = network(x)
    with softmma.torch.emulate("H100", skip=[nn.Sequential], strict=True) as emulation:
        assert torch.equal(network(x), expected)
    assert counts(emulation) == {} and left(emulation) == {("addmm", "skipped"): 2}


def test_tied_weights():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.head = nn.Embedding(10, 8), nn.Linear(8, 10, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, x):
            return self.head(self.embedding(x))

    torch.manual_seed(0)
    model, found = Tied(), []
    for inside in False, True:
        model.zero_grad()
        with softmma.torch.emulate("MI300X", **FORMATS) if inside else torch.enable_grad() as emulation:
            model(torch.arange(4)).square().sum().backward()
        found.append(model.head.weight.grad)
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-4)
    assert counts(emulation) == {"forward": 1, "dgrad": 1, "wgrad": 1}


def test_weights_that_are_computed(x):
    """Weights cast by autocast and parametrised weights count as weights, forward and backward."""
    torch.manual_seed(0)
    for layer in nn.Linear(20, 6), nn.utils.parametrizations.weight_norm(nn.Linear(20, 6)):
        for context in torch.autocast("cpu", torch.bfloat16), torch.enable_grad():
            with softmma.torch.emulate("H100", weights="e4m3", activations="e5m2") as emulation, context:
                layer(x).sum().backward()
            (forward,) = [row for row in emulation.report() if row.product == "forward"]
            assert (forward.a, forward.b) == ("e5m2", "e4m3") and counts(emulation).keys() >= {"forward", "wgrad"}
            assert "other" not in counts(emulation)


# ---- Context, decorator, wrapper ----


def test_decorator_and_wrapper(network, x):
    with softmma.torch.emulate("H100", "fp8_tensorwise"):
        expected = network(x)
        expected.sum().backward()
    grads = gradients(network)
    emulation = softmma.torch.emulate("H100", "fp8_tensorwise")
    for run in emulation(network.forward), emulation.wrap(network), copy.deepcopy(emulation.wrap(network)):
        network.zero_grad()
        found = run(x)
        assert torch.equal(found, expected)
        found.sum().backward()
        module = getattr(run, "module", network)
        assert all(torch.equal(g, h) for g, h in zip(gradients(module), grads, strict=True))
    assert {row.layer for row in emulation.report().by_layer()} == {"0", "2"}
    wrapped = pickle.loads(pickle.dumps(emulation.wrap(network)))
    assert torch.equal(wrapped(x), expected) and counts(wrapped.emulation) == {"forward": 2}
    assert "module.0.weight" in wrapped.state_dict()


def test_nested_contexts(network, x):
    """The innermost emulation computes the products, except those of layers that it skips. The emulation around it
    computes these. An emulation may be entered again."""
    with softmma.torch.emulate("H100") as around:
        with softmma.torch.emulate("H100", "fp8_rowwise", skip=["2"]) as within, within:
            network(x)
        network(x)
    assert counts(within) == {"forward": 1} and counts(around) == {"forward": 3}


def test_exceptions_leave_nothing_behind(network, x):
    def fails(module, arguments, result):
        raise KeyError("no")

    handle = network[2].register_forward_hook(fails)
    before = torch.backends.mha.get_fastpath_enabled(), torch.backends.cuda.flash_sdp_enabled()
    with pytest.raises(KeyError), softmma.torch.emulate("H100") as emulation:
        network(x)
    handle.remove()
    assert before == (torch.backends.mha.get_fastpath_enabled(), torch.backends.cuda.flash_sdp_enabled())
    assert not torch.utils._python_dispatch._get_current_dispatch_mode_stack()
    assert not nn.modules.module._global_forward_hooks
    with emulation:
        network(x)
    assert {p.layer for p in emulation.report().by_layer()} == {"0", "2"} and counts(emulation) == {"forward": 4}


def test_threads(network, x):
    """An emulation that several threads use, some of which end before others start, counts every product exactly
    once."""
    emulation, results = softmma.torch.emulate("H100", "fp8_rowwise"), []

    def run():
        for _ in range(10):
            with emulation:
                y = network(x)
            y.sum().backward()
            results.append(y.detach())

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 30 and all(torch.equal(y, results[0]) for y in results)
    assert counts(emulation) == {"forward": 60, "dgrad": 30, "wgrad": 60}
    assert emulation.report().gradients == (60, 60) and torch.backends.mkldnn.enabled


def test_odd_tensors(network):
    """Unusual tensors are handled: empty tensors, tensors without numbers, NaN, views of views, negative views."""
    with softmma.torch.emulate("H100", "fp8_rowwise", strict=True) as emulation:
        assert network(torch.ones(0, 20)).shape == (0, 4)
        assert (torch.ones(3, 0) @ torch.ones(0, 2) == 0).all()
        with torch.device("meta"):
            assert nn.Linear(3, 4)(torch.ones(2, 3)).shape == (2, 4)
        assert network(torch.full((2, 20), torch.nan)).isnan().all()
        y = torch.randn(3, 2, 20)
        assert torch.equal(network(y.mT.contiguous().mT[1:])[0], network(y[1]))
    assert not left(emulation)
    z = torch.randn(4, 4, dtype=torch.complex64)
    with softmma.torch.emulate("MI300X", **FORMATS):
        torch.testing.assert_close(z.conj().imag @ z.real, -z.imag @ z.real)


def test_vmap_and_functional_call(network, x):
    parameters = dict(network.named_parameters())

    def loss(parameters, row):
        return torch.func.functional_call(network, parameters, (row,)).square().sum()

    each = torch.func.vmap(torch.func.grad(loss), (None, 0))
    expected = each(parameters, x)
    with softmma.torch.emulate("MI300X", **FORMATS) as emulation:
        found = each(parameters, x)
    for name in parameters:
        torch.testing.assert_close(found[name], expected[name], rtol=1e-4, atol=1e-4)
    assert emulation.report() and not left(emulation)


def test_compiled_modules_run_uncompiled_inside(network, x):
    """Compiled modules run uncompiled inside, so that their layers are seen, and so do compiled functions; after the
    context the compiled code runs again."""
    runs = []

    def backend(graph, inputs):
        compiled = aot_eager(graph, inputs)
        return lambda *arguments: runs.append(1) or compiled(*arguments)

    w = nn.Parameter(torch.randn(20, 3))
    compiled, function = torch.compile(network, backend=backend), torch.compile(lambda x: x @ w, backend=backend)
    compiled(x), function(x)
    assert len(runs) == 2
    with softmma.torch.emulate("H100", skip=["0"]) as emulation:
        loss = compiled(x).sum() + function(x).sum()
    loss.backward()
    assert {p.layer for p in emulation.report().by_layer()} == {"2", "-"} and len(runs) == 2
    assert left(emulation) == {("addmm", "skipped"): 1, ("mm", "skipped"): 1}
    assert counts(emulation) == {"forward": 2, "dgrad": 1, "wgrad": 2}
    compiled(x), function(x)
    assert len(runs) == 4


# ---- Reports ----


def test_statistics(tmp_path):
    layer = nn.Linear(4, 2, bias=False)
    layer.weight.data = torch.tensor([[1.0, 2, 448, 1e-9], [1e9, -1e9, 3, 0]])
    x = torch.tensor([[1.0, torch.nan, torch.inf, 2]])
    with softmma.torch.emulate("H100", weights="e4m3", activations="f16", scaling="none", statistics=True) as emulation:
        with pytest.raises(LookupError):
            layer(x)
    options = {"weights": "e4m3", "activations": "e4m3", "scaling": "none", "statistics": True}
    with torch.no_grad(), softmma.torch.emulate("H100", **options) as emulation:
        for _ in range(2):
            layer(x)
    report = emulation.report()
    (product,) = report.by_layer()
    assert (product.b.elements, product.b.zeros, product.b.saturated, product.b.infinite, product.b.nan) == (
        16,
        2,
        4,
        0,
        0,
    )
    assert product.a.nan == 2 and product.b.error > 0.99
    assert "weights e4m3" in repr(report.by_layer()) and "<table>" in report.by_layer()._repr_html_()
    assert json.loads(report.to_json(tmp_path / "report.json"))["products"][0]["b"]["saturated"] == 4
    assert (tmp_path / "report.json").read_text() == report.to_json()


def test_pictures_and_tables(network, x, tmp_path):
    with softmma.torch.emulate("B200", "nvfp4", statistics=True) as emulation:
        network(x).sum().backward()
    report = emulation.report()
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    report.plot(tmp_path / "a.svg")
    report.plot(tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    with softmma.torch.emulate("B200") as emulation, pytest.raises(ValueError, match="statistics=True"):
        network(x)
        emulation.report().plot(tmp_path / "c.svg")
    pytest.importorskip("pandas", reason="pandas is not installed")
    table = report.to_pandas()
    assert len(table) == 5 and {"layer", "a_role", "b_error"} <= set(table.columns)


def test_progress(network, x, capsys, monkeypatch):
    monkeypatch.setattr(softmma.torch._progress.Progress, "EVERY", 0)
    with softmma.torch.emulate("H100", progress=2 * 8 * 20 * 30) as emulation, torch.no_grad():
        network(x)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 and "1 products, 4.80e+03 multiplications in 0 s, 50 %, " in lines[0]
    assert (
        lines[1].endswith("layer 2")
        and sum(row.multiplications for row in emulation.report()) == 8 * 20 * 30 + 8 * 30 * 4
    )
    with softmma.torch.emulate("H100", progress=True):
        network(x)
    assert "%" not in capsys.readouterr().err


# ---- Recipes ----


@pytest.mark.parametrize("recipe", recipes.recipes(), ids=lambda recipe: recipe.name)
def test_recipes_train(recipe):
    """Every recipe works in forward and backward passes. No gradient becomes zero because of a format's range."""
    torch.manual_seed(0)
    network, x = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 32)), torch.randn(32, 64) * 1e-3
    network(x).square().sum().backward()
    expected = gradients(network)
    with softmma.torch.emulate("MI300X" if recipe.name == "fp32" else "B200", recipe, strict=True) as emulation:
        for _ in range(2):  # the first use of delayed scaling has no history
            network.zero_grad()
            network(x).square().sum().backward()
    for g, h in zip(gradients(network), expected, strict=True):
        assert torch.linalg.norm(g - h) < 0.4 * torch.linalg.norm(h)
    assert counts(emulation) == {"forward": 4, "dgrad": 2, "wgrad": 4}


def test_delayed_scaling_has_a_history_for_each_place(network, x):
    """Each operand has its own history: the second pass is scaled by the values of the first."""
    with torch.no_grad(), softmma.torch.emulate("H100", "fp8_delayed"):
        first, second = network(x * 1000), network(x * 1000)
        assert not torch.equal(first, second)
        with softmma.torch.emulate("H100", "fp8_tensorwise"):
            assert torch.equal(network(x * 1000), second)
    small, large = nn.Parameter(torch.full((20, 3), 1e-3)), nn.Parameter(torch.full((20, 3), 1e3))
    with torch.no_grad(), softmma.torch.emulate("H100", "fp8_delayed"):
        for _ in range(2):
            found = x @ small, (1e3 * x) @ large
        with softmma.torch.emulate("H100", "fp8_tensorwise"):
            assert torch.equal(found[0], x @ small) and torch.equal(found[1], (1e3 * x) @ large)


def test_a_convolution_is_one_use_of_its_operands():
    """All products of a strided dgrad are scaled alike, by the uses before; and the history gets one entry."""
    torch.manual_seed(3)
    x, w = torch.randn(2, 3, 6, 6), nn.Parameter(torch.randn(3, 4, 3, 3) * torch.logspace(-2, 2, 9).reshape(3, 3))

    def convolve():
        return nn.functional.conv_transpose2d(x, w, stride=2)

    with torch.no_grad(), softmma.torch.emulate("H100", recipes.recipe("fp8_delayed", history=4)) as emulation:
        first, second = convolve(), convolve()
        histories = list(emulation._histories.values())
    with torch.no_grad(), softmma.torch.emulate("H100", weights="e4m3", activations="e4m3", scaling="none"):
        assert torch.equal(first, convolve())  # the first scale is 1
    assert not torch.equal(first, second)
    assert sorted(tuple(h._amax) for h in histories) == sorted((y.abs().max().item(),) * 2 for y in (x, w))


# ---- Attention ----


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("blocks", [None, (16, 8), (5, 7)])
def test_flash_attention(causal, blocks):
    """Both ways to compute attention have the same results, forward and backward, except for the order of sums."""
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 3, 37, 16, requires_grad=True) for _ in range(3))
    found = []
    for attention in "products", "flash":
        q.grad = k.grad = v.grad = None
        with softmma.torch.emulate("MI300X", **FORMATS, attention=attention, attention_blocks=blocks) as emulation:
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        y.square().sum().backward()
        found.append([y.detach(), q.grad, k.grad, v.grad])
    for got, expected in zip(*found, strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)
    assert not left(emulation) and counts(emulation).keys() == {"other"}
    operations = {row.operation: row.calls for row in emulation.report()}
    rows, columns = blocks or (128, 128)
    pairs = [(i, j) for i in range(0, 37, rows) for j in range(0, 37, columns) if not causal or j < min(i + rows, 37)]
    name = "_scaled_dot_product_flash_attention_for_cpu"
    assert operations == {name: 2 * len(pairs), f"{name}_backward": 5 * len(pairs)}


def test_flash_attention_is_the_algorithm():
    """For one row of queries and two blocks of keys, the emulation has the bits of the algorithm's steps, which the
    test writes out. The last block of keys comes first."""
    torch.manual_seed(1)
    q, k, v = (torch.randn(1, 1, n, 16) for n in (1, 32, 32))
    with torch.no_grad(), softmma.torch.emulate("H100", "fp16", attention="flash", attention_blocks=(1, 16)):
        found = nn.functional.scaled_dot_product_attention(q, k, v)
    q, k, v = (x[0, 0].numpy() for x in (q, k, v))
    factor = np.float32(0.25 * np.log2(np.e))
    exp2 = lambda s, m: torch.exp2(
        torch.from_numpy((np.float64(s) * factor - np.float64(m * factor)).astype("f4"))
    ).numpy()
    half = {"on": "H100", "in_dtype": "f16"}
    s = softmma.matmul(q, k[16:].T, **half)
    m = s.max(1, keepdims=True)
    p = exp2(s, m)
    total, o = torch.from_numpy(p).sum(1, keepdim=True).numpy(), softmma.matmul(p, v[16:], **half)
    s = softmma.matmul(q, k[:16].T, **half)
    most = np.maximum(m, s.max(1, keepdims=True))
    p, shrink = exp2(s, most), exp2(m, most)
    total = total * shrink + torch.from_numpy(p).sum(1, keepdim=True).numpy()
    o = softmma.matmul(p, v[:16], o * shrink, **half) * (np.float32(1) / total)
    assert torch.equal(found[0, 0], torch.from_numpy(o))


def test_flash_attention_with_shared_keys():
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, heads, 9, 8, requires_grad=True) for heads in (4, 2, 2))
    found = []
    for attention in "products", "flash":
        q.grad = k.grad = v.grad = None
        with softmma.torch.emulate("MI300X", **FORMATS, attention=attention, attention_blocks=(4, 8)):
            y = nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
        y.square().sum().backward()
        found.append([y.detach(), q.grad, k.grad, v.grad])
    for got, expected in zip(*found, strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)


def test_flash_attention_with_masks():
    torch.manual_seed(2)
    q, k, v = (torch.randn(1, 2, 9, 8) for _ in range(3))
    mask = torch.rand(9, 9) > 0.5
    mask[3] = False
    mask[3, 8] = True
    for given in mask, torch.where(mask, 0.25, -1e30):
        found = []
        for attention in "products", "flash":
            with (
                torch.no_grad(),
                softmma.torch.emulate("MI300X", **FORMATS, attention=attention, attention_blocks=(4, 4)),
            ):
                found.append(nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=given))
        torch.testing.assert_close(*found, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="needs formats without factors"):
        with softmma.torch.emulate("H100", weights="e4m3", activations="e4m3", attention="flash"):
            nn.functional.scaled_dot_product_attention(q, k, v)
    with pytest.raises(ValueError, match="attention: 'fast'"):
        softmma.torch.emulate("H100", attention="fast")


# ---- Scaled products ----


@pytest.mark.parametrize("gpu", ["H100", "L40S", "B200"])
def test_sums_of_scaled_mm(gpu):
    """For units that retain 13 bits, the sum moves to FP32 every 128 of K, unless fast accumulation is requested."""
    torch.manual_seed(0)
    a, b = (torch.randn(16, 1024).mul(100).clamp(-448, 448).to(torch.float8_e4m3fn) for _ in range(2))
    one, found = torch.tensor(1.0), {}
    with softmma.torch.emulate(gpu):
        for fast in False, True:
            found[fast] = torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.float32, use_fast_accum=fast)
    x, y = (t.view(torch.uint8).numpy() for t in (a, b))
    chain = softmma.matmul(x, y.T, on=gpu, in_dtype="e4m3")
    every = softmma.matmul(x, y.T, on=gpu, in_dtype="e4m3", promote_every=128)
    assert torch.equal(found[True], torch.from_numpy(chain))
    assert torch.equal(found[False], torch.from_numpy(chain if gpu == "B200" else every))
    exact = a.double() @ b.double().t()
    if gpu != "B200":
        assert (found[False] - exact).abs().max() < 0.2 * (found[True] - exact).abs().max()


# ---- Several processes, subclasses ----


def train_in_parallel(rank, port, path):
    import torch.distributed as distributed
    from torch.nn.parallel import DistributedDataParallel

    distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(20, 30), nn.Tanh(), nn.Linear(30, 4))
    parallel = DistributedDataParallel(network)
    x = torch.randn(8, 20, generator=torch.Generator().manual_seed(1))
    with softmma.torch.emulate("H100", "fp8_rowwise", skip=["2"]) as emulation:
        loss = parallel(x[4 * rank : 4 * rank + 4]).square().sum()
    loss.backward()
    layers = {p.layer for p in emulation.report().by_layer()}
    torch.save((gradients(network), counts(emulation), layers, left(emulation)), f"{path}/{rank}.pt")
    distributed.destroy_process_group()


def test_distributed_data_parallel(network, x, tmp_path):
    """Two processes over gloo: each emulates its half of the batch, and all-reduce averages the gradients."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(train_in_parallel, (port, str(tmp_path)), nprocs=2)
    halves = []
    for half in x[:4], x[4:]:
        network.zero_grad()
        with softmma.torch.emulate("H100", "fp8_rowwise", skip=["2"]):
            network(half).square().sum().backward()
        halves.append(gradients(network))
    for rank in 0, 1:
        found, products, layers, outside = torch.load(tmp_path / f"{rank}.pt", weights_only=False)
        assert products == {"forward": 1, "wgrad": 1} and layers == {"0"} and outside[("addmm", "skipped")] == 1
        for g, a, b in zip(found, *halves, strict=True):
            assert torch.equal(g, (a + b) / 2)


def test_subclasses_of_tensors(network, x):
    """Operations of which a tensor subclass consists are emulated. Fake tensors compute nothing."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with torch.no_grad():
        expected = softmma.torch.emulate("H100")(network.forward)(x)
        rows = torch.nested.nested_tensor([x[:3], x[3:]], layout=torch.jagged)
        with softmma.torch.emulate("H100") as emulation:
            assert torch.equal(network(rows).values(), expected)
    assert counts(emulation) == {"forward": 2} and not left(emulation)
    with softmma.torch.emulate("H100", strict=True) as emulation, FakeTensorMode(allow_non_fake_inputs=True):
        assert nn.Linear(3, 4)(torch.ones(2, 3)).shape == (2, 4)
    assert not emulation.report() and not left(emulation)


def test_functions_of_ones_own(x):
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        def backward(ctx, gradient):
            a, b = ctx.saved_tensors
            return gradient @ b.T, a.T @ gradient

    w = nn.Parameter(torch.randn(20, 5))
    with softmma.torch.emulate("H100") as emulation:
        loss = Product.apply(x, w).sum()
    loss.backward()
    assert counts(emulation) == {"forward": 1, "dgrad": 1, "wgrad": 1}
