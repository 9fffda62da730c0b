"""Finds the reduction order of a unit, and of products with plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from softmma import _core
from softmma._plans import Plan, handle_of
from softmma._units import Instruction, chosen
from softmma._value import result


class UnitTree(NamedTuple):
    """Result of `unit_tree`."""

    unit: str
    instruction: str
    k: int
    order: str
    """The order of one call in words: "starting with c, 2 fused sums in a row, each with 8 products"."""
    tree: Any
    """The sum that is the result, as a dict. Its ``terms`` are products by their k ([first, last] for the products of a
    scale block), "c", and sums. ``fused`` is None if it cannot be determined; ``exact`` sums lose no bits;
    ``cut_alike`` is false if a term's loss depends on the other terms; ``stages_hidden`` sums may be several sums. With
    a plan, a sum of calls (docs/trees.md)."""
    call: Any
    """With a plan, the sum within each call; otherwise None."""
    plan: str | None
    value: dict[str, Any]
    """The record that ``softmma tree --json`` prints."""

    def __str__(self) -> str:
        return self.order


def unit_tree(
    on: str | Instruction = "H100",
    *,
    instr: str | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    unit: Callable[..., ArrayLike] | str | None = None,
    plan: Plan | Mapping[str, Any] | str | Path | None = None,
    k: int | None = None,
) -> UnitTree:
    """Finds a unit's reduction order for an instruction from its results; with a ``plan`` the order of a
    product of ``k``.

    The instruction (default: f16 inputs) and ``unit`` are as for `probe`: by default the model, otherwise a function
    ``unit(a, b, c)`` or the name of a unit. `tree` finds the order of a whole product function.

        >>> import softmma
        >>> softmma.unit_tree("A100").order
        'starting with c, 2 fused sums in a row, each with 8 products'
        >>> softmma.unit_tree("A100", plan="cutlass:2xacc", k=300).value["calls"]
        19

    Raises LookupError as `matmul` does, ValueError if the results do not determine the order, the unit fails, or the
    plan cannot be followed with this ``k``.
    """
    i = on if isinstance(on, Instruction) else chosen(on, instr, in_dtype or (None if instr else "f16"), out_dtype)
    made = plan if plan is None or isinstance(plan, Plan) else Plan(plan)
    if (made is None) != (k is None):
        raise ValueError("plan and k: the order of a plan is that of a K; give both or neither")
    name = None if made is None else made.name
    value = _core.unit_order(unit, i, handle_of(made), name, k or 0)
    order = value["order" if made is None else "order_of_call"]
    return result(UnitTree, value, order=order, call=value.get("call"), plan=name)
