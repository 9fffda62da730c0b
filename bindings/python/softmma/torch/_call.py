"""One call of a PyTorch operation: chooses the multiplication of its operands, and records it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from numpy.typing import NDArray

from softmma import _core
from softmma._products import matmul
from softmma._quantization import Side, Use
from softmma._scaled import ONE, Scaling, instruction_for, scaled_product
from softmma._units import dtype
from softmma.recipes import History, Operand, Prepared, Product, Role, Statistics, Unit
from softmma.torch._roles import ACTIVATIONS, WEIGHTS, Roles
from softmma.torch._rows import Rounded
from softmma.torch._tensors import (
    array,
    encodings,
    format_name,
    is_packed,
    is_there,
    lines,
    matrix,
    narrow,
    rounded,
    tensor,
)

MOST_VIEWS = 8
"""Views cached for one weight: several parts of it, and the transpose of each in a backward pass."""


class Place(NamedTuple):
    """The place of a product: its layer, unit and pass.

    ``weighted``: in a backward pass, whether the forward product had a weight. ``brought``: whether the gradients that
    autograd brought to the node are known. ``unit`` is None if products are left to PyTorch. ``weight`` identifies the
    product's weight; 0 if it has no weight.
    """

    layer: str
    unit: Unit | None
    backward: bool = False
    weighted: bool | None = None
    weight: int = 0
    brought: bool = False


@dataclass(frozen=True, eq=False)
class Kind:
    """How a product of two tensors is computed: the conversions of both operands, their names in reports, and the
    instruction's name."""

    product: Product
    operands: tuple[Operand, Operand]
    shown: tuple[Rounded, Rounded]
    instruction: str


class Context(Protocol):
    """The part of the emulation (`softmma.torch.Emulation`) that a call uses."""

    statistics: bool
    threads: int
    kernel: str | None
    attention_blocks: tuple[int, int] | None
    roles: Roles
    kinds: dict[Unit, dict[Any, Kind]]
    kept: Any

    def history(self, call: Call, operand: Any, role: str, product: str, side: str) -> History: ...

    def kept_weight(self, x: torch.Tensor) -> torch.Tensor | None: ...

    def record(
        self,
        layer: str,
        operation: str,
        kind: Kind,
        of_a: Statistics | None,
        of_b: Statistics | None,
        multiplications: int,
    ) -> None: ...


class _Right(NamedTuple):
    """B as a multiplier, with the statistics of its elements; for a cached weight also a copy of its bits."""

    multiply: Callable[[Prepared], NDArray[Any]]
    examined: Statistics | None
    lines: NDArray[Any] | None = None


