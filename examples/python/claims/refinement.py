"""Which condition numbers does GMRES-IR stand with an LU factorisation by a matrix unit? (Carson and Higham, 2018)

    python examples/python/claims/refinement.py [--small] [--seed N] [--json FILE]

Blocked LU: panels in FP32, trailing matrices C - L U by the unit, with L and U scaled by powers of two and rounded to
its format, and C added after the sum in FP32 (alpha and beta, as in a library). Then A x = b is refined in FP64,
residuals included: plainly (d = U^-1 L^-1 r), or with GMRES preconditioned by U^-1 L^-1. It has converged at a backward
error of at most 2^-53, or twice that of FP64's own LU if that is more.
"""

import numpy as np

import claim
import lu
import softmma

FP32 = ("FP32", "f32")  # products in FP64, rounded to FP32
UNITS = [("V100", "f16")] + [(g, f) for g in ("A100", "H100") for f in ("f16", "bf16", "tf32")]
UNITS += [("MI300X", "f16"), ("MI300X", "bf16"), ("MI300X", "xf32"), ("H100", "e4m3"), ("MI300X", "e4m3fnuz")]
MOST_STEPS, INNER_TOLERANCE = 60, 1e-4


def updating(gpu, format):
    """Returns a function that computes c - lower upper on a unit."""
    format = "tf32" if format == "xf32" else format
    greatest = float(softmma.round(np.inf, format, overflow="saturate"))

    def shift(x):  # greatest magnitude: in the binade of a quarter of the format's, or of 1 if possible
        top = 0 if greatest > 2**100 else np.frexp(greatest)[1] - 2
        return top - np.frexp(np.abs(x).max())[1]

    def update(c, lower, upper):
        i, j = shift(lower), shift(upper)
        a, b = np.ldexp(lower, i), np.ldexp(upper, j)
        return softmma.matmul(a, b, c, on=gpu, in_dtype=format, alpha=-(2.0 ** -(i + j)), scaling="epilogue")

    return update


def fp64(c, lower, upper):
    """Computes c - lower upper by a chain of FMAs in FP64, for any dtypes."""
    return softmma.matmul(-lower, upper, c, on="H100", in_dtype="f64")


def backward_error(a, x, b):
    """Returns the normwise backward error |b - A x| / (|A| |x| + |b|), in the infinity norm."""
    residual = np.abs(b - lu.times(a, x)).max()
    return float(residual / (np.abs(a).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max()))


def gmres(product, r, tolerance, most):
    """Returns the correction and the number of iterations; modified Gram-Schmidt, Givens rotations."""
    n = len(r)
    basis, h = np.zeros((most + 1, n)), np.zeros((most + 1, most))
    rotations, g = [], np.zeros(most + 1)
    g[0] = first = np.sqrt((r * r).sum())
    basis[0] = r / first
    for j in range(most):
        w = product(basis[j])
        for i in range(j + 1):
            h[i, j] = (w * basis[i]).sum()
            w -= h[i, j] * basis[i]
        h[j + 1, j] = np.sqrt((w * w).sum())
        if h[j + 1, j]:
            basis[j + 1] = w / h[j + 1, j]
        for i, (c, s) in enumerate(rotations):
            h[i, j], h[i + 1, j] = c * h[i, j] + s * h[i + 1, j], c * h[i + 1, j] - s * h[i, j]
        length = np.hypot(h[j, j], h[j + 1, j])
        c, s = h[j, j] / length, h[j + 1, j] / length
        rotations.append((c, s))
        h[j, j], h[j + 1, j], g[j], g[j + 1] = length, 0, c * g[j], -s * g[j]
        if abs(g[j + 1]) <= tolerance * first:
            break
    y = np.zeros(j + 1)
    for i in reversed(range(j + 1)):
        y[i] = (g[i] - (h[i, i + 1 : j + 1] * y[i + 1 :]).sum()) / h[i, i]
    return (basis[: j + 1].T * y).sum(axis=1), j + 1


