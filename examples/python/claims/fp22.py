"""Is the accumulator of FP8 products on Ada and Hopper an FP22 number? (SageAttention2, Zhang et al., 2024)

    python examples/python/claims/fp22.py [--small] [--seed N] [--json FILE]

The source set A and B to zero, and D was C truncated to 13 fraction bits. The catalogue's rule truncates every product
13 bits below the greatest exponent of the block before it adds. Both explain the source's observation. The models:

    rule              the catalogue's: T-FDPA, F = 13
    FP22              exact products, added exactly in a block; the sum is truncated to 13 fraction bits
    FP22, nearest     the same, rounded to nearest
    FP22, one by one  one product after the other, each sum truncated to 13 fraction bits
"""

from pathlib import Path

import numpy as np

import claim
import softmma

RECORDED = Path(__file__).resolve().parents[3] / "tests" / "vectors" / "recorded" / "gpu"
WGMMA = softmma.instruction("H100", "wgmma.m64n8k32.f32.e4m3.e4m3")
ADA = softmma.instruction("L40S", "mma.m16n8k32.f32.e4m3.e4m3.f32")
HOPPER_MMA = softmma.instruction("H100", "mma.m16n8k32.f32.e4m3.e4m3.f32")
TCGEN05 = next(i for i in softmma.instructions("B200") if (i.a, i.b, i.d, i.scale) == ("e4m3", "e4m3", "f32", None))
CUT = np.uint32(2**32 - 2**10)  # mask of an FP32 encoding with 13 fraction bits


def fp22(block, rounding="toward-zero", output="e8m13"):
    """Returns a unit with an FP22 accumulator: exact sums of `block` products and the accumulator, rounded once."""
    return softmma.Custom(
        {
            "name": f"{output}-{rounding}-{block}",
            "algorithm": "G-FDPA",
            "k": 32,
            "block": block,
            "a": "e4m3",
            "b": "e4m3",
            "d": "f32",
            "alignment_bits": "exact",
            "output": output,
            "rounding": rounding,
        }
    )


def models(rule):
    block = rule.parameters["L"]
    return {
        "rule": rule,
        "FP22": fp22(block),
        "FP22, nearest": fp22(block, "nearest-even"),
        "FP22, one by one": fp22(1),
    }


def zero_products(count, seed):
    """Repeats the source's experiment: A = B = 0, and C of random bits."""
    c = np.random.default_rng(seed).standard_normal(count).astype(np.float32)
    zero = np.zeros(32, softmma.dtype("e4m3"))
    rows = []
    for gpu, rule in (("L40S", ADA), ("H100", WGMMA), ("H100", HOPPER_MMA), ("B200", TCGEN05)):
        d = softmma.dot(zero, zero, c, on=rule).view(np.uint32)
        rows.append(
            {
                "GPU": gpu,
                "instruction": rule.name,
                "rows": count,
                "D is C": int((d == c.view(np.uint32)).sum()),
                "D is C cut to FP22": int((d == (c.view(np.uint32) & CUT)).sum()),
            }
        )
    return rows


def recorded(gpu):
    """Returns a, b, c and d of the rows recorded on a GPU."""
    lines = (RECORDED / f"{gpu.lower()}-e4m3-f32.txt").read_text().splitlines()
    rows = np.array([[int(word, 16) for word in line.split()] for line in lines if line[0] != "#"], np.uint32)
    a, b = rows[:, :32].astype(np.uint8), rows[:, 32:64].astype(np.uint8)
    return a.view(softmma.dtype("e4m3")), b.view(softmma.dtype("e4m3")), rows[:, 64].view(np.float32), rows[:, 65]


def judged():
    """Compares every model with recorded rows: the number of mismatches, and their size in FP22 ulps."""
    rows = []
    for gpu, rule in (("L40S", ADA), ("H100", WGMMA)):
        a, b, c, expected = recorded(gpu)
        for name, model in models(rule).items():
            d = softmma.dot(a, b, c, on=model).view(np.uint32)
            away = np.abs(d.astype(np.int64) - expected.astype(np.int64)) / 2**10
            rows.append(
                {
                    "GPU": gpu,
                    "model": name,
                    "rows": len(d),
                    "differ": int((d != expected).sum()),
                    "at most, in FP22 ulps": float(away.max()),
                }
            )
    return rows


