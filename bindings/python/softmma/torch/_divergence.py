"""The result of `compare`: where runs of a network diverge, layer by layer."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from softmma._renamed import warn_of_old_name
from softmma._study import Explanation, explain
from softmma._table import html_table, text_table
from softmma._trace import Trace
from softmma.torch._report import Report
from softmma.torch._tensors import GREATEST

FP64, FP32 = "FP64", "FP32"
"""The labels of the two runs that every comparison has."""


class Difference(NamedTuple):
    """The difference of one tensor between two runs, x against y.

    ``greatest`` is the largest difference of two elements, and ``relative`` the root of sum (x - y)^2 / sum y^2, both
    in FP64 over the elements that are finite in both; ``left_out`` counts the others. ``differ`` counts elements whose
    bits differ, so 0 and -0 differ; if the dtypes differ, values are compared. ``at`` is the element of ``greatest``,
    or None if ``greatest`` is 0.
    """

    differ: int
    greatest: float
    relative: float
    left_out: int
    at: tuple[int, ...] | None


@dataclass(frozen=True)
class Layer:
    """One output of one call of a module, or of a product that no module passes on unchanged.

    ``name`` is the module's path, "" for the model itself; ``call`` counts its calls from 1; ``operation`` is the
    module's class, or, if ``is_module`` is False, the function called in it; ``output`` names the tensor within the
    output, "" if the output is a single tensor.

    ``difference[x, y]`` compares run x with run y, for any two runs that have this output in one shape. ``nan[x]`` and
    ``infinite[x]`` count elements of a run. ``cause[x, y]``, for targets x and y, is

    - "equal": the same bits
    - "own": the inputs are equal, the outputs differ, and no layer inside causes it
    - "inside": the inputs are equal, the outputs differ, and a layer inside causes it
    - "inherited": the inputs differ already
    - "shape": the shapes or dtypes differ; "missing": only one of the targets has this call

    ``product`` is "forward" for an output. In the backward pass of a loss, "dgrad" is the gradient of the argument that
    ``output`` names, "" if only one argument has a gradient, and "wgrad" that of a parameter, ".weight" for the layer's
    own. The inputs of a gradient are the gradients that arrived at the layer and the values that it is computed from.
    If several calls use one parameter, a row with the ``operation`` "sum" is its whole gradient.
    """

    name: str
    call: int
    operation: str
    is_module: bool
    output: str
    shape: tuple[int, ...]
    dtype: str
    nan: dict[str, int]
    infinite: dict[str, int]
    difference: dict[tuple[str, str], Difference]
    cause: dict[tuple[str, str], str]
    product: str = "forward"

    @property
    def title(self) -> str:
        """Returns the layer's title: name, function after a colon, number of the call from the second on, output, and
        the kind of gradient."""
        function = "" if self.is_module else f":{self.operation}"
        kind = "" if self.product == "forward" else f" {self.product}"
        return f"{self.name or '(model)'}{function}{f' #{self.call}' if self.call > 1 else ''}{self.output}{kind}"

    @property
    def size(self) -> int:
        """Returns the number of elements."""
        return math.prod(self.shape)

    @property
    def parted(self) -> list[tuple[str, str]]:
        """Old name of `differing`."""
        warn_of_old_name("Layer.parted", "Layer.differing")
        return self.differing

    @property
    def differing(self) -> list[tuple[str, str]]:
        """Returns the pairs of targets whose bits differ in this layer, each pair once."""
        found: list[tuple[str, str]] = []
        for (x, y), cause in self.cause.items():
            if cause != "equal" and (y, x) not in found:
                found.append((x, y))
        return found

    def groups(self, targets: Sequence[str]) -> list[list[str]]:
        """Groups the targets that have the same bits."""
        found: list[list[str]] = []
        for target in targets:
            for group in found:
                if self.cause[group[0], target] == "equal":
                    group.append(target)
                    break
            else:
                found.append([target])
        return found


class OperandCounts(NamedTuple):
    """Counts of the elements that one operand lost by rounding, in all products of a layer in one run.

    ``product`` is "forward", "dgrad", "wgrad" or "other" (attention); ``role`` is "weights", "activations" or
    "gradients"; ``rule`` says how the operand is scaled and rounded to its ``format``. The counts are those of
    `softmma.torch.Rounded`: elements that became zero, that exceeded the largest number their factor allows, that are
    infinite or NaN after rounding, and the relative error of rounding.
    """

    run: str
    layer: str
    product: str
    role: str
    format: str
    rule: str
    elements: int
    zeros: int
    saturated: int
    infinite: int
    nan: int
    error: float

    @property
    def lost(self) -> float:
        """Returns the share of elements that became zero, saturated, infinite or NaN."""
        return (self.zeros + self.saturated + self.infinite + self.nan) / max(self.elements, 1)


class Ranking(NamedTuple):
    """Order along the last axis of a model output in one run, compared with another run.

    ``positions`` is the number of rows along this axis. ``argmax`` lists the rows whose greatest element differs, and
    ``order`` those whose first ``top`` elements, or their order, differ (the first of equal elements comes first; NaN
    is greatest).
    """

    output: str
    run: str
    against: str
    top: int
    positions: int
    argmax: list[tuple[int, ...]]
    order: list[tuple[int, ...]]


class LayerTrace(NamedTuple):
    """One element of a layer, traced in two targets.

    ``at`` is the element's index in the layer's output, if the product has the shape of the output. ``element`` is its
    index in product number ``product`` (from 0) of the ``products`` that the unit computes for the layer. ``trace`` is
    the result of `softmma.trace`, for the operands that each target's unit got; ``divergence`` in it is None if the two
    got different operands, or if arguments such as ``promote_every`` differ. If ``trace`` is None, ``why`` gives the reason.
    ``rows`` are the arguments of `softmma.matmul` for the element alone, for each target.
    """

    layer: Layer
    targets: tuple[str, str]
    cause: str
    why: str
    at: tuple[int, ...] | None = None
    product: int = 0
    products: int = 0
    element: tuple[int, ...] = ()
    same_operands: bool = False
    trace: Trace | None = None
    rows: tuple[dict[str, Any], ...] = ()

    def explain(self) -> Explanation:
        """Draws the instruction at which the sums diverge, on both units, with the operands that it got (`softmma.explain`).

        Raises ValueError if the units got different operands, if the sums diverge elsewhere, or if they are moved on the
        way (promotion, plans, scale factors in the instruction); `trace` has all steps then.
        """
        divergence = None if self.trace is None else self.trace.divergence
        if self.trace is None or divergence is None or divergence.at != "instruction":
            raise ValueError(f"{self.layer.title}: the sums of the same operands do not diverge at an instruction")
        row = self.rows[0]
        moved = [name for name in ("plan", "scale_a", "scale_b") if row.get(name) is not None]
        moved += [name for name, plain in (("promote_every", 0), ("split_k", 1)) if row.get(name, plain) != plain]
        if moved:
            raise ValueError(f"{self.layer.title}: one instruction does not show a sum with {', '.join(moved)}")
        target = self.trace.targets[0]
        steps = target.steps[target.steps["kind"] == "instruction"]
        number = int(np.searchsorted(steps["products"], divergence.after, side="right"))
        k = target.k[number]
        a, b = (np.where(k < 0, np.zeros((), x.dtype), x[k]) for x in (row["a"][0], row["b"][:, 0]))
        c = steps["sum"][number - 1] if number else 0.0
        names = {name: row[name] for name in ("in_dtype", "out_dtype", "round_in") if row.get(name) is not None}
        return explain(a, b, c, on=[r["on"] for r in self.rows], **names)

    def __repr__(self) -> str:
        x, y = self.targets
        lines = [f"{self.layer.title} ({self.layer.operation}), {x} and {y}: {self.cause}: {self.why}"]
        if self.trace is not None:
            where = f"element {list(self.at)} of the output, " if self.at is not None else ""
            lines.append(f"{where}{list(self.element)} of product {self.product + 1} of {self.products}:")
            rows = [
                (label, t.instruction.name, f"{float(t.result.item()):.9g}", *_sums(t.steps))
                for label, t in zip(self.targets, self.trace.targets)
            ]
            lines.append(text_table(("target", "instruction", "result", "exact sum", "error"), rows))
            p = self.trace.divergence
            if p is not None:
                lines.append(f"the sums diverge between {p.after} and {p.products} products ({p.at})")
                difference = self.trace.value["parting"].get("first_difference")
                lines += [difference] if difference else []
            elif not self.same_operands:
                lines.append("the two units did not get the same operands: they are rounded or scaled differently")
            elif len({t.result.tobytes() for t in self.trace.targets}) == 2:
                lines.append("the two units got the same operands, and sum them differently: see promotion and slices")
            else:
                lines.append("the sums do not diverge here")
        return "\n".join(lines)


def _sums(steps: NDArray[Any]) -> tuple[str, str]:
    """Returns the exact sum of all products, and the error after the last product."""
    last = steps[steps["kind"] == "instruction"][-1]
    return f"{last['exact']:.9g}", f"{last['error']:.2e}"


class Divergence(Sequence[Layer]):
    """Result of `compare`: the network's layers in the order in which they return, shown as a table.

    With a loss, gradients follow in the order of the backward pass (`Layer.product`); ``losses`` holds each run's loss,
    and ``operands`` counts the elements that rounding lost in the targets' products. ``formats[target][role]`` are the formats
    that weights, activations and gradients take in a target's products.

    ``targets`` are the labels of the targets, and ``runs`` these after FP64 and FP32. ``rankings`` lists changes in the
    order of the model's outputs; ``argmax[output][run]`` and ``order[output][run]`` hold the indices of the greatest
    elements. ``reports`` are the targets' `Emulation.report`. ``notes`` are the limits of the comparison, and ``bytes``
    is the size of the activations stored during it.
    """

    def __init__(
        self,
        layers: Sequence[Layer],
        targets: Sequence[str],
        isolated: bool,
        losses: dict[str, float],
        rankings: Sequence[Ranking],
        order: dict[str, dict[str, NDArray[Any]]],
        reports: dict[str, Report],
        notes: Sequence[str],
        bytes: int,
        retrace: Callable[[Layer, tuple[str, str]], LayerTrace],
    ):
        self.layers = tuple(layers)
        self.targets = tuple(targets)
        self.runs = (FP64, FP32, *targets)
        self.isolated = isolated
        self.losses = losses
        self.operands = tuple(_operands(reports))
        self.formats = {label: formats_of(report) for label, report in reports.items()}
        self.rankings = tuple(rankings)
        self.order = order
        self.argmax = {output: {run: top[..., 0] for run, top in runs.items()} for output, runs in order.items()}
        self.reports = reports
        self.notes = tuple(notes)
        self.bytes = bytes
        self._retrace = retrace

    def __getitem__(self, index: Any) -> Any:
        """Returns a layer by number, or the first layer with this title (as in the table)."""
        if isinstance(index, str):
            found = [layer for layer in self.layers if layer.title == index]
            if not found:
                raise KeyError(f"there is no layer {index!r}; the first are {[x.title for x in self.layers[:5]]}")
            return found[0]
        return self.layers[index]

    def __len__(self) -> int:
        return len(self.layers)

    # ---- The first difference ----

    @property
    def first(self) -> Layer | None:
        """Returns the first layer with different bits in any two targets, or None without a difference."""
        return next((layer for layer in self.layers if layer.differing), None)

    @property
    def backward(self) -> tuple[Layer, ...]:
        """Returns the gradients, in the order of the backward pass."""
        return tuple(layer for layer in self.layers if layer.product != "forward")

    def first_between(self, x: str, y: str, product: str | None = None) -> Layer | None:
        """Returns the first layer whose bits differ between these two targets. With ``product`` only layers of that
        product are searched."""
        pair = self._pair((x, y))
        layers = (layer for layer in self.layers if product in (None, layer.product))
        return next((layer for layer in layers if layer.cause[pair] != "equal"), None)

    def _pair(self, between: tuple[str, str]) -> tuple[str, str]:
        for label in between:
            if label not in self.targets:
                raise ValueError(f"{label!r} is not a target; the targets are {', '.join(self.targets)}")
        if len(between) != 2 or between[0] == between[1]:
            raise ValueError(f"between is {between!r}: it takes two targets")
        x, y = sorted(between, key=self.targets.index)
        return x, y

    def trace(self, layer: Layer | str | int | None = None, between: tuple[str, str] | None = None) -> LayerTrace:
        """Traces the element of a layer in which two targets differ most, instruction by instruction (`softmma.trace`).

        ``layer`` defaults to `first`, or to `first_between` the targets in ``between``; ``between`` defaults to the
        first two targets that differ in the layer. Both targets run again as far as the layer, so the model must be
        unchanged. Raises ValueError if it has changed, or if nothing differs.
        """
        pair = None if between is None else self._pair(between)
        if layer is None:
            layer = self.first if pair is None else self.first_between(*pair)
            if layer is None:
                raise ValueError(f"no layer has other bits in {' and '.join(pair or ('any two targets',))}")
        elif not isinstance(layer, Layer):
            layer = self[layer]
        assert isinstance(layer, Layer)
        pairs = [p for p in layer.differing if pair in (None, p)]
        if not pairs:
            raise ValueError(f"{layer.title}: {' and '.join(pair or self.targets)} have the same bits here")
        return self._retrace(layer, pairs[0])

    # ---- Showing ----

    def table(self, against: str = FP64) -> str:
        """Returns the table with differences from a run other than FP64."""
        return text_table(*self._table(against))

    def _table(self, against: str) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        if against not in self.runs:
            raise ValueError(f"against is {against!r}; the runs are {', '.join(self.runs)}")
        shown = [run for run in self.runs if run not in (FP64, against)]
        header = ["layer", "operation", "shape", *shown]
        several = len(self.targets) > 1
        if several:
            header += ["bits differ", "cause", "same bits"]
        rows = []
        for layer in self.layers:
            cells = [layer.title, layer.operation, " x ".join(map(str, layer.shape)) or "1"]
            cells += [self._cell(layer, run, against) for run in shown]
            if several:
                counts = [layer.difference[pair].differ for pair in layer.differing if pair in layer.difference]
                cells.append(f"{max(counts)}" if counts else "-" if layer.differing else "0")
                causes = {layer.cause[pair] for pair in layer.differing}
                cells.append(next((c for c in ("missing", "shape", "own", "inside", "inherited") if c in causes), ""))
                cells.append(" | ".join(" = ".join(group) for group in layer.groups(self.targets)))
            rows.append(tuple(cells))
        return header, rows

    @staticmethod
    def _cell(layer: Layer, run: str, against: str) -> str:
        found = layer.difference.get((run, against))
        if found is None:
            return "-"
        special = [f"{n} {name}" for n, name in ((layer.nan[run], "NaN"), (layer.infinite[run], "inf")) if n]
        return ", ".join([f"{found.greatest:.1e} ({found.relative:.1e})", *special])

    def _title(self) -> str:
        how = "each layer alone, on FP32's inputs" if self.isolated else "each target's own run of the whole model"
        count = f"{len(self.layers) - len(self.backward)} layers"
        if self.backward:
            count += f" and {len(self.backward)} gradients"
        title = f"{count}, {how}: greatest difference from FP64 (relative, rms)"
        return "\n".join([*other_formats(self.formats), title])

    def _summary(self) -> list[str]:
        lines = []
        if self.losses:
            lines.append("loss: " + ", ".join(f"{run} {loss:.9g}" for run, loss in self.losses.items()))
        first = self.first
        if len(self.targets) > 1 and first is None:
            lines.append("all targets have the same bits in all layers")
        elif first is not None:
            lines.append(f"first: {_first_difference(first)}")
            gradient = next((layer for layer in self.backward if layer.differing), None)
            if gradient is not None:
                lines.append(f"first gradient: {_first_difference(gradient)}")
        lines += [
            f"{o.run}: {o.layer} {o.product}: {o.role} in {o.format}: {o.zeros} became zero, {o.saturated} saturated, "
            f"{o.infinite + o.nan} infinite or NaN of {o.elements}"
            for o in sorted(self.operands, key=lambda o: -o.lost)[:LOST_SHOWN]
            if o.lost >= LEAST_LOST
        ]
        for r in self.rankings:
            if r.against == FP64:
                changed = f"argmax changes in {len(r.argmax)} of {r.positions} positions"
                lines.append(
                    f"output{r.output}: {r.run}: {changed}, the first {r.top} in {len(r.order)}{_places(r.argmax)}"
                )
        return [*lines, *(f"note: {note}" for note in self.notes)]

    def __repr__(self) -> str:
        return "\n".join([self._title(), text_table(*self._table(FP64)), *self._summary()])

    def _repr_html_(self) -> str:
        return html_table(*self._table(FP64), self._title()) + html_table(("",), [(x,) for x in self._summary()])

    # ---- Export ----

    def _records(self) -> Iterator[dict[str, Any]]:
        """Yields a record for each layer and pair of runs; the pair's second run comes first in `runs`."""
        for number, layer in enumerate(self.layers):
            for y, x in combinations(self.runs, 2):
                found = layer.difference.get((x, y))
                yield {
                    "number": number, "layer": layer.name, "call": layer.call, "operation": layer.operation,
                    "output": layer.output, "shape": layer.shape, "dtype": layer.dtype, "run": x, "against": y,
                    "greatest": found.greatest if found else math.nan,
                    "relative": found.relative if found else math.nan,
                    "differ": found.differ if found else None,
                    "left_out": found.left_out if found else None,
                    "at": found.at if found else None,
                    "nan": layer.nan.get(x), "inf": layer.infinite.get(x),
                    "cause": layer.cause.get((y, x)), "product": layer.product,
                }  # fmt: skip

    def to_pandas(self, what: str = "layers") -> Any:
        """Returns a DataFrame of "layers" (a row for each layer and pair of runs), "rankings" or "operands". Needs
        pandas."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        if what == "layers":
            return pd.DataFrame(list(self._records()))
        if what == "rankings":
            return pd.DataFrame(list(self.rankings), columns=Ranking._fields)
        if what == "operands":
            return pd.DataFrame(list(self.operands), columns=OperandCounts._fields)
        raise ValueError(f"what is {what!r}; there are layers, rankings and operands")

    @property
    def value(self) -> dict[str, Any]:
        """Returns the result as the record that `to_json` writes. Non-finite numbers are "NaN" and "Infinity"."""
        first = self.first
        return {
            "targets": self.targets, "isolated": self.isolated,
            "first": None if first is None else self.layers.index(first),
            "layers": [{k: finite(v) for k, v in record.items()} for record in self._records()],
            "rankings": [r._asdict() for r in self.rankings], "notes": self.notes,
            "losses": {run: finite(loss) for run, loss in self.losses.items()},
            "operands": [{k: finite(v) for k, v in o._asdict().items()} for o in self.operands],
        }  # fmt: skip

    def to_json(self, path: str | Path | None = None) -> str:
        """Returns `value` as JSON, and writes it to `path` if given."""
        text = json.dumps(self.value, allow_nan=False, indent=1)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def plot(self, path: str | Path | None = None) -> Any:
        """Plots each run's relative difference from FP64 over the layers, and how many elements differ between targets.

        Needs matplotlib. Writes a picture in the format given by the path's suffix, and returns matplotlib's figure.
        """
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ImportError("plot needs matplotlib: pip install matplotlib") from None
        pairs = list(combinations(self.targets, 2))
        figure = Figure(
            figsize=(max(7.0, min(16.0, 3 + 0.22 * len(self.layers))), 7 if pairs else 5), layout="constrained"
        )
        axes = figure.subplots(2 if pairs else 1, 1, sharex=True, squeeze=False)[:, 0]
        places = range(len(self.layers))

        def draw(axes: Any, n: int, of: int, heights: Any, label: str, color: str) -> None:
            """Draws a curve; later curves are thinner, so that coinciding curves all stay visible."""
            width = 1 + 3 * (of - n - 1) / max(of - 1, 1)
            axes.plot(places, heights, marker="o", markersize=2 + width, linewidth=width, label=label, color=color)

        for n, run in enumerate(self.runs[1:]):
            found = [layer.difference.get((run, FP64)) for layer in self.layers]
            heights = [f.relative if f and 0 < f.relative < math.inf else math.nan for f in found]
            draw(axes[0], max(n - 1, 0), len(self.targets), heights, run, "0.7" if run == FP32 else f"C{n - 1}")
        axes[0].set_yscale("log")
        axes[0].set_ylabel("relative difference from FP64 (rms)")
        for n, pair in enumerate(pairs):
            found = [layer.difference.get(pair) for layer in self.layers]
            heights = [100 * f.differ / max(layer.size, 1) if f else math.nan for f, layer in zip(found, self.layers)]
            draw(axes[1], n, len(pairs), heights, " and ".join(pair), f"C{n}")
        if pairs:
            axes[1].set_ylabel("elements whose bits differ (%)")
            axes[1].set_ylim(-3, 103)
        first = self.first
        for each in axes:
            if first is not None:
                each.axvline(self.layers.index(first), color="0.8", linewidth=4, zorder=0, label="first that differs")
            each.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
            each.grid(axis="y", color="0.9")
        step = math.ceil(len(self.layers) / 60) if self.layers else 1
        axes[-1].set_xticks(places[::step], [x.title for x in self.layers[::step]], rotation=90, fontsize="x-small")
        if path is not None:
            figure.savefig(path)
        return figure


LOST_SHOWN, LEAST_LOST = 5, 0.001
"""The summary lists at most this number of operands. Each has lost at least this share of its elements."""

CAUSES = {
    "own": "its own: from the same inputs",
    "inside": "from the same inputs, inside it",
    "inherited": "inherited: its inputs differ already",
    "shape": "their shapes or dtypes are not the same",
    "missing": "it is called by one of them only",
}


def _first_difference(layer: Layer) -> str:
    """Describes where the first pair of targets differs in a layer."""
    pair = layer.differing[0]
    found = layer.difference.get(pair)
    count = f" in {found.differ} of {layer.size} elements" if found else ""
    why = CAUSES[layer.cause[pair]]
    if layer.product == "forward" and layer.cause[pair] == "inherited":
        why += ", by what no module or product before it shows"
    return f"{layer.title} ({layer.operation}): {pair[0]} and {pair[1]} differ{count}; {why}"


def _operands(reports: dict[str, Report]) -> Iterator[OperandCounts]:
    for run, report in reports.items():
        for p in report.products:
            for x in (p.a, p.b):
                if x.elements:
                    counts = x.zeros, x.saturated, x.infinite, x.nan
                    yield OperandCounts(run, p.layer, p.product, x.role, x.format, x.rule, x.elements, *counts, x.error)


def formats_of(report: Report) -> dict[str, tuple[str, ...]]:
    """Returns the formats of each role in the products of layers, without attention's."""
    found: dict[str, dict[str, None]] = {}
    for p in report.products:
        for x in (p.a, p.b) if p.product != "other" else ():
            found.setdefault(x.role, {})[x.format] = None
    return {role: tuple(formats) for role, formats in found.items()}


