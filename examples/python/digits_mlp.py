"""Trains a small network on handwritten digits in FP32, and in FP8 on models of an H100, an H100 with two-level
accumulation, and an MI300X.

    python examples/python/digits_mlp.py [--epochs N] [--picture FILE] [--save FILE.safetensors]

The network has 64 inputs, two hidden layers of 256 and 10 outputs. All its matrix products, forward and backward, go
through the unit: weights and activations in E4M3, gradients in E5M2 (on the MI300X in the FNUZ forms), each matrix
scaled so that its greatest magnitude is the format's. Everything except the products is FP32, as in FP8 training.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import softmma

DATA = Path(__file__).resolve().parents[1] / "data"
LAYERS = (64, 256, 256, 10)
BATCH = 256


@dataclass(frozen=True)
class Unit:
    """The unit of all products, with the formats of weights and activations, and of gradients."""

    label: str
    on: str = ""
    forward: str = ""
    backward: str = ""
    promote_every: int = 0

    def product(self, a, b, a_format, b_format):
        """Returns A B, both scaled to their formats."""
        if not self.on:
            return a @ b
        a_scale, b_scale = (greatest(f) / max(np.abs(x).max(), 1e-30) for x, f in ((a, a_format), (b, b_format)))
        formats = (a_format, b_format)
        scaled = softmma.matmul(
            a * a_scale, b * b_scale, on=self.on, in_dtype=formats, promote_every=self.promote_every
        )
        return scaled / (a_scale * b_scale)


def greatest(format):
    return np.float32(softmma.round(np.inf, format, overflow="saturate"))


UNITS = (
    Unit("FP32"),
    Unit("H100 FP8", "H100", "e4m3", "e5m2"),
    Unit("H100 FP8, two levels", "H100", "e4m3", "e5m2", promote_every=128),
    Unit("MI300X FP8", "MI300X", "e4m3fnuz", "e5m2fnuz"),
)


def load():
    """Returns pixels from 0 to 1 and labels, for training and for testing."""
    pixels = np.load(DATA / "digits.npy") / np.float32(16)
    labels = np.load(DATA / "digits-labels.npy").astype(int)
    order = np.random.default_rng(0).permutation(len(labels))
    test, training = order[:389], order[389:]
    return (pixels[training], labels[training]), (pixels[test], labels[test])


def initial_weights():
    generator = np.random.default_rng(1)
    return [
        (generator.standard_normal(shape) * np.sqrt(2 / shape[0])).astype(np.float32)
        for shape in zip(LAYERS, LAYERS[1:])
    ]


def forward(unit, weights, x):
    """Returns the inputs of each layer, and the outputs."""
    activations = [x]
    for w in weights:
        x = unit.product(x, w, unit.forward, unit.forward)
        if w is not weights[-1]:
            x = np.maximum(x, 0)
        activations.append(x)
    return activations


def loss_and_gradient(outputs, labels):
    """Returns the cross-entropy, and its gradient with respect to the outputs."""
    shifted = outputs - outputs.max(axis=1, keepdims=True)
    logarithms = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    gradient = np.exp(logarithms)
    gradient[np.arange(len(labels)), labels] -= 1
    return -logarithms[np.arange(len(labels)), labels].mean(), gradient / np.float32(len(labels))


def step(unit, weights, momenta, x, labels, rate):
    """Takes one step of gradient descent with momentum; returns the loss before it."""
    activations = forward(unit, weights, x)
    loss, gradient = loss_and_gradient(activations[-1], labels)
    for layer in reversed(range(len(weights))):
        into = activations[layer]
        of_weights = unit.product(into.T, gradient, unit.forward, unit.backward)
        if layer:
            gradient = unit.product(gradient, weights[layer].T, unit.backward, unit.forward) * (into > 0)
        momenta[layer] = np.float32(0.9) * momenta[layer] + of_weights
        weights[layer] = weights[layer] - np.float32(rate) * momenta[layer]
    return loss


def train(unit, epochs, rate=0.05):
    """Returns the weights, the loss of every step, and the accuracy on the test set after each epoch."""
    (pixels, labels), (test_pixels, test_labels) = load()
    weights = initial_weights()
    momenta = [np.zeros_like(w) for w in weights]
    generator = np.random.default_rng(2)
    losses, accuracies = [], []
    for _ in range(epochs):
        order = generator.permutation(len(labels))
        for first in range(0, len(labels) - BATCH + 1, BATCH):
            part = order[first : first + BATCH]
            losses.append(float(step(unit, weights, momenta, pixels[part], labels[part], rate)))
        found = forward(unit, weights, test_pixels)[-1].argmax(axis=1)
        accuracies.append(float((found == test_labels).mean()))
    return weights, losses, accuracies


def draw(path, runs):
    """Plots loss and accuracy of every epoch, and the distance of each loss from the FP32 run's."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    reference = None
    for label, (_, losses, accuracies) in runs.items():
        epochs = np.arange(1, len(accuracies) + 1)
        mean = np.reshape(losses, (len(epochs), -1)).mean(axis=1)
        reference = mean if reference is None else reference
        left.semilogy(epochs, mean, label=label, linewidth=1)
        middle.plot(epochs, 100 * (mean / reference - 1), label=label, linewidth=1)
        right.plot(epochs, 100 * np.array(accuracies), label=label, linewidth=1)
    left.set(xlabel="epoch", ylabel="cross-entropy", title="training loss")
    middle.set(xlabel="epoch", ylabel="%", title="training loss, away from FP32's")
    right.set(xlabel="epoch", ylabel="right (%)", title="test", ylim=(90, 100))
    left.legend()
    figure.savefig(path, metadata={"Date": None} if str(path).endswith(".svg") else None)


def save(path, weights):
    from safetensors.numpy import save_file

    save_file({f"layers.{n}.weight": w.astype(np.float16) for n, w in enumerate(weights)}, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--picture", help="write loss curves and accuracy there")
    parser.add_argument("--save", help="write the weights of the FP32 run there, in FP16")
    options = parser.parse_args()
    runs = {unit.label: train(unit, options.epochs) for unit in UNITS}
    print(f"{'unit':22} {'last loss':>10} {'accuracy':>9}")
    for label, (_, losses, accuracies) in runs.items():
        print(f"{label:22} {np.mean(losses[-5:]):10.5f} {100 * accuracies[-1]:7.1f} %")
    if options.picture:
        draw(options.picture, runs)
    if options.save:
        save(options.save, runs["FP32"][0])


if __name__ == "__main__":
    main()
