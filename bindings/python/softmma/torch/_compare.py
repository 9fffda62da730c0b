"""Compares runs of one network under several targets, in FP32 and in FP64, layer by layer."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from softmma._products import products_seen
from softmma._trace import Trace, trace
from softmma._units import Instruction, instructions
from softmma.torch._divergence import FP32, FP64, Difference, Divergence, Layer, LayerTrace, Ranking, worst
from softmma.torch._emulate import Emulation, Wrapped, emulate
from softmma.torch._record import (
    Enough,
    File,
    Key,
    LossError,
    Output,
    Recorder,
    Run,
    as_always,
    converted,
    count_of,
    mapped,
    state_of,
    tensors_in,
)
from softmma.torch._report import Report

CHUNK = 1 << 20
"""Number of elements of a tensor that are compared at a time."""

# ---- Targets ----


class Target(NamedTuple):
    """The arguments of `emulate`, or an emulation that it returned; each run uses a copy."""

    label: str
    arguments: tuple[tuple[Any, ...], dict[str, Any]] | Emulation


def targets_of(on: Any) -> list[Target]:
    if isinstance(on, (Mapping, str, Instruction, Emulation)):
        on = [on]
    if not isinstance(on, Sequence) or not on:
        raise ValueError(f"on is {on!r}: it lists targets, as {_TARGETS}")
    found: list[Target] = []
    for each in on:
        for label, what in each.items() if isinstance(each, Mapping) else [(None, each)]:
            found.append(_target(label, what))
    named: list[Target] = []
    for target in found:
        if target.label in (FP32, FP64):
            raise ValueError(f"on: {target.label} runs anyway; give the target another label")
        taken = {other.label for other in named}
        labels = (f"{target.label} ({n})" if n > 1 else target.label for n in itertools.count(1))
        named.append(target._replace(label=next(label for label in labels if label not in taken)))
    return named


_TARGETS = '"H100", ("H100", "fp8_delayed"), ("H100", {"weights": "e4m3"}) or {label: any of these}'


def _target(label: str | None, what: Any) -> Target:
    if isinstance(what, Emulation):
        return Target(label or str(getattr(what, "on", "emulation")), what)
    parts: tuple[Any, ...] = what if isinstance(what, tuple) else (what,)
    named = dict(parts[-1]) if parts and isinstance(parts[-1], Mapping) else {}
    places = parts[:-1] if parts and isinstance(parts[-1], Mapping) else parts
    if not (places or named) or (places and not isinstance(places[0], (str, Instruction))):
        raise TypeError(f"on: {what!r} is no target; it is {_TARGETS}")
    if places and isinstance(places[0], str):
        instructions(places[0])  # raises an error if there is no such GPU
    words = [str(getattr(x, "name", x)) for x in places]
    words += [f"{key}={value if len(str(value)) <= 24 else '...'}" for key, value in named.items()]
    return Target(label or " ".join(words), (places, named))


# ---- Comparing ----


def check_batch(inputs: Any, expected: Any) -> None:
    """Raises TypeError or ValueError for inputs that a model on the CPU cannot be called with."""
    for path, x in (*tensors_in(inputs, "inputs"), *tensors_in(expected, "expected")):
        if x.device.type != "cpu":
            raise ValueError(f"{path} is on {x.device}; emulation is on the CPU: x.cpu()")
    if not isinstance(inputs, (torch.Tensor, tuple, list, Mapping)):
        raise TypeError(
            f"inputs is a {type(inputs).__name__}: it is a tensor, a tuple of the model's arguments, or a mapping "
            "of them by name"
        )


class Comparing:
    """A model and its inputs, which can be run repeatedly with identical results."""

    def __init__(
        self, model: Any, inputs: Any, seed: int, loss: Callable[..., Any] | None = None, expected: Any = None
    ):
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
        check_batch(inputs, expected)
        if loss is None and expected is not None:
            raise ValueError("expected is given without a loss, which compares the model's output with it")
        if loss is not None and not callable(loss):
            raise TypeError(f"loss is a {type(loss).__name__}: it is a function of the model's output, and of expected")
        self.model, self.seed, self.loss = model, seed, loss
        self.inputs, self.expected = self.copy_of(inputs), self.copy_of(expected)

    def copy_of(self, x: Any, wide: torch.dtype | None = None) -> Any:
        """Returns a copy of inputs or expected outputs, as wide as the run is."""

        def copied(x: torch.Tensor) -> torch.Tensor:
            asks = self.loss is not None and x.requires_grad
            return converted(x.detach().clone(), wide).requires_grad_(asks)

        return mapped(x, copied)

    def copied(self, wide: torch.dtype | None, target: Target | None, *others: Any) -> tuple[Any, ...]:
        """Returns copies of the model and the loss, the target's context, and copies of objects that hold their
        parameters. Modules in the target's arguments become those of the copy."""
        # Cached tensors computed from parameters cannot be copied with their graph, which no run needs.
        computed = [x for m in self.model.modules() for _, x in tensors_in(state_of(m)) if not x.is_leaf]
        memo: dict[int, Any] = {id(x): x.detach().clone() for x in computed}
        try:
            model, loss, given, *others = copy.deepcopy(  # type: ignore[assignment]
                (self.model, self.loss, target and target.arguments, *others), memo
            )
        except (RuntimeError, TypeError) as error:
            raise ValueError(f"model cannot be copied, and runs on copies: {_line(error)}") from error
        if wide:
            for each in (model, loss) if isinstance(loss, torch.nn.Module) else (model,):
                each._apply(lambda x: converted(x, wide))
            for module in model.modules():
                for name, value in state_of(module).items():
                    if any(True for _ in tensors_in(value)):
                        vars(module)[name] = mapped(value, lambda x: converted(x, wide))
        context: AbstractContextManager[Any] = nullcontext()
        if given is not None:
            context = given if isinstance(given, Emulation) else emulate(*given[0], **given[1])
        return model, loss, context, *others

    @contextmanager
    def running(
        self, label: str, wide: torch.dtype | None, target: Target | None, context: AbstractContextManager[Any]
    ) -> Iterator[Any]:
        """Enters a target's context with the run's random numbers, and says in errors which run they are of."""
        with ExitStack() as stack:
            stack.enter_context(as_always(self.seed, wide, gradients=self.loss is not None))
            if wide:
                stack.enter_context(torch.autocast("cpu", enabled=False))
            emulation = stack.enter_context(context)
            try:
                yield emulation
            except (Enough, LossError):
                raise
            except Exception as error:
                if target is None:
                    raise RuntimeError(f"the model does not run in {label}: {_line(error)}") from error
                if type(error) in (LookupError, ValueError, TypeError, RuntimeError):
                    raise type(error)(f"{label}: {error}") from error
                raise

    def run(self, label: str, wide: torch.dtype | None, target: Target | None, **how: Any) -> Recorder:
        """Runs copies of the model and inputs once."""
        model, loss, context = self.copied(wide, target)
        if loss is not None and isinstance(context, Emulation):
            context = context.with_statistics()
        inputs, expected = self.copy_of(self.inputs, wide), self.copy_of(self.expected, wide)
        recorder = Recorder(label, model, wide if wide == torch.float64 else None, **how)
        emulation = None
        try:
            with self.running(label, wide, target, context) as emulation:
                with recorder:
                    output = called(model, inputs)
                if loss is not None:
                    recorder.differentiate(loss, (output,) if expected is None else (output, expected))
                    recorder.sum_up(model)
        except Enough:
            pass
        recorder.forget()
        if isinstance(emulation, Emulation):
            recorder.report = emulation.report()
        return recorder


