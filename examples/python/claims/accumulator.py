"""How many fraction bits F, and how many products L at once, would the accumulator of a network's products need?

    python examples/python/claims/accumulator.py [--small] [--seed N] [--json FILE]

A sweep over hypothetical units (softmma.Custom): T-FDPA as in NVIDIA's, with products and the accumulator truncated F
bits below the greatest exponent of a block of L, and sums in FP32 rounded toward zero. Errors of sums are compared with
the error of rounding the operands to their format. Errors are relative, in the Frobenius norm; the reference for sums
is the exact product of the rounded operands.
"""

import functools
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

import claim
import softmma

DATA = Path(__file__).resolve().parents[2] / "data"
FORMATS = ("e4m3", "bf16", "f16")
SHARES = {"the same": 1, "a tenth": 0.1}  # of the operands' rounding error


def unit(format, bits, length):
    return softmma.Custom(
        {
            "name": f"F{bits}-L{length}",
            "algorithm": "T-FDPA",
            "k": length,
            "block": length,
            "a": format,
            "b": format,
            "d": "f32",
            "alignment_bits": bits,
            "zero_exponent": -133,
            "output": "f32",
            "rounding": "toward-zero",
        }
    )


def rounded(x, format):
    """Divides x by 2^shift and rounds it to a format; returns the result and the shift. For E4M3 the shift moves the
    maximum of x to the greatest binade; for other formats it is 0."""
    shift = np.frexp(np.abs(x).max())[1] - 9 if format == "e4m3" else 0
    return softmma.round(np.ldexp(x, -shift), format), shift


def distance(x, y):
    return float(np.linalg.norm(x - y) / np.linalg.norm(y))


# ---- Products ----


def digits(images):
    """Returns pixels, labels, and the layers of the network in examples/data."""
    layers = load_file(DATA / "digits-mlp.safetensors")
    pixels = np.load(DATA / "digits.npy")[:images].astype(float) / 16
    return pixels, np.load(DATA / "digits-labels.npy")[:images], [layers[n].astype(float) for n in sorted(layers)]


def forward(x, layers, product):
    """Returns the inputs of each layer, and the outputs."""
    activations = [x]
    for w in layers:
        x = product(activations[-1], w)
        activations.append(x if w is layers[-1] else np.maximum(x, 0))
    return activations


def positive(side, k, seed):
    generator = np.random.default_rng([seed, k])
    return generator.random((side, k)), generator.random((k, side))


def linear(side, k, seed):
    generator = np.random.default_rng([seed, k])
    return generator.standard_normal((side, k)), generator.standard_normal((k, side)) / np.sqrt(k)


def gradients(images):
    """Returns both factors of the products for the second layer's gradients of weights and of activations."""
    pixels, labels, layers = digits(images)
    _, first, second, outputs = forward(pixels, layers, np.matmul)
    e = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    g = (e / e.sum(axis=1, keepdims=True) - np.eye(outputs.shape[1])[labels]) @ layers[2].T * (second > 0)
    return (first.T, g), (g, layers[1].T)


