"""Explaining single results, comparing GPUs, probing units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softmma import _core
from softmma._products import matmul
from softmma._table import html_table, text_table
from softmma._units import Instruction, chosen, dtype, text_of
from softmma._value import array, operands, to_pandas

# ---- Explaining ----


class Explanation:
    """One dot-product-add, or the same on two units, bit by bit.

    It prints as text, and a notebook shows ``svg``. ``results`` has what each unit returns, ``exact`` the exact sum
    rounded once (None where an operand is not finite); ``difference`` is a line on the first step whose outcome
    differs between two units, empty if none does. ``value`` is what ``softmma explain --json`` prints.
    """

    def __init__(
        self,
        text: str,
        svg: str,
        difference: str,
        results: Sequence[tuple[str, int, int | None]],
        value: dict[str, Any],
    ):
        self.text = text
        self.svg = svg
        self.difference = difference
        self.results = tuple(_value(format, encoding) for format, encoding, _ in results)
        self.value = value
        self.exact = tuple(None if exact is None else _value(format, exact) for format, _, exact in results)

    def __repr__(self) -> str:
        return self.text

    def _repr_svg_(self) -> str:
        return self.svg


def _value(format: str, encoding: int) -> Any:
    kind = dtype(format)
    return np.array([encoding], dtype=f"u{kind.itemsize}").view(kind)[0]


def explain(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None = None,
    *,
    on: str | Instruction | Sequence[str | Instruction] = "H100",
    instr: str | Instruction | Sequence[str | Instruction] | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    scale_a: ArrayLike | None = None,
    scale_b: ArrayLike | None = None,
    round_in: str | None = None,
) -> Explanation:
    """d = c + sum of a[k] b[k] as one would draw it on paper: what alignment keeps and cuts, the sum, the rounding.

    Operands and instruction are as in `dot`, without further axes. With two GPUs, or two instructions, the first
    step whose outcome differs is marked and named.

        >>> import softmma
        >>> e = softmma.explain([-8192, 1, 1, 1], [1024, -0.5, -0.25, -0.125], 2**23, on=("H100", "A100"),
        ...                     in_dtype="f16")
        >>> [float(x) for x in e.results]
        [-0.75, -0.5]

    Raises as `matmul` does, and ValueError for two instructions that do not take the same operands.
    """
    units, names = _several(on, "on"), _several(instr, "instr")
    count = max(len(units), len(names))
    if min(len(units), len(names)) > 1 and len(units) != len(names):
        raise ValueError(f"on has {len(units)} units and instr {len(names)} instructions; give one, or as many")
    pairs = [(units[n % len(units)], names[n % len(names)]) for n in range(count)]
    labels = [_label(u if count == 1 or len(units) > 1 else i) for u, i in pairs]
    request = tuple((label, u, i, in_dtype, out_dtype) for label, (u, i) in zip(labels, pairs))
    text, svg, difference, results, value = _core.explain(a, b, c, scale_a, scale_b, request, round_in)
    return Explanation(text, svg, difference, results, value)


def _several(one: Any, what: str) -> Sequence[Any]:
    if isinstance(one, (list, tuple)) and not one:
        raise ValueError(f"{what}: the list is empty")
    return one if isinstance(one, (list, tuple)) else (one,)


def _label(unit: str | Instruction) -> str:
    return unit.name if isinstance(unit, Instruction) else text_of(unit, "a unit", "a GPU's name or an Instruction")


# ---- Comparing ----


class ComparedUnit(NamedTuple):
    """One unit's product beside the first unit's.

    ``different`` results are not the same bits as the first unit's; ``special`` of them have NaN or infinity on one side.
    The others differ by at most ``largest_ulps`` units in the last place, and by at most ``largest_difference`` times
    the first unit's largest result. ``error`` is the largest distance from the
    exact product of the arrays as given, divided by the largest magnitude of that product; ``unit_error`` the same
    for the arrays rounded to the unit's inputs, so that only the unit's part is left. ``left_out`` results took no
    part in ``error`` because they, or the exact ones, are not finite.
    """

    label: str
    instruction: Instruction
    d: NDArray[Any]
    different: int
    largest_ulps: int
    special: int
    error: float
    unit_error: float
    left_out: int
    largest_difference: float
    round_in: str | None = None
    """As given to `compare`."""


class Comparison(Sequence[ComparedUnit]):
    """The same product on several units, shown as a table."""

    _HEADER = ("GPU", "inputs", "instruction", "differ", "at most by", "total error", "unit's part")

    def __init__(self, units: Sequence[ComparedUnit]):
        self.units = tuple(units)

    def __getitem__(self, index: Any) -> Any:
        return self.units[index]

    def __len__(self) -> int:
        return len(self.units)

    def pairs(self) -> NDArray[np.int64]:
        """How many results differ, for every pair of units."""
        format = self.units[0].instruction.d
        rows = [[_core.difference(x.d, y.d, format)[0] for y in self.units] for x in self.units]
        return np.array(rows, dtype=np.int64)

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for n, u in enumerate(self.units):
            all_special = u.different and u.special == u.different
            largest = "-" if n == 0 or all_special else f"{u.largest_difference:.2e}"
            differ = "-" if n == 0 else str(u.different)
            errors = f"{u.error:.2e}", f"{u.unit_error:.2e}"
            inputs = u.instruction._inputs_text() + (f", {u.round_in}" if u.round_in else "")
            yield u.label, inputs, u.instruction.name, differ, largest, *errors

    def _title(self) -> str:
        return f"{self.units[0].d.size} results in {self.units[0].instruction.d}; differ: from {self.units[0].label}"

    def __repr__(self) -> str:
        return f"{self._title()}\n{text_table(self._HEADER, self._rows())}"

    def _repr_html_(self) -> str:
        return html_table(self._HEADER, self._rows(), self._title())


def compare(
    a: ArrayLike,
    b: ArrayLike,
    on: Sequence[str | Instruction],
    *,
    in_dtype: Any = None,
    out_dtype: Any = None,
    threads: int = 0,
    round_in: str | Sequence[str | None] | None = None,
) -> Comparison:
    """The product of an M x K and a K x N matrix on several units: how many results differ, and how far they are off.

    ``on`` lists GPUs, each with ":FORMAT" if its inputs are not ``in_dtype`` (without it the arrays' own format if it has
    at most 16 bits, else f16), or instructions: "H100:e4m3",
    "B200:e4m3:e5m2" for A and B apart, "B200:nvfp4", whose inputs are made as `quantize` makes them. All results must
    have one format (``out_dtype``; without it as in `matmul`). Differences are counted from the first unit. ``round_in``,
    as in `matmul`, is one for all or a list of one for each.

    Raises as `matmul` does. Source: ``softmma compare`` counts in the same way.
    """
    a, b = np.asarray(a), np.asarray(b)
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError(f"a is {a.shape} and b is {b.shape}: compare takes two matrices")
    if isinstance(on, (str, Instruction)) or len(on) < 2:
        raise ValueError(f"on: {on!r} is not a list of two targets or more, which are compared")
    modes = [round_in] * len(on) if round_in is None or isinstance(round_in, str) else [*round_in]
    if len(modes) != len(on):
        raise ValueError(f"round_in: {len(modes)} rounding modes for {len(on)} units; give one, or one for each")
    in_dtype = _narrow(a, b) if in_dtype is None else in_dtype
    chosen_units = [_compared(each, in_dtype, out_dtype) for each in on]
    seen: set[tuple[str, Instruction, str | None]] = set()
    for each, i, mode in zip(on, chosen_units, modes):
        target = (i.name if isinstance(each, Instruction) else each.partition(":")[0].casefold(), i, mode)
        if target in seen:
            raise ValueError(f"on: {_label(each)} is given twice with one instruction; name each target once")
        seen.add(target)
    units: list[ComparedUnit] = []
    for each, i, mode in zip(on, chosen_units, modes):
        x, y = _inputs(a, b, i)
        d = matmul(x.values, y.values, on=i, scale_a=x.scales, scale_b=y.scales, threads=threads, round_in=mode)
        first = units[0] if units else None
        if first and first.instruction.d != i.d:
            raise ValueError(f"{i.name} has results in {i.d}, {first.label} in {first.instruction.d}; give out_dtype")
        different, ulps, special, largest = _core.difference(first.d if first else d, d, i.d)
        error, _, left_out = _core.error(a, b, d, None, None, i.d, "nearest-even")
        if i.scale is None:
            unit_error, _, _ = _core.error(a, b, d, i.a, i.b, i.d, mode or _core.operand_rounding(i, i.a))
        else:
            unit_error, _, _ = _core.error(_numbers(x, i, -1), _numbers(y, i, -2), d, None, None, i.d, "nearest-even")
        units.append(ComparedUnit(_label(each), i, d, different, ulps, special, error, unit_error, left_out, largest, mode))
    return Comparison(units)


def _narrow(a: NDArray[Any], b: NDArray[Any]) -> Any:
    """The arrays' own formats, those with names for floating-point numbers of at most 16 bits; "f16" for others."""
    own = tuple(
        x.dtype.name if x.dtype.itemsize <= 2 and x.dtype.kind not in "iub" else "f16" for x in (a, b)
    )
    return own[0] if own[0] == own[1] else own


