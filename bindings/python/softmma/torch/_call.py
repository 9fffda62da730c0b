"""One call of one of PyTorch's operations: what multiplies its operands, and where that is written down."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from numpy.typing import NDArray

from softmma import _core
from softmma._plans import Plan
from softmma._products import matmul
from softmma._units import Instruction, chosen
from softmma._quantization import Side
from softmma.recipes import Operand, Prepared, Product, Role, Unit
from softmma.torch._attention import library_blocks
from softmma.torch._report import Products, Rounded
from softmma.torch._roles import ACTIVATIONS, WEIGHTS
from softmma.torch._tensors import array, lines, tensor

if TYPE_CHECKING:
    from softmma.torch._emulate import Emulation

MOST_VIEWS = 8
"""Views of one weight that are kept: several parts of it, and each transposed in a backward pass."""


class Place(NamedTuple):
    """Where a product is asked for: ``weighted`` says of a backward pass whether the forward product had a weight.

    ``unit`` is None where products are left to PyTorch.
    """

    layer: str
    unit: Unit | None
    backward: bool = False
    weighted: bool | None = None


class _Right(NamedTuple):
    """B: what multiplies A by it, what became of its elements, and of a weight that is kept the bits that it had."""

    multiply: Callable[[Prepared], NDArray[Any]]
    examined: Rounded
    lines: NDArray[Any] | None = None


class Call:
    """What the operations of `softmma.torch._operations` compute with."""

    def __init__(self, emulation: Emulation, operation: str, place: Place):
        assert place.unit is not None
        self.emulation, self.operation, self.place, self.unit = emulation, operation, place, place.unit
        self.weighted = False

    def role(self, x: torch.Tensor) -> Role:
        return self.emulation.roles.of(x, self.place.backward)

    def attention_blocks(self, width: int, backward: bool) -> tuple[int, int]:
        return self.emulation.attention_blocks or library_blocks(width, backward)

    def attention(
        self,
        a: torch.Tensor,
        b: torch.Tensor,
        c: torch.Tensor | None = None,
        roles: tuple[Role, Role] = (ACTIVATIONS, ACTIVATIONS),
    ) -> torch.Tensor:
        """C + A B, without a weight."""
        return self.product(a, b, "other", roles=roles, c=c)

    def product(
        self,
        a: torch.Tensor,
        b: torch.Tensor,
        product: Product | None = None,
        *,
        roles: tuple[Role, Role] | None = None,
        source: torch.Tensor | None = None,
        c: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """A B in FP32 (FP64 for f64), from operands that are rounded as their roles say.

        ``source`` is the weight that B was made of; C is what the unit adds to.
        """
        if a.shape[-1] != b.shape[-2 if b.dim() > 1 else 0]:
            raise ValueError(f"a is {tuple(a.shape)} and b is {tuple(b.shape)}: the columns of a must be the rows of b")
        if a.dim() == b.dim() == 3 and len(a) == len(b) == 1 and c is None:
            return self.product(a[0], b[0], product, roles=roles, source=source)[None]
        roles = roles or (self.role(a), self.role(b))
        product = product or self._product(roles)
        operands = self.unit.operand(roles[0], product), self.unit.operand(roles[1], product)
        instruction = self.unit.instruction(*operands)
        left, examined = self._prepared(a, roles[0], product, "a")
        if c is None:
            right = self._right(b, roles[1], product, operands, source)
            d = right.multiply(left)
        else:
            y, of_b = self._prepared(b, roles[1], product, "b")
            right = _Right(lambda x: self._onto(x, y, array(c), product), of_b)
            d = right.multiply(left)
        self._record(product, examined, right.examined, instruction, a, b)
        found = tensor(d)
        return found if found.is_floating_point() else found.float()

    def _onto(self, a: Prepared, b: Prepared, c: NDArray[Any], product: Product) -> NDArray[Any]:
        """C + A B, where the unit begins with C; factors of A and B would have to act before that."""
        if any(x.factor is not None or x.scales is not None for x in (a, b)):
            raise ValueError(f"attention='flash' needs formats without factors, not {a.operand} x {b.operand}")
        arguments = self.unit.arguments(a.operand, b.operand, product)
        return matmul(a.values, b.values, c, **arguments)

    def _product(self, roles: tuple[Role, Role]) -> Product:
        """forward, dgrad or wgrad of a layer with a weight; other without."""
        if WEIGHTS in roles:
            self.weighted = True
            return "dgrad" if self.place.backward else "forward"
        return "wgrad" if self.place.backward and self.place.weighted is not False else "other"

    def product_as_is(
        self, a: torch.Tensor, b: torch.Tensor, *, scaled: bool = False, fast: bool = False
    ) -> torch.Tensor:
        """A B of operands in formats of the unit, in FP32, of integers exact; ``scaled`` as `torch._scaled_mm` does."""
        x, y = array(a), array(b)
        formats = tuple(_core.format(each.dtype) for each in (x, y))
        instruction = (
            self.unit.on if isinstance(self.unit.on, Instruction) else chosen(self.unit.on, None, formats, None)
        )
        hopper = scaled and getattr(instruction, "arch", "") == "hopper"
        named = Plan("torch:_scaled_mm:fast" if fast else "torch:_scaled_mm") if hopper else None
        of_a, of_b = (Rounded(self.role(each), format) for each, format in zip((a, b), formats))
        self._record(self._product((self.role(a), self.role(b))), of_a, of_b, instruction, a, b)
        d = matmul(x, y, on=instruction, in_dtype=formats, plan=named, threads=self.emulation.threads)
        return tensor(d)

    # ---- Operands ----

    def _prepared(self, x: torch.Tensor, role: Role, product: Product, side: Side) -> tuple[Prepared, Rounded]:
        operand = self.unit.operand(role, product)
        if _only_rounds(operand) and not self.emulation.statistics:
            # Nothing but rounding, which the product itself does, with a warning of what overflows.
            values = array(x)
            vector = values.ndim == 1
            values = values[None if side == "a" else (..., None)] if vector else values
            return Prepared(values, None, None, operand, side, vector, None), Rounded.of(role, operand, None)
        history = self.emulation.history(self, operand, role, product, side) if operand.history else None
        prepared = self.unit.prepare(array(x), role, product, side, history=history, measure=self.emulation.statistics)
        return prepared, Rounded.of(role, operand, prepared.statistics)

    def _right(
        self, b: torch.Tensor, role: Role, product: Product, operands: tuple[Any, Any], source: torch.Tensor | None
    ) -> _Right:
        """Of a weight it is kept, and holds as long as the weight's bits are the same.

        Only the bits tell: PyTorch does not count writes through .data, NumPy's views or shared memory.
        """
        weight = self.emulation.kept_weight(b if source is None else source)
        rows = None if weight is None or operands[1].history or operands[1].stochastic else lines(b)
        if rows is None:
            y, of_b = self._prepared(b, role, product, "b")
            return _Right(lambda x: self.unit.multiply(x, y, product), of_b)
        views: dict[Any, _Right] = self.emulation.kept.setdefault(weight, {})
        key = (self.unit, operands, product, b.dtype, b.shape, b.stride(), b.storage_offset())
        known = views[key].lines if key in views else None
        if known is None or not _core.same_lines(known, rows, self.emulation.threads):
            views.pop(key, None)
            if len(views) == MOST_VIEWS:
                del views[next(iter(views))]
            y, of_b = self._prepared(b, role, product, "b")
            views[key] = _Right(self.unit.multiplier(y, operands[0], product).multiply, of_b, rows.copy())
        return views[key]

    def _record(
        self, product: Product, a: Rounded, b: Rounded, instruction: Instruction, x: torch.Tensor, y: torch.Tensor
    ) -> None:
        multiplications = x.numel() * (y.shape[-1] if y.dim() > 1 else 1)
        self.emulation.record(
            Products(self.place.layer, product, self.operation, a, b, instruction.name, 1, multiplications)
        )


def _only_rounds(x: Operand) -> bool:
    return x.scaling == "none" and x.compute is None and not x.hadamard and not x.stochastic
