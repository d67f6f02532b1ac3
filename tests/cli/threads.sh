# SPDX-License-Identifier: MIT
# dump, check --data and quantize do the same on any number of threads, and end
# at the first thing that is wrong.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
if ! "$ggld" --help | grep -q '^  warm '; then
    skip "threads" "built without libuv"
    finish
fi
sample=$work/sample.gguf
run sample --type f32 --layers 2 --vocab 4096 "$sample"
name=token_embd.weight

# on THREADS ARGUMENTS...: output in $work/out.THREADS, status in $rc
on() {
    UV_THREADPOOL_SIZE=$1 "$ggld" "${@:2}" >"$work/out.$1" 2>"$work/err.$1" \
        </dev/null
    rc=$?
}

# agree NAME STATUS ARGUMENTS...: one thread and four say the same.
agree() {
    on 1 "${@:3}"
    is "$1: one thread" "$2" "$rc"
    on 4 "${@:3}"
    is "$1: four threads" "$2" "$rc"
    same "$1: output" "$work/out.1" "$work/out.4"
    same "$1: diagnostics" "$work/err.1" "$work/err.4"
}

# ---- dump ----
for format in text f32 f16 npy raw; do
    agree "dump $format" 0 dump "$sample" $name -f $format
    cp "$work/out.4" "$work/whole"
    # Rows one by one are of one chunk each, and made on the calling thread.
    on 4 dump "$sample" $name -f $format -r 4094:4096
    is "dump $format: has values" yes "$([ -s "$work/out.4" ] && echo yes)"
    [ $format = npy ] && continue
    tail -c "$(wc -c <"$work/out.4")" "$work/whole" >"$work/tail"
    same "dump $format: the last rows" "$work/tail" "$work/out.4"
done

# ---- quantize ----
for type in q4_0 q5_1 bf16; do
    on 1 quantize "$sample" "$work/1.gguf" -t $type
    on 4 quantize "$sample" "$work/4.gguf" -t $type
    is "quantize to $type" 0 "$rc"
    same "quantize to $type" "$work/1.gguf" "$work/4.gguf"
done

# ---- numbers that are none, in several chunks of several tensors ----
offset_of() { # TENSOR
    "$ggld" tensors --json "$sample" |
        jq ".tensors[]|select(.name==\"$1\").file_offset_bytes"
}
spoil() { # TENSOR ELEMENT
    printf '\x00\x00\xc0\x7f' | dd of="$work/bad.gguf" bs=1 conv=notrunc \
        seek=$(($(offset_of "$1") + 4 * $2)) status=none
}
cp "$sample" "$work/bad.gguf"
for element in 900000 700001 700000 1000000; do
    spoil token_embd.weight $element
done
spoil output_norm.weight 7
spoil output.weight 3
agree "check" 0 check --data "$sample"
agree "check, bad" 1 check --data "$work/bad.gguf"
has "check: all of a tensor's, and the first of them" "$work/out.4" \
    "'token_embd.weight' (f32): 4 of 1048576 values are not finite (4 NaN, 0 infinite), the first in element 700000"
is "check: in the order of the file" \
    "$("$ggld" tensors --json "$sample" | jq -r '.tensors[].name' |
        grep -x -e token_embd.weight -e output_norm.weight -e output.weight |
        xargs)" \
    "$(sed -n "s/^error .* '\([^']*\)'.*/\1/p" "$work/out.4" | xargs)"
agree "check, bad, JSON" 1 check --data --json "$work/bad.gguf"
agree "quantize, bad" 1 quantize "$work/bad.gguf" "$work/none.gguf" -t q8_0
is "quantize, bad: nothing is left behind" "" "$(find "$work" -name '*none*')"

# ---- the end comes early ----
mkfifo "$work/fifo"
UV_THREADPOOL_SIZE=4 "$ggld" dump "$sample" $name >"$work/fifo" 2>"$work/err" &
writer=$!
head -c 100000 "$work/fifo" >/dev/null
wait $writer
is "closed pipe" 141 $?
is "closed pipe: nothing is said" "" "$(cat "$work/err")"
finish
