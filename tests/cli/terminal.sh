# SPDX-License-Identifier: MIT
# hash and verify on a terminal: the bar, as wide as there is room, and Ctrl-C.
# strace makes the first read of the file last long enough for a bar, or has the
# signal come with it: nothing here depends on how fast the machine is.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
leave_out() {
    skip "terminal" "$1"
    finish
}
"$ggld" --help | grep -q '^  hash ' || leave_out "built without libuv"
[ -z "${GGLD_SANITIZED-}" ] || leave_out "sanitizers do not work under strace"
strace -o /dev/null true 2>/dev/null || leave_out "no strace works here"
script -qec true /dev/null </dev/null >/dev/null 2>&1 ||
    leave_out "no script(1) works here"
models=$work/models
mkdir "$models"
sample=$models/sample.gguf
run sample --layers 2 "$sample"
sums=$work/sums
run hash -o "$sums" "$sample"
echo "no model" >"$models/text"

# traced FILE INJECTION: what stands before the command. One thread reads the
# file, so that it has one first read.
traced() {
    echo "env --default-signal=INT UV_THREADPOOL_SIZE=1 strace -f" \
        "-o /dev/null -P '$1' -e trace=pread64" \
        "-e inject=pread64:$2:when=1 '$ggld'"
}
long=delay_exit=1100000 # in microseconds: there is a bar after a second
ctrl_c=signal=INT

# on_terminal COLUMNS FILE INJECTION ARGUMENTS...: what is seen, in $work/tty.
on_terminal() {
    script -qec "stty cols $1; $(traced "$2" "$3") ${*:4}" /dev/null \
        </dev/null >"$work/tty" 2>&1
    rc=$?
}

# ---- the bar ----
# bar NAME LABEL COLUMNS: one was drawn, fits, and is wiped in the end.
bar() {
    local seen after
    seen=$(cat "$work/tty")
    after=${seen##*left}
    tr '\r' '\n' <"$work/tty" | sed 's/\x1b\[K//g' | grep "^$2" >"$work/bar"
    is "$1: it is drawn" yes "$([ -s "$work/bar" ] && echo yes || echo "$seen")"
    is "$1: it is narrower than the terminal" yes \
        "$([ "$(widest <"$work/bar")" -lt "$3" ] && echo yes ||
            widest <"$work/bar")"
    [ "$3" -lt 50 ] || is "$1: it is wiped" $'\e[K\r\e[K' "${after:0:7}"
}
for columns in 12 30 50 100; do
    on_terminal $columns "$sample" $long hash "'$sample'"
    is "hash, $columns columns: exit status" 0 "$rc"
    bar "hash, $columns columns" hashing $columns
done
on_terminal 60 "$sample" $long verify "'$sample'" "'$sums'"
is "verify: exit status" 0 "$rc"
bar "verify" verifying 60
has "verify: it says what there is to say" "$work/tty" "good: "
eval "$(traced "$sample" $long) hash '$sample'" >"$work/out" 2>"$work/err"
is "no bar elsewhere" 0 "$(grep -c 'hashing' "$work/err")"

# ---- how fast it was ----
# Elsewhere of more than a second, as here; of what takes less, see integrity.
has "a rate elsewhere" "$work/err" " MiB in "
for command in "hash '$sample'" "verify '$sample' '$sums'"; do
    script -qec "'$ggld' $command" /dev/null </dev/null >"$work/tty" 2>&1
    is "${command%% *}: a rate on a terminal, of no time too" 1 \
        "$(tr -d '\r' <"$work/tty" | grep -c '^ggld: .*note: .* in .*/s$')"
done

# ---- Ctrl-C ----
# all_files: with their contents, what the command could leave or change.
all_files() {
    (cd "$models" && find . -type f -exec sha256sum {} + | sort -k 2)
}

# interrupted NAME FILE ARGUMENTS...: while FILE is first read. The command dies
# of the signal, says so, and all is as it was.
interrupted() {
    local before
    before=$(all_files)
    on_terminal 80 "$2" $ctrl_c "${@:3}"
    is "$1, stopped: exit status" 130 "$rc"
    has "$1, stopped: it says so" "$work/tty" "stopped by a signal"
    is "$1, stopped: no result" 0 \
        "$(grep -cE 'ggsum 1|"file"|good|bad' "$work/tty")"
    is "$1, stopped: nothing is left" "$before" "$(all_files)"
}
echo old >"$models/old"
text=$models/text
digest=sha256:$(sha256sum <"$text" | cut -c1-64)
while IFS='|' read -r name file arguments; do
    interrupted "$name" "$models/$file" "$arguments"
done <<END
hash|sample.gguf|hash '$sample'
hash --json|sample.gguf|hash --json '$sample'
hash -o|sample.gguf|hash -o '$models/new' '$sample'
hash -o, in a new folder|sample.gguf|hash -o '$models/folder/new' '$sample'
hash -o, over an old file|sample.gguf|hash -o '$models/old' '$sample'
hash --save|sample.gguf|hash --save '$sample'
hash of what is no model|text|hash -f sha256sum '$text'
verify|sample.gguf|verify '$sample' '$sums'
verify --folder|sample.gguf|verify --folder '$work/known' '$sample' '$sums'
verify of what is no model|text|verify '$text' $digest
END
run split --max-tensors 8 "$sample"
for shard in "$models"/*-of-00003.gguf; do
    run hash --save --single "$shard"
done
set=$models/sample-00001-of-00003.gguf
interrupted "verify of a set" "$set" verify "'$set'"
is "verify of a set: the other shards are left alone" 1 \
    "$(grep -c "stopped by a signal" "$work/tty")"
is "stopped: no folder is left" "" "$(find "$models" -mindepth 1 -type d)"
is "stopped: nothing is known as good" "" "$(find "$work/known" -type f)"
on_terminal 80 "$sample" $long:$ctrl_c hash "'$sample'"
is "stopped, after a second: exit status" 130 "$rc"
bar "stopped, after a second" hashing 80
has "stopped, after a second: it says so" "$work/tty" "stopped by a signal"
finish
