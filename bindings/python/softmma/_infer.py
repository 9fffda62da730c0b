"""A model of a unit that can only be asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from numpy.typing import ArrayLike, NDArray

from softmma import _core
from softmma._encodings import array
from softmma._table import html_table, text_table
from softmma._units import Custom, Instruction, chosen, instruction


class Rows(NamedTuple):
    """Rows of operands with their results: a and b are (rows, K), c and d (rows,), in the instruction's formats.

    Scale factors are (rows, K / scale_block), None where the instruction takes none.
    """

    a: NDArray[Any]
    b: NDArray[Any]
    c: NDArray[Any]
    d: NDArray[Any]
    scale_a: NDArray[Any] | None
    scale_b: NDArray[Any] | None


class Neighbour(NamedTuple):
    """A value next to that of a parameter of the model."""

    value: int | str
    status: str
    """"shut out" by a row of the unit; "free": no row of those searched tells it from the model's; "undecided": a row
    would, but the recording does not have it."""
    row: int | None
    """Which row of the proof; None for one that is free."""
    d: Any
    """What this value makes of that row."""


class Parameter(NamedTuple):
    """One parameter of the model, as custom units name it."""

    name: str
    step: int | None
    """Of the sum, from 1, if it is written in steps; None: of all of it."""
    value: int | str
    neighbours: tuple[Neighbour, ...]

    def values(self, status: str) -> tuple[int | str, ...]:
        """The neighbouring values of a status."""
        return tuple(n.value for n in self.neighbours if n.status == status)

    @property
    def _is_free(self) -> bool:
        return len(self.values("free")) == len(self.neighbours)

    def _listed(self, status: str) -> str:
        values = self.values(status)
        if len(values) == len(self.neighbours) > 2 and all(isinstance(x, str) for x in (self.value, *values)):
            return "all others"
        return ", ".join(map(str, values)) or "-"


class Rival(NamedTuple):
    """Another model that agrees with all rows of a recording."""

    model: Custom
    row: int
    """Which row of the proof would tell it from the model."""
    d: Any
    """What it makes of that row."""


class Misfit(NamedTuple):
    """Rows that the best model does not have."""

    asked: int
    wrong: int
    kinds: Mapping[str, tuple[int, int]]
    """How many of each kind of generated rows are wrong, and were asked; empty for a recording."""
    hold: Mapping[str, int]
    """How many of the wrong rows hold what, for example "a subnormal factor"."""
    holds: str
    """The same in a sentence; empty if they hold nothing of these kinds."""
    where: str
    """What the simplest ones have in common."""
    rows: Rows
    """The simplest ones, the simplest first, with the unit's d."""
    model: NDArray[Any]
    """What the model makes of these."""

    @property
    def share(self) -> float:
        """Of the rows asked those that are wrong."""
        return self.wrong / self.asked


class Evidence(NamedTuple):
    """Two rows that shut out structures of a sum."""

    structures: int
    """How many of those that no evidence before it shuts out."""
    rows: Rows
    """The same products in different places. The unit's results differ, which they cannot in these structures."""


class NoFunction(NamedTuple):
    """A row that had two results."""

    asked: int
    """Results that were compared with the row's first one."""
    not_repeated: int
    """Of these, others in the same batch, asked again."""
    not_alike: int
    """Others at another place, or beside other rows."""
    row: int
    """The first such row, by its number among the first ones asked."""
    place: int
    batch: int
    """It stood at this place, from 0, of so many rows,"""
    at_once: bool
    """in the batch that was asked again, or in another."""
    why: str
    """What decides which result it has, as far as batches of its copies tell."""
    neighbour: int | None
    """The row, by its number, beside which it has the other result."""
    operands: Rows
    """The row, with the d that it had first."""


def _place(p: Parameter) -> str:
    return "all" if p.step is None else f"step {p.step}"


