"""Explains single results, probes units, and compares two units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softmma import _core
from softmma._encodings import array, operands
from softmma._plans import Plan, handle_of
from softmma._table import html_table, text_table
from softmma._targets import completed, label, read_c, several, target_instruction, warn_of_f16
from softmma._units import Instruction, chosen, dtype
from softmma._value import checked, to_pandas

# ---- Explaining ----


class Explanation:
    """An explanation, bit by bit, of one dot-product-add on one or two units.

    It prints as text, and a notebook shows ``svg``. ``results`` has the result of each unit, and ``exact`` the exact
    sum rounded once to each unit's format (None if an operand is not finite). ``difference`` is a line about the first
    step whose outcome differs between two units; empty if no step differs. ``value`` is the record that ``softmma
    explain --json`` prints.
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
    plan: Plan | Mapping[str, Any] | str | Path | None = None,
) -> Explanation:
    """Explains d = c + sum of a[k] b[k] as on paper: bits retained and truncated by alignment, the sum, the rounding.

    Operands and instruction are as in `dot`, without further axes. With two GPUs, or two instructions, the first step
    whose outcome differs is marked and named. If their K differ, operands must fit the smaller one.

    With a ``plan`` there may be more products than one call takes, and each call and addition is explained. `explain`
    then takes one GPU, and the result has no ``svg`` and no ``exact``.

        >>> import softmma
        >>> e = softmma.explain([-8192, 1, 1, 1], [1024, -0.5, -0.25, -0.125], 2**23, on=("H100", "A100"),
        ...                     in_dtype="f16")
        >>> [float(x) for x in e.results]
        [-0.75, -0.5]

    Raises as `matmul` does, and ValueError for two instructions that do not take the same operands.
    """
    units, names = several(on, "on"), several(instr, "instr")
    c = read_c(c, units, instr, in_dtype, out_dtype)
    if plan is not None:
        if len(units) > 1 or len(names) > 1 or scale_a is not None or scale_b is not None:
            raise ValueError("plan: it explains operands of one GPU, without scale factors; trace compares two")
        made = plan if isinstance(plan, Plan) else Plan(plan)
        i = target_instruction(units[0], names[0], in_dtype, out_dtype)
        text, value = _core.explain_planned(a, b, c, label(units[0]), i, handle_of(made), made.name, round_in)
        return Explanation(text, "", "", [(made.d or i.d, int(value["d"], 16), None)], value)
    count = max(len(units), len(names))
    if min(len(units), len(names)) > 1 and len(units) != len(names):
        raise ValueError(f"on has {len(units)} units and instr {len(names)} instructions; give one, or as many")
    pairs = [(units[n % len(units)], names[n % len(names)]) for n in range(count)]
    labels = [label(u if count == 1 or len(units) > 1 else i) for u, i in pairs]
    request = tuple((label, u, i, in_dtype, out_dtype) for label, (u, i) in zip(labels, pairs))
    text, svg, difference, results, value = _core.explain(a, b, c, scale_a, scale_b, request, round_in)
    return Explanation(text, svg, difference, results, value)


# ---- Probing ----


