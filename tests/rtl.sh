#!/usr/bin/env bash
# examples/rtl in Verilator and Icarus Verilog. Units equal their models for a million test vectors. Every mistake that
# can be built in is found, minimised and explained. Also: results of the functions of softmma_pkg, and the line that
# each mistake gives. Without verilator or iverilog the status is 77.
# Usage: rtl.sh SOFTMMA LIBRARY_FOLDER SOURCE
set -u
skip() {
  echo '**********************************************************************'
  echo "SKIPPED: $1 is not there;"
  echo 'the SystemVerilog package and the units in examples/rtl were NOT run.'
  echo '**********************************************************************'
  exit 77
}
softmma=${1:?usage: rtl.sh SOFTMMA LIBRARY_FOLDER SOURCE} library=$2 source=$3
command -v verilator >/dev/null || skip verilator
command -v iverilog >/dev/null || skip iverilog
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
cd "$source" || exit 2
includes=-I$source/include libraries="-L$library -lsoftmma -Wl,-rpath,$library"
complain() {
  echo "FAILED  $1"
  tail -n 40 "$work/log" | cut -c 1-300
  failed=1
}

# makes UNIT BUG TARGET [VARIABLE=VALUE ...]: runs make with its output in log
makes() {
  make -C "$source/examples/rtl" SOFTMMA="$softmma" SOFTMMA_CFLAGS="$includes" SOFTMMA_LIBS="$libraries" UNIT="$1" BUG="$2" \
    BUILD="$work/$1-$2" "${@:3}" >"$work/log" 2>&1 </dev/null
}

# equals UNIT TARGET ROWS [VARIABLE=VALUE ...]: the unit must equal the model
equals() {
  if makes "$1" 0 "$2" ROWS="$3" "${@:4}" && grep -qE "(^| )rows=$3 mismatches=0\$" "$work/log"; then
    echo "ok      $1 equals its model on $3 rows, make $2 ${*:4}"
  else
    complain "$1 against its model, make $2 ${*:4}"
  fi
}

# finds UNIT BUG TARGET ROWS REGEX...: checks that the unit with this bug has mismatches, and that the output has a line
# for each REGEX
finds() {
  local unit=$1 bug=$2 target=$3 rows=$4 regex
  shift 4
  if makes "$unit" "$bug" "$target" ROWS="$rows"; then complain "make $target does not see bug $bug of $unit"; return; fi
  for regex in "$@"; do
    grep -qE -e "$regex" "$work/log" || { complain "make $target of $unit with bug $bug does not say '$regex'"; return; }
  done
  echo "ok      make $target finds bug $bug of $unit"
}

equals t_fdpa compare 1000000
equals tr_fdpa compare 1000000
# The unit is tested with other parameters, rounding to nearest and f16; a file is the model.
equals t_fdpa compare 200000 ON="$source/examples/custom/hopper-nearest.json" INSTR=hopper-nearest SEED=1 \
  PARAMETERS=', .EXP(5), .MAN(10), .NEAREST(1)' BUILD="$work/nearest"
for unit in t_fdpa tr_fdpa; do equals "$unit" icarus 100; done
finds t_fdpa 1 compare 1000000 '^row [0-9]+ of seed 0: the unit has 0x[0-9a-f]{8}, the model 0x' \
  "^softmma dot --on 'hopper' --instr mma.m16n8k16.f32.bf16.bf16.f32 --hex --explain --a '"
