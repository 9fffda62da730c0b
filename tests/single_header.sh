#!/usr/bin/env bash
# The single header without the library: as C11 and as C++17, in a folder without any other file of the repository.
# Compares its names and every operation's bits with the library; builds the examples of simulators and the program of
# its page. Without the C++ compiler the status is 77.
# Usage: single_header.sh SOURCE LIBRARY C_COMPILER C++_COMPILER
set -u
export LC_ALL=C
usage='usage: single_header.sh SOURCE LIBRARY C_COMPILER C++_COMPILER'
source=${1:?$usage} library=${2:?$usage} compiler=${3:?$usage} cpp_compiler=${4:?$usage}
if ! command -v "$cpp_compiler" >/dev/null || ! command -v "$compiler" >/dev/null; then
  echo '**********************************************************************'
  echo "SKIPPED: $compiler or $cpp_compiler is not there;"
  echo 'the single header was NOT compiled with them.'
  echo '**********************************************************************'
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# try NAME COMMAND...: the command must succeed and print nothing
try() {
  local name=$1
  shift
  if "$@" >"$work/report" 2>&1; then
    echo "ok      $name"
  else
    echo "FAILED  $name: $*"
    head -n 40 "$work/report"
    failed=1
  fi
}

warnings=(-Wall -Wextra -Wshadow -pedantic -Werror)
as_c=("$compiler" -std=c11 -O1 "${warnings[@]}")
as_cpp=("$cpp_compiler" -x c++ -std=c++17 -O1 "${warnings[@]}")

CC=$compiler "$source/scripts/amalgamate" "$work/softmma_core.h" || exit 1
cp "$source"/tests/single_header_client.[ch] "$source"/examples/simulators/*.c "$work"
cd "$work" || exit 2
if grep -n '#include "' softmma_core.h; then
  echo 'FAILED  an include is not resolved'
  failed=1
fi

# Compiles a program that includes the header twice and uses nothing from it. Then checks that every macro and function
# that the header defines begins with smma_, SMMA_ or SOFTMMA_.
printf '#include "softmma_core.h"\n#include "softmma_core.h"\nint main(void) { return 0; }\n' >nothing.c
try 'C11, unused' "${as_c[@]}" -Wunused nothing.c -o nothing
try 'C++17, unused' "${as_cpp[@]}" -Wunused nothing.c -o nothing
"$compiler" -std=c11 -E -dM nothing.c | sed -n 's/^#define \(\w*\).*/\1/p' | sort >with
grep '^#include <' softmma_core.h | "$compiler" -std=c11 -E -dM -x c - | sed -n 's/^#define \(\w*\).*/\1/p' | sort >without
comm -23 with without | grep -vE '^(SMMA|SOFTMMA)_' >foreign
sed -nE 's/^(static|typedef|SMMA_CORE|SMMA_EVALUATOR) [^(;=[]*\<(\w+) ?[(;=[].*/\2/p; s/^\} (\w+);$/\1/p' softmma_core.h |
  grep -v '^smma_' | grep -vE '^u?int(8|16|32|64)_t$' >>foreign
if [ -s foreign ]; then
  echo 'FAILED  names without a prefix:' "$(cat foreign)"
  failed=1
fi

# The examples.
for example in gem5_mfma tinygrad_wmma; do
  try "$example as C11" "${as_c[@]}" $example.c -o $example
  try "$example computes" ./$example
  cat report
  try "$example as C++17" "${as_cpp[@]}" -fsyntax-only $example.c
done

# The program of docs/single-header.md.
# shellcheck disable=SC2016  # backquotes of Markdown
sed -n '/^```c$/,/^```$/{/^```/d;p;}' "$source/docs/single-header.md" >hello.c
try "the page's program as C11" "${as_c[@]}" hello.c -o hello
if [ "$(./hello)" != -0.75 ]; then
  echo "FAILED  the page's program: $(./hello)"
  failed=1
fi

# Two files of one program, in two languages.
try 'the client as C11' "${as_c[@]}" -c single_header_client.c -o c.o
try 'the client as C++17' "${as_cpp[@]}" -c single_header_client.c -o cpp.o
try 'the comparison' "$compiler" -std=c11 -D_POSIX_C_SOURCE=200809L -O1 -Wall -Wextra -Werror -I "$source/include" \
  -I "$source/tests" -c "$source/tests/single_header.c" -o main.o
try 'one program' "$cpp_compiler" main.o c.o cpp.o "$library" "-Wl,-rpath,$(dirname "$library")" -lm -o compare
sed -nE 's/^SMMA_(UNMODELLED_)?GPU(_WITHOUT_MODEL)?\("([^"]*)".*/\3/p' "$source"/src/isa/{gpus,unmodelled}.def >names
./compare <names || failed=1
exit $failed
