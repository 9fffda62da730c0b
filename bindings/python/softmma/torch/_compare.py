"""Where do two GPUs part? One network under several targets, in FP32 and in FP64, layer by layer."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import itertools
import math
import random
import sys
import tempfile
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.overrides import TorchFunctionMode

from softmma._products import products_seen
from softmma._trace import Trace, trace
from softmma._units import Instruction, instructions
from softmma.torch._divergence import FP32, FP64, Difference, Divergence, Layer, LayerTrace, Ranking, worst
from softmma.torch._emulate import Emulation, emulate
from softmma.torch._report import Report
from softmma.torch._wrapped import Wrapped

CHUNK = 1 << 20
"""Elements of a tensor that are compared at a time."""

_PRODUCTS = {
    "linear", "bilinear", "matmul", "__matmul__", "__rmatmul__", "linalg_matmul", "mm", "bmm", "mv", "dot", "vdot",
    "inner", "addmm", "addmm_", "addbmm", "addbmm_", "baddbmm", "baddbmm_", "addmv", "addmv_", "einsum", "tensordot",
    "chain_matmul", "linalg_multi_dot", "scaled_dot_product_attention", "conv1d", "conv2d", "conv3d",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "lstm", "gru", "rnn_tanh", "rnn_relu", "lstm_cell",
    "gru_cell", "rnn_tanh_cell", "rnn_relu_cell", "_scaled_mm", "_int_mm",
}  # fmt: skip
_NARROW = {"float", "half", "bfloat16"}
_DRAWN = {"rand", "randn", "rand_like", "randn_like", "normal", "bernoulli", "multinomial", "poisson"}
_DRAWN_IN_PLACE = {
    "uniform_", "normal_", "exponential_", "cauchy_", "log_normal_", "geometric_", "bernoulli_", "random_",
}  # fmt: skip
_OF_MODULES = set(vars(torch.nn.Module()))


# ---- What goes in and out ----


def _leaves(x: Any, path: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors of a structure, and where they are in it."""
    if isinstance(x, torch.Tensor):
        yield path, x
    elif isinstance(x, Mapping):
        for key, value in x.items():
            yield from _leaves(value, f"{path}[{key!r}]")
    elif isinstance(x, (tuple, list)):
        names = getattr(x, "_fields", None)
        for n, value in enumerate(x):
            yield from _leaves(value, f"{path}.{names[n]}" if names else f"{path}[{n}]")
    elif dataclasses.is_dataclass(x) and not isinstance(x, type):
        for each in dataclasses.fields(x):
            yield from _leaves(getattr(x, each.name, None), f"{path}.{each.name}")