@dataclass(frozen=True, repr=False)
class Inference:
    """What `infer` found; it is true only where the model has every bit of every row asked, and prints as a report."""

    unit: str
    instruction: Instruction
    """Whose rows the unit was asked for."""
    outcome: str
    """"found", "found, except NaN encodings", "not found", "no function" or "stopped"."""
    because: str
    """Of "not found" the reason; else empty."""
    model: Custom | None
    """The model, or the best there is; taken wherever an instruction is. None for what is no function."""
    same: Instruction | None
    """An instruction of the catalogue from which no row searched tells the model, except NaN encodings
    (`same_nan_different`)."""
    nan: str | None
    """The custom unit's word for what NaN are; None: their sign and payload cannot be told."""
    parameters: tuple[Parameter, ...]
    proof: Rows
    """Rows that shut out neighbouring values, with the unit's d; those that would, of a recording, with the model's."""
    rivals: tuple[Rival, ...]
    """Of a recording: other models that agree with all its rows."""
    more_rivals: bool
    """Whether there may be others: these are as many as are kept, or the budget was spent."""
    misfit: Misfit | None
    no_function: NoFunction | None
    rows: int
    calls: int
    """Rows asked, and in how many calls."""
    fresh: int
    """Rows of another seed asked in the end, all of which the model has."""
    rounds: int
    """Times that new rows refuted a model."""
    tried: int
    computed: int
    """Models, and the vectors that they computed until one had all rows."""
    structures: int
    left: int
    """Structures of a sum that were listed for this K, and those of them that no row shuts out."""
    evidence: tuple[Evidence, ...]
    """The rows that shut structures out, those that shut out most first."""
    samples: int
    wrong: int
    """Rows that the model was fitted to, and those of them that it does not have."""
    seconds: float
    unit_seconds: float
    """All of them, and those that the unit took."""

    nan_different: int
    """Vectors with another NaN encoding than the nearest policy gives."""
    same_nan_different: int
    """Vectors with another NaN encoding than `same` gives."""
    nan_text: str
    """A sentence on the NaN encodings of the results; empty if no result is NaN."""
    value: dict[str, Any]
    """The record that ``softmma infer --json`` prints."""

    def __bool__(self) -> bool:
        return self.outcome == "found"

    def _lines(self) -> Iterator[str]:
        because = f", because {self.because}" if self.because else ""
        yield f"{self.instruction.arch} {self.instruction.name} on {self.unit}: {self.outcome}{because}"
        if self.no_function:
            n = self.no_function
            yield f"{n.not_repeated + n.not_alike} of {n.asked} results were others when asked again"
            yield f"first seen: row {n.row}, {'asked again at' if n.at_once else 'at'} place {n.place} of {n.batch}"
            yield n.why
        if self.model:
            yield f"model: {self.model._model_text()}"
        if self.same:
            nan = self.same_nan_different
            yield (
                f"no row searched tells it from {self.same.name} of {self.same.arch}, in whose words it is"
                + (f", except NaN encodings: those of {nan} vectors differ" if nan else "")
            )
        yield (
            f"asked: {self.rows} rows in {self.calls} calls"
            + (f", then {self.fresh} of another seed, which all agree" if self.fresh and self.outcome.startswith("found") else "")
            + f"; {self.seconds:.1f} s, of which the unit took {self.unit_seconds:.1f}"
        )
        if self.nan_text and self.outcome.startswith("found"):
            yield f"NaN: {self.nan_text}"
        if self.rivals:
            more = ", and there may be more" if self.more_rivals else ""
            yield f"other models that agree with all these rows: {len(self.rivals)}{more}"
            yield from (f"  {rival.model._model_text()}" for rival in self.rivals)
        if self.misfit:
            m = self.misfit
            kinds = ", ".join(f"{kind} {wrong / asked:.3%}" for kind, (wrong, asked) in m.kinds.items())
            yield f"the best model disagrees with {m.wrong} of {m.asked} rows" + (f": {kinds}" if kinds else "")
            if m.holds:
                yield m.holds
            yield m.where or "no new row shows it; only rows that were made for its own bits do"
        if self.outcome == "not found" and self.structures:
            shut_out = self.structures - self.left
            yield f"structures: {shut_out} of {self.structures} are shut out by rows, {self.left} are left"

    def _table(self) -> tuple[list[str], list[list[str]]]:
        """Parameters that some row shows, with what is left open only where something is."""
        columns = {"shut out": "shut out by a row", "free": "no row searched shows", "undecided": "left open"}
        if not any(p.values("undecided") for p in self.parameters):
            del columns["undecided"]
        rows = [
            [_place(p), p.name, str(p.value), *(p._listed(status) for status in columns)]
            for p in self.parameters
            if not p._is_free
        ]
        return ["", "parameter", "value", *columns.values()], rows

    def _free(self) -> str:
        free = ", ".join(f"{p.name} ({_place(p)})" for p in self.parameters if p._is_free)
        return f"no row searched shows any other value of: {free or 'none'}"

    def __repr__(self) -> str:
        shown = ["", text_table(*self._table()), "", self._free()] if self.parameters else []
        return "\n".join([*self._lines(), *shown])

    def _repr_html_(self) -> str:
        lines = [*self._lines(), *([self._free()] if self.parameters else [])]
        return html_table(*self._table(), "; ".join(lines))