def other_formats(formats: dict[str, dict[str, tuple[str, ...]]]) -> list[str]:
    """Returns a line for each role whose operands have different formats in different targets."""
    roles: dict[str, list[str]] = {}
    for role in dict.fromkeys(role for of_roles in formats.values() for role in of_roles):
        taken: dict[tuple[str, ...], list[str]] = {}
        for label, of_roles in formats.items():
            taken.setdefault(of_roles.get(role, ("none",)), []).append(label)
        if len(taken) > 1:
            named = [f"{' and '.join(map(_with_range, names))} ({', '.join(of)})" for names, of in taken.items()]
            roles.setdefault(", ".join(named), []).append(role)
    parts = [f"{' and '.join(of)}: {named}" for named, of in roles.items()]
    return [f"other formats: {'; '.join(parts)}"] if parts else []


def _with_range(format: str) -> str:
    """Returns a format's name, in FP8 with its largest finite number."""
    return f"{format} up to {GREATEST[format]:g}" if format in GREATEST else format


def finite(x: Any) -> Any:
    return ("NaN" if math.isnan(x) else "Infinity") if isinstance(x, float) and not math.isfinite(x) else x


def _places(positions: list[tuple[int, ...]]) -> str:
    shown = ", ".join(str(list(p)) for p in positions[:5])
    return f": {shown}{', ...' if len(positions) > 5 else ''}" if shown else ""


def worst(x: NDArray[Any], y: NDArray[Any]) -> int:
    """Returns the flat index at which two arrays differ most; elements that are finite in one array only come first."""
    x, y = np.asarray(x, np.float64).ravel(), np.asarray(y, np.float64).ravel()
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(x - y)
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    return int(np.argmax(np.where(same, 0, np.where(np.isfinite(x) & np.isfinite(y), distance, np.inf))))
