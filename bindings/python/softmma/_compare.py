"""Compares one product on several GPUs, and results of the user's own: how many differ, and their errors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softmma import _core
from softmma._plans import Plan
from softmma._table import html_table, text_table
from softmma._targets import (
    AnyPlan,
    Target,
    completed,
    label,
    named_results,
    own_format,
    product,
    rounded_target,
    targets,
    warn_of_f16,
    with_rounding,
)
from softmma._threads import limited
from softmma._units import Instruction
from softmma._value import to_pandas


class ComparedUnit(NamedTuple):
    """One unit's product, or a result of the user's own, compared with the first unit's product.

    ``different`` counts results whose bits differ from the first unit's; in ``special`` of them one side is NaN or
    infinite. The others differ by at most ``largest_ulps`` units in the last place, and by at most
    ``largest_difference`` times the first unit's largest result. ``error`` is the largest distance from the exact
    product of the arrays as given, divided by the largest magnitude of that product. ``unit_error`` is the same for the
    arrays rounded to the unit's input formats: the error of the matrix unit alone. ``left_out`` counts results excluded
    from ``error``, because they or the exact results are not finite. With tolerances, ``beyond`` counts results that
    differ from the first unit's by more than these; otherwise it is None. A result of the user's own has its name as
    ``label``, no ``instruction`` and a ``unit_error`` of NaN.
    """

    label: str
    instruction: Instruction | None
    d: NDArray[Any]
    different: int
    largest_ulps: int
    special: int
    error: float
    unit_error: float
    left_out: int
    largest_difference: float
    round_in: str | None = None
    """The rounding mode given to `compare`."""
    plan: Plan | None = None
    beyond: int | None = None


class Comparison(Sequence[ComparedUnit]):
    """One product on several units, and results of the user's own, shown as a table."""

    _HEADER = ("GPU", "inputs", "instruction", "differ", "at most by", "end-to-end error", "error of the matrix unit")

    def __init__(self, units: Sequence[ComparedUnit], value: dict[str, Any], text: str):
        self.units = tuple(units)
        self.value = value
        """The record that ``softmma compare --json`` prints."""
        self.text = text
        """What ``softmma compare`` prints: with three results or more, also how many differ, pair by pair."""

    def __getitem__(self, index: Any) -> Any:
        return self.units[index]

    def __len__(self) -> int:
        return len(self.units)

    def pairs(self) -> NDArray[np.int64]:
        """Returns the number of different results for every pair of units."""
        table = np.zeros((len(self), len(self)), np.int64)
        for pair in self.value["pairs"]:
            first, second = pair["first"], pair["second"]
            table[first, second] = table[second, first] = pair["different"]
        return table

    def to_pandas(self) -> Any:
        """Returns a table with a row for each unit, as in ``value``."""
        return to_pandas(self.value["units"])

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for n, u in enumerate(self.units):
            all_special = u.different and u.special == u.different
            largest = "-" if n == 0 or all_special else f"{u.largest_difference:.2e}"
            differ = "-" if n == 0 else str(u.different)
            if u.instruction is None:
                yield u.label, "-", "your result", differ, largest, f"{u.error:.2e}", "-"
                continue
            errors = f"{u.error:.2e}", f"{u.unit_error:.2e}"
            inputs = ", ".join(
                filter(None, (u.instruction._inputs_text(), u.plan.name if u.plan else None, u.round_in))
            )
            yield u.label, inputs, u.instruction.name, differ, largest, *errors

    def _counts(self) -> str:
        """Returns a sentence for each kind of results that the columns leave out, with their number on each unit."""
        sentences = (
            (
                f"differ by more than atol {self.value.get('atol')} + rtol {self.value.get('rtol')} times the result of "
                f"{self.units[0].label}",
                [u.beyond or 0 for u in self.units],
            ),
            ("NaN or infinity on one side, not in the largest difference", [u.special for u in self.units]),
            ("no finite error, because they or the exact results are not finite", [u.left_out for u in self.units]),
        )
        lines = []
        for what, counts in sentences:
            some = ", ".join(
                f"{n} of {u.d.size} {'of' if u.instruction is None else 'on'} {u.label}"
                for n, u in zip(counts, self.units)
                if n
            )
            lines += [f"{what}: {some}"] if some else []
        return "\n".join(lines)

    def _title(self) -> str:
        return f"{self.units[0].d.size} results in {self.value['out']}; differ: from {self.units[0].label}"

    def __repr__(self) -> str:
        lines = self._title(), text_table(self._HEADER, self._rows()), self._counts()
        return "\n".join(filter(None, lines))

    def _repr_html_(self) -> str:
        return html_table(self._HEADER, self._rows(), "; ".join([self._title(), *self._counts().splitlines()]))


