"""Finds the instructions and plans that give exactly a matrix's bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from softmma import _core
from softmma._plans import Plan, handle_of
from softmma._threads import limited
from softmma._units import Instruction, text_of
from softmma._value import result, to_pandas


class MatchingLibrary(NamedTuple):
    """A library with the reduction order of a candidate's plan."""

    library: str
    """The library's name, as `plan` takes it."""
    configuration: str
    others: int
    """Number of other configurations of this library with the same order."""


class MatchDifference(NamedTuple):
    """The difference between D and a computed product. Two NaNs are equal."""

    different: int
    in_words: str
    first: tuple[int, int]
    """Row and column of the first differing element."""
    d: dict[str, Any]
    """D's element there: its encoding ``hex`` and its ``value``."""
    computed: dict[str, Any]
    """The computed element: ``hex`` and ``value``."""
    rows: tuple[int, int]
    """The first and last row with a differing element."""
    columns: tuple[int, int]
    largest_ulps: int
    """The largest difference in units in the last place among pairs of finite elements."""
    special: int
    """The number of differing elements with an infinity or NaN on either side."""
    value: dict[str, Any]
    """The record that `softmma match --json` prints for this difference."""


class Candidate(NamedTuple):
    """Equivalent instructions, and a plan for them."""

    instructions: tuple[tuple[str, str], ...]
    """Architecture and name of each instruction that computes the function; all give the same bits."""
    in_words: str
    """The plan in words."""
    plan: Plan
    """The plan, for `matmul`."""
    libraries: tuple[MatchingLibrary, ...]
    differs_at_random: int
    """Number of the 16 elements of a random product of this K that differ from those of the first fit. If it is not 0,
    other matrices can distinguish the two candidates."""
    difference: MatchDifference | None
    """The difference between D and the candidate, or None for a fit."""

    def __repr__(self) -> str:
        others = f" and {len(self.instructions) - 1} more" if len(self.instructions) > 1 else ""
        differ = f"; {self.difference.different} elements differ" if self.difference else ""
        return f"<{' '.join(self.instructions[0])}{others}: {self.in_words}{differ}>"


class Match(NamedTuple):
    """The result of `match`. It is true if a candidate fits."""

    m: int
    n: int
    k: int
    a_format: str
    b_format: str
    d_format: str
    round_in: str | None
    """The rounding mode of A and B in the result, or None if their formats hold all values."""
    round_in_tried: tuple[str, ...]
    plans: int
    """Number of plans tried for the ``functions`` distinct instructions; ``candidates`` of them differ for this K."""
    functions: int
    candidates: int
    fits: tuple[Candidate, ...]
    """The candidates that give every element of D: plans of libraries first, then simple plans."""
    untried: int
    """The number of further candidates that give all sampled elements, but were not computed in whole."""
    near: Candidate | None
    """The candidate with the fewest differing elements, if nothing fits."""
    exact: bool
    """Whether no addition can round. Then the order of additions changes nothing."""
    hint: str
    """A likely cause if no candidate comes near, such as a factor, another matrix or another format; else ""."""
    seconds: float
    distance: float
    """The Frobenius norm of D minus the reference product, divided by the norm of the latter. The reference is A B with
    the given C, scale factors and bias."""
    factor: float
    """The factor between D and the reference product, if it is the same for all elements; otherwise 0."""
    notes: tuple[str, ...]
    """Notes on the matrices, such as rounded values."""
    value: dict[str, Any]
    """The record that ``softmma match --json`` prints."""
    text: str
    """What ``softmma match`` prints: the plans that fit, or the nearest one and where it differs."""

    def __bool__(self) -> bool:
        return bool(self.fits)

    def __repr__(self) -> str:
        first = self.fits[0] if self.fits else self.near
        found = f"{len(self.fits)} fits, the first {first!r}" if self.fits else f"no fit, nearest {first!r}"
        return f"<match of {self.m} x {self.n} x {self.k} in {self.d_format}: {found}>"

    def to_pandas(self) -> Any:
        """Returns a table with a row for each fit, or for the nearest candidate."""
        return to_pandas(self.value["fits"] or [self.value["near"]] * (self.value["near"] is not None))


class Claim(NamedTuple):
    """The result of `claim`. It is true if the claim holds."""

    claim: str
    equal: bool
    round_in: str | None
    """The rounding mode of A and B that comes nearest, or None if their formats hold all values."""
    arch: str
    instruction: str
    rule: str
    plan: Plan | None
    difference: MatchDifference | None
    inputs: dict[str, Any]
    """Format, shape and SHA-256 of each matrix in the format of the comparison."""
    elements: int
    notes: tuple[str, ...]
    value: dict[str, Any]
    """The record that ``softmma match --claim --json`` prints."""

    def __bool__(self) -> bool:
        return self.equal

    def __repr__(self) -> str:
        differ = f"{self.difference.different} of {self.elements} elements differ" if self.difference else "all differ"
        return f"<claim {self.claim}: {'holds' if self.equal else differ}>"


_Plan = Plan | Mapping[str, Any] | str | Path


def _difference(value: dict[str, Any]) -> MatchDifference | None:
    if not value["different"]:
        return None
    return result(MatchDifference, value)


def _candidate(value: Mapping[str, Any]) -> Candidate:
    return Candidate(
        tuple((i["arch"], i["instruction"]) for i in value["instructions"]),
        value["in_words"],
        Plan(value["plan"]),
        tuple(MatchingLibrary(**library) for library in value["libraries"]),
        value["differs_at_random"],
        _difference(value["difference"]),
    )


