#!/usr/bin/env bash
# Tests the files that commands read and write: endless and damaged input, names, links, permissions.
# Usage: files.sh SOFTMMA
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: files.sh SOFTMMA}")
source_directory=$(realpath "$(dirname "$0")/..")
data=$source_directory/examples/data
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"

instruction=(--on V100 --instr HMMA.884.F32.F32)
rows=(vectors gen "${instruction[@]}" --rows 20)
product=(gemm --on H100 --in f16 "$data/digits.npy" "$data/digits-axes.npy")
"$softmma" "${rows[@]}" -o rows.txt
"$softmma" custom --from V100 --instr HMMA.884.F32.F32 >unit.json
"$softmma" tree "${instruction[@]}" --dot tree.dot >in/tree
"$softmma" explain "${instruction[@]}" -a '1*4' -b '1*4' --svg sum.svg

# Limit of CPU seconds of one command. It is far more than any command needs, and ends a command that reads without end.
ulimit -t 100


# ---- Larger than memory ----

# half_matrix FILE ROWS COLUMNS NUMBER: writes an FP16 matrix of zeros whose last element is NUMBER, two bytes. Zeros
# take no space on disk.
half_matrix() {
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<f2', 'fortran_order': False, 'shape': ($2, $3), }" >"$1"
  truncate -s $((128 + 2 * $2 * $3 - 2)) "$1"
  printf '%b' "$4" >>"$1"
}
half_matrix large-A.npy 65536 4096 '\x00\x3c'
half_matrix large-B.npy 4096 1 '\x00\x40'
large=(gemm --on H100 --in f16 large-A.npy large-B.npy -o large-D.npy)
# Sanitizers reserve the whole address space, so memory cannot be limited.
if ! grep -q __asan "$softmma"; then
  limited() { (ulimit -v 300000 && OMP_NUM_THREADS=1 exec "$softmma" "$@") >in/stdout 2>in/stderr; }
  ! limited "${large[@]}"
  check '512 MiB in 300 MB of memory, whole' grep -q '^softmma: large-A.npy: no memory for 536870912 bytes' in/stderr
  check '512 MiB in 300 MB of memory, in blocks' limited "${large[@]}" --memory 67108864
  check '512 MiB in blocks: the last result, 1 x 2' [ "$(tail -c 8 large-D.npy | od -An -tx1 | tr -d ' ')" = 0000000000000040 ]
fi
rm -f large-*.npy

# ---- Endless input ----

# ends NAME REGEX ARGUMENT...: runs softmma on the input `from` or the output of `feeder`, once without and once with a
# limit of memory. Each run must end with status 2 and one line on stderr that matches, as for `fails`
# (tests/judging.sh).
ends() {
  local name=$1 regex=$2 memory status
  shift 2
  for memory in unlimited 400000; do
    # Sanitizers reserve the whole address space, so memory cannot be limited.
    if [ $memory != unlimited ]; then grep -q __asan "$softmma" && continue; fi
    [ -z "${feeder-}" ] || { $feeder >fifo 2>in/feeder & }
    (ulimit -v $memory && exec "$softmma" "$@") >in/stdout 2>in/stderr <"${from:-/dev/null}"
    status=$?
    if [ $status -eq 2 ] && grep -qE -e "$regex" in/stderr && [ "$(wc -l <in/stderr)" -eq 1 ]; then
      pass "$name, memory $memory"
    else
      fail "$name, memory $memory" "status $status, not '$regex': $(head -c 400 in/stderr)"
    fi
  done
}

matrix='neither a .npy nor a .safetensors file|a header of [0-9]+ bytes is longer than the format allows'
text='line [0-9]+, column [0-9]+: (no header|a NUL byte|longer than 65536 characters)'

