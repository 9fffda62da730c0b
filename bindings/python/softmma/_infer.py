"""Infers a custom unit's model from the results of a black box."""

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
from softmma._value import checked


class Rows(NamedTuple):
    """Test vectors and their results: a and b are (rows, K), c and d are (rows,), in the instruction's formats.

    Scale factors are (rows, K / scale_block); they are None if the instruction takes no scale factors.
    """

    a: NDArray[Any]
    b: NDArray[Any]
    c: NDArray[Any]
    d: NDArray[Any]
    scale_a: NDArray[Any] | None
    scale_b: NDArray[Any] | None


class Neighbour(NamedTuple):
    """A neighbouring value of a parameter of the model."""

    value: int | str
    status: str
    """"excluded": a result of the unit refutes this value; "free": no vector searched distinguishes it from the
    model's value; "undecided": a vector would distinguish them, but the recording does not contain it."""
    row: int | None
    """Index in `Inference.proof` of the vector that distinguishes this value, or None for a free value."""
    d: Any
    """The result of that vector under this value."""


class Parameter(NamedTuple):
    """One parameter of the model, under the name that custom units use."""

    name: str
    step: int | None
    """The step of the sum, from 1, or None if the parameter applies to the whole sum."""
    value: int | str
    neighbours: tuple[Neighbour, ...]

    def values(self, status: str) -> tuple[int | str, ...]:
        """Returns the neighbouring values that have this status."""
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
    """A second model that agrees with every vector of a recording."""

    model: Custom
    row: int
    """Index in `Inference.proof` of a vector that would distinguish it from the model."""
    d: Any
    """The rival's result for that vector."""


class Misfit(NamedTuple):
    """How the unit's results differ from the best model's: ``wrong`` of ``asked`` vectors are mismatches.

    The vectors are new ones, or the vectors that the model was fitted to: if the unit is a recording or may compute no
    more, or if no new vector has a mismatch.
    """

    asked: int
    wrong: int
    kinds: Mapping[str, tuple[int, int]]
    """For each kind of new vector: the number of mismatches and of vectors. Empty if no new vectors are counted."""
    hold: Mapping[str, int]
    """Number of mismatches that contain each kind of operand, for example "a subnormal factor"."""
    holds: str
    """`hold` as a sentence; empty if the mismatches contain no such operands."""
    where: str
    """The common properties of `rows`, as text."""
    rows: Rows
    """The first mismatches, minimised, or the simplest if no new vectors are counted; the simplest first, with the
    unit's d."""
    model: NDArray[Any]
    """The model's results for `rows`."""
    summary: str
    """The numbers of mismatches as a sentence."""

    @property
    def share(self) -> float:
        """Returns the fraction of queried vectors that are mismatches."""
        return self.wrong / self.asked


class Evidence(NamedTuple):
    """Two vectors whose results refute structures of a sum."""

    structures: int
    """Number of structures that this evidence refutes and no earlier evidence did."""
    rows: Rows
    """Two vectors with the same products in different places. The unit's results differ, but would be equal in the
    refuted structures."""


class NoFunction(NamedTuple):
    """A vector for which the unit returned two different results."""

    asked: int
    """Number of results compared with the vector's first result."""
    not_repeated: int
    """Number of different results when the same batch was submitted again."""
    not_alike: int
    """Number of different results when the vector was at another place or among other vectors."""
    row: int
    """Index of the first such vector among the vectors queried first."""
    place: int
    batch: int
    """Number of vectors in the batch; the vector was at index `place` of it."""
    at_once: bool
    """Whether the different result came from the same batch submitted again; False: from another batch."""
    why: str
    """The cause of the different results, as far as batches of the vector's copies show it."""
    neighbour: int | None
    """Index of the neighbouring vector that causes the other result."""
    operands: Rows
    """The vector, with its first result as d."""


def _place(p: Parameter) -> str:
    return "all" if p.step is None else f"step {p.step}"