def _mapped(x: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """A structure with other tensors, and containers of its own."""
    if isinstance(x, torch.Tensor):
        return change(x)
    if isinstance(x, (tuple, list)):
        values = [_mapped(value, change) for value in x]
        return type(x)(*values) if hasattr(x, "_fields") else type(x)(values)
    made: Any = x
    if isinstance(x, Mapping):
        made = copy.copy(x)
        for key, value in x.items():
            made[key] = _mapped(value, change)
    elif dataclasses.is_dataclass(x) and not isinstance(x, type):
        made = copy.copy(x)
        for each in dataclasses.fields(x):
            object.__setattr__(made, each.name, _mapped(getattr(x, each.name), change))
    return made


def _in(x: torch.Tensor, wide: torch.dtype | None) -> torch.Tensor:
    """In a wider dtype; FP8 is what some products take, and in FP64 alone another."""
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
    """PyTorch's, of operands in FP64, which that does not take."""
    d = (a @ b) * scale_a * scale_b
    d = d if bias is None else d + bias
    return d if scale_result is None else d * scale_result


def _bytes(x: torch.Tensor) -> NDArray[np.uint8]:
    """A tensor's elements in order."""
    x = x.detach()
    if x.is_quantized:
        x = x.dequantize()
    x = x.to_dense() if x.layout != torch.strided else x
    x = x.resolve_conj().resolve_neg().contiguous()
    found: NDArray[np.uint8] = (torch.view_as_real(x) if x.is_complex() else x).reshape(-1).view(torch.uint8).numpy()
    return found


def _own(module: torch.nn.Module) -> dict[str, Any]:
    """What a module has beside parameters, buffers, modules and hooks."""
    return {name: value for name, value in vars(module).items() if name not in _OF_MODULES}


def _content(x: Any, seen: set[int]) -> Iterator[Any]:
    """Tensors, arrays and scalars that a value is made of, also those in objects."""
    if x is None or isinstance(x, (torch.Tensor, np.ndarray, bool, int, float, complex, str, torch.dtype)):
        yield x
    elif id(x) not in seen:
        seen.add(id(x))
        if isinstance(x, torch.nn.Module):
            yield from _content([x._buffers, x._modules, _own(x)], seen)
        elif isinstance(x, Mapping):
            yield from (each for item in x.items() for value in item for each in _content(value, seen))
        elif isinstance(x, (tuple, list)):
            yield len(x)
            yield from (each for value in x for each in _content(value, seen))
        elif hasattr(x, "__dict__") and not callable(x):
            yield from _content(vars(x), seen)


def _digest(values: Iterable[Any]) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for x in values:
        if isinstance(x, torch.Tensor):
            digest.update(f"{tuple(x.shape)} {x.dtype};".encode())
            digest.update(_bytes(x).data)
        else:
            digest.update(repr(x).encode() if not isinstance(x, np.ndarray) else x.tobytes())
    return digest.digest()


# ---- One run ----


class _Output(NamedTuple):
    """A tensor that a call returned, and where its bytes begin in the file."""

    path: str
    shape: tuple[int, ...]
    dtype: torch.dtype
    begin: int


_Key = tuple[str, str, int]
"""A call: the module's path, its class or the function in it, and which of its calls."""


@dataclasses.dataclass
class _Call:
    key: _Key
    is_module: bool
    begin: int  # calls that had returned before
    inputs: bytes
    outputs: list[_Output] = dataclasses.field(default_factory=list)
    digest: bytes = b""
    hands_on: int | None = None  # the call inside it whose tensors it returns as they are
    tensors: list[Any] = dataclasses.field(default_factory=list)  # weak references and versions
    returned: list[torch.Tensor] = dataclasses.field(default_factory=list)  # copies, for a trace


@dataclasses.dataclass
class _Run:
    """What one run's calls returned, in the order in which they did."""

    label: str
    calls: list[_Call] = dataclasses.field(default_factory=list)
    place: dict[_Key, int] = dataclasses.field(default_factory=dict)

    def get(self, key: _Key) -> _Call | None:
        return self.calls[self.place[key]] if key in self.place else None


class _Enough(BaseException):
    """The call that was waited for has returned: no exception that a model would handle."""


class _File:
    """Activations: in memory up to a limit, all of them in a temporary file beyond."""

    def __init__(self, most: int):
        self._file = tempfile.SpooledTemporaryFile(max(most, 1))  # noqa: SIM115
        self.bytes = 0

    def add(self, x: torch.Tensor) -> int:
        begin = self.bytes
        self._file.seek(begin)
        self.bytes += self._file.write(_bytes(x).data)
        return begin

    def read(self, output: _Output, first: int, count: int) -> torch.Tensor:
        """Elements of it; complex ones are two numbers."""
        kind = output.dtype if not output.dtype.is_complex else output.dtype.to_real()
        self._file.seek(output.begin + first * kind.itemsize)
        data = bytearray(self._file.read(count * kind.itemsize))
        return torch.frombuffer(data, dtype=kind) if data else torch.empty(0, dtype=kind)

    def close(self) -> None:
        self._file.close()


def _numbers(output: _Output) -> int:
    return math.prod(output.shape) * (2 if output.dtype.is_complex else 1)


class _Recorder(TorchFunctionMode):
    """Sees what a model's modules, and the products in them, get and return.

    With ``wide`` nothing is narrower than that dtype, but random numbers are drawn as without. ``file`` takes the
    outputs; ``forced`` puts another run's outputs in the place of this one's. Behind the call ``until`` the run ends.
    """

    def __init__(
        self,
        label: str,
        model: torch.nn.Module,
        wide: torch.dtype | None = None,
        file: _File | None = None,
        forced: tuple[_Run, _File] | None = None,
        until: _Key | None = None,
        told: Callable[[int], None] | None = None,
    ):
        super().__init__()
        self.run = _Run(label)
        self.wide, self.file, self.forced, self.until = wide, file, forced, until
        self.told = told
        self.report: Report | None = None
        self.seen: list[Any] = []
        self._open: list[_Call] = []
        self._counts: Counter[tuple[str, str]] = Counter()
        self._versions = {id(x): x._version for x in model.parameters() if not x.is_inference()}
        for name, module in model.named_modules():
            if isinstance(module, torch.jit.ScriptModule):
                continue  # has no hooks, and is not looked into
            module.register_forward_pre_hook(partial(self._enter_module, name), with_kwargs=True)
            module.register_forward_hook(self._leave_module, with_kwargs=True, always_call=True)

    # ---- Modules and functions ----

    def _enter_module(self, name: str, module: torch.nn.Module, args: Any, kwargs: Any) -> None:
        with torch._C.DisableTorchFunction():
            self._enter(name, type(module).__name__, (args, kwargs, module), True)

    def _leave_module(self, module: torch.nn.Module, args: Any, kwargs: Any, output: Any) -> None:
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
        """Roundings that the model asks for are left out; which random numbers there are depends on the dtype."""
        if name in _NARROW and args:
            return _in(args[0], self.wide)
        if name not in _DRAWN and name not in _DRAWN_IN_PLACE:
            return None
        if name in ("rand", "randn"):
            kwargs.setdefault("dtype", torch.float32)
        narrow = _mapped(args, lambda x: x.float() if x.dtype == self.wide else x)
        drawn = func(*narrow, **kwargs)
        return args[0].copy_(drawn) if name in _DRAWN_IN_PLACE else _in(drawn, self.wide)

    # ---- Calls ----

    def _enter(self, name: str, operation: str, values: Any, is_module: bool) -> None:
        self._counts[name, operation] += 1
        key = name, operation, self._counts[name, operation]
        # Parameters are the same in all runs, as long as nothing is written to them.
        inputs = _digest(x for x in _content(values, set()) if not self._is_unchanged_parameter(x))
        self._open.append(_Call(key, is_module, len(self.run.calls), inputs))
        if key == self.until:
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
        leaves = list(_leaves(output))
        call.hands_on = self._handed_on(call, [x for _, x in leaves])
        if call.hands_on is not None:  # what that returned counts, before another run's output took its place
            inner = self.run.calls[call.hands_on]
            call.digest, call.tensors, call.returned = inner.digest, inner.tensors, inner.returned
            call.outputs = [mine._replace(path=path) for mine, (path, _) in zip(inner.outputs, leaves)]
        else:
            call.digest = _digest(x for _, x in leaves)
            if self.file:
                call.outputs = [_Output(path, tuple(x.shape), x.dtype, self.file.add(x)) for path, x in leaves]
            if self.until:
                call.returned = [x.detach().clone() for _, x in leaves]
            if self.forced:
                self._force(call, leaves)
            call.tensors = [(weakref.ref(x), None if x.is_inference() else x._version) for _, x in leaves]
        self.run.place[call.key] = len(self.run.calls)
        self.run.calls.append(call)
        if self.told:
            self.told(len(self.run.calls))
        if call.key == self.until:
            raise _Enough

    def _handed_on(self, call: _Call, tensors: list[torch.Tensor]) -> int | None:
        for n in reversed(range(call.begin, len(self.run.calls))):
            inner = self.run.calls[n].tensors
            if len(inner) == len(tensors) > 0 and all(
                r() is x and (x.is_inference() or v == x._version) for x, (r, v) in zip(tensors, inner)
            ):
                return n
        return None

    def _force(self, call: _Call, leaves: list[tuple[str, torch.Tensor]]) -> None:
        assert self.forced
        other, file = self.forced[0].get(call.key), self.forced[1]
        for (path, x), theirs in zip(leaves, other.outputs if other else []):
            if (path, tuple(x.shape)) == (theirs.path, theirs.shape) and not x.dtype.is_complex:
                wanted = file.read(theirs, 0, x.numel()).reshape(x.shape).to(x.dtype)
                if not torch.equal(x, wanted):
                    for axis, stride in enumerate(x.stride()):  # an expanded axis is one element
                        if stride == 0 and x.shape[axis] > 1:
                            x, wanted = x.narrow(axis, 0, 1), wanted.narrow(axis, 0, 1)
                    x.data.copy_(wanted)  # a graph of gradients goes on through it


@contextmanager
def _as_always(seed: int, wide: torch.dtype | None) -> Iterator[None]:
    """Random numbers of a seed, no fused layers that hide theirs; all as it was behind it."""
    numbers, numpy_numbers = random.getstate(), np.random.get_state()
    default, fast = torch.get_default_dtype(), torch.backends.mha.get_fastpath_enabled()
    with torch.random.fork_rng(devices=[]), torch.no_grad():
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


# ---- Targets ----


class _Target(NamedTuple):
    """What `emulate` is called with, or what it has returned, of which runs use copies."""

    label: str
    arguments: tuple[tuple[Any, ...], dict[str, Any]] | Emulation


def _targets(on: Any) -> list[_Target]:
    if isinstance(on, (Mapping, str, Instruction, Emulation)):
        on = [on]
    if not isinstance(on, Sequence) or not on:
        raise ValueError(f"on is {on!r}: it lists targets, as {_TARGETS}")
    found: list[_Target] = []
    for each in on:
        for label, what in each.items() if isinstance(each, Mapping) else [(None, each)]:
            found.append(_target(label, what))
    named: list[_Target] = []
    for target in found:
        if target.label in (FP32, FP64):
            raise ValueError(f"on: {target.label} runs anyway; give the target another label")
        taken = {other.label for other in named}
        labels = (f"{target.label} ({n})" if n > 1 else target.label for n in itertools.count(1))
        named.append(target._replace(label=next(label for label in labels if label not in taken)))
    return named


_TARGETS = '"H100", ("H100", "fp8_delayed"), ("H100", {"weights": "e4m3"}) or {label: any of these}'


def _target(label: str | None, what: Any) -> _Target:
    if isinstance(what, Emulation):
        return _Target(label or str(getattr(what, "on", "emulation")), what)
    parts: tuple[Any, ...] = what if isinstance(what, tuple) else (what,)
    named = dict(parts[-1]) if parts and isinstance(parts[-1], Mapping) else {}
    places = parts[:-1] if parts and isinstance(parts[-1], Mapping) else parts
    if not (places or named) or (places and not isinstance(places[0], (str, Instruction))):
        raise TypeError(f"on: {what!r} is no target; it is {_TARGETS}")
    if places and isinstance(places[0], str):
        instructions(places[0])  # raises if there is no such GPU
    words = [str(getattr(x, "name", x)) for x in places]
    words += [f"{key}={value if len(str(value)) <= 24 else '...'}" for key, value in named.items()]
    return _Target(label or " ".join(words), (places, named))


# ---- Comparing ----


class _Comparing:
    """A model and inputs that can be run again, the same each time."""

    def __init__(self, model: Any, inputs: Any, seed: int):
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"model is a {type(model).__name__}: compare takes a torch.nn.Module")
        if isinstance(model, Wrapped):
            raise TypeError("model is emulated already: compare takes what is in it, model.module")
        for wrapper in ("_orig_mod", "module"):  # torch.compile's; DistributedDataParallel's and DataParallel's
            kind = type(model).__name__
            if kind in ("OptimizedModule", "DistributedDataParallel", "DataParallel") and hasattr(model, wrapper):
                model = getattr(model, wrapper)
        if isinstance(model, torch.jit.ScriptModule):
            raise TypeError("model is TorchScript, whose layers cannot be seen: compare takes the module it is made of")
        for name, x in (*model.named_parameters(), *model.named_buffers()):
            if x.device.type != "cpu":
                raise ValueError(f"model: {name} is on {x.device}; emulation is on the CPU: model.cpu()")
        for path, x in _leaves(inputs):
            if x.device.type != "cpu":
                raise ValueError(f"inputs{path} is on {x.device}; emulation is on the CPU: x.cpu()")
        if not isinstance(inputs, (torch.Tensor, tuple, list, Mapping)):
            raise TypeError(
                f"inputs is a {type(inputs).__name__}: it is a tensor, a tuple of the model's arguments, or a mapping "
                "of them by name"
            )
        self.model, self.seed = model, seed
        self.inputs = _mapped(inputs, lambda x: x.detach().clone())

    def run(self, label: str, wide: torch.dtype | None, target: _Target | None, **how: Any) -> _Recorder:
        """One run, on copies. Modules that the target's arguments name become the copy's."""
        # What was computed of parameters and kept cannot be copied with its graph, which no run needs.
        computed = [x for m in self.model.modules() for _, x in _leaves(_own(m)) if not x.is_leaf]
        memo: dict[int, Any] = {id(x): x.detach().clone() for x in computed}
        try:
            model, given = copy.deepcopy((self.model, target and target.arguments), memo)
        except (RuntimeError, TypeError) as error:
            raise ValueError(f"model cannot be copied, and runs on copies: {_line(error)}") from error
        inputs = _mapped(self.inputs, lambda x: _in(x.clone(), wide))
        if wide:
            model._apply(lambda x: _in(x, wide))
            for module in model.modules():
                for name, value in _own(module).items():
                    if any(True for _ in _leaves(value)):
                        vars(module)[name] = _mapped(value, lambda x: _in(x, wide))
        context: AbstractContextManager[Any] = nullcontext()
        if given is not None:
            context = given if isinstance(given, Emulation) else emulate(*given[0], **given[1])
        recorder = _Recorder(label, model, wide if wide == torch.float64 else None, **how)
        with ExitStack() as stack:
            stack.enter_context(_as_always(self.seed, wide))
            if wide:
                stack.enter_context(torch.autocast("cpu", enabled=False))
            emulation = stack.enter_context(context)
            stack.enter_context(recorder)
            try:
                if isinstance(inputs, Mapping):
                    model(**inputs)
                else:
                    model(*(inputs if isinstance(inputs, (tuple, list)) else (inputs,)))
            except _Enough:
                pass
            except Exception as error:
                if target is None:
                    raise RuntimeError(f"the model does not run in {label}: {_line(error)}") from error
                if type(error) in (LookupError, ValueError, TypeError, RuntimeError):
                    raise type(error)(f"{label}: {error}") from error
                raise
        if isinstance(emulation, Emulation):
            recorder.report = emulation.report()
        return recorder


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"


