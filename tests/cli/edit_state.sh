# SPDX-License-Identifier: MIT
# edit: what others say of a file that an edit in place was killed in.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
run sample "$work/s.gguf"
file=$work/m.gguf
journal=$file.ggld-journal

# ---- between old and new ----
# The file as it is when room was made and nothing written yet, or some of the
# new metadata was: its inode is the journal's, which stays.
meta=$("$ggld" info --json "$work/s.gguf" | jq .metadata_bytes)
begin=$((1 + 2 * ((meta + 4095) / 4096))) # writes of the journal
killed() { # TEXT CALLS
    cp "$work/s.gguf" "$file"
    "$GGLD_HALFWAY" "$file" general.name "$1" "$2" >/dev/null 2>&1
}
told="an edit in place was interrupted, halfway"
to_do="'ggld edit --recover' finishes it"
# in_between NAME: what all say of it.
in_between() {
    local name=$1 command
    for command in info tensors kv hash "kv --json" "tensors --json" \
        "diff $work/s.gguf" "merge -o $work/out.gguf" \
        "upgrade -o $work/out.gguf"; do
        case $command in
        merge* | upgrade*) run "${command%% *}" "$file" "$work/out.gguf" ;;
        # shellcheck disable=SC2086 # words
        *) run $command "$file" ;;
        esac
        has "$name: $command" "$work/err" "$told"
        has "$name: $command: what to do" "$work/err" "$to_do"
        is "$name: $command: nothing else is wrong" 0 \
            "$(grep -c 'never written\|starts with' "$work/err")"
    done
    run info --json "$file"
    json "$name: info --json" '[.interrupted_edit,(.interrupted_edit_message|test("--recover"))]' \
        '["halfway",true]'
    run check "$file"
    is "$name: check: exit status" 1 $rc
    has "$name: check" "$work/out" "$told"
    is "$name: check: no contradiction" 0 \
        "$(grep -c 'never written' "$work/out")"
    expect "$name: finished" 0 "it is finished" "" edit --recover "$file"
    expect "$name: well again" 0 "$(printf '  general.name')" "" info "$file"
    run info --json "$file"
    json "$name: info --json, well again" \
        '[.readable,.interrupted_edit,.interrupted_edit_message]' \
        '[true,null,null]'
}

if [ -n "${GGLD_HALFWAY-}" ]; then
    killed Killed $((begin + 1))
    in_between "written in part"
    long=$(printf 'y%.0s' {1..5000})
    killed "$long" $((begin + 2))
    if [ -e "$journal" ]; then
        is "room made: zeros" 00000000 \
            "$(head -c 4 "$file" | od -An -tx1 | tr -d ' ')"
        run info --json "$file"
        json "room made: info --json" '[.readable,.interrupted_edit]' \
            '[false,"halfway"]'
        in_between "room made"
        # And of zeros beside which there is no journal.
        zeros 4096 >"$file"
        expect "zeros alone" 1 "" "it was never written" info "$file"
        echo damaged >"$journal"
        expect "zeros and a journal" 1 "" "'ggld edit --recover' ends it" \
            tensors "$file"
        rm "$journal"
    else
        skip "room made" "the file system of $work inserts no ranges"
    fi
else
    skip "killed" "its calls can't be wrapped here"
fi
finish