class Call:
    """The arithmetic that `softmma.torch._operations` computes with."""

    def __init__(self, emulation: Context, operation: str, place: Place):
        assert place.unit is not None
        self.emulation, self.operation, self.place, self.unit = emulation, operation, place, place.unit
        self.weighted = False
        self.weight = place.weight
        self._uses: dict[History, Use] | None = None

    @contextmanager
    def one_use(self) -> Iterator[None]:
        """Makes the products inside, of parts of two tensors, one use of these tensors for delayed scaling."""
        self._uses = {}
        yield
        for use in self._uses.values():
            use.end()
        self._uses = None

    def role(self, x: torch.Tensor) -> Role:
        return self.emulation.roles.of(x, self.place.backward, self.place.brought)

    def attention(
        self,
        a: torch.Tensor,
        b: torch.Tensor,
        c: torch.Tensor | None = None,
        roles: tuple[Role, Role] = (ACTIVATIONS, ACTIVATIONS),
    ) -> torch.Tensor:
        """Computes C + A B, without a weight."""
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
        """Computes A B in FP32 (FP64 for f64), from operands rounded as their roles require.

        ``source`` is the weight that B comes from; the unit adds the product to C.
        """
        if a.shape[-1] != b.shape[-2 if b.dim() > 1 else 0]:
            raise ValueError(f"a is {tuple(a.shape)} and b is {tuple(b.shape)}: the columns of a must be the rows of b")
        if a.dim() == b.dim() == 3 and len(a) == len(b) == 1 and c is None:
            return self.product(a[0], b[0], product, roles=roles, source=source)[None]
        roles = roles or (self.role(a), self.role(b))
        if WEIGHTS in roles:
            self.weight = id(self.emulation.roles.parameter((a, b)[roles.index(WEIGHTS)] if source is None else source))
        kind = self._kind(roles, product or self._product(roles))
        found = self._product_there(a, b, kind) if c is None else None
        if found is not None:
            self._record(kind, None, None, a, b)
            return found
        device, source = a.device, b if source is None else source
        a, b, c = a.cpu(), b.cpu(), c if c is None else c.cpu()  # operands are prepared in C, on the host
        left, of_a = self._prepared(a, kind, roles[0], "a")
        if c is None:
            right = self._right(b, kind, roles[1], source)
        else:
            y, of_b = self._prepared(b, kind, roles[1], "b")
            right = _Right(lambda x: self._onto(x, y, array(c), kind.product), of_b)
        found = tensor(right.multiply(left))
        self._record(kind, of_a, right.examined, a, b)
        return (found if found.is_floating_point() else found.float()).to(device)

    def _product_there(self, a: torch.Tensor, b: torch.Tensor, kind: Kind) -> torch.Tensor | None:
        """Multiplies two tensors in a device's memory. Returns None if one of them is elsewhere or needs more than
        rounding."""
        kernel = self.emulation.kernel
        if self.emulation.statistics or not (is_there(a, kernel) and is_there(b, kernel)):
            return None
        if not all(x.rounds_only for x in kind.operands):
            return None
        pairs = zip((a, b), kind.operands, strict=True)
        x, y = (rounded(each, operand.format, operand.rounding, operand.saturate) for each, operand in pairs)
        if x is None or y is None:
            return None
        d: Any = matmul(x, y, **self.unit.arguments(*kind.operands, kind.product))
        return tensor(d) if d.is_floating_point() else d.float()

    def _kind(self, roles: tuple[Role, Role], product: Product) -> Kind:
        """Returns the formats and the multiplication for tensors of these roles in a product."""
        kinds: dict[Any, Kind] = self.emulation.kinds.setdefault(self.unit, {})
        known = kinds.get((roles, product))
        if known is None:
            operands = self.unit.operand(roles[0], product), self.unit.operand(roles[1], product)
            shown = Rounded.of(roles[0], operands[0]), Rounded.of(roles[1], operands[1])
            known = kinds[roles, product] = Kind(product, operands, shown, self.unit.instruction(*operands).name)
        return known

    def _onto(self, a: Prepared, b: Prepared, c: NDArray[Any], product: Product) -> NDArray[Any]:
        """Computes C + A B with a unit that starts from C. Raises ValueError if A or B has scale factors, which act
        after the sum."""
        if any(x.factor is not None or x.scales is not None for x in (a, b)):
            raise ValueError(f"attention='flash' needs formats without factors, not {a.operand} x {b.operand}")
        arguments = self.unit.arguments(a.operand, b.operand, product)
        return matmul(a.values, b.values, c, **arguments)

    def _product(self, roles: tuple[Role, Role]) -> Product:
        """Returns the kind of a product: forward, dgrad or wgrad of a layer with a weight, otherwise other."""
        if WEIGHTS in roles:
            self.weighted = True
            return "dgrad" if self.place.backward else "forward"
        return "wgrad" if self.place.backward and self.place.weighted is not False else "other"

    def product_as_is(
        self, a: torch.Tensor, b: torch.Tensor, scaling: Scaling = ONE, fast: bool = False
    ) -> torch.Tensor:
        """Computes A B from operands already in the unit's formats: FP32, or exact for integers. Factors of tensors and
        rows are left to the caller; ``fast`` is `use_fast_accum`."""
        kernel = self.emulation.kernel
        there = scaling.kind in ("tensor", "row") and is_there(a, kernel) and is_there(b, kernel)
        x, y = (encodings(matrix(a)), encodings(matrix(b))) if there else (narrow(a, 1), narrow(b, 0))
        formats = tuple(_core.format(dtype(format_name(each))) for each in (a, b))
        instruction = instruction_for(self.unit.on, scaling.kind, formats)
        roles, names = (self.role(a), self.role(b)), instruction._inputs_text().split(",")
        shown = Rounded(roles[0], names[0], names[0]), Rounded(roles[1], names[-1], names[-1])
        kind = Kind(self._product(roles), (Operand(formats[0]), Operand(formats[1])), shown, instruction.name)
        self._record(kind, None, None, a, b, packed=1 + is_packed(a))
        d = scaled_product(x, y, scaling, instruction, fast, threads=self.emulation.threads, kernel=kernel)
        return tensor(d).to(a.device)

    # ---- Operands ----

    def _prepared(self, x: torch.Tensor, kind: Kind, role: Role, side: Side) -> tuple[Prepared, Statistics | None]:
        values, product = array(x), kind.product
        operand, other = kind.operands if side == "a" else kind.operands[::-1]
        if _is_rounded_by_product(operand, other) and not self.emulation.statistics:
            # No conversion here: the product itself rounds this operand, and warns about overflow.
            vector = values.ndim == 1
            values = values[None if side == "a" else (..., None)] if vector else values
            return Prepared(values, None, None, operand, side, vector, None), None
        history = self.emulation.history(self, operand, role, product, side) if operand.history else None
        if history is not None and self._uses is not None:
            history = self._uses.setdefault(history, Use(history))
        prepared = self.unit.prepare(values, role, product, side, history=history, measure=self.emulation.statistics)
        return prepared, prepared.statistics

    def _right(self, b: torch.Tensor, kind: Kind, role: Role, source: torch.Tensor | None) -> _Right:
        """Prepares B. A weight is cached, and the cache is valid as long as the weight's bits are the same.

        Only comparing bits is safe: PyTorch does not count writes through .data, NumPy views or shared memory.
        """
        product, (other, operand) = kind.product, kind.operands
        weight = self.emulation.kept_weight(b if source is None else source)
        rows = None if weight is None or operand.history or operand.stochastic else lines(b)
        if rows is None:
            y, examined = self._prepared(b, kind, role, "b")
            return _Right(lambda x: self.unit.multiply(x, y, product), examined)
        views: dict[Any, _Right] = self.emulation.kept.setdefault(weight, {})
        key = (kind, b.dtype, b.shape, b.stride(), b.storage_offset())
        right = views.get(key)
        if right is None or right.lines is None or not _core.same_lines(right.lines, rows, self.emulation.threads):
            views.pop(key, None)
            if len(views) == MOST_VIEWS:
                del views[next(iter(views))]
            y, examined = self._prepared(b, kind, role, "b")
            right = _Right(self.unit.multiplier(y, other, product).multiply, examined, rows.copy())
            views[key] = right
        return right

    def _record(
        self,
        kind: Kind,
        of_a: Statistics | None,
        of_b: Statistics | None,
        a: torch.Tensor,
        b: torch.Tensor,
        packed: int = 1,
    ) -> None:
        multiplications = packed * a.numel() * (b.shape[-1] if b.dim() > 1 else 1)
        self.emulation.record(self.place.layer, self.operation, kind, of_a, of_b, multiplications)


def _is_rounded_by_product(operand: Operand, other: Operand) -> bool:
    """Reports whether `matmul` rounds the operand as the recipe does. `matmul` saturates, and has one rounding mode for
    both operands."""
    one_mode = not other.rounds_only or other.round_in == operand.round_in
    return operand.rounds_only and operand.saturate and one_mode
