#!/bin/sh
# Cross-compiles the library for aarch64 in BUILD/neon, links it with a program of these files, and runs the program
# with the arguments in an emulator. Skipped if the tools are missing.
# Usage: neon.sh BUILD SOURCE FILE.c... -- ARGUMENT...
set -eu
build=$1/neon source=$2
shift 2
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
  if ! command -v "$tool" >/dev/null; then
    echo "SKIPPED: $tool is missing, so the NEON kernel is not checked; scripts/setup --tests installs it." >&2
    exit 77
  fi
done
mkdir -p "$build"
if ! { cmake -S "$source" -B "$build" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
         -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DSOFTMMA_COMMAND=OFF -DCMAKE_COMPILE_WARNING_AS_ERROR=ON &&
       cmake --build "$build" --target softmma_static --parallel "$(nproc)"; } > "$build/log" 2>&1; then
  tail -n 40 "$build/log" >&2
  exit 1
fi
files=
while [ "$1" != -- ]; do
  files="$files $1"
  shift
done
shift
# shellcheck disable=SC2086  # several words
aarch64-linux-gnu-gcc -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -I"$source/include" -I"$source/src" -static $files \
  "$build/lib/libsoftmma.a" -fopenmp -lm -o "$build/program"
exec qemu-aarch64 "$build/program" "$@"
