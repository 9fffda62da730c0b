"""Measures how much time softmma.torch.emulate saves by keeping prepared weights: calls of Linear with 4096 x 4096
weights in FP32, on one thread.

    OMP_NUM_THREADS=1 python bench/emulate.py

Each figure is the least CPU time of several calls. The first call is not counted, because it makes the multiplier.
"""

import time

import numpy as np
import torch

import softmma

SIZE = 4096


def milliseconds(calls, function, *arguments, **options):
    times = []
    for _ in range(calls + 1):
        start = time.process_time()
        function(*arguments, **options)
        times.append(time.process_time() - start)
    return 1e3 * min(times[1:])


def main():
    torch.set_num_threads(1)
    layer = torch.nn.Linear(SIZE, SIZE)
    weights = layer.weight.detach().numpy().T.astype(np.float16)
    multiplier = softmma.Multiplier(weights, threads=1)
    for rows in 1, 8, 64:
        x = torch.randn(rows, SIZE)
        half = x.numpy().astype(np.float16)
        for format in "f16", "e4m3":
            took = {}
            for keep in False, True:
                options = {"weights": format, "activations": format, "threads": 1, "keep_weights": keep}
                with torch.no_grad(), softmma.torch.emulate("H100", **options):
                    took[keep] = milliseconds(15 if keep else 3, layer, x)
            print(f"{rows:2} rows, Linear in {format:4}: {took[False]:.1f} ms, weights kept: {took[True]:.1f} ms")
        product = milliseconds(15, softmma.matmul, half, weights, threads=1)
        kept = milliseconds(15, multiplier.matmul, half)
        print(f"{rows:2} rows, product in f16: {product:.1f} ms, with a multiplier: {kept:.1f} ms")


if __name__ == "__main__":
    main()
