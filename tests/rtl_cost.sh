#!/usr/bin/env bash
# examples/rtl/cost: the figures of small units grow with F and L, agree with the gates in the netlist, and with
# cost.csv if Yosys has the version that cost.csv names. The netlist computes the rule. Without Yosys or Icarus Verilog
# the status is 77.
# Usage: rtl_cost.sh SOFTMMA SOURCE
set -u
softmma=${1:?usage: rtl_cost.sh SOFTMMA SOURCE} source=$2
for tool in yosys iverilog; do
  command -v $tool >/dev/null && continue
  echo '**********************************************************************'
  echo "SKIPPED: $tool is not there; examples/rtl/cost was NOT run."
  echo '**********************************************************************'
  exit 77
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
export SOFTMMA=$softmma PYTHONDONTWRITEBYTECODE=1
cd "$source/examples/rtl/cost" || exit 2
complain() {
  echo "FAILED  $1"
  failed=1
}

# ---- Figures of three small units ----

small=../formal/e2m1.json
python3 cost.py $small --set F=3,9 --set L=1,2 --json >"$work/units" || complain 'cost.py ends with an error'
jq -e -s 'length == 4 and (map(.nand2) as [$a, $b, $c, $d] | $a < $b and $a < $c and $b < $d and $c < $d)
  and all(.depth > 50 and .depth < 1000 and .products == .L)' "$work/units" >"$work/log" ||
  { complain 'the area does not grow with F and L'; cat "$work/units"; }

# ---- The netlist: its gates, and what they compute ----

make -s cost RULE=$small OPTIONS="--set F=3 --set L=2 --netlist $work/netlist.v --json" >"$work/one"
gates=$(awk '$1 == "NAND2" { n += 2 } $1 == "NOT" { n += 1 } $1 == "BUF" { n += 2 } END { print n / 2 }' "$work/netlist.v")
[ "$(jq .nand2 "$work/one")" = "$gates" ] || complain "the netlist has $gates NAND2 equivalents, cost.py says $(cat "$work/one")"
sed 's/"alignment_bits": 13/"alignment_bits": 3/' $small >"$work/rule.json"
cat >"$work/gates.v" <<'END'
module NAND2 (input A, input B, output Y); assign Y = ~(A & B); endmodule
module NOT (input A, output Y); assign Y = ~A; endmodule
module BUF (input A, output Y); assign Y = A; endmodule
module clocked #(parameter L = 2, parameter BUG = 0) (input clk, input rst, input valid_in, input [4*L-1:0] a,
    input [4*L-1:0] b, input [31:0] c, output reg valid_out, output reg [31:0] d);
  wire [31:0] now;
  unit unit (.a(a), .b(b), .c(c), .d(now));
  always @(posedge clk) begin
    valid_out <= valid_in && !rst;
    d <= now;
  end
endmodule
END
# The last column of a test vector is the result. 500 vectors, because gates simulate slowly.
"$softmma" vectors gen --on "$work/rule.json" --rows 500 --seed 1 -o "$work/rows"
grep -v '^#' "$work/rows" | awk '{ print $NF }' >"$work/expected"
sed '/^#/! s/ [^ ]*$//' "$work/rows" >"$work/operands"
# simulate NETLIST: reports whether it computes the rule
simulate() {
  iverilog -g2012 -DUNIT=clocked -Panswer.K=2 -Panswer.BITS=4 -s answer -o "$work/answer.vvp" ../answer.sv "$work/gates.v" "$1" &&
    vvp -n "$work/answer.vvp" <"$work/operands" >"$work/results" && cmp -s "$work/results" "$work/expected"
}
simulate "$work/netlist.v" || complain 'the netlist does not compute the rule'
[ "$(wc -l <"$work/results")" = 500 ] || complain "$(wc -l <"$work/results") results of 500 rows"
# One inverter of the netlist is replaced by a buffer.
awk '/^  NOT / && !done { sub("NOT", "BUF"); done = 1 } { print }' "$work/netlist.v" >"$work/wrong.v"
simulate "$work/wrong.v" && complain 'a wrong gate is not seen'

# ---- cost.csv ----

version=$(yosys -V | sed 's/ (.*//')
if [ "# $version" = "$(head -n 1 cost.csv)" ]; then
  line=$(grep '^choice,,T-FDPA,e2m1,25,4,' cost.csv)
  python3 cost.py B200:e4m3 --set L=4 --set a=e2m1 --set b=e2m1 --json >"$work/one"
  [ "$(jq -r '"\(.nand2),\(.depth)"' "$work/one")" = "$(cut -d , -f 11,12 <<<"$line")" ] ||
    complain "cost.csv has $line, now it is $(cat "$work/one")"
else
  echo "NOT COMPARED: cost.csv is from $(head -n 1 cost.csv), this is $version"
fi
[ $failed = 1 ] || echo "ok      $gates NAND2 equivalents for e2m1, F = 3, L = 2: the netlist has them, and computes the rule"
exit $failed