class _Input(NamedTuple):
    values: NDArray[Any]
    scales: NDArray[Any] | None


def _inputs(a: NDArray[Any], b: NDArray[Any], i: Instruction) -> tuple[_Input, _Input]:
    if i.scale is None:
        return _Input(a, None), _Input(b, None)
    y, y_scales = _core.quantize(b.T, i.b, i.scale, i.scale_block)
    return _Input(*_core.quantize(a, i.a, i.scale, i.scale_block)), _Input(y.T, y_scales.T)


def _numbers(x: _Input, i: Instruction, axis: int) -> NDArray[np.float64]:
    """What elements and scale factors along an axis stand for: exact in float64."""
    assert x.scales is not None
    factors = np.repeat(x.scales.astype(np.float64), i.scale_block, axis)
    values: NDArray[np.float64] = x.values.astype(np.float64)
    return values * np.take(factors, range(values.shape[axis]), axis)


def _compared(unit: str | Instruction, in_dtype: Any, out_dtype: Any) -> Instruction:
    if isinstance(unit, Instruction):
        return unit
    gpu, colon, format = _label(unit).partition(":")
    return chosen(gpu, None, format if colon else in_dtype, out_dtype)


# ---- Probing ----


class Finding(NamedTuple):
    """One numerical feature: what it is, or None and why it cannot be told.

    ``witness`` is a row (a, b, c, d) that shows it, None where none does. ``source`` says who described it.
    """

    name: str
    title: str
    source: str
    value: str | None
    why: str
    witness: tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]] | None

    @property
    def text(self) -> str:
        return f"cannot tell: {self.why}" if self.value is None else self.value


