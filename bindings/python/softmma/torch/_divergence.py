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

from softmma._table import html_table, text_table
from softmma._trace import Trace
from softmma.torch._report import Report

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
    - "own": the inputs are equal, the outputs differ, and no layer inside differs first
    - "inside": the inputs are equal, the outputs differ, and a layer inside differs first
    - "inherited": the inputs differ already
    - "shape": the shapes or dtypes differ; "missing": only one of the targets has this call
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

    @property
    def title(self) -> str:
        """Returns the layer's title: name, function after a colon, number of the call from the second on, output."""
        function = "" if self.is_module else f":{self.operation}"
        return f"{self.name or '(model)'}{function}{f' #{self.call}' if self.call > 1 else ''}{self.output}"

    @property
    def size(self) -> int:
        """Returns the number of elements."""
        return math.prod(self.shape)

    @property
    def parted(self) -> list[tuple[str, str]]:
        """Returns the pairs of targets whose bits differ here, each pair once."""
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
    the result of `softmma.trace`, for the operands that each target's unit got; ``parting`` in it is None if the two
    got different operands, or if arguments such as ``promote_every`` differ. If ``trace`` is None, ``why`` gives the reason.
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
            p = self.trace.parting
            if p is not None:
                lines.append(f"the sums part between {p.after} and {p.products} products ({p.at})")
            elif not self.same_operands:
                lines.append("the two units did not get the same operands: they are rounded or scaled differently")
            elif len({t.result.tobytes() for t in self.trace.targets}) == 2:
                lines.append("the two units got the same operands, and sum them differently: see promotion and slices")
            else:
                lines.append("the sums do not part here")
        return "\n".join(lines)


def _sums(steps: NDArray[Any]) -> tuple[str, str]:
    """Returns the exact sum of all products, and the error after the last product."""
    last = steps[steps["kind"] == "instruction"][-1]
    return f"{last['exact']:.9g}", f"{last['error']:.2e}"


class Divergence(Sequence[Layer]):
    """Result of `compare`: the network's layers in the order in which they return, shown as a table.

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
        return next((layer for layer in self.layers if layer.parted), None)

    def first_between(self, x: str, y: str) -> Layer | None:
        """Returns the first layer with different bits in these two targets."""
        pair = self._pair((x, y))
        return next((layer for layer in self.layers if layer.cause[pair] != "equal"), None)

    def _pair(self, between: tuple[str, str]) -> tuple[str, str]:
        for label in between:
            if label not in self.targets:
                raise ValueError(f"{label!r} is none of the targets: {', '.join(self.targets)}")
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
        pairs = [p for p in layer.parted if pair in (None, p)]
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
                counts = [layer.difference[pair].differ for pair in layer.parted if pair in layer.difference]
                cells.append(f"{max(counts)}" if counts else "-" if layer.parted else "0")
                causes = {layer.cause[pair] for pair in layer.parted}
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
        return f"{len(self.layers)} layers, {how}: greatest difference from FP64 (relative, rms)"

    def _summary(self) -> list[str]:
        lines = []
        first = self.first
        if len(self.targets) > 1 and first is None:
            lines.append("all targets have the same bits in all layers")
        elif first is not None:
            pair = first.parted[0]
            found = first.difference.get(pair)
            count = f" in {found.differ} of {first.size} elements" if found else ""
            lines.append(f"first: {first.title} ({first.operation}): {pair[0]} and {pair[1]} differ{count}; "
                         f"{CAUSES[first.cause[pair]]}")  # fmt: skip
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
                    "cause": layer.cause.get((y, x)),
                }  # fmt: skip

    def to_pandas(self, what: str = "layers") -> Any:
        """Returns a DataFrame of "layers" (a row for each layer and pair of runs) or of "rankings". Needs pandas."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        if what == "layers":
            return pd.DataFrame(list(self._records()))
        if what == "rankings":
            return pd.DataFrame(list(self.rankings), columns=Ranking._fields)
        raise ValueError(f"what is {what!r}; there are layers and rankings")

    def to_json(self, path: str | Path | None = None) -> str:
        """Returns the result as JSON, and writes it to `path` if given. Non-finite numbers are "NaN" and "Infinity"."""
        first = self.first
        text = json.dumps(
            {
                "targets": self.targets, "isolated": self.isolated,
                "first": None if first is None else self.layers.index(first),
                "layers": [{k: _finite(v) for k, v in record.items()} for record in self._records()],
                "rankings": [r._asdict() for r in self.rankings], "notes": self.notes,
            },
            allow_nan=False,
            indent=1,
        )  # fmt: skip
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


CAUSES = {
    "own": "its own: from the same inputs",
    "inside": "from the same inputs, inside it",
    "inherited": "inherited: its inputs differ already, by what no module or product before it shows",
    "shape": "their shapes or dtypes are not the same",
    "missing": "it is called by one of them only",
}


def _finite(x: Any) -> Any:
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