def compare(
    model: torch.nn.Module,
    inputs: Any,
    on: Any,
    *,
    isolate: bool = False,
    seed: int = 0,
    top: int = 5,
    memory: int = 1 << 30,
    progress: bool = False,
) -> Divergence:
    """Where a network's runs on several GPUs part: layer by layer, against FP32 and FP64, and in the order of outputs.

    ``inputs`` is a tensor, a tuple or list of the model's arguments, or a mapping of them by name. ``on`` lists
    targets: what `emulate` is called with, alone or as a tuple that a dict of keyword arguments may end ("H100",
    ("H100", "fp8_delayed"), ("H100", {"weights": "e4m3", "activations": "e4m3"})), an `Instruction` or `Custom` unit,
    an `Emulation`, or a dict of these by labels. FP32 is PyTorch's own run, of a copy in float32; FP64 that of a copy
    in float64, in which the dtypes of float32 and less that the model asks for are float64 as well.

    A layer is a call of a module, as often as there are calls, or a product in a module's code (matmul, attention,
    convolution, ...), each with every tensor that it returns. What hands on the tensors of another as they are is not
    listed beside it. They stand in the order in which they return.

    With ``isolate=True`` each layer of each run, FP64's as well, gets what it gets in the FP32 run, so that differences
    are its own: outputs are put right behind each call.

    Each run is one of a deep copy, without gradients, in the model's own mode (train, eval) with random numbers of the
    ``seed``: the model, its inputs and the generators stay as they were. Needed are one copy of the model at a time, in
    FP64 twice its size, and every layer's outputs of all runs, which beyond ``memory`` bytes go to a temporary file.

    ``top`` is how many of an output's greatest elements count for its order (`Ranking`). With ``progress`` a line on
    stderr says how many calls of the run have returned, and the time left for it.

    Raises TypeError and ValueError for what is no model, no input or no target, RuntimeError for a model that does not
    run in FP32 or FP64, and what `emulate` and the model raise.
    """
    targets = _targets(on)
    if top < 1:
        raise ValueError(f"top is {top}: it is at least 1")
    comparing = _Comparing(model, inputs, seed)
    file = _File(memory)
    try:
        fp32 = comparing.run(FP32, torch.float32, None, file=file).run
        forced = (fp32, file) if isolate else None
        fp64 = comparing.run(FP64, torch.float64, None, file=file, forced=forced).run
        runs = [fp64, fp32]
        reports: dict[str, Any] = {}
        for target in targets:
            told = _progress(target.label, len(fp32.calls)) if progress else None
            recorder = comparing.run(target.label, None, target, file=file, forced=forced, told=told)
            runs.append(recorder.run)
            reports[target.label] = recorder.report
        layers = _layers(runs, file)
        if not layers:
            raise ValueError(
                "the model returns no tensors, and nothing that it calls does: there is nothing to compare"
            )
        rankings, order = ([], {}) if isolate else _rankings(runs, file, top)
    finally:
        file.close()
    retrace = partial(_retrace, comparing, isolate, {t.label: t for t in targets}, {r.label: r for r in runs})
    notes = _notes(fp64, reports)
    return Divergence(layers, [t.label for t in targets], isolate, rankings, order, reports, notes, file.bytes, retrace)