def _finding(name: str, feature: Mapping[str, Any], i: Instruction) -> Finding:
    row, witness = feature.get("witness"), None
    if row:
        x = operands(row, i)
        witness = x.a, x.b, x.c, array(row["d"], i.d)
    return Finding(name, feature["title"], feature["source"], feature["value"], feature.get("why", ""), witness)


class Examination(Mapping[str, Finding]):
    """The features of one unit by name, shown as a table; ``rows`` dot products were asked for in ``calls`` calls.
    ``value`` is what ``softmma probe --json`` prints."""

    def __init__(self, instruction: Instruction, unit: str, value: dict[str, Any]):
        self.instruction = instruction
        self.unit = unit
        self.rows: int = value["rows"]
        self.calls: int = value["calls"]
        self.value = [value]
        self._findings = {name: _finding(name, x, instruction) for name, x in value["features"].items()}

    def __getitem__(self, name: str) -> Finding:
        return self._findings[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._findings)

    def __len__(self) -> int:
        return len(self._findings)

    def _title(self) -> str:
        return f"{self.instruction.arch} {self.instruction.name} on {self.unit}: {self.rows} rows"

    def _rows(self) -> list[tuple[str, str]]:
        return [(finding.title, finding.text) for finding in self.values()]

    def __repr__(self) -> str:
        return f"{self._title()}\n{text_table(('feature', 'found'), self._rows())}"

    def _repr_html_(self) -> str:
        return html_table(("feature", "found"), self._rows(), self._title())

    def to_pandas(self) -> Any:
        """A table with a row for each feature; ImportError without pandas."""
        return to_pandas([{"name": x.name, "title": x.title, "value": x.value, "why": x.why} for x in self.values()])


def probe(
    on: str | Instruction = "H100",
    *,
    instr: str | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    unit: Callable[..., ArrayLike] | str | None = None,
    rows: int = 16384,
) -> Examination:
    """Finds out from outside how a unit computes: block, alignment, roundings, subnormals, zeros, overflow, NaN.

    The instruction (f16 inputs, if nothing else is asked for) says which formats and which K. Without ``unit`` its
    model is examined; else ``unit(a, b, c)``, a function that returns d for rows of operands: a and b are (rows, K),
    c is (rows,), in the instruction's formats, and so is d, of (rows,). For block-scaled instructions it gets the
    scale factors as well, ``unit(a, b, c, scale_a, scale_b)``. So a real GPU can be examined through any library that
    multiplies matrices there. ``unit`` may also be a name as ``softmma units`` lists them: "cuda", "plugin:FILE".
    ``rows`` are asked again, about six times.

        >>> import softmma
        >>> softmma.probe("A100")["alignment_bits"].value
        '24'

    Raises LookupError as `matmul` does, what the function raises, and ValueError for results of a wrong shape or a unit
    that fails.
    """
    if not 1 <= rows <= 10**7:
        raise ValueError(f"rows is {rows}; it is from 1 to 10,000,000")
    if isinstance(on, Instruction):
        i = on
    else:
        i = chosen(on, instr, in_dtype or (None if instr else "f16"), out_dtype)
    return Examination(i, _name_of(unit), _core.probe(i, unit, rows))


