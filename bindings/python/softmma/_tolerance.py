"""Measures and bounds errors of products, and gives the tolerances of a test that accept them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from softmma import _core
from softmma._plans import Plan
from softmma._targets import (
    AnyPlan,
    Target,
    own_format,
    product,
    read_c,
    rounded_target,
    several,
    targets,
    warn_of_f16,
    with_rounding,
)
from softmma._threads import limited
from softmma._units import Instruction
from softmma._value import checked, result, to_pandas


class Accepted(NamedTuple):
    """|result - exact| <= atol + rtol |exact|, as in ``torch.testing.assert_close`` and ``numpy.allclose``."""

    rtol: float
    atol: float


class TargetError(NamedTuple):
    """The errors of one target's results against the exact ones."""

    label: str
    arch: str
    instruction: str
    inputs: str
    """Formats of A and B."""
    plan: str | None
    error: dict[str, float]
    """Quantiles of \\|result - exact\\|, by "50", "90", "99", "99.9" (percent) and "max"."""
    bound: float | None
    """The largest of the elements' proven bounds, or None if an element has no bound."""
    unbounded: int
    """Number of elements without a bound, because one of their sums may overflow."""
    left_out: int
    """Number of elements with NaN or infinity among their operands."""
    overflowed: int
    """Number of results that are infinite or NaN where the exact results are not the same."""
    stored: str
    """The format that this target's results are stored in."""


class Verdict(NamedTuple):
    """Fractions of a faulty kernel's results that are refused, on the target where the fraction is smallest."""

    wrong: str
    """The fault: "zeros for D", "the last 64 of K dropped", ..."""
    measured: float | None
    """Fraction refused by the measured tolerance, or None if there is no such tolerance."""
    proven: float | None
    """Fraction refused by the proven tolerance, or None if there is no proven tolerance."""
    bound: float
    """Fraction refused by each element's own bound, as in `assert_close`."""
    some_tolerance_refuses: bool
    """Whether some rtol and atol that accept all targets refuse this fault on each of them."""


class Tolerance(NamedTuple):
    """Result of `tolerance`."""

    measured: Accepted | None
    """The tolerance that accepts the measured errors of all targets, times ``margin``. None if results overflowed: no
    rtol and atol accept these."""
    proven: Accepted | None
    """The tolerance that accepts every result of the targets for these operands, or None if an element has no bound."""
    targets: tuple[TargetError, ...]
    verdicts: tuple[Verdict, ...]
    m: int
    n: int
    k: int
    data: str
    stored: str
    """The format that the first target's results are stored in."""
    elements: int
    """Number of elements measured."""
    margin: float
    paste: str
    """Lines to paste into a kernel's test; empty if no rtol and atol accept all results."""
    value: dict[str, Any]
    """The record that ``softmma tolerance --json`` prints."""
    text: str
    """What ``softmma tolerance`` prints: errors and bounds of each target, tolerances, and the wrong results that these
    refuse."""

    def __str__(self) -> str:
        return self.paste

    def __repr__(self) -> str:
        return self.text

    def to_pandas(self) -> Any:
        """Returns a table with a row for each target, as in ``value``. Needs pandas."""
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
    seed: int = 0,
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
    """Finds the rtol and atol with which a kernel's test accepts every target's product, and the faults these refuse.

    Each target's product is compared with the exact product of A and B in its formats. The errors are measured, and
    bounded by a proof for each element (docs/tolerance.md). Results of faulty kernels are judged by both tolerances.

    ``on`` is a GPU, or a list of instructions and GPUs, each GPU with ":FORMAT" or ":A:B" if its inputs are not
    ``in_dtype`` (default: the arrays' own format if it has at most 16 bits, otherwise "f16"). By default all
    architectures count that have the formats and error bounds. ``instr`` is their instruction. **Operands** are
    matrices A (M, K), B (K, N) and optionally C (M, N). Their values are rounded to the target's formats as in `matmul`
    (``round_in``), and at most 256 x 256 elements are measured. Without matrices, random ``data`` of a kind ("normal",
    "uniform", "nan=0.01", ...) of ``shape`` (M, N, K) (default: (64, 64, 4096)) and of a ``seed`` are used, ``with_c``
    with a C of N(0, 1). ``plan`` and ``round_in`` are one value for all targets or a list with one for each. ``alpha``,
    ``beta``, ``split_k``, ``promote_every``, ``threads`` are as in `matmul`. ``margin``, 1 to 1000, is the factor by
    which the accepted error exceeds the measured one. ``store`` is the format that the kernel finally rounds results
    to.

        >>> import softmma
        >>> found = softmma.tolerance(on=["V100", "H100"], shape=(16, 8, 256))
        >>> found.measured
        Accepted(rtol=2.7e-06, atol=3.6e-05)
        >>> [verdict.wrong for verdict in found.verdicts if not verdict.measured]
        []

    Raises LookupError if there is no such GPU, format or instruction, ValueError for invalid numbers, shapes and data.
    Source: ``softmma tolerance`` prints the same.
    """
    listed = named_targets(on, instr, in_dtype, out_dtype, plan, round_in, (a, b))
    numbers = {"alpha": alpha, "beta": beta, "split_k": split_k, "promote_every": promote_every, "threads": threads}
    seed = checked("seed", seed)
    check_operands(a, b, c, shape, data, seed, with_c, round_in)
    c = read_c(c, several(on, "on"), instr, in_dtype, out_dtype)
    products = tuple(product(name, t, a, b, c, numbers) for name, t in listed)
    m, n, k = (64, 64, 4096) if shape is None else shape
    with limited(threads):
        value, paste, text = _core.tolerance(products, "a", "b", data or "normal", seed, (m, n, k), with_c, store, margin)
    return result(
        Tolerance,
        value,
        measured=value["measured"] and Accepted(**value["measured"]),
        proven=value["proven"] and Accepted(**value["proven"]),
        targets=tuple(_error(unit) for unit in value["units"]),
        verdicts=tuple(Verdict(**each) for each in value["mutants"]),
        paste=paste,
        text=text,
    )


