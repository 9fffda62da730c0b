#!/bin/sh
# windows-program.sh SOURCE PROGRAM: tests/kernel_program.c for Windows, with the library that library-for.sh has built.
set -eu
cd "$1"
exec x86_64-w64-mingw32-gcc-posix -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -mfma -Wa,-muse-unaligned-vector-move -DSMMA_STATIC -Iinclude \
  -Isrc tests/kernel_program.c tests/kernel_check.c tests/kernel_operands.c tests/device_gemm.c build/lib/libsoftmma.a \
  -fopenmp -static -lm -o "$2"
