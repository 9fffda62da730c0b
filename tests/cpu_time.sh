#!/usr/bin/env bash
# Runs a test and prints the CPU time of the test and its child processes. The test fails if this exceeds LIMIT seconds;
# 0 means no limit. SOFTMMA_CPU_SECONDS replaces a limit, for machines that are far slower.
# Usage: cpu_time.sh LIMIT COMMAND...
set -u
limit=$1
shift
[ "$limit" = 0 ] || limit=${SOFTMMA_CPU_SECONDS:-$limit}
TIMEFORMAT='%3U %3S'
exec 3>&1 4>&2
taken=$({ time "$@" >&3 2>&4 3>&- 4>&-; } 2>&1)
status=$?
taken=$(LC_ALL=C awk '{ print $1 + $2 }' <<<"$taken")
echo "CPU seconds: $taken"
if [ "$limit" != 0 ] && [ $status -eq 0 ] && awk "BEGIN { exit !($taken > $limit) }"; then
  echo "FAILED: more than $limit CPU seconds, which is the most that a test of the tier 'check' may take; give it fewer" \
    "rows there (FEW in tests/CMakeLists.txt), or the tier 'all'" >&2
  exit 1
fi
exit $status
