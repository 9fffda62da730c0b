#!/usr/bin/env bash
# Vector files: the commands `vectors` and `verify` write, read and convert them. Usage: vector_files.sh SOFTMMA
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: vector_files.sh SOFTMMA}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"

# ---- gen and verify ----

nvfp4=mma.m16n8k64.block16.f32.e2m1.e2m1.f32.ue4m3
volta=(--on V100 --instr HMMA.884.F32.F32)
gives 'gen' 0 '^# instruction: mma\.m8n8k4\.f32\.f16\.f16\.f32$' vectors gen "${volta[@]}" --rows 100 --seed 7
check 'gen: as many rows as asked' [ "$(grep -cv '^#' in/stdout)" -eq 100 ]
cp in/stdout hundred.txt
ends 0 vectors gen "${volta[@]}" --rows 100 --seed 7 -o again.txt
check 'gen: the same seed, the same bytes' cmp -s hundred.txt again.txt
ends 0 vectors gen "${volta[@]}" --rows 100 --seed 7 -o -
check 'gen: - is standard output' cmp -s hundred.txt in/stdout
ends 0 vectors gen "${volta[@]}" --rows 10 --seed 7 -o ten.txt
check 'gen: the first rows are the same' [ "$(head -n "$(wc -l <ten.txt)" hundred.txt)" = "$(cat ten.txt)" ]
ends 0 vectors gen "${volta[@]}" --rows 100 --seed 8 -o other.txt
check 'gen: another seed, other rows' differs hundred.txt other.txt
gives 'gen: no rows' 0 '^# arch: volta$' vectors gen "${volta[@]}" --rows 0
kinds='random normal edge zeros tiny cancellation ill network schryer aimed'
for kind in $kinds; do
  ends 0 vectors gen "${volta[@]}" --rows 50 --kind "$kind" -o kind.txt
  gives "gen --kind $kind, verified" 0 '^rows=50 mismatches=0$' verify kind.txt
done
fails 'gen: unknown GPU' "--on: unknown GPU or architecture 'V1'; nearest: V100" vectors gen --on V1 --instr HMMA.884.F32.F32
fails 'gen: unknown instruction' '--instr: V100 has no instruction' vectors gen --on V100 --instr HMMA.885
fails 'gen: no instruction' '--instr NAME or --in FORMAT is missing' vectors gen --on V100
fails 'gen: no GPU' '--on is missing' vectors gen --instr HMMA.884.F32.F32
fails 'gen: unknown kind' "--kind: unknown kind 'odd'; kinds are random, normal, edge" vectors gen "${volta[@]}" --kind odd
fails 'gen: negative number of rows' '--rows: -5 is negative' vectors gen "${volta[@]}" --rows=-5
fails 'gen: seed beyond 64 bits' "--seed: '99999999999999999999' is no whole number, .* not below 2.63" \
  vectors gen "${volta[@]}" --seed 99999999999999999999
fails 'gen: output in no directory' '--output: none/v\.txt: cannot write: No such file' vectors gen "${volta[@]}" -o none/v.txt
has_begun='compgen -G "interrupted*" >in/files'
"$softmma" vectors gen "${volta[@]}" --rows 1000000000 -o interrupted.txt 2>in/stderr &
check 'gen, ended' ended_after "$has_begun" $! 143
check 'gen writes under another name first' grep -q '^interrupted.txt.' in/files
check 'gen, ended, leaves no file' [ -z "$(compgen -G 'interrupted*')" ]

gives 'verify of a file' 0 '^rows=100 mismatches=0$' verify hundred.txt
mkdir -p tree/below
cp ten.txt tree/below/ten.txt
cp hundred.txt tree/hundred.txt
cp hundred.txt tree/not-this.log
echo 'no vector file' >tree/readme.txt
gives 'verify of a directory' 0 '^rows=110 mismatches=0$' verify tree
gives 'verify of several' 0 '^rows=120 mismatches=0$' verify tree ten.txt
gives 'verify --json' 0 '^  "rows": 110,$' verify tree --json
"$softmma" verify - <hundred.txt >in/stdout 2>in/stderr
check 'verify of standard input' [ "$(tail -n 1 in/stdout)" = 'rows=100 mismatches=0' ]
"$softmma" vectors gen --on sm_120 --instr $nvfp4 --rows 60 | "$softmma" verify - >in/stdout 2>in/stderr
check 'verify of rows with scales' [ "$(tail -n 1 in/stdout)" = 'rows=60 mismatches=0' ]

