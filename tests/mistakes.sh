#!/usr/bin/env bash
# Command lines with mistakes: each error says what to type, each note what had no effect. Usage: mistakes.sh SOFTMMA
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: mistakes.sh SOFTMMA}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"

"$softmma" custom --from H100:f16 >unit.json
sed 's/"alignment_bits": 25/"alignment_bits": 20/' unit.json >other.json
npy A.npy '<f4' '(4, 32)' "$(f32 $(seq 1900 2027))"
npy B.npy '<f4' '(32, 3)' "$(f32 $(seq 1901 1996))"
npy C.npy '<f4' '(4, 3)' "$(f32 $(seq 1 12))"
"$softmma" vectors gen H100:f16 -n 5 >five.txt
ends 0 gemm H100:f16 A.npy B.npy -o D.npy

# ---- Errors that say what to type ----

fails 'two targets for one' "takes one" dot H100 A100 --in f16 --a 1 --b 1
fails 'a target twice' 'given twice' compare H100 H100 A.npy B.npy
fails 'one target to compare' 'nothing to be compared with' compare H100 A.npy B.npy
fails 'a GPU that is misspelled' 'nearest: H200' compare H2000 H100 A.npy B.npy
fails 'a GPU that is misspelled, alone' 'nearest: H200' tolerance H2000
fails 'a TPU' "no model of Google's TPUs" list TPUv4
fails 'Gaudi' "no model of Intel's Gaudi" show Gaudi2
fails 'a GPU without a model' 'no model of GB10' show GB10
fails 'formats twice' 'already gives it' dot H100:f16 --in bf16 --a 1 --b 1
fails 'a format of D twice' '--out: H100:HMMA.16816.F32 already gives it' dot H100:HMMA.16816.F32 --out f16 --a 1 --b 1
fails 'fp8' 'e4m3 or e5m2' gemm H100 --in fp8 A.npy B.npy -o D.npy
fails 'fp8 after a colon' 'e4m3 or e5m2' gemm H100:fp8 A.npy B.npy -o D.npy
fails 'fp6' 'e3m2 or e2m3' gemm B200:fp6 A.npy B.npy -o D.npy
fails 'no formats' 'for example --in f16' gemm H100 A.npy B.npy -o D.npy
fails 'no target' 'for example --on H100' gemm A.npy B.npy -o D.npy
fails 'too many files' "unexpected argument 'D.npy'" gemm H100:f16 A.npy B.npy C.npy D.npy -o E.npy
fails 'a file to write' "unexpected argument 'd.npy'; -o FILE names the file to write" gemm H100:f16 A.npy B.npy d.npy
fails 'a name like that of no GPU has no nearest' "unknown GPU or architecture 'best' \\(see" compare A100 best A.npy B.npy
fails 'the exact product as a target' "'exact' is not a target; leave it out" compare A100:f16 H100:f16 exact A.npy B.npy
fails 'GPUs of an experiment' '--gpus: unknown option; type --set NAME=VALUE' experiment accumulation --gpus H100
alike 'an element' 0 'trace A100:f16 A.npy B.npy --at 1,2' 'trace A100:f16 A.npy B.npy 1,2' \
  'trace A100:f16 A.npy B.npy --row 1 --col 2' 'trace A100:f16 A.npy B.npy --row 1 --column 2' \
  'trace A100:f16 A.npy B.npy -i 1 -j 2' 'trace A100:f16 A.npy B.npy --element 1,2'
fails 'an element twice' 'name the element together, without --at' trace A100:f16 A.npy B.npy --row 1 --col 2 --at 1,2
fails 'a row without a column' 'name the element together' trace H100:f16 A.npy B.npy --row 3
check 'a picture by -o' runs 0 explain V100:f16 -a 1 -b 1 -o sum.svg
check 'a picture by -o is written' grep -q '<svg' sum.svg
check 'the last picture counts' runs 0 explain V100:f16 -a 1 -b 1 --svg other.svg -o last.svg
check 'the last picture counts: it is there' [ -s last.svg -a ! -e other.svg ]
rm sum.svg last.svg
ends 2 explain V100 H100 --rounding rne --element 3
check 'two unknown options, both reported' [ "$(grep -c 'unknown option; ' in/stderr)" -eq 2 ]
alike 'a module by name' 0 'rtl H100:e4m3 --name dot' 'rtl H100:e4m3 --module dot'
fails 'a custom unit to test, without --unit' 'to test that custom unit: softmma test --unit custom:unit.json' test unit.json
gives 'words of an accuracy' 0 . gemm A100:bf16 A.npy B.npy --method words --accuracy 1e-12 -o accurate.npy
check 'words of an accuracy: a note on sums' grep -q 'the words reach 1e-12, but the unit.s sums are in f32' in/stderr
rm -f accurate.npy
fails 'a command as the name of a GPU' "'units' is a command of its own: softmma units" list units
# An extension of a CPU has only some of its architecture's instructions.
for target in AMX:tdpbf16ps AVX512_BF16:vdpbf16ps AVX512_VNNI:vpdpbusd AVX-VNNI-INT8:vpdpbssd AMX-FP8:tdphf8ps; do
  case $target in *bf16ps) formats=bf16 ;; *busd) formats=u8:s8 ;; *bssd) formats=s8 ;; *) formats=e4m3 ;; esac
  gives "formats of an extension: $target" 0 "${target#*:}" show "${target%:*}:$formats"
  check "an instruction of an extension: $target" runs 0 show "$target"
