#!/usr/bin/env bash
# Mutation test: the comparison of kernels with the core must detect every mutation of the table, in the family that the
# table names, and find no mismatch without a mutation. Mutations of files in device are tested with the tests' driver.
# Those in device/cuda are tested with PROGRAM_test, the test with the family's name. Mutations with a line "theme:
# aimed" are hardly ever detected by random products, but by aimed ones. With the files of digests and products,
# compares only as much as the tier `check` does (set SOFTMMA_CHAIN_EVERY and SOFTMMA_DIGESTS_EVERY as there), and
# prints the share of mutations that this detects.
# Usage: mutants.sh PROGRAM MUTATIONS [DIGESTS PRODUCTS]
set -uo pipefail
program=$1 table=$2 digests=${3-} products=${4-} failed=0 noticed=0

families=$(sed -n 's/^family: //p' "$table" | grep -vxE 'chain|fp4' | sort -u)
while IFS= read -r family; do
  for kernel in portable opencl; do
    "$program" check --kernel "$kernel" --family "$family" --outputs 1 >/dev/null && continue
    echo "$family differs without a mutation by $kernel" >&2
    failed=1
  done
done <<<"$families"

# The amounts for kernels and devices in tests/CMakeLists.txt.
declare -A amounts=([portable]='--outputs 70000 --aimed 7000' [opencl]='--outputs 40000')
number=0
while IFS= read -r line; do
  case $line in
    what:*) what=${line#what: } amount=(--outputs 12000000) ;;
    theme:*) amount=(--outputs 1 --aimed 3000000) ;;
    family:*) family=${line#family: } ;;
    'file: device/cuda/'*) kernel=cuda ;;
    'file: device/'*) kernel=opencl ;;
    file:*) kernel=portable ;;
    replacement:*)
      number=$((number + 1))
      if [ "$kernel" = cuda ]; then
        report=$(SMMA_MUTANT=$number "${program}_$family" 2>&1)
      else
        [ -z "$digests" ] || amount=("${amounts[$kernel]}")
        # shellcheck disable=SC2048,SC2086  # words
        report=$("$program" check --kernel "$kernel" --family "$family" ${amount[*]} --mutant $number 2>&1)
      fi
      status=$?
      if [ $status -eq 0 ] && [ -n "$digests" ] && [ "$kernel" != cuda ]; then
        report=$("$program" check --kernel "$kernel" --outputs 0 --digests "$digests" --products "$products" --mutant $number 2>&1)
        status=$?
      fi
      [ $status -ne 1 ] || noticed=$((noticed + 1))
      if [ $status -eq 1 ]; then
        echo "$number noticed: $family: $what ($(grep -o 'theme [a-z ]*' <<<"$report" | head -n 1))"
      else
        echo "$number NOT NOTICED (status $status), or not applied by mutate.sh: $family: $what" >&2
        [ -n "$digests" ] || failed=1
      fi ;;
  esac
done <"$table"
[ $number -gt 0 ] || failed=1
echo "$noticed of $number mutations are noticed, $((100 * noticed / number)) %"
exit $failed
