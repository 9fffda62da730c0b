"""One element of a product, instruction by instruction."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softmma import _core
from softmma._plans import Plan
from softmma._products import matmul, positional
from softmma._study import _label, _several
from softmma._units import Instruction

_KINDS = np.array(["start", "instruction", "fold", "epilogue", "store"])
_STEP = np.dtype(
    [("kind", "U11"), ("products", "i8"), ("sum", "f8"), ("exact", "f8"), ("error", "f8")]
)  # one event of a trace
_SIGNATURE = inspect.signature(matmul)
_Plan = Plan | Mapping[str, Any] | str | Path | None


class TracedTarget(NamedTuple):
    """One target's way to its result.

    ``steps`` is a structured array, an element behind each instruction, each fold of the plan and what follows the sum:
    ``kind``, ``products`` summed so far, their ``sum`` wherever it is, the ``exact`` one and the ``error``. ``k`` has a
    row for each instruction: which k it takes, -1 where zeros fill it up.
    """

    label: str
    instruction: Instruction
    plan: Plan | None
    result: NDArray[Any]
    steps: NDArray[Any]
    k: NDArray[np.intp]


class Parting(NamedTuple):
    """Where two targets, by their places, part: at an "instruction", a "fold" or in the "epilogue"; they were the same
    behind ``after`` products, and are not behind ``products``."""

    targets: tuple[int, int]
    at: str
    after: int
    products: int


class Trace(NamedTuple):
    """What `trace` finds; ``parting`` is of the two targets that part first, None where none do."""

    at: tuple[int, int]
    targets: tuple[TracedTarget, ...]
    parting: Parting | None


def trace(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None = None,
    *,
    at: tuple[int, int],
    on: str | Instruction | Sequence[str | Instruction] = "H100",
    plan: _Plan | tuple[_Plan, ...] | list[_Plan] = None,
    round_in: str | Sequence[str | None] | None = None,
    **arguments: Any,
) -> Trace:
    """Element ``at`` = (i, j) of a product of two matrices: what is summed after each instruction, and its error.

    ``on`` is a target of `matmul` or a list of them, ``plan`` one for all or a list of one for each, None for one
    chain, and so is ``round_in``; all else is as in `matmul`. The exact sum is of the operands as the target takes them (docs/trace.md).

        >>> import numpy as np, softmma
        >>> a = np.zeros((1, 48), np.float16)
        >>> a[0, [0, 16, 32]] = 4096, 1, 1
        >>> found = softmma.trace(a, a.T, at=(0, 0), on=["H100", "H100"], plan=[None, "cutlass:2xacc"])
        >>> found.targets[0].steps["error"].tolist()
        [0.0, -1.0, -2.0]
        >>> print(found.parting)
        None

    Raises as `matmul` does, and IndexError for an element that is not there.
    """
    units = _several(on, "on")
    plans: list[_Plan] = [*plan] if isinstance(plan, (list, tuple)) else [plan] * len(units)
    if len(plans) != len(units):
        raise ValueError(f"plan: {len(plans)} plans for {len(units)} targets; give one for all, or one for each")
    modes = [round_in] * len(units) if round_in is None or isinstance(round_in, str) else [*round_in]
    if len(modes) != len(units):
        raise ValueError(f"round_in: {len(modes)} rounding modes for {len(units)} targets; give one, or one for each")
    targets, handles = [], []
    for unit, described, mode in zip(units, plans, modes):
        made = described if described is None or isinstance(described, Plan) else Plan(described)
        given = _SIGNATURE.bind(a, b, c, on=unit, plan=made, round_in=mode, **arguments)
        given.apply_defaults()
        handle, chosen, d, events, k = _core.trace(*at, tuple(positional(given.arguments)))
        instruction = chosen if isinstance(chosen, Instruction) else Instruction(*_core.describe(chosen))
        targets.append(TracedTarget(_label(unit), instruction, made, d[0], _steps(events), k))
        handles.append(handle)
    return Trace((at[0], at[1]), tuple(targets), _first_parting(handles))


def _steps(events: NDArray[np.float64]) -> NDArray[Any]:
    kind, _, products, value, rest, exact, error = events.T
    steps = np.empty(len(events), _STEP)
    steps["kind"], steps["products"] = _KINDS[kind.astype(int)], products
    steps["sum"], steps["exact"], steps["error"] = value + rest, exact, error
    return steps


def _first_parting(handles: list[Any]) -> Parting | None:
    found = []
    for second in range(len(handles)):
        for first in range(second):
            parting = _core.trace_parting(handles[first], handles[second])
            if parting is not None:
                kind, after, products = parting
                found.append(Parting((first, second), str(_KINDS[kind]), after, products))
    return min(found, key=lambda p: p.products, default=None)
