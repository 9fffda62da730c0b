"""Measures how much time the Python package adds to the library's: for a small product, and for 2048 x 2048 x 2048, on
one thread.

    cmake --build build --target call_speed
    python bench/python.py [build/bin/call_speed]

C and Python are measured in turn, five times. Each measurement is the least of five rounds; the figures are medians of
the five measurements.
"""

import statistics
import subprocess
import sys
import timeit

import numpy as np

import softmma

TURNS = 5


def matrix(generator, rows, columns):
    """Returns FP16 numbers of either sign with magnitudes from 1 to 2, as in call_speed."""
    return (0x3C00 | (generator.integers(0, 0x10000, (rows, columns)) & 0x83FF)).astype(np.uint16).view(np.float16)


def python_microseconds(a, b, instruction, calls):
    def product():
        softmma.matmul(a, b, on=instruction, threads=1)

    return min(timeit.repeat(product, number=calls, repeat=5)) / calls * 1e6


def measure(program, m, n, k, calls):
    """Returns the microseconds of the C program and of Python, for every turn."""
    instruction = softmma.instruction("H100", "mma.m16n8k16.f32.f16.f16.f32")
    generator = np.random.default_rng(0)
    a, b = matrix(generator, m, k), matrix(generator, k, n)
    turns = []
    for _ in range(TURNS):
        c = float(subprocess.run([program, *map(str, (m, n, k, calls))], capture_output=True, check=True).stdout)
        turns.append((c, python_microseconds(a, b, instruction, calls)))
    return turns


def main(program="build/bin/call_speed"):
    small = measure(program, 16, 8, 16, 20000)
    c, python = (statistics.median(times) for times in zip(*small))
    added = statistics.median(python - c for c, python in small)
    print(f"16 x 8 x 16: C {c:.2f} us, Python {python:.2f} us; Python adds {added:.2f} us")
    large = measure(program, 2048, 2048, 2048, 1)
    ratio = statistics.median(python / c for c, python in large)
    print(f"2048 x 2048 x 2048: Python takes {ratio:.3f} times as long as C")


if __name__ == "__main__":
    main(*sys.argv[1:])