def _progress(label: str, calls: int) -> Callable[[int], None]:
    """Tells how far a run is, in one line, at most once in half a second; the FP32 run had so many calls."""
    start = last = time.monotonic()

    def tell(done: int) -> None:
        nonlocal last
        now = time.monotonic()
        if done >= calls or now > last + 0.5:
            last = now
            left = (now - start) / done * max(calls - done, 0)
            end = "\n" if done == calls else ""
            print(f"\r{label}: {done} of {calls} calls, {left:.0f} s left ", end=end, file=sys.stderr, flush=True)

    return tell


def _notes(fp64: _Run, reports: Mapping[str, Report]) -> list[str]:
    found = []
    for label, report in reports.items():
        outside: Counter[str] = Counter()
        for row in report.outside:
            if row.why != "skipped":
                outside[f"{row.operation} ({row.why})"] += row.calls
        if outside:
            calls = ", ".join(f"{what}: {n}" for what, n in outside.items())
            found.append(f"{label}: calls outside of the unit: {calls}")
    for call in fp64.calls:
        for output in call.outputs:
            if output.dtype.is_floating_point and output.dtype != torch.float64 and call.is_module:
                name = f"{call.key[0] or '(model)'}{output.path}"
                found.append(f"the FP64 run returns {str(output.dtype).removeprefix('torch.')} from {name}")
    return found