done
fails 'an instruction of another extension' "AMX has no instruction 'vdpbf16ps'; it is in AVX512_BF16" show AMX:vdpbf16ps
fails 'a format of another extension' 'AVX512_BF16 has no instruction for f16 x f16 -> f32; it has: bf16->f32$' \
  show AVX512_BF16:f16
gives 'instructions of an extension' 0 '^5 instructions' list AVX-VNNI-INT8
check 'instructions of an extension, as JSON' [ "$("$softmma" list AMX-FP8 --json | jq length)" = 4 ]
gives 'an extension at a glance' 0 "^AMX-FP8: x86 AVX and AMX, 4 instructions .'softmma list AMX-FP8'" show AMX-FP8
check 'open questions of an extension' runs 0 test --open --unit model AVX512_VNNI
check 'open questions of an extension alone' [ "$(grep -c 'amx\|tdp' in/stdout)" -eq 0 ]
ends 0 gemm AVX512_BF16:bf16 A.npy B.npy -o x86.npy
gives 'a search in an extension' 0 'vdpbf16ps' match A.npy B.npy x86.npy AVX512_BF16 --in bf16
"$softmma" match A.npy B.npy x86.npy AMX --in bf16 >in/stdout 2>in/stderr
check 'a search in another extension' [ "$(grep -c vdpbf16ps in/stdout)" -eq 0 ]
rm -f x86.npy
gives 'all instructions of an extension are tested' 0 'rows=250 ' test --unit model AVX-VNNI-INT8 -n 50
alike 'the K of random data' 0 'tolerance H100:bf16 --shape 64x64x512' 'tolerance H100:bf16 --k 512' 'tolerance H100:bf16 -k 512'
fails 'the sizes of a product, one by one' '--m: unknown option; type --shape MxNxK' tolerance H100:bf16 --m 64
fails 'two K' '--k: --shape gives it; leave one out' tolerance H100:bf16 --shape 8x8x8 -k 8
for given in split_k=1,2:split-k promote_every=16,32:promote-every; do
  fails "a sweep and ${given#*:}" "--${given#*:}: the sweep gives it; leave it out" tolerance H100:bf16 --shape 8x8x64 \
    --sweep "${given%:*}" "--${given#*:}" 32
done
fails 'a sweep and data' '--data: the sweep gives it; leave it out' tolerance H100:bf16 --sweep data=normal,uniform --data uniform
fails 'two K of a sweep' '--k: --sweep gives it; leave it out' tolerance H100:bf16 --sweep k=8,16 -k 8
fails 'no K' '--k: 0 is too small; the least is 1' tolerance H100:bf16 -k 0
fails 'a K of files' '--k: the files give it' tolerance H100:f16 A.npy B.npy -k 8
alike 'the K of a tree' 0 'tree H100:f16' 'tree H100:f16 -k 16'
alike 'a K of several calls' 0 'tree H100:f16' 'tree H100:f16 -k 32'
check 'a K of several calls: a note' grep -q 'note: the tree is that of one call, with K = 16; K = 32 takes 2 calls' in/stderr
fails 'a K of no calls' '--k: 17 is not a multiple of the instruction.s K, 16' tree H100:f16 -k 17
fails 'a negative K' '--k: -16 is not a multiple' tree H100:f16 -k -16
ends 0 gemm H100:e4m3 A.npy B.npy -o promoted.npy --promote-every 32
check '--promote of gemm' runs 0 gemm H100:e4m3 A.npy B.npy -o E.npy --promote 32
check '--promote of gemm: the same' cmp -s promoted.npy E.npy
ends 1 diff A100:f16 H100:f16 V100:f16 -n 500
check 'features of three targets' grep -qx 'number of fraction bits retained of aligned products' in/stdout
check 'features of three targets: their values' grep -qxE '  25 +H100:f16' in/stdout
ends 0 diff A100:f16 RTX3090:f16 A10:f16 -n 500
check 'no features of equal targets' [ "$(grep -c features in/stdout)" -eq 0 ]
cp C.npy mine.npy
ends 1 compare H100:f16 A.npy B.npy mine.npy
check 'a third matrix of compare: a note' grep -q 'note: mine.npy is a result of your own, .*; no C is added' in/stderr
cp C.npy D_h100.npy
fails 'a third matrix of compare: C' 'C.npy: compare adds no C' compare H100:f16 A.npy B.npy C.npy
fails 'a result before its factors' 'the order of the files is A B D' compare H100:f16 D_h100.npy A.npy B.npy
rm mine.npy D_h100.npy
fails 'an element of files as a dot product' "'softmma trace H100:f16 A.npy B.npy --at 3,5' follows" dot H100:f16 A.npy B.npy --row 3
ends 0 gemm V100:f16 A.npy B.npy -o accumulated.npy --out f16
for option in acc out-type; do
  ends 0 gemm V100:f16 A.npy B.npy -o E.npy --$option f16
  check "--$option of gemm" cmp -s accumulated.npy E.npy
