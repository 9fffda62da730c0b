#!/usr/bin/env bash
# The command's behaviour: results, exit statuses, messages, files left behind. vector_files.sh tests `vectors` and
# `verify`, self_test.sh tests `self-test`. Usage: command.sh SOFTMMA
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: command.sh SOFTMMA}")
source_directory=$(realpath "$(dirname "$0")/..")
data=$source_directory/examples/data
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"

# ---- Making and reading files ----

# safetensors FILE JSON HEX: writes a .safetensors file with this header and these data
safetensors() {
  {
    bytes "$(printf '%02x%02x000000000000' $((${#2} & 255)) $((${#2} >> 8)))"
    printf '%s' "$2"
    bytes "$3"
  } >"$1"
}

# holds FILE HEX: checks the data of a .npy file that softmma wrote
holds() { [ "$(tail -c +129 "$1" | od -An -v -tx1 | tr -d ' \n')" = "$2" ]; }

# ---- Help and version ----

# Prints in how many different columns the descriptions of options begin; it should be 1.
option_columns() { grep -oE '^  (-.,|   ) --[^ ]+  +' | awk '{ print length }' | sort -u | wc -l; }
gives 'help' 0 '^  verify  ' --help
check 'help: summaries stand in one column' \
  [ "$(sed -n '/^Look up:/,/^Measure:/p' in/stdout | grep -vc -e '^  .\{15\}  [^ ]' -e '^[A-Z][a-z ]*:$' -e '^$')" -eq 0 ]
check 'help: lines of at most 100 columns' [ "$(grep -cE '^.{101}' in/stdout)" -eq 0 ]
gives 'help of a command, by its name' 0 '^Multiply whole matrices' help gemm
for command in $("$softmma" --help | sed -n 's/^  \([a-z-]*\)  .*/\1/p'); do
  gives "$command --help" 0 '^Usage: softmma '"$command"'.*' "$command" --help
  check "$command --help: a sentence first" grep -qE '^[A-Z][^.]+\.$' <(head -n 1 in/stdout)
  check "$command --help: two examples after the usage" \
    [ "$(sed -n '4,8p' in/stdout | grep -cE "^Examples:$|^  softmma $command( |$)")" -ge 3 ]
  check "$command --help: texts begin in one column" [ "$(option_columns <in/stdout)" -eq 1 ]
  check "$command --help: lines of at most 100 columns" [ "$(grep -cE '^.{101}' in/stdout)" -eq 0 ]
done
gives 'version' 0 '^softmma [0-9]+\.[0-9]+\.[0-9]+$' version
gives '--version' 0 '^softmma [0-9]' --version
gives 'version --json' 0 '"version": "[0-9]' version --json
gives 'version names the kernels' 0 '^kernels +([a-z0-9]+, )*core \(of this CPU' version
kernels=$(sed -n 's/^kernels *\([^(]*\).*/\1/p' in/stdout | tr -d ,)
listed=$("$softmma" list --json | jq length) unlisted=$("$softmma" list --on cdna3-r1 --json | jq length)
gives 'version counts what list leaves out' 0 \
  "^instructions +$((listed + unlisted)) on [0-9]+ architectures, with the $unlisted of cdna3-r1\$" version
check 'version: the modules of devices are found under a name without a folder, too' \
  [ "$(PATH=$(dirname "$softmma"):$PATH; exec -a softmma "$softmma" version)" = "$("$softmma" version)" ]
gives 'version --json has the kernels' 0 '"kernels": \[' version --json
volta_unit=(--on V100 --instr HMMA.884.F32.F32)
fails 'no arguments' 'a command is missing: one of list, show, ' # without arguments
fails 'unknown command' "unknown command 'gem'; nearest: gemm, vectors gen" gem
fails 'help of an unknown command' "unknown command 'gem'" help gem
fails 'unknown option' "--formas: unknown option; nearest: --formats \\(see 'softmma list --help'" list --formas
fails 'unknown option with a value' "--rwos=3: unknown option; nearest: --rows \\(see" vectors gen --rwos=3
fails 'unknown letter' "-x: unknown option .see 'softmma list --help'" list -x
fails 'option without its value' '--rows: missing argument' vectors gen --rows
fails 'a number that is none' "--rows: 'many' is no whole number, as 1000000, 1_000_000 or 1e6" vectors gen --rows many
fails 'a number that is none, behind =' "--rows: 'many' is no whole number" vectors gen --rows=many
for number in 1e 1e- 1e-1 1.5 1__0 _1 1_ 0x10 1e19 9223372036854775808 '' ' 1' 1.25e1; do
  fails "no count: '$number'" "--rows: '$number' is no whole number" vectors gen "${volta_unit[@]}" --rows "$number"
done
for number in 12 1_2 1.2e1 12e0 1.2E+1 0012; do
  gives "a count: $number" 0 '^# arch: volta$' vectors gen "${volta_unit[@]}" --rows $number
  check "a count: $number rows" [ "$(grep -vc '^#' in/stdout)" -eq 12 ]
done
fails 'a count beyond an int' "--threads: '3e9' is no whole number, .*, or is too large" \
  experiment accumulation --threads 3e9
gives 'counts elsewhere' 0 '16' bench --on V100 --in f16 --size 1.6e1 --repetitions 1e0 --blas none
fails 'surplus argument' "unexpected argument 'more.txt'" units more.txt
fails 'missing arguments' 'too few arguments: softmma gemm TARGET' gemm --on H100
fails 'missing argument' 'two files are needed, A and B' compare --on H100 A.npy
fails 'a name with a newline' "unknown command 'a\?b'" $'a\nb'
"$softmma" list >/dev/full 2>in/stderr
check 'a full disk' [ $? -eq 2 ]
check 'a full disk is said' says '^softmma: could not write the output'

# ---- list and show ----

gives 'list has whole parameters' 0 'slices_b=2 phases=4, 2 steps$' list blackhole
gives 'list' 0 '^hopper +wgmma\.m64n8k16\.f32\.f16\.f16 +N=8\.\.256 step 8 +T-FDPA +F=25 L=16 rho=RZ-FP32 e_zero=-133' \
  list
gives 'list ends with the totals' 0 '^[0-9]+ instructions in [0-9]+ rows$' list
gives 'list --arch' 0 '^volta +mma\.m8n8k4\.f32\.f16\.f16\.f32 ' list V100
check 'list lists no other' [ "$(grep -cv '^volta ' in/stdout)" -eq 2 ]
gives 'list --all' 0 ' wgmma\.m64n256k16\.f32\.f16\.f16 ' list H100 --all
gives 'list cdna3-r1' 0 ' revision=1$' list cdna3-r1
gives 'list --json' 0 '^    "arch": "volta",$' list --json
for key in arch name aliases m n k a b c d scale model parameters evidence; do
  check "list --json has '$key'" grep -q "^    \"$key\": " in/stdout
done
gives 'list --gpus' 0 '^ada +RTX 4090$' list --gpus
gives 'list --gpus --json' 0 '"name": "MI300X"' list --gpus --json
gives 'list --formats' 0 '^e4m3 +8 +4 +3 +7 +448 +0.015625 +0.001953125 +- +yes$' list --formats
gives 'block formats' 0 '^nvfp4 +e2m1 +ue4m3, shared by 16 elements$' list --formats
gives 'formats spelled out' 0 '^e4m3-bias11-fnuz +8 +4 +3 +11 +30 ' list --formats e4m3-bias11-fnuz e5m10
gives 'a P3109 format' 0 '^binary8p3se +8 +5 +2 +16 +49152 .* yes +yes$' list --formats P3109_k8p3se
gives 'a format by another name' 0 '^f16 +16 +5 +10 +15 +65504 ' list --formats e4m3-bias11-fnuz e5m10
gives 'list --facts' 0 '"softmma-facts": 1,' list --facts
fails 'list --facts of a GPU' "'H100': a target has no effect with --facts" list --facts H100
gives 'list --experiments' 0 '^zero-sign: the sign of a sum' list --experiments
gives 'list --experiments --json' 0 '"name": "zero-sign"' list --experiments --json
fails 'list of two things' 'are different lists; give only one' list --gpus --formats
fails 'list of an unknown architecture' "unknown GPU or architecture 'hoper'; nearest: hopper" list hoper

while IFS='|' read -r name gpu canonical; do
  gives "show $name" 0 "^instruction +$canonical\$" show "$name" --on "$gpu"
done <<'END'
mma.m16n8k16.f32.f16.f16.f32|A100|mma.m16n8k16.f32.f16.f16.f32
HMMA.884.F32.F32|V100|mma.m8n8k4.f32.f16.f16.f32
hmma.16816.f32.bf16|sm_90|mma.m16n8k16.f32.bf16.bf16.f32
QGMMA.64x8x32.F32.E4M3.E4M3|H200|wgmma.m64n8k32.f32.e4m3.e4m3
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32|NVIDIA GeForce RTX 4090|mma.m16n8k16.f32.f16.f16.f32
v_mfma_f32_16x16x16_f16|gfx942|v_mfma_f32_16x16x16_f16
v_mfma_f32_16x16x16f16|AMD Instinct MI300X|v_mfma_f32_16x16x16_f16
vdpbf16ps|x86|vdpbf16ps
_tile_dpbf16ps|AMX|tdpbf16ps
vbfmmlaq_f32|Neoverse V1|bfmmla
svmopa_za32_bf16_m.ebf|AArch64|bfmopa.ebf
__builtin_mma_pmxvf16ger2pp|Power10|xvf16ger2pp
END
gives 'show has evidence' 0 '^evidence +[^ ]' show HMMA.16816.F32 --on A100
gives 'show has open questions' 0 '^open +[^ ]' show HMMA.16816.F32 --on A100
gives 'show on every GPU' 0 '^architecture +ampere' show HMMA.16816.F32
gives 'show --json' 0 '^\{$' show HMMA.16816.F32 --on H100 --json
gives 'show --json on every GPU' 0 '^\[$' show HMMA.16816.F32 --json
for command in list show; do
  fails "$command of no format" '^softmma: e9m9: .*bits' $command e9m9
done
fails 'list of neither a GPU nor a format' "'fp9' \(see 'softmma list --gpus' and 'softmma list --formats'\)$" list fp9
fails 'show of an unknown name' "no instruction or GPU 'HMMA.16816.F33'; nearest: HMMA.16816.F32" show HMMA.16816.F33
fails 'show of a vendor' "'NVIDIA' is a vendor: name a GPU or an architecture: volta, turing, .*rtx-blackwell \\(" show nvidia
fails 'list of a vendor' "'Tenstorrent' is a vendor: name a GPU or an architecture: wormhole, blackhole \\(" list tenstorrent
fails 'show of a misspelt vendor' 'nearest: Tenstorrent \(' show tenstorent
fails 'show of a part of a GPU' "nearest: apple-m1, Apple M1, " show m1
fails 'show of more than the name of a GPU' 'nearest: n150 \(' show tt-n150
fails 'names far from the nearest are omitted' 'nearest: wormhole \(' show wormhol
fails 'integers without a model' 'no model of s8 x s8 -> s32 on n150: .*as ttsim has it; it has: bf16->f32' dot --on n150:s8
fails 'show of an ambiguous name' "'UTCHMMA' fits 4 instructions that compute differently; name one: tcgen05" \
  show UTCHMMA --on B200

# ---- dot ----

# NAME|GPU|INSTRUCTION|A|B|C|D
while IFS='|' read -r name gpu instruction a b c d; do
  gives "dot: $name on $gpu" 0 "^0x$d  " dot --on "$gpu" --instr "$instruction" --a "$a" --b "$b" --c "$c"
done <<'END'
2^23 - 2^23 - 0.875|V100|HMMA.884.F32.F32|-8192 1 1 1|1024 -0.5 -0.25 -0.125|0x1p23|00000000
2^23 - 2^23 - 0.875|T4|HMMA.1688.F32|-8192 1 1 1 0*4|1024 -0.5 -0.25 -0.125 0*4|0x1p23|bf000000
2^23 - 2^23 - 0.875|A100|HMMA.16816.F32|-8192,1,1,1,0*12|1024,-0.5,-0.25,-0.125,0*12|8388608|bf000000
2^23 - 2^23 - 0.875|H100|HMMA.16816.F32|-8192 1*3 0*12|1024 -0.5 -0.25 -0.125 0*12|0x1p23|bf400000
2^23 - 2^23 - 0.875|B200|HMMA.16816.F32|-8192 1*3 0*12|1024 -0.5 -0.25 -0.125 0*12|0x1p23|bf400000
2^23 - 2^23 - 0.875|MI100|v_mfma_f32_32x32x8f16|-8192 1*3 0*4|1024 -0.5 -0.25 -0.125 0*4|0x1p23|bf600000
2^23 - 2^23 - 0.875|MI250X|v_mfma_f32_32x32x8f16|-8192 1*3 0*4|1024 -0.5 -0.25 -0.125 0*4|0x1p23|00000000
2^23 - 2^23 - 0.875|MI210|v_mfma_f32_32x32x4bf16|-8192 1*3|1024 -0.5 -0.25 -0.125|0x1p23|bec00000
2^23 - 2^23 - 0.875|MI300X|v_mfma_f32_16x16x32_bf8_bf8|-8192 1*3 0*28|1024 -0.5 -0.25 -0.125 0*28|0x1p23|bf800000
2^23 - 2^23 - 0.875|H100|DMMA.16x8x4|-8192 1*3|1024 -0.5 -0.25 -0.125|0x1p23|bfec000000000000
a product is not normalised|V100|HMMA.884.F32.F32|1.5 1 1 0|1.5 0x1p-23*2 0|0|40100001
a product is not normalised|V100|HMMA.884.F32.F32|1 1 1 0|2.25 0x1p-23*2 0|0|40100000
-0 + (-0)*(+0)|T4|HMMA.1688.F32|-0 0*7|0*8|-0|00000000
infinity|A100|HMMA.16816.F32|inf 0*15|1*16|0|7f800000
NaN|A100|HMMA.16816.F32|nan 0*15|1*16|0|7fffffff
END
a='9b94 19f3 9a2e 1a67 9a25 9b4e 9b29 9a33 99e0 1a14 9914 99d1 9ae9 1b1a 9a9c 1b3a'
b='9aaf 99f3 9acc 1b7c 19ed 1b25 9a1b 9a20 9af7 9a48 1ae1 1b32 1b12 1b0e 9a68 1735'
gives 'dot --hex: recorded on an H100' 0 '^0x0000000b  ' \
  dot --on H100 --instr HMMA.16816.F32.BF16 --hex --a "$a" --b "$b"
