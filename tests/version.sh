#!/bin/sh
# Checks that include/softmma/version.h defines the version, and that the command prints it. CHANGELOG.md begins with the
# version and its date, and CITATION.cff repeats both. Files that contain reports of this version also have it. No other
# file repeats it. All files name the same address of the repository, or none does.
# Usage: version.sh SOFTMMA
set -eu
softmma=$(realpath "$1")
cd "$(dirname "$0")/.."

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

version=$(sed -n 's/^#define SMMA_VERSION_[A-Z]* //p' include/softmma/version.h | paste -sd.)
[ "$("$softmma" version | head -n 1)" = "softmma $version" ] || fail "softmma version does not print $version"
heading=$(grep -m 1 '^## ' CHANGELOG.md)
date=${heading#"## $version ("} date=${date%)}
[ "$heading" = "## $version ($date)" ] || fail "CHANGELOG.md begins with '$heading', not with '## $version (DATE)'"
for entry in "version: $version" "date-released: $date"; do # of the software, and of what is to be cited
  [ "$(sed -n "s/^ *\(${entry%% *}.*\)/\1/p" CITATION.cff | sort | uniq -c | sed 's/^ *//')" = "2 $entry" ] ||
    fail "CITATION.cff does not say '$entry' twice"
done
for file in tests/corpus/merge/example.json tests/corpus/merge/half.json tests/corpus/report/*.json; do
  grep -q "^ *\"softmma\": \"$version\"" "$file" || fail "$file is not of version $version"
done
for file in CMakeLists.txt pyproject.toml packaging/*/*.in packaging/debian/*; do
  if [ -f "$file" ] && grep -nwF "$version" "$file"; then fail "$file says the version, too"; fi
done
cited=$(sed -n 's/^ *repository-code: //p' CITATION.cff | sort -u) project=$(sed -n 's/^Repository = "\(.*\)"/\1/p' pyproject.toml)
[ "$cited" = "$project" ] ||
  fail "repository-code of CITATION.cff is '$cited', Repository in [project.urls] of pyproject.toml '$project'"
echo "version $version of $date, repository '$cited': ok"
