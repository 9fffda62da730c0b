#!/usr/bin/env bash
# Command lines that users guess: targets in every place, and other names of options and commands. mistakes.sh tests
# those with mistakes. Usage: grammar.sh SOFTMMA
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: grammar.sh SOFTMMA}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"

a='--a 1,2,3' b='--b 4,5,6'
"$softmma" custom --from H100:f16 >unit.json
sed 's/"alignment_bits": 25/"alignment_bits": 20/' unit.json >other.json

# ---- One target ----

alike 'dot' 0 "dot --on H100 --instr wgmma.m64n8k16.f32.f16.f16 $a $b" "dot --on H100 --in f16 $a $b" \
  "dot --on H100:f16 $a $b" "dot H100:f16 $a $b" "dot $a $b H100:f16" "dot H100 --in f16 $a $b" \
  "dot hopper --in f16 $a $b" "dot sm_90 --in fp16 $a $b" "dot --gpu H100 --dtype half $a $b" \
  "dot --target H100:f16 $a $b" "dot H100:wgmma.m64n8k16.f32.f16.f16 $a $b" "dot H100:f16:f16 $a $b" \
  "dot unit.json $a $b" "dot --on unit.json $a $b" "dot H100 --instruction wgmma.m64n8k16.f32.f16.f16 $a $b"
alike 'dot: features of a driver are no format' 0 "dot --on MI300X --in f16 $a $b" "dot gfx942:sramecc+ --in f16 $a $b" \
  "dot gfx942:sramecc+:xnack-:f16 $a $b"
alike 'explain' 0 "explain --on H100 --in f16 $a $b" "explain H100:f16 $a $b" "dot H100:f16 $a $b --explain" \
  "explain H100:f16 $a $b -o -" "explain -o - H100:f16 $a $b -o -"
alike 'operands as arguments' 0 "dot H100:f16 $a $b" 'dot H100:f16 1,2,3 4,5,6' 'dot 1,2,3 4,5,6 H100:f16'
alike 'operands as arguments: c' 0 "dot H100:f16 $a $b -c 0.5" 'dot H100:f16 1,2,3 4,5,6 0.5' \
  'dot H100:f16 1,2,3 4,5,6 -c 0.5'
alike 'operands as arguments: scale factors' 0 "dot B200:mxfp8 $a $b --scale-a 1 --scale-b 2" \
  'dot B200:mxfp8 1,2,3 4,5,6 --scale-a 1 --scale-b 2'
alike 'operands as arguments: encodings' 0 'dot H100:f16 -a 3c00 -b bc00 --hex' 'dot H100:f16 3c00 bc00 --hex'
alike 'operands as arguments: explain' 0 "explain H100:f16 $a $b" 'explain H100:f16 1,2,3 4,5,6' \
  'dot H100:f16 1,2,3 4,5,6 --explain'
alike 'operands as arguments: a plan' 0 'explain H100:e4m3 -a 1*256 -b 1*256 --plan cutlass:2xacc' \
  'explain H100:e4m3 1*256 1*256 --plan cutlass:2xacc'
alike 'tree' 0 'tree --on H100 --in f16' 'tree H100:f16' 'tree H100:f16 --output -'
alike 'gen' 0 'vectors gen --on H100 --in f16 --rows 5' 'vectors gen H100:f16 -n 5'
alike 'record' 0 'vectors record --unit model --on H100 --in f16 --rows 5 --json' \
  'vectors record H100:f16 --unit model -n 5 --json'