gives 'dot --hex takes 0x' 0 '^0x40000000  2$' \
  dot --on V100 --instr HMMA.884.F32.F32 --hex --a '0x3c00 0*3' --b '0x4000 0*3' --c 0
gives 'dot --json' 0 '"d": "40100001"' dot --on V100 --instr HMMA.884.F32.F32 -a '1.5 1 1 0' -b '1.5 0x1p-23*2 0' --json
gives 'dot --json of infinity' 0 '"value": "inf"' dot --on V100 --instr HMMA.884.F32.F32 -a 'inf 0*3' -b '1*4' --json
gives 'dot --explain' 0 'd = 0x40100001 = 2\.25' \
  dot --on V100 --instr HMMA.884.F32.F32 -a '1.5 1 1 0' -b '1.5 0x1p-23*2 0' --explain
while IFS='|' read -r gpu instruction k; do
  gives "dot --explain: $instruction" 0 '^d = 0x' dot --on "$gpu" --instr "$instruction" -a "1*$k" -b "0.5*$k" --explain
done <<'END'
H100|mma.m16n8k32.f32.e4m3.e4m3.f32|32
MI210|v_mfma_f32_32x32x8f16|8
MI100|v_mfma_f32_32x32x8f16|8
MI300X|v_mfma_f32_16x16x16_f16|16
MI300X|v_mfma_f32_16x16x32_fp8_fp8|32
x86|vdpbf16ps|2
x86|tdpbf16ps|32
x86|vpdpbusds|4
arm|bfmmla|4
arm|fmmla.d|2
power|xvbf16ger2pp|2
H100|DMMA.884|4
END
nvfp4=mma.m16n8k64.block16.f32.e2m1.e2m1.f32.ue4m3
gives 'dot with scales' 0 '^0x42200000  40$' \
  dot --on sm_120 --instr $nvfp4 -a '1*64' -b '1*64' -c -8 --scale-a '0.5*4' --scale-b '1.5*4'
gives 'dot with scales, --json' 0 '"scale_a": \[' \
  dot --on sm_120 --instr $nvfp4 -a '1*64' -b '1*64' --scale-a '1*4' --scale-b '1*4' --json
gives 'dot with scales, --explain' 0 '^d = 0x42800000 = 64$' \
  dot --on sm_120 --instr $nvfp4 -a '1*64' -b '1*64' --scale-a '1*4' --scale-b '1*4' --explain
gives 'dot rounds a value' 0 '^0x3dccc000  ' dot --on V100 --instr HMMA.884.F32.F32 -a '0.1 0*3' -b '1*4'
check 'dot says what it rounds' says '^softmma: note: --a\[0\]: 0\.1 is no value of f16 and is taken as 0.0999755859375'
gives 'dot of a value beyond all formats' 0 '^0x7f800000  inf$' \
  dot --on V100 --instr HMMA.884.F32.F32 -a '1 0*3' -b '1*4' -c 1e999
check 'dot says that, too' says 'note: --c\[0\]: 1e999 is no value of f32 and is taken as inf'

dot=(dot --on H100 --instr HMMA.16816.F32)
fails 'dot: unknown GPU' "--on: unknown GPU or architecture 'H10'; nearest: H100" dot --on H10 --instr HMMA.16816.F32
fails 'dot: unknown instruction' "--instr: H100 has no instruction 'HMA.16816.F32'; nearest: HMMA.16816.F32" \
  dot --on H100 --instr HMA.16816.F32
fails 'dot: an instruction of other GPUs' "--instr: V100 has no instruction .*; it is on: ampere \(A100, " \
  dot --on V100 --instr HMMA.16816.F32
fails 'dot: ambiguous name' "--instr: 'UTCHMMA' fits 4 instructions that compute differently; name one: " \
  dot --on B200 --instr UTCHMMA
fails 'dot: no GPU' '--on is missing; for example --on H100' dot --instr HMMA.16816.F32
fails 'dot: no instruction' '--instr NAME or --in FORMAT is missing' dot --on H100
fails 'dot: no a' '--a is missing' "${dot[@]}" -b '1*16'
fails 'dot: no b' '--b is missing' "${dot[@]}" -a '1*16'
gives 'dot: zeros after the last element' 0 '^0x40c00000  6$' "${dot[@]}" -a '1 2 3' -b '1*16'
check 'dot: zeros after the last element: a note' says '^softmma: note: --a has 3 elements; the other 13 of K = 16 are 0$'
fails 'dot: no elements' "--a has 0 elements, but the instruction takes 16 \('X\*N' stands" "${dot[@]}" -a ' ' -b '1*16'
fails 'dot: too many elements' '--b has 17 elements, but the instruction takes 16$' "${dot[@]}" -a '1*16' -b '1*17'
fails 'dot: two values of c' '--c has 2 elements, but the instruction takes 1$' "${dot[@]}" -a '1*16' -b '1*16' -c '1 2'
fails 'dot: bad number' "--b\[1\]: '1\.5x' is not a number" "${dot[@]}" -a '1*16' -b '1 1.5x 0*14'
fails 'dot: bad count' "--a: '1\*x': the count after '\*'" "${dot[@]}" -a '1*x' -b '1*16'
fails 'dot: bad hex' "--a\[15\]: 'xyz' is not hexadecimal" "${dot[@]}" --hex -a '0*15 xyz' -b '0*16'
fails 'dot: hex too wide' "--a\[0\]: '13c00' does not fit the 16 bits of f16" \
  "${dot[@]}" --hex -a '13c00 0*15' -b '0*16'
fails 'dot: hex far too wide' "--c\[0\]: '1{17}' does not fit" \
  "${dot[@]}" --hex -a '0*16' -b '0*16' -c 11111111111111111
fails 'dot: FP4 too wide' "does not fit the 4 bits of e2m1" \
  dot --on sm_120 --instr $nvfp4 --hex -a '10*64' -b '0*64' --scale-a '38*4' --scale-b '38*4'
fails 'dot: scales missing' '--scale-a is missing' dot --on sm_120 --instr $nvfp4 -a '1*64' -b '1*64'
fails 'dot: too few scales' '--scale-b has 1 element, but the instruction takes 4' \
  dot --on sm_120 --instr $nvfp4 -a '1*64' -b '1*64' --scale-a '1*4' --scale-b 1
fails 'dot: needless scales' '--scale-b: .* takes no scale factors' "${dot[@]}" -a '1*16' -b '1*16' --scale-b 1
fails 'dot: a drawing as JSON' '--explain: a drawing is no JSON' "${dot[@]}" -a '1*16' -b '1*16' --explain --json

# ---- explain ----

explain=(explain --instr HMMA.16816.F32 -a '-8192 1*3 0*12' -b '1024 -0.5 -0.25 -0.125 0*12' -c 0x1p23)
"$softmma" dot "${explain[@]:1}" --on H100 --explain >dot.txt
gives 'explain' 0 '^d = 0xbf400000 = -0\.75$' "${explain[@]}" --on H100
check 'explain prints what dot --explain does' cmp dot.txt in/stdout
gives 'explain: two GPUs' 1 '^first difference: alignment of a\[2\]\*b\[2\]: H100 retains bits down to 2\^-2; A100 ' \
  "${explain[@]}" --on H100,A100
check 'explain: the row is marked in both' [ "$(grep -c '^> a\[2\]\*b\[2\]' in/stdout)" = 2 ]
check 'explain: so are the bits of the results' grep -qE '^ +\^\^$' in/stdout
gives 'explain: no difference' 0 '^no difference: every step has the same outcome$' "${explain[@]}" --on A100,A100
gives 'explain: two GPUs as JSON' 1 '"first_difference": "alignment of ' "${explain[@]}" --on H100,A100 --json
gives 'explain: as JSON' 0 '"greatest_exponent": 23' "${explain[@]}" --on H100 --json
gives 'explain: a picture' 0 '^<svg xmlns="http://www.w3.org/2000/svg" version="1.1"' \
  "${explain[@]}" --on H100 --svg -
"$softmma" "${explain[@]}" --on H100 --svg picture.svg >silent.txt
check 'explain: a picture in a file' cmp picture.svg in/stdout
check 'explain: and nothing else' [ ! -s silent.txt ]
"$softmma" vectors gen --on H100 --instr HMMA.16816.F32 --rows 3 -o rows.txt
d=$(tail -n 1 rows.txt | sed 's/.* //')
gives 'explain: a row of a vector file' 0 "^d = 0x$d = " explain --row 3 rows.txt
gives 'explain: a row, on another GPU' 0 '^T-FDPA, F = 24, L = 8' explain --row 3 --on A100 --instr HMMA.16816.F32 rows.txt
ends 0 vectors convert rows.txt rows.json
gives 'explain: a row of a vector file in JSON' 0 "^d = 0x$d = " explain --row 3 rows.json
check 'vectors record: a vector file in JSON' runs 0 vectors record rows.json -o recorded.txt
fails 'explain: no such row' '--row: rows.txt has fewer than 4 rows' explain --row 4 rows.txt
fails 'explain: a row that does not fit' 'rows.txt does not fit mma.m8n8k4.f32.f16.f16.f32: K is 4 in one and 16 in the' \
  explain --row 1 --on V100 --instr HMMA.884.F32.F32 rows.txt
fails 'explain: a file without a row' "'softmma explain rows.txt --row 1' explains a test vector" explain rows.txt
fails 'explain: a row and operands' '--a: it has no effect with --row' \
  explain --row 1 -a 1 rows.txt
fails 'explain: no GPU' '--on is missing; for example --on H100,A100' "${explain[@]}"
planned=(explain --on A100 --instr mma.m16n8k4.f32.tf32.tf32.f32)
gives 'explain --plan' 0 "^the chain's sum, 32800000 1\.4901161e-08, added to total 0, 3f800000 1: 3f800000 1\$" \
  "${planned[@]}" --plan cutlass:2xacc -a '1 0*127 0x1p-13' -b '1 0*127 0x1p-13'
check 'explain --plan: zeros' grep -q '^calls 1 to 31: products of zero alone, the sum stays 3f800000 1$' in/stdout
"$softmma" "${planned[@]}" --plan cutlass:2xacc -a 'nan 0*129' -b '1 0*3 nan 0*125' >nan.txt 2>&1
check 'explain --plan: 0 * NaN is not zero' grep -q '^call 1, k = 4\.\.7, onto ' nan.txt
check 'explain --plan: where a call is' grep -q '^call 32, k = 128, onto 00000000 0:$' in/stdout
gives 'explain --plan --json' 0 '"to": "total 0"' "${planned[@]}" --plan cutlass:2xacc -a '1*129' -b '1*129' --json
check 'explain --plan --json has d' grep -q '^  "d": "43010000"$' in/stdout
fails 'explain --plan: scale factors' '--plan: a row with scale factors is not explained' \
  "${planned[@]}" --plan cutlass:2xacc -a '1*129' -b '1*129' --scale-a 2
gives 'explain --plan: an epilogue' 0 '^epilogue of c0a00000 -5, with factors of 1 and a bias of 0$' \
  "${planned[@]}" --plan "$source_directory/examples/plans/linear.json" -a '1*5' -b '-1*5'
check 'explain --plan: ReLU' grep -q '^d = 0000 0$' in/stdout
fails 'explain --plan: one call' '--plan: 4 products are one call of .*softmma trace' \
  "${planned[@]}" --plan cutlass:2xacc -a '1*4' -b '1*4'
fails 'explain --plan: two GPUs' "--plan: it explains operands of one GPU as text or JSON; 'softmma trace'" \
  explain --on A100,H100 --instr mma.m16n8k4.f32.tf32.tf32.f32 --plan cutlass:2xacc -a '1*9' -b '1*9'
fails 'explain --plan: lists of two lengths' '--a and --b have 9 and 8 elements' \
  "${planned[@]}" --plan cutlass:2xacc -a '1*9' -b '1*8'
fails 'explain --plan: C' '--c: the plan of cutlass:2xacc has no place for it' \
  "${planned[@]}" --plan cutlass:2xacc -a '1*9' -b '1*9' -c 1
fails 'explain --plan: scale factors' 'a row with scale factors is not explained' \
  "${planned[@]}" --plan deepgemm -a '1*9' -b '1*9'
fails 'explain --plan: too long' '--a: more than 4096 elements' "${planned[@]}" --plan cutlass:2xacc -a '1*4096 1' -b 1
fails 'explain: three GPUs' '--on: at most two' "${explain[@]}" --on H100,A100,V100
fails 'explain: another K with scale factors' 'do not take the same operands: K is 32 in one and 64 in the other' \
  explain --on B200 --instr \
  tcgen05.m128n8k32.block32.f32.e2m1.e2m1.ue8m0,tcgen05.m128n8k64.block32.f32.e2m1.e2m1.ue8m0
fails 'explain: other formats' 'do not take the same operands: a: f16 in one and bf16 in the other' \
  explain --on H100 --instr HMMA.16816.F32,HMMA.16816.F32.BF16
fails 'explain: a picture nowhere' '--svg: ' "${explain[@]}" --on H100 --svg nowhere/picture.svg
fails 'explain: a picture and JSON' "--svg: '-' is standard output, which takes the JSON" "${explain[@]}" --on H100 --svg - --json

# ---- gemm ----

npy A.npy '<f4' '(2, 2)' "$(f32 1 2 3 4)"
npy B.npy '<f4' '(2, 2)' "$(f32 5 6 7 8)"
npy C.npy '<f4' '(2, 2)' "$(f32 1 1 1 1)"
npy row.npy '<f4' '(3,)' "$(f32 1 2 3)"
npy A16.npy '<f2' '(2, 2)' 003c004000420044
npy B16.npy '<f2' '(2, 2)' 0045004600470048
product=$(f32 19 22 43 50)

# A product of small integers, which is exact with each of these options. Lines are NAME|D|OPTIONS.
while IFS='|' read -r name d options; do
  read -ra words <<<"$options"
  # shellcheck disable=SC2086 # numbers, one argument each
  if runs 0 gemm "${words[@]}" -o D.npy && holds D.npy "$(f32 $d)"; then
    pass "gemm $name"
  else
    fail "gemm $name" "softmma gemm $options: $(cat in/stderr); $(od -An -v -tx1 -j128 D.npy)"
  fi
