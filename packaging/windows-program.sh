#!/bin/sh
# windows-program.sh COMPILER SOURCE PROGRAM: tests/kernel_program.c for Windows, with the library built in SOURCE/build.
set -eu
cd "$2"
exec "$1" -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -mfma -Wa,-muse-unaligned-vector-move -Iinclude -Isrc \
  tests/kernel_program.c tests/kernel_check.c tests/kernel_operands.c tests/device_gemm.c build/lib/libsoftmma.a \
  -fopenmp -static -lm -o "$3"