alike 'coverage' 0 'coverage --on H100 --in f16 --rows 50' 'coverage H100:f16 -n 50'
alike 'custom' 0 'custom --from H100 --in f16' 'custom H100:f16' 'custom --on H100:f16'
alike 'test' 0 'test --unit model --on H100 --in f16 --rows 9' 'test --unit model H100:f16 -n 9'
alike 'plan' 0 'plan --as deepgemm --on H100 --in e4m3 -k 512' 'plan --as deepgemm H100:e4m3 -k 512'
alike 'list' 0 'list --on H100' 'list H100' 'list --arch H100' 'list hopper' 'list --gpu H100'
alike 'show one' 0 'show HMMA.16816.F32 --on A100' 'show HMMA.16816.F32 A100' 'show A100 HMMA.16816.F32' \
  'show A100:HMMA.16816.F32' 'show A100 --in f16'
gives 'show a GPU' 0 '^H100: NVIDIA Hopper, 1194 instructions' show H100
check 'show a GPU: products at once, bits, rounding' \
  grep -qxF -e '  16 products and the sum so far, truncated to 25 bits below the greatest exponent, rounded toward zero to f32' in/stdout
check 'show a GPU: evidence and open questions' [ "$(grep -cx -e Evidence -e 'Open questions' in/stdout)" -eq 2 ]
gives 'show a file' 0 'file +unit.json' show unit.json

# ---- Several targets ----

alike 'diff' 1 'diff --on A100,H100 --in f16 --rows 500' 'diff A100 H100 --rows 500' 'diff --on A100 --on H100 --rows 500' \
  'diff A100,H100 -n 500' 'diff --gpu A100 --gpu H100 --rows 500'
alike 'prove' 0 'diff --prove --on A100,L40S' 'diff --prove A100 L40S' 'diff A100 L40S --prove' 'prove A100 L40S' \
  'diff --prove A100,L40S'
alike 'explain two' 1 'explain --on A100,H100 --in f16 --a -8192,1,1,1 --b 1024,-0.5,-0.25,-0.125 --c 0x1p23' \
  'explain A100 H100 --in f16 --a -8192,1,1,1 --b 1024,-0.5,-0.25,-0.125 --c 0x1p23' \
  'explain A100 H100 --in f16 -- -8192,1,1,1 1024,-0.5,-0.25,-0.125 0x1p23'
alike 'probe' 0 'probe --on V100 --in f16 --rows 64' 'probe V100 --rows 64' 'probe V100:f16 --rows 64'
alike 'tolerance' 0 'tolerance --on A100,H100 --shape 8x8x64' 'tolerance A100 H100 --shape 8x8x64'
gives 'a file as a target' 1 'fraction bits retained of aligned products: 25 \| 20' diff unit.json other.json

npy A.npy '<f4' '(4, 32)' "$(f32 $(seq 1900 2027))"
npy B.npy '<f4' '(32, 3)' "$(f32 $(seq 1901 1996))"
alike 'compare' 1 'compare --on A100,H100 A.npy B.npy' 'compare A100 H100 A.npy B.npy' 'compare A.npy B.npy A100 H100' \
  'compare --gpu A100 --gpu H100 A.npy B.npy' 'compare A100 H100 A.npy B.npy --dtype f16'
alike 'trace' 1 'trace --on A100,H100 --at 0,1 A.npy B.npy' 'trace A100 H100 A.npy B.npy --at 0,1' \
  'trace A100 H100 A.npy B.npy --at 0,1 -o -'
ends 0 gemm --on H100 --in f16 A.npy B.npy -o D.npy
for words in 'H100:f16 A.npy B.npy' 'A.npy B.npy --on H100:f16' 'H100 --in f16 A.npy B.npy'; do
  read -ra line <<<"$words"
  check "gemm: $words" runs 0 gemm "${line[@]}" -o E.npy
  check "gemm: $words: the same D" cmp -s D.npy E.npy
done
npy C.npy '<f4' '(4, 3)' "$(f32 $(seq 1 12))"
ends 0 gemm H100:f16 A.npy B.npy -C C.npy -o with.npy
check 'C changes D' [ -n "$(cmp D.npy with.npy)" ]
for words in 'C.npy' '-c C.npy' '--c C.npy'; do
  read -ra line <<<"$words"
  check "gemm: C as $words" runs 0 gemm H100:f16 A.npy B.npy "${line[@]}" -o E.npy
  check "gemm: C as $words: the same D" cmp -s with.npy E.npy