# ---- Vector files in other formats ----

ends 0 vectors gen "${volta[@]}" --rows 100 --seed 7 --format binary -o hundred.bin
gives 'verify of a binary file' 0 '^rows=100 mismatches=0$' verify hundred.bin
gives 'verify of both' 0 '^rows=200 mismatches=0$' verify hundred.bin hundred.txt
cp hundred.bin tree/below/of-any-name
gives 'verify of a directory with a binary file' 0 '^rows=210 mismatches=0$' verify tree
rm tree/below/of-any-name
ends 0 vectors convert hundred.bin --format text
check 'convert to text' cmp -s in/stdout hundred.txt
ends 0 vectors convert hundred.txt --format binary -o again.bin
check 'convert to binary' cmp -s again.bin hundred.bin
ends 0 vectors convert hundred.txt --format text
check 'convert to the same' cmp -s in/stdout hundred.txt
"$softmma" vectors gen "${volta[@]}" --rows 100 --seed 7 --format binary | "$softmma" vectors convert - --format text >in/stdout
check 'both through pipes' cmp -s in/stdout hundred.txt
gives 'a binary file as a unit' 0 'rows=100 mismatches=0$' test --unit file:hundred.bin --against model
ends 0 explain hundred.bin --row 7
cp in/stdout seventh
ends 0 explain hundred.txt --row 7
check 'explain of a binary row' cmp -s in/stdout seventh
fails 'convert: no format' '--format is missing' vectors convert hundred.txt
fails 'convert: unknown format' "--format: 'octal' is not text, binary, readmemh, csv, json or jsonl" vectors convert hundred.txt --format octal
fails 'convert: no such file' 'none.txt: No such file' vectors convert none.txt --format text
sed 's/^# instruction: .*/&x/' ten.txt >ten-x.txt
fails 'convert: no such instruction' 'ten-x.txt: line 2: volta has no instruction' \
  vectors convert ten-x.txt --format binary -o x.bin
"$softmma" vectors convert hundred.txt --format binary 2>in/stderr | cat >in/stdout
check 'convert of a text to binary through a pipe' grep -q 'write it to a file of its own$' in/stderr
"$softmma" vectors convert hundred.txt --format binary >redirected.bin
check 'but into a file' cmp -s redirected.bin hundred.bin
head -c 500 hundred.bin >cut.bin
fails 'verify of a file that was cut' '^softmma: cut.bin: 500 bytes, but 100 rows are [0-9]*: it is truncated$' verify cut.bin
fails 'convert of it' 'it is truncated$' vectors convert cut.bin --format text -o cut.txt
fails 'a recording that was cut' '--unit: file:cut.bin: cut.bin: .* it is truncated$' test --unit file:cut.bin
cp hundred.bin damaged.bin
printf '\xff' | dd of=damaged.bin bs=1 seek=600 conv=notrunc 2>in/dd
fails 'verify of a damaged file' 'damaged.bin: the checksum of rows 1 to 100 is wrong: they are damaged' verify damaged.bin
fails 'convert of it' 'they are damaged$' vectors convert damaged.bin --format text -o cut.txt
cp hundred.bin later.bin
printf '\x02' | dd of=later.bin bs=1 seek=12 conv=notrunc 2>in/dd
fails 'verify of another version' 'later.bin: version 2 of binary vector files; this program reads version 1' verify later.bin
"$softmma" vectors gen "${volta[@]}" --rows 1000000000 --format binary -o interrupted.bin 2>in/stderr &
check 'gen --format binary, ended' ended_after "$has_begun" $! 143
check 'gen --format binary, ended, leaves no file' [ -z "$(compgen -G 'interrupted*')" ]
# Two commands write the same file at the same time. Afterwards the file is the complete output of one of them.
for seed in 1 2; do "$softmma" vectors gen "${volta[@]}" --rows 50000 --seed $seed --format binary -o both.bin & done
wait
gives 'a file that two have written' 0 '^rows=50000 mismatches=0$' verify both.bin

