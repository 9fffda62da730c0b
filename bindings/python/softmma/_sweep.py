"""Measures and bounds errors of products over one quantity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from softmma import _core
from softmma._table import html_table, text_table
from softmma._targets import AnyPlan, product, read_c, several, target_instruction, targets
from softmma._threads import limited
from softmma._tolerance import check_operands, named_targets
from softmma._units import Instruction
from softmma._value import checked, result, to_pandas


class SweepRow(NamedTuple):
    """The errors of one target at one value of the swept quantity."""

    at: int | str
    """The value of the quantity."""
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
    """Number of elements without a bound."""
    left_out: int
    """Number of elements with NaN or infinity among their operands."""
    overflowed: int
    """Number of results that are infinite or NaN where the exact results are not the same."""
    k: int
    stored: str
    """The format that results are stored in."""
    exact: dict[str, float]
    """Quantiles of the exact results' magnitudes."""


class Sweep(NamedTuple):
    """Result of `sweep`."""

    name: str
    """The swept quantity."""
    values: tuple[int | str, ...]
    rows: tuple[SweepRow, ...]
    """One row for each target and value, target by target."""
    m: int
    n: int
    data: str
    """The operands."""
    elements: int
    """Number of elements measured of each product."""
    auto: tuple[int, int] | None
    """With slices: the numbers of slices that represent A and B exactly. Otherwise None."""
    value: dict[str, Any]
    """The record that ``softmma tolerance --sweep --json`` prints."""
    text: str
    """What ``softmma tolerance --sweep`` prints."""

    def _table(self) -> tuple[list[str], list[list[str]]]:
        header = [self.name, "GPU", "inputs", "plan", "50 %", "99 %", "max", "bound"]
        lines = [
            [str(row.at), row.label, row.inputs, row.plan or "", *(f"{row.error[q]:.2e}" for q in ("50", "99", "max")),
             "-" if row.bound is None else f"{row.bound:.2e}"]
            for row in self.rows
        ]  # fmt: skip
        if not any(row.plan for row in self.rows):
            header, lines = [x for x in header if x != "plan"], [line[:3] + line[4:] for line in lines]
        return header, lines

    def _title(self) -> str:
        products = f"{self.m} x {self.n} products, {self.data}"
        return f"|result - exact| over {self.name}: {self.elements} elements of {products}"

    def __repr__(self) -> str:
        return f"{self._title()}\n{text_table(*self._table())}"

    def _repr_html_(self) -> str:
        return html_table(*self._table(), self._title())

    def to_pandas(self) -> Any:
        """Returns a table with a line for each row, as in ``value``. Needs pandas."""
        return to_pandas(self.value["rows"])

    def plot(self, axes: Any = None) -> Any:
        """Draws the greatest error and the bound of each target over the values. Needs matplotlib.

        ``axes`` are matplotlib's; by default a new figure is made. Returns the axes. Raises TypeError for other objects.
        """
        if axes is None:
            try:
                from matplotlib import pyplot
            except ImportError:
                raise ImportError("plot needs matplotlib: pip install matplotlib") from None
            axes = pyplot.figure(layout="constrained").add_subplot()
        if not callable(getattr(axes, "plot", None)):
            raise TypeError(f"axes: {type(axes).__name__} is no Axes of matplotlib")
        whole = [value for value in self.values if isinstance(value, int)]
        numbers = len(whole) == len(self.values)
        curves: dict[str, list[SweepRow]] = {}
        for row in self.rows:
            inputs = "" if self.name == "format" else f" {row.inputs}"
            curves.setdefault(f"{row.label}{inputs}{f', {row.plan}' if row.plan else ''}", []).append(row)
        for name, rows in curves.items():
            at = [row.at if numbers else self.values.index(row.at) for row in rows]
            (line,) = axes.plot(at, [row.error["max"] or float("nan") for row in rows], "o-", label=name)
            bounds = [row.bound or float("nan") for row in rows]
            axes.plot(at, bounds, ":", color=line.get_color())
        if numbers and 0 < 16 * min(whole) <= max(whole):
            axes.set_xscale("log", base=2)
        if not numbers:
            axes.set_xticks(range(len(self.values)), self.values)
        if self.auto:
            axes.axvline(max(self.auto), linestyle="--", color="gray", label=f"auto: {self.auto[0]} and {self.auto[1]}")
        axes.set(yscale="log", xlabel=self.name, ylabel="|result - exact|, dotted: bound")
        axes.legend()
        return axes


