"""GPUs, number formats, instructions of the catalogue, and custom units."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from softmma import _core
from softmma._table import html_table, text_table
from softmma._value import to_pandas

T = TypeVar("T")


class Listing(list[T]):
    """A list of records; ``value`` is the list that the command prints with ``--json``."""

    def __init__(self, records: Iterable[T], value: list[dict[str, Any]]):
        super().__init__(records)
        self.value = value

    def to_pandas(self) -> Any:
        """Returns a table with a row for each record. Raises ImportError without pandas."""
        return to_pandas(self.value)


class Gpu(NamedTuple):
    """A name that ``on=`` takes, and the GPU or architecture it stands for."""

    name: str
    arch: str
    title: str
    vendor: str


class GpuSum(NamedTuple):
    """How some instructions of a GPU sum: the formats of A and B that they take, and of D; the sum in words; the name
    of the first instruction, and how many there are."""

    inputs: list[str]
    d: str
    sum: str
    instruction: str
    instructions: int


class GpuFacts(NamedTuple):
    """What the matrix unit of a GPU computes: a `GpuSum` for each kind of sum, evidence, and open questions."""

    arch: str
    vendor: str
    title: str
    instructions: int
    sums: list[GpuSum]
    evidence: list[str]
    questions: list[str]
    value: dict[str, Any]
    """The record that ``softmma show GPU --json`` prints."""

    def to_pandas(self) -> Any:
        """Returns a table with a row for each kind of sum. Raises ImportError without pandas."""
        return to_pandas(self.value["sums"])


class Format(NamedTuple):
    """A number format: its width in bits, the bytes of an array element, and the dtype of such arrays.

    Formats without a dtype of their own share one: tf32 is float32 with 13 ignored bits, ue4m3 is float8_e4m3fn
    without a sign. Custom formats are written by their parameters ("e3m4", "e4m3-bias11-fnuz", "s5":
    docs/custom-units.md); those that ml_dtypes lacks are held as encodings in unsigned integers.
    """

    name: str
    bits: int
    bytes: int
    dtype: np.dtype[Any]


class FormatFacts(NamedTuple):
    """The numbers and the encodings of a format.

    ``max`` and ``min`` are the largest and the least finite number. The parts of an encoding (``exponent_bits``,
    ``fraction_bits``, ``bias``) and the two smallest numbers are None for formats without an exponent (integers and
    ocp_int8); a smallest number is also None if the format has no such numbers. ``infinity`` and ``zero`` list
    encodings, ``nan`` lists ranges of encodings (first and last), all as hexadecimal digits.
    """

    name: str
    bits: int
    exponent_bits: int | None
    fraction_bits: int | None
    bias: int | None
    max: float
    min: float
    smallest_normal: float | None
    smallest_subnormal: float | None
    infinity: list[str]
    nan: list[list[str]]
    zero: list[str]
    value: dict[str, Any]
    """The record that ``softmma show FORMAT --json`` prints."""


class BlockFormatFacts(NamedTuple):
    """A block-scaled format: ``block`` elements share a scale factor."""

    name: str
    block: int
    element: FormatFacts
    scale: FormatFacts
    value: dict[str, Any]
    """The record that ``softmma show FORMAT --json`` prints."""


# For each block-scaled format: the formats of elements and scale factors, and the elements that share a factor.
BLOCK_FORMATS = {name: (element, scale, block) for name, element, scale, block in _core.block_formats()}


@dataclass(frozen=True, repr=False)
class Instruction:
    """One instruction, D = A B + C for an M x K, a K x N and an M x N matrix, and its model.

    ``a``, ``b``, ``c``, ``d`` and ``scale`` are names of formats. ``scale`` is None if the instruction takes no scale
    factors; otherwise ``scale_block`` elements along K share a factor. A sparse instruction stores half of each
    ``sparse_group`` elements of A along K, and ``k`` counts the stored elements; ``sparse_group`` of a dense
    instruction is 0. ``model`` is the algorithm, ``parameters`` are its parameters, and ``rule`` names both together.
    ``evidence`` lists the sources of the model, and ``questions`` what is not settled. ``basis`` is the best of the
    evidence: "recorded" (results of hardware are public), "emulated" (an emulator agrees), "reported" (others report
    agreement with hardware), "assumed" or, for a custom unit, "custom". ``softmma ... --strict`` refuses "reported" and
    "assumed".
    """

    arch: str
    name: str
    m: int
    n: int
    k: int
    a: str
    b: str
    c: str
    d: str
    scale: str | None
    scale_block: int
    sparse_group: int
    model: str
    parameters: Mapping[str, int | str] = field(hash=False)
    rule: str
    evidence: tuple[str, ...]
    questions: tuple[str, ...]
    basis: str
    _handle: Any = field(compare=False)

    @property
    def aliases(self) -> list[str]:
        """Returns other names: PTX, SASS and AMD's spellings."""
        return _core.aliases(self._handle)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Returns (M, N, K)."""
        return self.m, self.n, self.k

    @property
    def keeps_13_bits(self) -> bool:
        """Reports whether the unit keeps only 13 fraction bits of FP32 sums: FP8 on Ada, FP8 by ``wgmma`` on Hopper.

        Unless fast accumulation is requested, libraries add such sums to an FP32 accumulator after every 128 of K.
        """
        return self.d == "f32" and str(self.parameters.get("rho", "")).endswith("E8M13")

    @property
    def value(self) -> dict[str, Any]:
        """The record that ``softmma show --json`` prints."""
        return _core.instruction_value(self)

    def to_custom(self) -> dict[str, Any]:
        """Returns the instruction as the description of a custom unit, to be changed and passed to `Custom`."""
        description: dict[str, Any] = json.loads(_core.custom_text(self._handle))
        return description

    def _inputs_text(self) -> str:
        names = {parts: name for name, parts in BLOCK_FORMATS.items()}
        inputs = [names.get((x, self.scale or "", self.scale_block), x) for x in (self.a, self.b)]
        return inputs[0] if self.a == self.b else ",".join(inputs)

    def _scale_text(self) -> str:
        return f"{self.scale} per {self.scale_block}" if self.scale else ""

    def _model_text(self) -> str:
        return " ".join([self.model, *(f"{name}={value}" for name, value in self.parameters.items())])

    def __repr__(self) -> str:
        scale = f", scales {self._scale_text()}" if self.scale else ""
        return f"<{self.arch} {self.name}: {self.a} x {self.b} + {self.c} -> {self.d}{scale}, {self._model_text()}>"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("instruction", self.name),
            ("architecture", self.arch),
            ("shape (M x N x K)", " x ".join(map(str, self.shape))),
            ("formats", f"a {self.a}, b {self.b}, c {self.c}, d {self.d}"),
            ("scale factors", self._scale_text() or "none"),
            ("model", self._model_text()),
            ("basis", self.basis),
            *(("evidence", text) for text in self.evidence),
            *(("open", text) for text in self.questions),
            *(("also", alias) for alias in self.aliases),
        ]
        return html_table(("", ""), rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return instruction, (self.arch, self.name)


_core.register_instruction_type(Instruction)


class Custom(Instruction):
    """A custom unit: an algorithm with parameters, usable wherever an instruction is.

    ``description`` is the content of a custom unit's file (docs/custom-units.md) as a mapping, or the path of such a
    file. Raises ValueError for an invalid description, with line and column in the JSON text and the allowed values.

        >>> import softmma
        >>> unit = softmma.Custom({**softmma.instruction("A100", "HMMA.16816.F32").to_custom(), "alignment_bits": 40})
        >>> softmma.dot([1, 2**-14], [1, 2**-14], 2**-27, on=unit).item()
        1.0
    """

    def __init__(self, description: Mapping[str, Any] | str | Path):
        if isinstance(description, Mapping):
            origin, text = "custom", json.dumps({"softmma-unit": 1, **description}, indent=2)
        else:
            origin, text = str(description), Path(description).read_text(encoding="utf-8")
        values = _core.describe(_core.custom(origin, text))
        for each, value in zip(fields(Instruction), values):
            object.__setattr__(self, each.name, value)

    def __eq__(self, other: object) -> bool:
        """Reports whether the descriptions are the same, which also name the encodings of NaN."""
        if not isinstance(other, Custom):
            return NotImplemented
        return _core.custom_text(self._handle) == _core.custom_text(other._handle)

    def __hash__(self) -> int:
        return hash(_core.custom_text(self._handle))

    def __reduce__(self) -> tuple[Any, ...]:
        return Custom, (self.to_custom(),)


class InstructionList(list[Instruction]):
    """A list of instructions, shown as a table."""

    _HEADER = ("architecture", "instruction", "A", "B", "C", "D", "scale factors", "model")

    @property
    def value(self) -> list[dict[str, Any]]:
        """Returns the records that ``softmma list --json`` prints for these instructions."""
        return [i.value for i in self]

    def to_pandas(self) -> Any:
        """Returns a table with a row for each instruction. Raises ImportError without pandas."""
        return to_pandas(self.value)

    def _rows(self) -> list[tuple[str, ...]]:
        return [(i.arch, i.name, i.a, i.b, i.c, i.d, i._scale_text(), i._model_text()) for i in self]

    def __repr__(self) -> str:
        return text_table(self._HEADER, self._rows())

    def _repr_html_(self) -> str:
        return html_table(self._HEADER, self._rows())


def text_of(x: Any, what: str, meaning: str = "a name") -> str:
    """Returns x if it is a str; otherwise raises a TypeError that names the argument."""
    if not isinstance(x, str):
        raise TypeError(f"{what} is {x!r}; give {meaning}")
    return x


def gpus(*, in_dtype: str | None = None, out_dtype: str | None = None) -> Listing[Gpu]:
    """Returns the names of GPUs that ``on=`` takes besides architectures. Case, blanks and hyphens are ignored.

    ``in_dtype`` and ``out_dtype`` select GPUs that have an instruction with these formats, as in `instructions`. Raises
    LookupError if there is no such format.
    """
    value = _core.gpus_of(in_dtype, out_dtype)
    names = {row["name"] for row in value}
    return Listing((Gpu(*row) for row in _core.gpus() if row[0] in names), value)


def gpu(on: str) -> GpuFacts:
    """Returns what a GPU or architecture computes, for all formats.

    Raises LookupError that gives the nearest names.

    >>> gpu("MI250X").sums[0].sum
    '4 rounded products, added in pairs, then to the sum so far, in f32; subnormals count as zero'
    """
    value = _core.gpu(on)
    return GpuFacts(**{**value, "sums": [GpuSum(**one) for one in value["sums"]]}, value=value)


def formats() -> Listing[Format]:
    """Returns the number formats of matrices and scale factors. Their ``value`` has the range of each, too."""
    return Listing((Format(*row) for row in _core.formats()), _core.facts("formats"))


def format(name: str) -> FormatFacts | BlockFormatFacts:
    """Returns the numbers and the encodings of a format, or of the elements and scale factors of a block-scaled one.

        >>> import softmma
        >>> softmma.format("e5m2").max
        57344.0

    Raises LookupError if there is no such format.
    """
    value = _core.format_facts(name)
    if "block" not in value:
        return FormatFacts(**value, value=value)
    element, scale = (FormatFacts(**value[key], value=value[key]) for key in ("element", "scale"))
    return BlockFormatFacts(value["name"], value["block"], element, scale, value)


def dtype(format: Any) -> np.dtype[Any]:
    """Returns the dtype of arrays in a format, given by name ("e4m3", "half", "float8_e5m2", "e3m4", ...) or dtype.

    Raises LookupError if there is no such format.
    """
    return _core.dtype(format)


def instruction(on: str, name: str | None = None) -> Instruction:
    """Finds an instruction of a GPU or architecture by its name or an alias (PTX, SASS, AMD).

    Without a name, ``on`` is the command's target "GPU:FORMAT", "GPU:FORMAT:FORMAT" (of A and of B) or
    "GPU:INSTRUCTION"; formats select the preferred instruction.

        >>> import softmma
        >>> softmma.instruction("H100:f16").name
        'wgmma.m64n8k16.f32.f16.f16'

    Raises LookupError that gives the nearest names, or the GPUs that have the instruction; ValueError for a target
    without formats and without a name.
    """
    if name is None:
        if _core.split_target(on)[1] is None:
            raise ValueError(f"name is missing: give an instruction's name, or formats, as in instruction('{on}:f16')")
        return chosen(on, None, None, None)
    return Instruction(*_core.describe(_core.find_instruction(on, name)))


def chosen(on: str, instr: str | None, in_dtype: Any, out_dtype: Any) -> Instruction:
    """Returns the instruction that `matmul` uses for these arguments."""
    return Instruction(*_core.describe(_core.choose(on, instr, in_dtype, out_dtype)))


def one_instruction(
    on: str | Instruction, instr: str | Instruction | None, in_dtype: Any, out_dtype: Any
) -> Instruction:
    """Returns ``instr``, or else ``on``, if it is an Instruction; otherwise the one that `matmul` uses."""
    given = on if instr is None else instr
    return given if isinstance(given, Instruction) else chosen(str(on), given if instr else None, in_dtype, out_dtype)


def instructions(
    on: str | None = None, *, every_n: bool = False, in_dtype: str | None = None, out_dtype: str | None = None
) -> InstructionList:
    """Lists the instructions of a GPU or architecture in order of preference (default: of all that are listed).

    Instructions that differ only in N are one entry, with the smallest N, unless ``every_n``. ``in_dtype`` selects
    those whose A or B (or scale factors) have this format, and ``out_dtype`` those whose D has this one. A name such as
    "fp8" stands for several formats, and "e4m3,e5m2" for that of A and that of B. Raises LookupError if there is no
    such GPU or format.

        >>> import softmma
        >>> softmma.instructions("A100", in_dtype="tf32", out_dtype="f32")[0].name
        'mma.m16n8k8.f32.tf32.tf32.f32'
    """
    seen = set()
    result = InstructionList()
    for handle in _core.catalogue(on, in_dtype, out_dtype):
        i = Instruction(*_core.describe(handle))
        family = i.name.partition(".")[0]
        key = i.arch, family, i.m, i.k, i.a, i.b, i.c, i.d, i.scale, i.scale_block, i.sparse_group, i.rule
        if every_n or key not in seen:
            result.append(i)
        seen.add(key)
    return result


def find(on: str | None, words: str = "") -> InstructionList:
    """Finds the instructions of a GPU (None: of any GPU) that match every word, in any order and case.

    A word matches part of the name, an alias or the model; a format of A, B, C or D under any name ("half"); all
    formats of a width ("fp8", "fp4"); or block-scaled formats ("mxfp8", "nvfp4").

        >>> import softmma
        >>> [i.name for i in softmma.find("H100", "wgmma fp8")][:2]
        ['wgmma.m64n8k32.f32.e4m3.e4m3', 'wgmma.m64n8k32.f16.e4m3.e4m3']

    Raises LookupError if there is no such GPU, or no matching instruction.
    """
    listed = instructions(on)
    wanted = text_of(words, "words", "words in one text").lower().split()
    found = InstructionList(i for i in listed if all(_answers(i, word) for word in wanted))
    if found:
        return found
    have = ", ".join(sorted({f"{i.a} x {i.b}" for i in listed}))
    raise LookupError(f"{on or 'the catalogue'} has no instruction that answers to {words!r}; inputs there are: {have}")


def _answers(i: Instruction, word: str) -> bool:
    if any(word in text.lower() for text in (i.name, i.model, *i.aliases)):
        return True
    if any(name.startswith(word) and (i.a, i.scale, i.scale_block) == parts for name, parts in BLOCK_FORMATS.items()):
        return True
    try:
        return _core.format(word) in (i.a, i.b, i.c, i.d, i.scale)
    except LookupError:
        return word.startswith("fp") and word[2:] in {
            str(f.bits) for f in formats() if f.name in (i.a, i.b) and f.dtype.kind not in "iu"
        }