def called(model: torch.nn.Module, inputs: Any) -> Any:
    """Calls a model with a tensor, with a sequence of arguments, or with arguments by name."""
    if isinstance(inputs, Mapping):
        return model(**inputs)
    return model(*(inputs if isinstance(inputs, (tuple, list)) else (inputs,)))


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"


def compare(
    model: torch.nn.Module,
    inputs: Any,
    on: Any,
    *,
    loss: Callable[..., torch.Tensor] | None = None,
    expected: Any = None,
    isolate: bool = False,
    seed: int = 0,
    top: int = 5,
    memory: int = 1 << 30,
    progress: bool = False,
) -> Divergence:
    """Compares a network's runs on several GPUs, layer by layer, with FP32 and FP64 runs, and in the order of outputs.

    ``inputs`` is a tensor, a tuple or list of the model's arguments, or a mapping of arguments by name. ``on`` lists
    targets. A target is what `emulate` takes, alone or as a tuple that may end with a dict of keyword arguments
    ("H100", ("H100", "fp8_delayed"), ("H100", {"weights": "e4m3", "activations": "e4m3"})), an `Instruction` or
    `Custom` unit, an `Emulation`, or a dict of these by label. The FP32 run is PyTorch's own, of a copy in float32. The
    FP64 run is of a copy in float64, and dtypes of float32 and narrower that the model requests become float64.

    A layer is one call of a module, or of a product in a module's code (matmul, attention, convolution, ...), with each
    tensor that it returns. A module that only passes on the tensors of another layer is not listed separately. Layers
    are listed in the order in which they return.

    With ``loss`` the backward passes are compared, too. ``loss(output)``, or ``loss(output, expected)`` if ``expected``
    is given, returns one number for the model's output; it may be a module. A gradient is a row like an output
    (`Layer.product`): "dgrad" is the gradient of an argument that a layer without layers inside returns, and "wgrad"
    that of a parameter. Rows stand in the order in which the run computes them. The targets count what becomes of
    operands (`Divergence.operands`).

    With ``isolate=True`` each layer of each run, also of the FP64 run, gets the inputs it has in the FP32 run, so that
    differences are the layer's own: outputs, and gradients, are replaced after each call.

    Each run is one of a deep copy, without gradients unless there is a loss, in the model's own mode (train, eval), with random numbers from
    ``seed``; the model, its inputs and the generators are not changed. Memory holds one copy of the model at a time, of
    twice the size in FP64, and every layer's outputs of all runs; beyond ``memory`` bytes the outputs go to a temporary
    file.

    ``top`` is the number of an output's greatest elements whose order is compared (`Ranking`). With ``progress`` a line
    on stderr gives the number of calls that have returned, and the time left in the run.

    Raises TypeError and ValueError for an invalid model, input or target, RuntimeError for a model that does not run in
    FP32 or FP64, and any exception of `emulate` and the model.
    """
    targets = targets_of(on)
    if top < 1:
        raise ValueError(f"top is {top}: it is at least 1")
    comparing = Comparing(model, inputs, seed, loss, expected)
    file = File(memory)
    try:
        recorder = comparing.run(FP32, torch.float32, None, file=file)
        fp32, repeats = recorder.run, recorder.repeats
        forced = (fp32, file) if isolate else None
        fp64 = comparing.run(FP64, torch.float64, None, file=file, forced=forced).run
        runs = [fp64, fp32]
        reports: dict[str, Any] = {}
        for target in targets:
            told = progress_of(target.label, len(fp32.calls), "calls") if progress else None
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
    if repeats:
        notes.append(REPEATED)
    return Divergence(
        layers,
        [t.label for t in targets],
        isolate,
        {} if loss is None or isolate else {run.label: run.loss for run in runs},
        rankings,
        order,
        reports,
        notes,
        file.bytes,
        retrace,
    )


