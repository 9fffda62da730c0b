#!/usr/bin/env bash
# Runs a fuzz target on its seeds and on inputs derived from them. Retains the inputs that it finds in KEPT, for the
# next run. Runs SOFTMMA_FUZZ_RUNS inputs (default: 5000), or as many as SOFTMMA_FUZZ_SECONDS allow. SOFTMMA_SEED
# selects other inputs. An input that fails is stored next to KEPT.
# Usage: fuzz.sh TARGET KEPT SEEDS
set -eu
target=$1 kept=$2 seeds=$3
mkdir -p "$kept"
amount=-runs=${SOFTMMA_FUZZ_RUNS:-5000}
[ -z "${SOFTMMA_FUZZ_SECONDS-}" ] || amount=-max_total_time=$SOFTMMA_FUZZ_SECONDS
exec "$target" "$amount" -seed=$((${SOFTMMA_SEED:-0} + 1)) -timeout=300 -artifact_prefix="$kept-" "$kept" "$seeds"