# endless_file FILE: passes an endless file to each command that reads a file
endless_file() {
  ends "$1 as a matrix" "$matrix" gemm --on H100 --in f16 "$1" "$1" -o D.npy
  ends "$1 as a matrix to compare" "$matrix" compare --on H100,A100 --in f16 "$1" "$1"
  ends "$1 as rows" "$text" verify "$1"
  from=$1 ends "$1 as standard input" "$text" verify -
  ends "$1 as a recording" "$text" test --unit "file:$1"
  ends "$1 as rows to explain" "$text" explain --row 3 "$1"
  ln -s "$1" unit.link.json
  ends "$1 as a custom unit" 'more than 1048576 bytes, which is the most' custom unit.link.json
  rm unit.link.json
}
endless_file /dev/zero
ends 'a device as a report' 'is no regular file' test --unit model "${instruction[@]}" --rows 1 --resume /dev/zero
ln -s /dev/zero accumulation.csv.part
ends 'a device as an unfinished experiment' 'no file to which rows can be added' experiment accumulation --small --no-plot
rm accumulation.csv.part
# Prints the same noise each time, until the reader closes the pipe.
awk 'BEGIN { for (x = i = 1; i <= 65536; i++) { x = 16807 * x % 2147483647; printf "\\x%02x", x / 8388608 } }' >in/codes
printf '%b' "$(cat in/codes)" >in/noise
repeat() { while cat in/noise; do :; done; }
mkfifo fifo
feeder=repeat endless_file fifo
rm fifo
wait

# endless NAME REGEX TEXT COMMAND...: sends the text and then the output of the command through a FIFO
endless() {
  local name=$1 regex=$2 text=$3
  shift 3
  sent=$text sender=("$@") feeder=send
  mkfifo fifo
  ends "$name" "$regex" "${reader[@]}"
  rm fifo
  wait
  feeder=
}

# Sends until the reader closes the pipe.
send() { printf '%b' "$sent" && "${sender[@]}"; }