@dataclass(frozen=True, repr=False)
class Inference:
    """Result of `infer`. It is true if a model was found; it prints as a report.

    Such a model reproduces every sample and every vector of the final check bit for bit.
    """

    unit: str
    instruction: Instruction
    """The instruction whose formats and K the test vectors have."""
    outcome: str
    """"found", "found, except NaN encodings", "not found", "no function" or "stopped"."""
    because: str
    """The reason for "not found"; otherwise empty."""
    model: Custom | None
    """The model or the best candidate, usable wherever an instruction is, or None if the unit is no function."""
    same: Instruction | None
    """A catalogue instruction that no vector searched distinguishes from the model, apart from NaN encodings (see
    `same_nan_different`)."""
    nan: str | None
    """The custom-unit keyword for the NaN policy, or None if sign and payload of NaN cannot be determined."""
    parameters: tuple[Parameter, ...]
    proof: Rows
    """Vectors that refute neighbouring values, with the unit's d. For a recording also vectors that would refute them,
    with the model's d."""
    rivals: tuple[Rival, ...]
    """For a recording: other models that agree with all its vectors."""
    more_rivals: bool
    """Whether the list of rivals is full, or the search for them ended early. Other models may exist in any case, because
    only the nearest candidates are fitted."""
    misfit: Misfit | None
    no_function: NoFunction | None
    rows: int
    calls: int
    """`rows` is the number of queried vectors, and `calls` the number of calls of the unit."""
    fresh: int
    """Number of final check vectors from another seed; the model agrees with all of them."""
    rounds: int
    """How often vectors refuted a model that agreed with all samples."""
    tried: int
    computed: int
    """`tried` is the number of candidate models; `computed` is the number of vectors they computed until one agreed
    with every vector."""
    structures: int
    left: int
    """`structures` is the number of sum structures listed for this K; `left` is how many of them no vector refutes."""
    evidence: tuple[Evidence, ...]
    """The vectors that refute structures, most refuted first."""
    samples: int
    wrong: int
    """`samples` is the number of vectors the model was fitted to; `wrong` is how many of them it does not reproduce."""
    seconds: float
    unit_seconds: float
    """`seconds` is the total time, and `unit_seconds` the time the unit took."""

    nan_different: int
    """Number of vectors whose NaN encoding differs from that of the closest NaN policy."""
    same_nan_different: int
    """Number of vectors whose NaN encoding differs from that of `same`."""
    nan_text: str
    """A sentence about NaN encodings in the results; empty if no result is NaN."""
    limits: str
    """How far ``budget`` and ``most_rows`` were used, and what each limits; empty if neither is given."""
    value: dict[str, Any]
    """The record that ``softmma infer --json`` prints."""

    def __bool__(self) -> bool:
        return self.outcome == "found"

    def _lines(self) -> Iterator[str]:
        because = f", because {self.because}" if self.because else ""
        yield f"{self.instruction.arch} {self.instruction.name} on {self.unit}: {self.outcome}{because}"
        if self.no_function:
            n = self.no_function
            yield f"{n.not_repeated + n.not_alike} of {n.asked} results changed when repeated"
            yield f"first seen: row {n.row}, {'repeated at' if n.at_once else 'at'} place {n.place} of {n.batch}"
            yield n.why
        if self.model:
            yield f"model: {self.model._model_text()}"
        if self.same:
            nan = self.same_nan_different
            yield (
                f"no row searched distinguishes it from {self.same.name} of {self.same.arch}, whose rule the line above names"
                + (f", except NaN encodings: those of {nan} vectors differ" if nan else "")
            )
        yield (
            f"run on the unit: {self.rows} rows in {self.calls} calls"
            + (f", then {self.fresh} of another seed, which all agree with the model" if self.fresh and self.outcome.startswith("found") else "")
            + f"; {self.seconds:.1f} s, of which the unit took {self.unit_seconds:.1f}"
        )
        if self.limits:
            yield f"limits: {self.limits}"
        if self.nan_text and self.outcome.startswith("found"):
            yield f"NaN: {self.nan_text}"
        if self.rivals:
            more = ", and there may be more" if self.more_rivals else ""
            yield f"other models found that agree with all these rows: {len(self.rivals)}{more}"
            yield from (f"  {rival.model._model_text()}" for rival in self.rivals)
        if self.misfit:
            yield self.misfit.summary
            if self.misfit.holds:
                yield self.misfit.holds
            yield self.misfit.where
        if self.outcome == "not found" and not self.value["recording"]:
            excluded = self.structures - self.left
            yield f"structures: {excluded} of {self.structures} are excluded by rows, {self.left} are left"

    def _table(self) -> tuple[list[str], list[list[str]]]:
        """Returns the table of parameters that vectors determine; a column "left open" only if a value is undecided."""
        columns = {"excluded": "excluded by a row", "free": "no effect in any row", "undecided": "left open"}
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
        return f"no value has an effect in any row searched, for: {free or 'none'}"

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
    """Infers a custom unit that reproduces a black box bit for bit, with test vectors that support each parameter.

    ``unit`` is the black box. It is a function ``unit(a, b, c)``, or ``unit(a, b, c, scale_a, scale_b)`` if the
    instruction takes scale factors, that returns d. Shapes: a and b (rows, K), c and d (rows,), scale factors
    (rows, K / scale_block), all in the instruction's formats; d of another dtype is rounded to its format. A call has 1
    to 65,536 rows, and the function may keep its arrays. ``unit`` may also be a name that ``softmma units`` lists:
    "plugin:FILE", "pipe:COMMAND", "cuda", "custom:FILE", "file:ROWS" for recorded vectors, "model".

    ``on``, ``instr``, ``in_dtype`` and ``out_dtype`` choose an instruction as in `matmul` (default: f16 inputs). It
    gives only the formats and K; its rule is not used. ``k`` sets another K, from 1 to 64. Pass a `Custom` for formats
    that no instruction has.

    ``rows`` is the number of final check vectors, from another seed. ``search`` is the number of vectors searched for
    one that distinguishes the model from another, for example from one with a neighbouring value. ``budget`` is the
    number of vectors that candidate models may compute until one agrees with every vector (default: 100,000,000); it
    does not limit the vectors that the unit computes. After ``most_rows`` queried vectors no new step begins.
    ``record`` is a file that keeps the answers; if it exists, the search continues from it. ``progress`` is called with
    a line of text on each step. The result does not depend on time: the same unit, arguments and seed give the same
    result on any machine.

        >>> import numpy as np, softmma
        >>> def unit(a, b, c):
        ...     return softmma.dot(a, b, c, on="V100", instr="mma.m8n8k4.f32.f16.f16.f32")
        >>> found = softmma.infer(unit, on="V100", in_dtype="f16", rows=5000, search=2000)
        >>> found.outcome, found.model.parameters["F"]
        ('found', 23)

    The outcome is "not found" if no model agrees with every vector (``because`` gives the reason), and "no function" if
    the unit returns two results for one vector (docs/infer.md).

    Raises LookupError as `matmul` does, any exception of the functions, KeyboardInterrupt, ValueError if results have a
    wrong shape or the unit does not compute such vectors, and RuntimeError if a unit fails or the record belongs to
    another search. Source: ``softmma infer`` searches in the same way.
    """
    if not (isinstance(unit, str) or callable(unit)):
        raise TypeError(f"unit is {unit!r}; give a function of (a, b, c), or the name of a unit")
    most_rows = None if most_rows is None else checked("most_rows", most_rows, 1)
    rows, search, seed = checked("rows", rows), checked("search", search, 1), checked("seed", seed)
    budget = None if budget is None else checked("budget", budget, 1)
    i = on if isinstance(on, Instruction) else chosen(on, instr, in_dtype or (None if instr else "f16"), out_dtype)
    k = None if k is None else checked("k", k, 1, 64)
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
            "samples", "wrong", "seconds", "unit_seconds", "nan_different", "same_nan_different", "nan_text",
            "limits")  # fmt: skip
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
        evidence=tuple(Evidence(x["structures"], _rows(x["rows"], i)) for x in structures["excluded_by"]),
        structures=structures["listed"],
        left=structures["left"],
        misfit=None if misfit is None else _misfit(misfit, i),
        no_function=None if no_function is None else _no_function(no_function, i),
        value=value,
    )


class _Proof:
    """The proof's vectors, each stored once."""

    def __init__(self, i: Instruction):
        self.i = i
        self.records: list[Mapping[str, Any]] = []
        self.numbers: dict[str, int] = {}

    def add(self, record: Mapping[str, Any]) -> int:
        """Adds a vector unless it is stored already, and returns its index."""
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
    """Returns a custom unit of another K. Its rule, a chain in d's format, is a placeholder that no GPU has."""
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
    return Misfit(x["asked"], x["wrong"], kinds, x["hold"], x["holds"], x["class"], _rows(x["rows"], i), model, x["summary"])


def _no_function(x: Mapping[str, Any], i: Instruction) -> NoFunction:
    told = {name: x[name] for name in NoFunction._fields if name != "operands"}
    return NoFunction(**told, operands=_rows([x["operands"]], i))