done
alike 'trace: -c' 0 'trace H100:f16 A.npy B.npy -C C.npy --at 1,1' 'trace H100:f16 A.npy B.npy -c C.npy --at 1,1'
for mode in nearest-even:rne nearest-away:rna toward-zero:rz toward-negative:rd toward-positive:ru; do
  alike "--round-in ${mode#*:}" 0 "trace H100:f16 A.npy B.npy --at 1,1 --round-in ${mode%:*}" \
    "trace H100:f16 A.npy B.npy --at 1,1 --round-in ${mode#*:}"
done
gives 'match' 0 'H100' match A.npy B.npy D.npy --in f16 H100
check 'a claim of files in FP32' runs 0 match A.npy B.npy D.npy --claim H100:f16
check 'a claim of files in FP32, with a plan' runs 0 match A.npy B.npy D.npy --on H100:f16 --claim none
cp A.npy H100
check 'a file that has the name of a GPU is the file' runs 1 compare A100 L40S:bf16 H100 B.npy
rm H100

# ---- Names of commands ----

alike 'former and other names' 0 'vectors gen H100:f16 -n 3' 'gen H100:f16 -n 3'
gives 'former names say the new one' 0 . gen H100:f16 -n 1
check 'former names say the new one: on stderr' grep -qx "softmma: note: 'softmma gen' is 'softmma vectors gen' now" in/stderr
alike 'help' 0 'dot --help' 'help dot' '--help dot' '-h dot'
alike 'help of two words' 0 'vectors gen --help' 'help vectors gen' 'gen --help'
alike 'version' 0 version --version -V
gives 'vectors --help' 0 '^  vectors convert  ' vectors --help
fails 'vectors alone' "first word of a command: vectors gen, " vectors
for name in check:verify generate:'vectors gen' info:show matmul:gemm campaign:test record:'vectors record' convert:'vectors convert' merge:'vectors merge' \
  next:'vectors next' backends:units identify:match; do
  read -ra words <<<"${name#*:}"
  alike "help of ${name%%:*}" 0 "${words[*]} --help" "${name%%:*} --help"
done
gives 'equal is diff --prove' 0 'prove that two targets compute one function' equal --help

# ---- Options of every command ----

alike '-q' 0 "dot H100:f16 $a $b" "dot H100:f16 $a $b -q" "-q dot H100:f16 $a $b" "--quiet dot H100:f16 $a $b"
check '-q prints no notes' [ ! -s in/stderr ]
ends 0 gen H100:f16 -k normal -n 1 -q
check '-q prints no notes about former names' [ ! -s in/stderr ]
gives 'zeros are added' 0 '^0x42000000  32$' dot H100:f16 --a 1,2,3 --b 4,5,6
check 'zeros are added, and a note says so' grep -qF -e '--a has 3 elements; the other 13 of K = 16 are 0' in/stderr
gives 'a former letter' 0 . vectors gen H100:f16 -k normal -n 1
check 'a former letter says the option' grep -q -e '-k is deprecated, .*: type --kind' in/stderr
gives 'experiment --list' 0 '^accumulation ' experiment --list

alike '--strict' 0 "dot H100:f16 $a $b" "dot H100:f16 $a $b --strict"
gives 'a model that is only reported' 0 '^0x41800000  16$' dot B300:bf16 --a '1*16' --b '1*16'
check 'a note says what is reported' grep -q 'note: B300: Only a report without results is known (.*TransformerEngine' in/stderr
for target in B300:bf16 'Jetson Thor:mxfp8' T4:f16 A100:s8; do
  fails "--strict refuses $target" '--strict: the model of .* is only' dot "$target" --strict --a 1 --b 1
