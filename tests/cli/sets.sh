# SPDX-License-Identifier: MIT
# Models in shards: any of them is the model, --single is the one, and what is
# missing is named.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
number() { # KEY TYPE VALUE BYTES
    text "$1"
    le "$2" 4
    le "$3" "$4"
}
# shard FOLDER NUMBER COUNT NAME...: with a tensor of 8 zeros of each name; the
# first has the architecture.
shard() {
    local folder=$1 no=$2 count=$3 path at=0 name
    path=$folder/$(printf 'm-%05d-of-%05d.gguf' $((no + 1)) "$count")
    shift 3
    {
        header $# $((no == 0 ? 4 : 3))
        [ "$no" != 0 ] || kv_text general.architecture llama
        number split.no 2 "$no" 2
        number split.count 2 "$count" 2
        number split.tensors.count 5 4 4
        for name; do
            tensor "$name" 0 $at 8
            at=$((at + 32))
        done
    } >"$path"
    pad "$path"
    zeros $at >>"$path"
}
set=$work/set
mkdir "$set"
shard "$set" 0 3 one two
shard "$set" 1 3 three
shard "$set" 2 3 four
first=$set/m-00001-of-00003.gguf
second=$set/m-00002-of-00003.gguf
third=$set/m-00003-of-00003.gguf

for path in "$first" "$second" "$third"; do
    run info --json "$path"
    json "info of ${path##*/}" '[.tensor_count,(.shards|length),.parameters]' \
        '[4,3,32]'
done
json "info: its shards" '.shards|map(.file)' "[\"$first\",\"$second\",\"$third\"]"
json "info: sums" '[.file_bytes,.metadata_bytes,.data_bytes]|.[0]==.[1]+.[2]' \
    true
json "info: the first's keys" '.kv_count' 4
expect "info: a line for each" 0 "m-00003-of-00003.gguf: metadata" "" \
    info "$second"
run info --json --single "$second"
json "info --single" '[.tensor_count,(.shards|length),.kv_count]' '[1,1,3]'

run tensors --json "$third"
json "tensors" '.tensors|map([.name,.shard,.index,.whole])' \
    '[["one",0,0,true],["two",0,1,true],["three",1,2,true],["four",2,3,true]]'
expect "tensors: the shard's number" 0 "  00003" "" tensors "$first"
run tensors --single "$first"
is "tensors --single: no shard" 0 "$(grep -c shard "$work/out")"
expect "kv" 0 "llama" "" kv "$third" general.architecture
expect "kv --single" 1 "" "no key" kv --single "$third" general.architecture
expect "dump" 0 "0" "" dump "$first" four
expect "dump --single" 1 "" "four" dump --single "$first" four
expect "dump: over a shard" 2 "" "OUT is FILE itself, or a shard of it" \
    dump "$first" four -o "$third"
expect "quantize: over a shard" 2 "" "OUT is a shard of IN" \
    quantize "$first" "$third" --type f16
expect "quantize" 0 - "" quantize "$first" "$work/one.gguf" --type f16
run tensors --json "$work/one.gguf"
json "quantize: all tensors" '.tensors|length' 4
run info --json "$work/one.gguf"
json "quantize: it is no shard" '.kv|map(.key|select(startswith("split.")))' '[]'
expect "bench" 0 "open" - bench --elems 8 "$first"
expect "bench --single" 0 "open" - bench --elems 8 --single "$first"

expect "check" 0 "container accepted by ggml: yes" "" check --data "$second"
run check --json --data "$third"
json "check: nothing to say" '[.findings,.missing,.data_findings]' '[[],null,[]]'

# What is missing, of data and of shards.
cp "$third" "$work/kept"
truncate -s -8 "$third"
expect "info of what is not whole" 0 "3 of 4 tensors whole" \
    "3 of 4 tensors whole" info "$first"
run tensors --json "$first"
json "tensors that are not whole" '.tensors|map(.whole)' \
    '[true,true,true,false]'
expect "check of what is not whole" 1 \
    "'m-00003-of-00003.gguf': tensor 0 'four'" "" check "$first"
has "check: what is missing" "$work/out" \
    "missing: 8 bytes; tensors whole: 3 of 4; the first that is not: 3 \"four\""
expect "check --single of a good one" 0 "readable: yes" "" \
    check --single "$first"
mv "$work/kept" "$third"
mv "$second" "$work/kept"
for command in info kv tensors bench; do
    expect "$command: one is missing" 1 "" \
        "1 of 3 shards missing: 'm-00002-of-00003.gguf'" $command "$first"
done
expect "check: one is missing" 1 "'m-00002-of-00003.gguf': file: the shard is missing" "" \
    check "$third"
run check --json "$third"
json "check: which one" '.findings|map([.severity,.shard])' '[["error",1]]'
expect "info --single of one whose siblings are missing" 0 "four" "" \
    tensors --single "$third"
mv "$work/kept" "$second"
mv "$second" "$set/other.gguf"
expect "another name" 1 "" "named 'other-00002-of-00003.gguf': rename it, or" \
    info "$set/other.gguf"
mv "$set/other.gguf" "$second"

