#!/usr/bin/env bash
# Every header can be included alone, and twice.
# Usage: headers.sh SOURCE BUILD COMPILER
set -u
source=${1:?usage: headers.sh SOURCE BUILD COMPILER} build=$2 compiler=$3
failed=0
cd "$source" || exit 2
# Leaves out headers for other machines, and for toolkits whose own tests compile them.
mapfile -t headers < <(find include src -name '*.h' ! -path 'src/unit/cuda/*' ! -path 'src/unit/hip/*' \
  ! -path src/gemm/simd/neon.h | sort)
[ ${#headers[@]} -gt 50 ] || { echo "FAILED  only ${#headers[@]} headers found"; exit 1; }
vectors=()
[ "$(uname -m)" != x86_64 ] || vectors=(-mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni)
for header in "${headers[@]}"; do
  # shellcheck disable=SC2059
  if ! printf '#include "%s"\n' "$header" "$header" |
    "$compiler" -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -Wno-unused-function -Wno-unused-const-variable \
      -Wno-unused-variable -Wno-unknown-pragmas -frounding-math "${vectors[@]}" -I. -Isrc -Iinclude \
      -I"$build/generated" -fsyntax-only -x c -; then
    echo "FAILED  $header cannot be included alone"
    failed=$((failed + 1))
  fi
done
echo "${#headers[@]} headers, $failed failed"
exit $((failed > 0))