class Finding(NamedTuple):
    """One numerical feature: its value, or None and the reason why it cannot be determined.

    ``witness`` is a test vector (a, b, c, d) that shows it, or None. ``source`` cites the feature's description.
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
    """The features of one unit by name, shown as a table; ``rows`` test vectors were queried in ``calls`` calls.
    ``value`` is the record that ``softmma probe --json`` prints."""

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
        """Returns a table with a row for each feature. Raises ImportError without pandas."""
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
    """Determines a unit's arithmetic from its results: block, alignment, roundings, subnormals, zeros, overflow, NaN.

    ``on``, ``instr`` and the dtypes choose an instruction (default: f16 inputs), which gives the formats and K. Without
    ``unit`` its model is examined. ``unit(a, b, c)`` is a function that returns d. Shapes: a and b (rows, K), c and d
    (rows,), in the instruction's formats; d of another dtype is rounded to its format. For block-scaled instructions it
    is ``unit(a, b, c, scale_a, scale_b)``. A real GPU can thus be examined through any library that multiplies matrices
    on it. ``unit`` may also be a name that ``softmma units`` lists: "cuda", "plugin:FILE". To check that results
    repeat, ``rows`` vectors are computed about six times, in different orders and batches.

        >>> import softmma
        >>> softmma.probe("A100")["alignment_bits"].value
        '24'

    Raises LookupError as `matmul` does, any exception of the function, and ValueError for results of a wrong shape or a
    unit that fails.
    """
    rows = checked("rows", rows, 1, 10**7)
    if isinstance(on, Instruction):
        i = on
    else:
        i = chosen(on, instr, in_dtype or (None if instr else "f16"), out_dtype)
    return Examination(i, _name_of(unit), _core.probe(i, unit, rows))


def _name_of(unit: Callable[..., ArrayLike] | str | None) -> str:
    if unit is None or isinstance(unit, str):
        return unit or "model"
    return getattr(unit, "__name__", "a function")


# ---- Differences of two units ----


class Difference(NamedTuple):
    """The differences of two units.

    Both units computed vectors of ``instruction``, the one with the greater K. If their K differ, the unit with the
    smaller K is called several times, each time with the previous result as c. ``features`` has the title of each
    numerical feature in which they differ, with both values. ``row`` is the smallest vector found whose results differ,
    as arrays a, b and c, and ``terms`` is the number of its nonzero products and c; ``results`` has both results and
    ``scales`` its scale factors of a and b. All three are None if no vector differs. ``normal`` and ``all`` count the
    vectors compared, of normal data and of all kinds in turn, and those whose results differ. ``value`` is the record
    that ``softmma diff --json`` prints, and ``text`` what ``softmma diff`` prints.
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
    text: str

    @property
    def differ(self) -> bool:
        """Reports whether a vector was found whose results differ."""
        return self.row is not None

    def __repr__(self) -> str:
        rows, mismatches = self.normal
        lines = [f"{' and '.join(self.value['on'])}: {mismatches} of {rows} results on normal data differ"]
        lines += [f"{title}: {x} and {y}" for title, (x, y) in self.features.items()]
        if self.results is not None:
            lines.append(f"smallest row, {self.terms} terms: results {self.results[0]} and {self.results[1]}")
        return "\n".join(lines)


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
    """Reports whether two GPUs or instructions compute the same, and their differences.

    Both get vectors that show a feature of one of them (`probe`), then ``rows`` random vectors of all kinds and as many
    of normal data; vector i of a seed is the same everywhere. ``on`` has the two; ``instr`` is one name for both or one
    for each (default: f16 inputs, or those of "GPU:FORMAT"). If the formats of A or B differ, both get operands that both
    formats hold. ``unit``, as for `probe`, replaces the first, and ``against`` the second.

        >>> import softmma
        >>> d = softmma.diff(["A100", "H100"], rows=1000)
        >>> d.differ, d.terms, d.features["number of fraction bits retained of aligned products"]
        (True, 2, ('24', '25'))
        >>> softmma.diff(["A100", "L40S"], rows=1000).differ
        False

    Raises LookupError as `matmul` does, any exception of the function, and ValueError for instructions with different
    formats of C or D. Source: ``softmma diff`` does the same.
    """
    if len(on) != 2:
        raise ValueError(f"on has {len(on)} units; diff takes two, and differences more")
    pair = _labelled(on, instr, in_dtype, out_dtype)
    value, text = _core.diff(pair, unit, against, *_amounts(rows, seed))
    i = next(one for one, _ in pair if one.name == value["rows_of"])
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
        text=text,
    )


