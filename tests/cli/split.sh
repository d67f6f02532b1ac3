# SPDX-License-Identifier: MIT
# split: options, names, what is said, what is refused.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
sample=$work/sample.gguf
run sample "$sample"
expect "--dry-run" 0 "$work/sample-00001-of-00003.gguf: 8 tensors, " "" \
    split --max-tensors 8 --dry-run "$sample"
is "--dry-run: nothing is written" 1 "$(find "$work" -name '*.gguf' | wc -l)"
expect "--max-tensors" 0 "$work/sample-00003-of-00003.gguf: 5 tensors, " "" \
    split --max-tensors 8 "$sample"
expect "a shard opens the model" 0 "" "" \
    diff "$sample" "$work/sample-00002-of-00003.gguf"
expect "shards that are there" 1 "" "'$work/sample-00001-of-00003.gguf' is there already: remove it, give another --output, or --force" \
    split --max-tensors 8 "$sample"
: >"$work/sample-00001-of-00003.gguf.tmp.0123456789abcdef"
expect "an unfinished split" 1 "" "an unfinished split lies there" \
    split --max-tensors 8 "$sample"
rm "$work/sample-00001-of-00003.gguf.tmp.0123456789abcdef"
run split --dry-run --max-size 1K "$sample"
is "many that are larger: one note" 1 "$(wc -l <"$work/err")"
has "many that are larger" "$work/err" "others have more than 1024 too"
run split --dry-run --max-tensors 1 "$sample"
is "one tensor" 0 "$(grep -c '1 tensors' "$work/out")"
expect "--force" 0 "00001-of-00003" "" split --max-tensors 8 -f "$sample"
expect "a set is split anew" 0 "$work/sample-00001-of-00002.gguf: 11 tensors" \
    "" split --max-tensors 11 "$work/sample-00002-of-00003.gguf"
expect "--max-size, in folders that are made" 0 - "" \
    split --max-size 500K -o "$work/a/b/m" --json "$sample"
json "--json" '[.written,(.shards|map(.tensors)|add)]' '[true,21]'
for path in "$work"/a/b/m-*.gguf; do
    [ "$(wc -c <"$path")" -le 512000 ] && pass ||
        fail "--max-size: $path" "$(wc -c <"$path") bytes"
done
expect "a tensor that is larger" 0 - "others have more than 1000 too: what is in them can't be split" \
    split --max-size 1000 -n "$sample"
expect "--no-tensor-first-split" 0 "m-00001-of-00002.gguf: 0 tensors" "" \
    split --max-tensors 100 --no-tensor-first-split -o "$work/m" "$sample"

shard=$work/sample-00001-of-00003.gguf
cp "$shard" "$work/kept"
for force in "" --force; do
    expect "onto its own shards $force" 2 "" \
        "output '$shard' is the input: give it another name" \
        split --max-tensors 8 ${force:+"$force"} "$shard"
done
same "onto its own shards: they are as they were" "$work/kept" "$shard"

expect "no limit" 2 "" "--max-size or --max-tensors is missing" split "$sample"
expect "no size" 2 "" "'x' is no size" split --max-size x "$sample"
expect "no number" 2 "" "'0' is no number of tensors" \
    split --max-tensors 0 "$sample"
mkdir "$work/full"
(
    ulimit -f 200
    "$ggld" split --max-tensors 8 -o "$work/full/m" "$sample" 2>"$work/err"
)
is "no room" 1 $?
is "no room: one line" 1 "$(wc -l <"$work/err")"
is "no room: nothing is left" "" "$(ls "$work/full")"
expect "no folder" 1 "" "can't open its folder" \
    split --max-tensors 8 -o "$sample/m" "$sample"
is "nothing is left behind" "" "$(find "$work" -name '*.tmp*')"
finish
