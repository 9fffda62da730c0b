#!/usr/bin/env python3
"""Multiplies a matrix of 100 GB by a small one in blocks, and prints time and memory.

The file of A is sparse: only some rows have numbers, and the others are holes that read as zeros. So the file needs
little space, but `gemm` reads all of it. The result is compared bit by bit with a product of these rows alone.

Usage: bench/larger_than_memory.py SOFTMMA FOLDER [GIGABYTES]
FOLDER must be on a file system with sparse files.
"""

import os
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time

K, N, FULL_ROWS = 16384, 16, 64
MEMORY = 1 << 30


def header(kind: str, rows: int, columns: int) -> bytes:
    """Returns the first 128 bytes of an .npy file."""
    text = str({"descr": kind, "fortran_order": False, "shape": (rows, columns)}).ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def main() -> None:
    softmma, folder = os.path.realpath(sys.argv[1]), sys.argv[2]
    rows = int(float(sys.argv[3] if len(sys.argv) > 3 else 100) * 1e9) // (2 * K)
    draw = random.Random(1)
    full = sorted({0, rows - 1, *draw.sample(range(rows), FULL_ROWS)})
    numbers = [struct.pack(f"<{K}e", *(draw.gauss(0, 1) for _ in range(K))) for _ in full]
    with tempfile.TemporaryDirectory(dir=folder) as work:
        os.chdir(work)
        with open("A.npy", "wb") as file:
            file.write(header("<f2", rows, K))
            file.truncate(128 + rows * K * 2)
            for row, values in zip(full, numbers):
                file.seek(128 + row * K * 2)
                file.write(values)
        with open("few.npy", "wb") as file:
            file.write(header("<f2", len(full), K) + b"".join(numbers))
        with open("B.npy", "wb") as file:
            file.write(header("<f2", K, N) + struct.pack(f"<{K * N}e", *(draw.gauss(0, 1) for _ in range(K * N))))
        product = [softmma, "gemm", "--on", "H100", "--in", "f16", "-q"]
        start = time.monotonic()
        subprocess.run([*product, "A.npy", "B.npy", "-o", "D.npy", "--memory", str(MEMORY)], check=True)
        seconds = time.monotonic() - start
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        subprocess.run([*product, "few.npy", "B.npy", "-o", "few-D.npy"], check=True)
        expected = bytearray(rows * N * 4)
        with open("few-D.npy", "rb") as file:
            file.seek(128)
            for row in full:
                expected[row * N * 4 : (row + 1) * N * 4] = file.read(N * 4)
        with open("D.npy", "rb") as file:
            file.seek(128)
            if file.read() != expected:
                sys.exit("larger_than_memory: the product in blocks differs from that of its rows alone")
        size = os.stat("A.npy").st_size
    print(
        f"A {rows} x {K}, {size / 1e9:.1f} GB: {seconds:.0f} s, {size / seconds / 1e9:.2f} GB a second, "
        f"at most {memory / 1e9:.2f} GB of memory; {len(full)} rows agree bit by bit, the others are zero"
    )


if __name__ == "__main__":
    main()
