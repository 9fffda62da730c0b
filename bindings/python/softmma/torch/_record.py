"""Records the inputs and outputs of the calls in one run of a network."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import math
import random
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.overrides import TorchFunctionMode

from softmma._products import products_seen
from softmma.torch._report import Report

_PRODUCTS = {
    "linear", "bilinear", "matmul", "__matmul__", "__rmatmul__", "linalg_matmul", "mm", "bmm", "mv", "dot", "vdot",
    "inner", "addmm", "addmm_", "addbmm", "addbmm_", "baddbmm", "baddbmm_", "addmv", "addmv_", "einsum", "tensordot",
    "chain_matmul", "linalg_multi_dot", "scaled_dot_product_attention", "conv1d", "conv2d", "conv3d",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "lstm", "gru", "rnn_tanh", "rnn_relu", "lstm_cell",
    "gru_cell", "rnn_tanh_cell", "rnn_relu_cell", "_scaled_mm", "_int_mm",
}  # fmt: skip
_EACH_LINEAR = _PRODUCTS - {
    "scaled_dot_product_attention", "lstm", "gru", "rnn_tanh", "rnn_relu", "lstm_cell", "gru_cell", "rnn_tanh_cell",
    "rnn_relu_cell", "linalg_multi_dot", "chain_matmul",
}  # fmt: skip
"""Products that are linear in each operand: an operand's gradient does not depend on the operand's own value."""
_WEIGHTED = {"linear", *(f"conv{transposed}{n}d" for transposed in ("", "_transpose") for n in (1, 2, 3))}
_NARROW = {"float", "half", "bfloat16"}
_DRAWN = {"rand", "randn", "rand_like", "randn_like", "normal", "bernoulli", "multinomial", "poisson"}
_DRAWN_IN_PLACE = {
    "uniform_", "normal_", "exponential_", "cauchy_", "log_normal_", "geometric_", "bernoulli_", "random_",
}  # fmt: skip
_OF_MODULES = set(vars(torch.nn.Module()))


# ---- Inputs and outputs ----


def tensors_in(x: Any, path: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """Yields the tensors of a nested structure, each with its path in the structure."""
    if isinstance(x, torch.Tensor):
        yield path, x
    elif isinstance(x, Mapping):
        for key, value in x.items():
            yield from tensors_in(value, f"{path}[{key!r}]")
    elif isinstance(x, (tuple, list)):
        names = getattr(x, "_fields", None)
        for n, value in enumerate(x):
            yield from tensors_in(value, f"{path}.{names[n]}" if names else f"{path}[{n}]")
    elif dataclasses.is_dataclass(x) and not isinstance(x, type):
        for each in dataclasses.fields(x):
            yield from tensors_in(getattr(x, each.name, None), f"{path}.{each.name}")


def mapped(x: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """Returns a copy of a nested structure, with each tensor changed."""
    if isinstance(x, torch.Tensor):
        return change(x)
    if isinstance(x, (tuple, list)):
        values = [mapped(value, change) for value in x]
        return type(x)(*values) if hasattr(x, "_fields") else type(x)(values)
    made: Any = x
    if isinstance(x, Mapping):
        made = copy.copy(x)
        for key, value in x.items():
            made[key] = mapped(value, change)
    elif dataclasses.is_dataclass(x) and not isinstance(x, type):
        made = copy.copy(x)
        for each in dataclasses.fields(x):
            object.__setattr__(made, each.name, mapped(getattr(x, each.name), change))
    return made


def converted(x: torch.Tensor, wide: torch.dtype | None) -> torch.Tensor:
    """Converts a tensor to a wider dtype. FP8 tensors are converted only to FP64, because some products need FP8
    operands."""
    if wide is None or not (x.is_floating_point() or x.is_complex()):
        return x
    if x.element_size() == 1 and wide != torch.float64:
        return x
    return x.to(wide.to_complex() if x.is_complex() else wide)


def _scaled_mm(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: torch.Tensor,
    scale_b: torch.Tensor,
    bias: torch.Tensor | None = None,
    scale_result: torch.Tensor | None = None,
    **_: Any,
) -> torch.Tensor:
    """Computes `torch._scaled_mm` for operands in FP64, which PyTorch does not accept."""
    d = (a @ b) * scale_a * scale_b
    d = d if bias is None else d + bias
    return d if scale_result is None else d * scale_result


def _bytes(x: torch.Tensor) -> NDArray[np.uint8]:
    """Returns a tensor's elements, in order, as bytes."""
    x = x.detach()
    if x.is_quantized:
        x = x.dequantize()
    x = x.to_dense() if x.layout != torch.strided else x
    x = x.resolve_conj().resolve_neg().contiguous()
    found: NDArray[np.uint8] = (torch.view_as_real(x) if x.is_complex() else x).reshape(-1).view(torch.uint8).numpy()
    return found


