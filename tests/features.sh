#!/usr/bin/env bash
# Every probe gives the result in tests/features.txt, and that file lists every probe.
# Usage: features.sh SOFTMMA
set -euo pipefail
softmma=$(realpath "${1:?usage: features.sh SOFTMMA}")
# Lines that begin with an architecture give the number of test vectors used.
diff "$(dirname "$0")/features.txt" \
  <("$softmma" probe --on V100,A100,H100,MI250X,MI300X --in f16 | grep -vE '^[a-z0-9]+ .*: unit model, ')
