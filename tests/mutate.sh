#!/usr/bin/env bash
# Copies gemm and device of SOURCE to FOLDER, with the tests that compute with device. Makes every mutation of the table
# selectable: where the variable smma_mutant is N, the code computes the replacement of mutation N. Fails if the original
# of a mutation is not in its file exactly once.
# Usage: mutate.sh MUTATIONS SOURCE FOLDER
set -euo pipefail
table=$1 source=$2 folder=$3

rm -rf "$folder"/{gemm,device}
mkdir -p "$folder"
cp -r "$source"/{gemm,device} "$(dirname "$0")"/{engine_host.c,host_address.h,test_chain.c,test_fp4.c} "$folder"

number=0
while IFS= read -r line; do
  case $line in
    file:*) path=$folder/${line#file: } ;;
    original:*) original=${line#original: } ;;
    replacement:*)
      replacement=${line#replacement: } number=$((number + 1))
      text=$(<"$path") before=${text%%"$original"*}
      rest=${text:${#before}}
      if [ -z "$rest" ] || [[ ${rest#"$original"} == *"$original"* ]]; then
        echo "mutate.sh: mutation $number is not exactly once in $path: $original" >&2
        exit 1
      fi
      printf '%s\n' "$before(smma_mutant == $number ? ($replacement) : ($original))${rest#"$original"}" >"$path" ;;
  esac
done <"$table"

for path in $(find "$folder"/{gemm,device} -name '*.[ch]'); do
  grep -q smma_mutant "$path" || continue
  { echo 'extern int smma_mutant;'; cat "$path"; } >"$path.new"
  mv "$path.new" "$path"
done