class Differences(NamedTuple):
    """The differences of every two of several units.

    ``on`` has the units in their order. ``shares[x, y]`` is the share of results on normal data that differ between
    units x and y; it is NaN if no results differ, also on data of all kinds. ``features`` has the title of each
    numerical feature in which units differ, with the value of each unit, or None where it cannot be told. ``value`` is
    the record that ``softmma diff --json`` prints for more than two targets, and ``text`` what it prints without
    ``--json``.
    """

    on: tuple[str, ...]
    shares: NDArray[np.float64]
    features: dict[str, tuple[str | None, ...]]
    value: dict[str, Any]
    text: str

    @property
    def differ(self) -> bool:
        """Reports whether results of any two units differ."""
        return bool(self.value["differ"])

    def to_pandas(self) -> Any:
        """Returns a table with a row for each pair of units. Raises ImportError without pandas."""
        return to_pandas(self.value["pairs"])

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for x, name in enumerate(self.on):
            cells = ["=" if np.isnan(share) else f"{share:.2%}" for share in self.shares[x]]
            cells[x] = "-"
            yield name, *cells

    def __repr__(self) -> str:
        features = (f"{title}: {', '.join(map(str, values))}" for title, values in self.features.items())
        return "\n".join([text_table(("", *self.on), self._rows()), *features])


def differences(
    on: Sequence[str | Instruction],
    *,
    instr: str | Instruction | Sequence[str | Instruction] | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    unit: Callable[..., ArrayLike] | str | None = None,
    against: Callable[..., ArrayLike] | str | None = None,
    rows: int = 10000,
    seed: int = 0,
) -> Differences:
    """Compares every two of several GPUs or instructions: the share of different results, and the features that differ.

    The arguments are those of `diff`, but ``on`` has 2 to 16 units, and ``against`` replaces all units but the first.
    Shapes: ``shares`` is (units, units).

        >>> import softmma
        >>> found = softmma.differences(["V100", "A100", "L40S"], rows=1000)
        >>> found.features["number of fraction bits retained of aligned products"], found.shares[1, 2]
        (('23', '24', '24'), np.float64(nan))

    Raises as `diff` does. Source: ``softmma diff`` does the same for more than two targets.
    """
    if not 2 <= len(on) <= 16:
        raise ValueError(f"on has {len(on)} units; differences takes 2 to 16")
    units = _labelled(on, instr, in_dtype, out_dtype)
    value, text = _core.differences(units, unit, against, *_amounts(rows, seed))
    shares = np.full((len(on), len(on)), np.nan)
    pairs = [(x, y) for x in range(len(on)) for y in range(x + 1, len(on))]
    for (x, y), pair in zip(pairs, value["pairs"], strict=True):
        if pair["differ"]:
            shares[x, y] = shares[y, x] = pair["share"]
    features = {feature["title"]: tuple(feature["values"]) for feature in value["features"]}
    return Differences(tuple(name for _, name in units), shares, features, value, text)


def _labelled(
    on: Sequence[str | Instruction],
    instr: str | Instruction | Sequence[str | Instruction] | None,
    in_dtype: Any,
    out_dtype: Any,
) -> tuple[tuple[Instruction, str], ...]:
    """Returns the instruction and the label of each unit. ``instr`` is one name for all, or one for each."""
    names = several(instr, "instr")
    if len(names) not in (1, len(on)):
        raise ValueError(f"instr has {len(names)} instructions; give one for all {len(on)} units, or one for each")
    units = completed(on)
    instructions = [_one_of_several(one, names[n % len(names)], in_dtype, out_dtype) for n, one in enumerate(units)]
    if instr is None and in_dtype is None:
        warn_of_f16(units, instructions[0], 3)
    return tuple(zip(instructions, map(label, units)))


def _amounts(rows: int, seed: int) -> tuple[int, int]:
    """Returns rows and seed. Raises ValueError for values out of range."""
    return checked("rows", rows, 1), checked("seed", seed)


def _one_of_several(
    unit: str | Instruction, instr: str | Instruction | None, in_dtype: Any, out_dtype: Any
) -> Instruction:
    if isinstance(instr, Instruction):
        return instr
    if isinstance(unit, Instruction):
        return unit
    if instr is None:
        return target_instruction(unit, None, in_dtype or "f16", out_dtype)
    return chosen(unit, instr, in_dtype, out_dtype)
