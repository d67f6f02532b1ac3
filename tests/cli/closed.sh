# SPDX-License-Identifier: MIT
# Every command with each of its standard descriptors closed, and without
# threads: an answer or an error, never an abort.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
sample=$work/sample.gguf
run sample --layers 1 "$sample"

# What each command is given, so that it comes as far as it can; with one that
# is not listed here the test fails.
arguments() { # COMMAND: sets words
    local out=$work/made.$1
    rm -rf "$out" && mkdir "$out"
    case $1 in
    info | kv | tensors | check | bench | warm | residency | stream | hash)
        words=("$sample")
        ;;
    dump) words=("$sample" output_norm.weight) ;;
    window) words=("$sample" token_embd.weight) ;;
    upgrade | convert) words=("$sample" "$out/out.gguf") ;;
    quantize) words=(--type q8_0 "$sample" "$out/out.gguf") ;;
    diff) words=("$sample" "$sample") ;;
    edit) words=(--set a.b:u32=1 --output "$out/out.gguf" "$sample") ;;
    split) words=(--max-tensors 4 --output "$out/part" "$sample") ;;
    merge) words=("$work"/part-00001-of-*.gguf "$out/out.gguf") ;;
    sample) words=(--layers 1 "$out/out.gguf") ;;
    verify) words=("$sample") ;;
    sign) words=(--key "$work/key" --output "$out/sig" "$sample.ggsum") ;;
    *)
        words=()
        fail "closed: $1" "it is not in this test's list"
        ;;
    esac
}

run split --max-tensors 4 --output "$work/part" "$sample"
run hash --save "$sample"
command -v openssl >/dev/null &&
    openssl genpkey -algorithm ed25519 -out "$work/key" 2>/dev/null
for command in "${commands[@]}"; do
    arguments "$command"
    run "$command" "${words[@]}"
    if [ "$command" = sign ] && [ ! -e "$work/key" ]; then
        skip "closed: sign" "no openssl to make a key"
        continue
    fi
    is "closed: $command, none: exit status" 0 $rc
    for closed in 0 1 2; do
        arguments "$command"
        case $closed in
        0) "$ggld" "$command" "${words[@]}" >"$work/out" 2>"$work/err" <&- ;;
        1) "$ggld" "$command" "${words[@]}" >&- 2>"$work/err" </dev/null ;;
        2) "$ggld" "$command" "${words[@]}" >"$work/out" 2>&- </dev/null ;;
        esac
        rc=$?
        is "closed: $command, descriptor $closed: no signal" true \
            "$([ $rc -lt 3 ] && echo true || echo "exit status $rc")"
    done
done
"$ggld" info "$sample" >&- 2>"$work/err" </dev/null
is "closed: output that is not wanted: exit status" 1 $?
has "closed: output that is not wanted" "$work/err" \
    "standard output: cannot write: Bad file descriptor"

# ---- no threads ----
if [ "$(id -u)" = 0 ] && command -v setpriv prlimit >/dev/null &&
    [ -z "${GGLD_SANITIZED-}" ]; then
    chmod -R a+rX "$work"
    # Of whom nobody else runs anything: the limit is a user's.
    user=$((100000 + $$))
    for command in warm stream hash verify; do
        # Whether the system refuses is known only afterwards: not everywhere
        # root's child is counted.
        prlimit --nproc=1 setpriv --reuid $user --regid $user --clear-groups \
            --inh-caps=-all --bounding-set=-all \
            "$ggld" "$command" "$sample" >"$work/out" 2>"$work/err" </dev/null
        rc=$?
        if [ $rc = 0 ]; then
            skip "no threads: $command" "the limit is not looked at here"
            continue
        fi
        is "no threads: $command: exit status" 1 $rc
        has "no threads: $command" "$work/err" "threads of libuv's pool"
    done
else
    skip "no threads" "not root, no setpriv, no prlimit, or a sanitizer"
fi
finish
