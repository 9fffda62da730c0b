#!/usr/bin/env bash
# Four MPI ranks on two simulated machines: network namespaces that are connected only by TCP. The output must equal
# that of one process, byte for byte, for any number of ranks. Also tests errors, lost ranks, and resuming.
# Usage: cluster.sh SOFTMMA MODULE-FOLDER
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: cluster.sh SOFTMMA MODULE-FOLDER}")
modules=$(realpath "${2:?usage: cluster.sh SOFTMMA MODULE-FOLDER}") faults=$modules/faults.so
source_directory=$(realpath "$(dirname "$0")/..")

skip() {
  echo "SKIPPED cluster: $1" >&2
  exit 77
}

command -v mpirun >/dev/null || skip 'mpirun is not installed (Debian: openmpi-bin)'
command -v ip >/dev/null || skip 'ip is not installed (Debian: iproute2)'
"$softmma" version | grep -q '^MPI  *Open MPI' || skip "softmma has no module for Open MPI: $("$softmma" version | grep ^MPI)"
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"

# ---- Two machines ----

here=smma-${work##*.}-a there=smma-${work##*.}-b
remove() {
  ip netns del "$here" 2>/dev/null
  ip netns del "$there" 2>/dev/null
  chmod -R u+w "$work"
  rm -rf "$work"
}
trap remove EXIT
connect() {
  ip netns add "$here" && ip netns add "$there" && ip -n "$here" link set lo up && ip -n "$there" link set lo up &&
    ip -n "$here" link add wire type veth peer name wire netns "$there" &&
    ip -n "$here" addr add 10.77.0.1/24 dev wire && ip -n "$there" addr add 10.77.0.2/24 dev wire &&
    ip -n "$here" link set wire up && ip -n "$there" link set wire up
}
connect 2>in/stderr || skip "no network namespaces: $(head -n 1 in/stderr)"

# Replacement for ssh that mpirun calls: HOST COMMAND...
cat >agent <<END
#!/bin/sh
shift
exec ip netns exec $there sh -c "\$*"
END
# The program of one rank. It writes its process number to a file. It can have an additional first argument, and can
# stop itself when a file is complete.
cat >rank <<'END'
#!/bin/sh
echo $$ >pid.$OMPI_COMM_WORLD_RANK
[ "$OWN" != "$OMPI_COMM_WORLD_RANK" ] || OTHER=1
[ "$STOPS" != "$OMPI_COMM_WORLD_RANK" ] || export LD_PRELOAD="$FAULTS" SIGNAL=19 COMPLETE=.shard-3-of-4
exec "$SOFTMMA" "$@" ${OTHER:+${MORE:--C none.npy}}
END
chmod +x agent rank

# ranks N ARGUMENT...: runs softmma in N ranks, every second rank on the other machine. Stores the output as `runs`
# does, and returns the status.
ranks() {
  local count=$1
  shift
  SOFTMMA=$softmma OMP_NUM_THREADS=1 OWN=${OWN-none} MORE=${MORE-} STOPS=${STOPS-none} FAULTS=$faults \
    ip netns exec "$here" timeout 900 \
    mpirun --allow-run-as-root -q -n "$count" \
    --host 10.77.0.1:8,10.77.0.2:8 --map-by node --bind-to none -x SOFTMMA -x OMP_NUM_THREADS -x OWN -x MORE -x STOPS -x FAULTS -x LC_ALL \
    --mca plm_rsh_agent "$work/agent" --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24 \
    --mca oob_tcp_if_include 10.77.0.0/24 "$work/rank" "$@" >in/stdout 2>in/stderr </dev/null
}
in_ranks() { # STATUS N ARGUMENT...
  local wanted=$1
  shift
  ranks "$@"
  [ $? -eq "$wanted" ]
}
said() { grep '^softmma: ' in/stderr; } # without mpirun's messages
same() { cmp <(grep -v '"date"' "$1") <(grep -v '"date"' "$2"); } # ignores the start dates

in_ranks 0 4 units || skip "mpirun does not start: $(head -n 3 in/stderr)"
check 'what is not shared the first rank does' [ "$(grep -c '^model' in/stdout)" = 1 ]

check 'help' in_ranks 0 2 test --help
check 'help, once' [ "$(grep -c '^Usage: softmma test ' in/stdout)" = 1 ]

# ---- Campaigns ----

campaign=(test --unit "plugin:$modules/wrong_unit.so:flushed_b" --on A100 --instr mma.m16n8k16.f32.f16.f16.f32
  --rows 300000 --json)
ends 1 "${campaign[@]}" --resume whole.json
cp in/stdout whole.out
for count in 3 4; do
  check "a campaign in $count ranks" in_ranks 1 "$count" "${campaign[@]}" --resume "ranks-$count.json"
  check "a campaign in $count ranks: the same output" same in/stdout whole.out
  check "a campaign in $count ranks: the same file" same "ranks-$count.json" whole.json
done
check 'nothing else is left' [ -z "$(find . -name '*.shard-*')" ]
sent=$(ip -n "$there" -s link show dev wire | awk '/TX:/ { getline; print $1 }')
check "the ranks there have sent bytes over the wire: $sent" [ "$sent" -gt 10000 ]
check 'a whole that is there is printed' in_ranks 1 3 "${campaign[@]}" --resume ranks-4.json
check 'a whole that is there: the same output' same in/stdout whole.out

# A rank is killed, and a later run resumes its work. The rank stops itself first, so that it cannot finish before it is
# killed.
long=(test --unit model --on A100 --instr mma.m16n8k16.f32.f16.f16.f32 --rows 4000000)
STOPS=2 in_ranks 0 4 "${long[@]}" --resume long.json &
until [ "$(find . -name 'long.json.shard-*-of-4' -size +0 | wc -l)" = 4 ] || ! kill -0 $! 2>in/kill; do sleep 0.05; done
kill -KILL "$(cat pid.2)"
wait $!
check 'a lost rank ends all' [ ! -e long.json ]
check 'what is known stays' [ "$(find . -name 'long.json.shard-*-of-4' -size +0 | wc -l)" = 4 ]
cp long.json.shard-3-of-4 known.json
check 'of the lost one, too' grep -q '"rows": [1-9][0-9]*,' known.json
check 'another number of ranks' in_ranks 2 2 "${long[@]}" --resume long.json
check 'another number of ranks, in one line' [ "$(said | wc -l)" = 1 ]
check 'another number of ranks, says so' \
  grep -q '^softmma: --resume: long.json.shard-.*-of-4 is there, of another number of ranks' in/stderr
touch long.json.shard-2-of-4.123-0.tmp long.json.shard-1-of-3.123-0.tmp # left by ranks that died while they saved
check 'going on' in_ranks 0 4 "${long[@]}" --resume long.json
ends 0 "${long[@]}" --resume one.json
check 'going on: the same file' same long.json one.json
check 'going on: nothing else is left' [ -z "$(find . -name '*.shard-*')" ]

touch globX.json.shard-1-of-9
check 'a name with a pattern' in_ranks 0 2 "${campaign[0]}" --unit model "${campaign[@]:3:4}" --rows 1000 --resume 'glob?.json'
rm globX.json.shard-1-of-9

# Every rank uses the arguments of rank 0.
for other in '--seed 7' '--rows 5000' '--kind random'; do
  OWN=1 MORE=$other
  check "a rank with other arguments: $other" in_ranks 2 2 "${long[@]}" --resume differ.json
  OWN=none MORE=
  check "refused: $other" grep -q "^softmma: rank 1: ${other% *}: .* at rank 0; start all ranks with the same arguments" in/stderr
  check "nothing written: $other" [ ! -e differ.json ]
done

# ---- Files and experiments ----

mkdir vectors
for seed in 1 2 3 4 5; do
  ends 0 vectors gen --on A100 --instr mma.m16n8k16.f32.f16.f16.f32 --rows 200 --seed $seed -o vectors/$seed.txt
done
sed -i '20s/[0-9a-f]\{8\}$/3f800001/' vectors/4.txt
verify=(verify vectors vectors/2.txt)
ends 1 "${verify[@]}"
cp in/stdout one.out
check 'files in 4 ranks' in_ranks 1 4 "${verify[@]}"
check 'files in 4 ranks: the same output' cmp in/stdout one.out
experiment=(experiment accumulation --small --no-plot)
ends 0 "${experiment[@]}" -o one
cp in/stdout one.out
check 'an experiment in 4 ranks' in_ranks 0 4 "${experiment[@]}" -o four
check 'an experiment in 4 ranks: the same output' cmp in/stdout one.out
check 'an experiment in 4 ranks: the same files' diff -r one four

# ---- Products ----

# matrix FILE ROWS COLUMNS SEED: writes small numbers in FP32, with awk, which every machine has
matrix() {
  local header="{'descr': '<f4', 'fortran_order': False, 'shape': ($2, $3), }"
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header" >"$1"
  awk -v n=$(($2 * $3)) -v seed="$4" 'BEGIN { srand(seed); for (i = 0; i < n; i++)
    printf "\\x%02x\\x%02x\\x%02x\\x%02x", rand() * 256, rand() * 256, rand() * 256, 60 + int(rand() * 5) }' |
    xargs -0 printf '%b' >>"$1"
}
matrix A.npy 93 80 1
matrix B.npy 80 71 2
matrix C.npy 93 71 3
product=(gemm --on H100 --in f16 A.npy B.npy -C C.npy --alpha 2)
ends 0 "${product[@]}" -o one.npy
cp in/stderr one.notes
check 'a product in pieces' runs 0 "${product[@]}" --memory 9000 -o pieces.npy
check 'a product in pieces: the same bytes' cmp one.npy pieces.npy
check 'a product in pieces: the same notes' cmp one.notes in/stderr
for count in 2 4; do
  check "a product in $count ranks" in_ranks 0 "$count" "${product[@]}" --memory 9000 -o "D-$count.npy"
  check "a product in $count ranks: the same bytes" cmp "D-$count.npy" one.npy
  check "a product in $count ranks: the same notes" cmp one.notes <(said)