def smallest_row():
    """Adds 32 products of half an ulp of C each; returns d - 1 in FP22 ulps, 2^-13."""
    a, rows = np.full(32, 2.0**-7), []
    for gpu, rule in (("L40S", ADA), ("H100", WGMMA)):
        d = {name: softmma.dot(a, a, 1.0, on=model).item() for name, model in models(rule).items()}
        rows.append({"GPU": gpu, **{name: int((x - 1) * 2**13) for name, x in d.items()}})
    return rows


def attention_operands(keys, offset, generator, queries=32, width=32):
    """Returns unnormalised probabilities in [0, 1], and values; then both in E4M3, scaled as in the source:
    P by 448, V by 448 over the greatest magnitude of its channel."""
    q, k, v = (generator.standard_normal((n, width)) for n in (queries, keys, keys))
    scores = q @ k.T / np.sqrt(width)
    p, v = np.exp(scores - scores.max(axis=1, keepdims=True)), v + offset
    v_scale = 448 / np.abs(v).max(axis=0)
    return p, v, softmma.round(p * 448, "e4m3"), softmma.round(v * v_scale, "e4m3"), 448 * v_scale


def attention(lengths, seed):
    """Computes P V over keys; returns each model's error of sums against the exact product of the E4M3 operands."""
    ways = {
        "H100 wgmma": (WGMMA, 0),
        "FP22": (fp22(32), 0),
        "H100, FP32 every 64": (WGMMA, 64),
        "H100, FP32 every 128": (WGMMA, 128),
        "FP22, FP32 every 64": (fp22(32), 64),
        "FP32": (fp22(32, "nearest-even", "f32"), 0),
    }
    rows = []
    for offset in (0, 1):
        for keys in lengths:
            p, v, p8, v8, scale = attention_operands(keys, offset, np.random.default_rng([seed, keys]))
            exact = p8.astype(float) @ v8.astype(float)
            row = {"V": "N(0, 1)" if not offset else f"N({offset}, 1)", "keys": keys}
            row["E4M3 itself"] = float(np.linalg.norm(exact / scale - p @ v) / np.linalg.norm(p @ v))
            for name, (on, every) in ways.items():
                d = softmma.matmul(p8, v8, on=on, promote_every=every).astype(float)
                row[name] = float(np.linalg.norm(d - exact) / np.linalg.norm(exact))
            rows.append(row)
    return rows


def measure(small, seed):
    return {
        "A = B = 0": zero_products(1000 if small else 100000, seed),
        "Models against recorded rows": judged(),
        "c = 1 and 32 products of 2^-14: d - 1, in FP22's last place": smallest_row(),
        "P V: relative error": attention((512, 2048) if small else (512, 2048, 8192, 32768), seed),
    }


def conclude(tables):
    zero, rows, smallest, errors = tables.values()
    seen = [f"{r['GPU']} {r['instruction']}" for r in zero if r["D is C cut to FP22"] == r["rows"]]
    kept = [f"{r['GPU']} {r['instruction']}" for r in zero if r["D is C"] == r["rows"]]
    wrong = {(r["GPU"], r["model"]): r["differ"] for r in rows}
    right = sorted({m for _, m in wrong} - {m for (_, m), count in wrong.items() if count})
    least = {gpu: min(n for (g, m), n in wrong.items() if g == gpu and m not in right) for gpu, _ in wrong}
    longest = [row for row in errors if row["keys"] == max(r["keys"] for r in errors)]
    of_h100 = smallest[-1]
    lines = [
        f"What the source saw, C cut to FP22, is so on {'; '.join(seen)}. C comes through whole on {'; '.join(kept)}.",
        f"Recorded rows: {', '.join(right) or 'no model'} explains all; the others fail in at least "
        + ", ".join(f"{n} of the {g}'s {next(r['rows'] for r in rows if r['GPU'] == g)}" for g, n in least.items())
        + ".",
        f"1 + 32 * 2^-14: an H100 returns 1 + {of_h100['rule']} * 2^-13, FP22 would be 1 + {of_h100['FP22']} * 2^-13.",
    ]
    for row in longest:
        lines.append(
            f"P V over {row['keys']} keys, V of {row['V']}: {row['H100 wgmma']:.1e} on the H100, {row['FP22']:.1e} with "
            f"an FP22 accumulator, {row['H100, FP32 every 64']:.1e} with FP32 every 64 keys; rounding P and V to E4M3 "
            f"costs {row['E4M3 itself']:.1e}."
        )
    return lines


if __name__ == "__main__":
    claim.main(measure, conclude)