def products(side, k, seed):
    """Returns pairs of matrices by name: from the digits network, and as in a transformer."""
    generator = np.random.default_rng(seed)
    scores = 3 * generator.standard_normal((side, k))
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    x, w = linear(side, k, seed)
    pixels, _, layers = digits(side)
    activations = forward(pixels, layers, np.matmul)
    (x1, g1), (g2, w2) = gradients(max(256, k // 4))
    return {
        "digits, layer 1": (activations[0], layers[0][:, :side]),
        "digits, layer 2": (activations[1], layers[1][:, :side]),
        "digits, layer 3": (activations[2], layers[2]),
        "gradient of weights": (x1[:side], g1[:, :side]),
        "gradient of activations": (g2[:side], w2[:, :side]),
        "scores Q K^T": linear(side, 128, seed),
        "values P V": (p / p.sum(axis=1, keepdims=True), generator.standard_normal((k, side))),
        "linear": (x, w),
        "linear, outliers": (x * np.where(np.arange(k) % 64, 1, 20), w),  # a few channels are much greater
        "linear, behind ReLU": (np.maximum(x, 0), w),
        "all positive": positive(side, k, seed),
    }


def errors(a, b, format, bits, lengths):
    """Returns the error of the format, and the errors of sums with F bits and blocks of L, by L and F."""
    (x, i), (y, j) = rounded(a, format), rounded(b, format)
    exact = x.astype(float) @ y.astype(float)
    of_sums = {
        length: {f: distance(softmma.matmul(x, y, on=unit(format, f, length)).astype(float), exact) for f in bits}
        for length in lengths
    }
    return distance(np.ldexp(exact, i + j), a @ b), of_sums


def least(of_sums, most):
    """Returns the least F from which the error of sums is at most `most`, or None."""
    found = None
    for bits in reversed(of_sums):
        if of_sums[bits] > most:
            break
        found = bits
    return found


def sweep(bits, lengths, side, k, seed):
    """Returns for each product and format the least F, and the errors of sums for L = 16."""
    knees, curves = [], []
    for name, (a, b) in products(side, k, seed).items():
        for format in FORMATS:
            of_format, of_sums = errors(a, b, format, bits, lengths)
            knee = {"product": name, "K": a.shape[1], "operands": format, "format costs": of_format}
            for said, share in SHARES.items():
                for length in lengths:
                    knee[f"F, {said}, L = {length}"] = least(of_sums[length], share * of_format)
            first, last = of_sums[lengths[0]], of_sums[lengths[-1]]
            knee["one sign"] = "yes" if a.min() >= 0 and b.min() >= 0 else "no"
            knee["L: ratio"] = float(np.median([first[f] / last[f] for f in bits if last[f]]))
            knees.append(knee)
            middle = of_sums[lengths[len(lengths) // 2]]
            curves.append({"product": name, "operands": format, **{f"F = {f}": middle[f] for f in bits[::3]}})
    return knees, curves


def over_k(bits, lengths_of_k, side, seed):
    """Returns the least F over K, in E4M3, for blocks of 16."""
    rows = []
    for k in lengths_of_k:
        row = {"K": k}
        for name, (a, b) in {"linear": linear(side, k, seed), "all positive": positive(side, k, seed)}.items():
            of_format, of_sums = errors(a, b, "e4m3", bits, (16,))
            row |= {f"{name}: F, {said}": least(of_sums[16], share * of_format) for said, share in SHARES.items()}
        rows.append(row)
    return rows


# ---- The network ----


def classify(bits, lengths, images):
    """Runs the digits network in E4M3. Returns rows with the numbers of right answers, and of answers that differ from
    those with exact sums."""
    pixels, labels, layers = digits(images)

    def answers(product):
        def scaled(a, b):
            (x, i), (y, j) = rounded(a, "e4m3"), rounded(b, "e4m3")
            return np.ldexp(product(x, y).astype(float), i + j)

        return forward(pixels, layers, scaled)[-1].argmax(axis=1)

    exact = answers(lambda x, y: x.astype(float) @ y.astype(float))
    rows = []
    for f in bits:
        row = {"F": f, "images": images, "right, exact sums": int((exact == labels).sum())}
        for length in lengths:
            found = answers(functools.partial(softmma.matmul, on=unit("e4m3", f, length)))
            row[f"right, L = {length}"] = int((found == labels).sum())
            row[f"other than exact, L = {length}"] = int((found != exact).sum())
        rows.append(row)
    return rows


def measure(small, seed):
    bits = list(range(4, 26))
    lengths = (4, 32) if small else (4, 16, 32)
    knees, curves = sweep(bits, lengths, 8 if small else 32, 512 if small else 4096, seed)
    return {
        "Least F for sums to cost the same as the format, and a tenth of it": knees,
        f"What sums cost, L = {lengths[len(lengths) // 2]}": curves,
        "Least F over K, E4M3, L = 16": over_k(bits, (64, 1024) if small else (64, 256, 1024, 4096, 16384), 16, seed),
        "The digits network in E4M3": classify(bits[:10], lengths, 32 if small else 256),
    }


def conclude(tables):
    knees, _, _, network = tables.values()
    lines = []
    for format in FORMATS:
        for sign, words in (("no", "terms of both signs"), ("yes", "terms of one sign")):
            of = [r for r in knees if (r["operands"], r["one sign"]) == (format, sign) and r["format costs"]]
            for said in SHARES:
                keys = [key for key in knees[0] if key.startswith(f"F, {said}")]
                found = [row[key] for row in of for key in keys]
                known = [f for f in found if f is not None]
                bits = " to ".join(map(str, sorted({min(known), max(known)}))) if known else "above all that were tried"
                missed = len(found) - len(known)
                more = f", above all that were tried in {missed} of {len(found)} cases" if known and missed else ""
                lines.append(f"{format}, {words}: the least F for sums to cost {said} is {bits}{more}.")
    ratio = np.median([row["L: ratio"] for row in knees])
    lines.append(f"The longest blocks have 1 / {ratio:.2f} of the error of the shortest ones (median).")
    same = [row["F"] for row in network if not any(v for key, v in row.items() if key.startswith("other"))]
    answered = next((f for f in same if all(g in same for g in range(f, network[-1]["F"] + 1))), None)
    lines.append(f"The digits network answers as with exact sums from F = {answered} on, for every L tried.")
    return lines


if __name__ == "__main__":
    claim.main(measure, conclude)
