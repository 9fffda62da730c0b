"""Shows small FP16 gradients lost on matrix units that flush subnormal numbers to zero, as CDNA 2's do.

    python examples/python/subnormals.py

The gradient of a weight matrix is X^T G, for activations X and gradients G of a batch. G is small if a network is
trained well; in FP16 everything below 2^-14 is subnormal. An H100 multiplies subnormals, an MI250X reads them as zero:
there the weights learn nothing from them, unless the loss is scaled (here by 2^10) before it is differentiated.
"""

import numpy as np

import softmma


def main():
    generator = np.random.default_rng(0)
    activations = generator.standard_normal((256, 64)).astype(np.float16)
    exact_gradients = generator.standard_normal((256, 32)) * 2.0**-17
    print(f"{'unit':8} {'loss scale':>10} {'zeros in X^T G':>15} {'largest error':>14}")
    for scale in 1, 2**10:
        gradients = (exact_gradients * scale).astype(np.float16)
        exact = activations.astype(float).T @ exact_gradients
        for gpu in "H100", "MI250X", "MI300X":
            of_weights = softmma.matmul(activations.T, gradients, on=gpu) / scale
            error = np.abs(of_weights - exact).max() / np.abs(exact).max()
            print(f"{gpu:8} {scale:10} {np.mean(of_weights == 0):15.1%} {error:14.2e}")


if __name__ == "__main__":
    main()
