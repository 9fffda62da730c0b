"""Are eight slices of eight bits enough for LU in FP64? (Abdelfattah et al., 2025; Mikaitis, slides, 2025)

    python examples/python/claims/lu_slices.py [--small] [--seed N] [--json FILE]

Blocked LU in FP64, except that the trailing matrices C - L U are computed from slices of seven bits on an 8-bit
integer unit (docs/numerics.md, leading products, sums in FP64). P A - L U is computed in twice the precision of FP64.
Its size is compared with that of FP64's own factorisation: normwise, |P A - L U| / |A| in the Frobenius norm, and by
element, the greatest |P A - L U| / (|L| |U|).
"""

import numpy as np

import claim
import lu
import softmma

BITS = 7


def slices(x, count, axis):
    """Returns x's digits in base 2^7 below the exponent of each row (axis 1) or column (axis 0), and the exponents."""
    exponents = np.frexp(np.abs(x).max(axis=axis, keepdims=True))[1]
    rest, digits = np.ldexp(x, -exponents), []
    for _ in range(count):
        rest = np.ldexp(rest, BITS)
        digits.append(rest.astype(np.int8))
        rest = rest - digits[-1]
    return digits, exponents


def product(a, b, count):
    """Computes A B from slices: the leading products, each exact on the unit, added in FP64, smallest first."""
    (x, e), (y, f) = slices(a, count, 1), slices(b, count, 0)
    total = np.zeros((len(a), b.shape[1]))
    for places in range(count + 1, 1, -1):
        for i in range(1, places):
            exact = softmma.matmul(x[i - 1], y[places - i - 1], on="H100").astype(float)
            total += np.ldexp(exact, e + f - BITS * places)
    return total


def halves(x):
    """Splits x into two numbers of 26 bits (Veltkamp)."""
    high = x * (2**27 + 1.0)
    high = high - (high - x)
    return high, x - high


def residual(pa, lower, upper):
    """Computes P A - L U in about twice the precision of FP64, with the errors of products and sums (Dekker, Knuth)."""
    high, low = pa, np.zeros_like(pa)
    (l1, l2), (u1, u2) = halves(lower), halves(upper)
    for k in range(len(pa)):
        term = np.outer(lower[:, k], upper[k])
        lost = np.outer(l1[:, k], u1[k]) - term + np.outer(l1[:, k], u2[k]) + np.outer(l2[:, k], u1[k])
        total = high - term
        behind = total - high
        low = low - (lost + np.outer(l2[:, k], u2[k])) + ((high - (total - behind)) - (term + behind))
        high = total
    return high + low


def matrices(n, generator):
    scale = np.exp2(generator.integers(-20, 21, (2, n)))
    return {
        "uniform": generator.random((n, n)) - 0.5,
        "normal": generator.standard_normal((n, n)),
        "condition 1e12": lu.with_condition(n, 1e12, generator),
        "rows and columns scaled": generator.standard_normal((n, n)) * scale[0][:, None] * scale[1],
        "2^N(0, 10)": generator.standard_normal((n, n)) * np.exp2(10 * generator.standard_normal((n, n))),
        "2^N(0, 40)": generator.standard_normal((n, n)) * np.exp2(40 * generator.standard_normal((n, n))),
    }


def backward_errors(a, block, update):
    """Returns |P A - L U| / |A| (Frobenius norm) and the greatest |P A - L U| / (|L| |U|) of an element, in 2^-53."""
    factors, order = lu.factor(a, block, update)
    lower, upper = np.tril(factors, -1) + np.eye(len(a)), np.triu(factors)
    off = np.abs(residual(a[order], lower, upper))
    share = off / (np.abs(lower) @ np.abs(upper))
    return float(np.linalg.norm(off) / np.linalg.norm(a) * 2**53), float(share.max() * 2**53)


def fp64(c, lower, upper):
    return softmma.matmul(-lower, upper, c, on="H100", in_dtype="f64")


def slicing(count):
    return lambda c, lower, upper: c - product(lower, upper, count)


def measure(small, seed):
    n, block = (48, 16) if small else (256, 64)
    counts = (6, 8, 9, 10) if small else (6, 7, 8, 9, 10, 11, 12, 16, 20, 24)
    updates = {"FP64": fp64, **{f"{count} slices": slicing(count) for count in counts}}
    normwise, by_element, by_size = [], [], []
    for name, a in matrices(n, np.random.default_rng(seed)).items():
        found = {way: backward_errors(a, block, update) for way, update in updates.items()}
        normwise.append({"matrix": name, **{way: errors[0] for way, errors in found.items()}})
        by_element.append({"matrix": name, **{way: errors[1] for way, errors in found.items()}})
    for m in (32, 64) if small else (128, 256, 512):
        a = np.random.default_rng(seed).random((m, m)) - 0.5
        ways = ("FP64", "8 slices", "9 slices")
        by_size.append({"n": m, **{way: backward_errors(a, block, updates[way])[0] for way in ways}})
    return {
        "Normwise, in 2^-53": normwise,
        "The greatest of an element, in 2^-53": by_element,
        "Uniform, by size, normwise": by_size,
    }


def enough(row):
    """Returns the least tried number of slices from which the error is at most twice FP64's."""
    ways = [way for way in row if way.endswith("slices")]
    good = [row[way] <= 2 * row["FP64"] for way in ways]
    first = next((n for n in range(len(ways)) if all(good[n:])), None)
    if first is None:
        return f"more than {ways[-1]}"
    return ways[first] + (f" ({ways[first - 1]} are too few)" if first else " or fewer")


def conclude(tables):
    normwise, by_element, by_size = tables.values()
    lines = []
    for norm, element in zip(normwise, by_element):
        lines.append(
            f"{norm['matrix']}: FP64's size (within a factor of two) normwise with {enough(norm)}, by element with "
            f"{enough(element)}; eight slices have {norm['8 slices'] / norm['FP64']:.2g} and "
            f"{element['8 slices'] / element['FP64']:.2g} times FP64's error."
        )
    ratios = ", ".join(f"{row['8 slices'] / row['FP64']:.2g} (n = {row['n']})" for row in by_size)
    lines.append(f"uniform, normwise, eight slices over FP64: {ratios}.")
    return lines


if __name__ == "__main__":
    claim.main(measure, conclude)
