"""Proves or refutes that two products return the same bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from softmma import _core
from softmma._encodings import array, operands
from softmma._plans import Plan, handle_of
from softmma._targets import completed, label, target_instruction, warn_of_f16
from softmma._units import Instruction
from softmma._value import checked


class Row(NamedTuple):
    """A counterexample: the product of one row and one column, with ``k`` products, for which two functions return
    different results. ``a`` and ``b`` hold the elements with the indices k in ``at``; all other elements are +0."""

    a: NDArray[Any]
    b: NDArray[Any]
    c: NDArray[Any]
    results: tuple[NDArray[Any], NDArray[Any]]
    scales: tuple[NDArray[Any], NDArray[Any]] | None
    at: tuple[int, ...]
    k: int
    operands: str
    """alpha and other epilogue operands that are not neutral."""

    def _in_words(self) -> str:
        one, other = (str(result.flat[0]) for result in self.results)
        return f"a counterexample of K = {self.k}, `row`, gives {one} and {other}"


class Equality(NamedTuple):
    """The answer of `equal`; true only if equality is proved."""

    answer: str
    """"equal", "different" or "cannot tell"."""
    why: str
    """The proof in words, the difference, or why neither could be shown."""
    multiple_of: int
    """The proof holds for every K that is a multiple of this number."""
    k: int | None
    """The examined K (None: every K)."""
    neutral: str
    """Operands that only one of the two takes, with the neutral value used here: "alpha (1)"."""
    rows: int
    """Number of vectors searched."""
    row: Row | None
    """The smallest counterexample found. For "equal": one with a K that is not a multiple of `multiple_of`."""
    value: dict[str, Any]
    """The record that ``softmma diff --prove --json`` prints."""
    text: str
    """What ``softmma diff --prove`` prints: both rules, the answer, and the counterexample with its operands."""

    def __bool__(self) -> bool:
        return self.answer == "equal"

    def __repr__(self) -> str:
        multiple = f" for K that is a multiple of {self.multiple_of}" if self.multiple_of > 1 else ""
        parts = [f"{self.answer}{multiple}: {self.why}", self.neutral and f"with {self.neutral}"]
        return "; ".join(filter(None, [*parts, self.row and self.row._in_words()]))


_Plan = Plan | Mapping[str, Any] | str | Path | None


def equal(
    x: str | Instruction,
    y: str | Instruction,
    *,
    in_dtype: Any = None,
    out_dtype: Any = None,
    plan: _Plan | tuple[_Plan, _Plan] | list[_Plan] = None,
    k: int | None = None,
    rows: int = 200000,
    seed: int = 0,
) -> Equality:
    """Proves from their rules that two targets return the same bits for every product, or finds a counterexample.

    A target is an instruction or a GPU, written "GPU:FORMAT" if its input format is not ``in_dtype`` (default: f16). If
    the formats of A or B differ, only operands that both formats hold are compared, and all NaN are equal; y may be
    ":FORMAT" alone, on the GPU of x. ``plan`` is one plan for both targets, or a list or tuple with one for each; None is a single
    chain. ``k`` is the K examined (default: every K). At most ``rows`` vectors are searched (docs/equal.md).

        >>> import softmma
        >>> bool(softmma.equal("H100", "B200", in_dtype="bf16"))
        True
        >>> found = softmma.equal("H100", "H100", in_dtype="e4m3", plan=(None, "cutlass:2xacc"))
        >>> found.answer, found.k
        ('different', 129)

    Raises as `matmul` does, and ValueError if the products differ in their formats or a plan cannot be followed.
    """
    plans: list[_Plan] = [*plan] if isinstance(plan, (list, tuple)) else [plan, plan]
    if len(plans) != 2:
        raise ValueError(f"plan: {len(plans)} plans; give one for both targets, or one for each")
    value, text, (i, _) = _asked([x, y], plans, in_dtype, out_dtype, k, rows, seed)
    return Equality(
        answer=value["answer"],
        why=value["why"],
        multiple_of=value.get("multiple_of") or 1,
        k=value.get("k"),
        neutral=value.get("neutral", ""),
        rows=value["rows"],
        row=_row(value["row"] or value.get("other_k"), i),
        value=value,
        text=text,
    )


class Permutation(NamedTuple):
    """The answer of `permute`; true only if every order of k is proved to give the same bits."""

    order: str
    """"any", "matters" or "cannot tell"."""
    why: str
    """The proof in words, or empty."""
    k: int | None
    """The examined K (None: every K)."""
    row: Row | None
    """The smallest counterexample found, whose result changes."""
    exchanged: tuple[int, int] | None
    """The two indices k that are exchanged in it."""
    rows: int
    """Number of vectors searched."""
    any_order_of: str
    """The products that may be exchanged although the order matters in general, in words; with a plan, the k that may
    be exchanged with k = 0: "1 to 15". Empty if none are known."""
    block_k: str | None
    """The effect of the instruction's K and of BLOCK_K, or None with a plan."""
    zeros: str | None
    """The effect of zeros appended after the last k: "change nothing", "matter", "cannot tell"; None with a plan."""
    zeros_row: Row | None
    """The smallest vector found whose result the zeros change."""
    value: dict[str, Any]
    """The record that ``softmma diff --permute --json`` prints."""
    text: str
    """What ``softmma diff --permute`` prints."""

    def __bool__(self) -> bool:
        return self.order == "any"

    def __repr__(self) -> str:
        parts = [f"order of k: {self.order}", self.why]
        if self.any_order_of:
            parts.append(f"any order of {self.any_order_of}")
        if self.zeros:
            parts.append(f"appended zeros: {self.zeros}")
        if self.row and self.exchanged:
            parts.append(f"with k = {self.exchanged[0]} and {self.exchanged[1]} exchanged, {self.row._in_words()}")
        return "; ".join(filter(None, parts))


