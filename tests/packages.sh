#!/usr/bin/env bash
# Quick checks of what scripts/release makes. The source archive makes itself again, without git and with the same
# bytes. The wheel is small, is quickly imported, has the command, and contains no data of this machine. The library is
# built for Windows, where Wine runs it, and for macOS. CITATION.cff and the bill of materials are valid.
# ENVIRONMENT has the package installed, and the tools that build it; scripts/check-python calls this script.
# Usage: packages.sh ENVIRONMENT
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD bin=$1/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH=1700000000

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

quiet() { "$@" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; fail "$*"; }; }

version=$(sed -n 's/^#define SMMA_VERSION_[A-Z]* //p' include/softmma/version.h | paste -sd.)
archive=softmma-$version.tar.gz
[ "$("$bin/python" -c 'import softmma; print(softmma.__version__)')" = "$version" ] ||
  fail "softmma.__version__ is not that of include/softmma/version.h, $version"

quiet "$bin/python" -m build --sdist --no-isolation -o "$work" .
mkdir "$work/source"
tar -xzf "$work/$archive" -C "$work/source" --strip-components 1
(cd "$work/source" && quiet "$bin/python" -m build --sdist --no-isolation -o "$work/again" .)
cmp "$work/$archive" "$work/again/$archive" || fail 'the archive does not make itself again'
echo "$archive: $(stat -c %s "$work/$archive") bytes, makes itself again"

quiet "$bin/python" -m build --wheel --no-isolation -o "$work" .
wheel=$(echo "$work"/*.whl)
size=$(stat -c %s "$wheel")
most=$(sed -n 's/^most_wheel_bytes=\([0-9]*\).*/\1/p' scripts/release)
[ "$size" -le $((most - 150000)) ] || fail "the wheel has $size bytes; with libgomp, 130,000 more, it may have $most"
"$bin/python" -m zipfile -e "$wheel" "$work/wheel"
if grep -rlF "$root" "$work/wheel"; then fail "the wheel says where it was built: $root"; fi
echo "$(basename "$wheel"): $size bytes"
(cd "$work" && "$bin/python" "$root/packaging/import_time.py")
[ "$("$bin/softmma" version | head -n 1)" = "softmma $version" ] || fail 'pip installed no command softmma'

"$root/tests/other_systems.sh" "$work/source" "$bin/python"

quiet "$bin/cffconvert" --validate -i CITATION.cff
mkdir "$work/bill"
cp "$work/$archive" "$work/bill"
"$bin/python" packaging/sbom.py "$version" "$SOURCE_DATE_EPOCH" "$work/bill"
