# SPDX-License-Identifier: MIT
# edit: what is set, removed and renamed, in a new file and in place; what is
# refused; what is said of, and done about, an edit that was killed.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
run sample "$work/s.gguf"
file=$work/m.gguf
fresh() { cp "$work/s.gguf" "$file"; }
data_digest() { # FILE: of the data section
    local at
    at=$("$ggld" info --json "$1" | jq .metadata_bytes)
    tail -c +$((at + 1)) "$1" | sha256sum | cut -d' ' -f1
}
data=$(data_digest "$work/s.gguf")
data_is() { is "$1: the data is as it was" "$data" "$(data_digest "$2")"; }
value() { # FILE KEY
    "$ggld" kv --json "$1" "$2" | jq -c 'if type=="array" then .[0] else . end|.value'
}

# ---- every kind of value, in order ----
fresh
printf '{%% if x %%}\n"é"\n' >"$work/template"
expect "many changes" 0 "$file: written, 13 changes" "" edit "$file" \
    --set general.name=Hello --set=general.file_type=7 \
    -s a.u8:u8=255 -s a.i64:i64=-9223372036854775808 \
    -s a.u64:u64=18446744073709551615 -s a.f32:f32=0.1 -s a.f64:f64=-1e300 \
    -s a.bool:bool=true -s a:b:string=x=y -s 'a.list:i16[]=[1, -2, 3]' \
    -s 'a.texts:string[]=["é", "", "\u0041\n"]' -s 'a.none:f32[]=[]' \
    --set tokenizer.chat_template=@"$work/template"
data_is "many changes" "$file"
run kv --json "$file"
has "the least i64" "$work/out" '"value": -9223372036854775808'
has "the greatest u64" "$work/out" '"value": 18446744073709551615'
json "the values" \
    '[.kv[]|select(.key|test("^a.*[^6][^4]$"))|[.key,.type,.value]]' \
    '[["a.u8","u8",255],["a.f32","f32",0.1],["a.bool","bool",true],["a:b","string","x=y"],["a.list","array",[1,-2,3]],["a.texts","array",["é","","A\n"]],["a.none","array",[]]]'
json "an f64" '.kv[]|select(.key=="a.f64").value' -1e+300
json "a kept type" '[.kv[]|select(.key=="general.file_type")|.type,.value]' \
    '["u32",7]'
json "a file's text" '.kv[]|select(.key=="tokenizer.chat_template").value' \
    '"{% if x %}\n\"é\"\n"'
expect "in the order given" 0 "written, 2 changes" "" edit "$file" \
    --rename a.u8=b --set b=7 --set b=8 --rename b=c --unset a.i64
run kv --json "$file"
json "in the order given: values" \
    '[.kv[]|select(.key=="b" or .key=="c" or .key=="a.i64")|[.key,.type,.value]]' \
    '[["c","u8",8]]'
expect "a type is changed where it is asked for" 0 - "" \
    edit "$file" -s c:string=@@at -s 'a.list:string[]=["p"]'
run kv --json "$file"
json "a changed type" '[.kv[]|select(.key=="c" or .key=="a.list")|[.type,.value]]' \
    '[["string","@at"],["array",["p"]]]'
expect "tensors are renamed" 0 "written, 1 change" "" \
    edit "$file" --rename-tensor output.weight=out.w
expect "a renamed tensor" 0 "out.w" "" tensors "$file"
data_is "all of it" "$file"
expect "it is what ggml takes" 0 "accepted by ggml: yes" "" check --strict "$file"

# ---- out by kv --raw, and back ----
for text in 'no newline' $'one\n' $'two\n\n' '' '@at' $'\e[31m \\n "é"\r\n'; do
    name="a trip of $(printf %q "$text")"
    fresh
    printf %s "$text" >"$work/template"
    run edit "$file" -s tokenizer.chat_template=@"$work/template" --reserve 4K
    cp "$file" "$work/before"
    "$ggld" kv --raw "$file" tokenizer.chat_template >"$work/back"
    same "$name: the text" "$work/template" "$work/back"
    for how in '' -i; do
        # shellcheck disable=SC2086 # or none
        expect "$name${how:+, $how}" 0 - "" \
            edit "$file" $how -s tokenizer.chat_template=@"$work/back"
        same "$name${how:+, $how}: the file" "$work/before" "$file"
    done
done

# ---- a new file ----
fresh
expect "--output" 0 "$work/new/o.gguf: written, 1 change" "" \
    edit "$file" -o "$work/new/o.gguf" -u general.license
