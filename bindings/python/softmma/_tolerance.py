"""How far products are from the exact ones, and which tolerances of a test accept them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from softmma import _core
from softmma._targets import AnyPlan, Target, product, several, target_instruction, targets
from softmma._units import Instruction
from softmma._value import result, to_pandas


class Accepted(NamedTuple):
    """|result - exact| <= atol + rtol |exact|, as ``torch.testing.assert_close`` and ``numpy.allclose`` have it."""

    rtol: float
    atol: float


class TargetError(NamedTuple):
    """How far one target's results are from the exact ones."""

    label: str
    arch: str
    instruction: str
    inputs: str
    """Formats of A and B."""
    plan: str | None
    error: dict[str, float]
    """Quantiles of \\|result - exact\\|, by "50", "90", "99", "99.9" (percent) and "max"."""
    bound: float | None
    """The greatest of the elements' proven bounds; None if an element has no bound."""
    unbounded: int
    """Elements without a bound: a sum of theirs may overflow."""
    left_out: int
    """Elements with NaN or infinity among their operands."""


class Verdict(NamedTuple):
    """How much of a faulty kernel's results is refused: shares of the elements, on the target where they are fewest."""

    wrong: str
    """The fault: "zeros for D", "the last 64 of K dropped", ..."""
    measured: float
    """By the measured tolerance."""
    proven: float | None
    """By the proven tolerance; None if there is no proven tolerance."""
    bound: float
    """By each element's own bound, as `assert_close` compares."""
    some_tolerance_refuses: bool
    """Whether any rtol and atol that accept all targets refuse it on each of them."""


class Tolerance(NamedTuple):
    """What `tolerance` finds."""

    measured: Accepted
    """Accepts the measured errors of all targets, times ``margin``."""
    proven: Accepted | None
    """Accepts every result that the targets can return for these operands; None if an element has no bound."""
    targets: tuple[TargetError, ...]
    verdicts: tuple[Verdict, ...]
    m: int
    n: int
    k: int
    data: str
    stored: str
    """The format that results are stored in."""
    elements: int
    """How many were measured."""
    margin: float
    paste: str
    """Lines for a kernel's test."""
    value: dict[str, Any]
    """The record that ``softmma tolerance --json`` prints."""

    def __str__(self) -> str:
        return self.paste

    def to_pandas(self) -> Any:
        """A row for each target, as ``value`` has them; needs pandas."""
        return to_pandas(self.value["units"])


def tolerance(
    a: ArrayLike | None = None,
    b: ArrayLike | None = None,
    c: ArrayLike | None = None,
    *,
    on: str | Instruction | Sequence[str | Instruction] | None = None,
    instr: str | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    shape: tuple[int, int, int] | None = None,
    data: str | None = None,
    with_c: bool = False,
    alpha: float = 1.0,
    beta: float = 1.0,
    split_k: int = 1,
    promote_every: int = 0,
    plan: AnyPlan | Sequence[AnyPlan] = None,
    round_in: str | Sequence[str | None] | None = None,
    margin: float = 2.0,
    store: Any = None,
    threads: int = 0,
) -> Tolerance:
    """Which rtol and atol a kernel's test needs so that every target's product passes, and what these refuse.

    Each target's product is compared with the exact one, of A and B as they are in its formats: measured, and proved by
    a bound for each element (docs/tolerance.md). Wrong results of faulty kernels are judged by both tolerances.

    ``on`` is a GPU or a list of them, each with ":FORMAT" or ":A:B" if its inputs are not ``in_dtype`` ("f16" without
    it), or instructions; without it all architectures that have the formats count. ``instr`` is their instruction.
    **Operands** are matrices A (M, K), B (K, N) and perhaps C (M, N), whose values are rounded to the target's formats
    as in `matmul` (``round_in``), of which at most 256 x 256 elements are measured; or, without them, random ``data``
    of a kind ("normal", "uniform", "nan=0.01", ...) of ``shape`` (M, N, K), (64, 64, 4096) without it, ``with_c``
    with a C of N(0, 1). ``plan`` and ``round_in`` are one for all targets or a list of one for each.
    ``alpha``, ``beta``, ``split_k``, ``promote_every``, ``threads`` are as in `matmul`. ``margin``, 1 to 1000, says how
    many times the measured errors are accepted, ``store`` the format that the kernel rounds results to at last.

        >>> import softmma
        >>> found = softmma.tolerance(on=["V100", "H100"], shape=(16, 8, 256))
        >>> found.measured
        Accepted(rtol=1.5e-06, atol=4.4e-05)
        >>> [verdict.wrong for verdict in found.verdicts if not verdict.measured]
        []

    Raises LookupError if there is no such GPU, format or instruction, ValueError for numbers, shapes and data that do
    not fit. Source: ``softmma tolerance`` prints the same.
    """
    listed = _targets(on, instr, in_dtype, out_dtype, plan, round_in)
    given = a is not None or b is not None
    if given and (shape is not None or data is not None or with_c):
        name = "shape" if shape is not None else "data" if data is not None else "with_c"
        raise ValueError(f"{name}: a and b say it; leave it out")
    if not given and c is not None:
        raise ValueError("c: it goes with a and b; with_c gives random data a C")
    if not given and round_in is not None:
        raise ValueError("round_in: it is for arrays; generated data are numbers of the unit's formats; leave it out")
    numbers = {"alpha": alpha, "beta": beta, "split_k": split_k, "promote_every": promote_every, "threads": threads}
    products = tuple(product(name, t, a, b, c, numbers) for name, t in listed)
    m, n, k = (64, 64, 4096) if shape is None else shape
    value, paste = _core.tolerance(products, "a", "b", data or "normal", (m, n, k), with_c, store, margin)
    return result(
        Tolerance,
        value,
        measured=Accepted(**value["measured"]),
        proven=value["proven"] and Accepted(**value["proven"]),
        targets=tuple(_error(unit) for unit in value["units"]),
        verdicts=tuple(Verdict(**each) for each in value["mutants"]),
        paste=paste,
    )


def _error(unit: dict[str, Any]) -> TargetError:
    same = {name: unit[name] for name in ("arch", "instruction", "error", "bound", "unbounded", "left_out")}
    return TargetError(label=unit["on"], inputs=unit["in"], plan=unit.get("plan"), **same)


def _targets(on: Any, instr: Any, in_dtype: Any, out_dtype: Any, plan: Any, round_in: Any) -> list[tuple[str, Target]]:
    """Returns the name and the target of each unit; a target's unit is its instruction."""
    if on is None and instr is not None:
        raise ValueError("on is missing; for example on='H100'")
    inputs = "f16" if in_dtype is None and instr is None else in_dtype
    if on is None:
        listed = [(name, Instruction(*_core.describe(i))) for name, i in _core.targets(inputs, out_dtype)]
        if not listed:
            raise LookupError(f"in_dtype: no GPU has {in_dtype or 'f16'} with results in {out_dtype or 'f32'}")
    else:
        units = [target_instruction(unit, instr, inputs, out_dtype) for unit in several(on, "on")]
        names = [unit.name if isinstance(unit, Instruction) else unit for unit in several(on, "on")]
        listed = [(name.partition(":")[0], unit) for name, unit in zip(names, units)]
    made = targets([unit for _, unit in listed], plan, round_in)
    return [(name, t) for (name, _), t in zip(listed, made)]
