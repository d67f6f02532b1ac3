# SPDX-License-Identifier: MIT
# edit: what is said of what would be done and was, and what others say of a
# file that an edit in place was killed in.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
run sample "$work/s.gguf"
file=$work/m.gguf
journal=$file.ggld-journal

fresh() { cp "$work/s.gguf" "$file"; }

# ---- a dry run in place is refused as the real one ----
for dry in -n ""; do
    fresh
    ln "$file" "$work/hard.gguf"
    # shellcheck disable=SC2086 # words
    expect "two names ($dry)" 1 "" "it has 2 names (hard links)" \
        edit -i $dry "$file" -s general.name=x
    rm "$work/hard.gguf"
    exec 5<"$file"
    # shellcheck disable=SC2086 # words
    expect "open elsewhere ($dry)" 1 "" "it is open or mapped elsewhere" \
        edit -i $dry "$file" -s general.name=x
    exec 5<&-
    # shellcheck disable=SC2086 # words
    expect "padding that is not there ($dry)" 1 "" "is not there" \
        edit -i $dry "$file" -u ggld.padding
    run edit "$file" --reserve 64K
    # shellcheck disable=SC2086 # words
    expect "padding in place ($dry)" 1 "" "can't be removed in place" \
        edit -i $dry "$file" -u ggld.padding
    has "padding in place ($dry): what to do" "$work/err" "write a new file"
    if [ "$(id -u)" != 0 ]; then
        chmod 555 "$work"
        # shellcheck disable=SC2086 # words
        run edit -i $dry "$file" -s general.name=x
        chmod 755 "$work"
        is "a folder that is read-only ($dry)" 1 $rc
    fi
done
fresh
expect "none of it" 0 "in place: it fits" "" edit -i -n "$file" -s general.name=x
same "none of it: untouched" "$file" "$work/s.gguf"
expect "nor is a file that is not edited" 0 - "" edit -i "$file" -s general.name=x
long=$(printf 'y%.0s' {1..5000})
fresh
run edit -i "$file" -s general.name="$long"
real=$rc
fresh
run edit -i -n "$file" -s general.name="$long"
is "room, as the real one" $real $rc

# ---- what is said ----
size=$(stat -c %s "$work/s.gguf")
said() { # NAME TEXT HOW ARGUMENTS...: as text, and as JSON
    local name=$1 text=$2 how=$3
    shift 3
    fresh
    [ -z "$reserved" ] || run edit "$file" --reserve 1000
    rm -f "$work/o.gguf"
    expect "$name" 0 "$text" "" edit "$file" "$@"
    fresh
    [ -z "$reserved" ] || run edit "$file" --reserve 1000
    rm -f "$work/o.gguf"
    run edit --json "$file" "$@"
    json "$name: how" '[.how,.file_bytes]' "[\"$how\",$(bytes "$@")]"
}
bytes() { # what there is of it, or would be
    case " $* " in
    *" -n "*) jq .file_bytes "$work/out" ;;
    *" -o "*) stat -c %s "$work/o.gguf" ;;
    *) stat -c %s "$file" ;;
    esac
}
reserved=
same_size=(-s "general.name=gold sample")
said "a new file" "$file: written, 1 change" new-file "${same_size[@]}"
said "a new file, dry" "m.gguf: would be replaced by a new file, $size bytes, 1 change" \
    new-file -n "${same_size[@]}"
said "a copy" "o.gguf: written, 1 change" copy -o "$work/o.gguf" "${same_size[@]}"
said "a copy, dry" "o.gguf: would be written, $size bytes, 1 change" \
    copy -n -o "$work/o.gguf" "${same_size[@]}"
said "the same size" "in place: done" same-size -i "${same_size[@]}"
said "the same size, dry" "in place: it fits" same-size -n -i "${same_size[@]}"
said "nothing" "nothing to change" nothing --reserve 0
said "nothing, copied" "o.gguf: written, 0 changes" copy --reserve 0 -o "$work/o.gguf"
said "room" "m.gguf: written, 0 changes, 65536 bytes of room for more" \
    new-file --reserve 64K
said "room of a byte" "m.gguf: written, 0 changes, 1 byte of room for more" \
    new-file --reserve 1
reserved=yes
said "into slack" "bytes of room left" slack -i -s general.name=longer-than-it-was
said "room enough" "nothing to change: 1000 bytes of room are there already" \
    nothing --reserve 10
said "the same size, with slack" "1021 bytes of room left" slack \
    -i "${same_size[@]}"
if [ $real = 0 ]; then
    said "inserted" "bytes inserted before the data" inserted -i -s general.name="$long"
    said "inserted, dry" "in place: possible, with" inserted -n -i \
        -s general.name="$long"
else
    skip "inserted" "the file system of $work inserts no ranges"
fi

# ---- a new file ----
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    # As somebody else: root may write anywhere.
    mkdir "$work/ro" && cp "$work/s.gguf" "$work/ro"
    chmod 755 "$work" && chmod 555 "$work/ro"
    for dry in -n ""; do
        # shellcheck disable=SC2086 # words
        setpriv --reuid=65534 --regid=65534 --clear-groups "$ggld" edit $dry \
            "$work/ro/s.gguf" -s general.name=x >"$work/out" 2>"$work/err"
        rc=$?
        case $rc in
        12[67]) skip "a folder that is read-only ($dry)" "it runs as root only" ;;
        *) is "a folder that is read-only ($dry)" 1 $rc ;;
        esac
    done
else
    skip "a folder that is read-only, a new file" "this is not root"
fi
echo of-the-old-file >"$file.ggsum"
for how in -i ""; do
    fresh
    # shellcheck disable=SC2086 # words
    expect "a manifest ($how)" 0 - "m.gguf.ggsum' is of the file as it was" \
        edit $how "$file" -s general.name=x
done
expect "a manifest, and nothing done" 0 "nothing to change" "" \
    edit "$file" -s general.name=x
rm "$file.ggsum"

# ---- a name that has no room for a journal's ----
while read -r length status how; do
    named=$work/$(printf "%0$((length - 5))d" 0).gguf
    cp "$work/s.gguf" "$named"
    err=
    [ "$status" = 0 ] || err="in place there has to be a journal beside it"
    # shellcheck disable=SC2086 # words
    expect "a name of $length bytes, edit ${how-}" "$status" - "$err" \
        edit "$named" -s general.name=GGLD-SAMPLE ${how-}
    [ "$status" = 0 ] || same "a name of $length bytes: it is as it was" \
        "$work/s.gguf" "$named"
    expect "a name of $length bytes, looked at" 0 - "" info "$named"
    expect "a name of $length bytes, nothing to recover" 0 \
        "nothing to recover" "" edit --recover "$named"
    rm "$named"
done <<'EOF'
238 0 --in-place
239 1 --in-place
239 1 --in-place --dry-run
239 0
240 0
240 0 --dry-run
255 0
EOF

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
