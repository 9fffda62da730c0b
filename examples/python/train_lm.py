"""Trains a small language model from scratch by several recipes: loss curves, and gradients lost to each format.

    python examples/python/train_lm.py [--recipe NAME ...] [--steps N] [--seed N] [--picture FILE] [--json FILE]

The text comes from a small grammar, so its entropy is known: no model has a smaller loss on average. The model is a
transformer on characters. All products of its layers, forward and backward, are computed as the recipe says; everything
else is FP32. Every run has the same initial weights and the same batches.
"""

import argparse
import contextlib
import copy
import json
import math
import random
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch.nn import Embedding, LayerNorm, Linear
from torch.nn.functional import cross_entropy, gelu, scaled_dot_product_attention

import softmma
import softmma.torch
from softmma.recipes import recipe

# Lost gradients are counted below, so their warnings are ignored.
warnings.filterwarnings("ignore", message="x: (rounded|quantised) to", category=RuntimeWarning)

# ---- The text ----

# All alternatives of a name are equally likely. Verbs agree with a noun that may be many words earlier.
GRAMMAR = """
Sentence = One Acts | Many Act
One      = a Thing | a Quality Thing | a Thing Place | the Thing that Acts
Many     = two Things | some Quality Things | two Things Place | the Things that Act
Place    = near One | near Many
Acts     = Sleeps | Sees One | Sees Many
Act      = Sleep | See One | See Many
Thing    = ant|bear|cat|dog|eel|fox|goat|hen|kite|lion|mole|newt|owl|pig|swan|yak
Things   = ants|bears|cats|dogs|eels|foxes|goats|hens|kites|lions|moles|newts|owls|pigs|swans|yaks
Quality  = big | calm | dark | fast | green | kind | old | quiet
Sleeps   = sleeps | eats | sings | waits | runs | hides | jumps | dreams
Sleep    = sleep | eat | sing | wait | run | hide | jump | dream
Sees     = sees | hears | likes | follows | meets | calls | helps | finds
See      = see | hear | like | follow | meet | call | help | find
"""
RULES = {
    name.strip(): [alternative.split() for alternative in alternatives.split("|")]
    for name, alternatives in (line.split("=") for line in GRAMMAR.strip().splitlines())
}
CHARACTERS = "\n abcdefghijklmnopqrstuvwxyz"


def words(choose, part="Sentence"):
    """Returns the words of a random sentence. `choose` chooses one of several alternatives."""
    if part not in RULES:
        return [part]
    return [word for each in choose(RULES[part]) for word in words(choose, each)]


def text(length, seed):
    """Returns sentences, one a line, as numbers of characters."""
    choose = random.Random(seed).choice
    lines = []
    while length > 0:
        lines.append(" ".join(words(choose)) + "\n")
        length -= len(lines[-1])
    return torch.tensor([CHARACTERS.index(c) for c in "".join(lines)])


def entropy():
    """Returns the entropy of the grammar in nats per character. Each sentence has only one derivation, so its entropy
    is that of the choices in the derivation."""
    nats, length = dict.fromkeys(RULES, 0.0), dict.fromkeys(RULES, 0.0)

    def expected(part, known, of_word):
        alternatives = RULES[part]
        return sum(known.get(each, of_word(each)) for one in alternatives for each in one) / len(alternatives)

    for _ in range(200):  # iterate to the fixed point, because parts contain each other
        nats = {part: math.log(len(RULES[part])) + expected(part, nats, lambda word: 0.0) for part in RULES}
        length = {part: expected(part, length, lambda word: len(word) + 1.0) for part in RULES}
    return nats["Sentence"] / length["Sentence"]


# ---- The model ----