done
fails 'a format of which nothing is reported' 'no model of f16 x f16 -> f32 on B300' dot B300:f16 --a 1 --b 1

# ---- Other words for the same ----

alike 'list gpus' 0 'list gpus' 'list --gpus'
alike 'list instructions' 0 'list H100' 'list instructions H100'
alike 'list formats' 0 'list formats e3m2' 'list --formats e3m2'
alike 'experiment list' 0 'experiment list' 'experiment'
alike 'diff prove' 0 'diff prove H100:f16 B200:f16' 'diff H100:f16 B200:f16 prove' 'diff --prove H100:f16 B200:f16'
alike '--count' 0 'vectors gen H100:f16 --count 3' 'vectors gen H100:f16 --rows 3'
alike '--assertion' 0 'rtl H100:f16 --assertion' 'rtl H100:f16 --sva'
alike '--format of operands' 0 'compare A100 H100 A.npy B.npy --format bf16' 'compare A100 H100 A.npy B.npy --in bf16'
alike '--in-dtype' 0 'dot H100 --in-dtype f16 --a 1 --b 1' 'dot H100 --in f16 --a 1 --b 1'
alike 'a target to describe' 0 'custom H100:f16' 'custom --from H100:f16'
alike 'a library' 0 'plan deepgemm H100:e4m3 -m 1 -n 1 -k 512' 'plan --as deepgemm H100:e4m3 -m 1 -n 1 -k 512' \
  'plan deepgemm H100:e4m3' 'plan deepgemm'
alike 'a plan of cuBLASLt' 0 'plan cublaslt:13.1 H100:f16 -m 8 -n 4096 -k 8192 --algo 66 --stages 35' \
  'plan cublaslt:13.1/H100 --in f16 -m 8 -n 4096 -k 8192 --algo 66 --stages 35'
: >gpus
fails 'a file of that name is a file' "unexpected argument 'gpus'" units gpus
rm gpus
ends 0 custom --from H100:f16 -o described.json
check 'custom -o writes the description' cmp -s described.json <("$softmma" custom H100:f16)
ends 0 plan deepgemm H100:e4m3 -m 1 -n 1 -k 512 -o written.json
check 'plan -o writes the plan' cmp -s written.json <("$softmma" plan written.json)
rm described.json written.json
# Each error about a plan of cuBLASLt has a whole command line. It works when it is typed.
for words in 'plan cublas' 'plan cublaslt' 'plan cublaslt:13.1' 'plan cublaslt:13.1/H100' 'plan cublaslt:13.1 H100 -k 64' \
  'plan cublaslt:13.1 H100:f16' 'plan cublaslt:12.8 H100:f16 -m 8 -n 8 -k 64' 'plan --as cublaslt H100:f16' \
  'gemm H100:f16 A.npy B.npy -o E.npy --plan cublaslt:12.8/H100' 'tree H100:f16 -k 64 --plan cublaslt'; do
  read -ra line <<<"$words"
  fails "a whole line: $words" 'softmma plan cublaslt:13.1 ' "${line[@]}"
  read -ra line < <(sed -nE "s/.*softmma (plan cublaslt:[^';]*-o plan.json).*/\1/p" in/stderr)
  check "a whole line: $words: works" runs 0 "${line[@]}"
  check "a whole line: $words: writes a plan" cmp -s plan.json <("$softmma" plan plan.json)
  rm -f plan.json
done
"$softmma" vectors gen H100:f16 -n 5 >five.txt
for ending in txt:text bin:binary hex:readmemh csv:csv json:json jsonl:jsonl; do
  ends 0 vectors convert five.txt --format "${ending#*:}" -o wanted
  check "convert to .${ending%:*}" runs 0 vectors convert five.txt -o "five-x.${ending%:*}"
  check "convert to .${ending%:*}: ${ending#*:}" cmp -s wanted "five-x.${ending%:*}"
  check "gen to .${ending%:*}" runs 0 vectors gen H100:f16 -n 5 -o "five-x.${ending%:*}"
  check "gen to .${ending%:*}: ${ending#*:}" cmp -s wanted "five-x.${ending%:*}"
  check "record to .${ending%:*}" runs 0 vectors record H100:f16 --unit model -n 5 -o "five-r.${ending%:*}"
  check "record to .${ending%:*}: begins as ${ending#*:}" cmp -s -n 2 wanted "five-r.${ending%:*}"