def _name_of(unit: Callable[..., ArrayLike] | str | None) -> str:
    if unit is None or isinstance(unit, str):
        return unit or "model"
    return getattr(unit, "__name__", "a function")


# ---- What tells two units apart ----


class Difference(NamedTuple):
    """What tells two units apart, if anything does.

    Both computed rows of ``instruction``, the one with the greater K; the other goes on with its result until the row
    ends. ``features`` has the title of each numerical feature in which they differ, with the value of each. ``row`` is
    the smallest row found of which the results differ, as arrays of a, b and c, ``results`` what each makes of it,
    ``scales`` the row's scale factors of a and of b; all None if no row does. ``normal`` and ``all`` say how many rows
    were compared, of normal data and of all kinds in turn, and of how many the results differ. ``value`` is what
    ``softmma diff --json`` prints.
    """

    instruction: Instruction
    features: dict[str, tuple[str, str]]
    terms: int
    row: tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None
    results: tuple[NDArray[Any], NDArray[Any]] | None
    scales: tuple[NDArray[Any], NDArray[Any]] | None
    normal: tuple[int, int]
    all: tuple[int, int]
    value: dict[str, Any]

    @property
    def differ(self) -> bool:
        """Whether a row was found of which the results differ."""
        return self.row is not None


def diff(
    on: Sequence[str | Instruction],
    *,
    instr: str | Instruction | Sequence[str | Instruction] | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    unit: Callable[..., ArrayLike] | str | None = None,
    against: Callable[..., ArrayLike] | str | None = None,
    rows: int = 10000,
    seed: int = 0,
) -> Difference:
    """Whether two GPUs or instructions compute the same, and what tells them apart.

    Both are asked for rows that show a feature of one of them (`probe`), then for ``rows`` random ones of all kinds,
    and as many of normal data; row i of a seed is the same everywhere. ``on`` has the two, ``instr`` one name for both
    or one for each; f16 inputs, if nothing else is asked for. ``unit``, as for `probe`, computes in
    the place of the first, ``against`` in that of the other.

        >>> import softmma
        >>> d = softmma.diff(["A100", "H100"], rows=1000)
        >>> d.differ, d.terms, d.features["fraction bits kept of aligned products"]
        (True, 2, ('24', '25'))
        >>> softmma.diff(["A100", "L40S"], rows=1000).differ
        False

    Raises LookupError as `matmul` does, what the function raises, and ValueError for instructions whose rows are not
    alike. Source: ``softmma diff`` asks in the same way.
    """
    names = _several(instr, "instr")
    if len(on) != 2:
        raise ValueError(f"on has {len(on)} units; diff takes two")
    if len(names) > 2:
        raise ValueError(f"instr has {len(names)} instructions; diff takes two")
    if rows < 1 or not 0 <= seed < 2**63:
        raise ValueError(f"rows is {rows} and seed {seed}; rows are at least 1, a seed is from 0 to 2**63 - 1")
    pair = [_one_of_two(on[n], names[n % len(names)], in_dtype, out_dtype) for n in range(2)]
    value = _core.diff((pair[0], _label(on[0]), unit), (pair[1], _label(on[1]), against), rows, seed)
    i = pair[0] if pair[0].k >= pair[1].k else pair[1]
    row, operands_of, results = value.get("example"), None, None
    if row:
        operands_of = operands(row, i)
        results = array(row["d"][0], i.d), array(row["d"][1], i.d)
    return Difference(
        instruction=i,
        features={x["title"]: (x["x"], x["y"]) for x in value["features"]},
        terms=row["terms"] if row else 0,
        row=operands_of and operands_of[:3],
        results=results,
        scales=operands_of and operands_of.scales,
        normal=(value["normal_rows"], value["normal_mismatches"]),
        all=(value["rows"], value["mismatches"]),
        value=value,
    )


def _one_of_two(unit: str | Instruction, instr: str | Instruction | None, in_dtype: Any, out_dtype: Any) -> Instruction:
    if isinstance(instr, Instruction):
        return instr
    if isinstance(unit, Instruction):
        return unit
    return chosen(unit, instr, in_dtype or (None if instr else "f16"), out_dtype)