done
alike 'a model to test with' 0 'test H100:f16 --unit model -n 9' 'test --model H100:f16 --unit model -n 9'
fails 'an option like no other has no nearest' '--wavefront: unknown option \(see' show H100:f16 --wavefront
fails 'an option without a name' '--=5: unknown option \(see' dot --=5
fails 'a rounding' "own rounding is fixed; 'softmma custom TARGET -o unit.json' writes" \
  gemm H100:f16 A.npy B.npy -o E.npy --rounding rne
fails 'a rounding that is none' 'give nearest-even, ' gemm H100:f16 A.npy B.npy -o E.npy --round-in up
alike 'the worst element' 1 'trace V100 H100 A.npy B.npy' 'trace V100 H100 A.npy B.npy --worst' \
  'trace V100 H100 A.npy B.npy --at worst'
alike 'the worst element of one target' 0 'trace H100:f16 A.npy B.npy --worst' 'trace H100:f16 A.npy B.npy --at worst'
fails 'the worst element as an option' "'softmma trace TARGET A B --worst' follows" compare V100 H100 A.npy B.npy --worst
for name in evidence basis model open rounding; do
  alike "show --$name" 0 'show V100:f16' "show V100:f16 --$name" "show --$name V100:f16"
  check "show --$name: a note" grep -q "^softmma: note: --$name has no effect: it is always printed$" in/stderr