def permute(
    x: str | Instruction,
    *,
    in_dtype: Any = None,
    out_dtype: Any = None,
    plan: _Plan = None,
    k: int | None = None,
    rows: int = 200000,
    seed: int = 0,
) -> Permutation:
    """Proves that every order of k gives a target's products the same bits, or finds a counterexample.

    It also reports the effect of BLOCK_K and of zeros appended after the last k. The target, ``plan``, ``k``, ``rows``
    and ``seed`` are as in `equal`. With a plan and no ``k``, K is the smallest for which the plan uses more than one
    chain, or two calls (docs/equal.md).

        >>> import softmma
        >>> softmma.permute("A100:s8").order, softmma.permute("A100").order
        ('any', 'matters')

    Raises as `equal` does.
    """
    value, text, (i,) = _asked([x], [plan], in_dtype, out_dtype, k, rows, seed)
    exchanged = value["exchanged"]
    return Permutation(
        order=value["order"],
        why=value["why"],
        k=value.get("k"),
        row=_row(value["row"], i),
        exchanged=None if exchanged is None else (exchanged[0], exchanged[1]),
        rows=value["rows"],
        any_order_of=value["any_order_with_0"] if "any_order_with_0" in value else value["any_order_of"],
        block_k=value.get("block_k"),
        zeros=value.get("zeros"),
        zeros_row=_row(value.get("zeros_row"), i),
        value=value,
        text=text,
    )


def _asked(
    targets: Sequence[str | Instruction],
    plans: Sequence[_Plan],
    in_dtype: Any,
    out_dtype: Any,
    k: int | None,
    rows: int,
    seed: int,
) -> tuple[dict[str, Any], str, list[Instruction]]:
    """Returns the answer as a record and as text, and the targets' instructions."""
    rows, seed = checked("rows", rows, 1), checked("seed", seed)
    k = None if k is None else checked("k", k, 1, 2**24)
    made = [p if p is None or isinstance(p, Plan) else Plan(p) for p in plans]
    names = [p.name if p else "none" if any(made) else None for p in made]
    targets = completed(targets)
    instructions = [target_instruction(t, None, "f16" if in_dtype is None else in_dtype, out_dtype) for t in targets]
    if in_dtype is None:
        warn_of_f16(targets, instructions[0], 3)
    sides = [(label(t), i, handle_of(p), name) for t, i, p, name in zip(targets, instructions, made, names)]
    return *_core.equal(tuple(sides), k or 0, rows, seed), instructions


def _row(record: Mapping[str, Any] | None, i: Instruction) -> Row | None:
    if record is None:
        return None
    x = operands(record, i, record["c_format"])
    one, other = (array(d, record["d_format"]) for d in record["d"])
    at = tuple(record.get("at", range(record["k"])))
    return Row(x.a, x.b, x.c, (one, other), x.scales, at, record.get("product_k", record["k"]), record.get("with", ""))