# Input for simulators: the struct in the comments, with a[k] from bit 16 k on.
ends 0 vectors gen "${volta[@]}" --rows 100 --seed 7 --format readmemh -o hundred.mem
fails 'readmemh: not read back' 'line 1, column 1: this is a file for .readmemh, which cannot be read back; .* text or' \
  verify hundred.mem
check 'readmemh: a row a line' [ "$(grep -cv '^//' hundred.mem)" -eq 100 ]
if command -v iverilog >/dev/null; then
  cat >read.sv <<'END'
module read;
  logic [191:0] row[100];
  initial begin
    $readmemh("hundred.mem", row);
    for (int i = 0; i < 100; i++)
      $display("%h %h %h %h %h %h %h %h %h %h", row[i][0 +: 16], row[i][16 +: 16], row[i][32 +: 16], row[i][48 +: 16],
               row[i][64 +: 16], row[i][80 +: 16], row[i][96 +: 16], row[i][112 +: 16], row[i][128 +: 32],
               row[i][160 +: 32]);
    $finish;
  end
endmodule
END
  iverilog -g2012 -o read.vvp read.sv 2>in/stderr && vvp -n read.vvp 2>in/stderr | grep -v WARNING >in/stdout
  check 'readmemh: a simulator reads the rows' cmp -s in/stdout <(grep -v '^#' hundred.txt)
fi

# Forms that other programs read, too: rows with scale factors, with flags, of four-bit numbers, with one product, and
# none. Python's readers find the same numbers, and converted back, the file has the same bytes.
cat >forms.py <<'END'
import csv, json

lines = open("forms.txt").read().splitlines()
header = dict(line[2:].split(": ", 1) for line in lines if line.startswith("#"))
rows = [line.split() for line in lines if not line.startswith("#")]

comments = [line for line in open("forms.csv") if line.startswith("#")]
names, *table = csv.reader(line for line in open("forms.csv") if not line.startswith("#"))
assert comments == [line + "\n" for line in lines if line.startswith("#") and not line.startswith("# columns")]
assert [[x.removeprefix("0x") for x in row] for row in table] == rows
assert all(x.startswith("0x") for row in table for x in row)

record = json.load(open("forms.json"))
parts = record.pop("rows")
assert [json.loads(line) for line in open("forms.jsonl")] == [record, *parts]
assert record.pop("file") == "softmma vectors"
del header["columns"]
assert {key: str(value) for key, value in record.items()} == header and isinstance(record["k"], int)
flat = [(f"{key}[{i}]" if len(x) > 1 else key, y) for part in parts for key, value in part.items()
        for x in [value if isinstance(value, list) else [value]] for i, y in enumerate(x)]
assert [y for _, y in flat] == [x for row in rows for x in row]
assert [name for name, _ in flat] == names * len(rows)
END
for rows in 'arm:fmmla.s --flags' 'V100:f16' 'B200:nvfp4' 'H100:f16 --rows 0' 'A100:s8 --rows 5000' 'MI300X:f64'; do
  # shellcheck disable=SC2086
  for form in txt csv json jsonl; do "$softmma" vectors gen --rows 9 $rows -o forms.$form; done
  check "csv, json and jsonl, $rows" python3 forms.py
  for form in csv json jsonl; do
    ends 0 vectors convert forms.$form -o forms-back.txt
    check "$form read back, $rows" cmp -s forms.txt forms-back.txt
    check "$form is verified, $rows" runs 0 verify forms.$form
  done