def infer(
    unit: Callable[..., ArrayLike] | str,
    *,
    on: str | Instruction = "H100",
    instr: str | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    k: int | None = None,
    rows: int = 1000000,
    search: int = 50000,
    budget: int | None = None,
    most_rows: int | None = None,
    seed: int = 0,
    record: str | os.PathLike[str] | None = None,
    progress: Callable[[str], object] | None = None,
) -> Inference:
    """Finds a model of a unit that can only be asked: a custom unit with the same bits, and rows that prove it.

    ``unit`` is a function as for `probe`: ``unit(a, b, c)`` returns d, (rows,), for a and b of (rows, K) and c of
    (rows,), in the instruction's formats; with scale factors ``unit(a, b, c, scale_a, scale_b)``, which are (rows,
    K / scale_block). It is called with 1 to 65,536 rows, which are its own to keep; d of another dtype is rounded to
    the format. Or it is the name of a unit as ``softmma units`` lists them: "plugin:FILE", "pipe:COMMAND", "cuda",
    "custom:FILE", "file:ROWS" for recorded rows, "model".

    The instruction (f16 inputs, if nothing else is asked for) says which formats and which K, ``k`` which other K from
    1 to 64; for formats that no instruction has give a `Custom`. How it computes is not looked at.

    ``rows`` are asked of another seed in the end, ``search`` looked at for one that shows a neighbouring value;
    ``budget`` is how many vectors models may compute until one of them has all rows (None: 100,000,000), and nothing
    new begins when ``most_rows`` were asked. ``record`` is a file in which answers are kept; if it is there, the search
    goes on from it. ``progress`` is called with a line on what goes on. No clock decides anything: the same unit,
    arguments and seed give the same answer on any machine.

        >>> import numpy as np, softmma
        >>> def unit(a, b, c):
        ...     return softmma.dot(a, b, c, on="V100", instr="mma.m8n8k4.f32.f16.f16.f32")
        >>> found = softmma.infer(unit, on="V100", in_dtype="f16", rows=5000, search=2000)
        >>> found.outcome, found.model.parameters["F"]
        ('found', 23)

    A unit of which no model has all rows is "not found", and ``because`` says why; one that gives two results for a row
    is "no function" (docs/infer.md).

    Raises LookupError as `matmul` does, what the functions raise, KeyboardInterrupt, ValueError for results of a wrong
    shape or a unit that does not compute such rows, and RuntimeError where a unit fails or the record is another
    search's. Source: ``softmma infer`` searches in the same way.
    """
    if not (isinstance(unit, str) or callable(unit)):
        raise TypeError(f"unit is {unit!r}; give a function of (a, b, c), or the name of a unit")
    if most_rows is not None and most_rows < 1:
        raise ValueError(f"most_rows is {most_rows}; give at least 1, or None for no limit")
    if rows < 0 or search < 1 or not 0 <= seed < 2**63:
        raise ValueError(
            f"rows is {rows}, search {search}, seed {seed}; search is at least 1, a seed is from 0 to 2**63 - 1"
        )
    if budget is not None and budget < 1:
        raise ValueError(f"budget is {budget}; give at least 1, or None for 100,000,000")
    i = on if isinstance(on, Instruction) else chosen(on, instr, in_dtype or (None if instr else "f16"), out_dtype)
    if k is not None and k != i.k:
        if unit == "model":
            raise ValueError(f"k is {k}: a model of {i.name} has K = {i.k}; leave it out")
        i = _of_other_k(i, k)
    name = unit if isinstance(unit, str) else getattr(unit, "__name__", "a function")
    path = None if record is None else os.fspath(record)
    value = _core.infer(unit, i, rows, search, budget or 0, most_rows or 0, seed, path, progress)
    proof = _Proof(i)
    structures, misfit, no_function = value["structures"], value["misfit"], value["no_function"]
    same = ("outcome", "because", "nan", "more_rivals", "rows", "calls", "fresh", "rounds", "tried", "computed",
            "samples", "wrong", "seconds", "unit_seconds", "nan_different", "same_nan_different", "nan_text")  # fmt: skip
    return Inference(
        **{member: value[member] for member in same},
        unit=name,
        instruction=i,
        model=None if value["model"] is None else Custom(value["model"]),
        same=None if value["same_as"] is None else instruction(*value["same_as"]),
        parameters=tuple(_parameter(x, proof) for x in value["parameters"]),
        rivals=tuple(
            Rival(Custom(x["model"]), proof.add(x["row"]), array(x["row"]["with_rival"], i.d)[0])
            for x in value["rivals"]
        ),
        proof=_rows(proof.records, i),
        evidence=tuple(Evidence(x["structures"], _rows(x["rows"], i)) for x in structures["shut_out_by"]),
        structures=structures["listed"],
        left=structures["left"],
        misfit=None if misfit is None else _misfit(misfit, i),
        no_function=None if no_function is None else _no_function(no_function, i),
        value=value,
    )