def state_of(module: torch.nn.Module) -> dict[str, Any]:
    """Returns a module's attributes other than parameters, buffers, modules and hooks."""
    return {name: value for name, value in vars(module).items() if name not in _OF_MODULES}


def _content(x: Any, seen: set[int]) -> Iterator[Any]:
    """Yields the tensors, arrays and scalars that a value consists of, including those inside objects."""
    if x is None or isinstance(x, (torch.Tensor, np.ndarray, bool, int, float, complex, str, torch.dtype)):
        yield x
    elif id(x) not in seen:
        seen.add(id(x))
        if isinstance(x, torch.nn.Module):
            yield from _content([x._buffers, x._modules, state_of(x)], seen)
        elif isinstance(x, Mapping):
            yield from (each for item in x.items() for value in item for each in _content(value, seen))
        elif isinstance(x, (tuple, list)):
            yield len(x)
            yield from (each for value in x for each in _content(value, seen))
        elif hasattr(x, "__dict__") and not callable(x):
            yield from _content(vars(x), seen)


def digest_of(values: Iterable[Any]) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for x in values:
        if isinstance(x, torch.Tensor):
            digest.update(f"{tuple(x.shape)} {x.dtype};".encode())
            digest.update(_bytes(x).data)
        else:
            digest.update(repr(x).encode() if not isinstance(x, np.ndarray) else x.tobytes())
    return digest.digest()


# ---- One run ----


class Output(NamedTuple):
    """A tensor that a call returned, and the offset of its bytes in the file."""

    path: str
    shape: tuple[int, ...]
    dtype: torch.dtype
    begin: int


class Key(NamedTuple):
    """Identifies a call: the module's path, its class or the function in it, and the number of the call.

    A gradient that the call returns in the backward pass has a key of its own: its ``product`` is "dgrad" or "wgrad",
    and ``of`` names the argument or parameter that it is the gradient of.
    """

    name: str
    operation: str
    call: int
    product: str = "forward"
    of: str = ""


@dataclasses.dataclass
class _Source:
    """A tensor that a call takes, and its gradient ``total``: the sum of what the ``edges`` of autograd's graph bring,
    which lead from the call's nodes to the tensor."""

    product: str
    path: str
    edge: Any
    others: bytes  # digest of the saved values from which the gradient is computed
    parameter: torch.nn.Parameter | None = None
    edges: int = 0
    total: torch.Tensor | None = None


@dataclasses.dataclass
class _Call:
    key: Key
    is_module: bool
    begin: int  # number of calls that had returned before this call
    inputs: bytes
    outputs: list[Output] = dataclasses.field(default_factory=list)
    digest: bytes = b""
    hands_on: int | None = None  # the inner call whose tensors this call returns unchanged
    tensors: list[Any] = dataclasses.field(default_factory=list)  # weak references and versions
    returned: list[torch.Tensor] = dataclasses.field(default_factory=list)  # copies, for a trace
    sources: list[_Source] = dataclasses.field(default_factory=list)
    module: torch.nn.Module | None = None
    first_node: int = 0  # autograd's number of the first node that the call can make
    arrived: bytes = b""  # digest of the gradients that arrived at the call


@dataclasses.dataclass
class Run:
    """The outputs of one run's calls, in the order in which the calls returned."""

    label: str
    calls: list[_Call] = dataclasses.field(default_factory=list)
    place: dict[Key, int] = dataclasses.field(default_factory=dict)
    loss: float = math.nan

    def get(self, key: Key) -> _Call | None:
        return self.calls[self.place[key]] if key in self.place else None


class Enough(BaseException):
    """Ends a run after the last call that is needed. It is no Exception, so that a model's own handlers do not catch
    it."""