def sweep(
    over: str | Mapping[str, Iterable[int | str] | str],
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
    store: Any = None,
    threads: int = 0,
) -> Sweep:
    """Measures and bounds the errors of products over one quantity, for one target or several.

    ``over`` is the quantity with its values: "k=64..16384" (doubling), "alignment_bits=10..25", "format=f16,bf16", or
    {"k": [64, 100, 4096]}. Quantities are "k", "format", "data", "split_k", "promote_every", any parameter of the
    targets' rules by its key in a custom unit or its symbol ("F"), and for accurate products of float64 matrices
    "slices" (the Ozaki scheme, on an s8 target; also the value "auto"), "words" and "markidis" (docs/numerics.md).
    The other arguments are those of `tolerance`. A sweep over k of given matrices takes their first k. A sweep over
    formats takes the names of GPUs, and each format only on the GPUs that have it.

        >>> import softmma
        >>> found = softmma.sweep("k=64..256", on=["V100", "H100"])
        >>> [(row.label, row.at, f"{row.error['max']:.1e}") for row in found.rows if row.at == 256]
        [('V100', 256, '6.2e-05'), ('H100', 256, '2.6e-05')]

    Raises LookupError if there is no such GPU, format or instruction, ValueError for invalid values, numbers and shapes.
    Source: ``softmma tolerance --sweep`` prints the same.
    """
    text = over if isinstance(over, str) else _text(over)
    accurate = _core.sweep_is_accurate(text)
    seed = checked("seed", seed)
    check_operands(a, b, c, shape, data, seed, with_c, round_in)
    if data is not None and text.startswith("data="):
        raise ValueError("data: the sweep gives it; leave it out")
    if accurate and a is not None and c is not None:
        raise ValueError("c: accurate products compute A B alone; leave it out")
    if accurate and on is None:
        raise ValueError("on is missing; for example on='H100:s8'")
    name, _, values = text.partition("=")
    if name in ("format", "formats", "in"):
        listed = _formats(values.split(","), on, instr, in_dtype, out_dtype, plan, round_in)
    else:
        listed = named_targets(on, instr, in_dtype, out_dtype, plan, round_in, (a, b))
        c = read_c(c, several(on, "on"), instr, in_dtype, out_dtype)
    numbers = {"alpha": alpha, "beta": beta, "split_k": split_k, "promote_every": promote_every, "threads": threads}
    own = (None, None, None) if accurate else (a, b, c)
    products = tuple(product(label, t, *own, numbers) for label, t in listed)
    given = (a, b) if accurate else (None, None)
    arguments = (products, "a", "b", data or "normal", seed, shape or (64, 64, 4096), with_c, store, 1.0)
    with limited(threads):
        value, printed = _core.sweep(text, *given, arguments)
    auto = value.get("auto")
    return result(
        Sweep,
        value,
        name=value["sweep"],
        rows=tuple(_row(row) for row in value["rows"]),
        auto=None if auto is None else (auto[0], auto[1]),
        text=printed,
    )


def _text(over: Mapping[str, Iterable[int | str] | str]) -> str:
    if not isinstance(over, Mapping):
        raise TypeError(f"over: {type(over).__name__} is neither a text such as 'k=64..256' nor a dict")
    if len(over) != 1:
        raise ValueError(f"over: {len(over)} quantities; give one, such as {{'k': [64, 128]}}")
    ((name, values),) = over.items()
    return f"{name}={values if isinstance(values, str) else ','.join(map(str, values))}"


def _formats(
    values: Sequence[str], on: Any, instr: Any, in_dtype: Any, out_dtype: Any, plan: Any, round_in: Any
) -> list[tuple[str, Any]]:
    """Returns the name and target of each GPU in every format that it has."""
    if on is None or instr is not None or in_dtype is not None:
        raise ValueError("on: a sweep over formats needs the names of GPUs, and neither instr nor in_dtype")
    named: list[tuple[str, Instruction]] = []
    for unit in several(on, "on"):
        if isinstance(unit, Instruction) or _core.split_target(unit)[1] is not None:
            raise ValueError(f"on: {unit} has a format of its own; a sweep over formats needs the name of a GPU alone")
        found: list[tuple[str, Instruction]] = []
        for value in values:
            try:
                found.append((unit, target_instruction(unit, None, value, out_dtype)))
            except LookupError as error:
                missing = error
        if not found:
            raise missing
        named += found
    made = targets([i for _, i in named], plan, round_in)
    return [(name, t) for (name, _), t in zip(named, made)]


def _row(row: dict[str, Any]) -> SweepRow:
    others = {name: row[name] for name in SweepRow._fields if name in row and name != "plan"}
    return SweepRow(at=row["value"], label=row["on"], inputs=row["in"], plan=row.get("plan"), **others)
