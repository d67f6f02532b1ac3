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

# Metadata that is read as it is printed, and none of it is there any more: what
# comes out is a beginning of what would have.
run sample -f --type f32 --vocab 120000 "$model"
run kv "$model" tokenizer.ggml.tokens
mv "$work/out" "$work/whole"
"$ggld" kv "$model" tokenizer.ggml.tokens >"$work/pipe" 2>"$work/err" &
exec 3<"$work/pipe"
head -c 1000 <&3 >"$work/first"
truncate -s 8000 "$model"
cat <&3 >>"$work/first"
exec 3<&-
wait $!
is "kv of a file that is cut: exit status" 1 $?
has "kv says what happened" "$work/err" \
    "$model: file: was truncated while it was read: it has 8000 bytes now"
is "kv prints a beginning" "" \
    "$(head -c "$(wc -c <"$work/first")" "$work/whole" | cmp - "$work/first")"

# ---- every command, cut as soon as it has opened the file ----

# cut_at CALL NTH BYTES ARGUMENTS...: a fresh c.gguf is cut at a call of the
# command's (cutter.c). It may have been too late, or early enough to be the
# file that was opened; else exit status 1, of diff 2, one line, and no output
# but a beginning of what would have been.
cut_at() {
    local call=$1 nth=$2 bytes=$3 name trouble=1 lines n
    shift 3
    name="$* cut to $bytes at $call $nth"
    [ "$1" = diff ] && trouble=2
    cp base.gguf c.gguf
    (
        export CUT_FILE=$PWD/c.gguf CUT_CALL=$call CUT_NTH=$nth
        export CUT_BYTES=$bytes LD_PRELOAD=$GGLD_CUTTER
        exec "$ggld" "$@" >out 2>err </dev/null
    )
    rc=$?
    rm -rf o.* s-0*
    lines=$(grep -c -v 'ggld: [^ ]*: note: ' err)
    [ "$(stat -c %s c.gguf)" = "$bytes" ] && n_cut=$((n_cut + 1))
    if [ $rc != 0 ] && { [ $rc != 1 ] || [ "$lines" != 0 ]; } &&
        { [ $rc != $trouble ] || [ "$lines" != 1 ] || ! grep -q c.gguf err; }
    then
        fail "$name" "expected: exit status $trouble and one line of c.gguf" \
            "got: exit status $rc and $lines lines" "$(head -n 5 err)"
    else
        pass
    fi
    # Of numbers that are measured there is nothing to compare with.
    case $1 in warm | stream | window | bench | hash) return ;; esac
    n=$(wc -c <out)
    if head -c "$n" whole | cmp -s out - || head -c "$n" short | cmp -s out -
    then pass; else
        fail "$name: output" "expected: as of the whole file, or of the cut one" \
            "got: $(head -c 300 out)"
    fi
}

# What the command says of the file before and after the cut.
beside() { # BYTES ARGUMENTS...
    cp base.gguf c.gguf
    "$ggld" "${@:2}" >whole 2>err </dev/null
    rm -rf o.* s-0*
    truncate -s "$1" c.gguf
    "$ggld" "${@:2}" >short 2>err </dev/null
    rm -rf o.* s-0*
}

each_command() { # BYTES
    local line
    while read -r line; do
        case " ${commands[*]} " in *" ${line%% *} "*) ;; *) continue ;; esac
        # shellcheck disable=SC2086 # words
        beside "$1" $line
        for at in 'mmap 1' 'mmap 2' 'close 1' 'close 2'; do
            # shellcheck disable=SC2086 # words
            cut_at $at "$1" $line
        done
    done <<'END'
info c.gguf
info --json c.gguf
kv c.gguf
kv c.gguf tokenizer.ggml.tokens
kv --json c.gguf
tensors c.gguf
check c.gguf
check --json c.gguf
check --data c.gguf
diff c.gguf other.gguf
diff other.gguf c.gguf
diff --values --json other.gguf c.gguf
dump c.gguf output.weight
dump c.gguf output.weight --format raw
bench --elems 4096 c.gguf
upgrade c.gguf o.gguf
edit c.gguf --set general.name=abc -o o.gguf
split --max-tensors 8 -o s c.gguf
convert c.gguf o.safetensors
quantize --type q8_0 c.gguf o.gguf
warm c.gguf
residency c.gguf
stream c.gguf
window c.gguf output.weight
hash c.gguf
verify c.gguf base.ggsum
END
}

if [ -n "${GGLD_SANITIZED-}" ]; then
    skip "every command" "nothing can be preloaded before a sanitizer"
else
    cd "$work" || exit 1
    run sample -f --type f32 --layers 1 base.gguf
    cp base.gguf other.gguf
    "$ggld" hash -o base.ggsum base.gguf 2>/dev/null
    n_cut=0
    for bytes in 0 8000 1000000; do
        each_command "$bytes"
    done
    is "many are cut" 1 $((n_cut > 150))
fi

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
