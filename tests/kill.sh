#!/usr/bin/env bash
# A killed command leaves the old file or the new one, and the next run resumes and gives the same bytes. Each test
# kills the command before each call of a function that handles files, one after another.
# Usage: kill.sh SOFTMMA FAULTS.so
set -u
export LC_ALL=C OMP_NUM_THREADS=1
softmma=$(realpath "${1:?usage: kill.sh SOFTMMA FAULTS.so}") faults=$(realpath "${2:?usage: kill.sh SOFTMMA FAULTS.so}")
source_directory=$(realpath "$(dirname "$0")/..")
data=$source_directory/examples/data
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"

# killed AT ARGUMENT...: runs softmma and kills it in its system call number AT. Succeeds if there was such a call.
killed() {
  local at=$1 status
  shift
  LD_PRELOAD=$faults SIGNAL=9 AT=$at "$softmma" "$@" >in/stdout 2>in/stderr </dev/null
  status=$?
  [ $status -eq 0 ] || [ $status -eq 137 ] || fail "$1, killed in call $at" "status $status: $(head -c 400 in/stderr)"
  [ $status -eq 137 ]
}

same() { cmp -s "$1" "$2"; }
# Compares two files except for the date, which reports and recordings contain.
# Without process substitution, see survives in faults.sh.
same_but_for_date() {
  grep -v -e '"date":' -e '^# recorded on' "$1" >in/one
  grep -v -e '"date":' -e '^# recorded on' "$2" >in/other
  cmp -s in/one in/other
}

# leaves_whole NAME COMPARISON FILE ARGUMENT...: the file must be the old one or the new one
leaves_whole() {
  local name=$1 comparison=$2 file=$3 old=0 new=0 at
  shift 3
  check "$name: a whole run" runs 0 "$@"
  mv "$file" new-file
  echo old >old-file
  for ((at = 1; ; at++)); do
    cp old-file "$file"
    killed $at "$@" || break
    if same "$file" old-file; then
      old=$((old + 1))
    elif $comparison new-file "$file"; then
      new=$((new + 1))
    else
      fail "$name, killed in call $at" "neither the old file nor the new one"
      return
    fi
    rm -f ./*.tmp
  done 2>in/shell
  check "$name: $old old files, $new new ones" [ $((old * new)) -gt 0 ]
}

# goes_on NAME EVERY COMPARISON FILE ARGUMENT...: kills runs in call 1, 1 + EVERY and so on. After each, the next run
# must resume it and write the same file.
goes_on() {
  local name=$1 every=$2 comparison=$3 file=$4 at kills=0
  shift 4
  check "$name: a whole run" runs 0 "$@"
  mv "$file" new-file
  for ((at = 1; ; at += every)); do
    killed $at "$@" || break
    kills=$((kills + 1))
    if ! runs 0 "$@" || ! $comparison new-file "$file"; then
      fail "$name, killed in call $at" "another file than that of a whole run: $(head -c 400 in/stderr)"
      return
    fi
    rm -f ./*.tmp "$file"
  done 2>in/shell
  check "$name: went on $kills times" [ $kills -gt 0 ]
  rm -f "$file"
}

instruction=(--on V100 --instr HMMA.884.F32.F32)
leaves_whole gemm same D.npy gemm --on H100 --in f16 "$data/digits.npy" "$data/digits-axes.npy" -o D.npy
leaves_whole list same list.txt list V100 -o list.txt
leaves_whole record same_but_for_date rows.txt vectors record --unit model "${instruction[@]}" --rows 4000 -o rows.txt
goes_on experiment 1 same accumulation.csv experiment accumulation --small --no-plot
goes_on campaign 7 same_but_for_date state.json \
  test --unit model "${instruction[@]}" --kind zeros --rows 140000 --resume state.json
finish