def check_operands(a: Any, b: Any, c: Any, shape: Any, data: Any, seed: int, with_c: bool, round_in: Any) -> None:
    """Raises ValueError if matrices and arguments of random data are mixed."""
    given = a is not None or b is not None
    if given and (shape is not None or data is not None or seed or with_c):
        name = "shape" if shape is not None else "data" if data is not None else "seed" if seed else "with_c"
        raise ValueError(f"{name}: it describes random data, and a and b are given; leave it out")
    if not given and c is not None:
        raise ValueError("c: it goes with a and b; with_c gives random data a C")
    if not given and round_in is not None:
        raise ValueError("round_in: it is for arrays; generated data are numbers of the unit's formats; leave it out")


def _error(unit: dict[str, Any]) -> TargetError:
    same = {name: unit[name] for name in TargetError._fields if name in unit and name != "plan"}
    return TargetError(label=unit["on"], inputs=unit["in"], plan=unit.get("plan"), **same)


def named_targets(
    on: Any, instr: Any, in_dtype: Any, out_dtype: Any, plan: Any, round_in: Any, arrays: tuple[Any, Any]
) -> list[tuple[str, Target]]:
    """Returns the name and the target of each unit; a target's unit is its instruction. The arrays may be None."""
    if on is None and instr is not None:
        raise ValueError("on is missing; for example on='H100'")
    inputs = in_dtype
    if in_dtype is None and instr is None:
        inputs = "f16" if arrays[0] is None or arrays[1] is None else own_format(*map(np.asarray, arrays))
    if on is None:
        found = _core.targets(inputs, out_dtype)
        listed: list[tuple[str, tuple[Instruction, Plan | None]]]
        listed = [(name, (Instruction(*_core.describe(i)), None)) for name, i in found]
        if not listed:
            raise LookupError(f"in_dtype: no GPU has {in_dtype or 'f16'} with results in {out_dtype or 'f32'}")
    else:
        units = [rounded_target(unit, instr, inputs, out_dtype) for unit in several(on, "on")]
        if in_dtype is None and inputs == "f16":
            warn_of_f16(several(on, "on"), units[0][0], 3)
        names = [unit.name if isinstance(unit, Instruction) else unit for unit in several(on, "on")]
        listed = [(_core.split_target(name)[0], unit) for name, unit in zip(names, units)]
    made = targets([instruction for _, (instruction, _) in listed], plan, round_in)
    return [(name, with_rounding(t, *unit)) for (name, unit), t in zip(listed, made)]