done
check 'one summary' [ "$(wc -l <in/stdout)" = 1 ]

# ---- The search for the instruction and plan of a product ----

ends 0 gemm --on H100 --in f16 A.npy B.npy -o fits.npy
for given in '0 fits.npy' '1 one.npy'; do
  read -r status d <<<"$given"
  search=(match A.npy B.npy "$d" --in f16 --on H100,V100 --json)
  ends "$status" "${search[@]}"
  jq 'del(.seconds)' in/stdout >alone.json
  for count in 2 4; do
    check "match of $d in $count ranks" in_ranks "$status" "$count" "${search[@]}"
    check "match of $d in $count ranks: the same" cmp alone.json <(jq 'del(.seconds)' in/stdout)
  done
done
check 'a claim is one rank'"'"'s' in_ranks 0 4 match A.npy B.npy fits.npy --in f16 --claim H100

# ---- Errors: one line, and no file is written ----

check 'an error of all ranks' in_ranks 2 4 "${product[@]}" --bias C.npy -o new.npy
check 'an error of all ranks: one line' [ "$(said | wc -l)" = 1 ]
OWN=3
check 'an error of one rank' in_ranks 2 4 gemm --on H100 --in f16 A.npy B.npy -o new.npy
unset OWN
check 'an error of one rank: one line, and whose' \
  [ "$(said)" = 'softmma: rank 3: none.npy: cannot open: No such file or directory' ]
check 'no product' [ -z "$(find . -name 'new.npy*')" ]

finish