done
rm five-* wanted
gives 'an encoding without --hex' 0 '^0x467e0000  16256$' dot A100:bf16 -a 0x3f80 -b 1
check 'an encoding without --hex: a note' grep -qxF \
  'softmma: note: --a[0]: 0x3f80 is read as the number 16256; encodings take --hex' in/stderr
for number in 0x3f8 0x3f800 0x3f.8 0x3fp2 1234; do
  ends 0 dot A100:bf16 -a "$number" -b 1
  check "$number is no encoding: no note" [ "$(grep -c 'encodings take' in/stderr)" -eq 0 ]
done
gives 'explain two targets of different K' 1 'block 1 of 2, k = 0..7' explain V100:f16 A100:f16 -a '-8192 1 1 1' \
  -b '1024 -0.5 -0.25 -0.125' -c 0x1p23
check 'explain shows both K' grep -q 'K = 4, a: f16.*; A100:f16: K = 16$' in/stdout
check 'explain says which has more products' grep -q 'note: A100:f16 has K = 16; its other 12 products are 0' in/stderr
f16_for='note: MI300X is given without a format, so it computes in f16'
ends 1 diff H100:bf16 MI300X --rows 10
check 'a GPU without a format behind one with: a note' grep -q "$f16_for" in/stderr
ends 1 compare H100:bf16 MI300X --shape 4x4x4
check 'so does compare' grep -q "$f16_for" in/stderr
ends 1 diff MI300X H100:bf16 --rows 10
check 'not if the default comes first' [ "$(grep -c "$f16_for" in/stderr)" -eq 0 ]

# ---- Formats ----

alike 'several formats' 0 'list --in fp8' 'list fp8' 'list --format fp8' 'list --in float8'
alike 'a format of a GPU' 0 'list H100 --in tf32' 'list H100:tf32' 'list H100 tf32' 'list tf32 --on H100' \
  'list H100 --dtype tf32 --out f32'
alike 'two formats' 0 'list H100 --in e4m3,e5m2' 'list H100:e4m3:e5m2' 'list H100 e4m3,e5m2'
alike 'a format' 0 'show e5m2' 'show --in e5m2' 'show float8_e5m2' 'info e5m2'
alike 'an instruction by its format' 0 'show H100:f16' 'show H100 f16' 'show H100 --in half'
alike 'instructions of several formats' 0 'show H100:fp8' 'show H100 fp8' 'show H100 --in fp8' 'show --on H100 --in float8'
for format in e4m3 e5m2; do
  ends 0 show "H100:$format"
  cp in/stdout "in/$format"
done
check 'both of H100:fp8' diff <(runs 0 show H100:fp8 && cat in/stdout) <(cat in/e4m3 && echo && cat in/e5m2)
gives 'FP8 of MI300X' 0 '^formats +a e5m2fnuz' show MI300X:fp8
fails 'FP8 of a GPU without' 'V100 has no instruction for fp8: e4m3,e5m2,e4m3fnuz,e5m2fnuz' show V100:fp8
check 'every GPU that takes a format' diff <("$softmma" list mxfp4 | awk 'NR > 1 && !/^[0-9]/ { print $1 }' | sort -u) \
  <("$softmma" list --gpus --in mxfp4 | awk '{ print $1 }' | sort -u)
