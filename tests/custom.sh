#!/usr/bin/env bash
# Custom units on the command line, wherever a GPU or a unit can be named.
# Usage: custom.sh SOFTMMA
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: custom.sh SOFTMMA}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"
cp "$source_directory"/examples/custom/*.json .
ampere=(A100 --instr mma.m16n8k16.f32.f16.f16.f32)
row=(--a '1 0x1p-14*2 0*13' --b '1 0x1p-10 0x1p-14 0*13')

# same FILE FILE: checks that the files have the same bytes
same() { cmp -s "$1" "$2"; }

# ---- custom ----

for file in *.json; do gives "custom $file" 0 "^instruction +${file%.json}\$" custom "$file"; done
gives 'custom in words' 0 '^  Step 1: 16 nodes, 8 to a sum, each with the sum before it; the first with c\.$' custom sticky.json
gives 'custom --json' 0 '"name": "sticky"' custom sticky.json --json
gives 'custom --from' 0 '"algorithm": "T-FDPA"' custom --from "${ampere[@]}"
cp in/stdout ampere.json
gives 'an instruction of the catalogue is recognised' 0 '^the same as +turing|^the same as +ampere' custom ampere.json
fails 'no file' 'a file or a target is missing' custom
fails 'a file that is not there' 'none\.json: cannot open: No such file' custom none.json
fails '--from and a file' 'a description is written, not read' custom --from "${ampere[@]}" sticky.json
fails '--instr without --from' '--instr: it has no effect with a file that is read' custom --instr HMMA.16816.F32
fails '--from without --instr' '--instr NAME or --in FORMAT is missing' custom --from H100
sed 's/"block": 8/"block": 5/' sticky.json >wrong.json
fails 'a contradiction: file, line, column, allowed values' \
  '^softmma: wrong\.json:9:12: "block": 5 does not divide k, which is 16; allowed: 1, 2, 4, 8, 16$' custom wrong.json
sed 's/"block"/"blok"/' sticky.json >unknown.json
fails 'an unknown key' '^softmma: unknown\.json:9:3: G-FDPA has no key "blok"; nearest: block.* allowed: ' custom unknown.json

# allowed JSON: prints the words that the error message about this description allows
allowed() {
  echo "$1" >asked.json
  "$softmma" custom asked.json 2>&1 | sed 's/.*allowed: //; s/,//g'
}

for algorithm in $(allowed '{"softmma-unit": 1, "name": "x", "algorithm": "?"}'); do
  for key in $(allowed '{"softmma-unit": 1, "name": "x", "algorithm": "'"$algorithm"'", "?": 1}'); do
    check "docs/custom-units.md explains $key of $algorithm" \
      grep -qE "[\`\"]${key}[\`\"]" "$source_directory/docs/custom-units.md"
  done
done

# A composition without the parts that are tested.
head='"softmma-unit": 1, "name": "x", "algorithm": "composition", "a": "f16", "b": "f16", "d": "f32", "k": 8'
for key in $(allowed "{$head, \"steps\": [{\"?\": 1}]}"); do
  check "docs/custom-units.md explains $key of steps" grep -qE "[\`\"]${key}[\`\"]" "$source_directory/docs/custom-units.md"
done

# ---- Compositions ----

# An exact sum with the greatest reference exponent is computed. Scale factors for numbers that f32 does not hold are
# refused.
far='"zero_exponent": 2000, "exponent_offset": 100, "alignment_rounding": "toward-positive"'
echo "{$head, \"steps\": [{\"take\": 8, \"join\": \"chain\", \"start\": \"c\", \"alignment_bits\": \"exact\", $far," \
  '"accumulator_alignment_bits": 0, "output": "f32"}]}' >far.json
gives 'a sum that is rounded up to a multiple of 2^2100' 0 '^0x7f800000' dot far.json -a '0*8' -b '0*8' -c 1

# room NAME KEYS STEPS RESULT ARGUMENT...: checks a dot product by a unit whose exact sum has terms far from each other
unrounded='"take": 1, "join": "apart", "output": "none", "alignment_bits"'
exact='"join": "chain", "start": "c", "alignment_bits": "exact"'
room() {
  echo "{\"softmma-unit\": 1, \"name\": \"x\", \"algorithm\": \"composition\", $2, \"steps\": [$3]}" >room.json
  gives "$1" 0 "^$4 " dot room.json "${@:5}"
}
lower="{$unrounded: 100, \"exponent_offset\": -100}"
room 'terms far below 1' '"k": 4, "a": "f16", "b": "f16", "d": "f32"' \
  "{$unrounded: 100, \"reference\": -2000}, $lower, $lower, $lower, {\"take\": 4, $exact, \"output\": \"f32\"}" \
  0x3f800000 -a '1*4' -b '4*4' -c 1
room 'scale factors of a high sum' '"k": 16, "a": "f16", "b": "f16", "d": "f32", "scale": "ue8m0", "scale_block": 16,
  "scaled_step": 1' "{$unrounded: 0, \"reference\": 2000, \"alignment_rounding\": \"to-odd\"},
  {\"take\": 16, $exact, \"output\": \"f32\"}" \
  0x7f800000 -a '1*16' -b '1*16' --scale-a 0x1p127 --scale-b 0x1p127 -c 1
room 'low sums of f64' '"k": 4, "a": "f64", "b": "f64", "d": "f32"' \
  "$lower, {\"take\": 4, $exact, \"output\": \"f32\"}" 0x3f800000 -a '0x1p-1074*4' -b '0x1p-1074*4' -c 1
room 'c rounded up to a high unit' '"k": 1, "a": "f64", "b": "f64", "d": "f64"' \
  "{\"take\": 1, $exact, \"exponent_offset\": 100, \"accumulator_alignment_bits\": 0,
  \"accumulator_alignment_rounding\": \"to-odd\", \"output\": \"f64\"}" \
  0x7ff0000000000000 -a 0x1.fp1023 -b 0x1.fp1023 -c 1
slices='"k": 1, "a": "f64", "b": "f64", "d": "f64", "slice_a": 26, "slice_b": 26, "slices_b": 3, "first_phase": 8'
room 'low slices of f64' "$slices" "{\"take\": 1, $exact, \"output\": \"f64\"}" \
  0x3ff0000000000000 -a 0x1p-1022 -b 0x1p-1022 -c 1
room 'only the first slice of b' '"k": 1, "a": "f16", "b": "f16", "d": "f32", "slice_a": 6, "slices_b": 2,
  "first_phase": 2' "{\"take\": 1, $exact, \"output\": \"f32\"}" 0x3f800000 -a 1 -b 1 -c 1
for format in e4m3fnuz binary8p4se; do
  room "all ones, after a sum in $format" '"k": 1, "a": "f16", "b": "f16", "d": "f32", "nan": "all-ones"' \
    "{\"take\": 1, \"join\": \"apart\", \"alignment_bits\": \"exact\", \"output\": \"$format\"},
    {\"take\": 1, $exact, \"output\": \"f32\"}" 0x7fffffff -a nan -b 1 -c 1
done
echo '{"softmma-unit": 1, "name": "x", "algorithm": "composition", "a": "e11m4", "b": "f16", "d": "f32", "k": 16,' \
  '"scale": "ue8m0", "scale_block": 16,' \
  '"steps": [{"take": 16, "join": "chain", "start": "c", "alignment_bits": "exact", "output": "f32"}]}' >scaled.json
fails 'scale factors of a wide format' 'products of e11m4 take no scale factors; allowed: none$' custom scaled.json
echo '{"softmma-unit": 1, "name": "x", "algorithm": "composition", "a": "b1", "b": "b1", "d": "s32", "k": 8,' \
  '"product": "xor", "block_bits_a": 4,' \
  '"steps": [{"take": 8, "join": "chain", "start": "c", "alignment_bits": "exact", "output": "s32"}]}' >bits.json
fails 'blocks of single bits' '"product": xor aligns no bits; allowed: multiply$' custom bits.json
echo "{${head%8}128, \"steps\": [{\"take\": 8, \"join\": \"chain\", \"start\": \"c\", \"alignment_bits\": 24," \
  '"output": "f32"}]}' >many.json
fails 'many rounded products' '"k": 128 products to d in f32; allowed: 1 to 64, or more where d is s32$' custom many.json

# wrong_steps NAME REGEX STEPS: checks the error message for an invalid list of steps
wrong_steps() {
  echo "{$head, \"steps\": $3}" >steps.json
  fails "steps: $1" "^softmma: steps\.json:1:[0-9]+: $2" custom steps.json
}
late='{"take": 1, "join": "chain", "start": "zero", "exponent_offset": -100, "alignment_bits": 100, "output": "none"}'
wrong_steps 'too little room' \
  'step 3, "alignment_bits": an exact sum of terms from .* to .*; allowed: from 2\^-2816 to below 2\^3168$' \
  "[{$unrounded: 100, \"reference\": -2000}, $late, {\"take\": 1, $exact, \"output\": \"f32\"}]"
wrong_steps 'none' '"steps": there are none; allowed: 1 to 6$' '[]'
wrong_steps 'no list' '"steps" is no list; allowed: a list of 1 to 6 objects$' '3'
wrong_steps 'no object' 'a step is an object: ' '[3]'
step='"take": 8, "alignment_bits": 24, "output": "f32"'
wrong_steps 'no c' '"steps": c starts 0 chains; allowed: one, by "start": "c"$' "[{$step, \"join\": \"chain\"}]"
wrong_steps 'too much taken' 'step 1, "take": 3 does not divide window, which is 8; allowed: 1, 2, 4, 8$' \
  '[{"take": 3, "join": "apart", "alignment_bits": 24, "output": "none"}]'
wrong_steps 'too many sums' '"steps": 2 sums are left after the last one; it must leave 1$' \
  '[{"take": 4, "join": "chain", "start": "c", "chains": 2, "alignment_bits": 24, "output": "f32"}]'
wrong_steps 'exact and unrounded' 'step 1, "output": an exact sum is rounded in its step; allowed: a format$' \
  '[{"take": 8, "join": "apart", "alignment_bits": "exact", "output": "none"}]'
wrong_steps 'no accumulator' 'step 1, "accumulator_alignment_bits": only chains have an accumulator; ' \
  "[{$step, \"join\": \"apart\", \"accumulator_alignment_bits\": 3}]"
wrong_steps 'a tree that is none' 'step 1, "window": a tree of 4 needs a power of that, and not 8$' \
  '[{"take": 4, "join": "tree", "alignment_bits": 24, "output": "f32"}]'
wrong_steps 'a start without a chain' 'step 1, "start": only chains start from anything; allowed: nothing$' \
  "[{$step, \"join\": \"apart\", \"start\": \"c\"}]"
wrong_steps 'complements of exact terms' 'step 1, "opposing": exact terms have no last bit; allowed: exact$' \
  '[{"take": 8, "join": "chain", "start": "c", "alignment_bits": "exact", "opposing": "complement", "output": "f32"}]'
wrong_steps 'complements without an accumulator' 'step 1, "opposing": there is no accumulator; allowed: exact$' \
  "[{$step, \"join\": \"apart\", \"opposing\": \"complement\"}]"
wrong_steps 'narrow without an output' 'step 1, "narrow_bits": there is no output; allowed: none$' \
  '[{"take": 8, "join": "apart", "alignment_bits": 24, "narrow_bits": 20, "output": "none"}]'
wrong_steps 'an exact sum below a reference' 'step 1, "least_reference": an exact sum aligns nothing; allowed: none$' \
  '[{"take": 8, "join": "chain", "start": "c", "alignment_bits": "exact", "least_reference": 0, "output": "f32"}]'
coarse='"take": 8, "join": "chain", "start": "c", "output": "f32"'
wrong_steps 'a multiple that is no power of two' \
  'step 1, "reference_multiple": 6 is no power of two; allowed: 1, 2, 4, 8, 16, 32, 64$' \
  "[{$coarse, \"alignment_bits\": 24, \"reference_multiple\": 6}]"
wrong_steps 'too great a multiple' 'step 1, "reference_multiple": out of range; allowed: 1 to 64$' \
  "[{$coarse, \"alignment_bits\": 24, \"reference_multiple\": 128}]"
wrong_steps 'coarse exponents of an exact sum' 'step 1, "reference_multiple": an exact sum aligns nothing; allowed: 1$' \
  "[{$coarse, \"alignment_bits\": \"exact\", \"reference_multiple\": 4}]"
wrong_steps 'a multiple beside a fixed reference' \
  'step 1, "reference_multiple": the reference exponent is fixed; allowed: 1$' \
  "[{$coarse, \"alignment_bits\": 24, \"reference\": 3, \"reference_multiple\": 4}]"
wrong_steps 'a rounded sum that cancels' \
  'step 1, "cancelled_is_zero": a rounded sum that cancels is a zero anyway; allowed: false$' \
  "[{$coarse, \"alignment_bits\": 24, \"cancelled_is_zero\": true}]"
wrong_steps 'an exact sum of -1 unit' 'step 1, "minus_one_shift": exact terms have no last bit; allowed: 0$' \
  '[{"take": 8, "join": "chain", "start": "c", "alignment_bits": "exact", "minus_one_shift": 1, "output": "f32"}]'
wrong_steps 'exact terms rounded again' 'step 1, "round_again": an exact sum rounds no term; allowed: 0$' \
  '[{"take": 8, "join": "chain", "start": "c", "alignment_bits": "exact", "round_again": 1, "output": "f32"}]'
wrong_steps 'more rounded again than there is' \
  'step 1, "round_again": 25 is more than the bits that alignment leaves; allowed: 0 to 24$' \
  "[{$step, \"join\": \"chain\", \"start\": \"c\", \"round_again\": 25}]"
chain="[{$step, \"join\": \"chain\", \"start\": \"c\"}]"
wrong_steps 'blocks of whole factors' '"block_elements": factors are whole; allowed: all$' "$chain, \"block_elements\": 4"
wrong_steps 'a rounding of whole factors' '"block_rounding": factors are whole; allowed: toward-zero$' \
  "$chain, \"block_rounding\": \"nearest-even\""
wrong_steps 'blocks that do not divide k' '"block_elements": 3 does not divide k, which is 8; allowed: 1, 2, 4, 8$' \
  "$chain, \"block_bits_a\": 4, \"block_elements\": 3"
wrong_steps 'a slice after the last bit of a block' '"phases": slice 1 of a begins after the last of its 4 bits$' \
  "$chain, \"block_bits_a\": 4, \"slice_a\": 4, \"phases\": 2"
wrong_steps 'a second slice of whole factors' '"slice_a": phases multiply slice 1; allowed: a number of bits$' \
  "$chain, \"phases\": 2"
wrong_steps 'a slice after the last bit' '"phases": slice 3 of b begins after the last of its 11 bits$' \
  "$chain, \"slice_b\": 4, \"slices_b\": 4, \"phases\": 4"
wrong_steps 'too many phases' '"phases": 9 phases of 8 products; allowed: 1 to 8$' "$chain, \"slice_a\": 1, \"phases\": 9"
wrong_steps 'scale factors of slices' '"scale": products of slices take no scale factors; allowed: none$' \
  "$chain, \"slice_a\": 4, \"scale\": \"ue8m0\", \"scale_block\": 8"
wrong_steps 'the last step scaled' "\"scaled_step\": the last step's result is d; allowed: 0 to 0\$" \
  "[{$step, \"join\": \"chain\", \"start\": \"c\"}], \"scaled_step\": 1"
head=${head/'"k": 8'/'"k": 32'} step=${step/8/32}
last='{"take": 1, "join": "chain", "start": "c", "alignment_bits": 24, "output": "f32"}'
wrong_steps 'several blocks scaled' '"scaled_step": its sums have products of several blocks of scale factors$' \
  "[{$step, \"join\": \"apart\"}, $last], \"scale\": \"ue8m0\", \"scale_block\": 16, \"scaled_step\": 1"
cat >coarse.json <<END
{"softmma-unit": 1, "name": "coarse", "algorithm": "composition", "k": 8, "a": "f16", "b": "f16", "d": "f32",
 "steps": [{"take": 8, "join": "chain", "start": "c", "alignment_bits": 10, "reference_multiple": 8, "output": "f32"}]}
END
gives 'ten bits below a multiple of 8' 0 '^0x3f802000 ' dot --on coarse.json -a '1 0x1p-10 0*6' -b '1*8'
gives 'three bits below the greatest exponent' 0 '^0x40000000  2$' dot --on coarse.json -a '2 0x1p-3 0*6' -b '1*8'
gives 'a coarse exponent is explained' 0 '^step 1 of 1, sum 1: E = 8, a multiple of 8; all rounded ' \
  explain --on coarse.json -a '2 0x1p-3 0*6' -b '1*8'
cat >cancelled.json <<END
{"softmma-unit": 1, "name": "cancelled", "algorithm": "composition", "k": 8, "a": "f16", "b": "f16", "d": "f32",
 "steps": [{"take": 4, "join": "apart", "alignment_bits": 20, "output": "none", "cancelled_is_zero": true},
           {"take": 2, "join": "chain", "start": "c", "alignment_bits": 10, "output": "f32"}]}
END
cancels=(-a '1 1 0*2 0x1p-12 0*3' -b '1 -1 0*2 1 0*3')
gives 'a cancelled sum that brings no exponent' 0 '^0x39800000 ' dot --on cancelled.json "${cancels[@]}"
gives 'a cancelled sum is explained' 0 'it cancelled, so it counts as a zero$' explain --on cancelled.json "${cancels[@]}"
sed 's/, "cancelled_is_zero": true//' cancelled.json >brings.json
gives 'a cancelled sum that brings its exponent' 0 '^0x00000000  0$' dot --on brings.json "${cancels[@]}"
aligned=(-a '1 0x1.8p-7 0*14' -b '1*16')
gives 'factors aligned in a block' 0 '^0x3f810000 ' dot --on block-floating-point.json "${aligned[@]}"
gives 'blocks in words' 0 '^  Each 16 consecutive a are aligned to their greatest exponent and keep 8 bits, rounded toward zero\.$' \
  custom block-floating-point.json
gives 'a block factor is explained' 0 'a\[1\]\*b\[1\] +0\.0078125 \* 1 ' explain --on block-floating-point.json "${aligned[@]}"
gives 'slices in words' 0 'slice 0 of a by slice 0 of b, slice 0 of a by slice 1 of b, slice 1 of a by slice 0 of b\.$' \
  custom truncated-multiplier.json
gives 'the low slices are not multiplied' 0 '^0x3f820000  1\.015625$' \
  dot --on truncated-multiplier.json -a '0x1.02p0 0*15' -b '0x1.02p0 0*15'
gives 'a composition in words' 0 '^  Step 1: 16 nodes, 1 to a sum, in 4 chains, .* the first with c\.$' custom four-chains.json
gives 'its sums are explained' 0 '^step 2 of 2, sum 3: exact$' \
  explain --on four-chains.json --a '1 2 3 4 0*12' --b '1*16' --c 5
gives 'its tree' 0 '4 additions in a row, each of a product' tree --on four-chains.json
gives 'its errors are measured against exact sums' 0 '^exact results: \|x\| 50 % [1-9]' \
  tolerance --on four-chains.json --shape 32x32x128
check 'and have no bound' grep -q '4096 elements have no bound: .*composition' in/stdout
gives 'an instruction in steps' 0 '"steps": \[$' custom --from MI300X --instr v_mfma_f32_16x16x16_f16 --steps
cp in/stdout steps.json
gives 'is recognised' 0 '^the same as +cdna3 v_mfma_f32_16x16x16_f16$' custom steps.json
sed -i 's/"narrow_bits": 31/"narrow_bits": 30/' steps.json
gives 'is another with another number' 0 '^model +composition' custom steps.json
fails '--steps without --from' '--steps: it has no effect with a file that is read' custom --steps steps.json

# ---- Every option that takes --on ----

gives 'dot' 0 '^0x3f800001 ' dot --on sticky.json "${row[@]}"
gives 'dot with the name' 0 '^0x3f800001 ' dot --on ./sticky.json --instr sticky "${row[@]}"
gives 'dot --explain' 0 '^step 1 of 1, sum 2: E = 0; all rounded to odd at 27 bits below it \(2\^-27\)$' dot --on sticky.json "${row[@]}" --explain
gives 'dot --explain of an exact sum' 0 '^step 1 of 1, sum 1: exact$' dot --on exact.json "${row[@]}" --explain
gives 'dot --json' 0 '"arch": "sticky.json"' dot --on sticky.json "${row[@]}" --json
fails 'another name' "--instr: sticky\.json describes 'sticky', not 'x'" dot --on sticky.json --instr x "${row[@]}"
fails 'a wrong file' '--on: wrong\.json:9:12: ' dot --on wrong.json "${row[@]}"
gives 'show' 0 '^file +sticky\.json' show sticky --on sticky.json
check 'gen' runs 0 vectors gen --on sticky.json --rows 50 -o rows.txt
check 'gen names the file' grep -q '^# arch: sticky\.json$' rows.txt
gives 'verify' 0 '^rows=50 mismatches=0$' verify rows.txt
sed 's/"sticky_bit": true/"sticky_bit": false/; s/: 26/: 3/' sticky.json >other.json
mv sticky.json kept.json && cp other.json sticky.json
gives 'verify notices another model' 1 'softmma dot --on sticky\.json --instr sticky --hex' verify rows.txt
mv kept.json sticky.json
softmma() { "$softmma" "$@"; }
for name in "it's.json" 'a (copy) of $it.json'; do
  sed "s/sticky\.json/$name/" rows.txt >named.txt
  cp other.json "$name"
  check "$name: mismatches" runs 1 verify named.txt
  check "$name: the command can be pasted" eval "$(grep -oE 'softmma dot .*' in/stdout | head -n 1) >in/pasted"
  rm "$name" named.txt
done
rm other.json
sed -i 's/sticky\.json/gone.json/' rows.txt
fails 'verify without the file' 'gone\.json: cannot open: No such file' verify rows.txt

# ---- Units and campaigns ----

gives 'units' 0 '^custom:\[DEVICE:\]FILE +the model' units
gives 'campaign with the model' 0 'mismatches=0$' test --unit model --on sticky.json --rows 300
gives 'campaign of an exported instruction' 0 'mismatches=0$' \
  test --unit custom:ampere.json --on "${ampere[@]}" --rows 2000
gives 'campaign of another rounding' 1 'custom:hopper-nearest\.json ' \
  test --unit custom:hopper-nearest.json --on H100 --instr mma.m16n8k16.f32.f16.f16.f32 --rows 300
ends 1 test --unit custom:ampere.json --rows 1 --kind normal
check 'campaign without a target: a note' grep -qE \
  '^softmma: note: no target is named: custom:ampere\.json stands for each of [0-9]+ instructions .*; name one, such as ' in/stderr
fails 'other formats' 'the custom unit has k = 16, a f16, ' \
  test --unit custom:hopper-nearest.json --on H100 --instr HMMA.16816.F32.BF16
fails 'no such file for a unit' '--unit: custom:none\.json: none\.json: cannot open: No such file' test --unit custom:none.json
check 'record' runs 0 vectors record --unit model --on sticky.json --rows 20 -o recorded.txt
gives 'verify of a recording' 0 'mismatches=0' verify recorded.txt

# Every path that is accepted can be read back from a vector file's header.
long=$(printf 'd%.0s' {1..120})
mkdir "$long"
cp sticky.json "$long/s.json"
for ending in txt bin csv json jsonl; do
  check "gen of a unit with a long path, $ending" runs 0 vectors gen "$long/s.json" --rows 3 -o long.$ending
  gives "verify of a unit with a long path, $ending" 0 '^rows=3 mismatches=0$' verify long.$ending
done
for path in $'a\nb.json' $'a\tb.json' ' s.json' './s ' './s,'; do
  cp sticky.json "$path"
  fails 'a path that a header cannot hold' 'has a control character, or begins or ends with a blank or comma; rename' \
    vectors gen --on "$path" --rows 3 -o path.txt
done

# A difference in one of 101 correct rows does not refute the explanation of 60 wrong rows, whatever other files hold.
wgmma=(--on H100 --instr wgmma.m64n8k16.f32.f16.f16)
ends 0 custom --from "${wgmma[@]:1}" -o wgmma.json
sed 's/"alignment_bits": 25/"alignment_bits": 20/' wgmma.json >narrow.json
ends 0 vectors gen "${wgmma[@]}" --rows 2000 -o right.txt
ends 0 vectors record right.txt --unit custom:narrow.json -o narrow.txt
differing() { diff <(grep -v '^#' right.txt) <(grep -v '^#' narrow.txt) | sed -n "s/^$1 //p"; }
{
  grep '^#' right.txt
  differing '>' | head -n 60
  grep -v '^#' right.txt | grep -Fxf narrow.txt | head -n 100
  differing '<' | tail -n 1
} >mixed.txt
ends 0 vectors gen V100:f16 --rows 3000 -o others.txt
gives 'verify: an explanation' 1 'alignment_bits is 20 instead of 25' verify mixed.txt
ends 1 verify mixed.txt --json
jq .classes in/stdout >alone
ends 1 verify others.txt mixed.txt --json
check 'verify: the explanation beside a file of others' diff alone <(jq .classes in/stdout)

# ---- Products ----

a=$source_directory/examples/data/digits-centred.npy
b=$source_directory/examples/data/digits-axes.npy
"$softmma" custom --from H100 --instr mma.m16n8k16.f32.f16.f16.f32 >h100.json
check 'gemm of the catalogue' runs 0 gemm --on H100 --instr mma.m16n8k16.f32.f16.f16.f32 "$a" "$b" -o d.npy
check 'gemm of the same as a file' runs 0 gemm --on h100.json "$a" "$b" -o e.npy
check 'gemm: the same bytes' same d.npy e.npy
check 'gemm: the same kernel' grep -qv ' core kernel' in/stdout
check 'gemm of another rounding' runs 0 gemm --on hopper-nearest.json "$a" "$b" -o e.npy
check 'gemm: other bytes' eval '! same d.npy e.npy'
check 'gemm: the core' grep -q ' core kernel' in/stdout
gives 'gemm --json' 0 '"instruction": "sticky"' gemm --on sticky.json "$a" "$b" -o e.npy --json
fails 'gemm with --in' "--in: --on already gives it" gemm --on sticky.json --in f16 "$a" "$b" -o f.npy
cat >integers.json <<'END'
{"softmma-unit": 1, "name": "integers", "algorithm": "composition", "k": 8, "a": "u8", "b": "s8", "c": "s32", "d": "s32",
 "steps": [{"take": 2, "join": "apart", "alignment_bits": 0, "reference": 0, "width": 16, "width_overflow": "saturate",
            "output": "none"},
           {"take": 1, "join": "chain", "start": "c", "alignment_bits": 0, "reference": 0, "width": 32,
            "width_overflow": "wrap", "output": "s32"}]}
END
gives 'integers have a width alone' 0 'The sum is rounded to nearest even to s32\.$' custom integers.json
check 'integers have no infinity, NaN or subnormals' [ "$(grep -ciE 'infinity|nan|subnormal' in/stdout)" -eq 0 ]
gives 'compare' 1 '^sticky\.json +f16 +sticky ' compare --on H100,sticky.json "$a" "$b"
gives 'compare with itself' 0 '^h100\.json .* 0 \(0\.0 %\)' compare --on H100,h100.json "$a" "$b"
cp h100.json h100:e4m3.json
gives "a file is no GPU with a format, whatever its name" 0 "^h100:e4m3\\.json .* 0 \\(0\\.0 %\\)" \
  compare --on H100,h100:e4m3.json "$a" "$b"
fails 'compare of other results' 'results of sticky.json are in f32, those of H100 in f16' compare sticky.json H100 --out f16 "$a" "$b"
gives 'bench' 0 'sticky +core' bench --on sticky.json --size 32

# ---- Commands that identify how a unit computes ----

gives 'probe' 0 '^rounding of aligned products +to odd$' probe --on sticky.json
check 'names the file' grep -q '^sticky\.json sticky: unit model' in/stdout
gives 'probe --unit' 0 '^number of products added at once .* 8$' probe --unit custom:ampere.json --on A100 --in f16
gives 'probe of several' 0 '^  25 +H100 hopper-nearest\.json$' probe --on H100,hopper-nearest.json
gives 'diff' 1 'rounding of results: toward zero \| to nearest, ties to even' \
  diff --on H100,hopper-nearest.json --rows 1000
gives 'diff of the same' 0 '^no difference in' diff --on ampere.json,A100 --in f16 --rows 1000
gives 'tree' 0 'fused sum' tree --on ampere.json
gives 'explain two' 1 'rounding' explain --on H100,hopper-nearest.json --instr HMMA.16816.F32 \
  --a '1 0x1p-12*2 0*13' --b '1 0x1p-12 0x1p-13 0*13'
gives 'campaign' 0 '^sticky\.json sticky rows=100 mismatches=0$' test --unit model --on sticky.json --rows 100
fails 'campaign --open' 'has no open questions' test --unit model --open --on sticky.json

finish
