#!/usr/bin/env bash
# The whole self-test, as a user runs it. Usage: self_test.sh SOFTMMA
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: self_test.sh SOFTMMA}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"

gives 'self-test' 0 '^[0-9]+ kernels \(.*core\), each: [0-9]{7} outputs of [0-9]{3} operations, and [0-9]{4} rows of [0-9]+ recordings from hardware; 0 differences$' self-test
gives 'self-test --digests' 0 '^SMMA_DIGEST\("volta", "mma.m8n8k4.f32.f16.f16.f32", 0x' self-test --digests
check 'self-test --digests: what is compiled in' cmp -s in/stdout "$source_directory/src/selftest/digests.def"
fails 'self-test: text and JSON' '--json: it has no effect with --digests' self-test --digests --json
finish