class LossError(ValueError):
    """Reports a loss that has no gradients."""


def checked_loss(value: Any) -> torch.Tensor:
    """Returns a loss that has gradients; otherwise raises LossError."""
    if not isinstance(value, torch.Tensor) or value.numel() != 1 or not value.is_floating_point():
        what = f"a tensor {tuple(value.shape)}" if isinstance(value, torch.Tensor) else f"a {type(value).__name__}"
        raise LossError(f"loss returns {what}: it must return one number, in a tensor")
    if not value.requires_grad:
        raise LossError("loss does not depend on a parameter with requires_grad: there are no gradients")
    return value


class File:
    """Stores activations: in memory until a limit is reached, then all of them in a temporary file."""

    def __init__(self, most: int):
        self._file = tempfile.SpooledTemporaryFile(max(most, 1))  # noqa: SIM115
        self.bytes = 0

    def add(self, x: torch.Tensor) -> int:
        begin = self.bytes
        self._file.seek(begin)
        self.bytes += self._file.write(_bytes(x).data)
        return begin

    def read(self, output: Output, first: int, count: int) -> torch.Tensor:
        """Returns `count` numbers of an output, starting at number `first`. A complex element counts as two numbers."""
        kind = output.dtype if not output.dtype.is_complex else output.dtype.to_real()
        self._file.seek(output.begin + first * kind.itemsize)
        data = bytearray(self._file.read(count * kind.itemsize))
        return torch.frombuffer(data, dtype=kind) if data else torch.empty(0, dtype=kind)

    def close(self) -> None:
        self._file.close()


def count_of(output: Output) -> int:
    return math.prod(output.shape) * (2 if output.dtype.is_complex else 1)


