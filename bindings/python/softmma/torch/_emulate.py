"""The context inside which products of tensors are emulated."""

from __future__ import annotations

import copy
import functools
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn import Module
from torch.utils._python_dispatch import (
    TorchDispatchMode,
    _get_current_dispatch_mode_stack,
    is_traceable_wrapper_subclass,
)
from torch.utils.weak import WeakTensorKeyDictionary

from softmma._devices import number
from softmma._units import Instruction, chosen
from softmma.recipes import History, Recipe, Statistics, Unit, custom
from softmma.recipes import recipe as named
from softmma.torch import _layers, _threads
from softmma.torch._call import Call, Kind, Place
from softmma.torch._layers import NO_MODULE, Layers, Pattern, patterns
from softmma.torch._library import library
from softmma.torch._operations import EMULATED, outside
from softmma.torch._progress import Progress
from softmma.torch._report import Gradients, Outside, Report
from softmma.torch._roles import Roles
from softmma.torch._rows import Products
from softmma.torch._scaled import SCALED, why_not
from softmma.torch._tensors import is_there

_ADDING = ("addmm", "baddbmm", "addmv", "addbmm")
_REDISPATCHED = torch._C._disabled_torch_dispatch_impl if hasattr(torch._C, "_disabled_torch_dispatch_impl") else None


@dataclass
class _Forward:
    """What is stored at the autograd node of a forward product: its place and the state of its backward pass.

    ``counted``: the product was emulated. ``repeated``: it was emulated within a backward pass, so its own backward
    pass may never come. ``repeats``: its backward pass may repeat forward passes (checkpoints); ``repeating`` holds the
    contexts entered for them. ``seen``: its backward pass has begun.
    """

    place: Place
    counted: bool = False
    repeated: bool = False
    repeats: bool = False
    seen: bool = False
    repeating: list[ExitStack] = field(default_factory=list)


class _Thread(threading.local):
    """State of one thread: its contexts, the results whose autograd nodes do not exist yet, and the operations that
    were passed to tensor subclasses.

    ``tokens`` identify the contexts. A context carried over from another thread has the token of that thread.
    """

    def __init__(self) -> None:
        self.contexts: list[ExitStack] = []
        self.tokens: list[_threads.Token] = []
        self.pending: list[tuple[torch.Tensor, _Forward]] = []
        self.asked: list[Any] = []


