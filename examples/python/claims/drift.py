"""Is it the sums or the rounding of outputs that makes two GPUs drift apart? (HEAL, Zhu et al., 2026)

    python examples/python/claims/drift.py [--small] [--seed N] [--json FILE]

A transformer with random weights runs on the models of pairs of GPUs. Everything but the matrix products is the same
on both: FP64, rounded to the stored format. Three ways to run it remove the rounding to 16 bits step by step:

    16 bits           every kernel's output is rounded to BF16 or FP16
    FP32 in between   kernels write FP32; the products' operands are rounded to 16 bits where the unit reads them
    FP32              operands are FP32, too: a unit of the GPU's rule that takes FP32 (softmma.Custom)
"""

from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from safetensors.numpy import load_file

import claim
import softmma

DATA = Path(__file__).resolve().parents[2] / "data"
GPUS = {"bf16": ("A100", "H100", "B200", "MI300X"), "f16": ("V100", "A100", "H100", "B200", "MI300X")}
WAYS = ("16 bits", "FP32 in between", "FP32")
ENDS = WAYS[0], WAYS[-1]


def pairs(format):
    """Returns pairs of GPUs. B200's sums are H100's, so B200 is only paired with H100."""
    others = [gpu for gpu in GPUS[format] if gpu != "B200"]
    return [*combinations(others, 2), ("H100", "B200")]


class Size(NamedTuple):
    depth: int
    width: int
    tokens: int
    heads: int
    vocabulary: int


class Arithmetic(NamedTuple):
    """The multiplication, and the rounding of a kernel's output."""

    product: callable
    store: callable


def weights(size, format, seed):
    """Returns three values: for each layer a list of weights (query, key, value, output, up, down), the weights of the
    vocabulary, and the input vectors of the tokens.

    Weights are N(0, 1 / K), exact in `format`.
    """
    generator = np.random.default_rng(seed)

    def matrix(k, n):
        return softmma.round(generator.standard_normal((k, n)) / np.sqrt(k), format)

    w = size.width
    layers = [[matrix(w, w) for _ in range(4)] + [matrix(w, 4 * w), matrix(4 * w, w)] for _ in range(size.depth)]
    return layers, matrix(w, size.vocabulary), softmma.round(generator.standard_normal((size.tokens, w)), format)


def normalized(x):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True))


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(size, product, q, k, v):
    """Computes attention. Heads are the products' leading axis; scores and probabilities stay inside the kernel."""
    q, k, v = (x.reshape(size.tokens, size.heads, -1).swapaxes(0, 1) for x in (q, k, v))
    scores = product(q, k.swapaxes(1, 2)) / np.sqrt(q.shape[-1])
    return product(softmax(scores), v).swapaxes(0, 1).reshape(size.tokens, size.width)


def run(size, network, arithmetic):
    """Returns the activations after every layer, and the logits."""
    layers, head, tokens = network

    def store(x):
        return arithmetic.store(x).astype(float)

    def product(a, b):
        return arithmetic.product(a, b).astype(float)

    x, stream = store(tokens.astype(float)), []
    for query, key, value, output, up, down in layers:
        h = store(normalized(x))
        mixed = attention(size, product, *(store(product(h, w)) for w in (query, key, value)))
        x = store(x + store(product(store(mixed), output)))
        h = store(normalized(x))
        x = store(x + store(product(store(np.maximum(product(h, up), 0)), down)))
        stream.append(x)
    return stream, product(store(normalized(x)), head)


def chosen(gpu, format):
    """Returns the instruction that `matmul` uses."""
    return next(i for i in softmma.instructions(gpu) if (i.a, i.b, i.d) == (format, format, "f32"))


def unit(gpu, format, way):
    instruction = chosen(gpu, format)
    if way != "FP32":
        return instruction
    return softmma.Custom({**instruction.to_custom(), "name": f"{gpu}-f32", "a": "f32", "b": "f32"})


def on_gpu(gpu, format, way):
    on = unit(gpu, format, way)
    stored = format if way == "16 bits" else np.float32
    return Arithmetic(
        lambda a, b: softmma.matmul(a.astype(np.float32), b.astype(np.float32), on=on, in_dtype=on.a),
        lambda x: softmma.round(x, stored),
    )


def exact(stored):
    """Returns an arithmetic with sums in FP64, and outputs rounded to a format or not at all."""
    return Arithmetic(
        lambda a, b: a.astype(float) @ b.astype(float), lambda x: softmma.round(x, stored) if stored else x
    )


