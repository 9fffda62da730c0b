#!/bin/sh
# abi.sh LIBRARY LIST: the shared library exports exactly the listed symbols.
set -eu
exported=$(mktemp)
trap 'rm -f "$exported"' EXIT
# Removes the symbols that sanitizers add, and the lock that clang adds for reductions of OpenMP.
nm -D --defined-only "$1" | awk '$3 ~ /^(\.gomp_critical_user_|__asan|__ubsan|__odr_asan|__sanitizer|___asan|__start___sancov|__stop___sancov)/ { next } { print $3 }' |
  LC_ALL=C sort > "$exported"
if ! diff "$2" "$exported"; then
  echo "The exported symbols differ from $2 (< listed, > exported); change the list if that is meant." >&2
  exit 1
fi