same "--output: FILE stays" "$file" "$work/s.gguf"
data_is "--output" "$work/new/o.gguf"
is "--output: nothing else" "o.gguf" "$(ls "$work/new")"
expect "onto itself" 2 "" "FILE and --output are the same file" \
    edit "$file" -o "$work/../${work##*/}/m.gguf" -u general.license
chmod 604 "$file"
expect "replaced" 0 - "" edit "$file" -u general.license
is "replaced: mode" 604 "$(stat -c %a "$file")"
ln -s m.gguf "$work/link.gguf"
expect "through a link" 0 - "" edit "$work/link.gguf" -s general.name=L
is "through a link: it stays one" m.gguf "$(readlink "$work/link.gguf")"
is "through a link: the file" '"L"' "$(value "$file" general.name)"
expect "nothing to do" 0 "nothing to change" "" edit "$file" -s general.name=L

# ---- dry run ----
fresh
expect "--dry-run" 0 '~ general.name: string "ggld sample" -> string "N"' "" \
    edit -n "$file" -s general.name=N -s x:u8=1 -u general.license \
    --rename general.file_type=ft --rename-tensor output.weight=o
cp "$work/out" "$work/dry"
has "--dry-run: added" "$work/dry" "+ x: u8 1"
has "--dry-run: removed" "$work/dry" '- general.license: string "cc0-1.0"'
has "--dry-run: renamed" "$work/dry" "> general.file_type -> ft"
has "--dry-run: tensor" "$work/dry" "> tensor output.weight -> o"
has "--dry-run: in place" "$work/dry" "in place: it fits"
same "--dry-run: nothing is written" "$file" "$work/s.gguf"
run edit -n --json "$file" -s general.name=N --rename general.file_type=ft
json "--json" '[.dry_run,.written,.in_place.way,(.changes|map([.change,.what,.name,.old_name,.new.value]))]' \
    '[true,null,"fits",[["changed","kv","general.name",null,"N"],["renamed","kv","ft","general.file_type",2]]]'

# ---- in place ----
fresh
inode=$(stat -c %i "$file")
size=$(stat -c %s "$file")
expect "in place" 0 "in place: done" "" edit -i "$file" -s general.name=Other
is "in place: the same file" "$inode $size" "$(stat -c '%i %s' "$file")"
is "in place: the value" '"Other"' "$(value "$file" general.name)"
data_is "in place" "$file"
expect "shorter leaves room" 0 "bytes of room left" "" \
    edit -i "$file" -u general.description -u tokenizer.chat_template
is "shorter leaves room: size" "$size" "$(stat -c %s "$file")"
expect "which is used" 0 "in place: done" "" \
    edit -i "$file" -s general.description:string="as long as before, or so"
is "which is used: size" "$size" "$(stat -c %s "$file")"
data_is "slack" "$file"
expect "--reserve" 0 "written" "" edit "$file" --reserve 1K
is "--reserve: the key" 1024 "$(value "$file" ggld.padding | tr -d '"' | tr -d '\n' | wc -c)"
expect "--reserve takes what is there" 0 "in place: done" "" \
    edit -i "$file" -s general.name="$(printf 'x%.0s' {1..900})"
data_is "--reserve" "$file"
is "the journal is gone" "" "$(find "$work" -name '*.ggld-journal*')"
fresh
long=$(printf 'y%.0s' {1..5000})
run edit -i "$file" -s general.name="$long"
if [ $rc = 0 ]; then
    has "room is made" "$work/out" "bytes inserted before the data"
    data_is "room is made" "$file"
    inserts=yes
else
    has "no room" "$work/err" "no room in place: the new metadata takes"
    same "no room: the file is as it was" "$file" "$work/s.gguf"
    skip "room is made" "the file system of $work inserts no ranges"
    inserts=
fi

# ---- refused ----
fresh
ln "$file" "$work/hard.gguf"
expect "two names" 1 "" "it has 2 names (hard links)" \
    edit -i "$file" -s general.name=x
same "two names: untouched" "$file" "$work/s.gguf"
rm "$work/hard.gguf"
exec 5<"$file"
expect "open elsewhere" 1 "" "it is open or mapped elsewhere" \
    edit -i "$file" -s general.name=x
same "open elsewhere: untouched" "$file" "$work/s.gguf"
expect "--force" 0 "in place: done" "" edit -i --force "$file" -s general.name=x
exec 5<&-
fresh
while IFS='|' read -r name status message arguments; do
    # shellcheck disable=SC2086 # words
    expect "refused: $name" "$status" "" "$message" edit "$file" $arguments
