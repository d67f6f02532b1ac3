# SPDX-License-Identifier: MIT
# upgrade: there and back, notes, and what is refused. The values are compared
# by tests/change.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
sample=$work/sample.gguf
run sample --type q4_k "$sample"
expect "to big-endian" 0 \
    "$work/be.gguf: version 3 little-endian to version 3 big-endian; 21 tensors compared" \
    "" upgrade --big-endian "$sample" "$work/be.gguf"
run info --json "$work/be.gguf"
json "big-endian" '[.version,.byte_order]' '[3,"big"]'
expect "and back" 0 "version 3 big-endian to version 3 little-endian" "" \
    upgrade "$work/be.gguf" "$work/back.gguf"
same "and back" "$sample" "$work/back.gguf"

# A key twice, an alignment that is no power of two, then another type.
{
    header 0 3
    kv_text a one
    text general.alignment && le 4 4 && le 24 4
    kv_text a two
} >"$work/odd.gguf"
zeros 24 >>"$work/odd.gguf"
expect "what can't stay" 0 "version 3" \
    "note: 1 key-value is left out: its key was there before" \
    upgrade "$work/odd.gguf" "$work/out.gguf"
has "what can't stay: alignment" "$work/err" \
    "note: alignment 24 is not one that ggml takes: 32 is written"
is "of two keys the first" one "$("$ggld" kv "$work/out.gguf" a)"

echo old >"$work/out.gguf"
{
    header 1 0
    tensor odd 99 0 32
} >"$work/unknown.gguf"
pad "$work/unknown.gguf"
zeros 64 >>"$work/unknown.gguf"
expect "a type that is not known" 1 "" \
    "tensor 0 'odd': type 99 is unknown, so its bytes can't be brought from little-endian to big-endian" \
    upgrade --big-endian "$work/unknown.gguf" "$work/out.gguf"
expect "onto itself" 2 "" "IN and OUT are the same file" \
    upgrade "$sample" "$sample"
run split --max-tensors 8 -o "$work/set" "$sample"
shard=$work/set-00003-of-00003.gguf
cp "$shard" "$work/kept"
expect "onto a shard" 2 "" "output '$shard' is the input: give it another name" \
    upgrade "$work/set-00001-of-00003.gguf" "$shard"
same "onto a shard: it is as it was" "$work/kept" "$shard"
expect "no file" 1 "" "ggld: $work/none: " \
    upgrade "$work/none" "$work/out.gguf"
expect "onto a folder" 1 "" "ggld: $work: " upgrade "$sample" "$work"
(
    ulimit -f 100
    "$ggld" upgrade "$sample" "$work/out.gguf" 2>"$work/err"
)
is "no room" 1 $?
is "no room: one line" 1 "$(wc -l <"$work/err")"
is "the old file is as it was" old "$(cat "$work/out.gguf")"
is "nothing is left behind" "" "$(find "$work" -name '*.tmp*')"

real=$GGLD_SHARED/models/stories260k-f32.v1.gguf
if [ -f "$real" ]; then
    expect "version 1" 0 "version 1 little-endian to version 3" "" \
        upgrade "$real" "$work/v3.gguf"
    expect "version 1: accepted by ggml" 0 "accepted by ggml: yes" "" \
        check --strict "$work/v3.gguf"
    expect "version 1: the same model" 0 "" "" \
        diff --values "$real" "$work/v3.gguf"
else
    skip "version 1" "no models in GGLD_SHARED"
fi
finish
