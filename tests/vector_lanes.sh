#!/usr/bin/env bash
# Checks that GCC makes vectors of the loops over lanes (src/gemm/lanes). It gives up on a loop if a condition in it
# depends on another condition, or if it keeps fma() as a call. The results stay right, but take four times as long.
# Without GCC the status is 77.
# Usage: vector_lanes.sh COMPILER SOURCE KERNEL OPTIONS
set -u
compiler=${1:?usage: vector_lanes.sh COMPILER SOURCE KERNEL OPTIONS} source=${2:?} kernel=${3:?} options=${4:?}
case $("$compiler" --version | head -n 1) in
  *clang* | *Apple*)
    echo "SKIPPED: $compiler is not GCC; whether it makes vectors of the loops over lanes is NOT checked"
    exit 77
    ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2086 # OPTIONS are several words
"$compiler" -std=c11 -D_POSIX_C_SOURCE=200809L $options "-DSMMA_WORDS=\"gemm/simd/$kernel.h\"" -DSMMA_BUILDING \
  -I"$source/include" -I"$source/src" -fopt-info-vec-missed-optimized="$work/report" \
  -c -o "$work/lanes.o" "$source/src/gemm/lanes/lanes.c" || exit 1
made=$(grep -c 'loop vectorized' "$work/report")
missed=$(grep -E 'lanes/[a-z]+\.h:.*(control flow in loop|no vectype|clobbers memory: .* = fmaf? \()' "$work/report")
if [ "$made" -eq 0 ] || [ -n "$missed" ]; then
  echo "FAILED  $kernel: GCC made vectors of $made loops, but not of these:"
  printf '%s\n' "$missed" | sort -u | head -n 20
  exit 1
fi
echo "$kernel: GCC made vectors of $made loops over lanes, and missed none"