# The printed command must draw the test vector.
command=$(grep '^softmma dot ' "$work/log")
eval "${command/#softmma/$softmma}" >"$work/log" 2>&1
grep -q '^T-FDPA, F = 25, L = 16' "$work/log" || complain "the command that explains the row: $command"
# Mismatches are minimised and drawn. The minimised vectors are two products with a bit that the unit truncates too
# early, a zero c, a negative c, and two products that overflow.
finds t_fdpa 1 campaign 100000 '^  14 zero products ' '^  plugin:.*\.so 4affffff ' '^  model +4afffffe ' '^ +\^+$'
finds t_fdpa 2 campaign 100000 "^  softmma dot .* --c '00000000'\$" '^  (14|15) zero products ' '^ +[ ^]+\^$'
# session PAGE COMMAND: fills the array `session` with one regular expression for each line that the page shows after
# the command. "..." in a line matches any text.
session() {
  session=()
  while IFS= read -r line; do
    [ "$line" = ... ] || session+=("^$(sed -e 's/[][\\.*^$+?(){}|]/\\&/g' -e 's/\\\.\\\.\\\./.*/g' <<<"$line")\$")
  done < <(sed -n "/^    $2\$/,/^[^ ]/s/^    //p" "$1" | tail -n +2)
  [ ${#session[@]} -gt 5 ] || complain "$1 has no session"
}

session docs/hardware-design.md 'make campaign UNIT=tr_fdpa BUG=1 ROWS=100000'
finds tr_fdpa 1 campaign 100000 "${session[@]}"
finds tr_fdpa 1 campaign 100000 "^  softmma dot .* --c '[89a-f][0-9a-f]{7}'\$" '^TR-FDPA, F = 24, F2 = 31' '^ +[ ^]+\^$'
finds tr_fdpa 2 campaign 100000 '^  plugin:.*\.so ff800000 ' '^  model +7fc00000 ' 'counts as infinity: 2\^128 or more$'

# The template of docs/tutorial-hardware.md: its test reports the planted mistake, and reports no mismatch after the
# mistake is corrected.
template() {
  make -C "$source/examples/rtl/template" SOFTMMA="$softmma" BUILD="$work/$1" "${@:2}" >"$work/log" 2>&1 </dev/null
}
session docs/tutorial-hardware.md make
if template mistake; then complain 'make in examples/rtl/template does not fail'; fi
for regex in "${session[@]}"; do
  grep -qE -e "$regex" "$work/log" || complain "make in examples/rtl/template does not print '$regex'"
done
cp examples/rtl/template/my_unit.sv "$work"
sed -i 's/\.F(24)/.F(25)/' "$work/my_unit.sv"
if template mended \
  DESIGN="$work/my_unit.sv \$(addprefix \$(RTL)/, t_fdpa.sv products.sv multiply.sv decode.sv round_f32.sv)" &&
  grep -qE 'rows=100000 mismatches=0$' "$work/log"; then echo 'ok      the template'; else complain 'the mended template'; fi

# The struct in the comments of the output of `gen --format readmemh` reads its test vectors.
gen=("$softmma" vectors gen --on V100 --instr HMMA.884.F32.F32 --rows 100 --seed 7)
"${gen[@]}" --format readmemh -o "$work/hundred.mem"
{
  echo 'module read;'
  sed -n '/typedef/,/row_t;/s,^// ,,p' "$work/hundred.mem"
  echo '  row_t row[100];'
  echo '  initial begin'
  echo "    \$readmemh(\"$work/hundred.mem\", row);"
  echo '    for (int i = 0; i < 100; i++) $display("%h %h %h %h", row[i].a[1], row[i].b[3], row[i].c, row[i].d);'
  echo '    $finish;'
  echo '  end'
  echo 'endmodule'
} >"$work/struct.sv"
verilator --binary -Wno-fatal --Mdir "$work/struct" "$work/struct.sv" >"$work/log" 2>&1 &&
  "$work/struct/Vstruct" | grep -v finish | cmp -s - <("${gen[@]}" | grep -v '^#' | cut -d ' ' -f 2,8-10) ||
  complain 'the struct of readmemh'

# asserts STATUS TARGET C D: binds the assertion of the target's rule to a unit with the result D, an expression of the
# reference's result r. For zeros and C the simulation must end with the status (0: the assertion holds).
asserts() {
  "$softmma" -q rtl "$2" --name unit --sva -o "$work/unit.sv"
  cat >"$work/bound.sv" <<EOT
module my_unit (input logic clk, valid_in, input logic [255:0] a, b, input logic [31:0] c, output logic [31:0] d);
  logic [31:0] r;
  unit by_rule (.a(a), .b(b), .c(c), .d(r));
  assign d = $4;
endmodule
bind my_unit unit_check check (.valid(valid_in), .*);
module bound;
  logic clk = 0;
  logic [31:0] d;
  my_unit u (.clk(clk), .valid_in(1'b1), .a(256'd0), .b(256'd0), .c($3), .d(d));
  initial begin #1 clk = 1; #1 \$finish; end
endmodule
EOT
  local status=0
  rm -rf "$work/bound"
  verilator --binary --timing --assert -Wno-fatal --top-module bound --Mdir "$work/bound" "$work/unit.sv" \
    "$work/bound.sv" >"$work/log" 2>&1 || { complain "the assertion of $2 does not build"; return; }
  "$work/bound/Vbound" >"$work/log" 2>&1 || status=1
  if [ $status = "$1" ]; then echo "ok      the assertion of $2, $4"; else complain "the assertion of $2, c = $3, d = $4"; fi
}
asserts 0 MI300X:f16 "32'h7fc00000" "r | 32'h80000001" # its NaN is open: any NaN is equal
asserts 1 MI300X:f16 "32'h7fc00000" "r & 32'h7f800000" # but not infinity
asserts 1 MI300X:f16 "32'h3f800000" 'r ^ 1'
asserts 1 H100:f16 "32'h7fc00000" "r | 32'h80000001"
asserts 0 H100:f16 "32'h7fc00000" r

# A model that does not fit the unit, or does not exist, is reported.
if makes t_fdpa 0 compare ON=MI300X INSTR=v_mfma_f32_32x32x8_bf16; then complain 'a model with another K'; fi
grep -q 'v_mfma_f32_32x32x8_bf16 has K = 8 and 16, 16, 32, 32 bits; the unit has K = 16 and' "$work/log" ||
  complain 'a model with another K'
if makes t_fdpa 0 compare ON=H1000; then complain 'a model that is not there'; fi
grep -q "softmma_open: unknown GPU or architecture 'H1000'" "$work/log" || complain 'a model that is not there'

if ! verilator --binary -j 1 -Wno-WIDTH --Mdir "$work/dpi" --top-module dpi -CFLAGS "$includes" -LDFLAGS "$libraries" \
  bindings/systemverilog/softmma_pkg.sv "$source/tests/dpi.sv" "$source/bindings/systemverilog/softmma_dpi.c" \
  -o run >"$work/log" 2>&1; then
  complain 'tests/dpi.sv does not build'
elif ! "$work/dpi/run" 2>&1 | grep -v '^- .*Verilog .finish$' | diff tests/dpi.txt - >"$work/log"; then
  complain 'tests/dpi.sv says other lines'
else
  echo "ok      the functions of softmma_pkg: $(wc -l <tests/dpi.txt) lines"
fi
exit $failed
