#!/usr/bin/env bash
# Runs scripts/evidence --toolbox on the recorded sample, laid out like the data of the toolbox.
# Usage: toolbox.sh SOFTMMA SOURCE
set -u
export SOFTMMA=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
toolbox=$work/toolbox
data=$toolbox/model_validation
failed=0

# Converts vector files back to the layout of the toolbox, in which c is FP32 for both results, and not zero for wgmma.
python3 - "$source/tests/vectors/recorded/gpu" "$data" <<'EOT'
import struct, sys
from pathlib import Path

FIELDS = {"f32": (8, 23), "tf32": (8, 23), "f16": (5, 10), "bf16": (8, 7), "e4m3": (4, 3), "e5m2": (5, 2)}
FOLDERS = {"f16": "fp16", "bf16": "bf16", "tf32": "tf32", "e4m3": "E4M3", "e5m2": "E5M2"}


def single(word, name):
    exponent_bits, fraction_bits = FIELDS[name]
    bits, bias = int(word, 16), 2 ** (exponent_bits - 1) - 1
    sign, exponent = bits >> (exponent_bits + fraction_bits), bits >> fraction_bits & (2 * bias + 1)
    significand = (bits & (2**fraction_bits - 1)) + (2**fraction_bits if exponent else 0)
    value = significand * 2.0 ** (max(exponent, 1) - bias - fraction_bits)
    return struct.unpack("<I", struct.pack("<f", -value if sign else value))[0]


def save(path, rows, name, digits):
    path.write_text("".join(" ".join(format(single(word, name), digits) for word in row) + "\n" for row in rows))


# FP16 results come first, because c of FP32 replaces theirs.
for path in sorted(Path(sys.argv[1]).glob("*.txt"), key=lambda path: path.stem.endswith("f32")):
    lines = path.read_text().splitlines()
    header = dict(line[2:].split(": ", 1) for line in lines if line.startswith("#"))
    rows = [line.split() for line in lines if not line.startswith("#")]
    gpu, kind, k, d = header["recorded on"], FOLDERS[header["a"]], int(header["k"]), header["d"]
    folder = Path(sys.argv[2], gpu, kind)
    folder.mkdir(parents=True, exist_ok=True)
    save(folder / f"a_{gpu}_{kind}.txt", [row[:k] for row in rows], header["a"], "08x")
    save(folder / f"b_{gpu}_{kind}.txt", [row[k : 2 * k] for row in rows], header["b"], "08x")
    save(folder / f"d_{gpu}_{d.replace('f', 'fp')}.txt", [row[-1:] for row in rows], d, "032b")
    if not header["instruction"].startswith("wgmma"):
        save(folder / f"c_{gpu}_fp32.txt", [row[-2:-1] for row in rows], d, "032b")
EOT
[ -d "$data" ] || exit 1

check() { # NAME STATUS PATTERN [PATTERN]: scripts/evidence must end with this status and print matching lines
  local name=$1 status=$2 output got
  shift 2
  output=$("$source/scripts/evidence" --toolbox "$toolbox" 2>&1)
  got=$?
  for pattern in "$@"; do
    [ $got = "$status" ] && grep -q -e "$pattern" <<<"$output" && continue
    failed=1
    printf 'FAILED: %s: status %s, not %s; or no line "%s" in:\n%s\n' "$name" $got "$status" "$pattern" "$output"
  done
}

with_change() { # FILE SED-SCRIPT NAME STATUS PATTERN...: checks with one file of the toolbox temporarily changed
  local file=$data/$1
  cp "$file" "$work/kept"
  sed -i "$2" "$file"
  check "${@:3}"
  cp "$work/kept" "$file"
}

check 'all rows' 0 '^rows=19600 mismatches=0$' '^| `h100-e4m3-f32.txt` | H100 | `wgmma.m64n8k32.f32.e4m3.e4m3` | 700 | 0 |$'
"$source/scripts/toolbox-rows" "$toolbox" "$work/rows"
diff -r -x LICENSE -x README.md "$source/tests/vectors/recorded/gpu" "$work/rows" || failed=1

with_change A100/bf16/d_A100_fp32.txt '7s/$/1/; 7s/^.//' 'a wrong result' 1 '^rows=19600 mismatches=1$' \
  '^| `a100-bf16-f32.txt` |.*| 700 | 1 |$'
with_change B200/E5M2/b_B200_E5M2.txt '$d' 'a row too few' 2 'E5M2: the files for d_B200_fp16.txt do not have the same rows$'
with_change V100/fp16/a_V100_fp16.txt '9s/.$//' 'a digit too few' 2 'a_V100_fp16.txt, line 9: not 8 digits of a number'
with_change H100/E4M3/a_H100_E4M3.txt '2s/[0-9a-f]$/1/' 'more digits than E4M3 has' 2 'a_H100_E4M3.txt, line 2: not'
with_change L40S/tf32/c_L40S_fp32.txt '1s/.*/version https:\/\/git-lfs.github.com/' 'a pointer' 2 'fp32.txt, line 1: not 32 digits'
mv "$data/H100/fp16/c_H100_fp32.txt" "$work/kept"
check 'a missing file' 2 'c_H100_fp32.txt: no such file; the folder should be a whole clone of MATLAB-tensor-core$'
rm -r "$data"
check 'another folder' 2 'model_validation: no recorded rows; give a clone of north-numerical-computing/MATLAB-tensor-core$'
[ $failed = 0 ]
