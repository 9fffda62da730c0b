#!/usr/bin/env bash
# Tests plug-ins and programs that misbehave: whatever they do, the command only prints one line.
# Usage: hostile.sh SOFTMMA FOLDER
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: hostile.sh SOFTMMA MODULE-FOLDER}")
modules=$(realpath "${2:?usage: hostile.sh SOFTMMA MODULE-FOLDER}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"
hostile=plugin:$modules/hostile_unit.so
ampere=(--on A100 --instr mma.m16n8k16.f32.f16.f16.f32)
mark=c9800000

# Test vectors with the model's results; c of row 7 is the mark.
ends 0 vectors record --unit model "${ampere[@]}" --rows 300 -o rows.txt
awk -v mark=$mark 'NF > 32 && $1 !~ /^#/ && n++ == 7 { $33 = mark } { print }' rows.txt >marked.txt
check 'a row is marked' [ "$(grep -c " $mark " marked.txt)" -eq 1 ]

# ---- A plug-in's process ends ----

# meets NAME REGEX HOW: checks that a campaign with a plug-in that misbehaves in this way fails with this message
meets() { fails "$1" "^softmma: $hostile:$3: $2" test --unit "$hostile:$3" --against file:marked.txt "${ampere[@]}"; }
row='mma\.m16n8k16\.f32\.f16\.f16\.f32: it'
# A sanitizer would search for leaks when the child exits, and find those of the threads of the process that it was
# forked from.
ASAN_OPTIONS=detect_leaks=0 meets 'exit' "$row called exit\(0\) in row 7 of the batch \(from 0\); the batch is rows 0 to 299$" exit
meets 'abort' "$row was ended by signal 6 .* in row 7 of the batch" abort
meets 'a crash' "$row was ended by signal 11 .* in row 7 of the batch" crash
meets 'a crash of rows together' "$row was ended by signal 6 .* in rows 0 to 299 .*, but no row alone" together
meets 'results behind their end' "$row was ended by signal 11 .* in row 0 of the batch" behind
meets 'other operands' "$row was ended by signal 11 .* in row 0 of the batch" operands
fails 'an end while it opens' "^softmma: --unit: $hostile:open: it called exit\(0\) while it was opened$" \
  test --unit "$hostile:open"
fails 'an end when asked what it computes' 'it was ended by signal 11 .* before it answered whether it has the instruction$' \
  test --unit "$hostile:computes" "${ampere[@]}"
for command in 'vectors record' tree probe diff test; do
  read -ra words <<<"$command"
  case $command in
    *record) options=(-o new.txt "${ampere[@]}") ;;
    diff) options=(--on A100,A100 --against model) ;;
    test) options=(--open "${ampere[@]}") ;;
    *) options=("${ampere[@]}") ;;
  esac
  fails "$command" 'it was ended by signal 6' "${words[@]}" --unit "$hostile:together" "${options[@]}"
done
fails 'a function that is NULL' "null_unit\.so has NULL for the function 'computes'" \
  test --unit "plugin:$modules/null_unit.so"
fails 'structs of another size' 'structs_unit\.so was built with another softmma/softmma\.h, whose smma_instr' \
  test --unit "plugin:$modules/structs_unit.so"

# A plug-in's output does not mix with the command's output.
"$softmma" test --unit "$hostile:prints" "${ampere[@]}" 2>&1 >in/stdout | head -n 1 >in/stderr
check 'what a plug-in prints is on standard error' grep -q 'There is more to say' in/stderr
check 'and not among the results' [ ! -s in/stdout ]

# ---- Interruptions ----