def refine(a, b, factors, order, target, with_gmres):
    """Returns the steps and GMRES iterations until the backward error is reached, or None if it is not reached."""
    x, inner, errors = lu.solve(factors, b[order]), 0, []
    for step in range(MOST_STEPS + 1):
        errors.append(backward_error(a, x, b))
        if errors[-1] <= target:
            return step, inner
        if not np.isfinite(errors[-1]) or step >= 5 and errors[-1] > errors[-6] / 2:  # five steps gained no bit
            break
        r = lu.solve(factors, (b - lu.times(a, x))[order])
        if with_gmres:
            d, iterations = gmres(lambda v: lu.solve(factors, lu.times(a, v)[order]), r, INNER_TOLERANCE, len(a))
            inner += iterations
        else:
            d = r
        x = x + d
    return None, None


def solved(n, block, exponent, units, generator):
    """Returns the table's rows for one matrix of condition 10^exponent: its LU factors are computed on each unit, and
    the solution is refined by both methods."""
    a = lu.with_condition(n, 10.0**exponent, generator)
    b = generator.standard_normal(n)
    own, order = lu.factor(a, block, fp64)
    target = max(2.0**-53, 2 * backward_error(a, lu.solve(own, b[order]), b))
    for gpu, format in units:
        update = updating(gpu, format) if gpu != FP32[0] else lambda *matrices: fp64(*matrices).astype(np.float32)
        factors, order = lu.factor(a.astype(np.float32), block, update)
        factors = factors.astype(float)
        steps, _ = refine(a, b, factors, order, target, False)
        gmres_steps, iterations = refine(a, b, factors, order, target, True)
        yield {
            "GPU": gpu,
            "format": format,
            "n": n,
            "condition": f"1e{exponent}",
            "first error": backward_error(a, lu.solve(factors, b[order]), b),
            "plain: steps": steps,
            "GMRES: steps": gmres_steps,
            "iterations": iterations,
        }


def measure(small, seed):
    n, block = (48, 16) if small else (128, 32)
    generator = np.random.default_rng(seed)
    units = [FP32, *(UNITS[::5] if small else UNITS)]
    by_condition = [row for e in ((2, 6) if small else range(1, 11)) for row in solved(n, block, e, units, generator)]
    sizes = (32, 64) if small else (64, 128, 256, 512)
    by_size = [row for m in sizes for e in (4, 5) for row in solved(m, 32, e, [("H100", "f16")], generator)]
    return {"By condition": by_condition, "By size": by_size}


def reach(rows, good):
    """Returns the greatest condition up to which all rows are good."""
    found = "none"
    for row in rows:
        if not good(row):
            break
        found = row["condition"]
    return found


def conclude(tables):
    rows, by_size = tables.values()
    n, lines = rows[0]["n"], []
    for unit in dict.fromkeys((row["GPU"], row["format"]) for row in rows):
        of = [row for row in rows if (row["GPU"], row["format"]) == unit]
        lines.append(
            f"{' '.join(unit)}: plain refinement up to condition {reach(of, lambda r: r['plain: steps'] is not None)}, "
            f"GMRES up to {reach(of, lambda r: r['iterations'] is not None)}, with at most n/6 = {n // 6} iterations "
            f"up to {reach(of, lambda r: r['iterations'] is not None and r['iterations'] <= n // 6)}."
        )
    for format in dict.fromkeys(row["format"] for row in rows):
        for key in ("plain: steps", "iterations"):
            counts = {}
            for row in rows:
                if row["format"] == format and row["iterations"] is not None and row["iterations"] <= n // 2:
                    counts.setdefault(row["condition"], []).append(row[key])
            apart = [max(c) - min(c) for c in counts.values() if len(c) > 1 and None not in c]
            if apart:
                lines.append(
                    f"{format}, {key}: GPUs differ by at most {max(apart)}, in {np.count_nonzero(apart)} of {len(apart)} "
                    "conditions."
                )
    for exponent in dict.fromkeys(row["condition"] for row in by_size):
        counts = {row["n"]: row["iterations"] for row in by_size if row["condition"] == exponent}
        lines.append(
            f"H100 f16, condition {exponent}: {', '.join(f'{c} iterations for n = {m}' for m, c in counts.items())}."
        )
    return lines


if __name__ == "__main__":
    claim.main(measure, conclude)
