#!/usr/bin/env bash
# Campaigns that resume, recordings, and programs as units, end to end.
# Usage: recordings.sh SOFTMMA MODULE-FOLDER
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: recordings.sh SOFTMMA MODULE-FOLDER}")
modules=$(realpath "${2:?usage: recordings.sh SOFTMMA MODULE-FOLDER}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"
wrong=plugin:$modules/wrong_unit.so
ampere=(--on A100 --instr mma.m16n8k16.f32.f16.f16.f32)

# ---- Resuming ----

whole=$("$softmma" test --unit "$wrong:bit" "${ampere[@]}" --rows 300000 | tail -n 1)
# After the first batch, which is in the file soon afterwards.
"$softmma" test --unit "$wrong:bit" "${ampere[@]}" --rows 1000000000 --resume state.json >in/stdout 2>in/stderr &
check 'a campaign, interrupted' ended_after '[ -s state.json ]' $! 2
check 'an interruption' grep -qE '^softmma: interrupted after [1-9][0-9]* rows with [0-9]* mismatches; the same command goes on' in/stderr
check 'leaves a report' grep -q '"complete": false' state.json
ends 1 test --unit "$wrong:bit" "${ampere[@]}" --rows 131072 --resume short.json
ends 1 test --unit "$wrong:bit" "${ampere[@]}" --rows 300000 --resume short.json
check 'a resumed campaign finds what a whole one does' [ "$(tail -n 1 in/stdout)" = "$whole" ]

# One fault gives one class of mismatches. The class is the same for any number of threads and of shards.
classes() { sed -n '/"classes"/,$p' in/stdout; }
ends 1 test --unit "$wrong:flushed_b" "${ampere[@]}" --rows 70000 --json --resume part.json
ends 1 test --unit "$wrong:flushed_b" "${ampere[@]}" --rows 150000 --json --resume part.json
classes >part.txt
OMP_NUM_THREADS=1 ends 1 test --unit "$wrong:flushed_b" "${ampere[@]}" --rows 150000 --json
classes >whole.txt
check 'classes of a campaign in parts' cmp part.txt whole.txt
check 'one class of one fault' [ "$(grep -c '"simplest"' whole.txt)" = 1 ]
check 'which is described' grep -q '"change": "a subnormal b\[5\] counts as zero"' whole.txt
gives 'a class in words' 1 'candidate fault: a subnormal b\[5\] counts as zero; no matching test vector refutes it' \
  test --unit "$wrong:flushed_b" "${ampere[@]}" --rows 70000
gives 'a fault that no change has, at its place' 1 'only with a product at k = 13$' \
  test --unit "$wrong:lane_of_second_block" "${ampere[@]}" --rows 70000
gives 'no function, no classes' 1 'cannot be sorted into classes: the unit is not a function' \
  test --unit "$wrong:moody" "${ampere[@]}" --rows 100000
ends 0 vectors gen "${ampere[@]}" --rows 20000 -o classes.txt
gives 'classes of a file' 1 'candidate fault: a subnormal b\[5\] counts as zero' \
  verify --show 0 --unit "$wrong:flushed_b" classes.txt
check 'with the simplest recorded row' grep -qE '^    classes.txt:[0-9]+, the simplest of those examined:$' in/stdout
ends 0 verify classes.txt
check 'no mismatches, no classes' [ "$(wc -l <in/stdout)" = 1 ]
fails 'of another seed' 'of another seed than 5; name another file' \
  test --unit "$wrong:bit" "${ampere[@]}" --seed 5 --resume short.json
fails 'of another unit' 'of another unit than model' test --unit model "${ampere[@]}" --resume short.json
ends 0 test --unit model --on V100 --rows 100 --resume wide.json
cp wide.json kept.json
fails 'results that would be lost' 'wide.json has results of volta .* which this campaign does not run' \
  test --unit model --on V100 --instr mma.m8n8k4.f32.f16.f16.f32 --rows 200 --resume wide.json
check 'are kept' cmp -s wide.json kept.json
echo '{"unit": 3' >broken.json
fails 'no report' "broken\.json:2:1: .*it must be a campaign's report" \
  test --unit model "${ampere[@]}" --resume broken.json
sed 's/"mismatches": [0-9]*/"mismatches": -1/' short.json >odd.json
fails 'an odd report' "odd\.json: the entry of mma.* is not a campaign's" \
  test --unit "$wrong:bit" "${ampere[@]}" --resume odd.json

# ---- Recordings ----

ends 0 vectors record --unit model "${ampere[@]}" --rows 3000 -o rows.txt
check 'record says where rows come from' grep -qE "^# recorded on: SoftMMA's models; [0-9.]+; 20[0-9-]+$" rows.txt
gives 'verify replays a recording' 0 '^rows=3000 mismatches=0$' verify rows.txt
gives 'a recording as a unit' 0 'rows=3000 mismatches=0$' test --unit file:rows.txt
gives 'and on the other side' 0 'rows=3000 mismatches=0$' test --unit "$wrong" --against file:rows.txt "${ampere[@]}"
gives 'which tells units apart' 1 'mismatches=[1-9]' test --unit "$wrong:bit" --against file:rows.txt "${ampere[@]}"
ends 0 vectors record --unit model "${ampere[@]}" --rows 3000 --format binary -o rows.bin
check 'a binary recording has the same rows' cmp -s <("$softmma" vectors convert rows.bin --format text) rows.txt
gives 'and is a unit' 1 'mismatches=[1-9]' test --unit "$wrong:bit" --against file:rows.bin "${ampere[@]}"
last=$(tail -n 1 rows.txt)
{ cat rows.txt; echo "${last% *} 12345678"; } >torn.txt
fails 'a recording that contradicts itself' 'line 3010: an earlier line has another result' test --unit file:torn.txt
sed '/^[^#]/d' rows.txt | sed 's/^# instruction: .*/# instruction: mma.m8n8k4.f64.f64.f64.f64/; s/^# k: .*/# k: 4/
  s/^# \([abcd]\): .*/# \1: f64/' >powers.txt
awk 'BEGIN { for (i = 0; i < 30000; i++) {
  for (k = 0; k < 10; k++) printf "%03x0000000000000 ", (k > 2 ? 1023 : 900 + int(i / 32 ^ k) % 32)
  print "" } }' >>powers.txt
