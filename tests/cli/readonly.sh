# SPDX-License-Identifier: MIT
# A folder that nobody may write in: each command that makes a file says so in
# one line, and leaves what is there. Root writes everywhere, so that for root
# another user runs the command.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"

as_other=()
if [ "$(id -u)" = 0 ]; then
    if ! command -v setpriv >/dev/null; then
        skip "read-only folders" "root writes everywhere, and setpriv is not here"
        finish
    fi
    as_other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi

# A command where the other user can reach it, and a folder that he can read.
chmod 755 "$work"
cp "$ggld" "$work/ggld"
mkdir "$work/ro"
run sample --type f32 --layers 1 --vocab 600 "$work/ro/m.gguf"
run split --max-tensors 9 "$work/ro/m.gguf" -o "$work/ro/s"
first=$(echo "$work"/ro/s-00001-of-*.gguf)
cd "$work/ro" || exit 1
first=${first##*/}
has_uv=false
if "$ggld" --help | grep -q '^  convert '; then
    has_uv=true
    run convert m.gguf m.safetensors
fi
chmod a+rX . ./*
chmod 555 .
state() { (cd "$work/ro" && ls -l --time-style=+%s.%N && cat ./* | cksum); }
before=$(state)

if ! "${as_other[@]}" "$work/ggld" info m.gguf >/dev/null 2>"$work/err"; then
    skip "read-only folders" "another user can't run the command: $(head -c 200 "$work/err")"
    chmod 755 .
    finish
fi

rows() { # NAME, WORDS of the message, ARGUMENTS
    if $has_uv; then
        cat <<'ROWS'
convert|out.gguf|convert m.safetensors out.gguf
convert onto a file|m.gguf|convert --arch a m.safetensors m.gguf
convert into a folder to be made|a/out.gguf|convert m.safetensors a/out.gguf
convert to a set|out|convert --max-size 100K m.safetensors out.gguf
convert back|out.safetensors|convert m.gguf out.safetensors
quantize|out.gguf|quantize -t q8_0 m.gguf out.gguf
quantize to a set|out|quantize -t f16 --max-size 100K m.gguf out.gguf
ROWS
    fi
    cat <<ROWS
split|out|split --max-tensors 9 m.gguf -o out
split over a set|s-0|split --max-tensors 9 --force m.gguf -o s
merge|out.gguf|merge $first out.gguf
merge that deletes|out.gguf|merge --delete-inputs $first out.gguf
merge that consumes|out.gguf|merge --consume $first out.gguf
upgrade|out.gguf|upgrade m.gguf out.gguf
edit|m.gguf|edit m.gguf -s general.name=x
edit to another|out.gguf|edit m.gguf -o out.gguf -s general.name=x
edit in place|m.gguf|edit -i m.gguf -s general.name=x
dump|out.txt|dump m.gguf token_embd.weight -o out.txt
sample|out.gguf|sample --layers 1 --vocab 600 out.gguf
ROWS
}

while IFS='|' read -r name words arguments; do
    # shellcheck disable=SC2086 # words are arguments
    "${as_other[@]}" "$work/ggld" $arguments >"$work/out" 2>"$work/err" </dev/null
    is "$name: exit status" 1 $?
    has "$name: the file" "$work/err" "$words"
    has "$name: the reason" "$work/err" "Permission denied"
    is "$name: one line" 1 "$(grep -vc ': note: ' "$work/err")"
    is "$name: what is there" "$before" "$(state)"
done < <(rows)
chmod 755 .
finish
