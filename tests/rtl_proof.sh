#!/usr/bin/env bash
# examples/rtl/formal: designs are proved equal to their rules; planted mistakes give a counterexample, whose command
# computes the rule's result. Without Yosys or bitwuzla the status is 77.
# Usage: rtl_proof.sh SOFTMMA SOURCE
set -u
softmma=${1:?usage: rtl_proof.sh SOFTMMA SOURCE} source=$2
skip() {
  echo '**********************************************************************'
  echo "SKIPPED: $1 is not there; proofs of examples/rtl/formal were NOT run."
  echo '**********************************************************************'
  exit 77
}
python=${PYTHON:-python3}
command -v yosys >/dev/null || skip yosys
"$python" -c 'import bitwuzla' 2>/dev/null || skip 'bitwuzla (python3 -m pip install bitwuzla)'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
cd "$source/examples/rtl/formal" || exit 2
export SOFTMMA=$softmma PYTHONDONTWRITEBYTECODE=1

# expects STATUS REGEX COMMAND...: the command ends with the status, and its output has the line
expects() {
  local status=$1 regex=$2
  shift 2
  "$@" >"$work/log" 2>&1
  if [ $? = "$status" ] && grep -qE -e "$regex" "$work/log"; then
    echo "ok      $(grep -E -e "$regex" "$work/log" | head -n 1 | cut -c 1-120)"
  else
    echo "FAILED  $*"
    tail -n 20 "$work/log" | cut -c 1-300
    failed=1
  fi
}
parts="../products.sv ../multiply.sv ../decode.sv ../round_f32.sv"
narrow=L=2,EXP=2,MAN=1,F=13 e4m3=L=4,EXP=4,MAN=3,IEEE=0,F=13 ties='--tie clk=0,rst=0,valid_in=1'
rule=e2m1.json design=../t_fdpa.sv
# shellcheck disable=SC2086
prove() { "$python" prove.py "$rule" $design $parts $ties "$@"; }
# Without points a proof for all operands takes minutes. So only some exponent fields of c are proved, near the products.
expects 0 "^PROVED: the design equals e2m1.json for c\[0\] 126-128; " prove --parameters "$narrow" --only 126-128
# With points all operands are proved. A point that does not hold, and a cut that admits too much, are left out.
rule=e4m3.json
expects 0 '^PROVED: the design equals e4m3.json for all operands; 7 points and ' \
  prove --parameters "$e4m3" --points t_fdpa.points
expects 1 '^COUNTEREXAMPLE: ' prove --parameters "$e4m3,BUG=1" --points t_fdpa.points
rule=e2m1.json
sed 's/^greatest = .*/& \ngreatest = step1_code0_0\ncut signed greatest = add_step1_sum0_0.reference/' t_fdpa.points >"$work/false.points"
expects 0 '^PROVED: the design equals e2m1.json for all operands; ' prove --parameters "$narrow" --points "$work/false.points"
expects 0 '^design.greatest and rule.step1_code0_0 differ for some operands' \
  prove --parameters "$narrow" --points "$work/false.points"
for line in 'greatest' 'cut a b' 'aligned[3 of 2] = d' 'nothing = add_step1_sum0_0.total' 'aligned[k of 3] = d'; do
  echo "$line" >"$work/wrong.points"
  expects 2 '^--points: ' prove --parameters "$narrow" --points "$work/wrong.points"
done
rule=bf16.json design=../tr_fdpa.sv
expects 0 '^PROVED: the design equals bf16.json for all operands; 6 points and ' \
  prove --parameters L=2 --points tr_fdpa.points
for bug in 1 2; do
  expects 1 '^COUNTEREXAMPLE: ' prove --parameters "L=2,BUG=$bug" --points tr_fdpa.points
done
rule=e2m1.json design=../t_fdpa.sv
# Mistake 2 changes a result only if the exponent of zeros exceeds that of the products, and c is zero.
sed 's/"zero_exponent": -133/"zero_exponent": 14/' e2m1.json >"$work/zero.json"
for bug in 1 2; do
  rule=e2m1.json only=0-255
  [ $bug = 1 ] || rule=$work/zero.json only=0-0 narrow+=,E_ZERO=14
  expects 1 '^COUNTEREXAMPLE: the design has [0-9a-f]{8}, the rule [0-9a-f]{8}$' prove --parameters "$narrow,BUG=$bug" --only "$only"
  expected=$(sed -n 's/^COUNTEREXAMPLE: .*, the rule //p' "$work/log")
  command=$(sed -n 's/^softmma //p' "$work/log")
  eval "\"$softmma\" ${command/ --explain/}" >"$work/dot" 2>&1
  grep -q "^0x$expected " "$work/dot" || { echo "FAILED  softmma $command"; cat "$work/dot"; failed=1; }
done
# The reference is equal to itself, also as a pipeline. It is not equal to a reference with another parameter.
"$softmma" rtl V100:f16 --name mine --stages 3 -o "$work/mine.sv"
expects 0 '^PROVED: the design equals V100:f16 for all operands; 1 cases$' "$python" prove.py V100:f16 "$work/mine.sv" --tie clk=0
sed "s/ALIGNMENT_BITS = 11'sd23/ALIGNMENT_BITS = 11'sd22/" "$work/mine.sv" >"$work/wrong.sv"
expects 1 '^COUNTEREXAMPLE: ' "$python" prove.py V100:f16 "$work/wrong.sv" --top mine --tie clk=0
# From a black box to a proved circuit, as docs/rtl.md prints it. A faulty design is not the inferred rule.
if command -v verilator >/dev/null; then
  loop() { make -s loop SOFTMMA="$softmma" BUILD="$work/build" PYTHON="$python"; }
  expects 0 '^PROVED: the design equals .*model.json for all operands; 7 points and ' loop
  for line in 'alignment_bits:20' ' agree with the model' 'neighbouring values: 91 excluded by rows'; do
    grep -q "$line" "$work/log" || { echo "FAILED  loop: no '$line'"; cat "$work/log"; failed=1; }
  done
  rule=$work/build/model.json design=../t_fdpa.sv
  expects 1 '^COUNTEREXAMPLE: ' prove --parameters L=4,F=20,BUG=1 --points t_fdpa.points
fi
expects 2 "^yosys: ERROR: .*nothing.sv" "$python" prove.py V100:f16 "$work/nothing.sv"
exit $failed
