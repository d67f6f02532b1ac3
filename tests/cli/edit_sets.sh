# SPDX-License-Identifier: MIT
# edit, of one shard of a set: the set has to stay one.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
run sample "$work/s.gguf"
n=$("$ggld" tensors --json "$work/s.gguf" | jq '.tensors|length')
run split "$work/s.gguf" -o "$work/m" --max-tensors $(((n + 2) / 3))
shard() { echo "$work/m-0000$1-of-00003.gguf"; }
name() { # SHARD: its first tensor's
    "$ggld" tensors --single --json "$(shard "$1")" | jq -r '.tensors[0].name'
}
one=$(name 1) two=$(name 2) three=$(name 3)
mkdir "$work/old"
cp "$work"/m-*.gguf "$work/old"
untouched() { # NAME
    local i
    for i in 1 2 3; do
        same "$1: shard $i" "$(shard $i)" "$work/old/m-0000$i-of-00003.gguf"
    done
}

# ---- names of tensors ----
for way in "" -i -n "-n -i"; do
    # shellcheck disable=SC2086 # words
    expect "a name of shard 1 ($way)" 1 "" \
        "'$one' is that of a tensor in shard 1 of the set, 'm-00001-of-00003.gguf'" \
        edit $way "$(shard 2)" --rename-tensor "$two=$one"
    # shellcheck disable=SC2086 # words
    expect "a name of shard 3 ($way)" 1 "" "in shard 3 of the set" \
        edit $way "$(shard 2)" --rename-tensor "$two=$three"
done
untouched "a name twice"
expect "a name of its own" 0 "done" "shard 2 of 3" \
    edit -i "$(shard 2)" --rename-tensor "$two=own"
expect "a name of its own: the set" 0 "own" "" tensors "$(shard 1)"
mv "$(shard 3)" "$work/away"
expect "a shard is missing" 0 "1 change" "1 other shard of its set can't be opened" \
    edit "$(shard 2)" --rename-tensor "own=$two"
expect "a shard is missing, another is there" 1 "" "in shard 1 of the set" \
    edit "$(shard 2)" --rename-tensor "$two=$one"
mv "$work/away" "$(shard 3)"
expect "and back" 0 "$two" "" tensors "$(shard 1)"

# ---- key-values ----
cp "$work"/old/* "$work"
told="this is shard 2 of 3; the set's key-values are those of shard 1, 'm-00001-of-00003.gguf': edit that"
for change in "-s general.name=Z" "-s general.name:string=Z" "-u general.name" \
    "--rename general.name=x" "-i -s general.name:string=Z"; do
    # shellcheck disable=SC2086 # words
    expect "keys of shard 2 ($change)" 1 "" "$told" edit "$(shard 2)" $change
done
untouched "keys of shard 2"
expect "keys of shard 2, forced" 0 "1 change" "shard 2 of 3" \
    edit "$(shard 2)" --force -s general.name:string=Z
expect "room in shard 2" 0 "written" "shard 2 of 3" \
    edit "$(shard 2)" --reserve 4K
expect "and none" 0 "written" "shard 2 of 3" edit "$(shard 2)" -u ggld.padding
expect "keys of shard 1" 0 "1 change" "the set's key-values are these" \
    edit "$(shard 1)" -s general.name=Z
run kv --json "$(shard 2)" general.name
json "they are the set's" '[..|.value?|strings]' '["Z"]'

# ---- new files ----
expect "a name that would not open" 1 "" \
    "shard 1 of 3 by its keys, and not open under that name: name it 'copy-00001-of-00003.gguf'" \
    edit "$(shard 1)" -o "$work/copy.gguf" -s general.name=Z
is "a name that would not open: nothing" "" "$(find "$work" -name 'copy*')"
expect "another shard's name" 1 "" "name it 'copy-00001-of-00003.gguf'" \
    edit "$(shard 1)" -o "$work/copy-00002-of-00003.gguf" -s general.name=Y
expect "as it is told" 0 "1 change" "shard 1 of 3" \
    edit "$(shard 1)" -o "$work/copy-00001-of-00003.gguf" -s general.name=Y
expect "a name that would not open, forced" 0 "1 change" "shard 1 of 3" \
    edit "$(shard 1)" --force -o "$work/copy.gguf" -s general.name=Y
expect "opened alone" 0 "Y" "" kv --single "$work/copy.gguf" general.name
finish