# ---- Layers ----


def _kept(runs: Sequence[_Run]) -> list[_Key]:
    """Calls that have a row: of a module and a product whose tensors it returns the module, of modules the inner."""
    dropped: Counter[_Key] = Counter()
    total: Counter[_Key] = Counter()
    for run in runs:
        total.update(run.place.keys())
        gone = set()
        for call in run.calls:
            if call.hands_on is not None:
                inner = run.calls[call.hands_on]
                gone.add(call.key if inner.is_module else inner.key)
        dropped.update(gone)
    keys = dict.fromkeys(call.key for run in (*runs[1:], runs[0]) for call in run.calls)
    return [key for key in keys if dropped[key] < total[key]]


def _layers(runs: Sequence[_Run], file: _File) -> list[Layer]:
    keys = _kept(runs)
    kept = set(keys)
    labels = [run.label for run in runs]
    layers = []
    for key in keys:
        calls = {run.label: call for run in runs if (call := run.get(key)) is not None}
        cause = {}
        for x, y in combinations(runs[2:], 2):
            cause[x.label, y.label] = cause[y.label, x.label] = _cause(x, y, key, kept)
        paths = dict.fromkeys(output.path for call in calls.values() for output in call.outputs)
        for path in paths:
            tensors = {label: output for label, call in calls.items() for output in call.outputs if output.path == path}
            is_module = next(iter(calls.values())).is_module
            layers.append(_layer(key, is_module, path, labels, tensors, cause, file))
    return layers


