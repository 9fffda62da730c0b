"""What emulation takes of a forward pass of a transformer with 22 million parameters on one sentence of 32 tokens.

    OMP_NUM_THREADS=1 python bench/transformer.py

CPU time, the least of several passes but for the first, which makes the multipliers; of it the products (calls of the
extension module that multiply) and the comparison of weights with their copies. Memory is the process's greatest.
"""

import resource
import time
from unittest.mock import patch

import torch
from torch import nn

import softmma
from softmma import _core

WIDTH, LAYERS, TOKENS, WORDS, PASSES = 384, 6, 32, 30522, 15


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 12, 4 * WIDTH, activation="gelu", batch_first=True)
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


def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def milliseconds(seconds):
    return f"{1e3 * seconds:6.1f}"


def measured(run, *timed):
    """Of the pass that takes least: its time, and that of the functions in it."""
    passes = []
    for _ in range(PASSES):
        for each in timed:
            each.seconds = 0.0
        start = time.process_time()
        run()
        passes.append((time.process_time() - start, *(each.seconds for each in timed)))
    return min(passes)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model, x = Transformer().eval(), torch.randint(WORDS, (1, TOKENS))
    parameters = sum(p.numel() for p in model.parameters())
    with torch.no_grad():
        (alone,) = measured(lambda: model(x))
        before = megabytes()
        print(
            f"{parameters / 1e6:.1f} million parameters, {4 * parameters / 2**20:.0f} MB; PyTorch alone {1e3 * alone:.1f} ms"
        )
        print("GPU     recipe          first    later  of it products  comparison  all else")
        for on, recipe in (
            ("H100", "bf16"),
            ("V100", "fp16"),
            ("MI300X", "bf16"),
            ("H100", "fp8_tensorwise"),
            ("B200", "nvfp4"),
        ):
            kept, single, same = (Timed(getattr(_core, name)) for name in ("multiplier_matmul", "matmul", "same_lines"))
            functions = patch.multiple(_core, multiplier_matmul=kept, matmul=single, same_lines=same)
            with functions, softmma.torch.emulate(on, recipe, threads=1):
                start = time.process_time()
                model(x)
                first = time.process_time() - start
                later, *of_it = measured(lambda: model(x), kept, single, same)
            products, comparison = of_it[0] + of_it[1], of_it[2]
            times = [milliseconds(t) for t in (first, later, products, comparison, later - products - comparison)]
            print(f"{on:7} {recipe:14} " + "  ".join(times))
        print(f"memory beyond the model and PyTorch's own: {megabytes() - before:.0f} MB")


if __name__ == "__main__":
    main()
