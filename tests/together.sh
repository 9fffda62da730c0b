#!/usr/bin/env bash
# Two threads in the library at once under ThreadSanitizer. Builds only the library, without OpenMP, because the
# sanitizer does not know OpenMP's own synchronisation. Kernels are not instrumented; their callers are.
# Usage: together.sh SOURCE C_COMPILER [LAUNCHER]
set -eu
usage='usage: together.sh SOURCE C_COMPILER [LAUNCHER]'
source=$(realpath "${1:?$usage}") compiler=${2:?$usage} launcher=${3-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo 'int main(void) { return 0; }' >"$work/empty.c"
if ! "$compiler" -fsanitize=thread "$work/empty.c" -o "$work/empty" 2>"$work/report" || ! "$work/empty"; then
  echo '**********************************************************************'
  echo "SKIPPED: $compiler has no ThreadSanitizer that runs here;"
  echo 'threads that call the library at once were NOT watched for races.'
  echo '**********************************************************************'
  exit 77
fi
cmake -S "$source" -B "$work/build" -G Ninja -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_COMPILER_LAUNCHER="$launcher" \
  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_FLAGS_RELWITHDEBINFO='-O1 -g1' -DSOFTMMA_COMMAND=OFF -DSOFTMMA_OPENCL=OFF \
  -DSOFTMMA_INSTALL=OFF -DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON -DSOFTMMA_SANITIZE=thread >"$work/log"
cmake --build "$work/build" --target softmma_static -j 2 >"$work/log" || { tail -n 30 "$work/log" >&2; exit 1; }
"$compiler" -std=c11 -D_POSIX_C_SOURCE=200809L -g -O1 -fsanitize=thread -Wall -Werror -I "$source/include" \
  "$source/tests/together.c" "$work/build/lib/libsoftmma.a" -lm -lpthread -ldl -o "$work/together"
for threads in 2 4; do
  TSAN_OPTIONS='halt_on_error=1 exitcode=66' "$work/together" $threads
done