def _cause(x: _Run, y: _Run, key: _Key, kept: set[_Key]) -> str:
    mine, theirs = x.get(key), y.get(key)
    if mine is None or theirs is None:
        return "equal" if mine is theirs else "missing"
    if mine.digest == theirs.digest:
        return "equal"
    if mine.inputs != theirs.inputs:
        return "inherited"
    for inner in x.calls[mine.begin : x.place[key]]:
        other = y.get(inner.key)
        if inner.key in kept and (other is None or other.digest != inner.digest):
            return "inside"
    return "own"


def _layer(
    key: _Key,
    is_module: bool,
    path: str,
    labels: list[str],
    tensors: dict[str, _Output],
    cause: dict[tuple[str, str], str],
    file: _File,
) -> Layer:
    own = tensors.get(labels[1]) or next(iter(tensors.values()))
    of_targets = [tensors[label] for label in labels[2:] if label in tensors]
    comparable = [label for label, output in tensors.items() if output.shape == own.shape]
    difference, nan, infinite = _differences(file, {label: tensors[label] for label in comparable})
    causes = {}
    for (x, y), why in cause.items():
        if x in tensors and y in tensors:
            found = difference.get((x, y))
            if tensors[x].dtype != tensors[y].dtype or tensors[x].shape != tensors[y].shape:
                why = "shape"
            elif found is not None and found.differ == 0:
                why = "equal"  # another tensor of the output differs
        elif (x in tensors) != (y in tensors):
            why = "missing"
        causes[x, y] = why
    dtype = str((of_targets or [own])[0].dtype).removeprefix("torch.")
    name, operation, n = key
    return Layer(name, n, operation, is_module, path, own.shape, dtype, nan, infinite, difference, causes)


@dataclasses.dataclass
class _Sum:
    """A difference so far."""

    differ: int = 0
    greatest: float = 0.0
    at: int | None = None
    squares: float = 0.0
    of_x: float = 0.0
    of_y: float = 0.0
    left_out: int = 0

    def add(self, first: int, bits: NDArray[np.bool_], x: NDArray[Any], y: NDArray[Any]) -> None:
        finite = np.isfinite(x) & np.isfinite(y)
        self.differ += int(bits.sum())
        self.left_out += int(finite.size - finite.sum())
        if not finite.all():
            x, y = np.where(finite, x, 0), np.where(finite, y, 0)
        distance = np.abs(x - y)
        at = int(np.argmax(distance))
        if distance[at] > self.greatest:
            self.greatest, self.at = float(distance[at]), first + at
        self.squares += float(np.sum(np.square(distance)))
        self.of_x += float(np.sum(np.square(x)))
        self.of_y += float(np.sum(np.square(y)))

    def found(self, shape: tuple[int, ...], of: float) -> Difference:
        relative = 0.0 if self.squares == 0 else math.inf if of == 0 else math.sqrt(self.squares / of)
        at = None if self.at is None or math.prod(shape) == 0 else tuple(map(int, np.unravel_index(self.at, shape)))
        return Difference(self.differ, self.greatest, relative, self.left_out, at)