done <<'END'
--instr|19 22 43 50|--on V100 --instr HMMA.884.F32.F32 A.npy B.npy
--in|19 22 43 50|--on H100 --in f16 A.npy B.npy
--in --out|19 22 43 50|--on H100 --in bf16 --out f32 A.npy B.npy
options behind the files|19 22 43 50|A.npy B.npy --in=f16 --on=MI300X
e4m3|19 22 43 50|--on H100 --in e4m3 A.npy B.npy
tf32|19 22 43 50|--on A100 --in tf32 A.npy B.npy
xf32|19 22 43 50|--on MI300X --in xf32 A.npy B.npy
f32|19 22 43 50|--on MI250X --in f32 A.npy B.npy
of f16 files|19 22 43 50|--on V100 --in f16 A16.npy B16.npy
-C|20 23 44 51|--on V100 --in f16 A.npy B.npy -C C.npy
--alpha --beta|41 47 89 103|--on V100 --in f16 A.npy B.npy -C C.npy --alpha 2 --beta 3
--scaling epilogue|41 47 89 103|--on V100 --in f16 A.npy B.npy -C C.npy --alpha 2 --beta 3 --scaling epilogue
--scaling operands|41 47 89 103|--on V100 --in f16 A.npy B.npy -C C.npy --alpha 2 --beta 3 --scaling operands
--beta 0|19 22 43 50|--on V100 --in f16 A.npy B.npy -C C.npy --beta 0
--split-k|19 22 43 50|--on V100 --in f16 A.npy B.npy --split-k 4
--promote-every|19 22 43 50|--on V100 --in f16 A.npy B.npy --promote-every 4
--transpose-a|26 30 38 44|--on V100 --in f16 A.npy B.npy --transpose-a
--transpose-b|17 23 39 53|--on V100 --in f16 A.npy B.npy --transpose-b
both transposed|23 31 34 46|--on V100 --in f16 A.npy B.npy --transpose-a --transpose-b
-t|19 22 43 50|--on V100 --in f16 A.npy B.npy -t 1
END
# Rounding of A and B to TF32: 2049, 2051 and 4098 are halfway between two TF32 numbers.
npy T.npy '<f4' '(2, 2)' "$(f32 2049 -2049 2051 4098)"
npy I.npy '<f4' '(2, 2)' "$(f32 1 0 0 1)"
order=True npy TF.npy '<f4' '(2, 2)' "$(f32 2049 2051 -2049 4098)"
while IFS='|' read -r options d; do
  # shellcheck disable=SC2086 # options and numbers, one argument each
  if runs 0 gemm --in tf32 $options I.npy -o D.npy && holds D.npy "$(f32 $d)"; then
    pass "gemm rounds $options"
  else
    fail "gemm rounds $options" "$(cat in/stderr); $(od -An -v -tx1 -j128 D.npy)"
  fi
done <<'END'
--on A100 T.npy|2050 -2050 2052 4100
--on RTX3090 TF.npy|2050 -2050 2052 4100
--on A100 --round-in default T.npy|2050 -2050 2052 4100
--on A100 --round-in nearest-away --memory 100000 T.npy|2050 -2050 2052 4100
--on A100 --round-in nearest-even T.npy|2048 -2048 2052 4096
--on A100 --round-in toward-zero T.npy|2048 -2048 2050 4096
--on H100 T.npy|2048 -2048 2052 4096
--on H100 --round-in toward-zero --memory 100000 TF.npy|2048 -2048 2050 4096
--on A100 --round-in toward-positive T.npy|2050 -2048 2052 4100
--on A100 --round-in toward-negative T.npy|2048 -2050 2050 4096
--on MI300X T.npy|2048 -2048 2050 4096
--on MI300X --round-in nearest-away T.npy|2050 -2050 2052 4100
END
echo '{"softmma-plan": 1, "name": "p", "round_in": "toward-zero"}' >round.json
ends 0 gemm --on A100 --in tf32 --plan round.json T.npy I.npy -o D.npy
check "a plan's round_in" holds D.npy "$(f32 2048 -2048 2050 4096)"
ends 0 gemm --on A100 --in tf32 --plan round.json --round-in nearest-away T.npy I.npy -o D.npy
check '--round-in goes before it' holds D.npy "$(f32 2050 -2050 2052 4100)"
ends 0 gemm --on A100 --in f16 T.npy I.npy -o D.npy
check 'f16 stays to nearest even' holds D.npy "$(f32 2048 -2048 2052 4096)"
ends 0 gemm --on A100 --in f16 --round-in toward-zero T.npy I.npy -o D.npy
check 'f16 toward zero' holds D.npy "$(f32 2048 -2048 2050 4096)"
gives 'a value of dot' 0 '^0x45002000 ' dot --on A100 --instr mma.m16n8k4.f32.tf32.tf32.f32 -a '2049 0*3' -b '1 0*3'
gives 'a value of dot as asked for' 0 '^0x45000000 ' \
  dot --on A100 --instr mma.m16n8k4.f32.tf32.tf32.f32 -a '2049 0*3' -b '1 0*3' --round-in toward-zero
gives 'compare one unit in two modes' 1 '^A100 +tf32, toward-zero .* 4 \(100.0 %\)' \
  compare --on A100,A100 --in tf32 --round-in nearest-away,toward-zero T.npy I.npy
gives 'trace them' 1 'A100 toward-zero' trace --on A100,A100 --in tf32 --round-in default,toward-zero T.npy I.npy --at 0,0
gives 'tolerance of a mode' 0 'tf32, toward-zero' tolerance --on A100 --in tf32 --round-in toward-zero T.npy I.npy
gives 'a note of the mode' 0 '2050' explain --on A100 --instr mma.m16n8k4.f32.tf32.tf32.f32 -a '2049 0*3' -b '1 0*3'
fails 'no such mode' "'up' is no rounding mode; give nearest-even" gemm --on A100 --in tf32 --round-in up T.npy I.npy -o D.npy
fails 'modes and targets' '2 rounding modes for 3 targets' \
  compare --on A100,H100,B200 --in tf32 --round-in nearest-away,toward-zero T.npy I.npy
fails 'a mode of blocks' 'a rule of their own' gemm --on B200 --in nvfp4 --round-in toward-zero T.npy I.npy -o D.npy
fails 'a mode of encodings' 'gives encodings' \
  dot --on A100 --instr mma.m16n8k4.f32.tf32.tf32.f32 -a '0*4' -b '0*4' --hex --round-in toward-zero
fails 'a mode of random data' 'it is for files' tolerance --on A100 --in tf32 --round-in toward-zero
fails 'a mode of an accurate product' 'computes A B alone' \
  gemm --on A100 --in f16 --method words --words 2 --round-in toward-zero T.npy I.npy -o D.npy
for mode in nearest-even nearest-away toward-zero toward-negative toward-positive; do
  ends 0 gemm --on A100 --in tf32 --round-in "$mode" T.npy I.npy -o D.npy
  ends 0 match --on A100 --in tf32 T.npy I.npy D.npy -o found.json --json
  check "match finds $mode" [ "$(sed -n 's/^  "round_in": "\(.*\)",$/\1/p' in/stdout)" = "$mode" ]
  ends 0 gemm --on A100 --in tf32 --plan found.json T.npy I.npy -o again.npy
  check "the plan says $mode" cmp D.npy again.npy
  gives "a claim of $mode" 0 "\"round_in\": \"$mode\"" match --in tf32 --claim A100:tf32 T.npy I.npy D.npy
done
gives 'match in one mode' 1 '^none' match --on A100 --in tf32 --round-in nearest-even T.npy I.npy D.npy
gives 'match in no mode' 1 'each of these ways: nearest-away, toward-zero, nearest-even, toward-negative, toward-positive' \
  match --on A100 --in tf32 T.npy I.npy T.npy
ends 1 match --on A100 --in tf32 I.npy I.npy T.npy
check 'match of exact matrices names no mode' [ -z "$(grep rounded in/stdout)" ]

gives 'gemm prints a summary' 0 '^D\.npy: 2 x 2 \(f32\), K = 2, on volta, mma\.m8n8k4\.f32\.f16\.f16\.f32; ' \
  gemm --on V100 --in f16 A16.npy B16.npy -o D.npy
check 'gemm notes nothing where nothing is rounded' silent
gives 'gemm --json' 0 '^  "d_format": "f32",$' gemm --on V100 --in f16 A16.npy B16.npy -o D.npy --json
check 'gemm wrote a .npy header' grep -qa "^.NUMPY.*{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }" D.npy
ends 0 gemm --on H100 --in f16 --out f16 A16.npy B16.npy -o D.npy
check 'gemm --out f16' holds D.npy c04c804d60514052
ends 0 gemm --on H100 --in f64 A.npy B.npy -o D.npy
check 'gemm --in f64 widens, and says so' says 'A, A\.npy: f32 stored as f64, all values exact'
product_f64=0000000000003340000000000000364000000000008045400000000000004940
check 'gemm --in f64 writes f64' holds D.npy $product_f64
npy wide.npy '<f4' '(2, 2)' "$(f32 2049 1 1 4097)"
ends 0 gemm --on V100 --in f16 wide.npy B16.npy -o D.npy
check 'gemm says what it rounds' says 'note: A, wide\.npy: f32 rounded to f16 \(to nearest even\); 2 of 4 values'
check 'gemm says nothing of what it does not round' [ "$(wc -l <in/stderr)" -eq 1 ]
npy huge.npy '<f4' '(2, 2)' "$(f32 1000000 -1000000 1 1000000)"
npy tiny.npy '<f4' '(2, 2)' 000000000000003000000080ffff7f7f
ends 0 gemm --on V100 --in f16 huge.npy tiny.npy -o D.npy
check 'gemm says what became infinite' says 'A, huge\.npy: f32 rounded to f16 .*; 3 of 4 values changed: 3 became infinite$'
check 'gemm says what became zero' says 'B, tiny\.npy: .*; 2 of 4 values changed: 1 became infinite, 1 became zero$'
ends 0 gemm --on H100 --in e4m3 huge.npy B.npy -o D.npy
check 'gemm says what saturated' says 'A, huge\.npy: f32 rounded to e4m3 .*; 3 of 4 values changed: 3 saturated$'
npy special.npy '<f4' '(2, 2)' 0000807f000000000000803f0000c07f
npy identity.npy '<f4' '(2, 2)' "$(f32 1 0 0 1)"
npy small.npy '<f4' '(2, 2)' 000080370000803f0000000000000038 # 2^-16, 1, 0, 2^-15
ends 0 gemm --on V100 --in f16 special.npy identity.npy -o D.npy
check 'gemm computes with infinity and NaN' holds D.npy 0000807fffffff7fffffff7fffffff7f
npy column.npy '<f4' '(3, 1)' "$(f32 4 5 6)"
ends 0 gemm --on V100 --in f16 row.npy column.npy -o D.npy
check 'gemm takes one dimension as a row' holds D.npy "$(f32 32)"
order=True npy fortran.npy '<f4' '(2, 2)' "$(f32 1 3 2 4)"
ends 0 gemm --on V100 --in f16 fortran.npy B.npy -o D.npy
check 'gemm reads Fortran order' holds D.npy "$product"
npy big-endian.npy '>f4' '(2, 2)' 3f800000400000004040000040800000
ends 0 gemm --on V100 --in f16 big-endian.npy B.npy -o D.npy
check 'gemm reads big-endian numbers' holds D.npy "$product"
cp A16.npy itself.npy
ends 0 gemm --on V100 --in f16 itself.npy B16.npy -o itself.npy
check 'gemm writes over its input' holds itself.npy "$product"
mkfifo in/pipe
cat in/pipe >in/piped &
"$softmma" gemm --on V100 --in f16 A16.npy B16.npy -o in/pipe >/dev/null
wait $!
check 'gemm writes to a pipe' holds in/piped "$product"

# Empty matrices.
npy no-rows.npy '<f4' '(0, 2)' ''
npy no-k-a.npy '<f4' '(2, 0)' ''
npy no-k-b.npy '<f4' '(0, 2)' ''
ends 0 gemm --on V100 --in f16 no-rows.npy B.npy -o D.npy
check 'gemm: no rows' grep -qa "'shape': (0, 2)" D.npy
check 'gemm: no rows, no data' holds D.npy ''
for scaling in '' --scaling=epilogue --scaling=operands; do
  # shellcheck disable=SC2086
  ends 0 gemm --on V100 --in f16 no-k-a.npy no-k-b.npy -C C.npy --beta 3 $scaling -o D.npy
  check "gemm: K = 0 gives beta C $scaling" holds D.npy "$(f32 3 3 3 3)"
done
ends 0 gemm --on H100 --in f16 no-k-a.npy no-k-b.npy -o D.npy
check 'gemm: K = 0 without C gives 0' holds D.npy "$(f32 0 0 0 0)"

# .safetensors and raw encodings.
safetensors one.safetensors '{"x":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}' "$(f32 1 2 3 4)"
safetensors two.safetensors '{"__metadata__":{"format":"pt"},
"a.weight":{"dtype":"F8_E4M3","shape":[2,2],"data_offsets":[0,4]},
"b.weight":{"dtype":"F8_E4M3","shape":[2,2],"data_offsets":[4,8]}}' 384044484a4c4e50
ends 0 gemm --on V100 --in f16 one.safetensors B.npy -o D.npy
check 'gemm of .safetensors' holds D.npy "$product"
ends 0 gemm --on H100 --in e4m3 two.safetensors:a.weight two.safetensors:b.weight -o D.npy
check 'gemm of named tensors' holds D.npy "$product"
check 'gemm of named tensors rounds nothing' silent
npy raw-a.npy '|u1' '(2, 2)' 38404448
npy raw-b.npy '|u1' '(2, 2)' 4a4c4e50
ends 0 gemm --on H100 --in e4m3 raw-a.npy raw-b.npy -o D.npy
check 'gemm of raw bytes' holds D.npy "$product"
check 'gemm says that they are encodings' says 'A, raw-a\.npy: raw 8-bit elements read as encodings of e4m3$'
fails 'gemm: D as safetensors' "-o: 'D\.safetensors': no safetensors file is written here; name a \.npy file" \
  gemm --on H100 --in e4m3 raw-a.npy raw-b.npy -o D.safetensors