WIDTH, HEADS, LAYERS, CONTEXT, BATCH = 128, 4, 2, 64, 16


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = LayerNorm(WIDTH), LayerNorm(WIDTH)
        self.qkv, self.projection = Linear(WIDTH, 3 * WIDTH), Linear(WIDTH, WIDTH)
        self.up, self.down = Linear(WIDTH, 4 * WIDTH), Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = self.qkv(self.before(x)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        attended = scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.projection(attended.transpose(1, 2).flatten(-2))
        return x + self.down(gelu(self.up(self.between(x))))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.characters, self.positions = Embedding(len(CHARACTERS), WIDTH), Embedding(CONTEXT, WIDTH)
        self.layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm, self.head = LayerNorm(WIDTH), Linear(WIDTH, len(CHARACTERS))

    def forward(self, x):
        x = self.characters(x) + self.positions.weight
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


# ---- Training ----

# The GPU and recipe of each run; the last layer is in BF16.
RUNS = {
    "fp32": None,
    "bf16": ("H100", recipe("bf16")),
    "fp8_tensorwise": ("H100", recipe("fp8_tensorwise")),  # backward, sums of 13 bits are added to FP32 every 128 of K
    "fp8_one_chain": ("H100", replace(recipe("fp8_tensorwise"), promote=(0, 0))),
    "fp8_every_128": ("H100", replace(recipe("fp8_tensorwise"), promote=(128, 128))),
    "fp8_delayed": ("H100", recipe("fp8_delayed")),
    "fp8_blockwise": ("H100", recipe("fp8_blockwise")),
    "mxfp8": ("B200", recipe("mxfp8")),
    "mxfp4": ("B200", recipe("mxfp4")),
    "nvfp4": ("B200", recipe("nvfp4")),
    "nvfp4_nearest": ("B200", recipe("nvfp4", stochastic=False)),
    "nvfp4_plain": ("B200", recipe("nvfp4", two_dimensional=False, stochastic=False, hadamard=False)),
}


def emulated(run):
    if RUNS[run] is None:
        return contextlib.nullcontext()
    return softmma.torch.emulate(*RUNS[run], layers={"head": "bf16"})


def windows(source, generator, count):
    """Returns windows of characters, and the following characters."""
    starts = torch.randint(len(source) - CONTEXT, (count, 1), generator=generator)
    found = source[starts + torch.arange(CONTEXT + 1)]
    return found[:, :-1], found[:, 1:]


def loss_of(model, batch):
    x, y = batch
    return cross_entropy(model(x).flatten(0, 1), y.flatten())


def gradient_of_weights(model, batch):
    """Returns the gradient of the layers' weights, concatenated."""
    weights = [layer.weight for layer in model.layers.modules() if isinstance(layer, Linear)]
    gradients = torch.autograd.grad(loss_of(model, batch), weights)
    return torch.cat([gradient.flatten().double() for gradient in gradients])


def train(run, steps, seed=0, progress=None):
    """Returns the losses, the loss on other text, the error of gradients, and the gradients that formats would lose."""
    torch.manual_seed(seed)
    model = Model()
    source, other = text(200_000, seed), text(20_000, seed + 1)
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, total_steps=max(steps, 2), pct_start=0.1)
    losses, began = [], time.monotonic()
    with emulated(run):
        for step in range(steps):
            loss = loss_of(model, windows(source, generator, BATCH))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
            if progress:
                progress(step + 1, steps, losses[-1], time.monotonic() - began)
        with torch.no_grad():
            held_out = loss_of(model, windows(other, generator, 64)).item()
        batch = windows(other, generator, 64)
        found = gradient_of_weights(model, batch)
    exact = gradient_of_weights(copy.deepcopy(model).double(), batch)
    error = ((found - exact).norm() / exact.norm()).item()
    lost = lost_gradients(model, windows(other, generator, BATCH))
    return {
        "steps": steps, "seed": seed, "losses": losses, "other text": held_out, "gradient error": error,
        "zero gradients": lost,
    }  # fmt: skip


# ---- Gradients lost to formats ----

FORMATS = {  # as tensors of gradients are rounded: the format, and whether the greatest magnitude becomes the format's
    "FP16": ("f16", False),
    "E5M2": ("e5m2", False),
    "E4M3": ("e4m3", False),
    "E5M2 scaled": ("e5m2", True),
    "E4M3 scaled": ("e4m3", True),
    "MXFP8": ("mxfp8_e4m3", False),
    "MXFP4": ("mxfp4", False),
    "NVFP4": ("nvfp4", False),
}


def gradients(model, batch):
    """Returns the gradient of each linear layer's results, a row for each token."""
    found, hooks = {}, []
    for name, layer in model.named_modules():
        if isinstance(layer, Linear):

            def keep(layer, inputs, outputs, name=name):
                outputs.register_hook(lambda gradient: found.update({name: gradient.flatten(0, -2).numpy()}))

            hooks.append(layer.register_forward_hook(keep))
    loss_of(model, batch).backward()
    for hook in hooks:
        hook.remove()
    return {name: found[name] for name, layer in model.named_modules() if isinstance(layer, Linear)}


def share_lost(gradient, format, scaled):
    """Returns the fraction of nonzero numbers that become zero."""
    if format in softmma.QUANTIZED_FORMATS:
        rounded = softmma.quantize(gradient, format).values
    else:
        greatest = float(softmma.round(np.inf, format, overflow="saturate"))
        rounded = softmma.round(gradient * (greatest / np.abs(gradient).max()) if scaled else gradient, format)
    zeros = (rounded.astype(np.float32) == 0) & (gradient != 0)
    return float(zeros.sum() / max(np.count_nonzero(gradient), 1))