done
"$softmma" vectors gen V100:f16 --rows 3 -o forms.json
"$softmma" vectors gen V100:f16 --rows 3 -o forms.jsonl
"$softmma" vectors gen V100:f16 --rows 3 -o forms.csv
mkdir forms
cp forms.json forms.jsonl forms.csv forms
gives 'verify of a folder takes all forms' 0 'rows=9 mismatches=0' verify forms
python3 -c 'import json; json.dump(json.load(open("forms.json")), open("forms/forms.json", "w"), indent=1)'
fails 'JSON in other lines' 'line 1, column 1: not a whole record; JSON is read a row a line' verify forms/forms.json
ends 2 verify forms
check 'which a folder does not hide' says '^softmma: forms/forms.json: line 1, column 1: not a whole record'
sed 's/": /":/g' forms.jsonl >forms/forms.json
{ printf '\357\273\277'; cat forms.csv; } >forms/forms.csv
gives 'verify of a folder takes other blanks and a byte order mark' 0 'rows=9 mismatches=0' verify forms
head -c 300 forms.json >cut.json
fails 'JSON that was cut in a row' 'cut.json: line 3' verify cut.json
head -n 3 forms.json >cut.json
fails 'JSON that was cut after a row' 'the list of rows has no end: the file is truncated' verify cut.json
{ cat forms.json && sed -n 2p forms.json; } >cut.json
fails 'JSON with a row after the list' 'line 6, column 1: the list of rows has ended before' verify cut.json
sed '2s/"d": "[0-9a-f]*"/"e": "0"/' forms.jsonl >cut.jsonl
fails 'a row without d' "line 2, column 1: 'd' is not 1 encoding of f32 in hexadecimal" verify cut.jsonl
sed '3s/"a": \["/"a": ["1/' forms.jsonl >cut.jsonl
fails 'a number of too many digits' "line 3, column 1: 'a' is not 4 encodings of f16 in hexadecimal" verify cut.jsonl
sed '2s/^{/  {,/' forms.jsonl >cut.jsonl
fails 'a row that is no JSON' 'cut.jsonl: line 2, column 4: ' verify cut.jsonl
sed '1s/"k": 4, //' forms.jsonl >cut.jsonl
fails 'a header without k' "header key 'k' is missing in the record of the first line" verify cut.jsonl
sed '1s/"k": 4/"k": [4]/' forms.jsonl >cut.jsonl
fails 'a key of another kind' "the value of 'k' is neither a text nor a number" verify cut.jsonl
echo '{}' >cut.jsonl
fails 'a record without a header' 'the first line is a record with arch, instruction, k, a, b, c and d' verify cut.jsonl
sed '1s/{/{"recorded on": "x\\n# wave: 32", /' forms.jsonl >cut.jsonl
fails 'a line end in a value' "the value of 'recorded on' has a control character, such as a line end" verify cut.jsonl
sed '1i # recorded on: x\x1b[1m' forms.csv >cut.csv
ends 0 vectors convert cut.csv cut.jsonl
check 'a control character in a value is replaced' grep -q '"recorded on": "x?\[1m"' cut.jsonl
check 'and the file can be read' runs 0 verify cut.jsonl
sed 's/^a\[0\],a\[1\]/a[1],a[0]/' forms.csv >cut.csv
fails 'columns in another order' 'the columns of CSV are not those of the header' verify cut.csv
sed '$s/,0x/,0x0x/' forms.csv >cut.csv
fails 'CSV with two prefixes' "'x' is no hexadecimal digit" verify cut.csv
sed 's/0x//g' forms.csv >cut.csv
check 'CSV without prefixes' runs 0 verify cut.csv
sed '$s/,0x[0-9a-f]*$//' forms.csv >cut.csv
fails 'CSV with a number less' 'expected 10 numbers .*, found 9' verify cut.csv
sed '$s/,0x[0-9a-f]*,/,,/; $s/$/,0x00000000/' forms.csv >cut.csv
fails 'CSV with an empty cell, and as many numbers' 'line [0-9]+, column 8: an empty cell before the last number' verify cut.csv
sed '$s/^0x[0-9a-f]*/ /' forms.csv >cut.csv
fails 'CSV with an empty first cell' 'line [0-9]+, column 1: an empty cell before the last number' verify cut.csv
sed '$s/,/ /; $s/$/,/' forms.csv >cut.csv
fails 'CSV with two numbers in a cell' 'a blank within a cell; separate numbers with commas' verify cut.csv
sed '$s/,/ ,\t/g; $s/$/ ,,/' forms.csv >cut.csv
check 'CSV with blanks around numbers and empty cells after them' runs 0 verify cut.csv

