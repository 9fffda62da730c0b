#!/usr/bin/env bash
# Allocations that fail and signals that arrive while files are made: the right output, or status 2 and a line; never a
# crash or a file that is left over. Usage: faults.sh SOFTMMA FAULTS.so
set -u
export LC_ALL=C OMP_NUM_THREADS=1 GOMP_SPINCOUNT=0
softmma=$(realpath "${1:?usage: faults.sh SOFTMMA FAULTS.so}") faults=$(realpath "${2:-none}")
[ -e "$faults" ] || exit 2
source_directory=$(realpath "$(dirname "$0")/..")
data=$source_directory/examples/data
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"
ulimit -c 0

instruction=(--on V100 --instr HMMA.884.F32.F32)
runs 0 gen "${instruction[@]}" --rows 50 -o rows.txt
runs 0 gen "${instruction[@]}" --rows 50 --format binary -o rows.bin
first=3 # the allocations before it are made by libraries before main

# survives ARGUMENT...: with one allocation after another failing.
survives() {
  local status whole at wrong='' failures=0
  rm -f out
  "$softmma" "$@" >whole 2>/dev/null </dev/null
  whole=$?
  for ((at = first; at < 60; at++)); do
    LD_PRELOAD=$faults FAIL_AT=$at "$softmma" "$@" >in/stdout 2>in/stderr </dev/null
    status=$?
    [ $status -eq 2 ] && failures=$((failures + 1))
    [ $status -eq 2 ] && [ -s in/stderr ] && [ -z "$(find . -name '*.tmp')" ] && continue
    [ $status -eq $whole ] && cmp -s whole in/stdout && [ -z "$(find . -name '*.tmp')" ] && continue
    wrong="allocation $at: status $status"
    break
  done 2>in/shell
  check "without memory: $1 $wrong" [ -z "$wrong" ]
  check "some of them are missed: $1" [ $failures -gt 0 ]
}
survives verify rows.txt rows.bin
survives convert rows.txt --format binary -o out
survives convert rows.bin --format text -o out
survives gen "${instruction[@]}" --rows 50 -o out
survives equal H100:f16 V100:f16
survives explain rows.txt --row 1
survives show HMMA.16816.F32 --on H100
survives campaign --unit 'pipe:yes 0' "${instruction[@]}" --rows 20

# Signals, before each call of a function that handles files; for the others than TERM before some.
for signal in INT TERM HUP QUIT; do
  every=9
  [ $signal != TERM ] || every=1
  for at in $(seq 4 $every 82); do
    LD_PRELOAD=$faults SIGNAL=$(kill -l $signal) AT=$at "$softmma" gemm --on H100 --in f16 "$data/digits.npy" \
      "$data/digits-axes.npy" -o D.npy >in/stdout 2>in/stderr </dev/null
  done 2>in/shell
  check "$signal leaves nothing" [ -z "$(find . -name '*.tmp')" ]
done
finish
