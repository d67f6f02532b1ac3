# SPDX-License-Identifier: MIT
# quantize: the rule, value by value (quantized.c), what is refused, what is
# left behind, and how much memory it takes.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
if ! "$ggld" --help | grep -q '^  quantize '; then
    skip "quantize" "built without libuv"
    finish
fi
sample=$work/sample.gguf
run sample --type f32 "$sample"

# compare NAME IN OUT TYPE [pure]
compare() {
    local name=$1
    shift
    if "$GGLD_QUANTIZED" "$@" >"$work/why" 2>&1; then pass; else
        fail "$name" "$(cat "$work/why")"
    fi
}

for type in f32 f16 bf16 q8_0 q4_0 q4_1 q5_0 q5_1; do
    expect "to $type" 0 "$work/$type.gguf: ${type^^}, 8.0 MiB to" "" \
        quantize "$sample" "$work/$type.gguf" --type $type
    compare "to $type" "$sample" "$work/$type.gguf" $type
    expect "to $type, checked" 0 "accepted by ggml: yes" "" \
        check --strict --data "$work/$type.gguf"
done
same "f32 to f32 is the same file" "$sample" "$work/f32.gguf"
for type in f16 bf16 q8_0 q4_0 q4_1 q5_0 q5_1; do
    expect "$type to q8_0" 0 - "" \
        quantize "$work/$type.gguf" "$work/again.gguf" -t q8_0
    compare "$type to q8_0" "$work/$type.gguf" "$work/again.gguf" q8_0
done
expect "--keep" 0 - "" quantize -t q4_0 --keep 'blk.0.*=q8_0' \
    --keep '*_norm.weight=bf16' --keep 'token_*=f32' "$sample" "$work/keep.gguf"
run tensors --json "$work/keep.gguf"
json "--keep: the first that fits" \
    '.tensors|map({(.name):.type})|add|[.["blk.0.ffn_up.weight"],.["blk.0.attn_norm.weight"],.["blk.1.attn_norm.weight"],.["token_embd.weight"],.["output.weight"]]' \
    '["q8_0","q8_0","bf16","f32","q4_0"]'
expect "--pure" 0 - "" quantize --type=q4_0 --pure "$sample" "$work/pure.gguf"
compare "--pure" "$sample" "$work/pure.gguf" q4_0 pure

# Shards: those of a split, each with a name that is free.
expect "--max-size" 0 "$work/q8_0-00001-of-00003.gguf: 8 tensors, " "" \
    quantize -t q8_0 --max-size 1M "$sample" "$work/q8_0.gguf"
has "--max-size: all of it" "$work/out" "3 shards: Q8_0, 8.0 MiB to 2.2 MiB"
run split --max-size 1M -o "$work/split" "$work/q8_0.gguf"
for i in 1 2 3; do
    same "--max-size: shard $i is that of a split" \
        "$work/q8_0-0000$i-of-00003.gguf" "$work/split-0000$i-of-00003.gguf"
done
expect "--max-size: the set is the model" 0 "" "" \
    diff "$work/q8_0.gguf" "$work/q8_0-00003-of-00003.gguf"
expect "shards that are there" 1 "" \
    "'$work/q8_0-00001-of-00003.gguf' is there already: remove it, give another OUT, or --force" \
    quantize -t q8_0 --max-size 1M "$sample" "$work/q8_0.gguf"
expect "--force" 0 "00003-of-00003" "" \
    quantize -t q8_0 --max-size 1M -f "$sample" "$work/q8_0.gguf"
expect "onto its own shards" 2 "" \
    "output '$work/q8_0-00001-of-00003.gguf' is the input: give it another name" \
    quantize -t q8_0 --max-size 1M -f "$work/q8_0-00002-of-00003.gguf" \
    "$work/q8_0.gguf"
expect "onto its own shards: they are as they were" 0 "" "" \
    diff "$work/q8_0.gguf" "$work/q8_0-00003-of-00003.gguf"
expect "a tensor that is larger" 0 - \
    "more than 1000: what is in it can't be split" \
    quantize -t q8_0 --max-size 1000 "$sample" "$work/large.gguf"
expect "no size" 2 "" "'x' is no size" \
    quantize -t q8_0 --max-size x "$sample" "$work/large.gguf"
expect "from a set into a set" 0 "$work/a/b-00001-of-00002.gguf: " "" \
    quantize -t q4_0 --max-size 1M "$work/q8_0-00002-of-00003.gguf" \
    "$work/a/b.gguf"