header=$(grep '^#' ten.txt)
row='3e00 3c00 3c00 0000 3e00 0002 0002 0000 00000000'
printf '%s\n' "$header" "$row 40100001" "$row 40100000" >corrupt.txt
gives 'verify of a corrupted row' 1 '^corrupt\.txt:10: volta .*: the file has 40100000 \(2\.25\), the model computes 40100001' \
  verify corrupt.txt
check 'its last line' [ "$(tail -n 1 in/stdout)" = 'rows=2 mismatches=1' ]
replay=$(sed -n 's/^  softmma //p' in/stdout)
eval "words=($replay)"
# shellcheck disable=SC2154 # set by eval
gives 'its command replays the row' 0 '^d = 0x40100001 = ' "${words[@]}"
gives 'verify --json of a corrupted row' 1 '"expected": "40100000"' verify corrupt.txt --json
gives 'verify --show' 1 '^\.\.\. and 1 more$' verify corrupt.txt --show 0
sed -i 's/^# arch: .*/# arch: NVIDIA Tesla V100/' corrupt.txt
ends 1 verify corrupt.txt
eval "words=($(sed -n 's/^  softmma //p' in/stdout))"
gives 'a GPU with blanks in its name is replayed, too' 0 '^d = 0x40100001 = ' "${words[@]}"

# Vector files: NAME|REGEX|SED SCRIPT on ten.txt, whose header has 8 lines
while IFS='|' read -r name regex script; do
  sed "$script" ten.txt >bad.txt
  fails "verify: $name" "bad\\.txt: $regex" verify bad.txt
done <<'END'
a row cut short|line 12, column [0-9]+: expected 10 numbers .*, found 4|12s/^\(.\{19\}\).*/\1/
a row too long|line 12, column [0-9]+: expected 10 numbers .*, found 11|12s/$/ 0000/
a character that is no digit|line 10, column 6: 'x' is no hexadecimal digit|10s/^..... */0000 x/
a number that does not fit|line 10, column 1: 10000 does not fit f16's 16 bits \(a\[0\]\)|10s/^..../10000/
a header without k|line [0-9]+, column 1: header key 'k' is missing|/^# k:/d
no header|line 1, column 1: no header|/^#/d
another k than the instruction's|line 2: the header says k: 8, but mma\.m8n8k4\.f32\.f16\.f16\.f32 has k = 4|s/^# k: 4/# k: 8/
another format than the instruction's|line 2: the header says a: bf16, but mma\.m8n8k4.* has f16|s/^# a: f16/# a: bf16/
an unknown format|line 4, column 6: 'f17' is no number format|s/^# a: f16/# a: f17/
an unknown architecture|line 2: unknown GPU or architecture 'vulta'; nearest: volta|s/volta/vulta/
an unknown instruction|line 2: volta has no instruction 'mma.m8n8k5.f32.f16.f16.f32'; nearest: |s/m8n8k4/m8n8k5/
an instruction of others|line 2: volta has no instruction .*; it is on: |s/mma\.m8n8k4.*/mma.m16n8k16.f32.f16.f16.f32/
a header that changes|line 15, column [0-9]+: header key 'arch' was 'volta' before|14a # arch: hopper
END
head -c -3 ten.txt >bad.txt
fails 'verify: a file cut short' 'bad\.txt: line 18, column [0-9]+: the file ends in this line' verify bad.txt
head -c 300 /dev/zero >bad.txt
fails 'verify: no text' 'bad\.txt: line 1, column 1: ' verify bad.txt
: >bad.txt
fails 'verify: an empty file' 'bad\.txt: line 1, column 1: no header' verify bad.txt
# A column of exception flags
flagged=(vectors gen arm:fmmla.s --flags --rows 300)
"$softmma" "${flagged[@]}" -o flags.txt
"$softmma" "${flagged[@]}" --format binary -o flags.bin
gives 'gen --flags, verified' 0 '^rows=600 mismatches=0$' verify flags.txt flags.bin
"$softmma" vectors convert flags.bin --format text -o same.txt
check 'convert of flags' cmp -s flags.txt same.txt
sed '20s/ ..$/ 08/' flags.txt >wrong.txt
gives 'verify of a wrong flag' 1 '^  flags: the file has 08 division by zero, the model computes 0[1-7] ' verify wrong.txt
gives 'verify counts wrong flags' 1 '^1 of 1 mismatches differ in their flags only$' verify wrong.txt
{ "$softmma" vectors gen power:xvf32gerpp --flags --rows 0 && echo 20000001 1ffffffe 00000000 00800000 03; } >before.txt
gives 'verify with tininess before rounding' 0 '^rows=1 mismatches=0$' verify before.txt
sed 's/before rounding/after rounding/' before.txt >after.txt
gives 'verify with tininess after rounding' 1 'the file has 03 underflow, inexact, the model computes 01 inexact$' \
  verify after.txt