REPEATED = (
    "the backward pass repeats layers (checkpoints): their activations are each run's own, and with use_reentrant=True "
    "only whole gradients of their parameters are listed"
)


def progress_of(label: str, total: int, what: str) -> Callable[[int], None]:
    """Returns a function that prints a run's progress on one line, at most twice a second. `total` is the number of
    calls or steps that the run will take, if it takes as many as the FP32 run."""
    start = last = time.monotonic()

    def tell(done: int) -> None:
        nonlocal last
        now = time.monotonic()
        if done >= total or now > last + 0.5:
            last = now
            left = (now - start) / done * max(total - done, 0)
            end = "\n" if done == total else ""
            print(f"\r{label}: {done} of {total} {what}, {left:.0f} s left ", end=end, file=sys.stderr, flush=True)

    return tell


def outside(reports: Mapping[str, Report]) -> list[str]:
    """Returns a note for each target that left products to PyTorch."""
    found = []
    for label, report in reports.items():
        outside: Counter[str] = Counter()
        for row in report.outside:
            if row.why != "skipped":
                outside[f"{row.operation} ({row.why})"] += row.calls
        if outside:
            calls = ", ".join(f"{what}: {n}" for what, n in outside.items())
            found.append(f"{label}: calls outside of the unit: {calls}")
    return found