# Integer files hold numbers for an instruction with integer operands: 2 x 2 of -1, 2, 3, -128 times 200, 1, 0, 255.
npy s8.npy '|i1' '(2, 2)' ff020380
npy u8.npy '|u1' '(2, 2)' c80100ff
npy s32.npy '<i4' '(2, 2)' 00000080ffffff7fffffffff00000000
safetensors integers.safetensors '{"a":{"dtype":"I8","shape":[2,2],"data_offsets":[0,4]},
"b":{"dtype":"U8","shape":[2,2],"data_offsets":[4,8]}}' ff020380c80100ff
ends 0 gemm --on H100 --instr mma.m16n8k32.s32.s8.u8.s32 s8.npy u8.npy -o D.npy
check 'gemm of integers' holds D.npy 38fffffffd010000580200008380ffff
check 'gemm of integers notes nothing' silent
check 'gemm writes <i4' grep -qa "'descr': '<i4'" D.npy
ends 0 gemm --on H100 --instr mma.m16n8k32.s32.s8.u8.s32 integers.safetensors:a integers.safetensors:b -o D.npy
check 'gemm of integers in .safetensors' holds D.npy 38fffffffd010000580200008380ffff
ends 0 gemm --on H100 --instr mma.m16n8k32.s32.s8.u8.s32 s8.npy u8.npy -C s32.npy -o D.npy
check 'gemm of integers wraps' holds D.npy 38ffff7ffc010080570200008380ffff
ends 0 gemm --on H100 --instr mma.m16n8k32.satfinite.s32.s8.u8.s32 s8.npy u8.npy -C s32.npy -o D.npy
check 'gemm of integers is clamped' holds D.npy 00000080ffffff7f570200008380ffff
ends 0 gemm --on MI300X --in s8 u8.npy s8.npy -o D.npy
check 'gemm of u8 for s8 saturates, and says so' says 'A, u8\.npy: u8 rounded to s8 .*saturating.; 2 of 4 values changed'
ends 0 gemm --on H100 --in s8 A.npy s8.npy -o D.npy
check 'gemm of f32 for s8' says 'A, A\.npy: f32 stored as s8, all values exact'
ends 0 compare --on A100,H100,MI300X --in s8 s8.npy s8.npy
gives 'dot of integers' 0 '^0x80000000  -2147483648$' dot --on A100 --instr IMMA.16832.S8.S8 -a '1 0*31' -b '1 0*31' \
  -c 2147483647
gives 'dot of integers, saturating' 0 '^0x7fffffff  2147483647$' dot --on A100 --instr IMMA.16832.S8.S8.SAT -a '1 0*31' \
  -b '1 0*31' -c 2147483647
fails 'probe of integers' 'adds integers exactly' probe --on A100 --in s8
fails 'tree of integers' 'sums of integers are exact' tree --on A100 --instr IMMA.16832.S8.S8
npy raw-bf16.npy '<u2' '(2, 2)' 803f004040408040
npy ml_dtypes.npy '<V2' '(2, 2)' a040c040e0400041
ends 0 gemm --on A100 --in bf16 raw-bf16.npy ml_dtypes.npy -o D.npy
check 'gemm of raw 16-bit words' holds D.npy "$product"

# Files of integers hold numbers: 1, 2, 3, 4 as a 2 x 2 matrix of each type. An unsigned type as wide as the format is
# different: its values are encodings if NumPy has no name for the format, otherwise they are refused.
integers() {
  local type=$1 bytes=$2 value zeros=0000000000000000
  for value in 01 02 03 04; do printf '%s' "$value${zeros:0:2*bytes-2}"; done
}
for type in i1 i2 i4 i8 u1 u2 u4 u8; do
  case $type in ?1) order_mark='|' ;; *) order_mark='<' ;; esac
  npy "$type.npy" "$order_mark$type" '(2, 2)' "$(integers $type ${type:1})"
  for format in f16 bf16 e4m3 tf32; do
    on=H100
    case $type,$format in
      u1,e4m3 | u2,bf16 | u4,tf32)
        ends 0 gemm --on $on --in $format $type.npy B.npy -o N.npy
        check "gemm: $type as encodings of $format" says "A, $type\.npy: raw [0-9]+-bit elements read as encodings of $format\$"
        ends 0 gemm --on $on --in $format --raw $type.npy B.npy -o D.npy
        check "gemm: $type the same with --raw" cmp N.npy D.npy
        rm N.npy
        ;;
      u2,f16)
        fails "gemm: $type may be encodings of $format" \
          "A, $type\.npy: uint[0-9]+ may be numbers or encodings of $format; give --raw" \
          gemm --on $on --in $format $type.npy B.npy -o N.npy
        ;;
      *)
        ends 0 gemm --on $on --in $format $type.npy B.npy -o D.npy
        check "gemm: $type as numbers of $format" holds D.npy "$product"
        ;;
    esac
  done
  if [ $type = u8 ]; then
    fails "gemm: $type may be encodings of f64" "A, $type\.npy: uint64 may be numbers or encodings of f64; give --raw" \
      gemm --on A100 --in f64 $type.npy B.npy -o N.npy
  else
    ends 0 gemm --on A100 --in f64 $type.npy B.npy -o D.npy
    check "gemm: $type as numbers of f64" holds D.npy "$product_f64"
  fi
done
ends 0 compare --on H100,A100 i2.npy B.npy
check 'compare: integers are numbers' says 'A, i2\.npy: int16 taken as numbers, in f64$'
npy int.npy '<i2' '(2, 2)' 0100feff03000480
ends 0 gemm --on H100 --in f16 int.npy B.npy -o D.npy
check 'gemm: negative integers' says 'A, int\.npy: int16 rounded to f16 .*; 1 of 4 values changed$'
npy long.npy '<i8' '(1, 1)' 0100000000002000
fails 'gemm: an integer beyond float64' 'long\.npy: \[0, 0\] holds 9007199254740993, which float64 does not hold' \
  gemm --on A100 --in f64 long.npy long.npy -o N.npy
for command in 'gemm -o N.npy --on H100 --in f16' 'compare --on H100,A100' 'trace --on H100,A100 --at 0,0' \
  'tolerance --on H100,A100' 'match B.npy --in f16 --out f32'; do
  # shellcheck disable=SC2086
  fails "${command%% *}: a type without a name is not f16" 'no name for its 16-bit type, .*; give --in bf16, or --raw' \
    $command ml_dtypes.npy ml_dtypes.npy
done
ends 0 compare --on H100,A100 --in bf16 ml_dtypes.npy ml_dtypes.npy
check 'compare notes encodings' says 'A, ml_dtypes\.npy: raw 16-bit elements read as encodings of bf16$'

# Files that do not name their format are in the format of the targets, as gemm reads them. 0x38 is 1 in E4M3. If the
# targets have several formats, --in names that of the file.
npy one-e4m3.npy '<V1' '(1, 1)' 38
npy one-u1.npy '|u1' '(1, 1)' 38
npy one-bf16.npy '<V2' '(1, 1)' 803f
for target in H100:e4m3,B200:e4m3=one-e4m3.npy H100:e4m3,B200:e4m3=one-u1.npy H100:bf16,MI300X:bf16=one-bf16.npy; do
  gives "compare: encodings in the targets' format, $target" 0 '^(B200|MI300X) .* 0 \(0\.0 %\) +0\.00e\+00 +0\.00e\+00 ' \
    compare --on "${target%=*}" "${target#*=}" "${target#*=}"
done
for file in one-e4m3.npy one-u1.npy; do
  for command in compare tolerance 'trace --at 0,0'; do
    # shellcheck disable=SC2086
    fails "$command: encodings for several formats, $file" \
      "A, $file: its elements are encodings, but .* \(f16 on H100.*, e4m3 on H100.*\); give --in, the format of the file" \
      $command --on H100:f16,H100:e4m3 "$file" "$file"
    # shellcheck disable=SC2086
    gives "$command: --in is the format of $file, for GPUs with other formats" 0 'MI300X.*e4m3fnuz' \
      $command H100:e4m3 MI300X:e4m3fnuz "$file" "$file" --in e4m3
  done
  gives "compare: --in is the format of $file" 0 '^H100 +e4m3 .* 0 \(0\.0 %\)' \
    compare --on H100:f16,H100:e4m3 --in e4m3 "$file" "$file"
done
for command in compare tolerance 'trace --at 0,0'; do
  # shellcheck disable=SC2086
  fails "$command: --in has no effect" '^softmma: --in: H100:f16,A100:f16 already gives it; leave it out$' \
    $command --on H100:f16,A100:f16 --in f16 A.npy B.npy
done
npy two-e5m2.npy '<f1' '(1, 1)' 40
gives 'compare: E5M2 is named by its file' 0 '^H100 +f16 .* 0 \(0\.0 %\)' compare --on H100:e4m3,H100:f16 two-e5m2.npy two-e5m2.npy
ends 0 gemm --on H100 --in e4m3 two-e5m2.npy two-e5m2.npy -o D.npy
check 'gemm of E5M2 for E4M3: the product' holds D.npy "$(f32 4)"
check 'gemm of E5M2 for E4M3: the note' says 'A, two-e5m2\.npy: e5m2 stored as e4m3, all values exact$'
safetensors packed.safetensors '{"x":{"dtype":"U8","shape":[2,2],"data_offsets":[0,4]}}' 22222222
npy ones4.npy '<f2' '(4, 1)' 003c003c003c003c
fails 'gemm: packed FP4' 'uint8 may be numbers or encodings of e2m1; .*unpack packed ones' \
  gemm --on B200 --in e2m1 packed.safetensors ones4.npy -o N.npy

# A product of f32 files that no f32 instruction gives: the message suggests other formats. 1 + 2^-20 times 1 is 1 in
# f16.
npy fine.npy '<f4' '(1, 1)' 0800803f
npy unit.npy '<f4' '(1, 1)' 0000803f
gives 'match: f32 files, another format' 1 '^only products in f32, which the files hold, were tried' \
  match --on H100 fine.npy unit.npy unit.npy
gives 'match: in that format' 0 '^fits: all 1 element$' match --on H100 --in f16 fine.npy unit.npy unit.npy

# If an option that takes a list is repeated, the lists are joined. For any other repeated option the last value is
# used.
ends 0 compare --on H100 --on A100 A.npy B.npy
check 'compare: a repeated list adds' grep -q '^A100 ' in/stdout
ends 0 compare --on V100 --on H100,A100 --on A100:bf16 A.npy B.npy
check 'compare: a list of lists' [ "$(grep -cE '^(V100|H100|A100) .*(mma|wgmma)\.m' in/stdout)" -eq 4 ]
ends 0 gemm --on V100 --in bf16 -t 2 --on H100 --threads 1 --in f16 A.npy B.npy -o D.npy
check 'gemm: the last value counts' grep -q ' on hopper, wgmma.*f16.f16;' in/stderr in/stdout

# Results that are not finite are reported, and are not counted in units or errors.
npy big.npy '<f4' '(1, 1)' 00247449
ends 1 compare --on H100,H100:e4m3 big.npy big.npy
check 'compare of infinities has no ulps' grep -qE '^H100 .* e4m3 .* 1 \(100\.0 %\)  *-  ' in/stdout
check 'compare says what has no error, for each target' grep -qxE \
  'no finite error, because they or the exact results are not finite: 1 of 1 on H100 \(f16\)' in/stdout
check 'compare says which differences are not finite' \
  grep -qx 'NaN or infinity on one side, not in the largest difference: 1 of 1 on H100 (e4m3)' in/stdout

# Scale factors: 1 x 64 and 64 x 1 ones in e2m1 (raw 2), scale factors in ue4m3 (0x38 is 1, 0x40 is 2).
npy fp4-a.npy '|u1' '(1, 64)' "$(printf '02%.0s' {1..64})"
npy fp4-b.npy '|u1' '(64, 1)' "$(printf '02%.0s' {1..64})"
npy scale-a.npy '|u1' '(1, 4)' 38404038
npy scale-b.npy '|u1' '(4, 1)' 38383840
scaled=(gemm --on sm_120 --raw --instr "$nvfp4" fp4-a.npy fp4-b.npy -o D.npy)
ends 0 "${scaled[@]}" --scale-a scale-a.npy --scale-b scale-b.npy
check 'gemm with scale factors' holds D.npy "$(f32 112)"
# For numbers without scale factors the factors are computed. Here the NVFP4 factors of both tensors are 1 (2688 = 6 *
# 448), and the scale factors of A's blocks along K are 448 and 2. If the numbers are multiplied by 2^-20, the tensor's
# factor is 2^-20.
npy blocks.npy '<f4' '(1, 20)' "$(f32 2688 448 896 1344 1792 0 0 0 0 0 0 0 0 0 0 0 12 2 0 0)"
npy ones.npy '<f4' '(20, 1)' "$(f32 2688 448 448 448 448 448 448 448 448 448 448 448 448 448 448 448 6 6 6 6)"
npy tiny.npy '<f4' '(1, 20)' \
  "0000283b0000e0390000603a0000a83a0000e03a$(f32 0 0 0 0 0 0 0 0 0 0 0)0000403700000036$(f32 0 0)" # 2^-20 times blocks.npy
gives 'gemm quantises' 0 '\(f32\), K = 20, on blackwell, tcgen05\.m128n8k64\.block16\.f32\.e2m1\.e2m1\.ue4m3;' \
  gemm --on B200 --in nvfp4 blocks.npy ones.npy -o D.npy
check 'gemm quantises: D' holds D.npy "$(f32 9232468)"
check 'gemm says what it quantises' \
  says 'note: A, blocks\.npy: f32 quantised to nvfp4 with factor 1 of the tensor; 0 of 20 values changed$'
ends 0 gemm --on B200 --in nvfp4 --transpose-a --transpose-b ones.npy blocks.npy -o D.npy
check 'gemm quantises transposed files' holds D.npy "$(f32 9232468)"
ends 0 gemm --on B200 --in nvfp4 --alpha 1048576 tiny.npy ones.npy -o D.npy
check 'gemm quantises tiny numbers' holds D.npy "$(f32 9232468)"
gives 'gemm --json: factors of the tensors' 0 '^  "factor_a": 9\.5367431640625e-7,$' \
  gemm --on B200 --in nvfp4 tiny.npy ones.npy -o D.npy --json
fails 'gemm: factors without a place' '--plan: cutlass:fast has no place for the factors of A and B in nvfp4; give it "epi' \
  gemm --on B200 --in nvfp4 --plan cutlass:fast blocks.npy ones.npy -o D.npy
fails 'gemm: factors of operands' '--scaling: operands: the factors of matrices in nvfp4 multiply the sum' \
  gemm --on B200 --in nvfp4 --scaling operands blocks.npy ones.npy -o D.npy