def lost_gradients(model, batch):
    """Returns {layer: {format: fraction}}."""
    return {
        layer: {label: share_lost(gradient, *format) for label, format in FORMATS.items()}
        for layer, gradient in gradients(model, batch).items()
    }


# ---- Pictures and tables ----


def smooth(losses, over=20):
    """Returns the means of `over` steps each."""
    whole = len(losses) // over * over
    return np.reshape(losses[:whole], (-1, over)).mean(1)


def draw(path, runs, shares):
    """Plots the losses, their distance from the first run's, and the gradients lost to formats."""
    from matplotlib import colormaps, rcParams
    from matplotlib.figure import Figure

    rcParams["svg.hashsalt"] = "softmma"  # the same file each time

    figure = Figure(figsize=(16, 5), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    reference = smooth(next(iter(runs.values()))["losses"])
    steps = 20 * np.arange(1, len(reference) + 1)
    for number, (label, run) in enumerate(runs.items()):
        mean, colour = smooth(run["losses"]), colormaps["tab20"](number)
        left.plot(steps, mean, label=label, linewidth=1, color=colour)
        middle.plot(steps, 100 * (mean / reference - 1), label=label, linewidth=1, color=colour)
    left.axhline(entropy(), color="black", linestyle=":", linewidth=1, label="entropy of the grammar")
    left.set(xlabel="step", ylabel="nats per character", title="training loss, means of 20 steps", yscale="log")
    left.set_yticks([0.5, 0.7, 1, 1.4, 2, 2.8], ["0.5", "0.7", "1", "1.4", "2", "2.8"])
    left.minorticks_off()
    middle.set(xlabel="step", ylabel="%", title=f"training loss, away from that of {next(iter(runs))}")
    middle.set_yscale("symlog", linthresh=1)
    middle.set_yticks([-0.5, 0, 0.5, 1, 3, 10], ["-0.5", "0", "0.5", "1", "3", "10"])
    middle.minorticks_off()
    middle.grid(alpha=0.3)
    left.legend(fontsize=8)
    values = 100 * np.array([list(of_format.values()) for of_format in shares.values()])
    right.imshow(values, aspect="auto", cmap="Reds", vmin=0, vmax=100)
    for (row, column), value in np.ndenumerate(values):
        shade = "white" if value > 60 else "black"
        right.text(column, row, f"{value:.1f}", ha="center", va="center", fontsize=8, color=shade)
    right.set_xticks(range(len(FORMATS)), FORMATS, rotation=30, ha="right")
    right.set_yticks(range(len(shares)), shares)
    right.set_title("gradients that become zero (%)")
    figure.savefig(path, metadata={"Date": None} if str(path).endswith(".svg") else None)


def report_progress(label):
    def show(step, steps, loss, seconds):
        if step % 20 == 0 or step == steps:
            left = seconds / step * (steps - step)
            print(f"{label}: step {step} of {steps}, loss {loss:.4f}, {left:.0f} s left", file=sys.stderr)

    return show


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument(
        "--recipe", dest="run", nargs="+", metavar="NAME", default=list(RUNS), choices=RUNS, help=", ".join(RUNS)
    )
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--picture", metavar="FILE", help="write loss curves and lost gradients there")
    parser.add_argument("--json", metavar="FILE", help="keep all losses there; runs that it has are not repeated")
    options = parser.parse_args()
    torch.set_num_threads(1)  # PyTorch's own sums are the same on every number of cores
    print(f"entropy of the text: {entropy():.4f} nats per character")
    print(f"{'recipe':15} {'last loss':>10} {'other text':>11} {'gradient error':>15}")
    path = Path(options.json) if options.json else None
    known = json.loads(path.read_text()) if path and path.exists() else {}
    for run in options.run:
        if [known.get(run, {}).get(key) for key in ("steps", "seed")] != [options.steps, options.seed]:
            known[run] = train(run, options.steps, options.seed, report_progress(run))
            if path:
                path.write_text(json.dumps(known, indent=1))
        loss, other, error = (known[run][key] for key in ("losses", "other text", "gradient error"))
        print(f"{run:15} {np.mean(loss[-20:]):10.4f} {other:11.4f} {error:15.1e}", flush=True)
    runs = {run: known[run] for run in options.run}
    shares = runs[options.run[0]]["zero gradients"]
    print(f"\ngradients of the model by {options.run[0]} that become zero (%)")
    print(f"{'layer':18}" + "".join(f"{label:>12}" for label in FORMATS))
    for layer, of_format in shares.items():
        print(f"{layer:18}" + "".join(f"{100 * share:12.2f}" for share in of_format.values()))
    if options.picture:
        draw(options.picture, runs, shares)


if __name__ == "__main__":
    main()