def digits(format, images):
    """Runs the trained digits network on pairs of GPUs, in both ways of ENDS. Counts the differing outputs of each
    layer and the differing answers, and measures the distance of the logits."""
    weights = load_file(DATA / "digits-mlp.safetensors")
    pixels = np.load(DATA / "digits.npy")[:images] / 16
    layers = [softmma.round(weights[name], format) for name in sorted(weights)]

    def outputs(arithmetic):
        x = [pixels]
        for w in layers[:-1]:
            x.append(arithmetic.store(np.maximum(arithmetic.product(x[-1], w), 0)).astype(float))
        return [*x[1:], arithmetic.product(x[-1], layers[-1]).astype(float)]

    found = {(gpu, way): outputs(on_gpu(gpu, format, way)) for gpu in GPUS[format] for way in ENDS}
    rows = []
    for (one, other), way in [(pair, way) for pair in pairs(format) for way in ENDS]:
        x, y = found[one, way], found[other, way]
        row = {"format": format, "pair": f"{one}, {other}", "way": way}
        for layer, (a, b) in enumerate(zip(x, y), 1):
            row[f"layer {layer}: differ"] = int((a != b).sum())
        row["images"] = images
        row["images that differ"] = int((x[-2] != y[-2]).any(axis=1).sum())
        row["logits"] = distance(x[-1], y[-1])
        row["other answers"] = int((x[-1].argmax(axis=1) != y[-1].argmax(axis=1)).sum())
        rows.append(row)
    return rows


def distance(x, y):
    return float(np.linalg.norm(x - y) / np.linalg.norm(y))


def drifts_and_errors(size, format, seed):
    """Returns the distances of pairs of GPUs, and of each GPU from FP64, split into parts of sums and of rounding."""
    network = weights(size, format, seed)
    runs = {(gpu, way): run(size, network, on_gpu(gpu, format, way)) for gpu in GPUS[format] for way in WAYS}
    reference, rounded = (run(size, network, exact(stored))[1] for stored in (None, format))
    drift = []
    for (one, other), way in [(pair, way) for pair in pairs(format) for way in WAYS]:
        (a, a_logits), (b, b_logits) = runs[one, way], runs[other, way]
        drift.append(
            {
                "format": format,
                "pair": f"{one}, {other}",
                "way": way,
                "first layer": distance(a[0], b[0]),
                "last layer": distance(a[-1], b[-1]),
                "logits": distance(a_logits, b_logits),
                "other argmax": int((a_logits.argmax(axis=1) != b_logits.argmax(axis=1)).sum()),
                "tokens": size.tokens,
            }
        )
    errors = [
        {
            "format": format,
            "GPU": gpu,
            "sums alone": distance(runs[gpu, "FP32"][1], reference),
            "rounding alone": distance(rounded, reference),
            "both": distance(runs[gpu, "16 bits"][1], reference),
        }
        for gpu in GPUS[format]
    ]
    return drift, errors


def spacing(x, format):
    """Returns the distance of a format's numbers at x."""
    bits, least = {"bf16": (7, -126), "f16": (10, -14)}[format]
    return np.exp2(np.maximum(np.frexp(x)[1] - 1, least) - bits)


def first_product(format, side, k, seed):
    """Computes one product of the same operands on pairs of GPUs: differing sums, and differing rounded outputs."""
    generator = np.random.default_rng(seed)
    a, b = (softmma.round(generator.standard_normal(shape), format) for shape in ((side, k), (k, side)))
    sums = {gpu: softmma.matmul(a, b, on=chosen(gpu, format)) for gpu in GPUS[format]}
    rows = []
    for one, other in pairs(format):
        x, y = sums[one].astype(float), sums[other].astype(float)
        apart = np.abs(x - y) / spacing(x, format)
        flipped = softmma.round(x, format) != softmma.round(y, format)
        below = (apart > 0) & (apart < 0.5)
        rows.append(
            {
                "format": format,
                "pair": f"{one}, {other}",
                "elements": x.size,
                "sums differ": int((apart > 0).sum()),
                "by < 1/2 ulp": int(below.sum()),
                "of these flip": int((flipped & below).sum()),
                "sum of ulps": float(apart[below].sum()),
                "all flips": int(flipped.sum()),
            }
        )
    return rows


def off_by(t, arithmetic, generator):
    """Returns the arithmetic with every product's sums multiplied by 1 + t or 1 - t, at random."""

    def product(a, b):
        d = arithmetic.product(a, b)
        return d * (1 + t * generator.choice((-1, 1), d.shape))

    return Arithmetic(product, arithmetic.store)