zeros='0 0 0 0 0 0 0 0 0 0 0 0 0 0'
# shellcheck disable=SC2086  # many zeros
npy steep.npy '<f4' '(3, 20)' \
  "$(f32 2688 1 $zeros 2800 0 0 0 0 0 $zeros 0 0 0 0 -1000000 1 $zeros)bd378635$(f32 0 0 0)"
ends 0 gemm --on B200 --in nvfp4 steep.npy ones.npy -o D.npy
check 'gemm says which blocks became zero' \
  says 'note: A, steep\.npy: 1 of 6 blocks became zero: their numbers are too small compared with the largest of the matrix'
fails 'gemm: raw encodings are not quantised' 'A, fp4-a\.npy: raw encodings have no scale factors; mxfp4 is' \
  gemm --on B200 --in mxfp4 --raw fp4-a.npy fp4-b.npy -o D.npy
gives 'gemm: A and B in formats of their own' 0 ', wgmma\.m64n8k32\.f32\.e4m3\.e5m2;' \
  gemm --on H100 --in e4m3,e5m2 blocks.npy ones.npy -o D.npy
fails 'gemm: scale factors that do not fit' "--in: 'mxfp4,nvfp4': A and B must have the same scale factors" \
  gemm --on B200 --in mxfp4,nvfp4 blocks.npy ones.npy -o D.npy
fails 'gemm: formats that a GPU lacks' '--in: B200 has no instruction for nvfp4 x nvfp4 -> e4m3; it has: .*mxfp8_e4m3->f32' \
  gemm --on B200 --in nvfp4 --out e4m3 blocks.npy ones.npy -o D.npy
fails 'gemm: D in a format that a plan rounds to' '-> e4m3; it has: .*; a plan with "d": "e4m3" rounds f32 to it$' \
  gemm --on H100 --in bf16 --out e4m3 blocks.npy ones.npy -o D.npy
gives 'gemm: D in BF16' 0 '\(bf16\), .* wgmma\.m64n8k16\.f32\.bf16\.bf16; sums in f32, D rounded to bf16;' \
  gemm --on H100:bf16 --out bf16 --split-k 2 blocks.npy ones.npy -o D.npy
check 'gemm: D in BF16 is rounded once' holds D.npy 0d4b # 9232468
npy narrow.npy '<f4' '(2, 0)' ''
npy flat.npy '<f4' '(0, 3)' ''
fails 'gemm: D in BF16 of no products' '^softmma: --out: K is 0: there is nothing to sum$' \
  gemm --on H100:bf16 --out bf16 narrow.npy flat.npy -o D.npy
rm narrow.npy flat.npy
gives 'gemm --json: D in BF16' 0 '^  "rounded_from": "f32"$' gemm --on H100:bf16 --out bf16 blocks.npy ones.npy -o D.npy --json
fails 'gemm: --out and a plan' '--out: the plan of cutlass:fast has no D in bf16; give it "d": "bf16"' \
  gemm --on H100:bf16 --out bf16 --plan cutlass:fast blocks.npy ones.npy -o D.npy
fails 'gemm: --out and a method' '--out: D of --method words is not in bf16; leave it out' \
  gemm --on H100:bf16 --out bf16 --method words --words 2 blocks.npy ones.npy -o D.npy
fails 'gemm: --out and promotion' '--promote-every: 5 is not a multiple of the instruction.s K, 16' \
  gemm --on H100:bf16 --out bf16 --promote-every 5 blocks.npy ones.npy -o D.npy
fails 'gemm: --out and operands' '--scaling: D is rounded to bf16 after alpha and beta' \
  gemm --on H100:bf16 --out bf16 --scaling operands blocks.npy ones.npy -o D.npy
fails 'gemm: C without a place' \
  '-C: the plan of cutlass:fast has no place for it; to add C give it "start": "c", or "epilogue": \["linear"\]' \
  gemm --on H100 --in f16 --plan cutlass:fast -C C.npy blocks.npy ones.npy -o D.npy
fails 'gemm: a bias without a place' '--bias: .*; give it "epilogue": \["bias"\]$' \
  gemm --on H100 --in f16 --plan cutlass:fast --bias C.npy blocks.npy ones.npy -o D.npy
fails 'gemm: scale factors missing' '--scale-b is missing' "${scaled[@]}" --scale-a scale-a.npy
fails 'gemm: scale factors of another shape' '--scale-b: scale-a.npy is 1 x 4, but this product needs 4 x 1' \
  "${scaled[@]}" --scale-a scale-a.npy --scale-b scale-a.npy
fails 'gemm: needless scale factors' '--scale-a: .* takes no scale factors' \
  gemm --on V100 --in f16 A.npy B.npy -o N.npy --scale-a scale-a.npy

# Real data, for which the result depends on the arithmetic. It must not depend on the number of threads.
real=("$data/digits-centred.npy" "$data/digits-axes.npy")
ends 0 gemm --on H100 --in f16 "${real[@]}" -o one.npy --threads 1
ends 0 gemm --on H100 --in f16 "${real[@]}" -o two.npy --threads 2
check 'gemm: the same on one and two threads' cmp -s one.npy two.npy
for kernel in $kernels; do
  gives "gemm --kernel $kernel" 0 "; ($kernel|core) kernel, " \
    gemm --on H100 --in f16 "${real[@]}" -o other.npy --kernel "$kernel"
  check "gemm --kernel $kernel: the same bits" cmp -s one.npy other.npy
done
gives 'gemm --json names the kernel' 0 '^  "kernel": "core",$' \
  gemm --on V100 --in f16 A16.npy B16.npy -o D.npy --kernel core --json
while IFS='|' read -r name options; do
  # shellcheck disable=SC2086
  ends 0 gemm --on H100 --in f16 "${real[@]}" -o other.npy $options
  check "gemm: $name changes bits of real data" differs one.npy other.npy
done <<'END'
--split-k|--split-k 2
--promote-every|--promote-every 16
--alpha|--alpha 0.3
END
ends 0 gemm --on H100 --in f16 "${real[@]}" -o other2.npy --alpha 0.3 --scaling operands
check 'gemm: --scaling operands changes bits of real data' differs other.npy other2.npy
ends 0 gemm --on H100 --in f16 "${real[@]}" -o other2.npy --alpha 0.3 --scaling epilogue
check 'gemm: --alpha acts in the epilogue' cmp -s other.npy other2.npy
real_c=("${real[@]}" -C one.npy)
ends 0 gemm --on H100 --in f16 "${real_c[@]}" -o plain.npy
ends 0 gemm --on H100 --in f16 "${real_c[@]}" -o other.npy --scaling operands
check "gemm: without factors C is the instruction's own" cmp -s plain.npy other.npy
ends 0 gemm --on H100 --in f16 "${real_c[@]}" -o other.npy --scaling epilogue
check 'gemm: --scaling epilogue adds C behind the sum' differs plain.npy other.npy
ends 0 gemm --on H100 --in f16 "${real_c[@]}" -o other.npy --beta 0.3
ends 0 gemm --on H100 --in f16 "${real_c[@]}" -o other2.npy --beta 0.3 --scaling epilogue
check 'gemm: --beta acts in the epilogue' cmp -s other.npy other2.npy
fails 'gemm: --scaling elsewhere' "--scaling: 'before' is neither epilogue nor operands" \
  gemm --on H100 --in f16 "${real[@]}" -o none.npy --scaling before

gemm=(gemm --on H100 --in f16 -o N.npy)
fails 'gemm: unknown GPU' "--on: unknown GPU or architecture 'H1000'; nearest: H100" \
  gemm --on H1000 --in f16 A.npy B.npy -o N.npy
fails 'gemm: unknown instruction' "--instr: H100 has no instruction 'x'" gemm --on H100 --instr x A.npy B.npy -o N.npy
fails 'gemm: unknown format' "--in: unknown format 'f17'; formats are f64, f32, " \
  gemm --on H100 --in f17 A.npy B.npy -o N.npy
fails 'gemm: unknown result format' "--out: unknown format 'f17'" "${gemm[@]}" A.npy B.npy --out f17
fails 'gemm: a format that the GPU lacks' '--in: V100 has no instruction for bf16 x bf16 -> f32; it has: f16->f32' \
  gemm --on V100 --in bf16 A.npy B.npy -o N.npy
fails 'gemm: --instr and --in' '--in: --instr already gives it' "${gemm[@]}" --instr HMMA.16816.F32 A.npy B.npy
fails 'gemm: neither --instr nor --in' '--instr NAME or --in FORMAT is missing' gemm --on H100 A.npy B.npy -o N.npy
fails 'gemm: no GPU' '--on is missing' gemm --in f16 A.npy B.npy -o N.npy
fails 'gemm: no output' '-o is missing' gemm --on H100 --in f16 A.npy B.npy
fails 'gemm: bad alpha' "--alpha: 'x': invalid numeric value" "${gemm[@]}" A.npy B.npy --alpha x
fails 'gemm: empty alpha' "--alpha: '': invalid numeric value" "${gemm[@]}" A.npy B.npy --alpha ''
fails 'gemm: great alpha' "--alpha: '1e999': number too large or too small" "${gemm[@]}" A.npy B.npy --alpha=1e999
fails 'gemm: small alpha' "--alpha: '1e-999': number too large or too small" "${gemm[@]}" A.npy B.npy --alpha 1e-999
fails 'gemm: bad --split-k' '--split-k: 0 is not a number of slices' "${gemm[@]}" A.npy B.npy --split-k 0
fails 'gemm: negative --promote-every' '--promote-every: -16 is negative' "${gemm[@]}" A.npy B.npy --promote-every=-16
fails 'gemm: uneven --promote-every' "--promote-every: 5 is not a multiple of the instruction's K, 16" \
  "${gemm[@]}" A.npy B.npy --promote-every 5
fails 'gemm: negative --threads' '--threads: -1 is not a number from 0' "${gemm[@]}" A.npy B.npy --threads=-1
fails 'gemm: too many threads' '--threads: 1000000 is not a number from 0' "${gemm[@]}" A.npy B.npy --threads 1000000
fails 'gemm: unknown kernel' "--kernel: this CPU has no kernel 'avx3'; it has .*core; 'softmma version' lists devices, too$" \
  "${gemm[@]}" A.npy B.npy --kernel avx3
fails 'gemm: no such file' 'none\.npy: cannot open: No such file' "${gemm[@]}" none.npy B.npy
fails 'gemm: a directory' 'this is a directory' "${gemm[@]}" in B.npy
fails 'gemm: shapes that do not fit' 'A\.npy is 2 x 2 and row\.npy is 1 x 3' "${gemm[@]}" A.npy row.npy
fails 'gemm: shapes that do not fit, transposed' 'A\.npy transposed is 2 x 2 and row\.npy is 1 x 3' \
  "${gemm[@]}" A.npy row.npy --transpose-a
fails 'gemm: C of another shape' '-C: row\.npy is 1 x 3, but A\*B is 2 x 2' "${gemm[@]}" A16.npy B16.npy -C row.npy
fails 'gemm: raw encodings of another width' 'raw-a\.npy holds raw encodings of 8 bits, but f16 has 16' \
  "${gemm[@]}" --raw raw-a.npy B.npy
fails 'gemm: raw encodings that do not fit' 'raw-a\.npy: \[0, 0\] holds 0x38, .* the 4 bits of e2m1' \
  gemm --on B200 --in e2m1 --raw raw-a.npy B16.npy -o N.npy
fails 'gemm: output in no directory' '-o: none/N\.npy: cannot write: No such file' \
  gemm --on H100 --in f16 A.npy B.npy -o none/N.npy
fails 'gemm: output is a directory' '-o: in: cannot write: this is a directory' \
  gemm --on H100 --in f16 A.npy B.npy -o in
fails 'gemm: output without a name' '-o: the name of the file is empty' gemm --on H100 --in f16 A.npy B.npy -o ''
fails 'gemm: the output is looked at first' '-o: none/N\.npy: cannot write' \
  gemm --on H100 --in f16 none.npy B.npy -o none/N.npy
mkdir H100
gives 'a folder with the name of a GPU' 0 ' x ' gemm H100 --in f16 A.npy B.npy -o folder.npy
rmdir H100

# ---- gemm --method ----

# Numbers of 12 bits, which need two FP16 words: 2049 = 2048 + 1
npy twelve-bits.npy '<f4' '(2, 2)' "$(f32 2049 -4095 1 2049)"
npy identity.npy '<f4' '(2, 2)' "$(f32 1 0 0 1)"
npy wide-identity.npy '<f8' '(2, 2)' 000000000000f03f00000000000000000000000000000000000000000000f03f
method=(gemm --on V100 --in f16 twelve-bits.npy identity.npy -o D.npy)
for options in '--method words --words 2' '--method words --words 3 --sum f32' '--method markidis --words 2' \
  '--method words --accuracy 1e-6' '--method words --words 2 --sum unit-scaled' \
  '--method markidis --words 2 --sum unit' '--method words --words 2 --subnormals off'; do
  read -ra words <<<"$options"
  ends 0 "${method[@]}" "${words[@]}"
  check "gemm $options is exact" holds D.npy "$(f32 2049 -4095 1 2049)"
  check "gemm $options notes nothing" silent
done
ends 0 "${method[@]}" --method words --words 1
check 'gemm --words 1 rounds to f16' holds D.npy "$(f32 2048 -4096 1 2048)"
ends 0 gemm --on V100 --in f16 twelve-bits.npy wide-identity.npy --method words --words 2 -o D.npy
check 'gemm --method of f64 gives f64' holds D.npy 000000000002a0400000000000feafc0000000000000f03f000000000002a040
ends 0 gemm --on V100 --in f16 twelve-bits.npy identity.npy --transpose-a --method words --words 2 -o D.npy
check 'gemm --method takes transposed files' holds D.npy "$(f32 2049 1 -4095 2049)"
ends 0 gemm --on sm_120 --instr "$nvfp4" twelve-bits.npy identity.npy --method words --words 10 -o D.npy
check 'gemm --method of a block-scaled instruction' holds D.npy "$(f32 2049 -4095 1 2049)"
gives 'gemm --method prints how' 0 '; words, p = 2; ' "${method[@]}" --method words --accuracy 1e-6
gives 'gemm --method bf16x9' 0 'tcgen05.*; bf16x9, p = 3; ' gemm B200:bf16 A.npy B.npy -o D.npy --method bf16x9
for matrices in 'wide-identity.npy identity.npy' 'twelve-bits.npy wide-identity.npy'; do
  read -ra words <<<"$matrices"
  fails "gemm: BF16x9 of f64 ($matrices)" '--method bf16x9: wide-identity.npy is not in f32; convert it to f32' \
    gemm B200:bf16 "${words[@]}" -o D.npy --method bf16x9