def _notes(fp64: Run, reports: Mapping[str, Report]) -> list[str]:
    found = outside(reports)
    for call in fp64.calls:
        for output in call.outputs:
            if output.dtype.is_floating_point and output.dtype != torch.float64 and call.is_module:
                name = f"{call.key[0] or '(model)'}{output.path}"
                found.append(f"the FP64 run returns {str(output.dtype).removeprefix('torch.')} from {name}")
    return found


# ---- Layers ----


def _kept(runs: Sequence[Run]) -> list[Key]:
    """Returns the calls that the table lists. If a module returns the result of a product unchanged, the module is
    listed instead of the product. If nested modules return the same tensors, only the inner module is listed."""
    dropped: Counter[Key] = Counter()
    total: Counter[Key] = Counter()
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


def _layers(runs: Sequence[Run], file: File) -> list[Layer]:
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


def _cause(x: Run, y: Run, key: Key, kept: set[Key]) -> str:
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
    key: Key,
    is_module: bool,
    path: str,
    labels: list[str],
    tensors: dict[str, Output],
    cause: dict[tuple[str, str], str],
    file: File,
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
                why = "equal"  # equal here: another tensor of the same output differs
        elif (x in tensors) != (y in tensors):
            why = "missing"
        causes[x, y] = why
    dtype = str((of_targets or [own])[0].dtype).removeprefix("torch.")
    name, operation, n, product, of = key
    return Layer(
        name, n, operation, is_module, of or path, own.shape, dtype, nan, infinite, difference, causes, product
    )


@dataclasses.dataclass
class _Sum:
    """The difference of two tensors, accumulated so far."""

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
    file: File, tensors: dict[str, Output]
) -> tuple[dict[tuple[str, str], Difference], dict[str, int], dict[str, int]]:
    """Compares every two of these tensors, which have the same shape, `CHUNK` elements at a time. Also counts NaN and
    infinities."""
    sums = {pair: _Sum() for pair in combinations(tensors, 2)}
    nan, infinite = Counter(dict.fromkeys(tensors, 0)), Counter(dict.fromkeys(tensors, 0))
    one = next(iter(tensors.values()))
    size = count_of(one)
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


def _rankings(runs: Sequence[Run], file: File, top: int) -> tuple[list[Ranking], dict[str, dict[str, NDArray[Any]]]]:
    """Ranks the model's own outputs, if they have a last axis of at least two elements."""
    found: list[Ranking] = []
    orders: dict[str, dict[str, NDArray[Any]]] = {}
    returned: dict[str, dict[str, Output]] = {}
    for run in runs:
        for call in run.calls:
            if call.is_module and call.key.name == "" and call.key.product == "forward":  # the model itself
                returned[run.label] = {x.path: x for x in call.outputs}
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
    comparing: Comparing,
    isolate: bool,
    targets: dict[str, Target],
    runs: dict[str, Run],
    layer: Layer,
    pair: tuple[str, str],
) -> LayerTrace:
    """Runs both targets again until this call has returned, and records the products that their units compute in it."""
    key = Key(layer.name, layer.operation, layer.call)
    if layer.product != "forward":
        key = key._replace(product=layer.product, of=layer.output)
    cause = layer.cause[pair]
    why = {
        "own": "its inputs have the same bits in both, so the difference is this layer's own",
        "inside": "its inputs have the same bits in both; the difference begins in a layer inside it",
        "inherited": "its inputs differ already, so the difference is not this layer's alone",
    }.get(cause, "")
    if cause in ("missing", "shape"):
        return LayerTrace(layer, pair, cause, f"cannot be traced: {cause}")
    file = File(1 << 30)
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
        is_gradient = key.product != "forward"
        output = again.returned[0 if is_gradient else [x.path for x in before.outputs].index(layer.output)]
        inner = again if again.hands_on is None else recorder.run.calls[again.hands_on]
        seen, function = recorder.seen, "" if inner.is_module else inner.key.operation
        if is_gradient:
            seen, function = _of_gradient(seen, output), "mm"
        found.append((seen, output, function))
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
    different = [n for n, ((_, d), (_, e)) in enumerate(zip(seen, other)) if d.tobytes() != e.tobytes()]
    product = different[0] if different else 0
    at = None
    if all(_in_order(function, d, output) for _, d in seen):
        flat = worst(output.double().numpy(), other_output.double().numpy())
        at = tuple(map(int, np.unravel_index(flat, tuple(output.shape))))
        here = [n for n in different if np.ravel(seen[n][1])[flat].tobytes() != np.ravel(other[n][1])[flat].tobytes()]
        product = here[0] if here else product
    else:
        flat = worst(seen[product][1], other[product][1])
    element = tuple(map(int, np.unravel_index(flat, np.shape(seen[product][1]))))
    rows = [_row(arguments, d, element) for arguments, d in (seen[product], other[product])]
    traced, same = _trace_of([dict(row) for row in rows], pair)
    return LayerTrace(layer, pair, cause, why, at, product, len(seen), element, same, traced, tuple(rows))


