#!/usr/bin/env bash
# Units, campaigns and recordings, end to end.
# Usage: units.sh SOFTMMA MODULE-FOLDER
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: units.sh SOFTMMA MODULE-FOLDER}")
modules=$(realpath "${2:?usage: units.sh SOFTMMA MODULE-FOLDER}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"
wrong=plugin:$modules/wrong_unit.so
ampere=(--on A100 --instr mma.m16n8k16.f32.f16.f16.f32)

# ---- The list of units ----

gives 'units' 0 '^model\[:DEVICE\] +the model of each instruction, on this CPU or on a device' units
gives 'units: what can be used' 0 '^ +usable: SoftMMA' units
gives 'units --json' 0 '"unit": "plugin"' units --json
fails 'no unit' '--unit is missing' test
fails 'unknown unit' "--unit: unknown unit 'modle'; nearest: model" test --unit modle
fails 'a unit without its argument' '--unit: pipe: COMMAND is missing; write pipe:COMMAND' test --unit pipe
fails 'a unit with an argument too many' '--unit: x86 takes no arguments' test --unit x86:H100
fails 'a model on no device' "--unit: model:H100: 'H100' is no device: cuda, opencl" test --unit model:H100
fails 'no such file' '--unit: file:none\.txt: none\.txt: No such file' test --unit file:none.txt
fails 'no such plug-in' '--unit: plugin:none\.so: ./none\.so: cannot open shared object' test --unit plugin:none.so
fails 'a plug-in of another version' 'built for version 1 of softmma/unit\.h, this is version 2; build it again' \
  test --unit "plugin:$modules/old_unit.so"
printf 'int x;\n' | ${CC:-cc} -shared -x c -o no_unit.so - 2>/dev/null
fails 'a library that is no plug-in' 'exports no function softmma_unit' test --unit plugin:no_unit.so
fails 'a plug-in that does not open' "$wrong:closed: it is closed today" test --unit "$wrong:closed"
fails 'what a unit does not compute' 'it only has mma\.m16n8k16' test --unit "$wrong" --on V100
fails 'no rows' '--rows: 0; it takes at least 1' test --unit model --rows 0
fails '--all and --instr' '--all and --instr' test --unit model --all "${ampere[@]}"

# ---- Campaigns ----

gives 'model against itself' 0 '^instructions=1 rows=70000 mismatches=0$' \
  test --unit model "${ampere[@]}" --rows 70000
gives 'every instruction of a GPU' 0 '^instructions=[0-9]+ rows=[0-9]+ mismatches=0$' \
  test --unit model --on V100 --rows 500
gives 'a right plug-in' 0 'rows=100000 mismatches=0$' test --unit "$wrong" "${ampere[@]}" --rows 100000
gives 'an alignment bit too few' 1 '^instructions=1 rows=100000 mismatches=[1-9]' \
  test --unit "$wrong:bit" "${ampere[@]}" --rows 100000
check 'is explained' grep -q 'RZ-FP32' in/stdout
check 'with the bits that differ' grep -qE '^ +\^[ ^]*$' in/stdout
check 'with the command that computes it' grep -q '^  softmma dot --on ampere --instr' in/stdout
runs 1 test --unit "$wrong:bit" "${ampere[@]}" --rows 100000 --json
sed '/"classes"/,$d' in/stdout >report.json # the example alone
# The minimised vector needs only two terms: one with which the sum is aligned, and one of which a bit is truncated.
terms=$(sed -n '/"a": \[/,/\]/p' report.json | grep -cE '^ *"0*[1-9a-f][0-9a-f]*",?$')
c=$(sed -n '/"c": \[/,/\]/p' report.json | grep -cE '^ *"0*[1-9a-f][0-9a-f]*",?$')
check 'and made small' [ $((terms + c)) -le 2 ]
gives 'its report says what was compared' 1 '"device": "a wrong unit"' \
  test --unit "$wrong:bit" "${ampere[@]}" --rows 100 --json --kind cancellation
gives 'a right plug-in of its own arithmetic' 0 'rows=100000 mismatches=0$' \
  test --unit "$wrong:hand" "${ampere[@]}" --rows 100000
for way in place every17 last single late previous same; do
  gives "another result elsewhere: $way" 1 'times the result of a test vector depended on its place in the batch' \
    test --unit "$wrong:$way" --against "$wrong:$way" "${ampere[@]}" --rows 20000
done
for way in moody seldom; do
  gives "another result when asked again: $way" 1 'changed when computed again' \
    test --unit "$wrong:$way" "${ampere[@]}" --rows 20000
done
fails 'a failing unit' 'the device fell off the bus' test --unit "$wrong:failing" "${ampere[@]}"
fails 'a unit that fails silently' 'the unit failed and does not say why' test --unit "$wrong:silent" "${ampere[@]}"
if cpu_computes vdpbf16ps || cpu_computes vpdpbusd; then
  gives 'the CPU' 0 '^instructions=[0-9]+ rows=[0-9]+ mismatches=0$' test --unit x86 --rows 400000
  cp in/stdout of-cpu
  fails 'the CPU has no tensor cores' 'a CPU has only instructions of x86' test --unit x86 "${ampere[@]}"
  for instruction in $("$softmma" list --on x86 --json | jq -r '.[].name'); do
    grep -q "^x86 $instruction " of-cpu && continue
    fails "what the CPU has not: $instruction" 'this CPU has no [A-Z]' \
      test --unit x86 --on x86 --instr "$instruction" --rows 1
  done
fi
SOFTMMA_CPU=avx2 fails 'a hidden CPU' 'SOFTMMA_CPU hides' test --unit x86
SOFTMMA_CPU=avx3 fails 'an unknown CPU' "SOFTMMA_CPU: 'avx3' is not portable, avx2 or avx512" units

SOFTMMA_UNITS=$work fails 'a module that is not there' 'softmma-unit-cuda\.so is not there; build it with' test --unit cuda
SOFTMMA_UNITS=$work fails 'nor is another' 'softmma-unit-hip\.so is not there; build it with -DSOFTMMA_HIP=ON' \
  test --unit hip

# ---- Open questions ----

experiments=$("$softmma" list --experiments | grep '^[a-z]' | grep -vc '^cdna4-sums:') # not about the MI300X
gives 'the model answers open questions as the model' 0 "^experiments=$experiments answers=[0-9]{3} others=0\$" \
  test --open --unit model
check 'each of them' [ "$(grep -v '^ ' in/stdout | grep -cv ': as the model$')" -eq 1 ] # the last line
gives 'one architecture' 0 '^experiments=6 answers=[0-9]+ others=0$' test --open --unit model --on V100
check 'and no other' [ "$(grep -v '^ ' in/stdout | grep -c ' volta ')" -eq "$(grep -cv '^ \|=' in/stdout)" ]
gives 'every instruction' 0 '^experiments=1 answers=68 others=0$' \
  test --open --unit model --all --on H100 --only f16-exponent-of-zero
gives 'another sign of zero' 1 '^zero-sign ampere mma\.m16n8k16\.f32\.f16\.f16\.f32: the sign of c$' \
  test --open --unit "$wrong:zero" "${ampere[@]}"
check 'with the signs' grep -q '^  0x80000000  -0 * -0 + (+1)(+0) + \.\.\. (the model: 0x00000000)$' in/stdout
check 'and the command' grep -q "^  softmma dot --on ampere --instr mma.m16n8k16.f32.* --a 'bc00 " in/stdout
check 'and no others' grep -q '^experiments=3 answers=3 others=1$' in/stdout
gives 'an answer that is no candidate' 1 ': none of the candidates$' \
  test --open --unit "$wrong:odd" "${ampere[@]}" --only zero-sign
gives 'open questions --json' 1 '^ +"answer": "the sign of c",$' \
  test --open --unit "$wrong:zero" "${ampere[@]}" --only zero-sign --json
gives 'FTTN with an odd unit' 1 '^fttn-from-c ampere .*: none of the candidates$' \
  test --open --unit "$wrong:odd" "${ampere[@]}" --only fttn-from-c
"$softmma" custom --from MI300X --instr v_mfma_f32_16x16x16_f16 >cdna3.json
sed 's/"block": 8/"block": 16/' cdna3.json >one_sum.json
sed 's/"block": 8/"block": 4/' cdna3.json >sums_of_four.json
gives 'CDNA 4 as CDNA 3' 0 '^cdna4-sums cdna3 v_mfma_f32_16x16x16_f16: as the model$' \
  test --open --unit model --on MI350X
gives 'CDNA 4 with one sum' 1 ': one sum of all K products, else as CDNA 3$' \
  test --open --unit custom:one_sum.json --on gfx950
gives 'CDNA 4 otherwise' 1 ': none of the candidates$' test --open --unit custom:sums_of_four.json --on 'CDNA 4'
fails 'another experiment on CDNA 4' 'MI355X has no model; this experiment finds out how it computes: cdna4-sums' \
  test --open --unit model --on MI355X --only zero-sign
fails 'a campaign on CDNA 4' '--on: no model of MI350X: no published results' test --unit model --on MI350X
fails 'no such experiment' "--only: unknown experiment 'zero'; experiments are f16-exponent-of-zero, " \
  test --open --unit model --only zero
fails '--only without --open' '--only needs --open' test --unit model --only zero-sign
fails '--open with --rows' '--open has rows and candidates of its own' test --open --unit model --rows 5
fails 'nothing to ask' 'the experiment cdna1-pairs covers no selected instruction that model computes' \
  test --open --unit model --only cdna1-pairs --on H100
fails 'open questions of a failing unit' 'zero-sign: .*fell off the bus' \
  test --open --unit "$wrong:failing" "${ampere[@]}"

# ---- Resuming ----

whole=$("$softmma" test --unit "$wrong:bit" "${ampere[@]}" --rows 300000 | tail -n 1)
# After the first batch, which is in the file soon afterwards.
"$softmma" test --unit "$wrong:bit" "${ampere[@]}" --rows 1000000000 --resume state.json >in/stdout 2>in/stderr &
check 'a campaign, interrupted' ended_after '[ -s state.json ]' $! 2
check 'an interruption' grep -qE '^softmma: interrupted after [1-9][0-9]* rows with [0-9]* mismatches; the same command goes on' in/stderr
check 'leaves a report' grep -q '"complete": false' state.json
runs 1 test --unit "$wrong:bit" "${ampere[@]}" --rows 131072 --resume short.json
runs 1 test --unit "$wrong:bit" "${ampere[@]}" --rows 300000 --resume short.json
check 'a resumed campaign finds what a whole one does' [ "$(tail -n 1 in/stdout)" = "$whole" ]

# One fault gives one class of mismatches. The class is the same for any number of threads and of shards.
classes() { sed -n '/"classes"/,$p' in/stdout; }
runs 1 test --unit "$wrong:flushed_b" "${ampere[@]}" --rows 70000 --json --resume part.json
runs 1 test --unit "$wrong:flushed_b" "${ampere[@]}" --rows 150000 --json --resume part.json
classes >part.txt
OMP_NUM_THREADS=1 runs 1 test --unit "$wrong:flushed_b" "${ampere[@]}" --rows 150000 --json
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
runs 0 vectors gen "${ampere[@]}" --rows 20000 -o classes.txt
gives 'classes of a file' 1 'candidate fault: a subnormal b\[5\] counts as zero' \
  verify --show 0 --unit "$wrong:flushed_b" classes.txt
check 'with the simplest recorded row' grep -qE '^    classes.txt:[0-9]+, the simplest of those examined:$' in/stdout
runs 0 verify classes.txt
check 'no mismatches, no classes' [ "$(wc -l <in/stdout)" = 1 ]
fails 'of another seed' 'of another seed than 5; name another file' \
  test --unit "$wrong:bit" "${ampere[@]}" --seed 5 --resume short.json
fails 'of another unit' 'of another unit than model' test --unit model "${ampere[@]}" --resume short.json
runs 0 test --unit model --on V100 --rows 100 --resume wide.json
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

runs 0 vectors record --unit model "${ampere[@]}" --rows 3000 -o rows.txt
check 'record says where rows come from' grep -qE "^# recorded on: SoftMMA's models; [0-9.]+; 20[0-9-]+$" rows.txt
gives 'verify replays a recording' 0 '^rows=3000 mismatches=0$' verify rows.txt
gives 'a recording as a unit' 0 'rows=3000 mismatches=0$' test --unit file:rows.txt
gives 'and on the other side' 0 'rows=3000 mismatches=0$' test --unit "$wrong" --against file:rows.txt "${ampere[@]}"
gives 'which tells units apart' 1 'mismatches=[1-9]' test --unit "$wrong:bit" --against file:rows.txt "${ampere[@]}"
runs 0 vectors record --unit model "${ampere[@]}" --rows 3000 --format binary -o rows.bin
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
  '(ulimit -t 5; runs 0 verify powers.txt --unit file:powers.txt)'
fails 'open questions of a recording' 'knows only the rows that were recorded' test --open --unit file:rows.txt
runs 0 vectors record --unit model "${ampere[@]}" --rows 3 --json
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
