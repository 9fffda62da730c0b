#!/bin/sh
# The functions of the toolbox, built for Octave, return the results of the command.
# Usage: octave.sh SOFTMMA LIBRARIES SOURCE
set -eu
softmma=$1 libraries=$2 source=$3
if ! command -v mkoctfile >/dev/null; then
  echo "SKIPPED: mkoctfile is missing, so functions of Octave are not checked; scripts/setup --octave installs it." >&2
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LD_LIBRARY_PATH="$libraries" SOFTMMA="$softmma"
octave() { octave-cli --norc --quiet --no-history --eval "$1"; }
octave "addpath('$source/bindings/octave'); softmma_make('$work', '-I$source/include', '-L$libraries')"
octave "addpath('$work'); source('$source/tests/octave.m')" > output 2>&1 || { tail -n 5 output >&2; exit 1; }
[ "$(tail -n 1 output)" = 'all right' ] || { tail -n 5 output >&2; exit 1; }
echo "$(grep -c ^ok output) products are the command's, bit by bit"