# stops NAME SIGNAL STATUS ARGUMENT...: runs softmma until its unit writes "ready" on standard error, sends the signal,
# and expects the status. All processes that the command started hold standard error open, so end of file there proves
# that none is left. `env` restores the signals that the shell or nohup ignores.
mkfifo stderr
stops() {
  local name=$1 signal=$2 wanted=$3 line status ended pid
  shift 3
  env --default-signal=INT,HUP "$softmma" "$@" >in/stdout 2>stderr </dev/null &
  pid=$!
  exec 7<stderr
  while read -r -u 7 line; do
    echo "$line"
    [ "$line" = ready ] || [ "$line" = 'There is more to say.' ] && break
  done >in/stderr
  kill -s "$signal" "$pid" || fail "$name" 'it was no longer there'
  timeout "$patience" cat <&7 >>in/stderr
  ended=$?
  kill -s KILL "$pid" 2>in/kill
  wait "$pid"
  status=$?
  exec 7<&-
  if [ $status -ne "$wanted" ]; then
    fail "$name" "the status is $status, not $wanted: softmma $*; $(head -c 400 in/stderr)"
  elif [ $ended -ne 0 ]; then
    fail "$name" 'a process is left'
  else
    pass "$name"
  fi
}
patience=600 # seconds; a command that ignores the signal is a failure, instead of a test that hangs

for how in never children prints; do
  stops "campaign, $how" TERM 2 test --unit "$hostile:$how" "${ampere[@]}" --resume "$how.json"
  check 'says so' grep -q 'softmma: interrupted after 0 rows with 0 mismatches; the same command goes on from' in/stderr
done
for command in probe tree; do stops $command TERM 143 $command --unit "$hostile:never" "${ampere[@]}"; done
stops 'record' TERM 143 vectors record --unit "$hostile:children" "${ampere[@]}" -o new.txt
stops 'diff' TERM 143 diff --unit "$hostile:children" --on A100,A100
stops 'open questions' HUP 129 test --open --unit "$hostile:prints" "${ampere[@]}"
stops 'a plug-in that never closes' TERM 143 probe --unit "$hostile:close" "${ampere[@]}" --json
check 'no file is left' [ ! -e new.txt ]
slow='while sleep 0.2; do echo 0; done'
stops 'a program that writes now and then' TERM 2 test --unit "pipe:echo ready >&2; $slow" "${ampere[@]}"
stops 'record, a program that writes now and then' TERM 143 \
  vectors record --unit "pipe:echo ready >&2; $slow" "${ampere[@]}" -o new.txt
stops 'a program that never answers' TERM 2 test --unit 'pipe:echo ready >&2; sleep 10000' "${ampere[@]}"
stops 'Ctrl-C' INT 2 test --unit "$hostile:never" "${ampere[@]}"
check 'says so' grep -q '^softmma: interrupted after 0 rows with 0 mismatches; --resume FILE would have saved them$' in/stderr
stops 'SIGKILL' KILL 137 test --unit "$hostile:never" "${ampere[@]}"
cat >slow.sh <<'EOF'
if grep -qs '"complete": true' sorted.json; then
  echo ready >&2
  sleep 10000
fi
sed '/^#/d; s/.*/0/'
EOF
stops 'sorting mismatches' INT 2 test --unit 'pipe:sh ./slow.sh' "${ampere[@]}" --rows 2000 --resume sorted.json
check 'says so' grep -q '^softmma: interrupted after 2000 rows with [1-9][0-9]* mismatches; the same .* from sorted.json$' in/stderr
"$softmma" test --unit model --on B200 --rows 1000000000 --resume model.json >in/stdout 2>in/stderr </dev/null &
check 'the model, interrupted' ended_after '[ -s model.json ]' $! 2
check 'says so' grep -q '^softmma: interrupted after [1-9][0-9]* rows with [0-9]* mismatches;' in/stderr

# ---- Limits ----

export SOFTMMA_PIPE_SECONDS=1
fails 'a line now and then is not enough' 'took more than 1 s for a hundredth of a batch, after [0-9]+ of 2000 results' \
  test --unit "pipe:$slow" "${ampere[@]}" --rows 2000
# The whole batch takes longer than the time limit, but each test vector takes far less. This must not fail.
SOFTMMA_PIPE_SECONDS=5
# shellcheck disable=SC2016  # the program's
check 'unless a batch is small' runs 0 vectors record --unit 'pipe:for i in $(seq 18); do sleep 0.3; echo 0; done' \
  "${ampere[@]}" --rows 18 -o new.txt

finish
