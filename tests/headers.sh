#!/usr/bin/env bash
# Every header can be included alone, and twice: those of the source, and those that are installed for studies, which
# find each other in the installed folder. Messages name no functions except those of the public headers.
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

check() { # HEADER OPTION...
  # shellcheck disable=SC2059
  if ! printf '#include "%s"\n' "$1" "$1" |
    "$compiler" -std=c11 -Wall -Wextra -Werror "${@:2}" -fsyntax-only -x c -; then
    echo "FAILED  $1 cannot be included alone"
    failed=$((failed + 1))
  fi
}
for header in "${headers[@]}"; do
  check "$header" -D_POSIX_C_SOURCE=200809L -Wno-unused-function -Wno-unused-const-variable -Wno-unused-variable \
    -Wno-unknown-pragmas -frounding-math "${vectors[@]}" -I. -Isrc -Iinclude -I"$build/generated"
done

# Functions that messages name are public. The texts of tables.c are C.
for name in $(grep -rhoE '"([^"\\]|\\.)*"' src bindings --include='*.[ch]' --include='*.def' --exclude=tables.c |
  grep ' ' | grep -oE '\bsmma_[a-z0-9_]+' | sort -u); do
  grep -rqw "$name" include || { echo "FAILED  a message names $name, which is not public"; failed=$((failed + 1)); }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake -DTO="$work" -P cmake/study_headers.cmake || exit 1
mapfile -t installed < <(cd "$work" && find softmma -name '*.h' | sort)
[ ${#installed[@]} -gt 50 ] || { echo "FAILED  only ${#installed[@]} headers of studies found"; exit 1; }
for header in "${installed[@]}"; do check "$header" -I"$work" -Iinclude; done
echo "${#headers[@]} headers, ${#installed[@]} headers of studies, $failed failed"
exit $((failed > 0))