def _of_gradient(seen: list[Any], gradient: torch.Tensor) -> list[Any]:
    """Returns the product of a node that a gradient comes from, or all products if no product has the gradient's size.

    If several products have this size (square weights), their sorted elements are compared with those of the gradient
    by direction, because scale factors act after a product, and convolutions rearrange it.
    """

    def sorted_elements(x: Any) -> NDArray[Any]:
        found = np.sort(np.nan_to_num(np.ravel(np.asarray(x, np.float64))))
        return found / max(float(np.linalg.norm(found)), 1e-300)

    wanted = sorted_elements(gradient.double().numpy())
    candidates = [each for each in seen if np.size(each[1]) == wanted.size]
    return [max(candidates, key=lambda each: sorted_elements(each[1]) @ wanted)] if candidates else seen


def _in_order(function: str, d: Any, output: torch.Tensor) -> bool:
    """Reports whether a product's elements, in order, are those of the function's output."""
    shape = tuple(output.shape)
    flat = (math.prod(shape[:-1]), *shape[-1:]), (math.prod(shape[:-2]), *shape[-2:])
    if np.shape(d) not in (shape, *flat):
        return False
    # A vector or matrix times a batch is computed as the transposed product of the transposed operands.
    if function == "matmul":
        return np.ndim(d) != 2 or len(shape) < 3 or shape[-1] != shape[-2]
    return function in ("linear", "mm", "bmm", "mv", "addmm", "addmm_", "baddbmm", "baddbmm_", "addmv", "addmv_", "dot")


def _row(arguments: dict[str, Any], d: Any, element: tuple[int, ...]) -> dict[str, Any]:
    """Returns the arguments of a product that computes only one element of this product."""
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
    """Returns one matrix of a batch, whose leading axes broadcast."""
    own = places[len(places) - (x.ndim - 2) :] if x.ndim > 2 else []
    return x[tuple(0 if size == 1 else place for place, size in zip(own, x.shape[:-2]))]  # type: ignore[no-any-return]


# Arguments of a product that change its sum but not its operands.
_OF_THE_SUM = {"out_dtype", "promote_every", "split_k", "alpha", "beta", "scaling", "scale_d"}


def _trace_of(rows: list[dict[str, Any]], pair: tuple[str, str]) -> tuple[Trace, bool]:
    """Traces both targets. If all their arguments are equal, traces them together, which finds the point where their
    sums diverge; otherwise traces each target separately. Also reports whether the operands are equal."""
    units = [row.pop("on") for row in rows]
    plans = [row.pop("plan", None) for row in rows]
    named = [row.pop("instr", None) for row in rows]
    others = {name for name in {**rows[0], **rows[1]} if not _alike(rows[0].get(name), rows[1].get(name))}
    if not others and named[0] == named[1]:
        both = trace(**rows[0], at=(0, 0), on=units, plan=plans, instr=named[0])
        return both._replace(targets=_labelled(both, pair)), True
    each = [trace(**row, at=(0, 0), on=u, plan=p, instr=i) for row, u, p, i in zip(rows, units, plans, named)]
    whole = Trace((0, 0), tuple(t.targets[0] for t in each), None, "", {}, "\n".join(t.text for t in each))
    return whole._replace(targets=_labelled(whole, pair)), others <= _OF_THE_SUM and named[0] == named[1]


def _labelled(traced: Trace, pair: tuple[str, str]) -> Any:
    return tuple(t._replace(label=label) for t, label in zip(traced.targets, pair))


def _alike(x: Any, y: Any) -> bool:
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
    return type(x) is type(y) and bool(np.all(x == y))