is "no other file" 2 "$(find "$work/a" -type f | wc -l)"
rm -r "$work"/*-of-*.gguf "$work/a"

# Types that only dequantise.
for type in q2_k q3_k q4_k q5_k q6_k iq1_s iq1_m iq2_xxs iq2_xs iq2_s iq3_xxs \
    iq3_s iq4_nl iq4_xs tq1_0 tq2_0 mxfp4 nvfp4 q1_0 q2_0; do
    run sample -f --type $type "$work/in.gguf"
    expect "$type to f16" 0 - "" \
        quantize "$work/in.gguf" "$work/again.gguf" --type f16
    compare "$type to f16" "$work/in.gguf" "$work/again.gguf" f16
done

# Integers, rows that are no whole blocks, three dimensions, an alignment and
# no quantisation keys; then a key that is there twice.
odd=$work/odd.gguf
{
    header 6 3
    kv_text general.architecture odd
    text general.alignment && le 4 4 && le 64 4
    kv_text general.architecture again
    tensor ints 26 0 2 2
    tensor rows 0 64 33 2
    tensor cube 0 384 32 2 2
    tensor vector 1 896 4
    tensor scalar 0 960
    tensor f64 28 1024 32 1
} >"$odd"
size=$(wc -c <"$odd")
{
    zeros $(((64 - size % 64) % 64))
    le 1 4 && le 2 4 && le -1 4 && le 3 4 && zeros 48
    for ((i = 0; i < 80; i++)); do le $((0x3f800000 + i * 65536)) 4; done
    for ((i = 0; i < 128; i++)); do le $((0xbf800000 + i * 65536)) 4; done
    zeros 64
    le $((0x40490fdb)) 4 && zeros 60
    for ((i = 0; i < 32; i++)); do le $((0x3ff0000000000000 + (i << 48))) 8; done
} >>"$odd"
expect "odd shapes" 0 - \
    "note: key-value 2 'general.architecture' is left out: its key was there before" \
    quantize "$odd" "$work/odd8.gguf" --type q8_0
compare "odd shapes" "$odd" "$work/odd8.gguf" q8_0
run tensors --json "$work/odd8.gguf"
json "odd shapes: types" '.tensors|map(.type)' \
    '["i32","f16","q8_0","f32","f32","q8_0"]'
run info --json "$work/odd8.gguf"
json "odd shapes: keys, of one there twice the first" \
    '[.alignment_bytes,(.kv|map([.key,.value]))]' \
    '[64,[["general.architecture","odd"],["general.alignment",64],["general.quantization_version",2],["general.file_type",7]]]'

# Names that only a tensor that keeps its type may have, and no data.
for name in '\xffname' "$(printf 'x%.0s' {1..64})" ''; do
    {
        header 2 1
        kv_text general.architecture odd
        tensor "$name" 0 0 32
        tensor none 0 128 0
    } >"$work/in.gguf"
    pad "$work/in.gguf"
    zeros 128 >>"$work/in.gguf"
    expect "name '$name'" 0 - "" \
        quantize "$work/in.gguf" "$work/again.gguf" --type f32
    compare "name '$name'" "$work/in.gguf" "$work/again.gguf" f32
done

# ---- what is refused ----
echo old >"$work/out.gguf"
put() { # FILE OFFSET BYTES
    printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
offset_of() {
    "$ggld" tensors --json "$1" |
        jq ".tensors[]|select(.name==\"$2\").file_offset_bytes"
}
cp "$sample" "$work/nan.gguf"
put "$work/nan.gguf" $(($(offset_of "$sample" blk.1.ffn_up.weight) + 4 * 77777)) \
    '\x00\x00\xc0\x7f'
expect "NaN" 1 "" "'blk.1.ffn_up.weight'" \
    quantize "$work/nan.gguf" "$work/out.gguf" --type q8_0
has "NaN: the file" "$work/err" "ggld: $work/nan.gguf: "
has "NaN: the element" "$work/err" "77777"
is "NaN: the old file is as it was" old "$(cat "$work/out.gguf")"
cp "$sample" "$work/large.gguf"
put "$work/large.gguf" $(($(offset_of "$sample" output.weight) + 4)) \
    '\x80\x96\x98\x4b' # 2e7
expect "a scale past the largest half" 1 "" "'output.weight'" \
    quantize "$work/large.gguf" "$work/out.gguf" --type q8_0
expect "onto itself" 2 "" "IN and OUT are the same file" \
    quantize "$sample" "$sample" --type q8_0
ln "$sample" "$work/hard.gguf"
expect "onto itself by another name" 2 "" "IN and OUT are the same file" \
    quantize "$sample" "$work/hard.gguf" --type q8_0
expect "standard output" 2 "" "OUT is '-': it has to be a file" \
    quantize "$sample" - --type q8_0
"$ggld" quantize "$sample" /dev/stdout --type q8_0 2>"$work/err" | cat
is "a pipe: exit status" 1 "${PIPESTATUS[0]}"
has "a pipe" "$work/err" \
    "ggld: /dev/stdout: output '/dev/stdout' is a pipe, where a file is wanted"
expect "a device" 1 "" \
    "output '/dev/null' is a device, where a file is wanted" \
    quantize "$sample" /dev/null --type q8_0
expect "onto a folder" 1 "" "ggld: $work: " quantize "$sample" "$work" -t f16
(
    ulimit -f 1000
    "$ggld" quantize "$sample" "$work/out.gguf" --type q8_0 2>"$work/err"
)
is "no room" 1 $?
has "no room" "$work/err" "ggld: $work/out.gguf: "
is "no room: the old file is as it was" old "$(cat "$work/out.gguf")"
{
    header 1 0
    tensor odd 99 0 32 2
} >"$work/unknown.gguf"
pad "$work/unknown.gguf"
zeros 64 >>"$work/unknown.gguf"
expect "a type that is not known" 1 "" \
    "tensor 0 'odd' is of type 99, which can't be read" \
    quantize "$work/unknown.gguf" "$work/out.gguf" --type q8_0
is "nothing is left behind" "" "$(find "$work" -name '*.tmp*')"

# ---- stopping ----
run sample --type f32 --size 400M "$work/big.gguf"
# Stops it as soon as its unfinished output is there. To f32 there is nothing
# to convert, and there it was once deaf.
for type in q5_1 f32; do
    mkdir "$work/stop"
    echo old >"$work/stop/out.gguf"
    "$ggld" quantize "$work/big.gguf" "$work/stop/out.gguf" -t $type \
        >"$work/out" 2>"$work/err" &
    job=$!
    for ((i = 0; i < 500; i++)); do
        [ "$(find "$work/stop" -type f | wc -l)" -gt 1 ] && break
        sleep 0.01
    done
    kill -INT $job 2>/dev/null
    kill -TERM $job 2>/dev/null
    wait $job
    # Of the signal, so that a shell's loop ends too.
    is "stopped, $type: exit status" 143 $?
    has "stopped, $type" "$work/err" "stopped by a signal; nothing was written"
    is "stopped, $type: the old file is as it was" old \
        "$(head -c 3 "$work/stop/out.gguf")"
    is "stopped, $type: nothing is left behind" "$work/stop/out.gguf" \
        "$(find "$work/stop" -type f)"
    rm -r "$work/stop"
done

# ---- memory ----
# Anonymous memory, looked at while it runs.
most=0
"$ggld" quantize "$work/big.gguf" "$work/q8.gguf" -t q8_0 >/dev/null &
job=$!
while kb=$(awk '/^RssAnon/ { print $2 }' /proc/$job/status 2>/dev/null) &&
    [ -n "$kb" ]; do
    [ "$kb" -gt "$most" ] && most=$kb
done
wait $job
is "memory: it worked" 0 $?
if [ -n "${GGLD_SANITIZED-}" ]; then
    skip "memory" "a sanitizer takes some itself"
elif [ "$most" -gt 0 ] && [ "$most" -lt 65536 ]; then
    pass
else
    fail "memory: RssAnon under 64 MiB" "got $most KiB"
fi
group=/sys/fs/cgroup/memory/ggld-test.$$
if [ -n "${GGLD_SANITIZED-}" ]; then
    skip "memory cgroup" "a sanitizer takes some itself"
elif mkdir "$group" 2>/dev/null &&
    echo $((128 << 20)) >"$group/memory.limit_in_bytes"; then
    (
        echo "$BASHPID" >"$group/cgroup.procs"
        exec "$ggld" quantize "$work/big.gguf" "$work/q8.gguf" -t q8_0 \
            >/dev/null
    )
    is "in a memory cgroup of 128 MiB" 0 $?
    rmdir "$group"
else
    skip "memory cgroup" "no memory cgroup (version 1) can be made here"
fi

# ---- a real file ----
real=$GGLD_SHARED/models/stories260k-f32.v1.gguf
if [ -f "$real" ]; then
    expect "version 1 to version 3" 0 - "" \
        quantize "$real" "$work/q8.gguf" --type q8_0
    compare "version 1 to version 3" "$real" "$work/q8.gguf" q8_0
    expect "version 3 is what ggml takes" 0 "accepted by ggml: yes" "" \
        check --strict --data "$work/q8.gguf"
else
    skip "a real file" "no $real"
fi
finish