class _Proof:
    """Rows that neighbours and rivals have, each once."""

    def __init__(self, i: Instruction):
        self.i = i
        self.records: list[Mapping[str, Any]] = []
        self.numbers: dict[str, int] = {}

    def add(self, record: Mapping[str, Any]) -> int:
        """Its number."""
        row = str([record[part] for part in Rows._fields])
        if row not in self.numbers:
            self.numbers[row] = len(self.records)
            self.records.append(record)
        return self.numbers[row]


def _rows(records: Sequence[Mapping[str, Any]], i: Instruction) -> Rows:
    def part(name: str, format: str | None, length: int | None = None) -> Any:
        if format is None:
            return None
        x = array([encoding for record in records for encoding in record[name]], format)
        return x if length is None else x.reshape(len(records), length)

    blocks = i.k // (i.scale_block or i.k)
    return Rows(
        a=part("a", i.a, i.k),
        b=part("b", i.b, i.k),
        c=part("c", i.c),
        d=part("d", i.d),
        scale_a=part("scale_a", i.scale, blocks),
        scale_b=part("scale_b", i.scale, blocks),
    )


def _of_other_k(i: Instruction, k: int) -> Custom:
    """Rows of another length; their rule, a chain in d's format, is nobody's."""
    formats = {name: getattr(i, name) for name in "abcd"}
    scale = {"scale": i.scale, "scale_block": i.scale_block} if i.scale else {}
    step = {"take": k, "join": "chain", "start": "c", "alignment_bits": "exact", "output": i.d}
    name = ".".join([f"k{k}", *formats.values()])
    return Custom({"name": name, "algorithm": "composition", "k": k, **formats, **scale, "steps": [step]})


def _number(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


def _parameter(x: Mapping[str, Any], proof: _Proof) -> Parameter:
    neighbours = []
    for n in x["neighbours"]:
        row = n.get("row")
        told = (None, None) if row is None else (proof.add(row), array(row["with_value"], proof.i.d)[0])
        neighbours.append(Neighbour(_number(n["value"]), n["is"], *told))
    return Parameter(x["key"], x["step"], _number(x["value"]), tuple(neighbours))


def _misfit(x: Mapping[str, Any], i: Instruction) -> Misfit:
    kinds = {kind: (wrong, asked) for kind, (wrong, asked) in x["kinds"].items() if asked}
    model = array([d for row in x["rows"] for d in row["model"]], i.d)
    return Misfit(x["asked"], x["wrong"], kinds, x["hold"], x["holds"], x["class"], _rows(x["rows"], i), model)


def _no_function(x: Mapping[str, Any], i: Instruction) -> NoFunction:
    told = {name: x[name] for name in NoFunction._fields if name != "operands"}
    return NoFunction(**told, operands=_rows([x["operands"]], i))
