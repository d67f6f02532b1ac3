#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Times split, merge and merge --consume beside cp and sync of the same bytes,
# taking turns, and prints medians and ratios as a table. What is read is in
# memory; what is written goes to the disk. Makes its files in a folder of its
# own.
#
#   bench_shards.sh GGLD [--json] [--size MiB] [--rounds N] [--dir FOLDER]
set -eu -o pipefail
export LC_ALL=C
ggld=${1:?bench_shards.sh GGLD} && shift
size=1024 rounds=5 dir=${TMPDIR:-/var/tmp} json=false
while [ $# -gt 0 ]; do
    case $1 in
    --json) json=true && shift && continue ;;
    --size) size=$2 ;;
    --rounds) rounds=$2 ;;
    --dir) dir=$2 ;;
    *) echo "bench_shards.sh: unknown option $1" >&2 && exit 2 ;;
    esac
    shift 2
done
work=$(mktemp -d "$dir/bench_shards.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir shards
"$ggld" sample --size "${size}M" model.gguf >/dev/null
"$ggld" split --max-size "$((size / 4))M" -o shards/m model.gguf >/dev/null
sync
cat model.gguf shards/* >/dev/null

seconds() { # COMMAND: its time, into COMMAND.times
    local from=$EPOCHREALTIME
    "$@"
    local to=$EPOCHREALTIME
    echo $((${to/./} - ${from/./})) >>"$1.times"
    rm -rf out
    sync
}
copy_model() { mkdir out && cp model.gguf out/ && sync out/model.gguf; }
copy_shards() { mkdir out && cp shards/* out/ && sync out/*; }
split() { "$ggld" split --max-size "$((size / 4))M" -o out/m model.gguf; }
merge() { mkdir out && "$ggld" merge shards/m-00001-* out/model.gguf; }
# Of shards that it may remove, which are copied before, and synced.
consume() {
    "$ggld" merge --consume consumed/m-00001-* consumed/model.gguf
}

for ((i = 0; i < rounds; i++)); do
    for what in copy_model split copy_shards merge; do
        seconds "$what" >/dev/null
    done
    cp -r shards consumed
    sync consumed/* consumed
    seconds consume >/dev/null
    rm -r consumed
done
median() { # NAME
    sort -n "$1.times" | sed -n "$(((rounds + 1) / 2))p"
}
row() { # NAME COMMAND BESIDE
    awk -v name="$1" -v ours="$(median "$2")" -v cp="$(median "$3")" \
        -v mib="$size" -v key="$2" -v json="$json" 'BEGIN {
        if (json == "true") {
            printf ", \"%s\": {\"seconds\": %.4f, \"cp_seconds\": %.4f, " \
                "\"of_cp\": %.3f}", key, ours / 1e6, cp / 1e6, cp / ours
            exit
        }
        printf "| %s | %.2f s | %.0f MiB/s | %.2f s | %.2f |\n", name,
            ours / 1e6, mib / ours * 1e6, cp / 1e6, cp / ours }'
}
if $json; then
    printf '{"mib": %s, "rounds": %s' "$size" "$rounds"
else
    echo "| $size MiB, $rounds rounds | median | rate | cp and sync | of its rate |"
    echo "| --- | --- | --- | --- | --- |"
fi
row "ggld split, 5 shards at most" split copy_model
row "ggld merge" merge copy_shards
row "ggld merge --consume" consume copy_shards
! $json || echo "}"
