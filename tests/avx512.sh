#!/usr/bin/env bash
# Compiles the AVX-512 kernel in BUILD/avx512, and links it with the library of BUILD and a program of these files. Runs
# the program with the arguments on an emulated computer (tests/avx512_computer.sh), which has the files that they name.
# The emulator Bochs 2.7 rounds wrongly in one instruction, which tests/avx512_halves.h replaces in the kernel.
# Skipped if this CPU runs the kernel, or if something is missing.
# Usage: avx512.sh BUILD SOURCE FILE.c... -- ARGUMENT...
set -euo pipefail
work=$1/avx512 library=$1/lib/libsoftmma.a source=$2
shift 2

if grep -qs avx512_vnni /proc/cpuinfo; then
  echo 'SKIPPED: this CPU runs the AVX-512 kernel, so other tests check it.' >&2
  exit 77
fi
if [ "$(uname -m)" != x86_64 ]; then
  echo 'SKIPPED: this is no x86 machine, so the AVX-512 kernel is not checked.' >&2
  exit 77
fi

mkdir -p "$work"
if ! { cmake -S "$source" -B "$work/build" -DSOFTMMA_COMMAND=OFF -DCMAKE_COMPILE_WARNING_AS_ERROR=ON \
  "-DCMAKE_C_FLAGS=-include $source/tests/avx512_halves.h" &&
  cmake --build "$work/build" --target softmma_avx512 --parallel "$(nproc)"; } >"$work/build.log" 2>&1; then
  tail -n 40 "$work/build.log" >&2
  exit 1
fi
mapfile -t files < <(find "$work/build" -path '*softmma_avx512*' -name '*.o')
while [ "$1" != -- ]; do
  files+=("$1")
  shift
done
shift
cc -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -I"$source/include" -I"$source/src" -static "${files[@]}" "$library" \
  -fopenmp -lm -o "$work/program" 2>"$work/build.log" || { # a static program with dlopen causes warnings
  tail -n 40 "$work/build.log" >&2
  exit 1
}

named=()
for word; do
  [ ! -f "$word" ] || named+=("$word")
done
status=0
"$source/tests/avx512_computer.sh" "$work" "$work/program" "${named[@]}" <<<"$*" >"$work/output" || status=$?
if [ $status -eq 77 ]; then echo 'SKIPPED: the AVX-512 kernel is not checked.' >&2; fi
[ $status -eq 0 ] || exit $status
sed '/^status /d' "$work/output"
exit "$(sed -n 's/^status //p' "$work/output")"