done <<'CASES'
no changes|2|nothing to change|
no such key|1|key 'nowhere' is not there|-u nowhere
rename of nothing|1|key 'nowhere' is not there|--rename nowhere=x
rename onto a key|1|key 'general.type' is there already|--rename general.name=general.type
no such tensor|1|tensor 'nothing' is not there|--rename-tensor nothing=x
a tensor's name twice|1|is that of tensor|--rename-tensor output.weight=output_norm.weight
a new key without a type|1|KEY:TYPE=VALUE is wanted|-s nowhere=1
no value|2|there is no '='|-s nowhere
no type|2|'u128' is no type|-s x:u128=1
too great|2|no u8: '256'|-s x:u8=256
negative|2|no u32: '-1'|-s general.file_type=-1
a fraction|2|no u32: '1.5'|-s general.file_type=1.5
no bool|2|no bool: 'yes'|-s x:bool=yes
past f32|2|no f32: '1e39'|-s x:f32=1e39
no list|2|no JSON list: '1,2'|-s x:u8[]=1,2
an element too great|2|element 1 is no u8|-s x:u8[]=[1,256]
an element of another type|2|element 0 is no string|-s x:string[]=[1]
a list in a list|2|element 0 is no u8|-s x:u8[]=[[1]]
no such file|1|'/nowhere/at/all': No such file|-s general.name=@/nowhere/at/all
shard keys|2|split or merge the model|-s split.no:u16=1
padding|2|ask for it by reserve_bytes|-s ggld.padding:string=x
a file type that is a text|2|key 'general.file_type' is a u32, and can't be of type|-s general.file_type:string=x
alignment|1|would become 64 where it is 32|-s general.alignment:u32=64
a rename without =|2|OLD=NEW is wanted|--rename x
an empty key|1|the key is empty|--rename general.name=
both ways|2|exclude each other|-i -o x -u general.name
recover and more|2|--recover stands alone|--recover -u general.name
CASES
mkfifo "$work/fifo"
expect "a value from a FIFO" 1 "" "file '$work/fifo': is no regular file" \
    edit "$file" -s general.name=@"$work/fifo"
expect "a value from a folder" 1 "" "is no regular file" \
    edit "$file" -s general.name=@"$work"
truncate -s 1073741825 "$work/huge"
expect "a value that is too long" 1 "" \
    "1073741825 bytes, more than 1073741824" edit "$file" \
    -s general.name=@"$work/huge"
rm "$work/fifo" "$work/huge"
while read -r half list; do
    expect "half a pair: $list" 2 "" "'$half' is one half of a surrogate pair" \
        edit "$file" -s "x:string[]=$list"
    printf '%s' "$list" >"$work/list"
    expect "half a pair in a file: $list" 2 "" "'$half' is one half" \
        edit "$file" -s "x:string[]=@$work/list"
done <<'HALVES'
\ud800 ["\ud800"]
\uDBFF ["a","\uDBFFx"]
\udc00 ["\udc00\ud800"]
\uDfff ["\ud83d\ude00\uDfff"]
\ud800 ["\ud800\u0041"]
\ud801 ["\\\ud801\n"]
\ud800 ["\ud800\ud83d\ude00"]
HALVES
same "refused: untouched" "$file" "$work/s.gguf"
pairs='["\ud83d\ude00", "\\ud800", "ud800", "\uD7FF\uE000"]'
expect "whole pairs, and what looks like half a one" 0 "1 change" "" \
    edit "$file" -s "x:string[]=$pairs"
is "whole pairs" "$(jq -nc "$pairs")" "$(value "$file" x)"
fresh
(
    ulimit -f 1000
    "$ggld" edit "$file" -s general.name=x 2>"$work/err"
)
is "no room on the disk" 1 $?
same "no room on the disk: untouched" "$file" "$work/s.gguf"
echo no >"$work/no.gguf"
expect "no model" 1 "" "ggld: $work/no.gguf: " edit "$work/no.gguf" -u x
expect "no file" 1 "" "No such file" edit "$work/nowhere.gguf" -u x
is "nothing is left behind" "" \
    "$(find "$work" -name '*.tmp*' -o -name '*.ggld-journal*')"

# ---- odd files ----
{
    header 2 1
    kv_text general.architecture odd
    tensor strange 99 0 32 2
    tensor plain 0 64 4
} >"$work/odd.gguf"
pad "$work/odd.gguf"
printf 'strange bytes' >>"$work/odd.gguf"
zeros 51 >>"$work/odd.gguf"
printf '0123456789abcdef' >>"$work/odd.gguf"
data=$(data_digest "$work/odd.gguf")
expect "an unknown type" 0 "written" "" edit "$work/odd.gguf" -s x:u8=1
data_is "an unknown type" "$work/odd.gguf"
expect "an unknown type, in place" 0 "done" "" \
    edit -i "$work/odd.gguf" -s general.architecture=new
