"""Whether two products are one function."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from softmma import _core
from softmma._plans import Plan, handle_of
from softmma._targets import label, target_instruction
from softmma._units import Instruction


class Row(NamedTuple):
    """A product of one row and one column that tells two functions apart: its k are at the places ``at`` of ``k``
    products, all others of which are +0."""

    a: NDArray[Any]
    b: NDArray[Any]
    c: NDArray[Any]
    results: tuple[NDArray[Any], NDArray[Any]]
    scales: tuple[NDArray[Any], NDArray[Any]] | None
    at: tuple[int, ...]
    k: int
    operands: str
    """alpha and other operands of epilogues, where they are not neutral."""


class Equality(NamedTuple):
    """The answer of `equal`, which is true only where they are proved to be equal."""

    answer: str
    """"equal", "different" or "cannot tell"."""
    why: str
    """The proof in words, what differs, or why it cannot be told."""
    multiple_of: int
    """Proved for K that are multiples of it."""
    k: int | None
    """The K that was looked at; None: every K."""
    neutral: str
    """What only one of them takes, and is neutral here: "alpha (1)"."""
    rows: int
    """How many rows were asked."""
    row: Row | None
    """The smallest row found that tells them apart; of equal ones, with a K that is no such multiple."""

    def __bool__(self) -> bool:
        return self.answer == "equal"


_Plan = Plan | Mapping[str, Any] | str | Path | None


def equal(
    x: str | Instruction,
    y: str | Instruction,
    *,
    in_dtype: Any = "f16",
    out_dtype: Any = None,
    plan: _Plan | tuple[_Plan, _Plan] | list[_Plan] = None,
    k: int | None = None,
    rows: int = 200000,
    seed: int = 0,
) -> Equality:
    """Whether two targets return the same bits for every product: proved from their rules, or refuted by a row.

    Targets are GPUs, each with ":FORMAT" if its inputs are not ``in_dtype``, or instructions; ``plan`` is one for both
    or a list or tuple of one for each, None for one chain. Without ``k`` it is asked for every K. At most ``rows`` rows
    are searched (docs/equal.md).

        >>> import softmma
        >>> bool(softmma.equal("H100", "B200", in_dtype="bf16"))
        True
        >>> found = softmma.equal("H100", "H100", in_dtype="e4m3", plan=(None, "cutlass:2xacc"))
        >>> found.answer, found.k
        ('different', 129)

    Raises as `matmul` does, and ValueError where the products do not have the same formats, or no plan can be followed.
    """
    if rows < 1 or not 0 <= seed < 2**63 or (k is not None and not 1 <= k <= 2**24):
        raise ValueError(f"rows is {rows}, seed {seed}, k {k}: rows and k are at least 1, k at most 2**24")
    plans: list[_Plan] = [*plan] if isinstance(plan, (list, tuple)) else [plan, plan]
    if len(plans) != 2:
        raise ValueError(f"plan: {len(plans)} plans; give one for both targets, or one for each")
    made = [p if p is None or isinstance(p, Plan) else Plan(p) for p in plans]
    labels = [label(t) + (f", {p.name}" if p else "") for t, p in zip((x, y), made)]
    instructions = [target_instruction(t, None, in_dtype, out_dtype) for t in (x, y)]
    sides = [(label, i, handle_of(p)) for label, i, p in zip(labels, instructions, made)]
    answer, why, multiple, asked, neutral, searched, row = _core.equal(sides[0], sides[1], k or 0, rows, seed)
    found = None
    if row is not None:
        a, b, c, one, other, scales, at, row_k, operands = row
        found = Row(a, b, c, (one, other), scales, at, row_k, operands)
    return Equality(answer, why, multiple, asked or None, neutral, searched, found)
