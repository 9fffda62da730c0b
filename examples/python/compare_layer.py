"""Reads a layer's weights from a .safetensors file and compares the layer's outputs on several GPUs.

    python examples/python/compare_layer.py [FILE.safetensors [TENSOR]]

The default is the second layer of examples/data/digits-mlp.safetensors, written by digits_mlp.py --save. The inputs are
random, N(0, 1).
"""

import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

import softmma

MODEL = Path(__file__).resolve().parents[1] / "data" / "digits-mlp.safetensors"
GPUS = ["V100", "A100", "H100", "MI100", "MI250X", "MI300X", "H100:e4m3", "MI300X:e4m3fnuz"]


def main(path=MODEL, tensor="layers.1.weight"):
    weights = load_file(path)[tensor]
    activations = np.random.default_rng(0).standard_normal((64, weights.shape[0]))
    print(softmma.compare(activations, weights, GPUS))


if __name__ == "__main__":
    main(*sys.argv[1:])
