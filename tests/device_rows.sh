#!/usr/bin/env bash
# Test vectors on a device: vectors, results and reports must equal those of this CPU.
# Usage: device_rows.sh SOFTMMA MODULE-FOLDER DEVICE
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: device_rows.sh SOFTMMA MODULE-FOLDER DEVICE}")
modules=$(realpath "${2:?usage: device_rows.sh SOFTMMA MODULE-FOLDER DEVICE}")
device=${3:?usage: device_rows.sh SOFTMMA MODULE-FOLDER DEVICE}
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"
ampere=(--on A100 --instr mma.m16n8k16.f32.f16.f16.f32)

"$softmma" test --unit "model:$device" "${ampere[@]}" --rows 1 >in/first 2>&1
if grep -qE 'is not there|no driver|no device|no GPU' in/first; then
  echo "************ SKIPPED: rows were NOT tested on a device: $(cat in/first) ************" >&2
  exit 77
fi

# ---- Campaigns ----

gives 'the device against this CPU' 0 '^instructions=1 rows=70000 mismatches=0$' \
  test --unit "model:$device" --against model "${ampere[@]}" --rows 70000 --seed 3
gives 'and the reverse, with scale factors' 0 'mismatches=0$' test --unit model --against "model:$device" --on B200 \
  --instr tcgen05.m128n256k64.block16.f32.e2m1.e2m1.ue4m3 --rows 3000
gives 'a row that is not decided at once' 0 'mismatches=0$' test --unit model --against "model:$device" --on MI100 \
  --instr v_mfma_f32_32x32x8f16 --rows 3000 --kind edge

# report AGAINST [OPTION]...: prints the report against a wrong unit, without dates, column widths and names of devices
report() {
  local against=$1
  shift
  ends 1 test --unit "plugin:$modules/wrong_unit.so:bit" --against "$against" "${ampere[@]}" --rows 70000 "$@" >&2
  sed -E "s/model:$device/model/; s/ +/ /g; /SoftMMA's models|\"driver\"|\"date\"/d" in/stdout
}
report model >cpu.txt
report "model:$device" >device.txt
check 'mismatches are found' grep -qE 'mismatches=[1-9]' cpu.txt
check 'and reported as those of the CPU' diff cpu.txt device.txt
report model --json --kind normal >cpu.json
report "model:$device" --json --kind normal >device.json
check 'also as JSON' diff cpu.json device.json
ends 0 test --unit "model:$device" --against model "${ampere[@]}" --rows 100 --resume state.json
gives 'a campaign goes on' 0 '^instructions=1 rows=66000 mismatches=0$' \
  test --unit "model:$device" --against model "${ampere[@]}" --rows 66000 --resume state.json

# ---- Two models on the device: test vectors do not leave it ----

"$softmma" custom --from H100 --instr mma.m16n8k16.f32.f16.f16.f32 >hopper.json
# two UNIT AGAINST [OPTION]...: like report, without the lines that only a device prints
two() {
  local unit=$1 against=$2
  shift 2
  "$softmma" test --unit "$unit" --against "$against" "${ampere[@]}" --rows 70000 --seed 5 "$@" >in/stdout
  sed -E "s/:$device\b//g; s/ +/ /g; /^ *\^+$|SoftMMA's models|custom unit|\"driver\"|\"date\"/d" in/stdout
}
two model custom:hopper.json >cpu.txt
two "model:$device" "custom:$device:hopper.json" >device.txt
check 'they differ' grep -qE 'mismatches=[1-9]' cpu.txt
check 'as on the CPU' diff cpu.txt device.txt
two custom:hopper.json model --json --kind network >cpu.json
two "custom:$device:hopper.json" "model:$device" --json --kind network >device.json
check 'also as JSON, and the other way round' diff cpu.json device.json
"$softmma" custom --from "${ampere[@]:1}" >ampere.json
gives 'an operation and itself' 0 '^instructions=1 rows=70000 mismatches=0$' \
  test --unit "model:$device" --against "custom:$device:0:ampere.json" "${ampere[@]}" --rows 70000

examples=(sticky)
if [ -n "${SOFTMMA_ENGINES-}" ]; then # the tests' own driver, which compiles nothing for them
  examples+=(exact hopper-nearest toolbox-b200-fp8)
  for bits in 35 50; do
    sed "s/\"alignment_bits\": 25/\"alignment_bits\": $bits/" "$source_directory/examples/custom/hopper-nearest.json" \
      >$bits.json
  done
  two custom:35.json custom:50.json --seed 3 --kind normal >cpu.txt
  two "custom:$device:35.json" "custom:$device:50.json" --seed 3 --kind normal >device.txt
  check 'the first row that differs is behind the first batch' grep -q '^ first mismatch: test vector 67698' device.txt
  check 'and reported as by the CPU' diff cpu.txt device.txt
fi
for file in "${examples[@]}"; do
  gives "rows of $file" 0 'mismatches=0$' test --unit "custom:$device:$source_directory/examples/custom/$file.json" \
    --against model --on "$source_directory/examples/custom/$file.json" --rows 3000
done

# ---- Files ----

"$softmma" vectors gen "${ampere[@]}" --rows 9000 -o rows.txt
gives 'rows of a file' 0 '^rows=9000 mismatches=0$' verify --unit "model:$device" rows.txt
sed -E '3000s/.$/x/; 3000s/[0-8]x$/9/; 3000s/.x$/0/' rows.txt >wrong.txt
ends 1 verify wrong.txt
cp in/stdout cpu.txt
ends 1 verify --unit "model:$device" wrong.txt
check 'what differs is printed as by the CPU' diff cpu.txt in/stdout

gives 'rows are timed' 0 "mma.m16n8k16.f32.f16.f16.f32 +$device " \
  bench "${ampere[@]}" --rows 100 --kernel "$device" -r 1

# ---- Errors ----

fails 'no such device' "--unit: model:$device:99: .*there is no device 99" \
  test --unit "model:$device:99" "${ampere[@]}"
fails 'no such device of a custom unit' "--unit: custom:$device:99:ampere.json: .*there is no device 99" \
  test --unit "custom:$device:99:ampere.json" "${ampere[@]}"
fails 'not a number' "'$device:x' is no device" verify --unit "model:$device:x" rows.txt
if [ -n "${SOFTMMA_ENGINES-}" ]; then # the tests' own driver
  SOFTMMA_HOST_BUFFER=1000 fails 'too little memory' "^softmma: rows.txt: model:$device: .*: too little memory" verify \
    --unit "model:$device" rows.txt
  SOFTMMA_HOST_WRONG=9 fails 'a device that is wrong' 'compares wrong: it finds 1 rows that differ, and there are 0; it' \
    test --unit "model:$device" --against "custom:$device:ampere.json" "${ampere[@]}" --rows 70000
  SOFTMMA_HOST_WRONG=1 fails 'a device that makes other rows' 'makes or computes other rows than this CPU; it is not' \
    test --unit "model:$device" --against "custom:$device:ampere.json" "${ampere[@]}" --rows 70000
  SOFTMMA_HOST_LOST=1 fails 'a lost device' 'is not available any more; the batch is rows 0 to 999' \
    test --unit "model:$device" "${ampere[@]}" --rows 1000
  SOFTMMA_HOST_LOST=100 fails 'lost later' ': the device is not available any more$' \
    test --unit "model:$device" "${ampere[@]}" --rows 300000
  SOFTMMA_HOST_NO_F64=1 gives 'a device without binary64' 0 'mismatches=0$' \
    test --unit "model:$device" --against model "${ampere[@]}" --rows 1000
fi

finish