done
fails 'gemm: BF16x9 of f16' '--method bf16x9: wgmma.* does not multiply bf16 with results in f32; take --in bf16' \
  gemm H100:f16 A.npy B.npy -o D.npy --method bf16x9
fails 'gemm: words of BF16x9' '--words: this is for --method words, markidis; leave it out' \
  gemm H100:bf16 A.npy B.npy -o D.npy --method bf16x9 --words 2
gives 'gemm --sum blocks' 0 'words, p = 2' gemm H100:bf16 A.npy B.npy -o D.npy --method words --words 2 --sum blocks
gives 'gemm --method --json' 0 '^  "words": 3' "${method[@]}" --method markidis --words 3 --json
fails 'gemm: unknown method' "--method: unknown 'word'; there are words, markidis, bf16x9, ozaki, two-level, fallback" \
  "${method[@]}" --method word
fails 'gemm: no number of words' '--words P or --accuracy X is missing' "${method[@]}" --method words
fails 'gemm: too many words' '--words: 33 is not a number from 1 to 32' "${method[@]}" --method words --words 33
fails 'gemm: negative words' '--words: -1 is not a number from 1 to 32' "${method[@]}" --method words --words=-1
fails 'gemm: words and accuracy' '--accuracy: --words gives their number; leave one out' \
  "${method[@]}" --method words --words 2 --accuracy 1e-3
fails 'gemm: too much accuracy' '--accuracy: 1e-200 is more than 32 words of f16 can give' \
  "${method[@]}" --method words --accuracy 1e-200
fails 'gemm: negative accuracy' '--accuracy: -1 is not above 0' "${method[@]}" --method words --accuracy=-1
fails 'gemm: unknown sum' "--sum: unknown 'f16'; there are f64, f32, unit, unit-scaled" \
  "${method[@]}" --method words --words 2 --sum f16
fails 'gemm: sums that cannot go on' '--sum: mma\.m8n8k4\.f32\.f16\.f16\.f16 has C in f16 and D in f32' \
  gemm --on V100 --instr mma.m8n8k4.f32.f16.f16.f16 A.npy B.npy -o D.npy --method words --words 2 --sum unit
fails 'gemm: unknown --subnormals' "--subnormals: unknown 'no'; there are on, off" \
  "${method[@]}" --method words --words 2 --subnormals no
for option in '--words 2' '--accuracy 1e-3' '--subnormals off'; do
  read -ra words <<<"$option"
  fails "gemm: $option without a method" "${words[0]}: this is for --method words, markidis; name one" \
    "${method[@]}" "${words[@]}"
  fails "gemm: $option with another method" "${words[0]}: this is for --method words, markidis; leave it out" \
    "${method[@]}" --method ozaki "${words[@]}"
done
for option in '--slices 2' '--slice-bits 3' '--products all'; do
  read -ra words <<<"$option"
  fails "gemm: $option with another method" "${words[0]}: this is for --method ozaki; leave it out" \
    "${method[@]}" --method words --words 2 "${words[@]}"
done
fails 'gemm: --sum without a method' '--sum: this is for --method words, markidis, ozaki; name one' \
  "${method[@]}" --sum f32
fails 'gemm: --through without a method' '--through: this is for --method fallback; name one' \
  "${method[@]}" --through bf16
for option in '-C C.npy' '--alpha 2' '--beta 2' '--scaling epilogue' '--scale-a C.npy'; do
  read -ra words <<<"$option"
  fails "gemm: $option with a method" "${words[0]}.*: --method words computes A B alone" \
    "${method[@]}" --method words --words 2 "${words[@]}"
done
fails 'gemm: a method on encodings' 'raw-a\.npy holds raw encodings; --method takes numbers' \
  gemm --on H100 --in e4m3 --raw raw-a.npy raw-b.npy -o N.npy --method words --words 2
ozaki=(gemm --on A100 --in s8 twelve-bits.npy identity.npy -o D.npy --method ozaki)
for options in '--slices auto' '--slices 2 --products all' '--slices 3' '--slices 4 --slice-bits 5 --sum exact' \
  '--slices auto --sum f64 --products leading --threads 1'; do
  read -ra words <<<"$options"
  ends 0 "${ozaki[@]}" "${words[@]}"
  check "gemm --method ozaki $options is exact" holds D.npy "$(f32 2049 -4095 1 2049)"
  check "gemm --method ozaki $options notes nothing" silent
done
ends 0 "${ozaki[@]}" --slices 1
check 'gemm --slices 1 keeps seven bits' holds D.npy "$(f32 2048 -4064 0 2048)"
gives 'gemm --method ozaki prints how' 0 '; ozaki, [0-9]+ slices of A and [0-9]+ of B, of 7 bits; ' "${ozaki[@]}" --slices auto
gives 'gemm --method ozaki --json' 0 '^  "slices": "3"' "${ozaki[@]}" --slices 3 --json
gives 'gemm: as many slices as there are' 0 '; ozaki, [0-9]+ slices of A' "${ozaki[@]}"
gives 'gemm --method ozaki --json without --slices' 0 '^  "slices": "auto"' "${ozaki[@]}" --json
for slices in 0 2099 4294967298 x 3x ''; do
  fails "gemm: --slices '$slices'" "--slices: '$slices' is neither a number from 1 to 2098 nor auto" \
    "${ozaki[@]}" --slices "$slices"
done
fails 'gemm: too many bits' '--slice-bits: 8 is not a number from 1 to 7' "${ozaki[@]}" --slices 2 --slice-bits 8
fails 'gemm: slices on floating point' '--method ozaki: .* does not multiply s8 by s8, as slices are; give the GPU with --in s8' \
  "${method[@]}" --method ozaki --slices 2
fails 'gemm: slices on unsigned integers' '--method ozaki: .* does not multiply s8 by s8' \
  gemm --on A100 --in u8 twelve-bits.npy identity.npy -o D.npy --method ozaki --slices 2
fails 'gemm: words on integers' '--method words: .* takes integers' \
  gemm --on A100 --in s8 twelve-bits.npy identity.npy -o D.npy --method words --words 2
cat > unsigned.json <<'END'
{ "softmma-unit": 1, "name": "unsigned", "algorithm": "T-FDPA", "k": 4, "a": "ue5m3", "b": "f16", "d": "f32",
  "alignment_bits": 25, "block": 4, "rounding": "nearest-even", "zero_exponent": -133 }
END
fails 'gemm: words without a sign' '--method words: unsigned takes numbers without a sign in ue5m3; A and B need a sign' \
  gemm --on unsigned.json twelve-bits.npy identity.npy -o D.npy --method words --words 2
ends 0 gemm --on A100 --in e4m3 twelve-bits.npy identity.npy -o D.npy --method fallback
check 'gemm --method fallback rounds to FP8' holds D.npy "$(f32 448 -448 1 448)"
ends 0 gemm --on MI250X --in e5m2 small.npy identity.npy -o D.npy --method fallback
check 'gemm --method fallback: FP16 of CDNA 2 flushes' holds D.npy "$(f32 0 1 0 0)"
ends 0 gemm --on MI250X --in e5m2 small.npy identity.npy -o D.npy --method fallback --through bf16
check 'gemm --method fallback: BF16 does not' holds D.npy 000080370000803f0000000000000038
fails 'gemm: fallback without a format' '--method fallback: --in FORMAT is missing' \
  gemm --on A100 small.npy identity.npy -o D.npy --method fallback
fails 'gemm: fallback of wide data' '--in: f16 is no FP8, FP6 or FP4 format' \
  gemm --on A100 --in f16 small.npy identity.npy -o D.npy --method fallback
fails 'gemm: fallback with an instruction' '--instr: --method fallback takes the one of --through' \
  gemm --on A100 --in e4m3 --instr x small.npy identity.npy -o D.npy --method fallback
fails 'gemm: unknown --through' "--through: unknown 'f32'; there are f16, bf16" \
  gemm --on A100 --in e4m3 small.npy identity.npy -o D.npy --method fallback --through f32
# One product is 448 * 448, next to which a sum with 13 fraction bits loses ones. The other 255 products are ones, half
# of them in the second part.
mapfile -t ones < <(yes 1 | head -n 255)
npy long-row.npy '<f4' '(1, 256)' "$(f32 448 "${ones[@]}")"
npy long-column.npy '<f4' '(256, 1)' "$(f32 448 "${ones[@]}")"
long=(gemm --on L40S --in e4m3 long-row.npy long-column.npy -o D.npy)
ends 0 "${long[@]}"
check 'gemm: one level loses what is small' holds D.npy "$(f32 200704)"
ends 0 "${long[@]}" --method two-level
check 'gemm --method two-level keeps what comes later' holds D.npy "$(f32 200832)"
ends 0 "${long[@]}" --method two-level --promote-every 64
check 'gemm --method two-level --promote-every' holds D.npy "$(f32 200896)"
npy tall.npy '<f2' '(4611686018427387904, 0)' ''
npy flat.npy '<f2' '(0, 4611686018427387904)' ''
fails 'gemm: a result too large for memory' 'a 4611686018427387904 x [0-9]* matrix of f32 does not fit memory' \
  "${gemm[@]}" tall.npy flat.npy
if [ "$(id -u)" -ne 0 ]; then
  mkdir locked
  chmod a-w locked
  fails 'gemm: output in a locked directory' '-o: locked/N\.npy: cannot write: Permission denied' \
    gemm --on H100 --in f16 A.npy B.npy -o locked/N.npy
fi

# Damaged and unsuitable files: NAME|REGEX|TYPE|SHAPE|HEX
while IFS='|' read -r name regex type shape hex; do
  npy bad.npy "$type" "$shape" "$hex"
  fails ".npy: $name" "bad\\.npy: $regex" "${gemm[@]}" bad.npy B.npy