sed '20s/ ..$//' flags.txt >short.txt
fails 'verify: a row without flags' '^softmma: short.txt: line 20, column [0-9]*: expected 7 numbers .*c d flags\), found 6$' verify short.txt
sed 's/^# flags: .*/# flags: yes/' flags.txt >yes.txt
fails 'verify: flags without tininess' "yes.txt: line 8, column 10: 'yes' is neither 'tininess before rounding'" verify yes.txt
gives 'a unit of a file with flags' 0 'rows=10 mismatches=0$' test --unit file:flags.txt --on arm --instr fmmla.s --rows 10
fails 'gen --flags of a tensor core' 'mma.m8n8k4.f32.f16.f16.f32 has no exception flags' vectors gen V100:f16 --flags
fails 'dot --tininess alone' '^softmma: --tininess: add --flags' dot arm:fmmla.s -a 1 -b 1 --tininess after
fails 'dot --tininess of another value' "^softmma: --tininess: 'x' is neither 'before' nor 'after'" \
  dot arm:fmmla.s -a 1 -b 1 --flags --tininess x

fails 'verify: no such file' 'none\.txt: No such file' verify none.txt
mkdir empty
fails 'verify: a directory without vector files' 'no vector file found' verify empty
ends 0 vectors gen V100:f16 --rows 3 -o three.csv
fails 'verify: one of two directories without vector files' '^softmma: empty: no vector file found' verify three.csv empty
ends 0 vectors gen V100:f16 --rows 3 -o three.json
tr -d '\n' <three.json >line.json
fails 'verify: JSON on one line' 'line.json: line 1, column 1: rows stand in the line of the header' verify line.json
{ printf '\xef\xbb\xbf' && sed 's/^# .*/&,,,,/' three.csv; } >sheet.csv
gives 'verify: CSV as spreadsheets save it' 0 '^rows=3 mismatches=0$' verify sheet.csv
fails 'convert: a full disk' '/dev/full: cannot write: No space left' vectors convert three.csv /dev/full --format binary
(ulimit -f 8 && "$softmma" vectors gen V100:f16 --rows 5000 -o large.txt) 2>in/stderr
check 'a file at its limit: the status is 2' [ $? -eq 2 ]
check 'a file at its limit: one line' grep -q '^softmma: --output: large.txt: cannot write: File too large' in/stderr
check 'a file at its limit: nothing is left' [ -z "$(find . -name 'large.txt*')" ]
fails 'verify: empty standard input' 'standard input: line 1, column 1: no header' verify -
fails 'verify: nothing to verify' 'too few arguments: softmma verify FILE' verify
fails 'verify: negative --show' '--show: -1 is negative' verify ten.txt --show=-1
finish
