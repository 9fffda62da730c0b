"""Measures the cost of emulation in a forward pass of a transformer with 22 million parameters on one sentence of 32
tokens.

    OMP_NUM_THREADS=1 python bench/transformer.py [WIDTH LAYERS TOKENS]

Prints the least CPU time of several passes, without the first pass, which makes the multipliers. Divides it into
products (calls of the extension module that multiply), the comparison of weights with their copies, quantisation, and
the rest, which includes PyTorch's other operations. "Beyond" is the time that is neither products nor PyTorch's
operations, in percent of the products. "MB" is the memory in use while the context lasts.
"""

import sys
import time
from unittest.mock import patch

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode

import softmma
from softmma import _core

WIDTH, LAYERS, TOKENS = map(int, sys.argv[1:]) if len(sys.argv) == 4 else (384, 6, 32)
WORDS, PASSES = 30522, 25
RUNS = [("H100", "bf16"), ("V100", "fp16"), ("MI300X", "bf16"), ("H100", "fp8_tensorwise"), ("H100", "deepseek"),
        ("B200", "mxfp8"), ("B200", "nvfp4")]  # fmt: skip


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, WIDTH // 32, 4 * WIDTH, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, LAYERS)

    def forward(self, x):
        return self.layers(self.words(x))


class Timed:
    """A function and the CPU time that its calls take."""

    def __init__(self, function):
        self.function, self.seconds = function, 0.0

    def __call__(self, *args, **kwargs):
        start = time.process_time()
        try:
            return self.function(*args, **kwargs)
        finally:
            self.seconds += time.process_time() - start


products = Timed(lambda func, *args, **kwargs: func(*args, **kwargs))


class Bare(TorchDispatchMode):
    """Times the products, and otherwise runs every operation unchanged."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.overloadpacket.__name__ in ("addmm", "bmm"):
            return products(func, *args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


def measured(run, *timed):
    """Returns milliseconds of the fastest pass: the whole pass, each function in `timed`, and the rest."""
    passes = []
    for _ in range(PASSES):
        for each in timed:
            each.seconds = 0.0
        start = time.process_time()
        run()
        took = time.process_time() - start
        passes.append((took, *(each.seconds for each in timed), took - sum(each.seconds for each in timed)))
    return [1e3 * min(column) for column in zip(*passes, strict=True)]


def megabytes(emulation):
    """Returns the memory, in MB, of the copies of weights and of the multipliers."""
    kept = [right for views in emulation.kept.values() for right in views.values()]
    return sum(right.lines.nbytes + right.multiply.__self__.nbytes for right in kept) / 2**20


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model, x = Transformer().eval(), torch.randint(WORDS, (1, TOKENS))
    size = 4 * sum(p.numel() for p in model.parameters()) / 2**20
    with torch.no_grad():
        alone, _ = measured(lambda: model(x))
        torch.backends.mha.set_fastpath_enabled(False)
        with sdpa_kernel(SDPBackend.MATH), Bare():
            *_, rest = measured(lambda: model(x), products)
        print(
            f"{size:.0f} MB of parameters; PyTorch alone {alone:.1f} ms, its other operations in a mode {rest:.1f} ms"
        )
        print("GPU     recipe          first   later  products  comparison  quantisation  all else  beyond   MB")
        for on, recipe in RUNS:
            names = "multiplier_matmul", "matmul", "same_lines", "operand"
            timed = kept, single, *_ = [Timed(getattr(_core, name)) for name in names]
            functions = patch.multiple(_core, **dict(zip(names, timed, strict=True)))
            with functions, softmma.torch.emulate(on, recipe, threads=1) as emulation:
                start = time.process_time()
                model(x)
                first = 1e3 * (time.process_time() - start)
                later, by_kept, by_single, comparison, quantisation, left = measured(lambda: model(x), *timed)
                memory = megabytes(emulation)
            by_core = by_kept + by_single
            columns = (
                f"{first:7.0f}  {later:6.1f}  {by_core:8.1f}  {comparison:10.1f}  {quantisation:12.1f}  {left:8.1f}"
            )
            print(f"{on:7} {recipe:14} {columns}  {100 * (later - rest - by_core) / by_core:4.0f} %  {memory:3.0f}")


if __name__ == "__main__":
    main()