done <<'END'
data cut short|byte 128: 16 bytes of data expected for shape \(2, 2\), 12 present|<f4|(2, 2)|0000803f0000803f0000803f
data too long|byte 128: 16 bytes of data expected .*, 20 present|<f4|(2, 2)|0000803f0000803f0000803f0000803f00000000
more bytes than memory|byte [0-9]+: .*(4611686018427387904, 4)|<f4|(4611686018427387904, 4)|0000803f
a size that fits no word|byte [0-9]+: a dimension does not fit 64 bits|<f4|(99999999999999999999, 4)|0000803f
a negative size|byte [0-9]+: expected a dimension|<f4|(-2, 2)|0000803f
no dimension|byte 60: shape \(\) has 0 dimensions|<f4|()|0000803f
three dimensions|byte 60: shape \(2, 1, 1\) has 3 dimensions; one or two are accepted|<f4|(2, 1, 1)|0000803f0000803f
a type that is not ours|byte [0-9]+: the array's type is '<c8'; accepted are f1 .E5M2., f2, f4|<c8|(1, 1)|0000803f0000803f
a header that breaks off|byte [0-9]+: expected |<f4|(1, 1|0000803f
END
head -c 60 A.npy >bad.npy
fails '.npy: header cut short' 'bad\.npy: byte [0-9]+: ' "${gemm[@]}" bad.npy B.npy
head -c 5 A.npy >bad.npy
fails '.npy: five bytes' 'bad\.npy: only 5 bytes, too short' "${gemm[@]}" bad.npy B.npy
: >bad.npy
fails '.npy: empty' 'bad\.npy: only 0 bytes, too short' "${gemm[@]}" bad.npy B.npy
echo 'some text, and no matrix' >bad.npy
fails '.npy: text' 'bad\.npy: byte 0: neither a \.npy nor a \.safetensors file' "${gemm[@]}" bad.npy B.npy

while IFS='|' read -r name regex json hex; do
  safetensors bad.safetensors "$json" "$hex"
  fails ".safetensors: $name" "bad\\.safetensors: $regex" "${gemm[@]}" bad.safetensors B.npy
done <<'END'
data cut short|byte [0-9]+: 16 bytes of data expected|{"x":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}|0000803f
broken JSON|header .*:1:[0-9]+: |{"x":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]|0000803f
sizes that differ|.*: 4 elements of F32 take 16|{"x":{"dtype":"F32","shape":[2,2],"data_offsets":[0,4]}}|0000803f
too large|.* more elements than|{"x":{"dtype":"F32","shape":[2305843009213693952,4],"data_offsets":[0,4]}}|0000803f
an unsuitable type|header \(JSON from byte 8\): tensor 'x' is of dtype C64|{"x":{"dtype":"C64","shape":[1,1],"data_offsets":[0,8]}}|0000803f0000803f
no tensor|the file holds no tensor|{}|
END
fails '.safetensors: which tensor' 'the file holds 2 tensors; name one as FILE:NAME, from a\.weight, b\.weight' \
  "${gemm[@]}" two.safetensors B.npy
fails '.safetensors: unknown tensor' "no tensor is named 'c\.weight'; there are [ab]\.weight" \
  "${gemm[@]}" two.safetensors:c.weight B.npy

# ---- The number of a test vector ----

ends 0 vectors gen H100:f16 --kind edge -n 40 -o gen.txt
ends 0 vectors record --unit model H100:f16 --kind edge -n 40 -o record.txt
check 'vectors of a kind have the same number everywhere' cmp <(grep -v '^#' gen.txt) <(grep -v '^#' record.txt)

# ---- tolerance ----

small=(--shape 16x8x256 --on V100,H100)
gives 'tolerance' 0 '^H100 +f16 +wgmma\.[^ ]+  [0-9.e-]+  ' tolerance "${small[@]}"
for line in 'proven ' 'zeros for D .* refused by 100 %  *refused by 100 %' 'the last k dropped ' \
  'torch\.testing\.assert_close\(D\.double\(\), A\.double\(\) @ B\.double\(\), rtol='; do
  check "tolerance prints '$line'" grep -qE "^$line" in/stdout
done
check 'tolerance measures at least 64 x 64' grep -q 'measured on 4096 elements of this K (64 x 64 x 256)$' in/stdout
gives 'tolerance --paste' 0 '^torch.*0\.5 \* \(A\.double\(\) @ B\.double\(\)\) \+ 3 \* C\.double\(\), rtol=' \
  tolerance "${small[@]}" --with-c --alpha .5 --beta 3 --paste
check 'tolerance --paste prints no table' [ "$(wc -l <in/stdout)" -eq 4 ]
fails 'tolerance --paste: data' '--paste: --json prints data; leave one out' tolerance "${small[@]}" --paste --json
fails 'tolerance: no GPU' '--in: no GPU has f16 with results in bf16' tolerance --out bf16
gives 'tolerance: a missing C' 0 '^beta C missing .*refused by .*refused by .*refused by ' tolerance "${small[@]}" --with-c
gives 'tolerance: what no rtol and atol refuse' 0 \
  '^D times 1\.1: no rtol and atol that accept these GPUs can refuse it on all of them; .* \(softmma\.assert_close\) refuses it$' \
  tolerance --on H100:e4m3 --data uniform --shape 64x64x4096
check 'tolerance: what nothing refuses' grep -qE '^the last k dropped: .* accepts it$' in/stdout
gives 'tolerance: every GPU that has a format' 0 '^MI300A +e4m3fnuz ' tolerance --in e4m3fnuz --shape 1x1x64
check 'tolerance: no other' [ "$(grep -c e4m3fnuz in/stdout)" -eq 1 ]
gives 'tolerance: results stored in another format' 0 'results in bf16, rounded from f32' \
  tolerance "${small[@]}" --store bf16
gives 'tolerance of files' 0 '^[0-9]+ x [0-9]+ x [0-9]+ .*, .* times .*, results in f32' tolerance --on H100:e4m3 "${real[@]}"
gives 'tolerance of files with C' 0 '^beta C missing' tolerance --on H100 A.npy B.npy -C C.npy
gives 'tolerance of what overflows' 0 'elements have no bound: a sum may overflow, or' \
  tolerance --on A100 --in f16 --out f16 --data overflow --shape 8x8x256
check 'tolerance: no rtol and atol accept that' grep -q '^no rtol and atol accept all of these results' in/stdout
check 'tolerance: nothing to paste then' [ "$(grep -c '^torch' in/stdout)" -eq 0 ]
fails 'tolerance --paste of what overflows' '--paste: no rtol and atol accept all results' \
  tolerance --on A100 --in f16 --out f16 --data overflow --shape 8x8x256 --paste
ones=0000803f0000803f0000803f0000803f
npy ones-a.npy '<f4' '(2, 4)' $ones$ones
npy ones-b.npy '<f4' '(4, 2)' $ones$ones
npy large-c.npy '<f4' '(2, 2)' 00606a4700606a4700606a4700606a47 # 60000
printf '%s' '{"softmma-plan": 1, "name": "start", "start": "c"}' >start.json
gives 'tolerance: beta C overflows' 0 '^V100, mma.m8n8k4.f16.*: 4 results differ from the exact ones; at least one of the two' \
  tolerance V100 --in f16 --out f16 ones-a.npy ones-b.npy -C large-c.npy --beta 2 --plan start.json
gives 'tolerance: infinity saturates' 0 ' differ from the exact ones; at least one of the two is infinite or NaN$' \
  tolerance "${small[@]}" --data infinity=0.01 --store e5m2
gives 'tolerance --paste: factors' 0 '0\.10000000149011612 \* \(A\.double' tolerance "${small[@]}" --alpha 0.1 --paste
gives 'tolerance --paste of FP64' 0 '^torch.*D\.double\(\), expected, rtol=' tolerance H100:f64 --shape 8x8x64 --paste
gives 'tolerance of NaN' 0 'elements are left out, because operands are NaN or infinite' \
  tolerance "${small[@]}" --data nan=0.001
gives 'tolerance: block-scaled formats' 0 '^B200 +nvfp4 ' tolerance --on B200:nvfp4,H100:e4m3 --shape 8x8x128
gives 'tolerance of integers' 0 '^H100 +s8 .* 0\.00e\+00 +- *$' tolerance --on H100 --in s8 --shape 8x8x128
gives 'tolerance --json' 0 '^  "proven": [{]$' tolerance "${small[@]}" --json
for key in m n k data stored elements margin units measured proven mutants; do
  check "tolerance --json has '$key'" grep -q "^  \"$key\": " in/stdout
done
gives 'tolerance --plan' 0 '^H100 +f16, none +wgmma' tolerance --on H100,H100 --shape 8x8x512 \
  --plan "none,$source_directory/examples/plans/split-k.json"
check 'tolerance --plan: of each' grep -qE '^H100 +f16, [^ ]*split-k.json +wgmma' in/stdout
gives 'tolerance --plan: what it means' 0 '^torch.*D\.double\(\), expected, rtol=' \
  tolerance --on H100 --in e4m3 --shape 8x8x300 --plan deepgemm --paste
gives 'tolerance --plan: D of the plan' 0 'results in bf16; measured' tolerance --on H100 --in e4m3 --shape 8x8x300 \
  --plan deepgemm
gives 'tolerance --plan --json' 0 '^      "plan": "cutlass:2xacc"' tolerance --on H100 --shape 8x8x300 --plan cutlass:2xacc \
  --json
fails 'tolerance --plan: no place' '--alpha: the plan of cutlass:2xacc has no place for it' \
  tolerance --on H100 --shape 8x8x300 --plan cutlass:2xacc --alpha 2
fails 'tolerance --plan: K' '--plan: .*: 4 parts of 3 products' tolerance --on H100 --shape 8x8x3 \
  --plan "$source_directory/examples/plans/split-k.json"
fails 'tolerance: a shape' "--shape: '8x8' is not MxNxK, each at least 1; for example 64x64x4096" tolerance --shape 8x8
fails 'tolerance: K of 0' "--shape: '8x8x0' is not MxNxK" tolerance --shape 8x8x0
fails 'tolerance: unknown data' "--data: no data are called 'odd'" tolerance --data odd
fails 'tolerance: data that a format lacks' '--data: s8 has no such data' tolerance --in s8 --data nan
fails 'tolerance: files and data' '--data: the files give it; leave it out' tolerance --data normal A.npy B.npy
fails 'tolerance: one file' 'two files are needed, A and B; or --shape and --data' tolerance A.npy
fails 'tolerance: no file' 'none.npy: ' tolerance --on H100 none.npy B.npy
fails 'tolerance: C of random data' '-C: it is for files; --with-c gives random data a C' tolerance -C C.npy
fails 'tolerance: margin' '--margin: 0.5 is not a number from 1 to 1000' tolerance --margin .5
fails 'tolerance: no GPU has it' '--in: no GPU has f16 with results in bf16' tolerance --in f16 --out bf16
fails 'tolerance: stored integers' '--store: s8 of results in f32 is not what kernels store' tolerance --on H100 --store s8
fails 'tolerance: promotion' 'promote' tolerance "${small[@]}" --promote-every 17

fails 'tolerance: the usual seed beside files' '--seed: the files give it' tolerance H100 A.npy B.npy --seed 0
fails 'compare: the usual seed beside files' '--seed: the files give it' compare V100 H100 A.npy B.npy --seed 0

# ---- sweeps of tolerance ----

gives 'a sweep over K' 0 '^H100, e4m3, wgmma\.' tolerance H100:e4m3 V100 --sweep k=32..128 --shape 1x1x1
for line in '32 ' '64 ' '128 '; do check "a sweep has K = $line" [ "$(grep -c "^$line" in/stdout)" -eq 2 ]; done
gives 'a sweep over F' 0 '^12  .* [0-9.e-]+ +[0-9.e+]+$' tolerance H100 --sweep F=12..14 --shape 1x1x64
gives 'a sweep over formats' 0 '^e4m3  +not on A100$' tolerance H100 A100 --sweep format=f16,e4m3 --shape 1x1x64
gives 'a sweep over data' 0 'data of each kind, seed 7;' tolerance H100 --sweep data=normal,uniform --shape 1x1x64 -s 7
check 'a sweep has each kind of data' grep -q '^uniform ' in/stdout
gives 'a sweep over promotion' 0 '^64 ' tolerance H100 --sweep promote-every=32..64 --shape 1x1x64
gives 'a sweep of files' 0 '^2 ' tolerance H100:f16 A.npy B.npy --sweep K=1..2
gives 'a sweep over slices' 0 '^auto takes [0-9]+ slices? of A and [0-9]+ of B' tolerance H100:s8 A.npy B.npy --sweep slices=1..3,auto
gives 'a sweep over words' 0 '^3 .* -  .* - ' tolerance H100:bf16 A.npy B.npy --sweep words=1..3
gives 'a sweep as JSON' 0 '"sweep": "alignment_bits"' tolerance H100 --sweep alignment_bits=12,13 --shape 1x1x64 --json
ends 0 custom --from H100:f16
cp in/stdout sweep.json
gives 'a custom unit in a sweep' 0 '^12 ' tolerance sweep.json --sweep F=12 --shape 1x1x64
fails 'a sweep without values' "--sweep: 'k' is not NAME=VALUES" tolerance --sweep k
fails 'a sweep over a number of 33 bits' "alignment_bits = '4294967308' is not allowed" \
  tolerance H100 --sweep alignment_bits=4294967308
fails 'a sweep over nothing' "'depth' is no parameter of wgmma.*; it has alignment_bits, block.*; other quantities are k, format," tolerance H100 --sweep depth=3
fails 'an empty range' '--sweep: the range 9..3 is empty' tolerance H100 --sweep k=9..3
fails 'a value twice' '--sweep: 9 is given twice' tolerance H100 --sweep k=9,9
fails 'K beyond the files' '--sweep: k = 9000: A.npy and B.npy have K = ' tolerance -q H100 --sweep k=9000 A.npy B.npy
fails 'a format that no GPU has' '--sweep: no target has e4m3fnuz' tolerance H100 --sweep format=f16,e4m3fnuz
fails 'a format twice' '--on: H100:f16 has a format of its own' tolerance H100:f16 --sweep format=f16
fails 'formats without GPUs' '--sweep: a sweep over formats needs the names of GPUs' tolerance --sweep format=f16
fails 'formats and --in' '--in: --sweep gives it' tolerance H100 --in f16 --sweep format=f16
fails 'slices of f16' '--sweep: slices need an instruction with A and B in s8' tolerance H100:f16 --sweep slices=3
fails 'a sweep and --paste' '--paste: a sweep gives no rtol and atol' tolerance H100 --sweep k=3 --paste
fails 'a picture without a sweep' '--plot: it draws a sweep' tolerance H100 --plot x.svg
fails 'a picture as PDF' "--plot: 'x.pdf' ends with neither .svg nor .png" tolerance H100 --sweep k=3 --plot x.pdf
if command -v gnuplot >/dev/null; then
  for ending in svg png; do
    ends 0 tolerance H100 A100:tf32 --sweep k=32..64 --shape 1x1x1 --plot "sweep.$ending" --json
    check "a sweep as .$ending" [ -s "sweep.$ending" ]
  done
  check 'the picture has both curves' grep -q 'A100 tf32' sweep.svg
  # A file's name is text in the picture, not gnuplot's.
  cp sweep.json "q\`touch ran\`\"'\$x.json"
  ends 0 tolerance "./q\`touch ran\`\"'\$x.json" --sweep k=32,64 --shape 1x1x1 --plot names.svg
  check 'a name with quotes' grep -qF "q\`touch ran\`\"'\$x.json" names.svg
  check 'which is not run' [ ! -e ran ]
  ends 2 tolerance H100:s8 --sweep k=32 --shape 1x1x1 --plot none.svg
  check 'nothing to draw' says '^softmma: --plot: no error is above 0, so there is nothing to draw$'
else
  fails 'no gnuplot' '--plot: gnuplot is not installed' tolerance H100 --sweep k=3 --plot x.svg
fi

# ---- compare ----

fails 'compare: the same GPU twice' '--on: v100 is given twice' compare --on V100,v100 --in f16 "${real[@]}"
fails 'compare: one GPU' '--on: one target has nothing to be compared with' compare --on V100 --in f16 "${real[@]}"
fails 'trace: the same GPU twice' '--on: V100:f16 is given twice' trace --on V100,V100:f16 --in f16 "${real[@]}"
gives 'compare: GPUs that differ' 1 '^H100 +f16 +wgmma.* [1-9][0-9]* \([0-9.]+ %\)' compare --on V100,H100 "${real[@]}"
check 'compare says what is rounded, once' [ "$(grep -c '^softmma: note: A, .* rounded to f16' in/stderr)" -eq 1 ]
gives 'compare: exact products are the same everywhere' 0 '^MI300X ' compare --on V100,H100,MI250X,MI300X A.npy B.npy
gives 'compare: pairs' 1 '^results that differ, pair by pair:$' compare --on V100,H100,H100:e4m3 "${real[@]}"
gives 'compare --json' 1 '^      "instruction": "wgmma\.m64n8k32\.f32\.e4m3\.e4m3",$' \
  compare --on V100,H100:e4m3 "${real[@]}" --json
for key in m n k out units pairs; do check "compare --json has '$key'" grep -q "^  \"$key\": " in/stdout; done
gives 'compare --out' 0 ' results in f16$' compare --on V100,A100 --out f16 A.npy B.npy
gives 'compare of empty matrices' 0 ': 0 results in f32$' compare --on V100,H100 no-rows.npy B.npy
gives 'compare of infinity and NaN' 0 '^H100 ' compare --on V100,H100 special.npy identity.npy
gives 'compare: block-scaled formats' 1 '^B200 +mxfp8_e4m3,mxfp4 +tcgen05\.m128n8k32\.block32\.f32\.e4m3\.e2m1\.ue8m0 ' \
  compare --on H100,B200:nvfp4,B200:mxfp8:mxfp4 "${real[@]}"
gives 'compare: formats of A and of B' 0 '^H100 +e4m3,e5m2 +wgmma\.m64n8k32\.f32\.e4m3\.e5m2 ' \
  compare --on H100:e4m3:e5m2,H100 A.npy B.npy
plans=$source_directory/examples/plans
gives 'compare --plan: none is the chain' 0 '^H100 +f16, none .* 0 \(0\.0 %\)' \
  compare --on H200,H100 --plan none,none "${real[@]}"
echo '{"softmma-plan": 1, "name": "quarters", "sum": [{"deal": "contiguous", "parts": 4}]}' >in/quarters.json
gives 'compare --plan: one for each' 1 '^H100 +f16, \./in/quarters\.json .* [1-9][0-9]* \(' \
  compare --on H100,H100 --plan none,./in/quarters.json "${real[@]}"
gives 'compare --plan: one for all, scale factors of 1' 0 "results in bf16$" \
  compare --on H100,H100 --plan "$plans/two-level.json,$plans/block-scaled.json" "${real[@]}"
gives 'compare --plan --json' 0 '^      "plan": "cutlass:fast"' compare --on H100,H200 --plan cutlass:fast "${real[@]}" --json
gives 'compare --plan: a name with a comma' 0 '^H100 +e4m3, torch:_scaled_mm:1x128,128x128 .* 0 \(0\.0 %\)' \
  compare --on H200:e4m3,H100:e4m3 --plan torch:_scaled_mm:1x128,128x128 "${real[@]}"
gives 'compare --plan: two names with commas' 0 '^H100 +e4m3, torch:_scaled_mm:1x128,1x128 ' compare \
  --on H200:e4m3,H100:e4m3 --plan torch:_scaled_mm:1x128,128x128,torch:_scaled_mm:1x128,1x128 "${real[@]}"
ends 0 custom H100:f16 -o 'in/a,b.json'
cp in/quarters.json 'in/four,quarters.json'
gives 'compare: files with commas in their names' 1 '^\./in/a,b.json +f16, in/four,quarters\.json ' \
  compare --on H100,./in/a,b.json --plan none,in/four,quarters.json "${real[@]}"
fails 'compare --plan: other formats of D' '--plan: results of H100 are in f32 with none and those of H100 in bf16 with ' \
  compare --on H100,H100 --plan "none,$plans/two-level.json" "${real[@]}"
fails 'compare --plan: three for two' '--plan: 3 plans for 2 targets' compare --on H100,V100 --plan none,none,none A.npy B.npy
fails 'compare --plan: scale factors of both' '--plan: .*: the instruction has scale factors of its own' \
  compare --on B200:mxfp8,B200:mxfp4 --plan deepgemm "${real[@]}"
fails 'compare --plan: K that it cannot follow' '--plan: .*split-k.json: 4 parts of 2 products: some would have none' \
  compare --on H100,A100 --plan "$plans/split-k.json" A.npy B.npy
fails 'compare: no format behind the colon' "H100:: unknown format ''" compare --on H100: A.npy B.npy
fails 'compare: no GPU' '--on is missing' compare A.npy B.npy
fails 'compare: an empty list' '--on: the list of targets is empty' compare --on '' A.npy B.npy
fails 'compare: an empty name' "--on: '' is not the name of a GPU" compare --on V100,,A100 A.npy B.npy
fails 'compare: unknown GPU' "--on: unknown GPU or architecture 'V10'; nearest: V100" compare --on A100,V10 A.npy B.npy
fails 'compare: unknown format' "A100:f17: unknown format 'f17'" compare --on A100:f17 A.npy B.npy
fails 'compare: a format that a GPU lacks' 'V100 has no instruction for bf16' \
  compare --on A100,V100 --in bf16 A.npy B.npy
for command in compare tolerance; do
  fails "$command: shapes that do not fit" 'A\.npy is 2 x 2 and row\.npy is 1 x 3: .* \(if a file holds the transpose, save' \
    $command --on A100,V100 A.npy row.npy
done
fails 'compare: no such file' 'none\.npy: cannot open' compare --on A100,V100 A.npy none.npy

# ---- bench ----

# OpenBLAS and gnuplot are optional: tests that need them run only where they are installed.
bench=(bench --blas none --repetitions 1)
bench_line=' [a-z0-9]+ +[0-9.]+ [mu]?s +[0-9.]+$'
gives 'bench' 0 '^Hopper f16 +wgmma\.m64n256k16\.f32\.f16\.f16 +[a-z0-9]+ +[0-9.]+ [mu]?s +[0-9.]+$' "${bench[@]}" --size 4
check 'bench measures every family' \
  [ "$(grep -cE "$bench_line" in/stdout)" -eq "$(grep -c '^SMMA_BENCH(' "$source_directory/bench/bench.def")" ]
gives 'bench --on' 0 '^CDNA 3 xf32 ' "${bench[@]}" --on MI300X --size 4
check 'bench --on measures no other' [ "$(grep -cE "$bench_line" in/stdout)" -eq "$(grep -c '^CDNA 3' in/stdout)" ]
gives 'bench --json' 0 '^\{"on": "H100", "instr": "wgmma\.m64n8k16\.f32\.f16\.f16", "m": 3, "n": 4, "k": 5, '\
'"multiplier": false, "threads": 1, "kernel": "[a-z0-9]+", "data": "normal", "seconds": [0-9.e-]+, "gmacs": [0-9.e-]+, '\
'"slowdown": null, "baseline": null, "baseline_gmacs": null, "ratio": null, "kernel_seconds": null, '\
'"own_gmacs": null, "own_ratio": null\}$' \
  "${bench[@]}" --on H100 --in f16 --shape 3x4x5 --json
gives 'bench of lists' 0 '"instr": "mma.m16n8k16.f32.f16.f16.f32", "m": 9,' \
  "${bench[@]}" --on A100 --instr HMMA.16816.F32,DMMA.884 --size 8,9 --json
check 'bench --json: an object a line' [ "$(grep -c '^{.*}$' in/stdout)" -eq 4 ]
gives 'bench --in --out' 0 '"instr": "mma\.m16n8k16\.f16\.f16\.f16\.f16"' \
  "${bench[@]}" --on A100 --in f16 --out f16 --size 8 --json
gives 'bench --kernel' 0 '"kernel": "core"' "${bench[@]}" --on A100 --in f16 --size 8 --kernel core --json
gives 'bench --threads 0' 0 '"threads": [1-9]' "${bench[@]}" --on A100 --in f16 --size 8 --threads 0 --json
gives 'bench with scale factors' 0 '^Blackwell NVFP4 ' "${bench[@]}" --on B200 --shape 5x6x100
gives 'bench of shapes' 0 '^1 x 2 x 300 \(M x N x K\)$' "${bench[@]}" --on A100 --in bf16 --shape 4x5x6,1x2x300
gives 'bench --multiplier' 0 '"multiplier": true' "${bench[@]}" --on B200 --in nvfp4 --size 8 --multiplier --json
gives 'bench --rows' 0 '^300 rows a call of smma_dot_rows$' "${bench[@]}" --on B200 --in nvfp4 --rows 1,3e2
gives 'bench --rows --json' 0 '"rows": 7, "k": 16, .*"kernel": null' "${bench[@]}" --on A100 --in f16 --rows 7 --json
gives 'bench --data' 0 ' nan=0\.25 +[0-9.]+ [mu]s +[0-9.]+ +[0-9.]+$' \
  "${bench[@]}" --on A100 --in bf16 --size 8 --data nan=.25,zeros
check 'bench --data: normal data first' \
  [ "$(awk '/ms|us/ && $1 == "A100" { printf "%s ", $4 }' in/stdout)" = 'normal nan=0.25 zeros=0.5 ' ]
gives 'bench --data all' 0 '"data": "scales-nan=0.01"' "${bench[@]}" --on B200 --in mxfp8_e4m3 --size 8 --data all --json
check 'bench --data all: what formats have' [ "$(grep -cE '"data": "(infinity|overflow)' in/stdout)" -eq 0 ]
gives 'bench --data of rows' 0 '"data": "overflow=0.07"' \
  "${bench[@]}" --on A100 --in f16 --out f16 --rows 20 --data overflow --json
for format in f32 f64; do
  function=SGEMM number='[0-9.e-]+'
  [ $format = f32 ] || function=DGEMM
  gives "bench of $format, with OpenBLAS if there is one" 0 \
    "\"baseline\": (null, .*: null|\"OpenBLAS .* $function\", \"baseline_gmacs\": $number, \"ratio\": $number)" \
    bench --on MI250X --in $format --size 100 --json
  [ -s in/stderr ] && check 'bench says how to get OpenBLAS' says 'note: .*apt install libopenblas0-pthread'
done
if command -v gnuplot >/dev/null; then
  ends 0 "${bench[@]}" --on A100 --instr HMMA.16816.F32 --size 4,5 --chart chart.svg
  check 'bench --chart draws' grep -q '^</svg>' chart.svg
  check 'bench --chart labels the bars' grep -q 'A100 mma.m16n8k16.f32.f16.f16.f32, 5<' chart.svg
  check 'bench --chart leaves one file' [ "$(compgen -G 'chart*')" = chart.svg ]
fi
PATH=/nowhere "$softmma" bench --chart none.svg >in/stdout 2>in/stderr
check 'bench --chart without gnuplot' [ $? -eq 2 ]
check 'bench --chart says what to install' says '^softmma: --chart: gnuplot is not installed \(.*install gnuplot-nox\)$'
check 'bench --chart without gnuplot measures nothing' [ ! -s in/stdout ]
fails 'bench: chart in no directory' '--chart: none/c\.svg: cannot write: No such file' "${bench[@]}" --chart none/c.svg
fails 'bench: no such OpenBLAS' '--blas: none\.so: .*; name the file of an OpenBLAS, or none' bench --blas none.so
fails 'bench: another library' '--blas: .*: no cblas_sgemm in it' bench --blas libm.so.6
fails 'bench: unknown kernel' "--kernel: this CPU has no kernel 'x'; it has " bench --kernel x
fails 'bench: an instruction of no GPU' '--on is missing' bench --instr HMMA.16816.F32
fails 'bench: unknown instruction' "--instr: A100 has no instruction 'x'" bench --on A100 --instr HMMA.16816.F32,x
fails 'bench: unknown format' "--in: unknown format 'f17'" bench --on A100 --in f17
fails 'bench: --instr and --in' '--in: --instr already gives it' bench --on A100 --instr HMMA.16816.F32 --in f16
fails 'bench: --out alone' '--out: it goes with --in FORMAT' bench --on A100 --out f16
fails 'bench: a GPU without families' '--on: nothing is measured on cdna3-r1 by default; add' bench --on cdna3-r1
fails 'bench: no size' "--size: '' is not a size from 1 to 65536" bench --size 8,
fails 'bench: a size that is none' "--size: '0' is not a size" bench --size 0
fails 'bench: a size in two ways' '--size: --shape already gives it' bench --size 8 --shape 8x8x8
fails 'bench: half a shape' "--shape: '8x8' is not MxNxK" bench --shape 8x8
fails 'bench: a negative size' "--shape: '-8' is not a size" bench --shape 8x-8x8
fails 'bench: a shape of four' "--shape: '8x8' is not a size" bench --shape 8x8x8x8
fails 'bench: no rows' "--rows: '0' is not a number from 1 to " bench --rows 0
fails 'bench: rows of a kernel' '--kernel: --rows measures smma_dot_rows, which has none' bench --rows 1 --kernel core
fails 'bench: rows and sizes' '--size: --rows measures smma_dot_rows, ' bench --rows 1 --size 8
fails 'bench: unknown data' "--data: no data are called 'odd'; there are normal, encodings, " bench --data nan,odd
fails 'bench: data without an amount' "--data: 'any=1': any takes no amount" bench --data any=1
fails 'bench: too much of data' "--data: 'nan=2': the amount is a number above 0, at most 1" bench --data nan=2
fails 'bench: an amount that is none' "--data: 'zeros=x': the amount is a number" bench --data zeros=x
gives 'bench: data that a format does not have' 0 '^A100 .* normal ' \
  "${bench[@]}" --on A100 --in f16 --size 8 --data scales,zeros
check 'bench says which data are left out' says "note: --data: 'scales' is left out: the formats of what is measured"
fails 'bench: data beside OpenBLAS' '--blas: with --data it is normal data that is compared with' \
  bench --data nan --blas libm.so.6
fails 'bench: a chart of data' '--chart: it shows products of normal data; leave out --data' bench --data nan --chart x.svg
fails 'bench: too many threads' '--threads: 100000 is not a number from 0 \(all cores\) to ' bench --threads 100000
fails 'bench: no repetitions' '--repetitions: 0 is not a number from 1 to ' bench --repetitions 0

# ---- Refusals that no other test reaches ----

data=$source_directory/examples/data
matrices=("$data/digits-centred.npy" "$data/digits-axes.npy")
fails 'diff: other formats' 'H100:f16 and H100:s8 cannot be compared: ' diff --on H100:f16,H100:s8
fails 'compare: other formats of D' '--on: results of H100 are in f32, those of H100 in s32; give targets with one format' \
  compare --on H100:f16,H100:s8 "${matrices[@]}"
fails 'gemm: quantised in pieces' 'A and B are quantised as a whole, not in pieces; give --scale-a and --scale-b' \
  gemm "${matrices[@]}" -o d.npy --on B200 --in nvfp4 --memory 1000000
fails 'gemm: a method in pieces' '--method: bf16x9 is of whole matrices, not of pieces; leave out --memory and mpirun' \
  gemm "${matrices[@]}" -o d.npy --on B200 --in bf16 --method bf16x9 --memory 1000000
fails 'match: alpha is 0' '--alpha, --beta, --scale-d: finite numbers, alpha and scale-d not 0' \
  match "${matrices[@]}" "${matrices[0]}" --in f16 --alpha 0
fails 'test: no shard' "--shard: 'x' is not I/N, part I of N" test --unit model --on H100 --rows 10 --shard x --json
fails 'test: shard 0' "--shard: '0/3' is not I/N, part I of N" test --unit model --on H100 --rows 10 --shard 0/3 --json
fails 'probe: a plug-in without its kind' "--unit: unknown unit 'x.so'; a plug-in is plugin:x.so" probe --unit x.so --on H100
fails 'probe: arguments of x86' '--unit: x86 takes no arguments; write x86' probe --unit x86:3 --on x86
fails 'infer: a record that cannot be written' '/nonexistent/x: cannot write: ' \
  infer --unit model --on V100 --in f16 --record /nonexistent/x
fails 'tolerance: no range' "--sweep: '1\.\.x' is no range of whole numbers" tolerance H100 --in f16 --sweep k=1..x
fails 'tolerance: an empty range' '--sweep: the range 4\.\.2 is empty or too large' tolerance H100 --in f16 --sweep k=4..2
fails 'tolerance: no values' "--sweep: 'k' is not NAME=VALUES; for example " tolerance H100 --in f16 --sweep k

# ---- The commands that scripts/demo suggests ----

mapfile -t tries < <(sed -n 's/^   softmma \(.*[^ ]\)   .*/\1/p' "$source_directory/scripts/demo")
check 'demo: three commands to try' [ ${#tries[@]} -eq 3 ]
for try in "${tries[@]}"; do
  read -ra arguments <<<"$try"
  check "demo: softmma $try" sh -c '"$@" >in/stdout 2>in/stderr || [ $? -eq 1 ]' sh "$softmma" "${arguments[@]}"
done

finish
