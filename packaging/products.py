"""Digests of products by the installed package, one for each of some GPUs and formats: two machines print the same."""

import hashlib

import numpy as np

import softmma

CASES = [
    ("V100", "f16"),
    ("A100", "bf16"),
    ("A100", "tf32"),
    ("H100", "e4m3"),
    ("H100", "f64"),
    ("MI100", "f32"),
    ("MI250X", "bf16"),
    ("MI300X", "e4m3fnuz"),
    ("B200", "e5m2"),
    ("RX 7900 XTX", "f16"),
    ("RX 9070", "bf16"),
]

print(softmma.__version__)
x = (np.random.Generator(np.random.Philox(1)).integers(-(2**15), 2**15, (48, 96)) / 2**13).astype(np.float32)
for gpu, in_dtype in CASES:
    d = softmma.matmul(x, x.T, on=gpu, in_dtype=in_dtype)
    print(gpu, in_dtype, d.dtype, hashlib.sha256(d.tobytes()).hexdigest())
print(softmma.explain([1.0] * 16, [2.0**-k for k in range(16)], on="H100", in_dtype="f16"))