def compare(
    a: ArrayLike,
    b: ArrayLike,
    on: str | Instruction | Sequence[str | Instruction],
    *,
    d: ArrayLike | Sequence[ArrayLike] | Mapping[str, ArrayLike] | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    threads: int = 0,
    round_in: str | Sequence[str | None] | None = None,
    plan: AnyPlan | Sequence[AnyPlan] = None,
    rtol: float | None = None,
    atol: float | None = None,
) -> Comparison:
    """Compares the product of an M x K and a K x N matrix on several units: differing results, and their errors.

    ``on`` lists instructions or GPUs, each GPU with ":FORMAT" if its inputs are not ``in_dtype``: "H100:e4m3",
    "B200:e4m3:e5m2" (A and B), "B200:nvfp4" (inputs are quantised as by `quantize`, and alpha is the product of their
    factors). Defaults: ``in_dtype`` is the arrays' own format if it has at most 16 bits, otherwise f16; ``out_dtype``,
    which must be the same for all, is as in `matmul`. Results are compared with those of the first unit. ``round_in``
    and ``plan``, as in `matmul`, are one value for all or a list with one for each; a plan None is one chain. Scale
    factors of a plan's parts are 1, its bias is 0. ``d`` holds results of the user's own, for example of a kernel, M x
    N in the units' format of D: an array, a list of arrays, or {name: array}. With ``d``, one unit is enough. With
    ``rtol`` or ``atol`` (default: 0 if the other is given), ``beyond`` of each result counts elements x that differ from
    the first unit's y by more than atol + rtol * abs(y), as numpy.isclose(x, y, rtol, atol,
    equal_nan=True) does in float64.

        >>> import numpy as np, softmma
        >>> found = softmma.compare(np.full((1, 3), 4096.0), [[4096], [-4096], [2**-12]], ["V100", "H100"])
        >>> [unit.different for unit in found], found.value["out"]
        ([0, 1], 'f32')

        >>> softmma.compare(np.eye(2), np.eye(2), "H100:f16", d={"mine": np.float32([[1, 0], [1, 1]])})[1].different
        1

    Raises as `matmul` does, and ValueError for results of other shapes, or with values that the units' format does not
    have. Source: ``softmma compare`` counts in the same way.
    """
    a, b = np.asarray(a), np.asarray(b)
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError(f"a is {a.shape} and b is {b.shape}: compare takes two matrices")
    own = named_results(d)
    listed_on = [on] if isinstance(on, (str, Instruction)) else on
    if not listed_on or len(listed_on) + len(own) < 2:
        raise ValueError(f"on: {on!r} is not a list of two targets or more, which are compared; or give d")
    on = completed(listed_on)
    inputs = own_format(a, b) if in_dtype is None else in_dtype
    units = [rounded_target(each, None, inputs, out_dtype) for each in on]
    if in_dtype is None and inputs == "f16":
        warn_of_f16(on, units[0][0], 2)
    listed = [with_rounding(t, *unit) for t, unit in zip(targets(on, plan, round_in), units)]
    names = [label(each) if isinstance(each, Instruction) else _core.split_target(each)[0] for each in on]
    _refuse_same([(name.casefold(), *t[0:2], t.round_in) for name, t in zip(names, listed)], on)
    given = tuple(product(name, t, a, b, None, {"threads": threads}) for name, t in zip(names, listed))
    if rtol is not None or atol is not None:
        rtol, atol = 0 if rtol is None else rtol, 0 if atol is None else atol
    with limited(threads):
        value, results, text = _core.compare(a, b, own, given, rtol, atol)
    names = [label(each) for each in on] + [name for name, _ in own]
    return Comparison([_unit(names[n], t, results[n], value["units"][n])
                       for n, t in enumerate([*listed, *[None] * len(own)])], value, text)  # fmt: skip


def _unit(name: str, t: Target | None, d: NDArray[Any], unit: dict[str, Any]) -> ComparedUnit:
    unit_error = float(unit["unit_error"]["largest"]) if t else math.nan
    errors = float(unit["error"]["largest"]), unit_error, unit["error"]["left_out"]
    differ = unit["different"], unit["largest_ulps"], unit["special"]
    largest, beyond = float(unit["largest_difference"]), unit.get("beyond")
    if t is None:
        return ComparedUnit(name, None, d, *differ, *errors, largest, beyond=beyond)
    assert isinstance(t.unit, Instruction)
    return ComparedUnit(name, t.unit, d, *differ, *errors, largest, t.round_in, t.plan, beyond)


def _refuse_same(listed: list[Any], on: Sequence[str | Instruction]) -> None:
    for n, each in enumerate(listed):
        if each in listed[:n]:
            raise ValueError(f"on: {label(on[n])} is given twice with one instruction; name each target once")
