"""The context in which products are emulated."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakTensorKeyDictionary

from softmma import _core
from softmma._products import Multiplier, matmul, round
from softmma._quantization import quantize
from softmma._units import BLOCK_FORMATS, Instruction, chosen, formats, instructions
from softmma.torch._operations import OPERATIONS
from softmma.torch._report import Emulated, Report
from softmma.torch._tensors import array, lines, tensor

_BITS = {format.name: format.bits for format in formats()}
BLOCK = 128
"""Elements along K that share a scale with scaling="block"."""
MOST_VIEWS = 8
"""Views of one weight that are kept: several parts of it, and each transposed in a backward pass."""


class _Factor(NamedTuple):
    """B or a part of its rows, rounded: what multiplies A by it, and the scale that results are divided by."""

    multiply: Callable[..., Any]
    scale: torch.Tensor | None


class _Kept(NamedTuple):
    """What became of a weight that had these bits."""

    lines: NDArray[Any]
    factors: list[_Factor]


class Emulation(TorchDispatchMode):
    """The context that `emulate` returns."""

    def __init__(
        self,
        on: str | Instruction,
        roles: dict[str, str],
        scaling: str,
        promote_every: int,
        threads: int,
        keep_weights: bool,
    ):
        super().__init__()
        self.on = on
        self.roles = roles
        self.scaling = scaling
        self.promote_every = promote_every
        self.threads = threads
        self.keep_weights = keep_weights
        self._parameters: dict[StorageWeakRef, Any] = {}  # weak references
        self._kept = WeakTensorKeyDictionary()  # of each parameter its views, {what tells them apart: _Kept}
        self._instructions: dict[tuple[str, ...], Instruction] = {}
        self._calls: Counter[tuple[str, str, str, str]] = Counter()
        self._multiplications: Counter[tuple[str, str, str, str]] = Counter()
        self._forward: set[StorageWeakRef] = set()  # what went into products before any gradient
        self._most = 1000
        self._outside = ExitStack()

    def __enter__(self) -> Emulation:
        # Fused attention and fused layers show no products; those that are made of products do.
        self._outside.enter_context(sdpa_kernel(SDPBackend.MATH))
        self._outside.callback(torch.backends.mha.set_fastpath_enabled, torch.backends.mha.get_fastpath_enabled())
        torch.backends.mha.set_fastpath_enabled(False)
        super().__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        self._outside.close()
        self._forward.clear()
        self._parameters.clear()
        self._kept.clear()

    def report(self) -> Report:
        """What was emulated so far."""
        return Report(Emulated(*key, calls, self._multiplications[key]) for key, calls in self._calls.items())

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        emulated = OPERATIONS.get(func.overloadpacket)
        if emulated is None and torch.is_inference_mode_enabled():
            return self._decomposed(func, args, kwargs)
        tensors = [x for x in args if isinstance(x, torch.Tensor)]
        if emulated is None or not all(x.device.type == "cpu" and x.is_floating_point() for x in tensors):
            return func(*args, **kwargs)
        out = kwargs.pop("out", None)
        result = emulated(self, func.overloadpacket.__name__, *args, **kwargs)
        return result if out is None else out.copy_(result)

    def _decomposed(self, func: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """In inference mode operations come whole (linear, attention): what they are made of comes here again.

        Views that are made on the way do not know their base; whose they are the storage tells.
        """
        for x in (*args, *kwargs.values()):
            if isinstance(x, torch.nn.Parameter):
                self._parameters[StorageWeakRef(x.untyped_storage())] = weakref.ref(x)
        super().__enter__()
        try:
            result = func.decompose(*args, **kwargs)
        finally:
            super().__exit__(None, None, None)
        return func(*args, **kwargs) if result is NotImplemented else result

    # ---- Products ----

    def _parameter(self, x: torch.Tensor) -> torch.Tensor | None:
        """What it is, or is a view of, if that is a parameter."""
        whole = x if x._base is None else x._base
        if isinstance(whole, torch.nn.Parameter):
            return whole
        known = self._parameters.get(StorageWeakRef(x.untyped_storage())) if self._parameters else None
        return known() if known else None

    def _role(self, x: torch.Tensor, in_backward: bool) -> str:
        """Parameters and their views are weights; in a backward pass what did not go forward is a gradient."""
        if self._parameter(x) is not None:
            return "weights"
        storage = StorageWeakRef(x.untyped_storage())
        if not in_backward:
            self._forward.add(storage)
            if len(self._forward) > self._most:
                self._forward = {seen for seen in self._forward if not seen.expired()}
                self._most = 2 * len(self._forward) + 1000
        return "activations" if storage in self._forward else "gradients"

    def product(self, operation: str, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """A B in FP32 (FP64 for f64), from operands that are rounded as their roles say."""
        if a.shape[-1] != b.shape[-2 if b.dim() > 1 else 0]:
            raise ValueError(f"a is {tuple(a.shape)} and b is {tuple(b.shape)}: the columns of a must be the rows of b")
        in_backward = torch._C._current_graph_task_id() != -1
        names = [self.roles[self._role(x, in_backward)] for x in (a, b)]
        blocks = [name for name in names if name in BLOCK_FORMATS]
        if len(blocks) == 1:
            raise ValueError(f"{names[0]} x {names[1]}: a block-scaled format goes with another one only")
        self._count(operation, names, self._instruction(names), a, b)
        if blocks:
            return self._block_scaled(a, b, names)
        if self.scaling == "block":
            return self._sum_of_blocks(a, b, names)
        (factor,) = self._factors(b, names, lambda make: [self._scaled(b, names[1], None, make)])
        return self._times(a, names[0], None, factor)

    def product_as_is(self, operation: str, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """A B in FP32, of operands in formats of the unit."""
        names = [_core.format(array(x).dtype.name) for x in (a, b)]
        self._count(operation, names, self._instruction(names), a, b)
        (factor,) = self._factors(b, names, lambda make: [_Factor(make(array(b)), None)])
        return tensor(factor.multiply(array(a)))

    def _times(self, a: torch.Tensor, name: str, axis: int | None, factor: _Factor) -> torch.Tensor:
        """A, too, is multiplied by its scale before it is rounded, and the result is divided by both."""
        scale = self._scale(a, name, axis)
        d = tensor(factor.multiply(array(a if scale is None else a.float() * scale)))
        d = d if d.is_floating_point() else d.float()
        for each in (scale, factor.scale):
            if each is not None:
                d = d / each
        return d

    def _scaled(self, b: torch.Tensor, name: str, axis: int | None, make: Callable[..., Any]) -> _Factor:
        scale = self._scale(b, name, axis)
        return _Factor(make(array(b if scale is None else b.float() * scale)), scale)

    def _sum_of_blocks(self, a: torch.Tensor, b: torch.Tensor, names: list[str]) -> torch.Tensor:
        """Blocks of K, each with scales of its own for the rows of A and the columns of B, added in FP32."""
        rows, columns = a if a.dim() > 1 else a[None], b if b.dim() > 1 else b[:, None]
        blocks = range(0, max(rows.shape[-1], 1), BLOCK)

        def scaled(make: Callable[..., Any]) -> list[_Factor]:
            return [self._scaled(columns[..., k : k + BLOCK, :], names[1], -2, make) for k in blocks]

        factors = self._factors(columns, names, scaled)
        parts = (self._times(rows[..., k : k + BLOCK], names[0], -1, factor) for k, factor in zip(blocks, factors))
        d = reduce(torch.add, parts)
        return d.squeeze([axis for axis, x in ((-2, a), (-1, b)) if x.dim() == 1])

    def _block_scaled(self, a: torch.Tensor, b: torch.Tensor, names: list[str]) -> torch.Tensor:
        def quantized(make: Callable[..., Any]) -> list[_Factor]:
            y = quantize(array(b), names[1], axis=-2)
            return [_Factor(make(y.values, scale_b=y.scales), torch.tensor(y.factor))]

        (factor,) = self._factors(b, names, quantized)
        x = quantize(array(a), names[0])
        return tensor(factor.multiply(x.values, scale_a=x.scales)) * (torch.tensor(x.factor) * factor.scale)

    # ---- Weights that are kept ----

    def _factors(
        self, b: torch.Tensor, names: list[str], prepare: Callable[[Callable[..., Any]], list[_Factor]]
    ) -> list[_Factor]:
        """What `prepare` makes of B. Of a weight it is kept, and holds as long as the weight's bits are the same.

        Only the bits tell: PyTorch does not count writes through .data, NumPy's views or shared memory.
        """
        in_dtype = None if names[0] in BLOCK_FORMATS else tuple(names)
        options: dict[str, Any] = {"promote_every": self.promote_every, "threads": self.threads, "in_dtype": in_dtype}
        options["on"] = self._instruction(names)
        weight = self._parameter(b) if self.keep_weights else None
        rows = None if weight is None else lines(b)
        if rows is None:
            return prepare(lambda y, **scales: partial(matmul, b=y, **options, **scales))
        views: dict[Any, _Kept] = self._kept.setdefault(weight, {})
        key = (*names, b.dtype, b.shape, b.stride(), b.storage_offset())
        if key not in views or not _core.same_lines(views[key].lines, rows, self.threads):
            views.pop(key, None)
            if len(views) == MOST_VIEWS:
                del views[next(iter(views))]
            views[key] = _Kept(rows.copy(), prepare(lambda y, **scales: Multiplier(y, **options, **scales).matmul))
        return views[key].factors

    def _instruction(self, names: Sequence[str]) -> Instruction:
        """What multiplies A and B in these formats."""
        key = tuple(names)
        if key not in self._instructions:
            self._instructions[key] = self._choose(key)
        return self._instructions[key]

    def _choose(self, names: tuple[str, ...]) -> Instruction:
        if isinstance(self.on, Instruction):
            return self.on
        if names[0] not in BLOCK_FORMATS:
            return chosen(self.on, None, names, None)
        (a, *scale), (b, *_) = (BLOCK_FORMATS[name] for name in names)
        for i in instructions(self.on):
            if [i.a, i.b, i.d, i.scale, i.scale_block] == [a, b, "f32", *scale]:
                return i
        raise LookupError(f"{self.on} has no block-scaled instruction for {names[0]} x {names[1]}")

    def _scale(self, x: torch.Tensor, name: str, axis: int | None = None) -> torch.Tensor | None:
        """What makes the greatest magnitude, of all or along an axis, that of the format, where formats are narrow."""
        if self.scaling == "none" or _BITS[name] > 8 or x.numel() == 0:
            return None
        greatest = float(round(np.inf, name, overflow="saturate"))
        largest = (x.abs().max() if axis is None else x.abs().amax(axis, keepdim=True)).float()
        return torch.where((largest > 0) & torch.isfinite(largest), greatest / largest, 1.0)

    def _count(self, operation: str, names: list[str], i: Instruction, a: torch.Tensor, b: torch.Tensor) -> None:
        key = (operation, names[0], names[1], i.name)
        self._calls[key] += 1
        self._multiplications[key] += a.numel() * (b.shape[-1] if b.dim() > 1 else 1)


def emulate(
    on: str | Instruction = "H100",
    *,
    weights: Any = "bf16",
    activations: Any = "bf16",
    gradients: Any = None,
    scaling: str = "tensor",
    promote_every: int = 0,
    threads: int = 0,
    keep_weights: bool = True,
) -> Emulation:
    """A context in which products of CPU tensors are computed as a GPU's matrix unit does, forward and backward.

    Emulated are mm, addmm, bmm, baddbmm, mv, addmv, dot and ``torch._scaled_mm``, and so what is made of them: linear,
    matmul, einsum, attention (in its form of single products). Everything else is PyTorch's. Backward passes must run
    inside, too.

    ``weights``, ``activations`` and ``gradients`` (without it, as activations) are the formats to round to: weights
    are parameters and views of them, gradients what a backward pass brings to a product, activations all else. With
    ``scaling`` "tensor" a tensor for a format of 8 bits or less is multiplied before, in FP32, so that its greatest
    magnitude is the format's (127 for "s8"), and the result divided. With "block" that happens for each row of A and
    column of B in blocks of 128 along K, whose products are added in FP32. "none" leaves it. Block-scaled formats
    ("mxfp8_e4m3", "nvfp4", ...) are scaled per block, along K, by `softmma.quantize`; all three must be such then.
    ``torch._scaled_mm`` brings tensors and factors of its own.

    Weights that are B of a product (`Linear`; x @ w) are rounded once and kept with a copy of their bits, in
    multipliers (`softmma.Multiplier`), until the tensor dies or the context ends; each product compares the bits, so
    that any change is seen, however it was made. For each direction in which a weight is used, forward and backward, that takes its memory
    once more and the multiplier's. With ``keep_weights=False`` weights are rounded for each product.

    Products accumulate as the unit does (``promote_every`` as in `softmma.matmul`); a bias is added in FP32; results
    are rounded to the tensors' dtype.

    ``torch.compile``: what is compiled calls these operations, too, and is emulated, as long as the compiler does not
    write products of its own (max-autotune, freezing): the report shows. Convolutions, integer and complex tensors, and
    other devices than the CPU are left alone.

    Raises LookupError, inside, for formats that the unit does not multiply; ValueError for a scaling that there is
    not.
    """
    if scaling not in ("tensor", "block", "none"):
        raise ValueError(f"scaling: {scaling!r} is none of tensor, block, none")
    roles = {"weights": weights, "activations": activations, "gradients": gradients or activations}
    for role, format in roles.items():
        roles[role] = format if format in BLOCK_FORMATS else _core.format(_name(format))
    return Emulation(on, roles, scaling, promote_every, threads, keep_weights)


def _name(format: Any) -> Any:
    return str(format).removeprefix("torch.") if isinstance(format, torch.dtype) else format