def _differences(
    file: _File, tensors: dict[str, _Output]
) -> tuple[dict[tuple[str, str], Difference], dict[str, int], dict[str, int]]:
    """Of tensors of one shape every two, a part of the elements at a time."""
    sums = {pair: _Sum() for pair in combinations(tensors, 2)}
    nan, infinite = Counter(dict.fromkeys(tensors, 0)), Counter(dict.fromkeys(tensors, 0))
    one = next(iter(tensors.values()))
    size = _numbers(one)
    with np.errstate(over="ignore"):
        for first in range(0, size, CHUNK):
            parts = {label: file.read(x, first, min(CHUNK, size - first)) for label, x in tensors.items()}
            numbers = {label: part.double().numpy() for label, part in parts.items()}
            for label, values in numbers.items():
                nan[label] += int(np.isnan(values).sum())
                infinite[label] += int(np.isinf(values).sum())
            for (x, y), total in sums.items():
                a, b = parts[x], parts[y]
                same = a.dtype == b.dtype
                bits = (_raw(a) != _raw(b)) if same else numbers[x] != numbers[y]
                total.add(first, bits, numbers[x], numbers[y])
    shape = (*one.shape, 2) if one.dtype.is_complex else one.shape
    found = {}
    for (x, y), total in sums.items():
        found[x, y], found[y, x] = total.found(shape, total.of_y), total.found(shape, total.of_x)
    return found, dict(nan), dict(infinite)


def _raw(x: torch.Tensor) -> NDArray[Any]:
    found: NDArray[Any] = x.view(torch.uint8).numpy().view(f"u{x.element_size()}")
    return found


# ---- The order of outputs ----


def _rankings(runs: Sequence[_Run], file: _File, top: int) -> tuple[list[Ranking], dict[str, dict[str, NDArray[Any]]]]:
    """Of what the model itself returns, where that has a last axis of two elements or more."""
    found: list[Ranking] = []
    orders: dict[str, dict[str, NDArray[Any]]] = {}
    returned = {run.label: {x.path: x for x in run.calls[-1].outputs} for run in runs if run.calls}
    for path, one in returned[runs[1].label].items():
        if not one.dtype.is_floating_point or not one.shape or one.shape[-1] < 2 or not math.prod(one.shape):
            continue
        first = min(top, one.shape[-1])
        order = {}
        for run in runs:
            output = returned[run.label].get(path)
            if output is not None and output.shape == one.shape:
                values = file.read(output, 0, math.prod(one.shape)).reshape(one.shape)
                places = torch.argsort(values, dim=-1, descending=True, stable=True)
                order[run.label] = places[..., :first].clone().numpy()
        orders[path] = order
        for y, x in combinations(order, 2):
            changed = order[x] != order[y]
            best, any_of_top = [
                [tuple(map(int, p)) for p in np.argwhere(c)] for c in (changed[..., 0], changed.any(-1))
            ]
            found.append(Ranking(path, x, y, first, changed[..., 0].size, best, any_of_top))
    return found, orders


# ---- Tracing ----


def _retrace(
    comparing: _Comparing,
    isolate: bool,
    targets: dict[str, _Target],
    runs: dict[str, _Run],
    layer: Layer,
    pair: tuple[str, str],
) -> LayerTrace:
    """Both targets run once more, as far as this call, and what their units compute in it is taken down."""
    key = layer.name, layer.operation, layer.call
    cause = layer.cause[pair]
    why = {
        "own": "its inputs have the same bits in both, so the difference is this layer's own",
        "inside": "its inputs have the same bits in both; a layer inside it parts first",
        "inherited": "its inputs differ already, so the difference is not this layer's alone",
    }.get(cause, "")
    if cause in ("missing", "shape"):
        return LayerTrace(layer, pair, cause, f"cannot be traced: {cause}")
    file = _File(1 << 30)
    forced = (comparing.run(FP32, torch.float32, None, file=file).run, file) if isolate else None
    found = []
    for label in pair:
        token = products_seen.set([])
        try:
            recorder = comparing.run(label, None, targets[label], until=key, forced=forced)
        finally:
            products_seen.reset(token)
        before = runs[label].get(key)
        again = recorder.run.calls[-1] if recorder.run.calls else None
        if before is None or again is None or (again.inputs, again.digest) != (before.inputs, before.digest):
            raise ValueError(f"{layer.title} on {label} is not what it was: the model, or an emulation, has changed")
        output = again.returned[[x.path for x in before.outputs].index(layer.output)]
        inner = again if again.hands_on is None else recorder.run.calls[again.hands_on]
        found.append((recorder.seen, output, "" if inner.is_module else inner.key[1]))
    file.close()
    (seen, output, function), (other, other_output, _) = found
    if not seen or not other:
        return LayerTrace(layer, pair, cause, f"{why}; no product of a unit is computed in it")
    if [d.shape for _, d in seen] != [d.shape for _, d in other]:
        return LayerTrace(
            layer,
            pair,
            cause,
            f"{why}; cannot trace: its products are {len(seen)} and {len(other)}, or of other shapes",
        )
    parting = [n for n, ((_, d), (_, e)) in enumerate(zip(seen, other)) if d.tobytes() != e.tobytes()]
    product = parting[0] if parting else 0
    at = None
    if all(_in_order(function, d, output) for _, d in seen):
        flat = worst(output.double().numpy(), other_output.double().numpy())
        at = tuple(map(int, np.unravel_index(flat, tuple(output.shape))))
        here = [n for n in parting if np.ravel(seen[n][1])[flat].tobytes() != np.ravel(other[n][1])[flat].tobytes()]
        product = here[0] if here else product
    else:
        flat = worst(seen[product][1], other[product][1])
    element = tuple(map(int, np.unravel_index(flat, np.shape(seen[product][1]))))
    rows = [_row(arguments, d, element) for arguments, d in (seen[product], other[product])]
    traced, same = _trace_of(rows, pair)
    return LayerTrace(layer, pair, cause, why, at, product, len(seen), element, same, traced)


