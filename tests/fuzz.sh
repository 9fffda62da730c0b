#!/usr/bin/env bash
# Runs a fuzz target over its seeds and what it finds from there. Found inputs are kept in KEPT, so that the next run goes
# on from them. SOFTMMA_FUZZ_RUNS inputs (5000), or SOFTMMA_FUZZ_SECONDS instead; SOFTMMA_SEED draws others. An input that
# fails is kept beside KEPT. Usage: fuzz.sh TARGET KEPT SEEDS
set -eu
target=$1 kept=$2 seeds=$3
mkdir -p "$kept"
amount=-runs=${SOFTMMA_FUZZ_RUNS:-5000}
[ -z "${SOFTMMA_FUZZ_SECONDS-}" ] || amount=-max_total_time=$SOFTMMA_FUZZ_SECONDS
exec "$target" "$amount" -seed=$((${SOFTMMA_SEED:-0} + 1)) -timeout=300 -artifact_prefix="$kept-" "$kept" "$seeds"