def match(
    a: ArrayLike,
    b: ArrayLike,
    d: ArrayLike,
    *,
    on: str | Instruction | Sequence[str | Instruction] | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    c: ArrayLike | None = None,
    scale_a: ArrayLike | None = None,
    scale_b: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    scale_d: float = 1.0,
    transpose_a: bool = False,
    transpose_b: bool = False,
    round_in: str | None = None,
    threads: int = 0,
) -> Match:
    """Searches for the instructions and plans that give exactly the bits of D = alpha A B + beta C (docs/match.md).

    Shapes: A (M, K), B (K, N) (transposed with ``transpose_a``, ``transpose_b``), D and C (M, N), ``bias`` (N,) added
    to each row, ``scale_a`` (M, parts) and ``scale_b`` (parts, N), float32 factors of parts of K. ``alpha``, ``beta``
    and ``scale_d``, a factor of the result, are those of the product.

    ``on`` limits the search to GPUs or architectures, or instructions and custom units (default: all). A name may be
    "GPU:FORMAT", which gives ``in_dtype``, or "GPU:INSTRUCTION".
    ``in_dtype`` is the format in which A and B were multiplied, or a pair of formats, and ``out_dtype`` is D's format
    (default: those of the arrays). An array of unsigned integers as wide as the given format holds encodings. Values
    outside these formats are rounded in the mode ``round_in`` (default: every mode until something fits). The search
    takes seconds to minutes, longer with more GPUs; Control-C ends it.

        >>> import numpy as np, softmma
        >>> rng = np.random.default_rng(0)
        >>> a, b = rng.normal(size=(8, 64)).astype("f2"), rng.normal(size=(64, 8)).astype("f2")
        >>> found = softmma.match(a, b, softmma.matmul(a, b, on="V100"), on=["V100", "A100"])
        >>> found.fits[0].instructions[0], found.fits[0].in_words
        (('volta', 'mma.m8n8k4.f32.f16.f16.f32'), 'one chain')

    Raises LookupError for an unknown name, ValueError for shapes that do not fit, a number in D that its format does
    not have, and contradictory options, TypeError for a dtype that is not a number format.
    """
    if isinstance(on, str):
        on = None if on == "all" else on.split(",")
    targets = () if on is None else (on,) if isinstance(on, Instruction) else tuple(on)
    if on is not None and not targets:
        raise ValueError("on: the list is empty; None stands for all")
    with limited(threads):
        value, notes, text = _core.match(
            a, b, d, c, scale_a, scale_b, bias, in_dtype, out_dtype, targets, None, round_in, alpha, beta, scale_d,
            transpose_a, transpose_b, threads,
        )  # fmt: skip
    near = value["near"]
    return result(
        Match,
        value,
        fits=tuple(map(_candidate, value["fits"])),
        near=near and _candidate(near),
        notes=tuple(notes),
        text=text,
    )


def claim(
    a: ArrayLike,
    b: ArrayLike,
    d: ArrayLike,
    what: str | Instruction | _Plan,
    *,
    on: str | None = None,
    instr: str | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    c: ArrayLike | None = None,
    scale_a: ArrayLike | None = None,
    scale_b: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    scale_d: float = 1.0,
    transpose_a: bool = False,
    transpose_b: bool = False,
    round_in: str | None = None,
    threads: int = 0,
) -> Claim:
    """Checks whether D is exactly the product it is claimed to be.

    ``what`` is an instruction, "GPU", "GPU:FORMAT", "GPU:A:B" or "GPU:INSTRUCTION", computed as one chain. With ``on``,
    ``what`` is a plan, or "none" for one chain, around the instruction ``instr`` of that GPU (default: the GPU's
    preferred one for the formats). The other arguments are as in `match`.

        >>> import numpy as np, softmma
        >>> a = np.array([[1, 2**-12, 2**-12]], "f2")
        >>> found = softmma.claim(a, a.T, softmma.matmul(a, a.T, on="H100"), "V100")
        >>> bool(found), found.difference.in_words
        (False, 'one element, [0, 0], by one unit in the last place')

    Raises as `match` does, and ValueError if the claimed product has other formats than the matrices.
    """
    plan = None
    asked: tuple[Any, Any, Any]  # the unit, the instruction and the formats
    if on is not None:
        plan = None if what == "none" else what if isinstance(what, Plan) else Plan(what)  # type: ignore[arg-type]
        asked = text_of(on, "on"), instr, None if instr is not None else in_dtype
    elif instr is not None:
        raise ValueError("instr: goes with on, the GPU's name")
    elif isinstance(what, Instruction):
        asked = what, None, None
    else:
        text_of(what, "what", "an Instruction, 'GPU:FORMAT', or with on= a plan")
        if _is_plan(what):
            raise ValueError(f"what: '{what}' is a plan; on, the name of its GPU, is missing")
        asked = what, None, None
    text = what if isinstance(what, str) else what.name if isinstance(what, Instruction) else plan.name if plan else ""
    with limited(threads):
        value, notes, _ = _core.match(
            a, b, d, c, scale_a, scale_b, bias, in_dtype, out_dtype, None, (text, handle_of(plan), *asked), round_in,
            alpha, beta, scale_d, transpose_a, transpose_b, threads,
        )  # fmt: skip
    return result(
        Claim,
        value,
        plan=value["plan"] and Plan(value["plan"]),
        difference=_difference(value["difference"]),
        notes=tuple(notes),
    )


def _is_plan(what: Any) -> bool:
    if what == "none":
        return True
    try:
        Plan(what)
    except (LookupError, OSError, ValueError):
        return False
    return True