done
for words in '1 compare V100 H100 A.npy B.npy=--pairs' '0 tolerance H100:f16 -k 64=--rtol' '0 trace H100:f16 A.npy B.npy=--ulp' \
  '1 diff V100 H100 -n 500=--features' '0 test H100:f16 --unit model -n 9=--minimize' '0 coverage H100:f16 -n 9=--missing'; do
  line=${words#* }
  alike "a flag without an effect: ${line%=*}" "${words%% *}" "${line%=*}" "${line%=*} ${line#*=}"
  fails "a flag of another command: ${line#*=}" "${line#*=}: unknown option" version "${line#*=}"
done
fails 'a flag without an effect, with a value' '--pairs=3: unknown option' compare V100 H100 A.npy B.npy --pairs=3
check 'a flag without an effect, quiet' [ -z "$("$softmma" show V100:f16 --evidence -q 2>&1 >/dev/null)" ]
alike 'the exact reference: compare' 1 'compare V100 H100 A.npy B.npy' 'compare V100 H100 A.npy B.npy --reference fp64' \
  'compare V100 H100 A.npy B.npy --ref=exact --metric ulp --error relative --exact'
alike 'the exact reference: tolerance' 0 'tolerance H100:f16 -k 64' 'tolerance H100:f16 -k 64 --exact --ref fp64 --seed 0'
alike 'the exact reference: trace' 0 'trace H100:f16 A.npy B.npy' 'trace H100:f16 A.npy B.npy --exact --reference fp64'
ends 1 compare V100 H100 A.npy B.npy --ref fp64 --metric ulp
check 'the exact reference: a note of each option' [ "$(grep -c 'has no effect' in/stderr)" -eq 2 ]
ends 1 compare V100 H100 A.npy B.npy --ref fp64 -q
check 'the exact reference: no note with --quiet' [ ! -s in/stderr ]
fails 'models to test' "'softmma diff A100:f16 H100:f16' compares two models" test A100:f16 --against H100:f16 -n 9
alike 'a model to test with' 0 'test H100:f16 --unit model -n 9' 'test --unit model --against H100:f16 -n 9' \
  'test --unit model --model H100:f16 -n 9' 'test --unit model --instr H100:f16 -n 9'
check 'the output of test leads to no file of progress' \
  [ "$("$softmma" test V100:f16 --unit model -o x.txt 2>&1 | grep -c resume)" -eq 0 ]
fails 'an option without its value says what it takes' '--blas: missing argument; type --blas FILE.NAME.none: the OpenBLAS' \
  bench --blas
fails 'a letter without its value says what it takes' '-n: missing argument; type -n N: ' vectors gen -n
fails 'a library that is not compared' "--blas: 'mkl' is not compared; type --blas openblas" bench V100:f16 --size 16 --blas mkl
gives 'a tolerance of one element' 0 '; measured on 4096 elements of this K .64 x 64 x 32.$' tolerance H100:f16 --shape 1x1x32

# ---- Results of the user's own ----

ends 0 gemm H100:f16 A.npy B.npy -o mine.npy
ends 0 gemm A100:f16 A.npy B.npy -o other.npy
alike 'a result to compare' 0 'compare H100:f16 A.npy B.npy --d mine.npy' 'compare H100:f16 A.npy B.npy mine.npy' \
  'compare A.npy B.npy mine.npy H100:f16' 'compare H100:f16 A.npy B.npy --with mine.npy' \
  'compare H100:f16 A.npy B.npy --expected mine.npy' 'compare H100:f16 A.npy B.npy --own mine.npy'
check 'a result to compare: its line' grep -qxE 'mine.npy +- +your result +0 \(0\.0 %\) +0\.00e\+00 +[0-9.e+-]+ +-' in/stdout
alike 'results to compare' 1 'compare H100:f16 A.npy B.npy --d mine.npy,other.npy' \
  'compare H100:f16 A.npy B.npy --d mine.npy --d other.npy'
check 'results to compare: pairs' [ "$(sed -n '/pair by pair/,$p' in/stdout | grep -c '^\(H100\|mine.npy\|other.npy\) ')" -eq 3 ]
for line in "$(grep '^H100 ' in/stdout | head -n 1)" "$(grep '^other.npy ' in/stdout | head -n 1)"; do
  check 'results to compare: they have errors' grep -qE ' [0-9.]+e[-+][0-9]+ +([0-9.]+e[-+][0-9]+|-)$' <<<"$line"
done
gives 'a result, as JSON' 1 '^      "file": "other.npy",$' compare H100:f16 A.npy B.npy other.npy --json
alike 'a result to trace' 0 'trace H100:f16 A.npy B.npy --d mine.npy' 'trace H100:f16 A.npy B.npy --with mine.npy'
fails 'a third matrix to trace' "unexpected argument 'mine.npy'; C is -C FILE, a result of your own --d FILE, and the element --at I,J" \
  trace H100:f16 A.npy B.npy mine.npy
fails 'four matrices to compare' "unexpected argument 'other.npy'; give all results of your own to --d" compare H100:f16 A.npy B.npy mine.npy other.npy
fails 'a result of another shape' '--d: A.npy is 4 x 32, but the product is 4 x 3' compare H100:f16 A.npy B.npy A.npy
npy wide.npy '<f8' '(4, 3)' "$(printf '9a9999999999b93f%.0s' 1 2 3 4 5 6 7 8 9 10 11 12)"
fails 'a result of another format' '--d: wide.npy is in f64, and 12 of its values are not numbers of f32' \
  compare H100:f16 A.npy B.npy wide.npy
npy half.npy '<f2' '(4, 3)' "$(printf '003c%.0s' 1 2 3 4 5 6 7 8 9 10 11 12)"
gives 'a result of a narrower format' 1 '^half.npy ' compare H100:f16 A.npy B.npy half.npy
check 'a result of a narrower format: a note' \
  grep -qF -e "note: --d, half.npy: its elements are in f16, the targets' results in f32; --out f16" in/stderr
fails 'a result twice' "unexpected argument 'mine.npy'; give all results to --d" compare H100:f16 A.npy B.npy mine.npy --d other.npy
fails 'a result that is missing' 'nothing.npy: cannot open' compare H100:f16 A.npy B.npy nothing.npy
fails 'no name of a result' "--d: 'mine.npy,': the name of a file is missing" compare H100:f16 A.npy B.npy --d mine.npy,
rm -f mine.npy other.npy wide.npy half.npy

# ---- Several faults at once ----

# refuses_all NAME COUNT LINE REGEX...: the command line must fail with COUNT lines, one for each regular expression
refuses_all() {
  local name=$1 count=$2 regex words
  read -ra words <<<"$3"
  shift 3
  if ! runs 2 "${words[@]}" || [ "$(grep -c '^softmma: ' in/stderr)" -ne "$count" ]; then
    fail "$name" "not $count errors: $(cat in/stderr)"
    return
  fi
  for regex; do check "$name: $regex" grep -qE -e "$regex" in/stderr; done
}
npy e4m3.npy '|V1' '(4, 4)' 38383838383838383838383838383838
refuses_all 'a format and an ending' 2 'gemm MI300X:e4m3 A.npy B.npy -o D.csv' 'MI300X has no instruction for e4m3' 'no csv file'
refuses_all 'a kernel, a GPU and an ending' 3 'gemm --on H1000:f16 --kernel x A.npy B.npy -o D.csv' "no kernel 'x'" \
  "unknown GPU or architecture 'H1000'" 'no csv file'
refuses_all 'two targets' 2 'compare H100:f16 V100:e4m3 T4:bf16 A.npy B.npy' 'V100 has no instruction for e4m3' \
  'T4 has no instruction for bf16'
refuses_all 'a target and files of encodings' 3 'compare H100:e4m3 MI300X:e4m3 e4m3.npy e4m3.npy' 'MI300X has no instruction' \
  'A, e4m3.npy: its elements are encodings, here of e4m3; for targets of other formats give --in' 'B, e4m3.npy: '
refuses_all 'a target and a file' 2 'trace H100:e4m3 V100:bf16 nothing.npy B.npy' 'V100 has no instruction' 'nothing.npy: cannot open'
refuses_all 'scale factors' 1 'gemm H100:e4m3 A.npy B.npy --plan deepgemm -o E.npy' \
  '--scale-a and --scale-b are missing: scale factors in f32, 4 x 1 and 1 x 3; for example --scale-a scales-a.npy'
refuses_all 'the shapes of scale factors' 1 'gemm H100:e4m3 A.npy B.npy --plan deepgemm -o E.npy --scale-a A.npy --scale-b B.npy' \
  '--scale-a: A.npy is 4 x 32, .*; --scale-b: B.npy is 32 x 3, but this product needs 1 x 3$'
rm -f e4m3.npy
fails 'random data to multiply' "gemm takes files; 'softmma tolerance'" gemm H100:f16 --m 8 --n 8 -o E.npy
fails 'an element to explain' "'softmma trace TARGET A.npy B.npy --at 3,5'" explain H100:f16 A.npy B.npy
gives 'an element by another name' 0 '^.0, 0. of A.npy' trace H100:f16 A.npy B.npy --element 0,0
cat >table_of_json.py <<'END'
import csv, json, sys

def flat(record, before=""):
    for key, value in record.items():
        if isinstance(value, dict):
            yield from flat(value, before + key + ".")
        elif not isinstance(value, list):
            yield before + key, value

names, *rows = csv.reader(open("table.csv", newline=""))
value = json.load(open("table.json"))
if isinstance(value, dict):
    value = next(x for x in value.values() if isinstance(x, list) and x and isinstance(x[0], dict))
wanted = [dict(flat(x)) for x in value]
assert rows and len(rows) == len(wanted) and sorted(names) == sorted({key for x in wanted for key in x})
for row, x in zip(rows, wanted):
    for name, cell in zip(names, row, strict=True):
        y = x.get(name)
        text = "" if y is None else y if isinstance(y, str) else None
        assert cell == text if text is not None else json.loads(cell) == y, (name, cell, y)
END
for line in '1 compare V100 H100 A.npy B.npy' '0 tolerance H100:f16 -k 64' '0 tolerance H100:f16 --sweep k=8,16' '0 list V100' \
  '0 list --formats' '0 list --gpus' '0 probe V100:f16' '1 diff V100 H100 -n 500' '1 trace V100 H100 A.npy B.npy --at 0,0' \
  '0 units' '0 test --unit model H100:f16 -n 9' '0 verify five.txt' '0 show mma.m8n8k4.f32.f16.f16.f32 V100'; do
  read -ra words <<<"$line"
  "$softmma" "${words[@]:1}" --json >table.json 2>in/stderr
  if [ "$(python3 -c 'import json; x = json.load(open("table.json")); x = [x, *(x.values() if isinstance(x, dict) else [])]
print(any(isinstance(y, list) and y and isinstance(y[0], dict) for y in x))')" = True ]; then
    check "${words[*]:1} --csv" runs "${words[0]}" "${words[@]:1}" --csv
    cp in/stdout table.csv
    check "${words[*]:1} --csv: the values of --json" python3 table_of_json.py
    rm table.csv
    check "${words[*]:1} -o table.csv" runs "${words[0]}" "${words[@]:1}" -o table.csv
    check "${words[*]:1} -o table.csv: the values of --json" python3 table_of_json.py
  elif grep -q '"\(shown\|features\)": \[\]' table.json; then # no mismatch or no difference
    check "${words[*]:1} --csv" runs "${words[0]}" "${words[@]:1}" --csv
    check "${words[*]:1} --csv: no lines" [ ! -s in/stdout ]
  else
    fails "${words[*]:1} --csv" '--csv: the result has no list of records, of which a table could be made; type --json' \
      "${words[@]:1}" --csv
  fi
done
fails 'no table' 'no list of records' show e4m3 --csv
fails 'never a table' '--csv: unknown option; type --json' dot --csv
fails 'a table in a file of gemm' 'no csv file is written here' gemm H100:f16 A.npy B.npy -o E.csv
alike 'random data to compare' 1 'compare V100 H100 --shape 64x64x4096' 'compare V100 H100' \
  'compare V100 H100 -k 4096 --data normal --seed 0' 'compare V100 H100 --random --size 64x64x4096'
gives 'random data to compare: their names' 1 '^random A \(8 x 32\) times random B \(32 x 16\): 128 results' \
  compare V100 H100 --shape 8x16x32
"$softmma" compare V100 H100 -k 64 -s 1 --json >one.json 2>/dev/null
"$softmma" compare V100 H100 -k 64 -s 2 --json >two.json 2>/dev/null
gives 'a seed of compare' 1 '^random A of seed 3 \(4 x 64\) times random B of seed 3' compare V100 H100 --shape 4x4x64 -s 3
check 'another seed: other data' [ "$(cmp -s one.json two.json; echo $?)" = 1 ]
gives 'a seed of tolerance' 0 'data normal, seed 3, results in f32' tolerance H100:f16 -k 64 --seed 3
fails 'a seed and files' '--seed: the files give it' compare V100 H100 A.npy B.npy --seed 1
fails 'a seed and files: tolerance' '--seed: the files give it' tolerance H100:f16 A.npy B.npy --seed 1
fails 'random data and files' '--shape: the files give it' compare V100 H100 A.npy B.npy --shape 8x8x8
fails 'random data twice' '--k: --shape gives it' compare V100 H100 --shape 8x8x8 -k 9
fails 'random data for a result' 'needs the files A and B' compare H100 --d D.npy
fails 'random data of scale factors' '--data: scales are no data of A and B' compare V100 H100 --data scales
fails 'one file to compare' 'two files are needed, A and B' compare V100 H100 A.npy
fails 'a misspelled GPU without files' 'nearest: H200' compare V100 H2000

# ---- Tolerances of compare ----

fails 'a tolerance below zero' '--rtol: -1 is no number from 0 on' compare V100 H100 -k 64 --rtol=-1
fails 'an infinite tolerance' '--atol: inf is no number from 0 on' compare V100 H100 -k 64 --atol inf
gives 'results within a tolerance' 0 '^differ by more than atol 0 \+ rtol 0.5 times the result of V100: none$' \
  compare V100 H100 --shape 4x4x64 --rtol 0.5 --atol 0
gives 'results beyond a tolerance' 1 '^differ by more than atol 1e-12 \+ rtol 0 .*: [0-9]+ of 4096 on H100 \(f16\)$' \
  compare V100 H100 -k 64 --atol 1e-12

# ---- Numbers of a format ----

ends 0 show e4m3 '1.5 0x7e'
check 'an encoding among numbers' grep -q '0x7e is read as the number 126; encodings take a list of their own' in/stderr
fails 'too many instructions' '--instr: 3 names for 2 targets' diff V100 V100 --rows 1 \
  --instr mma.m8n8k4.f32.f16.f16.f32,mma.m8n8k4.f16.f16.f16.f16,none
touch 12
ends 0 vectors gen V100:f16 --rows 12 -o twelve.txt
ends 0 coverage V100:f16 --rows 10 --search 0
gives 'an encoding' 0 '^e4m3 +0x7e: sign 0, exponent 1111, fraction 110$' show e4m3 0x7e
check 'an encoding: its value' grep -qx 'value  *448' in/stdout
gives 'an encoding without a sign' 0 '^ue8m0 +0xff: exponent 11111111$' show ue8m0 0xff
alike 'a number of a format' 0 'show e4m3 0x7e' 'show e4m3 448'
gives 'NaN' 0 '^value +nan$' show e4m3 0x7f
gives 'an integer below zero' 0 '^s8 +0xfd$' show s8 -- -3
fails 'an integer below zero, as an option' "a number below 0 goes after '--'" show s8 -3
fails 'a value of no format' 'a value belongs to a format' show nvfp4 1
fails 'a value that is none' "'x'" show e4m3 x
gives 'encodings as JSON' 0 '"fraction": "110"' show e4m3 0x7e,0x01 --json

# ---- Forms of output ----

alike 'a form by --format' 0 'list --formats --json' 'list --formats --format json' 'list --formats --format=json'
alike 'CSV by --format' 0 'list --formats --csv' 'list --formats --format csv'
fails 'two forms' '--json and --csv are two forms' list --formats --json --csv
fails 'CSV in a file of JSON' "ends with .json; leave out --csv" list --formats --csv -o formats.json
fails 'JSON in a file of CSV' "ends with .csv; leave out --json" list --formats --json -o formats.csv
gives 'a table of several targets as CSV' 1 '^V100,H100,true,0\.' diff V100 H100 A100 --csv -n 500
gives 'a table of several targets as JSON' 1 '"title": "number of carry bits"' diff V100 H100 A100 --json -n 500

# ---- Values that are targets, programs that are units, numbers without effect ----

alike 'a target as another unit' 1 'diff H100:f16 A100:f16 -n 500' 'diff H100:f16 --against A100:f16 -n 500' \
  'diff H100:f16 --unit A100:f16 -n 500'
fails 'a target too many' "softmma diff H100:f16 A100' compares two models" test H100:f16 --unit model --against A100
alike 'the file of a custom unit as unit' 0 'test H100:f16 --unit custom:unit.json -n 9' 'test H100:f16 --unit unit.json -n 9'
alike 'the file of a custom unit after the target' 0 'test H100:f16 --unit unit.json -n 9' 'test H100:f16 unit.json -n 9'
cp unit.json rows.txt
fails 'a file of test vectors to test with' "'softmma verify rows.txt --unit UNIT' runs its test vectors" \
  test H100:f16 --unit model --vectors rows.txt
rm rows.txt
fails 'all targets' "'all' is not a target; name the GPUs" compare all A.npy B.npy
fails 'a result for tolerance' "D.npy --rtol R --atol A' compares a result" tolerance H100:f16 A.npy B.npy D.npy
fails 'no custom unit' 'none.json: cannot open' test H100:f16 --unit none.json
alike 'threads' 1 'diff H100:f16 A100:f16 -n 500' 'diff H100:f16 A100:f16 -n 500 -t 1' 'diff H100:f16 A100:f16 -n 500 --jobs 2'
fails 'threads below zero' '--threads: -1 is not a number from 0' diff H100:f16 A100:f16 -t -1
fails 'threads beyond an int' "--threads: '3e9' is no whole number, .*, or is too large" diff H100:f16 A100:f16 -t 3e9
fails 'threads of a command without' '-t: unknown option' list -t 1
for words in 'tree H100:f16 -k' 'tolerance -k' 'diff --prove H100 B200 -k' 'plan deepgemm H100:e4m3 -k' 'explain rows.txt --row' \
  'compare V100 H100 -k' 'trace H100:f16 A.npy B.npy --json --every' 'infer H100:f16 --most-rows'; do
  read -ra line <<<"$words"
  fails "zero: softmma $words" "${line[-1]#-}: 0 is (too small|not a number from 1)" "${line[@]}" 0
done
fails 'a program as an option' 'such as --unit pipe:./unit.py$' test H100:f16 --program ./unit.py
fails 'two models to test' "'softmma diff V100:f16 A100:f16' compares two models" test V100:f16 A100:f16
fails 'a file to convert to, of no format' 'no svg file is written here; name a .txt, .bin' vectors convert five.txt out.svg
fails 'two files to convert to' "-o: 'x.bin' is the file to write already" vectors convert five.txt x.bin -o y.bin
fails 'three files to convert' "unexpected argument 'y.bin'" vectors convert five.txt x.bin y.bin
fails 'an unknown kind and a wrong ending' "unknown kind 'odd'; kinds are random, .*; and --output: 'v8.npy': no npy file" \
  vectors gen H100:e4m3 -n 5 --kind odd -o v8.npy
fails 'an unknown kind and a wrong ending, recorded' "unknown kind 'odd'; .*; and --output: 'v8.npy': no npy file" \
  vectors record H100:e4m3 --unit model -n 5 --kind odd -o v8.npy
for ending in svg npy; do
  fails "test vectors as .$ending" "no $ending file is written here" vectors gen H100:f16 -n 1 -o "five.$ending"
done
fails 'test vectors in a form of others' 'no parquet file is written here' vectors record A100:f16 -n 9 -o out.parquet
fails 'separating vectors in a form of others' 'no csv file is written here' vectors next A100:f16 --unit model -o out.csv
alike 'the form of vectors by its ending' 0 'vectors gen H100:f16 -n 9 --format hex' 'vectors gen H100:f16 -n 9 --format readmemh'
fails 'a model to verify with' 'a file names its instruction, whose model checks it' verify five.txt --model x
fails 'D as text' 'no csv file is written here; name a .npy file' gemm H100:f16 A.npy B.npy -o E.csv
fails 'a format of no ending' 'no svg file is written here; name a .txt, .bin' vectors convert five.txt -o out.svg
fails 'a list without quotes' "unexpected argument '2': quote a list with blanks" dot H100:f16 -a 1 2 3 -b 4 5 6
fails 'two lists without quotes' "unexpected argument '4': quote a list with blanks" dot H100:f16 1 2 3 4 5 6
fails 'a list that begins with a minus' "-1,2: unknown option; give a list that begins with '-' by an option" dot H100:f16 -1,2 3,4
fails 'a GPU without a model before files' 'no model of' gemm TPUv4:bf16 A.npy B.npy -o E.npy
fails 'a misspelled GPU before files' "unknown GPU or architecture 'H1000'; nearest: H100" \
  compare H1000:f16 A100:f16 A.npy B.npy
gives 'powers of two' 0 '-6[.]75' dot H100:f16 1,2^-3 2^0,-2^6 -c '+2^-2'
for number in 2^ 2^x 2^0.5 +-2^3 2^+; do
  fails "no power of two: $number" "is not a number, such as 1.5 or 2.-24" dot H100:f16 -a "$number" -b 1
done
fails 'a misspelled GPU before lists' "unknown GPU or architecture 'H1000'" dot H1000 --in f16 1,2 3,4
fails 'a file as operands' "'softmma explain five.txt --row 1' explains" dot H100:f16 five.txt
fails 'a file to explain without --row' "'softmma explain five.txt --row 1' explains" explain five.txt
fails 'C twice' 'unexpected argument .C.npy.; -C names C already' gemm H100:f16 A.npy B.npy C.npy -C C.npy -o E.npy
fails 'a custom unit to test' 'the unit under test is --unit custom:unit.json' test unit.json H100:f16
printf '#!/bin/sh\n' >program && chmod +x program
fails 'a program to test, executable' 'pipe:./program' test H100:f16 program -n 1
check 'a program to infer: a note' grep -q "note: the unit is called with the operands of an H100's instruction" \
  <("$softmma" infer ./program 2>&1)
rm program
fails 'a program to test' 'a program under test is --unit pipe:PROGRAM' test ./program H100:f16
fails 'the formats of a custom unit to infer' '--next is for recordings' infer --unit custom:unit.json --next more.txt
fails 'two models to separate' "'softmma custom A100:f16 -o other.json', then --unit model --against custom:other.json" \
  vectors next H100:f16 A100:f16
fails 'a library that is misspelled' "is neither a file nor a library; nearest: deepgemm \\(see" plan deepgem
gives 'a library by another name' 0 '"name": "torch:_scaled_mm:row"' plan torch:_scaled_mm:rowwise
fails 'a plan that is missing' 'nothing.json: cannot open' plan nothing.json
fails 'too many elements for one of two' 'the instruction takes 4' explain V100:f16 A100:f16 -a '1*5' -b 1
fails 'the output of a description that is read' '--output: it has no effect with a file that is read' custom unit.json -o other.json
fails 'a plug-in that is not there' '^softmma: --unit: ./unit.so: there is no such file$' test H100:f16 --unit ./unit.so
fails 'a program that is not there' '^softmma: --unit: ./box.py: there is no such file$' test H100:f16 --unit ./box.py
cp unit.json box.py
fails 'a program that is not executable' 'it is not executable; type chmod .x ./box.py$' test H100:f16 --unit ./box.py
long=./$(printf 'a%.0s' {1..100}).py
mv box.py "$long"
fails 'a program of a long name that is not executable' "it is not executable; type chmod .x $long\$" test H100:f16 --unit "$long"
rm "$long"
printf '#!/bin/sh\necho 0\n' >box && chmod +x box
"$softmma" test H100:f16 --unit ./box -n 9 >box-1.txt 2>&1
"$softmma" test H100:f16 --unit pipe:./box -n 9 >box-2.txt 2>&1
check 'an executable program without its kind' cmp box-1.txt box-2.txt
rm box box-*
alike 'words for what custom does' 0 'custom H100:f16' 'custom init H100:f16' 'custom new H100:f16'
alike 'words for what custom does, of a file' 0 'custom unit.json' 'custom check unit.json' 'custom validate unit.json'
alike 'special values' 0 'vectors gen H100:f16 -n 9' 'vectors gen H100:f16 -n 9 --special'
fails 'a program without its folder' 'is pipe:./box.py$' infer H100:f16 --unit box.py
fails 'a method by what it gives' '--method ozaki gives the exact product' \
  gemm H100:s8 A.npy B.npy -o E.npy --method exact
fails 'too many elements' 'the instruction takes 16' dot H100:f16 --a '1*17' --b 1
fails 'different results' 'one format of D' compare V100 H100:s8 A.npy B.npy
gives 'formats of a search' 0 'H100' match A.npy B.npy D.npy H100:f16
fails 'two formats of a search' 'a search is for the formats f16' match A.npy B.npy D.npy H100:f16 A100:bf16
check 'ozaki without formats' runs 0 gemm H100 A.npy B.npy -o E.npy --method ozaki
fails 'ozaki with another format' 'does not multiply s8 by s8, as slices are' gemm H100:f16 A.npy B.npy -o E.npy --method ozaki
check 'fallback' runs 0 gemm A100:e4m3 A.npy B.npy -o E.npy --method fallback
gives 'custom: as in --unit' 1 'fraction bits retained' diff custom:unit.json other.json

finish