def trigger(size, format, runs, seed):
    """Returns the last layer's drift if FP64 sums have relative errors t, with and without rounding outputs to 16 bits."""
    network = weights(size, format, seed)
    undisturbed = {stored: run(size, network, exact(stored))[0][-1] for stored in (format, None)}
    rows = []
    for exponent in (-24, -30, -36, -42):
        found = {
            stored: [
                distance(run(size, network, off_by(2.0**exponent, exact(stored), generator))[0][-1], last)
                for generator in map(np.random.default_rng, range(seed, seed + runs))
            ]
            for stored, last in undisturbed.items()
        }
        apart = [d for d in found[format] if d]
        rows.append(
            {
                "format": format,
                "t": f"2^{exponent}",
                "runs": runs,
                "runs that drift": len(apart),
                "median of these": float(np.median(apart)) if apart else None,
                "median, not rounded": float(np.median(found[None])),
            }
        )
    return rows


def measure(small, seed):
    size = Size(4, 64, 16, 2, 500) if small else Size(24, 256, 32, 4, 1000)
    side, k, runs = (128, 512, 4) if small else (512, 2048, 8)
    drifts, errors, first, causes, trained = [], [], [], [], []
    for format in GPUS:
        drift, error = drifts_and_errors(size, format, seed)
        drifts += drift
        errors += error
        first += first_product(format, side, k, seed)
        causes += trigger(size, format, runs, seed)
        trained += digits(format, 256 if small else 1797)
    return {
        "Two GPUs, one network: relative distance": drifts,
        "Relative distance of the logits from FP64": errors,
        "The first product: outputs that round to different numbers (flip)": first,
        "Drift of the last layer over the size of its cause": causes,
        "The trained digits network": trained,
    }


def median(rows, key, **where):
    found = [row[key] for row in rows if all(row[k] == v for k, v in where.items())]
    return float(np.median(found)) if found else None


def conclude(tables):
    drift, errors, first, cause, trained = tables.values()
    lines = []
    same = {row["pair"] for row in drift} - {row["pair"] for row in drift if row["logits"]}
    if same:
        lines.append(
            f"Rounding without different sums makes no drift: {'; '.join(sorted(same))} have the same sums, and with "
            "16-bit outputs, too, the same bits."
        )
    for format in GPUS:
        apart = [row for row in drift if row["format"] == format and row["pair"] not in same]
        of_way = [median(apart, "logits", way=way) for way in WAYS]
        lines.append(
            f"{format}: logits of two GPUs are {of_way[2]:.1e} apart without 16-bit rounding (median of pairs), "
            f"{of_way[0]:.1e} with 16-bit outputs, {of_way[1]:.1e} with FP32 outputs but 16-bit operands: "
            f"{of_way[0] / of_way[2]:.2g} and {of_way[1] / of_way[2]:.2g} times as far."
        )
        e = [row for row in errors if row["format"] == format]
        lines.append(
            f"{format}: two GPUs are {of_way[0] / median(e, 'both'):.2f} times as far apart as each is from FP64; of "
            f"that error rounding alone makes {median(e, 'rounding alone') / median(e, 'both'):.2f} of the whole, sums "
            f"alone {median(e, 'sums alone') / median(e, 'both'):.1e}."
        )
        f = [row for row in first if row["format"] == format]
        below, flips = (sum(row[key] for row in f) for key in ("by < 1/2 ulp", "of these flip"))
        expected = sum(row["sum of ulps"] for row in f)
        lines.append(
            f"{format}: of {below} sums that differ by less than half an ulp of the output {flips} round to different "
            f"numbers; their distances in ulps add up to {expected:.0f}."
        )
        for row in (row for row in cause if row["format"] == format):
            size = f", then by {row['median of these']:.1e}" if row["runs that drift"] else ""
            lines.append(
                f"{format}: sums that are off by {row['t']} make {row['runs that drift']} of {row['runs']} runs drift"
                f"{size}; without rounding by {row['median, not rounded']:.1e}."
            )
        of = [row for row in trained if row["format"] == format and row["pair"] not in same]
        for way in ENDS:
            rows = [row for row in of if row["way"] == way]
            found = [max(row[key] for row in rows) for key in ("images that differ", "logits", "other answers")]
            lines.append(
                f"{format}, digits network, {way}: at most {found[0]} of {rows[0]['images']} images differ between two "
                f"GPUs in what the last layer reads, logits by {found[1]:.1e}, {found[2]} answers."
            )
    return lines


if __name__ == "__main__":
    claim.main(measure, conclude)