data_is "an unknown type, in place" "$work/odd.gguf"

# A shard: its set's first one, whose sibling is not there.
shard=$work/set-00001-of-00002.gguf
{
    header 1 4
    kv_text general.name set
    text split.no && le 2 4 && le 0 2
    text split.count && le 2 4 && le 2 2
    text split.tensors.count && le 5 4 && le 2 4
    tensor plain 0 0 4
} >"$shard"
pad "$shard"
printf '0123456789abcdef' >>"$shard"
expect "a shard" 0 "written, 1 change" \
    "note: shard 1 of 2: the set's key-values are these" \
    edit "$shard" -s general.name=other
expect "a shard, in place" 0 "done" "shard 1 of 2" \
    edit -i "$shard" -s general.name=OTHER
expect "a shard's number" 2 "" "split or merge the model" \
    edit "$shard" -s split.no=1

# ---- killed ----
data=$(data_digest "$work/s.gguf")
# killed NAME TEXT CALLS: leaves m.gguf so.
killed() {
    fresh
    "$GGLD_HALFWAY" "$file" general.name "$2" "$3" >/dev/null 2>&1
    is "$1: killed" 137 $?
}
# The journal of s.gguf's metadata takes a header and two images.
meta=$("$ggld" info --json "$work/s.gguf" | jq .metadata_bytes)
journal=$((1 + 2 * ((meta + 4095) / 4096)))
if [ -n "${GGLD_HALFWAY-}" ]; then
    killed "in the journal" Killed 3
    is "in the journal: a rest" "$file.ggld-journal-new" \
        "$(find "$work" -name '*.ggld-journal*')"
    expect "in the journal" 0 "ggld sample" "m.gguf.ggld-journal-new', is harmless" \
        info "$file"
    expect "in the journal: check" 0 "note " "" check "$file"
    expect "in the journal: a dry run" 0 - "" edit -n "$file" -s general.name=K
    for change in "--recover" "-o $work/other.gguf -s general.name=K" \
        "-s general.name=ggld" "-i -s general.name=K"; do
        killed "in the journal" Killed 3
        # shellcheck disable=SC2086 # words
        run edit "$file" $change
        is "in the journal: edit $change" 0 $rc
        cat "$work/out" >>"$work/err"
        has "in the journal: edit $change" "$work/err" \
            "the rest of its journal is removed"
        is "in the journal: edit $change: no rest" "" \
            "$(find "$work" -name '*.ggld-journal*')"
    done
    rm "$work/other.gguf"
    data_is "in the journal" "$file"

    killed "before anything" Killed $journal
    expect "before anything" 0 - "interrupted, before it had changed anything" \
        info "$file"
    expect "before anything: recovered" 0 "its journal is removed" "" \
        edit --recover "$file"
    same "before anything: the old file" "$file" "$work/s.gguf"

    killed "halfway" Killed $((journal + 1))
    run info "$file"
    has "halfway: info" "$work/err" "an edit in place was interrupted, halfway"
    run check "$file"
    is "halfway: check fails" 1 $rc
    has "halfway: check" "$work/out" "an edit in place was interrupted, halfway"
    expect "halfway: a dry run makes nothing" 1 "" "was interrupted, halfway" \
        edit -n "$file" -s general.name=K
    expect "halfway: the next edit" 0 "done" \
        "note: an edit in place had been interrupted halfway; it is finished" \
        edit -i "$file" -s general.license=K
    is "halfway: the first" '"Killed"' "$(value "$file" general.name)"
    is "halfway: the second" '"K"' "$(value "$file" general.license)"
    data_is "halfway" "$file"

    killed "of another file" Killed $((journal + 1))
    cp "$file" "$work/copy" && mv "$work/copy" "$file"
    expect "of another file" 1 "" "which is not applied: it is of another file" \
        edit "$file" -s general.name=K
    expect "of another file: recover" 1 "" "with another inode" \
        edit --recover "$file"
    rm "$file.ggld-journal"
    if [ -n "$inserts" ]; then
        killed "room made" "$long" $((journal + 2))
        run info --json "$file"
        has "room made: info" "$work/err" "an edit in place was interrupted"
        expect "room made: recovered" 0 "it is finished" "" \
            edit --recover "$file"
        is "room made: the value" "\"$long\"" "$(value "$file" general.name)"
        data_is "room made" "$file"
    fi
    expect "all is well again" 0 "nothing to recover" "" edit --recover "$file"
else
    skip "killed" "its calls can't be wrapped here"
fi
is "nothing is left behind, at last" "" \
    "$(find "$work" -name '*.tmp*' -o -name '*.ggld-journal*')"
finish
