"""Makes tensors of every kind of values, for tests of recipes."""

import numpy as np

TENSORS = (
    "ordinary",
    "outliers",
    "small",
    "zeros",
    "huge",
    "subnormal",
    "wide",
    "signed zeros",
    "edges",
    "specials",
    "any",
)


def bits(x):
    x = np.ascontiguousarray(x)
    return x.view(f"u{x.dtype.itemsize}")


def tensors(generator, shape):
    """Returns FP32 numbers of every kind by name."""
    x = generator.standard_normal(shape)
    edges = [448, 464, 465, 6, 7, 5, 57344, 61440, 28, 30, 7.5, 0.25, 2.0**-10, 2.0**-9 * 1.5, 2688, 1 + 2.0**-23, 1.75]
    specials = generator.choice([np.nan, -np.nan, np.inf, -np.inf, 3.3e38, -3.3e38, 1e-45, 1e-38], shape)
    found = {
        "ordinary": x,
        "outliers": np.where(generator.random(shape) < 0.01, x * 1000, x),
        "small": x * 1e-30,
        "zeros": np.where(generator.random((shape[0], 1)) < 0.5, 0, x),
        "huge": np.where(generator.random(shape) < 0.5, 0, x) * 1e30,
        "subnormal": np.ldexp(x, generator.integers(-149, -120, shape)),
        "wide": x * np.exp2(generator.integers(-130, 120, shape)),
        "signed zeros": np.where(generator.random(shape) < 0.5, 0.0, -0.0),
        "edges": generator.choice(edges, shape) * np.exp2(generator.integers(-3, 4, shape)),
        "specials": np.where(generator.random(shape) < 0.01, specials, x),
        "any": generator.integers(0, 2**32, shape, dtype=np.uint32).view(np.float32),
    }
    assert tuple(found) == TENSORS
    with np.errstate(all="ignore"):
        return {name: np.asarray(numbers, np.float32) for name, numbers in found.items()}