class Emulation(TorchDispatchMode):
    """Result of `emulate`: a context manager, a decorator of functions, and a wrapper of modules."""

    supports_higher_order_operators = True

    def __init__(self, **options: Any):
        super().__init__()
        self._options = options
        self.on = options["on"]
        self.strict: bool = options["strict"]
        self.statistics: bool = options["statistics"]
        self.threads: int = options["threads"]
        self.kernel: str | None = options["kernel"]
        self.keep_weights: bool = options["keep_weights"]
        self.attention: str = options["attention"]
        self.attention_blocks: tuple[int, int] | None = options["attention_blocks"]
        self.recipe: Recipe = options["recipe"]
        listed = (self.recipe, *options["layers"].values())
        arguments = {"threads": self.threads, "seed": options["seed"], "kernel": self.kernel}
        units = {recipe: Unit(self.on, recipe, **arguments) for recipe in listed}
        self.unit = units[self.recipe]
        choices: list[tuple[Pattern, Unit | None]] = [(pattern, None) for pattern in options["skip"]]
        choices += [(pattern, units[recipe]) for pattern, recipe in options["layers"].items()]
        self.layers = Layers(options["model"], choices)
        self.roles = Roles()
        self.kinds: dict[Unit, dict[Any, Kind]] = {}
        self.kept = WeakTensorKeyDictionary()  # for each parameter, {key of a view: its prepared operand}
        self._histories: dict[Any, History] = {}
        self._products: dict[Any, Products] = {}
        self._outside: Counter[tuple[str, str, str]] = Counter()
        self._asked = self._seen = 0
        progress = options["progress"]
        self._progress = Progress(None if progress is True else progress) if progress else None
        self._thread = _Thread()
        self._active = 0
        self._lock = threading.RLock()

    def __reduce__(self) -> tuple[Any, ...]:
        """Makes a copy have the same options and empty counts."""
        return _made, (self._options,)

    def __deepcopy__(self, memo: Any) -> Emulation:
        return _made({**self._options, "model": copy.deepcopy(self._options["model"], memo)})

    def with_statistics(self) -> Emulation:
        """Returns a new emulation with the same options that also counts how rounding changes operands."""
        return _made({**self._options, "statistics": True})

    # ---- Context, decorator, wrapper ----

    def __enter__(self) -> Emulation:
        self._enter(_threads.Token())
        return self

    def _enter(self, token: _threads.Token) -> None:
        _threads.watch()
        self._thread.tokens.append(token)
        self._thread.contexts.append(self._watching())
        with self._lock:
            self._active += 1
        super().__enter__()

    def carried(self) -> list[Callable[[], Any]]:
        """Returns what another thread has to enter to be in this thread's innermost context."""
        return [functools.partial(self._within, self._thread.tokens[-1])] if self._thread.tokens else []

    @contextmanager
    def _within(self, token: _threads.Token) -> Iterator[None]:
        if not token.open:
            yield
            return
        self._enter(token)
        try:
            yield
        finally:
            self._exit()

    def _watching(self) -> ExitStack:
        """Watches modules and turns PyTorch's fused forms off, until the result is closed."""
        stack = ExitStack()
        stack.enter_context(library.set(self.attention))
        _layers.watch(self)
        stack.callback(_layers.unwatch, self)
        stack.callback(_layers.forget, _layers.depth())
        return stack

    def __exit__(self, *exception: object) -> None:
        self._thread.tokens[-1].open = False
        self._exit()
        if self.layers.unused and self._products and exception[:1] == (None,) and not self._active:
            warnings.warn(f"no module answers to {self.layers.unused_text()}", RuntimeWarning, stacklevel=2)

    def _exit(self) -> None:
        super().__exit__(None, None, None)
        self._mark()
        self._thread.tokens.pop()
        _threads.unwatch()
        self._thread.contexts.pop().close()
        with self._lock:
            self._active -= 1
            if self._active:
                return
            self.kept.clear()
            if self._seen == self._asked:
                self.roles.clear()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Decorates a function: its products are emulated."""
        if isinstance(function, Module):
            return self.wrap(function)

        @functools.wraps(function)
        def emulated(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return emulated

    def wrap(self, model: Module) -> Wrapped:
        """Returns a module that runs ``model`` inside this context, forward and backward (see `Wrapped`)."""
        self.layers.learn(model)
        return Wrapped(model, self)

    def report(self) -> Report:
        """Returns the report of the products so far: emulated, and left to PyTorch."""
        self._mark()
        with self._lock:
            rows = (Outside(*key, calls) for key, calls in self._outside.items())
            return Report(self._products.values(), rows, Gradients(self._asked, self._seen))

    # ---- Operations ----

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self._thread.tokens and not self._thread.tokens[-1].open:
            return func(*args, **kwargs)
        if self._thread.pending and func is not torch.ops.aten.detach.default:  # which selective checkpoints call
            self._mark()  # before autograd has made the result's node
        if isinstance(func, HigherOrderOperator):
            return self._leave(func, args, kwargs, func.name(), "higher-order operation: what it calls is not seen")
        name, base, emulated, why = _named(func)
        for kind in types:
            if not _plain(kind):
                return self._of_subclass(kind, func, types, args, kwargs)
        if emulated is None:
            return self._other(func, name, why, args, kwargs)
        why = self._why_not(base, args, kwargs)
        if why == "":
            return func(*args, **kwargs)
        if torch.is_grad_enabled():
            self._sees_functions(args)
        place = self._place(args)
        if place.backward and not place.brought and not why:
            why = self._why_no_roles(args, base)
        if why or place.unit is None:
            return self._leave(func, args, kwargs, base, why or "skipped", place)
        call = Call(self, base, place)
        out = args[0] if base != name else kwargs.pop("out", None)
        result = emulated(call, *args, **kwargs)
        if out is not None:
            result = out.copy_(result) if out.shape == result.shape else out.resize_(result.shape).copy_(result)
        if place.backward:
            self.roles.derive_gradients(args, result)
        weighted = call.weighted or bool(place.backward and place.weighted)
        self._expect(result, place._replace(weighted=weighted, weight=call.weight), True)
        return result

    def _other(self, func: Any, name: str, why: str | None, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Runs an operation that is not a product, or a product that is not emulated."""
        if torch.is_inference_mode_enabled() or (why is not None and not _nested(args)):
            result = self._decomposed(func, args, kwargs)
            if result is not NotImplemented:
                return result
        if why is not None and _computes(args):
            return self._leave(func, args, kwargs, name, why)
        result = func(*args, **kwargs)
        if not name.endswith("_like"):
            arguments = (*args, *kwargs.values()) if kwargs else args
            self.roles.derive(arguments[1:2] if name == "copy_" else arguments, result)
            if torch._C._current_graph_task_id() != -1:
                self.roles.derive_gradients(arguments, result)
        if torch.is_grad_enabled():
            self._expect_what_hides(args, result)
        return result

    def sees_module(self, module: Module) -> None:
        """Learns the weights of a module that is about to run, if tensor subclasses hold them."""
        for parameter in module._parameters.values():
            if parameter is not None and is_traceable_wrapper_subclass(parameter):
                self.roles.know_parts(parameter)

    def _of_subclass(self, kind: Any, func: Any, types: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Lets a tensor subclass handle an operation; the operations it calls in turn come here again."""
        if issubclass(kind, FakeTensor):
            return func(*args, **kwargs)
        if func not in self._thread.asked:  # otherwise the subclass has returned the same operation
            self._thread.asked.append(func)
            try:
                with self._again():
                    result = kind.__torch_dispatch__(func, types, args, kwargs)
            finally:
                self._thread.asked.pop()
            if result is not NotImplemented:
                return result
        name, _, emulated, why = _named(func)
        if emulated is None and why is None:
            return func(*args, **kwargs)
        return self._leave(func, args, kwargs, name, f"of {kind.__name__}: what it calls is not seen")

    def _decomposed(self, func: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Decomposes an operation (linear, attention) that arrives as a whole; its parts come here again."""
        for x in (*args, *kwargs.values()):
            if isinstance(x, torch.nn.Parameter):
                self.roles.know(x, x)
        with self._again():
            return func.decompose(*args, **kwargs)

    @contextmanager
    def _again(self) -> Iterator[None]:
        """Enters the mode again within its own dispatch."""
        super().__enter__()
        try:
            yield
        finally:
            super().__exit__(None, None, None)

    def _why_not(self, base: str, args: tuple[Any, ...], kwargs: Any) -> str | None:
        """Returns the reason why this call is not emulated, or None if it is emulated. Returns "" if the call computes
        nothing and therefore is not reported."""
        operands = [x for x in args if isinstance(x, torch.Tensor)]
        for x in (*operands, *kwargs.values()) if kwargs else operands:
            if isinstance(x, torch.Tensor) and not (
                (x.is_cpu or is_there(x, self.kernel)) and x.layout is torch.strided and not x.is_nested
            ):
                return _elsewhere(x, self.kernel)
        del operands[_operands(base) :]
        if any(isinstance(x, torch.dtype) for x in (*args, *kwargs.values())):
            operands = operands[-2:]  # with out_dtype, C may be in another format than A and B
        kinds = set()
        for x in operands:
            if x.numel() == 0:
                return ""
            kinds.add(x.dtype)
        if base == "_int_mm":
            return None if self._has_integers() else "the unit has no s8"
        if base in SCALED:
            return why_not(self.unit.on, base, args, kwargs)
        for kind in kinds:
            if not kind.is_floating_point:
                return str(kind).removeprefix("torch.")
        if base.startswith("_scaled_dot_product") and self.attention != "flash":
            return "fused attention"
        return None if len(kinds) == 1 else ""  # PyTorch refuses other mixed dtypes

    def _has_integers(self) -> bool:
        on = self.unit.on
        if isinstance(on, Instruction):
            return on.a == on.b == "s8"
        try:
            chosen(on, None, "s8", None)
        except LookupError:
            return False
        return True

    def _leave(
        self, func: Any, args: tuple[Any, ...], kwargs: Any, name: str, why: str, place: Place | None = None
    ) -> Any:
        """Leaves an operation to PyTorch and reports it."""
        place = place or self._place(args)
        if self.strict and place.unit is not None:
            raise RuntimeError(f"strict: {name} in layer {place.layer} runs outside: {why}")
        with self._lock:
            self._outside[place.layer, name, why] += 1
        with library.pytorchs():
            result = func(*args, **kwargs)
        if place.backward:
            self.roles.derive_gradients(args, result)
        self._expect(result, place)
        return result

    def record(
        self,
        layer: str,
        operation: str,
        kind: Kind,
        of_a: Statistics | None,
        of_b: Statistics | None,
        multiplications: int,
    ) -> None:
        a, b = kind.shown
        key = layer, kind.product, operation, a.role, a.rule, b.role, b.rule, kind.instruction
        with self._lock:
            row = self._products.get(key)
            if row is None:
                row = Products(layer, kind.product, operation, a.fresh(), b.fresh(), kind.instruction)
                self._products[key] = row
            row.calls += 1
            row.multiplications += multiplications
            if self._progress:
                self._progress.add(layer, multiplications)
            for operand, counted in ((row.a, of_a), (row.b, of_b)):
                if counted is not None:
                    operand.add(counted)

    def history(self, call: Call, operand: Any, role: str, product: str, side: str) -> History:
        """Returns the history of delayed scaling for one operand of one product of a layer and weight."""
        key = call.unit, call.place.layer, call.weight, call.operation, role, product, side
        with self._lock:
            return self._histories.setdefault(key, History(operand.history))

    def kept_weight(self, x: torch.Tensor) -> torch.Tensor | None:
        """Returns the parameter that x is, views, or was computed from. Returns None if there is no such parameter, or
        if its prepared operand is not to be cached."""
        return self.roles.parameter(x) if self.keep_weights and self._active else None

    # ---- The place of a product, and its backward pass ----

    def _place(self, arguments: Iterable[Any] = ()) -> Place:
        """Returns the layer and the pass (forward or backward) to which an operation with these arguments belongs."""
        node: Any = torch._C._current_autograd_node() if torch._C._current_graph_task_id() != -1 else None
        forward = None if node is None else node.metadata.get(self)
        if not self._in_backward(forward, arguments):
            modules = _layers.running()
            return Place(self.layers.name(modules), self.layers.choice(modules, self.unit))
        if forward is None:
            return Place(NO_MODULE, self.unit, backward=True)
        self._sees(forward)
        place: Place = forward.place._replace(backward=True, brought=True)
        return place

    def _in_backward(self, forward: _Forward | None, arguments: Iterable[Any]) -> bool:
        """Reports whether an operation belongs to a backward pass rather than to a forward pass repeated within it.

        At a known node the operands decide: a backward product has a gradient as an operand.
        """
        if torch._C._current_graph_task_id() == -1 or _layers.running():
            return False
        return _seems_in_backward() if forward is None else any(map(self.roles.is_gradient, arguments))

    def _why_no_roles(self, args: tuple[Any, ...], base: str) -> str | None:
        """Returns why a backward product at an unknown node of the graph is not emulated, or None if it can be.

        It can be emulated if an operand is weights, or if the recipe treats activations and gradients alike in all
        products.
        """
        r = self.recipe
        if r.activations == r.gradients and r.wgrad is None and r.others is None:
            return None
        operands = [x for x in args if isinstance(x, torch.Tensor)][: _operands(base)]
        if torch._C._current_autograd_node() is None or any(self.roles.parameter(x) is not None for x in operands):
            return None
        return "autograd's node is not known: its forward pass ran outside, or in torch.func"

    def _expect(self, result: Any, place: Place, counted: bool = False) -> None:
        """Notes the place of a product, to be attached to the autograd node of its result once that node exists."""
        if torch.is_grad_enabled():
            first = result[0] if isinstance(result, (tuple, list)) and result else result
            if isinstance(first, torch.Tensor):
                repeated = torch._C._current_graph_task_id() != -1
                self._thread.pending.append((first, _Forward(place, counted, repeated, _hooks() is not None)))

    def _expect_what_hides(self, args: tuple[Any, ...], result: Any) -> None:
        """Notes custom autograd functions and checkpoints: products in their backward pass cannot be seen yet."""
        self._sees_functions(args)
        if _hooks() is not None:
            place = self._place(args)
            if not place.backward:
                self._expect(result, place)

    def _sees_functions(self, args: tuple[Any, ...]) -> None:
        for x in args:
            if isinstance(x, torch.Tensor):
                self.sees_result(x)

    def sees_other_thread(self, module: Module) -> None:
        """Reports a module that runs in a thread outside the context, while another thread is in it."""
        with self._lock:
            self._outside[NO_MODULE, type(module).__name__, "in a thread that is not in the context"] += 1

    def sees_backward(self) -> None:
        """Handles the start of a backward pass, which may start at the node of the last result."""
        self._mark()

    def sees_result(self, x: torch.Tensor) -> None:
        """Handles a tensor that a module returned or an operation takes."""
        if isinstance(x.grad_fn, torch.autograd.function.BackwardCFunction):
            self._know(x.grad_fn, _Forward(self._place(), repeats=True))

    def _mark(self) -> None:
        pending, self._thread.pending = self._thread.pending, []
        for result, forward in pending:
            if result.grad_fn is not None:
                self._know(result.grad_fn, forward)

    def _know(self, node: Any, forward: _Forward) -> None:
        if self in node.metadata:
            return
        node.metadata[self] = forward
        with self._lock:
            self._asked += forward.counted and not forward.repeated
        node.register_prehook(functools.partial(self._arrives, forward))
        if forward.repeats:
            node.register_hook(lambda *_: forward.repeating.pop().close() if forward.repeating else None)

    def _sees(self, forward: _Forward) -> None:
        with self._lock:
            self._asked += forward.counted and forward.repeated and not forward.seen
            self._seen += forward.counted and not forward.seen
            forward.seen = True

    def _arrives(self, forward: _Forward, gradients: tuple[torch.Tensor | None, ...]) -> Any:
        """Marks the gradients that autograd passes to a node. Copies a gradient if its memory already has another role.

        Autograd restores the thread's modes after each node. Outside the context the mode is therefore active for one
        node only.
        """
        brought = tuple(None if x is None else self.roles.brought(x) for x in gradients)
        self._sees(forward)
        if forward.repeats:
            forward.repeating.append(self._watching())
        if self not in _get_current_dispatch_mode_stack():
            torch._C._push_on_torch_dispatch_stack(self)
        return brought if any(x is not y for x, y in zip(brought, gradients)) else None


class Wrapped(Module):
    """Runs ``module`` inside ``emulation``: the forward pass, and the backward pass wherever it is called."""

    runs_another = True

    def __init__(self, module: Module, emulation: Emulation):
        super().__init__()
        self.module = module
        self.emulation = emulation

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        with self.emulation:
            return self.module(*args, **kwargs)


@functools.cache
def _named(func: Any) -> tuple[str, str, Any, str | None]:
    """Returns an operation's full name, its name without the _ of in-place operations, its emulation or None, and the
    reason why it is not emulated or None."""
    namespace, _, name = func._schema.name.partition("::")
    base = name.removesuffix("_")
    if namespace != "aten":
        return func._schema.name, base, None, outside(namespace, name)
    return name, base, EMULATED.get(base), outside(namespace, name)


def _elsewhere(x: torch.Tensor, kernel: str | None) -> str:
    """Describes a tensor that is not a plain array in the memory of the CPU or of the kernel's device. Returns "" if
    the tensor has no data."""
    if x.device.type == "meta":
        return ""
    if x.device.type != "cpu" and not is_there(x, kernel):
        return f"on {x.device.type}"
    return "nested" if x.is_nested else str(x.layout).removeprefix("torch.")


@functools.cache
def _operands(base: str) -> int:
    """Returns how many tensors an operation computes with."""
    return 3 if base.lstrip("_").startswith(_ADDING) else 2


@functools.cache
def _plain(kind: Any) -> bool:
    """Reports whether a class of tensors does not override operations."""
    return kind.__torch_dispatch__ in (torch.Tensor.__torch_dispatch__, _REDISPATCHED)


def _hooks() -> Any:
    """Returns the current saved-tensor hooks; checkpoints use these hooks."""
    return torch._C._autograd._top_saved_tensors_default_hooks(True)


def _seems_in_backward() -> bool:
    """Reports whether this is a backward pass that does not repeat a forward pass, as far as PyTorch's state shows."""
    if not torch.is_grad_enabled():
        return True
    hooks = _hooks()
    repeats = hooks is not None and "recomputation" in getattr(hooks[0], "__qualname__", "")
    node = torch._C._current_autograd_node()
    return not repeats and not (node is not None and node.name() == "CheckpointFunctionBackward")


def _nested(args: tuple[Any, ...]) -> bool:
    return any(isinstance(x, torch.Tensor) and x.is_nested for x in args)


def _computes(args: tuple[Any, ...]) -> bool:
    tensors = [x for x in args if isinstance(x, torch.Tensor)]
    return not tensors or any(x.device.type != "meta" for x in tensors)


def emulate(
    on: str | Instruction = "H100",
    recipe: str | Recipe | None = None,
    *,
    weights: Any = None,
    activations: Any = None,
    gradients: Any = None,
    scaling: str | None = None,
    promote_every: int | None = None,
    skip: Any = (),
    layers: Mapping[Pattern, str | Recipe] | None = None,
    model: Module | None = None,
    strict: bool = False,
    statistics: bool = False,
    attention: str = "products",
    attention_blocks: tuple[int, int] | None = None,
    progress: bool | int = False,
    seed: int = 0,
    threads: int = 0,
    keep_weights: bool = True,
    kernel: str | None = None,
) -> Emulation:
    """Emulates a GPU's matrix unit for the products of tensors inside this context, forward and backward.

        with softmma.torch.emulate("H100", "fp8_tensorwise", skip=["lm_head"]) as emulation:
            loss = model(x).square().mean()
        loss.backward()
        print(emulation.report())

    ``@softmma.torch.emulate(...)`` decorates a function, and ``softmma.torch.emulate(...).wrap(model)`` wraps a module.

    ``recipe`` is one of `softmma.recipes`, by name or as returned by `softmma.recipes.recipe`. Without a recipe,
    ``weights`` and ``activations`` (default: "bf16") and ``gradients`` (default: as activations) are formats,
    ``scaling`` is "tensor", "row", "block" or "none" and says how narrow formats are scaled, and ``promote_every`` is
    as in `softmma.matmul` (`softmma.recipes.custom`). Weights are parameters, views of parameters, and tensors computed
    from parameters only. Gradients are tensors that a backward pass brings to a product. Activations are all others.

    Emulated are mm, bmm, mv, dot, addmm, baddbmm, addmv, addbmm, _int_mm, _scaled_mm, _scaled_mm_v2, _grouped_mm,
    _scaled_grouped_mm and convolutions, and therefore whatever uses them: linear, matmul, einsum, recurrent layers, attention. PyTorch computes everything else, and
    `Emulation.report` lists products among it; with ``strict`` such a product raises RuntimeError. A backward pass is
    emulated wherever it runs, if its forward pass was emulated.

    ``skip`` leaves layers to PyTorch, and ``layers`` gives layers other recipes. A pattern is a name ("*.attn.*"), a
    module class, or a function of (name, module); the innermost module that matches a pattern decides. Names are those
    within ``model`` (default: within the outermost module that runs).

    ``statistics`` counts zeros, saturation, infinities, NaN and errors of each operand's elements. ``attention``
    "flash" computes scaled dot-product attention as FlashAttention-2 does, in blocks of ``attention_blocks`` rows of
    queries and of keys (default: the library's). ``progress`` reports progress to stderr every few seconds; if it is
    the number of multiplications of the run, as a report counts them, the time left is shown, too. ``seed`` is the seed
    of stochastic rounding.

    A weight that is B of a product is rounded once and cached in a multiplier (`softmma.Multiplier`), with a copy of
    its bits, until the tensor dies or the context ends. Each product compares the bits, so every change is noticed,
    however it was made. The cache takes the weight's memory and the multiplier's for each direction (forward, backward)
    in which the weight is used. With ``keep_weights=False`` weights are rounded for each product.

    With ``kernel`` "cuda" ("cuda:1", ...) that GPU computes, and tensors may be in its memory; without, tensors are in
    host memory. If a recipe only rounds operands (fp32, tf32, bf16, fp16, formats with scaling "none"), PyTorch rounds
    them on the GPU, they stay there, and no warning about overflow is given. Operands are copied to the host to be
    prepared if they have scale factors, a history, a transform or stochastic rounding, if they are FP64 values to be
    rounded, or if ``statistics`` counts them. ``attention`` "flash" needs CPU kernels.

    A bias is added in FP32; results are rounded to the tensors' dtype.

    Raises LookupError for an unknown recipe or format, and, inside the context, for formats that the unit does not
    multiply; ValueError for other invalid arguments.
    """
    formats = {"weights": weights, "activations": activations, "gradients": gradients, "scaling": scaling}
    formats["promote_every"] = promote_every
    given = {name: value for name, value in formats.items() if value is not None}
    if recipe is not None and given:
        raise ValueError(f"recipe and {', '.join(given)}: a recipe says that; softmma.recipes.recipe makes variants")
    if recipe is None:
        made = custom(**{"weights": "bf16", "activations": "bf16", **{name: _name(x) for name, x in given.items()}})
    else:
        made = named(recipe)
    if attention not in ("products", "flash"):
        raise ValueError(f"attention: {attention!r} is neither products nor flash")
    if attention == "flash" and number(kernel) is not None:
        raise ValueError(f"attention: 'flash' with kernel={kernel!r}: PyTorch's operation on GPUs is not emulated")
    if attention_blocks is not None and (len(attention_blocks) != 2 or min(attention_blocks) < 1):
        raise ValueError(f"attention_blocks: {attention_blocks!r} are no rows of queries and of keys")
    return Emulation(
        on=on,
        recipe=made,
        skip=patterns(skip, "skip"),
        layers={pattern: named(r) for pattern, r in zip(patterns(layers or (), "layers"), (layers or {}).values())},
        model=model,
        strict=strict,
        statistics=statistics,
        attention=attention,
        attention_blocks=attention_blocks,
        progress=progress,
        seed=seed,
        threads=threads,
        keep_weights=keep_weights,
        kernel=kernel,
    )


def _name(format: Any) -> Any:
    return str(format).removeprefix("torch.") if isinstance(format, torch.dtype) else format


def _made(options: Mapping[str, Any]) -> Emulation:
    return Emulation(**options)