header="{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"
npy=$(printf '\\x93NUMPY\\x01\\x00\\x3c\\x00%s\\n' "$header")
reader=(gemm --on H100 --in f16 fifo fifo -o D.npy)
endless 'zeros behind an array' '16 bytes of data expected for shape \(2, 2\), more present' "$npy" cat /dev/zero
huge=${npy/(2, 2)/(2, 2000000000000)} huge=${huge/x3c/x48}
endless 'zeros as a huge array' 'no more than 1073741824 are read from a pipe' "$huge" cat /dev/zero
endless 'a header of 2 GiB' 'a header of 21474[0-9]* bytes; those of matrices' '\x93NUMPY\x02\x00\xff\xff\xff\x7f' yes
tensors='{"x":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}'
length=$(printf '\\x%02x' ${#tensors})'\x00\x00\x00\x00\x00\x00\x00'
endless 'zeros behind a tensor' '16 bytes of data expected for all tensors, more present' "$length$tensors" cat /dev/zero
endless 'a header of 2^63 bytes' 'longer than the format allows' '\x00\x00\x00\x00\x00\x00\x00\x80{' yes
"$softmma" "${rows[@]}" --format binary -o rows.bin
huge=$(head -c 512 rows.bin | od -An -v -tx1 | tr -d '\n' | sed 's/ /\\x/g')
reader=(verify fifo)
endless 'zeros behind a binary file' 'rows are [0-9]*: data follows them' '' cat rows.bin /dev/zero
endless 'a binary header, then zeros' 'the checksum of rows 1 to 20 is wrong|data follows' "$huge" cat /dev/zero
endless 'its first byte, then zeros' 'begins nearly as a binary vector file does' '\x89' cat /dev/zero
endless 'blank lines' '10000 lines without a row; this is no vector file' '' yes ''
endless 'comments' '10000 lines without a row' '' yes '# nothing'
endless 'a header, then zeros' 'longer than 65536 characters' "$(grep '^#' rows.txt)\n" cat /dev/zero
endless 'a header, then comments' '10000 lines without a row' "$(grep '^#' rows.txt)\n" yes '# nothing'

# ---- Pipes that end ----

mkfifo pipe
# piped FILE TENSOR B: the product of a file that is read through a pipe must equal that of the file
piped() {
  cat "$data/$1" >pipe &
  gives "$1 through a pipe" 0 '^piped.npy: ' gemm --on H100 --in f16 "pipe$2" "$3" -o piped.npy
  wait
  gives "$1 as a file" 0 '^plain.npy: ' gemm --on H100 --in f16 "$data/$1$2" "$3" -o plain.npy
  check "$1: the same product" cmp piped.npy plain.npy
}
piped digits.npy '' "$data/digits-axes.npy"
piped digits-mlp.safetensors :layers.1.weight "$data/digits-mlp.safetensors:layers.2.weight"

# ---- Reports with numbers that no campaign gives ----

# other.json is a unit that rounds differently.
sed 's/toward-zero/nearest-even/' unit.json >other.json
against=(--unit custom:other.json --against custom:unit.json --on ./other.json)
gives 'a report' 1 '^instructions=1 rows=100 mismatches=[1-9]' test "${against[@]}" --rows 100 --resume whole.json
cp whole.json report.json
again=(test "${against[@]}" --rows 100 --resume report.json)
gives 'is read' 1 '^instructions=1 rows=100 mismatches=[1-9]' "${again[@]}"
first=$(sed -n 's/^ *"row": \([0-9]*\),/\1/p' whole.json)
unit=$(sed -n '/"unit": \[/{n; s/^ *//; p; q;}' whole.json)
while IFS='|' read -r what change says; do
  sed "$change" whole.json >report.json
  check "$what: another file" differs whole.json report.json
  fails "$what" "^softmma: --resume: report.json.*$says" "${again[@]}"
done <<END
more rows than asked for|/"checked"/!s/"rows": 100,/"rows": 1000,/|use the same --rows, or name another file
more mismatches than rows|s/"mismatches": .*/"mismatches": 101,/|not a campaign's
negative mismatches|s/"mismatches": .*/"mismatches": -1,/|not a campaign's
2^64 mismatches|s/"mismatches": .*/"mismatches": 18446744073709551616,/|not a campaign's
a fraction|s/"mismatches": .*/"mismatches": 1.5,/|not a campaign's
no mismatch, and an example|s/"mismatches": .*/"mismatches": 0,/|not a campaign's
unchecked rows|s/"checked": true/"checked": false/|not a campaign's
an example behind all rows|s/"row": $first/"row": 100/|not a campaign's
an example in a negative row|s/"row": $first/"row": -1/|not a campaign's
an example that does not differ|/"against": \[/{n; s/".*"/$unit/}|not a campaign's
no rows of all|0,/"rows"/s/"rows": 100/"rows": "many"/|no number of rows
no entries|s/"instructions": \[/"instructions": {"x": [/; s/^ \],\$/ ]},/|has no entries
a key twice|s/"mismatches": .*/"mismatches": 1, "mismatches": 2,/|stands here a second time
END
truncate -s 1T report.json
fails 'a huge file' '1099511627776 bytes; such a file has at most' "${again[@]}"

# ---- Damaged files ----

# is_printable FILE: checks that the file has lines of printable UTF-8 without control characters
is_printable() { iconv -f UTF-8 -t UTF-8 "$1" >in/utf8 2>in/iconv && ! grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$1"; }

# damaged FILE ARGUMENT...: replaces one of the file's first 200 bytes by invalid UTF-8 or by the start of a terminal
# command. The message of the command, whose last argument is the file, must be printable.
damaged() {
  local file=$1 at byte
  shift
  for at in $(seq 0 9 199); do
    for byte in '\x9b' '\x1b' '\xff'; do
      cp "$file" damaged
      printf '%b' "$byte" | dd of=damaged bs=1 seek="$at" conv=notrunc status=none
      "$softmma" "$@" damaged >in/stdout 2>in/stderr </dev/null
      is_printable in/stderr && is_printable in/stdout && continue
      fail "$* of $file with $byte at $at" "$(cat -v in/stderr)"
      return
    done
  done
  pass "$* of damaged $file: messages are printable"
}
"$softmma" "${rows[@]}" --format binary -o rows.vec
damaged rows.txt verify
damaged rows.vec verify
damaged rows.txt explain --row 2
damaged unit.json custom
damaged "$source_directory/examples/plans/split-k.json" plan
damaged whole.json vectors merge -o merged.json
damaged "$data/digits.npy" gemm --on H100 --in f16 -o D.npy "$data/digits-axes.npy"
damaged "$data/digits-mlp.safetensors" gemm --on H100 --in f16 -o D.npy "$data/digits-axes.npy"
rm damaged

# ---- Names ----

# The rule for "-": it is standard output if one file is written, and refused if standard output has another use.
gives 'gen to -' 0 '^# arch: volta$' "${rows[@]}" -o -
check 'gen to -: the rows' cmp in/stdout rows.txt
gives 'record to -' 0 '^# arch: volta$' vectors record --unit model "${instruction[@]}" --rows 3 -o -
gives 'explain to -' 0 '^<svg' explain "${instruction[@]}" -a '1*4' -b '1*4' --svg -
check 'explain to -: the picture alone' cmp in/stdout sum.svg
gives 'tree to -' 0 '^digraph' tree "${instruction[@]}" --dot -
check 'tree to -: the graph alone' cmp in/stdout tree.dot
for option in --dot --svg; do
  [ $option = --dot ] || command -v dot >in/which || continue
  fails "tree $option - with JSON" "^softmma: $option: '-' is standard output, which takes the JSON; name a file" \
    tree "${instruction[@]}" $option - --json
done
fails 'gemm to -' "^softmma: -o: '-' is standard output, which takes the summary; name a file \(./-" "${product[@]}" -o -
fails 'campaign from -' "^softmma: --resume: '-' is standard output, which takes the report" \
  test --unit model --rows 1 --resume -
fails 'match to -' "^softmma: -o: '-' is standard output, which takes the report" \
  match "$data/digits.npy" "$data/digits-axes.npy" d.npy H100 --in f16 -o -
fails 'match to -, with JSON' "^softmma: -o: '-' is standard output, which takes the JSON" \
  match "$data/digits.npy" "$data/digits-axes.npy" d.npy H100 --in f16 -o - --json
fails 'infer to -' "^softmma: --output: '-' is standard output, which takes the report" \
  infer --unit model "${instruction[@]}" -o -
for option in --output --html; do
  fails "coverage $option -" "^softmma: $option: '-' is standard output, which takes the report" \
    coverage rows.txt $option -
  fails "coverage $option -, with JSON" "^softmma: $option: '-' is standard output, which takes the JSON" \
    coverage rows.txt $option - --json
done
fails 'merge to -' "^softmma: -o: '-' is standard output, which takes the summary" vectors merge whole.json -o -
for command in 'custom --from V100 --instr HMMA.884.F32.F32' 'plan --as deepgemm' \
  'rtl --on V100 --instr HMMA.884.F32.F32' 'vectors convert rows.txt --format binary'; do
  read -ra words <<<"$command"
  check "$command" runs 0 "${words[@]}"
  cp in/stdout in/wanted
  check "$command, to -" runs 0 "${words[@]}" -o -
  check "$command, to -: the same" cmp in/wanted in/stdout
done
fails 'experiment to -' "^softmma: -o: '-' is standard output, which takes the summary" \
  experiment accumulation --small --no-plot -o -
fails 'bench to -' "^softmma: --chart: '-' is standard output, which takes the table" bench --size 8 --chart -
check 'no file of that name' [ ! -e - ]
gives 'a file of that name' 0 '^./-: ' "${product[@]}" -o ./-
check 'it is there' [ -s ./- ]
check 'nor in the repository' [ -z "$(find "$source_directory"/{examples,docs,tests,src} -name '-*')" ]

gives 'experiment makes its folder' 0 '^accumulation: ' experiment accumulation --small --no-plot -o new/folder/
check 'it is made' [ -s new/folder/accumulation.csv ]
fails 'a folder that is a file' '-o: rows.txt/x: cannot make the folder: Not a directory' \
  experiment accumulation --small --no-plot -o rows.txt/x
finish
