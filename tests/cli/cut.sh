# SPDX-License-Identifier: MIT
# A file that is cut while the command reads it: it says so, and does not die.
# It is held by a pipe that nobody empties, or by a signal.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
model=$work/model.gguf
name=token_embd.weight # 8 MiB
make_model() {
    run sample --type f32 --vocab 8192 "$model"
    is "a model to cut" 0 "$rc"
}

make_model
mkfifo "$work/pipe"
"$ggld" dump "$model" $name --format raw >"$work/pipe" 2>"$work/err" &
exec 3<"$work/pipe"
head -c 1000 <&3 >"$work/first"
truncate -s 100000 "$model"
cat <&3 >/dev/null
exec 3<&-
wait $!
is "dump of a file that is cut: exit status" 1 $?
has "dump says what happened" "$work/err" "$model: tensor "
has "dump says what happened" "$work/err" \
    "file: was truncated while it was read: it has 100000 bytes now"

if ! "$ggld" --help | grep -q '^  quantize '; then
    skip "quantize" "built without libuv"
    finish
fi
# Stopped as soon as its temporary file is there, 64 Mi values before its end.
run sample -f --type f32 --size 256M --sparse "$model"
"$ggld" quantize --type q8_0 "$model" "$work/out.gguf" >"$work/out" \
    2>"$work/err" &
until compgen -G "$work/out.gguf.*" >"$work/names" || ! kill -0 $! 2>/dev/null; do
    :
done
kill -STOP $!
truncate -s 100000 "$model"
kill -CONT $!
wait $!
is "quantize of a file that is cut: exit status" 1 $?
has "quantize says what happened, and to which file" "$work/err" \
    "$model: tensor "
has "quantize says what happened" "$work/err" \
    "file: was truncated while it was read: it has 100000 bytes now"
is "quantize leaves nothing" "" "$(compgen -G "$work/out.gguf*")"
finish
