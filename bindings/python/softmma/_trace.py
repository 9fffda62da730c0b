"""Follows one element of a product, instruction by instruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softmma import _core
from softmma._plans import Plan
from softmma._renamed import warn_of_old_name
from softmma._targets import (
    AnyPlan,
    label,
    named_results,
    product,
    read_c,
    several,
    target_instruction,
    targets,
    warn_of_f16,
)
from softmma._units import Instruction

_KINDS = np.array(["start", "instruction", "fold", "epilogue", "store"])
_STEP = np.dtype(
    [("kind", "U11"), ("products", "i8"), ("sum", "f8"), ("exact", "f8"), ("error", "f8")]
)  # one event of a trace


class TracedTarget(NamedTuple):
    """The steps by which one target gets its result.

    ``steps`` is a structured array with an element for each instruction, each fold of the plan and each step of the
    epilogue: ``kind``, the number of ``products`` summed so far, the ``sum`` over all accumulators, the ``exact`` sum
    and the ``error``. ``k`` has a row for each instruction with the indices k it takes, -1 for padding zeros.
    """

    label: str
    instruction: Instruction
    plan: Plan | None
    result: NDArray[Any]
    steps: NDArray[Any]
    k: NDArray[np.intp]

    def __repr__(self) -> str:
        return f"<{self.label}: {self.result!s} after {len(self.steps)} steps of {self.instruction.name}>"


class SumDivergence(NamedTuple):
    """The step at which two targets, given by index, diverge: an "instruction", a "fold" or the "epilogue". Their sums
    are equal after ``after`` products and differ after ``products``."""

    targets: tuple[int, int]
    at: str
    after: int
    products: int


class Trace(NamedTuple):
    """Result of `trace`. ``divergence`` belongs to the two targets that diverge first; None if all sums are equal."""

    at: tuple[int, int]
    targets: tuple[TracedTarget, ...]
    divergence: SumDivergence | None
    why: str
    """Why this element was traced, if the caller did not choose it."""
    value: dict[str, Any]
    """The record that ``softmma trace --json`` prints. It also has the user's own results and explained instructions."""
    text: str
    """What ``softmma trace`` prints: a table of the sums, the results, and where two targets diverge, bit by bit.
    Targets have their names in ``on``."""

    @property
    def parting(self) -> SumDivergence | None:
        """Old name of ``divergence``."""
        warn_of_old_name("Trace.parting", "Trace.divergence")
        return self.divergence

    def __repr__(self) -> str:
        results = ", ".join(f"{t.label} {t.result!s}" for t in self.targets)
        end = ""
        if self.divergence is not None:
            one, other = (self.targets[i].label for i in self.divergence.targets)
            end = f"; {one} and {other} diverge at {self.divergence.products} products ({self.divergence.at})"
        return f"<trace of [{self.at[0]}, {self.at[1]}]: {results}{end}>"


def trace(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None = None,
    *,
    at: tuple[int, int] | Literal["worst"] | None = None,
    on: str | Instruction | Sequence[str | Instruction] = "H100",
    plan: AnyPlan | tuple[AnyPlan, ...] | list[AnyPlan] = None,
    round_in: str | Sequence[str | None] | None = None,
    d: ArrayLike | Sequence[ArrayLike] | Mapping[str, ArrayLike] | None = None,
    every: int = 1,
    **arguments: Any,
) -> Trace:
    """Traces element ``at`` = (i, j) of a product of two matrices: the sum after each instruction, and its error.

    By default ``at`` is the element in which results differ most: the two results in ``d``; or one result in ``d`` and
    the first target's; or those of any two targets. "worst" is the same, except that of one target without ``d`` it is
    the element with the largest error against the exact product. ``d`` holds up to two results of the user's own, M x N in the
    targets' format of D: an array, a list of arrays, or {name: array}. ``on`` is a target of `matmul` or a list of
    targets, each with ":FORMAT" or ":INSTRUCTION" if it differs from the arguments. ``plan`` and ``round_in`` are one
    value for all or a list with one for each; a plan None is one chain. For block-scaled formats without scale factors
    A and B are quantised. Operands of a plan that are not given are 1, a bias 0. The other arguments are as in
    `matmul`. The exact sum is that of the operands after rounding to the target's formats (docs/trace.md). ``value``
    holds one of ``every`` steps.

        >>> import numpy as np, softmma
        >>> a = np.zeros((1, 48), np.float16)
        >>> a[0, [0, 16, 32]] = 4096, 1, 1
        >>> found = softmma.trace(a, a.T, at=(0, 0), on=["H100", "H100"], plan=[None, "cutlass:2xacc"])
        >>> found.targets[0].steps["error"].tolist()
        [0.0, -1.0, -2.0]
        >>> print(found.divergence)
        None

    Raises as `matmul` does, IndexError for an element outside D, and ValueError for results of other shapes, or with
    values that the targets' format does not have.
    """
    listed = targets(several(on, "on"), plan, round_in)
    c = read_c(c, several(on, "on"), *(arguments.get(name) for name in ("instr", "in_dtype", "out_dtype")))
    given = tuple(product(label(t.unit), t, a, b, c, arguments) for t in listed)
    if "in_dtype" not in arguments and "instr" not in arguments and np.asarray(a).dtype == np.asarray(b).dtype == "f2":
        warn_of_f16([t.unit for t in listed], target_instruction(listed[0].unit, None, "f16", None), 2)
    modes = round_in is not None and not isinstance(round_in, str)
    place = at if at is None or isinstance(at, str) else tuple(at)
    value, traces, pair, text = _core.trace(place, named_results(d), modes, every, given)
    found = []
    for t, (chosen, result, events, k) in zip(listed, traces):
        instruction = chosen if isinstance(chosen, Instruction) else Instruction(*_core.describe(chosen))
        found.append(TracedTarget(label(t.unit), instruction, t.plan, result[0], _steps(events), k))
    divergence = None
    if pair is not None:
        found_at = value["parting"]
        divergence = SumDivergence(pair, found_at["at"], found_at["after"], found_at["products"])
    i, j = value["element"]
    return Trace((i, j), tuple(found), divergence, value["why"], value, text)


def _steps(events: NDArray[np.float64]) -> NDArray[Any]:
    kind, _, products, value, rest, exact, error = events.T
    steps = np.empty(len(events), _STEP)
    steps["kind"], steps["products"] = _KINDS[kind.astype(int)], products
    steps["sum"], steps["exact"], steps["error"] = value + rest, exact, error
    return steps
