#!/usr/bin/env bash
# Every probe finds what tests/features.txt has of it, and that has every probe. Usage: features.sh SOFTMMA
set -euo pipefail
softmma=$(realpath "${1:?usage: features.sh SOFTMMA}")
# The lines that begin with an architecture say how many rows were asked.
diff "$(dirname "$0")/features.txt" \
  <("$softmma" probe --on V100,A100,H100,MI250X,MI300X --in f16 | grep -vE '^[a-z0-9]+ .*: unit model, ')