class Recorder(TorchFunctionMode):
    """Records the inputs and outputs of a model's modules and of the products in them.

    With ``wide``, dtypes narrower than ``wide`` are replaced by it; random numbers remain the same. ``file`` receives
    the outputs. ``forced`` replaces this run's outputs by those of another run. The run ends after the call ``until``.

    A run with a loss has gradients as well. The nodes of autograd's graph that lie between the tensors a call took and
    those it returned belong to the call, if no other call ran inside it: hooks there see the gradients on their way.
    """

    def __init__(
        self,
        label: str,
        model: torch.nn.Module,
        wide: torch.dtype | None = None,
        file: File | None = None,
        forced: tuple[Run, File] | None = None,
        until: Key | None = None,
        told: Callable[[int], None] | None = None,
    ):
        super().__init__()
        self.run = Run(label)
        self.wide, self.file, self.forced, self.until = wide, file, forced, until
        self.told = told
        self.report: Report | None = None
        self.seen: list[Any] = []
        self._open: list[_Call] = []
        self._counts: Counter[tuple[str, str]] = Counter()
        self._differentiates = False
        self.repeats = False  # whether the backward pass repeats modules (checkpoints)
        self._standing: dict[Key, _Call] = {}  # the modules that return a product's tensors, by the product's key
        self._parameters = {id(x): name for name, x in model.named_parameters()}
        self._of_weights: dict[int, list[bytes]] = {}  # digests of each parameter's gradients
        self._versions = {id(x): x._version for x in model.parameters() if not x.is_inference()}
        for name, module in model.named_modules():
            if isinstance(module, torch.jit.ScriptModule):
                continue  # has no hooks, and is not looked into
            module.register_forward_pre_hook(partial(self._enter_module, name), with_kwargs=True)
            module.register_forward_hook(self._leave_module, with_kwargs=True, always_call=True)

    # ---- Modules and functions ----

    def _enter_module(self, name: str, module: torch.nn.Module, args: Any, kwargs: Any) -> None:
        self.repeats |= self._differentiates
        if not self._differentiates:
            with torch._C.DisableTorchFunction():
                self._enter(name, type(module).__name__, (args, kwargs, module), True)

    def _leave_module(self, module: torch.nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        if not self._differentiates:
            with torch._C.DisableTorchFunction():
                self._leave(output)

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if self.wide:
            widened = self._widened(name, func, args, kwargs)
            if widened is not None:
                return widened
            args, kwargs = self._wide_dtypes((args, kwargs))
            func = _scaled_mm if name == "_scaled_mm" else func
        if name not in _PRODUCTS:
            return func(*args, **kwargs)
        name = name.strip("_").replace("rmatmul", "matmul")
        self._enter(self._open[-1].key[0] if self._open else "", name, (args, kwargs), False)
        output = None
        try:
            output = func(*args, **kwargs)
        finally:
            self._leave(output)
        return output

    def _wide_dtypes(self, x: Any) -> Any:
        if isinstance(x, torch.dtype) and (x.is_floating_point or x.is_complex):
            return self.wide.to_complex() if x.is_complex else self.wide  # type: ignore[union-attr]
        if type(x) in (tuple, list):
            return type(x)(self._wide_dtypes(value) for value in x)
        return {key: self._wide_dtypes(value) for key, value in x.items()} if type(x) is dict else x

    def _widened(self, name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Replaces operations that would round or depend on the dtype: conversions to a narrower type go to the wide
        type; random numbers are drawn in FP32, as in the original run, and then converted. Returns None for all
        other operations."""
        if name in _NARROW and args:
            return converted(args[0], self.wide)
        if name not in _DRAWN and name not in _DRAWN_IN_PLACE:
            return None
        if name in ("rand", "randn"):
            kwargs.setdefault("dtype", torch.float32)
        narrow = mapped(args, lambda x: x.float() if x.dtype == self.wide else x)
        drawn = func(*narrow, **kwargs)
        return args[0].copy_(drawn) if name in _DRAWN_IN_PLACE else converted(drawn, self.wide)

    # ---- Calls ----

    def _enter(self, name: str, operation: str, values: Any, is_module: bool) -> None:
        self._counts[name, operation] += 1
        key = Key(name, operation, self._counts[name, operation])
        # Parameters are the same in all runs unless something is written to them.
        inputs = digest_of(x for x in _content(values, set()) if not self._is_unchanged_parameter(x))
        call = _Call(key, is_module, len(self.run.calls), inputs)
        if torch.is_grad_enabled():
            call.first_node = torch._C._autograd._get_sequence_nr()
            call.sources, call.module = self._arguments(key, *values[:2]), values[2] if is_module else None
        self._open.append(call)
        if key == self.until:
            self._look()

    def _look(self) -> None:
        """Forgets the products that units have computed so far, so that ``seen`` holds only later ones."""
        seen = products_seen.get()
        self.seen = [] if seen is None else seen
        self.seen.clear()

    def _is_unchanged_parameter(self, x: Any) -> bool:
        if not isinstance(x, torch.Tensor) or x.is_inference():
            return False
        whole = x if x._base is None else x._base
        return self._versions.get(id(whole)) == whole._version if isinstance(whole, torch.nn.Parameter) else False

    def _leave(self, output: Any) -> None:
        call = self._open.pop()
        leaves = list(tensors_in(output))
        call.hands_on = self._handed_on(call, [x for _, x in leaves])
        if call.hands_on is not None:
            # Compare the inner call's own outputs, as they were before outputs of another run replaced them.
            inner = self.run.calls[call.hands_on]
            call.digest, call.tensors, call.returned = inner.digest, inner.tensors, inner.returned
            call.outputs = [mine._replace(path=path) for mine, (path, _) in zip(inner.outputs, leaves)]
        else:
            call.digest = digest_of(x for _, x in leaves)
            if self.file:
                call.outputs = [Output(path, tuple(x.shape), x.dtype, self.file.add(x)) for path, x in leaves]
            if self.until:
                call.returned = [x.detach().clone() for _, x in leaves]
            if self.forced:
                self._force(call, leaves)
            call.tensors = [(weakref.ref(x), None if x.is_inference() else x._version) for _, x in leaves]
        if call.hands_on is not None and call.is_module and not self.run.calls[call.hands_on].is_module:
            self._standing.setdefault(self.run.calls[call.hands_on].key, call)
        elif call.begin == len(self.run.calls):
            self._expect_gradients(call, [x for _, x in leaves])
        self._returned(call)

    def _returned(self, call: _Call) -> None:
        self.run.place[call.key] = len(self.run.calls)
        self.run.calls.append(call)
        if self.told:
            self.told(len(self.run.calls))
        if call.key == self.until:
            raise Enough

    def _handed_on(self, call: _Call, tensors: list[torch.Tensor]) -> int | None:
        for n in reversed(range(call.begin, len(self.run.calls))):
            inner = self.run.calls[n].tensors
            if len(inner) == len(tensors) > 0 and all(
                r() is x and (x.is_inference() or v == x._version) for x, (r, v) in zip(tensors, inner)
            ):
                return n
        return None

    # ---- Gradients ----

    def differentiate(self, loss: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Computes the loss, as a call of its own, and then the gradients."""
        name = getattr(loss, "__name__", type(loss).__name__)
        with self, torch._C.DisableTorchFunction():
            self._enter("(loss)", name if name.isidentifier() else "loss", (arguments, {}), False)
        value = None
        try:
            with self:
                value = loss(*arguments)
        finally:
            with torch._C.DisableTorchFunction():
                self._leave(value)
        checked = checked_loss(value)
        self.run.loss = float(checked.detach())
        self._differentiates = True
        checked.backward()

    def forget(self) -> None:
        """Drops references that would keep the model and autograd's graph in memory."""
        for call in self.run.calls:
            call.sources, call.module = [], None

    def _arguments(self, key: Key, args: Any, kwargs: Any) -> list[_Source]:
        """Returns the arguments of a call that have gradients."""
        given = [*tensors_in(args), *tensors_in(kwargs)]
        digests = {path: digest_of([x]) for path, x in given if not self._is_unchanged_parameter(x)}
        is_linear = key.operation in _EACH_LINEAR
        found: list[_Source] = []
        for path, x in given:
            if x.requires_grad:
                others = digest_of(digest for other, digest in digests.items() if not is_linear or other != path)
                found.append(self._source(key.name, path, x, others, key.operation in _WEIGHTED and path == "[1]"))
        activations = [source for source in found if source.product == "dgrad"]
        if len(activations) == 1:
            activations[0].path = ""
        return found

    def _source(self, layer: str, path: str, x: torch.Tensor, others: bytes, is_weight: bool = False) -> _Source:
        edge = tuple(torch.autograd.graph.get_gradient_edge(x)[:2])
        parameter = x if x._base is None else x._base
        if isinstance(parameter, torch.nn.Parameter):
            return _Source("wgrad", self._named(parameter, layer) or path, edge, others, parameter)
        return _Source(*(("wgrad", ".weight") if is_weight else ("dgrad", path)), edge, others)

    def _named(self, parameter: torch.nn.Parameter, layer: str) -> str:
        """Returns a parameter's name, from a dot on if it is the layer's own, otherwise in brackets."""
        name = self._parameters.get(id(parameter))
        if name is None:
            return ""
        prefix = f"{layer}." if layer else ""
        return f".{name[len(prefix) :]}" if name.startswith(prefix) else f"[{name}]"

    def _expect_gradients(self, call: _Call, outputs: list[torch.Tensor]) -> None:
        """Registers hooks that see the gradients of a call's outputs and inputs."""
        if call.module is not None:
            others = digest_of(source.others for source in call.sources)
            own = [x for x in call.module.parameters() if x.requires_grad]
            call.sources += [self._source(call.key.name, "", x, others) for x in own]
        sources = {source.edge: source for source in reversed(call.sources)}
        nodes = [x.grad_fn for x in outputs if x.grad_fn is not None and x.grad_fn._sequence_nr() >= call.first_node]
        for node in dict.fromkeys(nodes):
            node.register_prehook(partial(self._arrives, call))
        found = set()
        while sources and nodes:
            node = nodes.pop()
            if node in found or node._sequence_nr() < call.first_node:
                continue
            found.add(node)
            edges = {n: sources[edge] for n, edge in enumerate(node.next_functions) if edge in sources}
            nodes += [other for n, (other, _) in enumerate(node.next_functions) if other is not None and n not in edges]
            if edges:
                node.register_hook(partial(self._flows, call, edges))
            for source in edges.values():
                source.edges += 1

    def _arrives(self, call: _Call, gradients: tuple[torch.Tensor | None, ...]) -> None:
        if not self._differentiates:  # the model itself computes gradients
            return
        if self.until is not None and any(self._key_of(call, source) == self.until for source in call.sources):
            self._look()
        call.arrived = digest_of([call.arrived, *gradients])

    def _flows(self, call: _Call, edges: dict[int, _Source], gradients: Any, arrived: Any) -> Any:
        """Records the gradients that a node of a call has computed. Returns their replacements if the gradients of
        another run are forced."""
        if not self._differentiates:
            return None
        replaced = list(gradients)
        for n, source in edges.items():
            x = gradients[n]
            source.edges -= 1
            if x is None:
                continue
            source.total = x if source.total is None else source.total + x
            if self.forced:
                replaced[n] = torch.zeros_like(x) if source.edges else self._wanted(self._key_of(call, source), x)
            if source.edges == 0:
                self._gradient(call, source)
        return tuple(replaced) if self.forced else None

    def _key_of(self, call: _Call, source: _Source) -> Key:
        return self._standing.get(call.key, call).key._replace(product=source.product, of=source.path)

    def _gradient(self, call: _Call, source: _Source) -> None:
        x, source.total = source.total, None
        assert x is not None
        inputs = digest_of([call.arrived, source.others])
        is_module = self._standing.get(call.key, call).is_module
        digest = self._add_gradient(_Call(self._key_of(call, source), is_module, len(self.run.calls), inputs), x)
        if source.parameter is not None:
            self._of_weights.setdefault(id(source.parameter), []).append(digest)

    def _add_gradient(self, call: _Call, x: torch.Tensor) -> bytes:
        call.digest = digest_of([x])
        if self.file:
            call.outputs = [Output("", tuple(x.shape), x.dtype, self.file.add(x))]
        if self.until:
            call.returned = [x.detach().clone()]
        self._returned(call)
        return call.digest

    def sum_up(self, model: torch.nn.Module) -> None:
        """Adds the whole gradients of parameters that several calls use, or that operations outside the recorded calls use."""
        for name, x in model.named_parameters():
            parts = self._of_weights.get(id(x), [])
            if x.grad is not None and len(parts) != 1:
                layer, _, own = name.rpartition(".")
                # Without parts the operands are not known. The gradient itself then serves as the input, so that a
                # difference counts as inherited.
                inputs = digest_of(parts or [x.grad])
                self._add_gradient(
                    _Call(Key(layer, "sum", 1, "wgrad", f".{own}"), False, len(self.run.calls), inputs), x.grad
                )

    def _wanted(self, key: Key, x: torch.Tensor) -> torch.Tensor:
        assert self.forced
        other, file = self.forced[0].get(key), self.forced[1]
        if other is None or other.outputs[0].shape != tuple(x.shape) or x.dtype.is_complex:
            return x
        return file.read(other.outputs[0], 0, x.numel()).reshape(x.shape).to(x.dtype)

    def _force(self, call: _Call, leaves: list[tuple[str, torch.Tensor]]) -> None:
        assert self.forced
        other, file = self.forced[0].get(call.key), self.forced[1]
        for (path, x), theirs in zip(leaves, other.outputs if other else []):
            if (path, tuple(x.shape)) == (theirs.path, theirs.shape) and not x.dtype.is_complex:
                wanted = file.read(theirs, 0, x.numel()).reshape(x.shape).to(x.dtype)
                if not torch.equal(x, wanted):
                    for axis, stride in enumerate(x.stride()):  # an expanded axis is stored as one element
                        if stride == 0 and x.shape[axis] > 1:
                            x, wanted = x.narrow(axis, 0, 1), wanted.narrow(axis, 0, 1)
                    x.data.copy_(wanted)  # the graph of gradients continues through this tensor


@contextmanager
def as_always(seed: int, wide: torch.dtype | None, gradients: bool = False) -> Iterator[None]:
    """Seeds random numbers and turns fused layers off, which hide products; restores both afterwards."""
    numbers, numpy_numbers = random.getstate(), np.random.get_state()
    default, fast = torch.get_default_dtype(), torch.backends.mha.get_fastpath_enabled()
    with torch.random.fork_rng(devices=[]), torch.set_grad_enabled(gradients):
        torch.default_generator.manual_seed(seed)
        random.seed(seed)
        np.random.seed(seed % 2**32)
        torch.backends.mha.set_fastpath_enabled(False)
        if wide == torch.float64:
            torch.set_default_dtype(wide)
        try:
            yield
        finally:
            torch.set_default_dtype(default)
            torch.backends.mha.set_fastpath_enabled(fast)
            np.random.set_state(numpy_numbers)
            random.setstate(numbers)