check 'a recording of powers of two does not take longer' eval \
  '(ulimit -t 5 && runs 0 verify powers.txt --unit file:powers.txt)'
fails 'open questions of a recording' 'knows only the rows that were recorded' test --open --unit file:rows.txt
ends 0 vectors record --unit model "${ampere[@]}" --rows 3 --json
check 'a recording as JSON' [ "$(jq -c '[.rows[].d[0]]' in/stdout)" = "$(grep -v '^#' rows.txt | head -n 3 |
  awk '{ print $NF }' | jq -Rc . | jq -sc .)" ]
fails 'JSON and a file' '--json prints the rows' vectors record --unit model "${ampere[@]}" --json -o again.txt
fails 'a recording of a recording' 'is a recording already' \
  vectors record --unit file:rows.txt "${ampere[@]}" -o again.txt
fails 'a recording that cannot be written' '--output: none/x: cannot write' \
  vectors record --unit model "${ampere[@]}" -o none/x
fails 'a recording of a failing unit' 'fell off the bus' vectors record --unit "$wrong:failing" "${ampere[@]}" -o x.txt

# ---- Programs ----

# A correct unit: it calls the command itself.
cat >child.sh <<'EOT'
#!/usr/bin/env bash
while read -r line; do
  case $line in
    '# k: '*) k=${line#\# k: } ;;
    '#'*) ;;
    *)
      read -ra x <<<"$line"
      d=$("$SOFTMMA" dot --on V100 --instr mma.m8n8k4.f32.f16.f16.f32 --hex \
        --a "${x[*]:0:k}" --b "${x[*]:k:k}" --c "${x[2 * k]}")
      d=${d%% *}
      echo "${d#0x}" ;;
  esac
done
EOT
chmod +x child.sh
export SOFTMMA=$softmma
volta=(--on V100 --instr mma.m8n8k4.f32.f16.f16.f32)
gives 'a program' 0 'rows=24 mismatches=0$' test --unit pipe:./child.sh "${volta[@]}" --rows 24
check 'a program, recorded' runs 0 vectors record --unit pipe:./child.sh "${volta[@]}" --rows 8 -o piped.txt
gives 'and verified' 0 '^rows=8 mismatches=0$' verify piped.txt
zeros='echo x >>starts; exec sed "/^#/d; s/.*/0/"'
gives 'a program that answers zeros' 1 'rows=60 mismatches=58$' test --unit "pipe:$zeros" "${volta[@]}" --rows 60
check 'is started for many vectors at once' [ "$(wc -l <starts)" -le 150 ]

# A line end in the name of a unit begins no line of a vector file.
lines="pipe:sed '/^#/d; s/.*/0/' |
cat"
check 'a unit of two lines' runs 0 vectors record --unit "$lines" "${volta[@]}" --rows 3 -o lines.txt
check 'a recording of it is read' runs 1 verify lines.txt
check 'rows that separate it' runs 0 vectors next --unit model --against "$lines" "${volta[@]}" --rows 3 -o lines.txt
gives 'are read' 0 '^rows=3 mismatches=0$' verify lines.txt

# bad NAME REGEX COMMAND: a campaign against this program must fail with this message
bad() { fails "$1" "pipe:.*: .*$2" test --unit "pipe:$3" "${volta[@]}" --rows 10; }
bad 'a program that is not there' 'the shell cannot run it' 'exec ./none 2>/dev/null'
bad 'a program that says nothing' 'ended after 0 of 10 results' 'cat >/dev/null'
bad 'a program that fails' 'ended with status 3 after 0 of 10 results' 'exit 3'
bad 'a program that dies' 'ended by signal 9 \(Killed\) after 1 of 10 results' 'echo 0; kill -9 $$'
bad 'a program that answers no numbers' "line 1 of the program's output is '# arch: volta'" cat
bad 'a program that answers words' "line 2 of the program's output is 'nan'" 'echo 0; echo nan'
bad 'a program that answers a NUL' "line 1 of the program's output is '0' and a NUL byte; it must be one result" 'printf "0\0zz\n"'
bad 'a program that answers too much' 'answered more than 10 rows' 'yes 0'
bad 'a program that answers too little' 'ended after 9 of 10 results' 'yes 0 | head -n 9'
bad 'a program whose results are wide' "123456789, is wider than the result's 32 bits" 'echo 123456789'
bad 'a program whose lines are long' 'longer than any result' 'head -c 1000 /dev/zero | tr "\0" 0'
export SOFTMMA_PIPE_SECONDS=1
bad 'a program that is stuck' 'took more than 1 s for a hundredth of a batch, after 0 of 10 results' 'sleep 100'
SOFTMMA_PIPE_SECONDS=5 # the shell needs some of them to start
bad 'a program that does not end' 'closed its output after 0 of 10 results, but does not end' 'exec >&-; sleep 100'
SOFTMMA_PIPE_SECONDS=soon
bad 'an odd limit' "SOFTMMA_PIPE_SECONDS is 'soon'" cat

finish
