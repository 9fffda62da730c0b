"""Compares training runs of one network under several targets and in FP32."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import torch

from softmma._renamed import warn_of_old_name
from softmma._table import html_table, text_table
from softmma._value import to_pandas
from softmma.torch._compare import Comparing, Target, called, check_batch, outside, progress_of, targets_of
from softmma.torch._divergence import FP32, finite, formats_of, other_formats
from softmma.torch._emulate import Emulation
from softmma.torch._record import as_always, checked_loss, digest_of
from softmma.torch._report import Report


class TrainingDivergence(NamedTuple):
    """The steps at which two targets' training runs diverge.

    ``step`` is the first step, counted from 1, after which parameters have different bits, and ``parameters`` names
    these, in the model's order; None and () if they stay equal. ``loss_step`` is the first step with another loss, or None.
    A step's loss is computed before its update.
    """

    targets: tuple[str, str]
    step: int | None
    parameters: tuple[str, ...]
    loss_step: int | None


class Training:
    """Result of `compare_training`: the losses of each run, and the steps at which runs diverge, shown as a table.

    ``losses[run]`` are the losses of the steps, for the ``runs``: FP32 and the ``targets``. ``divergences`` has an
    entry for every two targets; the text shows those of the first target. ``distance[run]`` is the distance of a run's
    final parameters from those of the FP32 run: the root of sum (x - y)^2 / sum y^2. ``reports`` are the targets' `Emulation.report`, ``formats[target][role]``
    the formats of weights, activations and gradients, and ``notes`` lists what ran outside the target's matrix unit.
    """

    def __init__(
        self,
        losses: dict[str, list[float]],
        divergences: Sequence[TrainingDivergence],
        distance: dict[str, float],
        reports: dict[str, Report],
    ):
        self.losses = losses
        self.divergences = tuple(divergences)
        self.distance = distance
        self.reports = reports
        self.runs = tuple(losses)
        self.targets = tuple(reports)
        self.steps = len(losses[FP32])
        self.formats = {label: formats_of(report) for label, report in reports.items()}
        self.notes = tuple(outside(reports))

    @property
    def partings(self) -> tuple[TrainingDivergence, ...]:
        """Old name of `divergences`."""
        warn_of_old_name("Training.partings", "Training.divergences")
        return self.divergences

    def first_beyond(self, share: float, run: str, against: str = FP32) -> int | None:
        """Returns the first step at which a run's loss differs from another run's by more than this share of it.

        A loss that is NaN or infinite in only one of the runs differs by more than any share.
        """
        for label in (run, against):
            if label not in self.losses:
                raise ValueError(f"{label!r} is not a run; the runs are {', '.join(self.runs)}")
        for step, (x, y) in enumerate(zip(self.losses[run], self.losses[against]), 1):
            if not abs(x - y) <= share * abs(y) and repr(x) != repr(y):
                return step
        return None

    def _title(self) -> str:
        return "\n".join([*other_formats(self.formats), f"{self.steps} steps"])

    def _table(self) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        header = "run", "first loss", "last loss", "greatest change from FP32", "at step", "parameters' distance"
        rows: list[tuple[str, ...]] = []
        for run, losses in self.losses.items():
            changes = [_change(x, y) for x, y in zip(losses, self.losses[FP32])]
            greatest = max(range(self.steps), key=changes.__getitem__)
            where = f"{greatest + 1}" if changes[greatest] else ""
            rows.append(
                (
                    run,
                    f"{losses[0]:.9g}",
                    f"{losses[-1]:.9g}",
                    f"{changes[greatest]:.1e}",
                    where,
                    f"{self.distance[run]:.1e}",
                )
            )
        return header, rows

    def _summary(self) -> list[str]:
        lines = []
        for p in (p for p in self.divergences if p.targets[0] == self.targets[0]):
            if p.step is None:
                lines.append(f"{' and '.join(p.targets)}: the same bits after every step")
                continue
            named = ", ".join(p.parameters[:3]) + (
                f" and {len(p.parameters) - 3} more" if len(p.parameters) > 3 else ""
            )
            losses = f"losses from step {p.loss_step} on" if p.loss_step else "all losses are the same"
            lines.append(f"{' and '.join(p.targets)}: parameters diverge in step {p.step} ({named}); {losses}")
        return [*lines, *(f"note: {note}" for note in self.notes)]

    def __repr__(self) -> str:
        return "\n".join([self._title(), text_table(*self._table()), *self._summary()])

    def _repr_html_(self) -> str:
        return html_table(*self._table(), self._title()) + html_table(("",), [(x,) for x in self._summary()])

    @property
    def value(self) -> dict[str, Any]:
        """Returns the result as the record that `to_json` writes. Non-finite numbers are "NaN" and "Infinity"."""
        return {
            "targets": self.targets,
            "losses": {run: [finite(x) for x in losses] for run, losses in self.losses.items()},
            "partings": [p._asdict() for p in self.divergences],
            "distance": {run: finite(x) for run, x in self.distance.items()},
            "notes": self.notes,
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """Returns `value` as JSON, and writes it to `path` if given."""
        text = json.dumps(self.value, allow_nan=False, indent=1)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def to_pandas(self) -> Any:
        """Returns a DataFrame with a row for each step and run: step, run, loss. Needs pandas."""
        steps = zip(*self.losses.values(), strict=True)
        return to_pandas(
            [{"step": n, "run": r, "loss": x} for n, losses in enumerate(steps, 1) for r, x in zip(self.runs, losses)]
        )

    def plot(self, path: str | Path | None = None) -> Any:
        """Plots the losses over the steps, and their relative change from FP32's.

        Needs matplotlib. Writes a picture in the format given by the path's suffix, and returns matplotlib's figure.
        """
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ImportError("plot needs matplotlib: pip install matplotlib") from None
        figure = Figure(figsize=(8, 6), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True)
        steps = range(1, self.steps + 1)
        for n, (run, losses) in enumerate(self.losses.items()):
            color = "0.7" if run == FP32 else f"C{n - 1}"
            above.plot(steps, losses, label=run, color=color, linewidth=3 if run == FP32 else 1)
            changes = [_change(x, y) for x, y in zip(losses, self.losses[FP32])]
            below.plot(
                steps, [c if 0 < c < math.inf else math.nan for c in changes], color=color, marker=".", linewidth=1
            )
        above.set_ylabel("loss")
        above.legend(fontsize="small")
        below.set(xlabel="step", ylabel="change of the loss from FP32's", yscale="log")
        if path is not None:
            figure.savefig(path)
        return figure


def _change(x: float, y: float) -> float:
    """Returns |x - y| / |y|; 0 if x and y are equal; infinity if y is 0, or if only one of them is finite."""
    if repr(x) == repr(y):
        return 0.0
    return abs(x - y) / abs(y) if math.isfinite(x) and math.isfinite(y) and y else math.inf


class _Trained(NamedTuple):
    """One run: its losses, the digest of each parameter after each step, the final parameters, and the report."""

    losses: list[float]
    digests: list[dict[str, bytes]]
    parameters: dict[str, torch.Tensor]
    report: Report | None = None


def compare_training(
    model: torch.nn.Module,
    batches: Iterable[tuple[Any, Any]],
    on: Any,
    *,
    loss: Callable[..., torch.Tensor],
    optimizer: torch.optim.Optimizer | Callable[..., Any],
    steps: int | None = None,
    seed: int = 0,
    progress: bool = False,
) -> Training:
    """Trains copies of a network on several GPUs and in FP32, and compares their losses and parameters step by step.

    ``batches`` are pairs (inputs, expected): ``inputs`` as in `compare`, and ``loss(output, expected)`` returns one
    number; it may be a module. ``steps`` defaults to the number of batches; with more steps the batches repeat.
    ``optimizer`` is an optimiser of the model's parameters, whose state each run continues, or a function that makes
    one of the parameters: ``torch.optim.AdamW``, ``lambda p: torch.optim.SGD(p, lr=0.1)``. ``on`` lists targets as in
    `compare`.

        >>> import torch, softmma.torch
        >>> model, batches = torch.nn.Linear(8, 2), [(torch.ones(4, 8), torch.zeros(4, 2))]
        >>> trained = softmma.torch.compare_training(
        ...     model, batches, ["H100", "A100"], loss=torch.nn.functional.mse_loss, optimizer=torch.optim.AdamW, steps=3
        ... )
        >>> trained.runs, trained.steps
        (('FP32', 'H100', 'A100'), 3)

    Each run starts with a deep copy of the model, in the model's own mode, and with random numbers from ``seed``, from
    which the batches are drawn, too. The model, the optimiser and the generators are not changed. One run follows the
    other; memory holds one run's model and optimiser, and the parameters of the FP32 run. An emulation lasts for all
    of a run's steps, so delayed scaling sees the history. With ``progress`` a line on stderr gives the step and the
    time left in the run.

    Raises as `compare`, and ValueError if there are no batches, or if the optimiser has other parameters.
    """
    targets = targets_of(on)
    if steps is not None and steps < 1:
        raise ValueError(f"steps is {steps}: it is at least 1")
    if not callable(loss):
        raise TypeError(f"loss is a {type(loss).__name__}: it is a function of the model's output and what is expected")
    comparing = Comparing(model, (), seed, loss)
    _check_optimizer(optimizer, model)
    with as_always(seed, None):
        drawn = [_batch(comparing, batch) for batch in itertools.islice(batches, steps)]
    if not drawn:
        raise ValueError("batches is empty: it holds pairs (inputs, expected)")
    schedule = list(itertools.islice(itertools.cycle(drawn), steps or len(drawn)))
    runs = {}
    for label, target in ((FP32, None), *((t.label, t) for t in targets)):
        told = progress_of(label, len(schedule), "steps") if progress else None
        runs[label] = _train(comparing, schedule, optimizer, label, target, told)
    divergences = [_divergence(x, y, runs[x], runs[y]) for x, y in combinations((t.label for t in targets), 2)]
    distance = {label: _distance(run.parameters, runs[FP32].parameters) for label, run in runs.items()}
    reports = {label: run.report for label, run in runs.items() if run.report is not None}
    return Training({label: run.losses for label, run in runs.items()}, divergences, distance, reports)


def _check_optimizer(optimizer: Any, model: torch.nn.Module) -> None:
    if isinstance(optimizer, torch.optim.Optimizer):
        own = {id(x) for x in model.parameters()}
        if any(id(x) not in own for group in optimizer.param_groups for x in group["params"]):
            raise ValueError("optimizer has parameters that are not the model's")
    elif not callable(optimizer):
        raise TypeError(f"optimizer is a {type(optimizer).__name__}: it is an optimiser, or a function of parameters")


def _batch(comparing: Comparing, batch: Any) -> tuple[Any, Any]:
    if not isinstance(batch, (tuple, list)) or len(batch) != 2:
        raise TypeError(f"batches holds a {type(batch).__name__}: each batch is a pair (inputs, expected)")
    check_batch(*batch)
    return comparing.copy_of(batch[0]), comparing.copy_of(batch[1])


def _train(
    comparing: Comparing,
    batches: Sequence[tuple[Any, Any]],
    optimizer: Any,
    label: str,
    target: Target | None,
    told: Callable[[int], None] | None,
) -> _Trained:
    """Trains one copy of the model."""
    wide = None if target else torch.float32
    continued = (optimizer,) if isinstance(optimizer, torch.optim.Optimizer) else ()
    model, loss, context, *copies = comparing.copied(wide, target, *continued)
    run = _Trained([], [], dict(model.named_parameters()))
    with comparing.running(label, wide, target, context) as emulation:
        stepping = copies[0] if copies else optimizer(model.parameters())
        for n, batch in enumerate(batches, 1):
            inputs, expected = (comparing.copy_of(x, wide) for x in batch)
            stepping.zero_grad()
            found = checked_loss(loss(called(model, inputs), expected))
            found.backward()
            stepping.step()
            run.losses.append(float(found.detach()))
            run.digests.append({name: digest_of([x]) for name, x in run.parameters.items()})
            if told:
                told(n)
    return run._replace(report=emulation.report() if isinstance(emulation, Emulation) else None)


def _divergence(x: str, y: str, of_x: _Trained, of_y: _Trained) -> TrainingDivergence:
    step, names = None, []
    for n, (a, b) in enumerate(zip(of_x.digests, of_y.digests), 1):
        names = [name for name in a if a[name] != b[name]]
        if names:
            step = n
            break
    losses = [n for n, (a, b) in enumerate(zip(of_x.losses, of_y.losses), 1) if repr(a) != repr(b)]
    return TrainingDivergence((x, y), step, tuple(names), losses[0] if losses else None)


def _distance(x: dict[str, torch.Tensor], y: dict[str, torch.Tensor]) -> float:
    pairs = [(a.detach().double(), y[name].detach().double()) for name, a in x.items()]
    squares = sum(float((a - b).square().sum()) for a, b in pairs)
    of = sum(float(b.square().sum()) for _, b in pairs)
    return 0.0 if squares == 0 else math.sqrt(squares / of) if of else math.inf
