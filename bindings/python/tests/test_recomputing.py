"""Gradients have the same bits however activations reach the backward pass: stored, recomputed, copied, or moved."""

import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

import pytest

torch = pytest.importorskip("torch", reason="networks are NOT tested: there is no PyTorch")
checkpoints = pytest.importorskip("torch.utils.checkpoint")

import softmma.torch  # noqa: E402

TIER = "all"

# One recipe with E4M3 and E5M2, and one with a single format for all tensors.
RECIPES = ["fp8_tensorwise", "bf16"]


class Attention(torch.nn.Module):
    """A network with two products of two activations each, and with weights that are used twice."""

    def __init__(self):
        super().__init__()
        self.first, self.last = torch.nn.Linear(32, 32), torch.nn.Linear(32, 32)

    def forward(self, x):
        y = torch.relu(self.first(x))
        weights = torch.softmax(y @ y.transpose(-1, -2), -1)
        return self.last(self.first(weights @ y))


def function(net, x):
    """Computes the network without modules, and with an additional product that needs no gradients."""
    y = torch.relu(torch.nn.functional.linear(x, net.first.weight, net.first.bias))
    with torch.no_grad():
        shift = y @ net.last.weight
    weights = torch.softmax(y @ y.transpose(-1, -2), -1)
    y = torch.nn.functional.linear(weights @ y + shift, net.first.weight, net.first.bias)
    return torch.nn.functional.linear(y, net.last.weight, net.last.bias)


def once(run, x):
    return checkpoints.checkpoint(run, x, use_reentrant=False)


def reentrant(run, x):
    return checkpoints.checkpoint(run, x, use_reentrant=True)


def nested(run, x):
    return once(lambda y: once(lambda z: once(run, z), y), x)


def nested_in_reentrant(run, x):
    return reentrant(lambda y: once(run, y), x)


def without_early_stop(run, x):
    with checkpoints.set_checkpoint_early_stop(False):
        return once(run, x)


def selective(run, x):
    kept = [torch.ops.aten.addmm.default, torch.ops.aten.mm.default]

    def contexts():
        return checkpoints.create_selective_checkpoint_contexts(kept)

    return checkpoints.checkpoint(run, x, use_reentrant=False, context_fn=contexts)


def in_sequence(run, x):
    return checkpoints.checkpoint_sequential([run, torch.nn.Identity()], 2, x, use_reentrant=False)


def on_cpu(run, x):
    with torch.autograd.graph.save_on_cpu():
        return run(x)


def copied(run, x):
    with torch.autograd.graph.saved_tensors_hooks(lambda y: y.clone(), lambda y: y.clone()):
        return run(x)


def filled(run, x):
    """Runs the network, with saved activations copied into new tensors. Programs do this that move activations into
    buffers."""

    def away(y):
        return torch.empty_like(y).copy_(y)

    with torch.autograd.graph.saved_tensors_hooks(away, away):
        return run(x)


def copied_in_checkpoint(run, x):
    return once(lambda y: copied(run, y), x)


class Again(torch.autograd.Function):
    """A function of a user that computes its forward pass again in the backward pass."""

    @staticmethod
    def forward(ctx, x, run, *parameters):
        ctx.run, ctx.parameters = run, parameters
        ctx.save_for_backward(x)
        return run(x)

    @staticmethod
    def backward(ctx, gradient):
        x = ctx.saved_tensors[0].detach().requires_grad_()
        with torch.enable_grad():
            y = ctx.run(x)
        found = torch.autograd.grad(y, (x, *ctx.parameters), gradient)
        return found[0], None, *found[1:]


def by_function(run, x):
    return Again.apply(x, run, *NET[0].parameters())


NET = [None]
WAYS = [once, reentrant, nested, nested_in_reentrant, without_early_stop, selective, in_sequence, on_cpu, copied, filled,
        copied_in_checkpoint, by_function]  # fmt: skip


@pytest.fixture
def net():
    torch.manual_seed(0)
    NET[0] = Attention()
    return NET[0]