gives 'several formats: AMD' 0 '^cdna3 .*[.]fp8|^cdna3 .*_fp8' list fp8
check 'no other format' [ "$("$softmma" list --in tf32 --json | jq -r '.[] | .a, .b' | sort -u)" = tf32 ]
fails 'a format of no instruction' "V100 has no instruction that takes e4m3; 'softmma show V100' lists" list V100:e4m3
fails 'a format of D of no instruction' 'V100 has no instruction that takes f16 with D in bf16;' list V100 f16 --out bf16
fails 'a format of no instruction, as JSON' 'V100 has no instruction that takes e4m3;' list V100:e4m3 --json
fails 'an instruction to list' "list takes a GPU and formats, and not 'H100:HMMA.16816.F32'" list H100:HMMA.16816.F32
fails 'two formats to list' "two formats, 'e4m3' and 'e5m2'; type e4m3,e5m2" list e4m3 e5m2
fails 'a format twice' '--in: H100:e4m3 already gives it' list H100:e4m3 --in e5m2

# ---- -o of commands that print ----

# writes LINE: the file of -o has what the command prints, alone and with --json.
writes() {
  local words line=$1
  read -ra words <<<"$line"
  "$softmma" "${words[@]}" >in/wanted 2>in/stderr
  local status=$?
  check "$line -o FILE" runs "$status" "${words[@]}" -o out.txt
  check "$line -o FILE: nothing is printed" [ ! -s in/stdout ]
  check "$line -o FILE: the output" cmp in/wanted out.txt
  check "$line -o -" runs "$status" "${words[@]}" -o -
  check "$line -o -: the output" cmp in/wanted in/stdout
  "$softmma" "${words[@]}" --json >in/wanted 2>in/stderr
  status=$?
  check "$line -o FILE.json" runs "$status" "${words[@]}" --output=out.json
  check "$line -o FILE.json: the output" diff <(jq 'del(.seconds?, .date?)' in/wanted) <(jq 'del(.seconds?, .date?)' out.json)
  rm -f out.txt out.json
}
while read -r line; do writes "$line"; done <<'END'
list H100
list --gpus
show H100:f16
show e5m2
units
version
dot H100:f16 1,2 3,4
explain H100:f16 1,2 3,4
trace V100:f16 H100:f16 A.npy B.npy
compare V100:f16 H100:f16 A.npy B.npy
diff V100:f16 H100:f16 -n 50
diff --prove V100 T4
tolerance H100:f16 --shape 4x4x64
test V100:f16 --unit model -n 20
probe V100:f16 -n 16
tree V100:f16
verify five.txt
END
for command in $("$softmma" --help | sed -nE 's/^  ([a-z-]+)  .*/\1/p'); do
  check "$command has -o" grep -q -e '-o, --output' <("$softmma" "$command" --help)
done
echo before >out.txt
fails 'a command that fails' 'H2000' compare H2000 H100 A.npy B.npy -o out.txt
fails 'a command that fails later' 'nothing.npy' compare A100 H100 A.npy nothing.npy -o out.txt
check 'a command that fails: the file is as it was' [ "$(cat out.txt)" = before ]
check 'a command that fails: nothing is left' [ "$(echo out.txt*)" = out.txt ]
fails 'a file that cannot be written' '-o: none/x.txt: cannot write: No such file' list H100 -o none/x.txt
[ ! -e /dev/full ] || fails 'a full disk' 'could not write the output' list H100 -o /dev/full
fails 'a file without a name' '-o: the name of the file is empty' list H100 -o ''
for name in D.npy table.parquet page.html picture.svg; do
  fails "text as $name" "-o: '$name': no ${name#*.} file is written here; name a .txt, .json or .csv file" \
    compare V100:f16 H100:f16 A.npy B.npy -o "$name"
