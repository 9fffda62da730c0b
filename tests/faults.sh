#!/usr/bin/env bash
# Tests allocations that fail, and signals that arrive while files are written. The command must give the right output,
# or status 2 and one line; it must never crash or leave a file behind.
# Usage: faults.sh SOFTMMA FAULTS.so
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
ends 0 vectors gen "${instruction[@]}" --rows 50 -o rows.txt
ends 0 vectors gen "${instruction[@]}" --rows 50 --format binary -o rows.bin
first=3 # the allocations before it are made by libraries before main

# timeless FILE: prints output without the date and the duration of a run
timeless() { sed -E 's/[0-9.e+-]+ (m?s|million|thousand)\b.*//; /"date":/d' "$1"; }

# Prints the numbers of the allocations that fail: all up to SOFTMMA_FAULTS, then fewer and fewer.
positions() {
  local at step=1
  for ((at = first; at < 20000; at += step)); do
    echo "$at"
    [ "$at" -lt "${SOFTMMA_FAULTS:-400}" ] || step=$((step * 2))
  done
}

# survives STATUS ARGUMENT...: runs the command repeatedly; in run n allocation n fails. The last run has no failure and
# must end with STATUS. It uses no process substitution, because bash confuses its status with that of a later command
# that has the same process number (29 times in 60,000 commands).
survives() {
  local whole=$1 status at wrong='' failures=0
  shift
  rm -rf out
  "$softmma" "$@" >whole 2>in/stderr </dev/null
  check "$1 ends with $whole" [ $? -eq "$whole" ]
  timeless whole >whole.timeless
  for at in $(positions); do
    rm -rf out
    LD_PRELOAD=$faults FAIL_AT=$at "$softmma" "$@" >in/stdout 2>in/stderr </dev/null
    status=$?
    [ $status -eq 2 ] && failures=$((failures + 1))
    [ $status -eq 2 ] && [ -s in/stderr ] && [ -z "$(find . -name '*.tmp')" ] && continue
    timeless in/stdout >in/timeless
    [ $status -eq "$whole" ] && cmp -s whole.timeless in/timeless && [ -z "$(find . -name '*.tmp')" ] && continue
    wrong="allocation $at: status $status"
    break
  done 2>in/shell
  check "without memory: $* $wrong" [ -z "$wrong" ]
  check "some of them are missed: $1" [ $failures -gt 0 ]
}
matrices=("$data/digits-axes.npy" "$data/digits-axes.npy")
ends 0 gemm --on H100 --in f16 "${matrices[@]}" -o D.npy
ends 0 custom --from H100 --instr HGMMA.64x8x16.F32
sed 's/"alignment_bits": 25/"alignment_bits": 24/' in/stdout >unit.json
for part in 1 2; do
  ends 0 test --unit model "${instruction[@]}" --rows 20 --shard $part/2 --json
  cp in/stdout part$part.json
done

# All commands except six: `units` and `version` report missing parts instead of failing; the output of `bench` is
# times; popt drops the argument of `experiment` if it has no memory; `infer` and `self-test` take long.
survives 0 list --on H100
survives 0 list --on H100 --json
survives 0 list mxfp4 -o out
survives 0 show fp8 --json
survives 0 show HMMA.16816.F32 --on H100
survives 0 show HMMA.16816.F32 --on H100 --json
survives 0 dot "${instruction[@]}" --a '1 2 3 4' --b '1 1 1 1' --c 1 --json
survives 0 explain rows.txt --row 1
survives 0 explain rows.txt --row 1 --json
survives 0 explain rows.txt --row 1 --svg out
survives 0 gemm --on H100 --in f16 "${matrices[@]}" -o out
survives 1 compare --on A100,H100 --in f16 "${matrices[@]}" --json
survives 1 trace --on A100,H100 --in f16 "${matrices[@]}" --json
survives 0 tolerance --on H100 --in f16 --shape 4x4x16 --json
survives 0 tolerance H100 --sweep F=12 --shape 4x4x16 --json
survives 0 verify rows.txt rows.bin
survives 0 verify rows.txt rows.bin --json
survives 0 vectors gen "${instruction[@]}" --rows 50 -o out
survives 0 vectors gen "${instruction[@]}" --cover -o out
survives 0 vectors record rows.txt --unit model -o out
survives 0 convert rows.txt --format binary -o out
survives 0 convert rows.bin --format text -o out
survives 0 coverage rows.txt --json
survives 0 probe "${instruction[@]}" --json
survives 1 diff --on A100,H100 --in f16 --json
survives 1 diff --prove H100:f16 V100:f16 --json
survives 0 match "${matrices[@]}" D.npy --in f16 --on H100
survives 0 custom unit.json --json
survives 0 custom --from H100 --instr HGMMA.64x8x16.F32
survives 0 plan --as cublaslt:13.1 --on H100 --in f16 -m 8 -n 64 -k 512 \
  --algo 66 --stages 35 --splitk 1
survives 0 vectors next --unit custom:unit.json --against model --on H100 --instr HGMMA.64x8x16.F32 -o out
survives 2 test --unit 'pipe:yes 0' "${instruction[@]}" --rows 20
survives 1 test --unit custom:unit.json --on H100 --instr HGMMA.64x8x16.F32 --rows 20 --json
survives 0 merge part1.json part2.json -o out
survives 0 tree "${instruction[@]}"
survives 0 tree "${instruction[@]}" --json
survives 0 tree "${instruction[@]}" --svg out
survives 0 vectors record --unit model "${instruction[@]}" -o out

# Signals before each call of a function that handles files; signals other than TERM only before some calls.
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