if printf '%s\n' "${commands[@]}" | grep -qx warm; then
    run warm --json "$second"
    json "warm" '[.tensors,.warm_bytes]' '[4,128]'
    run warm --json --single "$second"
    json "warm --single" '[.tensors,.warm_bytes]' '[1,32]'
    run stream --json "$second"
    json "stream" '.read_bytes' 128
    run stream --json --single "$second"
    json "stream --single" '.read_bytes' 32
    run residency --json "$second"
    json "residency" '.size_bytes' 128
    run residency --json --single "$second"
    json "residency --single" '.size_bytes' 32

    # Digests: each shard as a file, under its name.
    expect "hash: a ggsum is of one file" 2 "" \
        "ggsum speaks of one file, and FILE is a shard of a set of 3: --single hashes that one, --save writes a ggsum beside each" \
        hash "$second"
    expect "hash: a digest is of one file" 2 "" \
        "digest speaks of one file, and FILE is a shard of a set of 3: --single hashes that one; sha256sum speaks of all" \
        hash -f digest "$second"
    expect "hash: a uuid of a set" 2 "" "a uuid is of all tensors of one file" \
        hash -f llama -a uuid "$second"
    expect "hash: a uuid of a shard" 0 "uuid " - \
        hash -f llama -a uuid --single "$second"
    run hash --format sha256sum "$second"
    is "hash: sha256sum agrees" 0 "$(cd / && sha256sum --quiet -c "$work/out" \
        >/dev/null 2>&1; echo $?)"
    is "hash: a line for each" 3 "$(wc -l <"$work/out")"
    cp "$work/out" "$work/sums"
    run hash --format sha256sum --single "$second"
    is "hash --single" 1 "$(wc -l <"$work/out")"
    run hash --format llama "$first"
    has "hash: a tensor under its shard" "$work/out" "$third:four"
    cp "$work/out" "$work/llama"
    run hash --json "$first"
    json "hash: JSON" 'map(.file|split("/")|last)' \
        '["m-00001-of-00003.gguf","m-00002-of-00003.gguf","m-00003-of-00003.gguf"]'
    expect "hash: over a shard" 2 "" "OUT is a shard of FILE" \
        hash --format sha256sum "$first" -o "$third"
    expect "hash --save" 0 "" - hash --save "$third"
    is "hash --save: one beside each" 3 "$(ls "$set"/*.ggsum | wc -l)"
    for manifest in '' "$work/sums" "$work/llama"; do
        # shellcheck disable=SC2086 # none or one
        expect "verify with ${manifest##*/}" 0 "m-00003-of-00003.gguf: good" - \
            verify "$second" $manifest
    done
    run verify --json "$second"
    json "verify: JSON is one value" 'map([.file,.good])|length,all(.[];.[1])' \
        $'3\ntrue'
    expect "verify with a ggsum" 2 "" "a ggsum speaks of one file" \
        verify "$second" "$second.ggsum"
    expect "verify --single with it" 0 "good" - \
        verify --single "$second" "$second.ggsum"
    cp "$third" "$work/kept"
    printf x | dd of="$third" bs=1 seek=170 conv=notrunc 2>/dev/null
    for manifest in '' "$work/sums" "$work/llama"; do
        # shellcheck disable=SC2086 # none or one
        expect "verify a bad one with ${manifest##*/}" 1 \
            "m-00003-of-00003.gguf: differs" - verify "$first" $manifest
        has "verify: the others are good" "$work/out" \
            "m-00002-of-00003.gguf: good"
    done
    cp "$work/kept" "$third"
    grep -v 00002 "$work/sums" >"$work/fewer"
    expect "verify: a shard is not in it" 1 - "no digest of" \
        verify "$first" "$work/fewer"
    # One that is missing, or is no model any more, hides none of the others.
    cp "$second" "$work/second"
    for broken in missing cut; do
        rm -f "$second"
        [ $broken = missing ] || head -c 100 "$work/second" >"$second"
        expect "verify: a shard is $broken" 1 "m-00003-of-00003.gguf: good" \
            "m-00002-of-00003.gguf" verify "$first" "$work/sums"
        has "verify: the first, where one is $broken" "$work/out" \
            "m-00001-of-00003.gguf: good"
        run verify --json "$first" "$work/sums"
        is "verify: JSON's status, where one is $broken" 1 "$rc"
        json "verify: JSON, where one is $broken" \
            'map([(.file|split("/")|last),.good])' \
            '[["m-00001-of-00003.gguf",true],["m-00002-of-00003.gguf",false],["m-00003-of-00003.gguf",true]]'
        expect "verify --single, where one is $broken" 0 "good" - \
            verify --single "$first" "$work/sums"
    done
fi
# A descriptor a shard: the soft limit is raised, and the hard one explained.
run sample --layers 8 --vocab 600 "$work/many.gguf"
run split --max-tensors 1 "$work/many.gguf" -o "$work/many"
first=$(find "$work" -name 'many-00001-of-*.gguf')
has "a limit of files: enough shards" <(echo "$first") -of-0007
while IFS='|' read -r limit status why; do
    (
        ulimit "$limit" 48
        "$ggld" diff "$work/many.gguf" "$first" >"$work/out" 2>"$work/err"
    )
    is "a limit of files, ulimit $limit" "$status" $?
    expect_stream "a limit of files, ulimit $limit" "$work/err" "$why"
done <<'LIMITS'
-Sn|0|
-n|2|Too many open files
LIMITS
has "a limit of files: what to do" "$work/err" "raise the limit, as by ulimit -n"
finish