def _in_order(function: str, d: Any, output: torch.Tensor) -> bool:
    """Whether the elements of a product, one after the other, are those of the function's output."""
    shape = tuple(output.shape)
    flat = (math.prod(shape[:-1]), *shape[-1:]), (math.prod(shape[:-2]), *shape[-2:])
    if np.shape(d) not in (shape, *flat):
        return False
    # A vector or matrix times a batch is computed as the transposed product of the transposed operands.
    if function == "matmul":
        return np.ndim(d) != 2 or len(shape) < 3 or shape[-1] != shape[-2]
    return function in ("linear", "mm", "bmm", "mv", "addmm", "addmm_", "baddbmm", "baddbmm_", "addmv", "addmv_", "dot")


def _row(arguments: dict[str, Any], d: Any, element: tuple[int, ...]) -> dict[str, Any]:
    """The arguments of a product that makes one element of it alone."""
    given = {name: x for name, x in arguments.items() if name not in ("threads", "kernel")}
    a, b = np.asarray(given["a"]), np.asarray(given["b"])
    row, column = a.ndim > 1, b.ndim > 1
    places = list(element)
    j = places.pop() if column else 0
    i = places.pop() if row else 0
    a, b = a if row else a[None], b if column else b[:, None]
    for name, x in (("a", a), ("scale_a", given.get("scale_a"))):
        if x is not None:
            given[name] = _matrix(np.asarray(x) if np.ndim(x) > 1 else np.asarray(x)[None], places)[i : i + 1]
    for name, x in (("b", b), ("scale_b", given.get("scale_b"))):
        if x is not None:
            given[name] = _matrix(np.asarray(x) if np.ndim(x) > 1 else np.asarray(x)[:, None], places)[:, j : j + 1]
    if given.get("bias") is not None:
        given["bias"] = np.asarray(given["bias"])[j : j + 1]
    if given.get("c") is not None:
        given["c"] = np.broadcast_to(np.asarray(given["c"]), np.shape(d))[element].reshape(1, 1)
    return given


def _matrix(x: NDArray[Any], places: list[int]) -> NDArray[Any]:
    """The matrix of a batch, whose leading axes broadcast."""
    own = places[len(places) - (x.ndim - 2) :] if x.ndim > 2 else []
    return x[tuple(0 if size == 1 else place for place, size in zip(own, x.shape[:-2]))]  # type: ignore[no-any-return]


def _trace_of(rows: list[dict[str, Any]], pair: tuple[str, str]) -> tuple[Trace, bool]:
    """Both at once where they get the same, so that the place is found where the sums part; else each alone."""
    units = [row.pop("on") for row in rows]
    plans = [row.pop("plan", None) for row in rows]
    named = [row.pop("instr", None) for row in rows]
    same = named[0] == named[1] and all(_alike(rows[0].get(name), rows[1].get(name)) for name in {**rows[0], **rows[1]})
    if same:
        both = trace(**rows[0], at=(0, 0), on=units, plan=plans, instr=named[0])
        return both._replace(targets=_labelled(both, pair)), True
    each = [trace(**row, at=(0, 0), on=u, plan=p, instr=i) for row, u, p, i in zip(rows, units, plans, named)]
    whole = Trace((0, 0), tuple(t.targets[0] for t in each), None)
    return whole._replace(targets=_labelled(whole, pair)), False


def _labelled(traced: Trace, pair: tuple[str, str]) -> Any:
    return tuple(t._replace(label=label) for t, label in zip(traced.targets, pair))


def _alike(x: Any, y: Any) -> bool:
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
    return type(x) is type(y) and bool(np.all(x == y))