def gradients(net, x, way, body, recipe, outside=False, twice=False):
    """Returns the gradients of the parameters and the input, and the emulated operations: (product, formats)."""
    x = x.clone().requires_grad_()
    net.zero_grad()

    def backward(loss):
        if twice:
            loss.backward(retain_graph=True)
        loss.backward()

    with softmma.torch.emulate("H100", recipe, strict=True) as emulation:
        loss = (way(body, x) ** 2).sum()
        if not outside:
            backward(loss)
    if outside:
        backward(loss)
    report = emulation.report()
    assert report.gradients.seen == report.gradients.asked
    return [x.grad, *(p.grad.clone() for p in net.parameters())], {(p.product, p.a, p.b) for p in report}


def directly(run, x):
    return run(x)


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_gradients_do_not_depend_on_how_activations_come(net, way, recipe):
    x = torch.randn(32, 32)
    for body in (net, lambda y: function(net, y)):
        for more in ({}, {"outside": True}) if way is not reentrant else ({},):
            expected, kinds = gradients(net, x, directly, body, recipe, **more)
            found, found_kinds = gradients(net, x, way, body, recipe, **more)
            assert all(map(torch.equal, expected, found)), more
            assert found_kinds == kinds


@pytest.mark.parametrize("way", [once, without_early_stop, on_cpu, copied], ids=lambda way: way.__name__)
def test_backward_twice(net, way):
    x = torch.randn(32, 32)
    expected, _ = gradients(net, x, directly, net, "fp8_tensorwise", twice=True)
    found, _ = gradients(net, x, way, net, "fp8_tensorwise", twice=True)
    assert all(map(torch.equal, expected, found))


@pytest.mark.parametrize("way", [once, on_cpu, copied], ids=lambda way: way.__name__)
def test_double_backward(net, way):
    """First-order gradients also count as gradients in the second backward pass."""
    found = []
    for each in (directly, way):
        x = torch.randn(32, 32, generator=torch.Generator().manual_seed(3)).requires_grad_()
        net.zero_grad()
        with softmma.torch.emulate("H100", "fp8_tensorwise", strict=True):
            (first,) = torch.autograd.grad((each(net, x) ** 2).sum(), x, create_graph=True)
            (first**2).sum().backward()
        found.append([x.grad, *(p.grad.clone() for p in net.parameters() if p.grad is not None)])
    assert all(map(torch.equal, *found))


def test_gradients_in_memory_of_activations(net):
    """The gradient that the caller passes may be the tensor of the activation itself."""
    found = []
    for copy in (False, True):
        x = torch.randn(8, 32, generator=torch.Generator().manual_seed(3))
        net.zero_grad()
        with softmma.torch.emulate("H100", "fp8_tensorwise", strict=True) as emulation:
            net.first(x).backward(x.clone() if copy else x)
        kinds = {(p.product, p.a, p.b) for p in emulation.report()}
        assert kinds == {("forward", "e4m3", "e4m3"), ("wgrad", "e5m2", "e4m3")}
        found.append(net.first.weight.grad.clone())
    assert torch.equal(*found)


def test_functional_gradients(net):
    """Functional gradients hide autograd's nodes. Only products of a gradient and a weight are then recognised; other
    backward products are reported as not emulated."""
    x = torch.randn(8, 32)

    def loss(x):
        return (net.last(torch.relu(net.first(x))) ** 2).sum()

    y = x.clone().requires_grad_()
    with softmma.torch.emulate("H100", "fp8_tensorwise", strict=True):
        loss(y).backward()
        assert torch.equal(torch.func.grad(loss)(x), y.grad)
        value, pull = torch.func.vjp(loss, x)
        assert torch.equal(pull(torch.ones_like(value))[0], y.grad)
        with pytest.raises(RuntimeError, match="strict.*torch.func"):
            torch.func.grad(lambda x: (net(x) ** 2).sum())(x)