done
fails 'a file for nothing' '-o: the picture of --svg replaces the text' explain V100:f16 -a '1*4' -b '1*4' --svg x.svg -o x.txt
check 'text beside a picture' runs 1 trace V100:f16 H100:f16 A.npy B.npy --svg x.svg -o x.txt
check 'text beside a picture: both' [ -s x.svg -a -s x.txt -a ! -s in/stdout ]
check 'text and picture by -o' runs 1 trace V100:f16 H100:f16 A.npy B.npy -o y.txt -o y.svg
check 'text and picture by -o: both' cmp x.txt y.txt
check 'text and picture by -o: the picture' cmp x.svg y.svg
check 'a tree for Graphviz' runs 0 tree V100:f16 -o y.dot
check 'a tree for Graphviz: it is there' grep -q '^digraph' y.dot
rm -f out.txt x.svg x.txt y.svg y.txt y.dot

# ---- Vectors of a file ----

check 'a second file to convert to' runs 0 vectors convert five.txt five.bin
check 'a second file to convert to: binary' cmp five.bin <("$softmma" vectors convert five.txt --format binary -o b && cat b)
check 'results of given vectors' runs 0 vectors record five.txt --unit custom:other.json unit.json -o recorded.txt
check 'results of given vectors: their operands' \
  cmp <(sed '/^#/d; s/ [^ ]*$//' five.txt) <(sed '/^#/d; s/ [^ ]*$//' recorded.txt)
gives 'results of given vectors: of the unit' 0 '^rows=5 mismatches=0$' verify recorded.txt --unit custom:other.json
check 'results of the model' runs 0 vectors record H100:f16 five.bin -o again.txt
check 'results of the model: a note' grep -q "note: SoftMMA's model computes the results" in/stderr
check 'results of the model: the same' cmp <(sed '/^#/d' five.txt) <(sed '/^#/d' again.txt)
check 'vectors from standard input' [ "$("$softmma" vectors record - -o - <five.txt 2>in/stderr | sed '/^#/d')" = \
  "$(sed '/^#/d' five.txt)" ]
fails 'vectors of other formats' 'five.txt: its test vectors are of wgmma.m64n8k16.f32.f16.f16, with K = 16, a in f16' \
  vectors record H100:e4m3 five.txt -o again.txt
fails 'the number of given vectors' '--rows: it has no effect with a file; leave it out' \
  vectors record five.txt -n 5 -o again.txt
fails 'the kind of given vectors' '--kind: it has no effect with a file' vectors record five.txt --kind edge -o again.txt
sed '/^[^#]/d' five.txt >none.txt
fails 'no vectors in a file' 'none.txt: it has no test vectors' vectors record none.txt --unit model -o again.txt
for kind in special:edge nan:edge inf:edge subnormal:tiny denormals:tiny zero:zeros; do
  ends 0 vectors gen H100:f16 -n 5 --kind "${kind#*:}"
  cp in/stdout in/wanted
  check "kind ${kind%:*}" runs 0 vectors gen H100:f16 -n 5 --kind "${kind%:*}"
  check "kind ${kind%:*}: ${kind#*:}" cmp in/wanted in/stdout
  check "kind ${kind%:*}: a note" grep -q "the kind '${kind%:*}' is '${kind#*:}'" in/stderr
done
rm -f five.bin b recorded.txt again.txt none.txt

# ---- Limits that are not kept ----

for option in --split-k=3:'slices with elements: 2 of 3, because K = 32 and a slice has a multiple of 16' \
  --promote-every=32:'K = 32 is not greater than 32, so no partial sum moves before the end'; do
  for way in --threads=1 --out=bf16 --memory=1000000; do
    check "${option%%:*} $way" runs 0 gemm H100:f16 A.npy B.npy "${option%%:*}" "$way" -o E.npy
    check "${option%%:*} $way: a note" grep -qF "${option#*:}" in/stderr
  done
done
check 'slices and promotion within K' runs 0 gemm H100:f16 A.npy B.npy --split-k 2 --promote-every 16 -o E.npy
check 'slices and promotion within K: no note' [ -z "$(grep -E 'split-k|promote-every' in/stderr)" ]
rm E.npy
finish
