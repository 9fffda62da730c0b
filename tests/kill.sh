#!/usr/bin/env bash
# A command that is killed leaves the old file or the new one, and goes on to the same bytes. 200 kills at random
# moments, or KILLS. Usage: kill.sh SOFTMMA
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: kill.sh SOFTMMA}")
source_directory=$(realpath "$(dirname "$0")/..")
data=$source_directory/examples/data
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"
kills=${KILLS:-200}
seed=${SEED:-$$}
RANDOM=$seed
echo "SEED=$seed KILLS=$kills"

# Microseconds.
now() { echo "${EPOCHREALTIME/./}"; }

# times ARGUMENT...: how long the command takes, in $duration.
times() {
  local start
  start=$(now)
  runs 0 "$@" || fail 'a whole run' "softmma $*: $(head -c 400 in/stderr)"
  duration=$(($(now) - start))
}

# killed ARGUMENT...: runs softmma and kills it between its start and a little behind its end; whether that was
# before its end.
killed() {
  local moment=$((RANDOM * duration * 11 / 10 / 32768)) process
  "$softmma" "$@" >in/stdout 2>in/stderr </dev/null &
  process=$!
  sleep $((moment / 1000000)).$(printf %06d $((moment % 1000000)))
  kill -KILL $process 2>in/kill
  { wait $process; } 2>in/wait
  [ $? -eq 137 ]
}

same() { cmp -s "$1" "$2"; }
# Reports and recordings say when they were made.
same_but_for_date() { cmp -s <(grep -v -e '"date":' -e '^# recorded on' "$1") <(grep -v -e '"date":' -e '^# recorded on' "$2"); }

# leaves_whole KILLS NAME COMPARISON FILE ARGUMENT...: the file is the old one or the new one.
leaves_whole() {
  local kills=$1 name=$2 comparison=$3 file=$4 early=0 old=0 new=0
  shift 4
  times "$@"
  mv "$file" new-file
  echo old >old-file
  for _ in $(seq "$kills"); do
    cp old-file "$file"
    killed "$@" && early=$((early + 1))
    if same "$file" old-file; then
      old=$((old + 1))
    elif $comparison new-file "$file"; then
      new=$((new + 1))
    else
      fail "$name" "neither the old file nor the new one"
      return
    fi
    rm -f ./*.tmp
  done
  check "$name: killed $early times, $old old files, $new new ones" [ $early -gt 0 ]
}

# goes_on KILLS NAME COMPARISON FILE ARGUMENT...: each run goes on from what the last one left,
# until one comes to its end; then from nothing.
goes_on() {
  local kills=$1 name=$2 comparison=$3 file=$4 early=0 ends=0
  shift 4
  times "$@"
  mv "$file" new-file
  for _ in $(seq "$kills"); do
    if killed "$@"; then
      early=$((early + 1))
    else
      ends=$((ends + 1))
      $comparison new-file "$file" || fail "$name" 'another file than that of a run that was not killed'
      rm -f "$file"
    fi
  done
  runs 0 "$@"
  check "$name: killed $early times, $((ends + 1)) ends" $comparison new-file "$file"
  check "$name: some were killed" [ $early -gt 0 ]
  rm -f ./*.tmp
}

instruction=(--on V100 --instr HMMA.884.F32.F32)
leaves_whole $((kills / 4)) gemm same D.npy gemm --on H100 --in f16 "$data/digits.npy" "$data/digits-axes.npy" -o D.npy
leaves_whole $((kills / 4)) record same_but_for_date rows.txt record --unit model "${instruction[@]}" --rows 4000 -o rows.txt
goes_on $((kills * 2 / 5)) experiment same accumulation.csv experiment accumulation --small --threads 1 --no-plot
goes_on $((kills / 10)) campaign same_but_for_date state.json \
  campaign --unit model "${instruction[@]}" --kind zeros --rows 140000 --resume state.json
finish