def test_a_graph_from_outside_is_not_guessed_at(net):
    """If the forward pass was not seen, it is unknown which operand is a gradient."""
    x = torch.randn(8, 32)
    expected = torch.autograd.grad((net.first(x) ** 2).sum(), net.first.weight)[0]
    loss = (net.first(x) ** 2).sum()
    with softmma.torch.emulate("H100", "fp8_tensorwise") as emulation:
        found = torch.autograd.grad(loss, net.first.weight)[0]
    assert torch.equal(found, expected)
    (row,) = emulation.report().outside
    assert row.operation == "mm" and "its forward pass ran outside" in row.why
    loss = (net.first(x) ** 2).sum()
    with softmma.torch.emulate("H100", "fp8_tensorwise", strict=True), pytest.raises(RuntimeError, match="strict"):
        loss.backward()


@pytest.mark.parametrize("way", [once, nested, copied, filled], ids=lambda way: way.__name__)
def test_a_backward_pass_may_begin_at_the_last_product(net, way):
    """No operation comes between the product and its backward pass."""
    found = []
    for each in (directly, way):
        net.zero_grad()
        x = torch.randn(8, 32, generator=torch.Generator().manual_seed(3)).requires_grad_()
        gradient = torch.ones(8, 32)
        with softmma.torch.emulate("H100", "fp8_tensorwise", strict=True):
            each(lambda y: torch.nn.functional.linear(torch.relu(y), net.last.weight), x).backward(gradient)
        found.append((x.grad, net.last.weight.grad.clone()))
    assert all(map(torch.equal, *found))


# ---- Threads ----


def by_thread(call):
    found = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join()
    return found[0]


def by_executor(call):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


def by_pool(call):
    with ThreadPool(1) as pool:
        return pool.apply(call)


def by_thread_of_thread(call):
    return by_thread(lambda: by_executor(call))


POOL = ThreadPoolExecutor(1)


def by_older_pool(call):
    POOL.submit(int).result()
    return POOL.submit(call).result()


@pytest.mark.parametrize("run", [by_thread, by_executor, by_pool, by_thread_of_thread, by_older_pool])
def test_threads_are_within_the_context(net, run):
    x = torch.randn(8, 32)

    def step():
        return torch.autograd.grad((net.first(x) ** 2).sum(), net.first.weight)[0]

    plain = step()
    with softmma.torch.emulate("H100", "fp8_tensorwise", strict=True) as emulation:
        here = step()
        there = run(step)
    assert torch.equal(here, there) and not torch.equal(plain, there)
    assert {p.calls for p in emulation.report()} == {2}
    assert torch.equal(run(step), plain)


def test_threads_that_outlive_the_context(net):
    x, begun, ended = torch.randn(8, 32), threading.Event(), threading.Event()
    found = []

    def run():
        with torch.no_grad():
            found.append(net.first(x))
            begun.set()
            ended.wait()
            found.append(net.first(x))

    with softmma.torch.emulate("H100", "fp8_tensorwise") as emulation:
        thread = threading.Thread(target=run)
        thread.start()
        begun.wait()
    ended.set()
    thread.join()
    with torch.no_grad():
        assert torch.equal(found[1], net.first(x)) and not torch.equal(found[0], found[1])
    assert [p.calls for p in emulation.report()] == [1]


def test_threads_with_a_queue_of_their_own():
    """A thread that started before the context does not belong to it, even if it runs a task from inside the context.
    The report says so."""
    net, x = torch.nn.Linear(32, 32), torch.randn(4, 32)
    tasks, done = queue.Queue(), queue.Queue()

    def work():
        for task in iter(tasks.get, None):
            done.put(task())

    worker = threading.Thread(target=work)
    worker.start()
    with torch.no_grad(), softmma.torch.emulate("H100", "bf16") as emulation:
        tasks.put(lambda: net(net(x)))
        there = done.get()
    tasks.put(lambda: net(net(x)))
    assert torch.equal(there, done.get())
    tasks.put(None)
    worker.join()
    assert list(emulation.report().outside) == [("-", "Linear", "in a thread that is not in the context", 2)]
