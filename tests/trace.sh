#!/usr/bin/env bash
# softmma trace, end to end.
# Usage: trace.sh SOFTMMA
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: trace.sh SOFTMMA}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"

# has FILTER: checks that the output is JSON for which jq's filter is true
has() { jq -e "$1" in/stdout >/dev/null; }

# matrix FILE ROWS COLUMNS FORMAT NUMBER...: writes a matrix of the format f2, f4 or f8, repeating the numbers
matrix() {
  python3 - "$@" <<'END'
import struct, sys
path, rows, columns, kind, *numbers = sys.argv[1:]
rows, columns = int(rows), int(columns)
head = "{'descr': '<%s', 'fortran_order': False, 'shape': (%d, %d), }" % (kind, rows, columns)
head += " " * (63 - (len(head) + 10) % 64) + "\n"
code = {"f2": "e", "f4": "f", "f8": "d"}[kind]
data = [float(numbers[i % len(numbers)]) for i in range(rows * columns)]
with open(path, "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
    file.write(struct.pack("<%d%s" % (len(data), code), *data))
END
}

# The products are 2^24, then a 1 in each group of sixteen. Hopper loses each 1.
zeros='0 0 0 0 0 0 0 0 0 0 0 0 0 0 0'
# shellcheck disable=SC2086 # they are words
matrix a.npy 1 64 f2 4096 $zeros 1 $zeros 1 $zeros 1 $zeros
# shellcheck disable=SC2086
matrix b.npy 64 1 f2 4096 $zeros 1 $zeros 1 $zeros 1 $zeros
printf '{"softmma-plan": 1, "name": "two", "sum": [{"deal": "every", "k": 32, "from": "zero"}]}' >two.json
printf '{"softmma-plan": 1, "name": "in turn", "sum": [{"deal": "interleaved", "parts": 2, "tile": 16}]}' >turn.json
printf '{"softmma-plan": 1, "name": "end", "d": "bf16", "epilogue": ["alpha", "bias", "relu"]}' >end.json
printf '{"softmma-plan": 1, "name": "two BF16", "d": "bf16", "sum": [{"deal": "every", "k": 32, "total": "d"}]}' >low.json

gives 'a chain' 0 '^ +64 +16777219 +16777216 +-3\.00e\+00$' trace --on H100 a.npy b.npy --at 0,0
check 'its result' grep -qE '^H100 +4b800000 +16777216 +-3\.00e\+00 +2 +3\.00e\+00 at 64 +1\.00e\+00 at 32$' in/stdout
gives 'two plans' 1 '^ +64 +16777219 +16777216 +-3\.00e\+00 +16777218 +-1\.00e\+00$' \
  trace --on H100,H100 --plan none,two.json a.npy b.npy --at 0,0
check 'where they diverge' grep -q '^H100 none and H100 two.json diverge between 32 and 48 products: the former starts from 16777216, the latter from 0' in/stdout
check 'both are drawn' [ "$(grep -c ', k = 32\.\.47$' in/stdout)" = 2 ]
gives 'a plan for all' 0 'plan two.json: 4 instructions, 2 folds$' trace --on H100,B200 --plan two.json a.npy b.npy --at 0,0
gives 'another order' 0 'k in another order than 0, 1' trace --on H100 --plan turn.json a.npy b.npy
check 'its k' grep -qE '^ +32 +16777217 +32\.\.47 ' in/stdout
gives 'the worst element' 1 '^H100 none and H100 two.json differ in 1 of 1 elements, here most, by 1.19e-07 of the largest result$' \
  trace --on H100,H100 --plan none,two.json a.npy b.npy
check 'one exact result, no word about products' [ "$(grep -c 'add different products' in/stdout)" = 0 ]
# In BF16, 1.0009765625 is 1.
matrix fine.npy 1 16 f4 1.0009765625
matrix ones.npy 16 1 f4 1
matrix minus.npy 16 1 f4 -1
printf '{"softmma-plan": 1, "name": "relu", "epilogue": ["relu"]}' >relu.json
gives 'different products' 1 '^H100:f16 and H100:bf16 add different products: their exact sums differ by 1\.56e-02\.$' \
  trace H100:f16 H100:bf16 fine.npy ones.npy
ends 1 trace H100 H100 --plan none,relu.json fine.npy minus.npy
check 'another epilogue, the same products' [ "$(grep -c 'add different products' in/stdout)" = 0 ]
gives 'nothing differs' 0 '^all results are the same$' trace --on H100,B200 a.npy b.npy
gives 'one target' 0 '^there is one result alone$' trace --on H100 a.npy b.npy

# The errors of the four elements are -3, 0, -1 and 0; infinity counts more than any error.
# shellcheck disable=SC2086
matrix rows.npy 2 64 f2 4096 $zeros 1 $zeros 1 $zeros 1 $zeros 4096 $zeros 1 $zeros 0 $zeros 0 $zeros
# shellcheck disable=SC2086
matrix columns.npy 64 2 f2 4096 1 $zeros $zeros 1 1 $zeros $zeros 1 1 $zeros $zeros 1 1 $zeros $zeros
gives 'the largest error' 0 '^the error of H100:f16 is largest here, 1\.79e-07 of the largest exact result$' \
  trace H100:f16 rows.npy columns.npy --worst
check 'which element has the largest error' grep -q '^\[0, 0\] of rows.npy' in/stdout
cp in/stdout in/worst
check '--at worst is --worst' runs 0 trace H100:f16 rows.npy columns.npy --at worst
check '--at worst: the same element' cmp -s in/stdout in/worst
# The second part of element [0, 0] is 2. Times 1 it loses nothing; times 0.25 * 2 it is lost to the first part, 2^24.
echo '{"softmma-plan": 1, "name": "factors", "sum": [{"deal": "every", "k": 32, "from": "zero", "with": "fma"}]}' >factors.json
gives 'the largest error of a plan with factors of 1' 0 \
  '^the error of H100:f16 is largest here, 5\.96e-08 of the largest exact result$' \
  trace H100:f16 --plan factors.json rows.npy columns.npy --worst
matrix quarters.npy 2 2 f4 1 0.25 1 0.25
matrix doubles.npy 2 2 f4 1 1 2 2
gives 'the largest error of a plan with factors' 0 \
  '^the error of H100:f16 is largest here, 1\.19e-07 of the largest exact result$' \
  trace H100:f16 --plan factors.json rows.npy columns.npy --scale-a quarters.npy --scale-b doubles.npy --worst
# In FP64, 2^-1020 times its factor 2^-100 is 0, but times 2^1000 it is a number of FP32.
ends 0 custom H100:f16 --steps
sed 's/"\([ab]\)": "f16"/"\1": "e11m4"/' in/stdout >wide.json
# shellcheck disable=SC2086
matrix low.npy 1 64 f8 8.900295434028806e-308 $zeros 0 $zeros 0 $zeros 0 $zeros
matrix high.npy 64 1 f8 1.0715086071862673e+301
matrix tiny.npy 1 2 f4 7.888609052210118e-31
matrix ones.npy 2 1 f4 1
gives 'factors that take elements out of the range of FP64' 0 '^all results of wide\.json are exact$' \
  trace ./wide.json --plan factors.json low.npy high.npy --scale-a tiny.npy --scale-b ones.npy --worst
matrix ones.npy 16 1 f2 1
gives 'the largest error of a result that is exact' 0 '^all results of H100:f16 are exact$' \
  trace H100:f16 ones.npy ones.npy --transpose-a --worst
# shellcheck disable=SC2086
matrix huge.npy 64 2 f2 1 65504 $zeros $zeros 1 65504 $zeros $zeros 1 1 $zeros $zeros 1 1 $zeros $zeros
gives 'infinity is the largest error' 0 '^H100:f16 has NaN or infinity here, and the exact result is finite$' \
  trace H100:f16 --out f16 rows.npy huge.npy --worst
# The exact result is 0, and H100 aligns the small term away.
# shellcheck disable=SC2086
matrix cancelling.npy 1 48 f2 32768 0.00006103515625 $(printf '0 %.0s' {1..14}) -32768 $(printf '0 %.0s' {1..15}) -0.00006103515625 \
  $(printf '0 %.0s' {1..15})
matrix ones.npy 48 1 f2 1
gives 'the largest error of exact results that are 0' 0 \
  '^the error of H100:f16 is largest here, 6\.1e-05; all finite exact results are 0$' \
  trace H100:f16 cancelling.npy ones.npy --worst
matrix zero.npy 1 1 f4 0
gives 'the largest difference from results that are 0' 0 \
  '^zero\.npy and H100:f16 differ in 1 of 1 elements, here most, by 6\.1e-05; all finite results of zero\.npy are 0$' \
  trace H100:f16 cancelling.npy ones.npy --d zero.npy --worst
fails 'the largest error of an element' '--worst: --at names the element; leave one out' \
  trace H100 a.npy b.npy --worst --at 0,0

matrix c.npy 1 1 f4 -16777216
gives 'C begins' 0 '^ +0 +-16777216 +-16777216 +0$' trace --on H100 a.npy b.npy -C c.npy --at 0,0
matrix bias.npy 1 1 f4 -16777000
gives 'an epilogue' 0 '^stored in bf16 +0 ' trace --on H100 --plan end.json --alpha 0.5 --bias bias.npy a.npy b.npy --at 0,0
check 'its operations' grep -qE '^ +alpha +8388609\.5 +8388608 ' in/stdout

# Four instructions of a V100 are compared with one of an H100. The sum is 1 + 2^-24 + 2^-24, and the small terms are in
# different instructions of the V100.
matrix p.npy 1 16 f2 1 0.000244140625 0 0 0 0.000244140625 0 0 0 0 0 0 0 0 0 0
matrix q.npy 16 1 f2 1 0.000244140625 0 0 0 0.000244140625 0 0 0 0 0 0 0 0 0 0
gives 'drawn together' 1 '^first difference: ' trace --on V100,H100 p.npy q.npy --at 0,0
check 'as one' grep -q '^V100: mma.m8n8k4.f32.f16.f16.f32, 4 in a row$' in/stdout
check 'with both results' grep -qE '^  H100 +0 01111111 00000000000000000000001  ' in/stdout
# shellcheck disable=SC2086
matrix p2.npy 1 64 f2 16 $zeros 1 $zeros
# shellcheck disable=SC2086
matrix q2.npy 64 1 f2 32 $zeros 1 $zeros
gives 'divergence at a fold' 1 'diverge after 32 products, where parts are folded:$' \
  trace --on H100,H100 --plan two.json,low.json --at 0,0 p2.npy q2.npy
check 'the fold' grep -q '^H100 low.json: part moved, total to bf16: 512$' in/stdout
gives 'divergence after the sum' 1 'diverge after the sum, which is the same:$' \
  trace --on H100,H100 --plan none,end.json --at 0,0 p2.npy q2.npy
gives 'transposed' 0 '^ +64 +1026 ' trace --on H100 --transpose-a --transpose-b q2.npy p2.npy --at 0,0

# Results that a user supplies: two of 2 x 2 elements differ, [1, 0] the most.
matrix a4.npy 2 16 f2 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7
matrix b4.npy 16 2 f4 1 1
matrix ours.npy 2 2 f4 73 73 73 73
matrix theirs.npy 2 2 f4 73 73.00001 74 73
gives 'two results' 0 '^ours.npy and theirs.npy differ in 2 of 4 elements, here most, by 0.0137 of the largest result$' \
  trace --on H100,V100 --d ours.npy,theirs.npy a4.npy b4.npy
check 'which element' grep -q '^\[1, 0\] of a4.npy (2 x 16) times b4.npy (16 x 2)' in/stdout
check 'whose ours is' grep -q '^ours.npy: 42920000 = 73 here, as H100 and V100$' in/stdout
check 'whose theirs is' grep -q '^theirs.npy: 42940000 = 74 here, as no target$' in/stdout
check 'how many' grep -q '^  2 of 4 elements are those of V100$' in/stdout
gives 'one result' 0 '^theirs.npy and H100 differ in 2 of 4 elements' trace --on H100 --d theirs.npy a4.npy b4.npy
gives 'a result and an element' 0 '^theirs.npy: 42920000 = 73 here, as H100$' \
  trace --on H100 --d theirs.npy a4.npy b4.npy --at 1,1

gives 'JSON' 1 '"parting"' trace --on H100,H100 --plan none,two.json a.npy b.npy --at 0,0 --json
check 'has every step' has '.targets[0].steps | length == 4'
check 'has sums and errors' has '.targets[0].steps[3] | .products == 64 and .sum == 16777216 and .error == -3'
check 'has what the table has' has '.targets[0] | .ulp == 2 and
  .largest_error == {"error": -3, "products": 64} and .most_lost == {"error": -1, "products": 32}'
check 'has k' has '.targets[1].steps[3] | .kind == "instruction" and .k == "32..47" and .there == "3f800000"'
check 'has folds' has '.targets[1].steps[2].kind == "fold" and .targets[1].folds == 2'
check 'has the divergence' has '.parting | .after == 32 and .products == 48 and (.explanations | length) == 2'
gives 'JSON, every third' 0 '"every": 3' trace --on H100 a.npy b.npy --at 0,0 --json --every 3
check 'has the third and the last' has '[.targets[0].steps[].products] == [48, 64] and .targets[0].all_steps == 4'
gives 'JSON of own results' 0 '"results"' trace --on H100 --d ours.npy,theirs.npy a4.npy b4.npy --json
check 'has whose they are' has '.results[0].as == ["H100"] and .results[1].as == [] and .results[1].different == [2]'
check 'has the element' has '.element == [1, 0] and .parting == null'

# NaN, infinity, and an empty sum.
matrix nan.npy 1 64 f2 1 1 1 1 1 1 1 1 nan 1 1 1 1 1 1 1
gives 'NaN' 0 '^H100 +7fffffff +nan +- +- ' trace --on H100 nan.npy b.npy --at 0,0
matrix empty-a.npy 2 0 f2 0
matrix empty-b.npy 0 3 f2 0
matrix c6.npy 2 3 f4 1 2 3 4 5 6
gives 'K = 0' 0 '^H100 +00000000 +0 ' trace --on H100 empty-a.npy empty-b.npy --at 1,2
gives 'K = 0 and C' 0 '^H100 +40c00000 +6 +0 ' trace --on H100 empty-a.npy empty-b.npy -C c6.npy --at 1,2
gives 'block-scaled' 0 '^B200 ' trace --on B200,RTX-5090 --in nvfp4 a.npy b.npy
gives 'a custom unit' 0 '^hopper-nearest.json: ' \
  trace --on "$source_directory/examples/custom/hopper-nearest.json" a.npy b.npy --at 0,0
gives 'another format' 0 '^H100:tf32 +4b800000 ' trace --on H100,H100:tf32 a.npy b.npy --at 0,0

check 'a picture' runs 1 trace --on H100,H100 --plan none,two.json a.npy b.npy --svg picture.svg
check 'a curve for each' [ "$(grep -c '<g class="curve"' picture.svg)" = 2 ]
if command -v xmllint >/dev/null; then check 'well-formed' xmllint --noout --nonet picture.svg; fi

fails 'no target' '--on' trace a.npy b.npy
fails 'an element outside' '\[1, 0\] is not in the product, which is 1 x 1$' trace --on H100 a.npy b.npy --at 1,0
fails 'no element' "--at: '1' is not I,J" trace --on H100 a.npy b.npy --at 1
fails 'a negative element' "--at: '-1,0' is not I,J" trace --on H100 a.npy b.npy --at -1,0
fails 'other sizes' 'the columns of the first must be the rows of the second' trace --on H100 a.npy a.npy
fails 'no elements at all' 'has no elements: it is 0 x 0$' trace --on H100 empty-b.npy empty-b.npy --transpose-b
fails 'C of another size' 'C: c6.npy is 2 x 3, but A\*B is 1 x 1' trace --on H100 a.npy b.npy -C c6.npy
fails 'D of another size' 'd: ours.npy is 2 x 2, but the product is 1 x 1' trace --on H100 a.npy b.npy --d ours.npy
fails 'three results' "--d: 'x,y,z' has 3 files; at most 2 are compared" trace --on H100 a.npy b.npy --d x,y,z
matrix wide.npy 1 1 f8 0.1
fails 'results in another format' 'wide.npy is in f64, and 1 of its values are not numbers of f32' \
  trace --on H100 a.npy b.npy --d wide.npy
# A result that equals the first target's: the targets are compared with each other.
"$softmma" gemm --on H100 --in f16 p.npy q.npy -o first.npy >/dev/null 2>&1
gives 'a result of the first target' 1 '^H100 and V100 differ in 1 of 1 elements' trace --on H100,V100 --d first.npy p.npy q.npy

# ---- Pictures of extreme sums, and names ----

matrix large-a.npy 1 8 f8 1.3317e154 0 0 0
matrix large-b.npy 8 1 f8 1.3317e154 0 0 0
rz='mma.m8n8k4.rz.f64.f64.f64.f64'
check 'a picture of errors near the greatest FP64 number' runs 0 \
  trace --on A100 --instr $rz large-a.npy large-b.npy --at 0,0 --svg large.svg
check 'a dot for a sum of one point' runs 0 trace --on H100 p.npy q.npy --at 0,0 --svg one.svg
check 'one dot' [ "$(grep -c '<circle' one.svg)" = 1 ]
mkdir one other
cp two.json one/x.json
sed 's/32/16/' two.json >other/x.json
gives 'plans of one name' 1 '^H100 other/x.json: ' trace --on H100,H100 --plan one/x.json,other/x.json a.npy b.npy --at 0,0
cat >unit.json <<'END'
{"softmma-unit": 1, "name": "u", "algorithm": "composition", "k": 4, "a": "f16", "b": "f16", "d": "f32",
 "steps": [{"take": 4, "join": "chain", "start": "c", "alignment_bits": 24, "output": "f32"}]}
END
name=./x$(printf '\303\251%.0s' {1..30}).json
cp unit.json "$name"
ends 1 trace --on "$name,H100:f16" p.npy q.npy --at 0,0 --svg name.svg
check 'a long name is cut between characters' iconv -f UTF-8 -t UTF-8 -o /dev/null name.svg

fails 'plans for others' '2 plans for 3 targets' trace --on H100,H100,H100 --plan none,two.json a.npy b.npy
fails 'no such plan' 'none.json' trace --on H100 --plan ./none.json a.npy b.npy
fails 'K = 0 and a plan' 'two.json: K is 0' trace --on H100 --plan two.json empty-a.npy empty-b.npy
fails 'two formats of D' 'in different formats' trace --on H100,H100 --plan none,low.json a.npy b.npy
fails 'no place for a bias' '--bias: the product of H100 has no place for it' trace --on H100 --bias bias.npy a.npy b.npy
fails 'no place for C' '-C: the plan of two.json has no place for it; to add C give it "start": "c"' trace --on H100 --plan two.json -C c.npy a.npy b.npy
fails 'scale factors of one side' 'one goes with the other' trace --on B200 --in nvfp4 --scale-a c.npy a.npy b.npy
fails 'every without JSON' '--every' trace --on H100 a.npy b.npy --every 2
fails 'too many targets' 'more than 8' trace --on A2,A2,A2,A2,A2,A2,A2,A2,A2 a.npy b.npy
fails 'an empty target' "'' is not the name" trace --on H100,,A100 a.npy b.npy
fails 'picture and JSON in one' '--svg' trace --on H100 a.npy b.npy --svg - --json
fails 'a picture nowhere' 'no-such-folder' trace --on H100 a.npy b.npy --svg no-such-folder/x.svg
finish
