"""Reads a layer's weight from a checkpoint and compares the layer's outputs on several GPUs.

    python examples/python/compare_layer.py [FILE [NAME]]

FILE and NAME are those of softmma.load_weight (docs/checkpoints.md), so that the weight may be quantised. The default
is the second layer of examples/data/digits-mlp.safetensors, written by digits_mlp.py --save. The inputs are random,
N(0, 1).
"""

import sys
from pathlib import Path

import numpy as np

import softmma

MODEL = Path(__file__).resolve().parents[1] / "data" / "digits-mlp.safetensors"
GPUS = ["V100", "A100", "H100", "MI100", "MI250X", "MI300X", "H100:e4m3", "MI300X:e4m3fnuz"]


def main(path=MODEL, name="layers.1"):
    weights = softmma.load_weight(path, name).numbers
    activations = np.random.default_rng(0).standard_normal((64, weights.shape[0]))
    print(softmma.compare(activations, weights, GPUS))


if __name__ == "__main__":
    main(*sys.argv[1:])
