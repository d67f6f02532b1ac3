# SPDX-License-Identifier: MIT
# check: verdicts, exit status, and numbers that are none.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
sample=$work/sample.gguf
run sample "$sample"
expect "a good file" 0 "container accepted by ggml: yes" "" check "$sample"
expect "a good file, all of it" 0 "data all finite: yes" "" \
    check --strict --data "$sample"
expect "not a file" 1 "" "No such file" check "$work/none"

# A name of 64 bytes: read here, refused by ggml.
long=$work/long.gguf
{
    header 1 0
    tensor "$(printf '%064d' 0)" 0 0 1
} >"$long"
pad "$long"
zeros 32 >>"$long"
expect "a warning" 0 "warning  " "" check "$long"
has "a warning: verdict" "$work/out" "readable: yes"
has "a warning: which byte" "$work/out" "warning  byte 24 "
has "no architecture" "$work/out" "there is no 'general.architecture'"
has "a warning: verdict" "$work/out" "container accepted by ggml: no"
expect "a warning, strictly" 1 "error    " "" check --strict "$long"
has "a warning, strictly: still readable" "$work/out" "readable: yes"
{ header 0 1 && text general.architecture && le 4 4 && le 7 4; } \
    >"$work/arch.gguf"
expect "an architecture that is no text" 0 "warning  byte 52 " "" \
    check "$work/arch.gguf"
has "an architecture that is no text" "$work/out" \
    "kv 0 'general.architecture': the value is of type u32, not string"
has "an architecture that is no text" "$work/out" \
    "container accepted by ggml: yes"
head -c 1000000 "$sample" >"$work/part.gguf"
expect "not whole" 1 "readable: no" "" check --data "$work/part.gguf"
run check --json "$work/part.gguf"
json "not whole: JSON" '[.readable,.accepted_by_ggml,.data_checked,(.findings|length>0)]' \
    '[false,false,false,true]'
json "a finding's keys" '.findings[0]|keys_unsorted' \
    '["severity","code","section","index","offset","shard","message"]'

# missing BYTES EXPECTED: of the sample, cut to so many.
missing() {
    head -c "$1" "$sample" >"$work/cut.gguf"
    run check --json "$work/cut.gguf"
    json "cut at $1: what is missing" \
        '[.missing|.bytes,.tensors,.tensors_whole,.first_index,.first_name]' "$2"
}
size=$(wc -c <"$sample")
"$ggld" tensors --json "$sample" >"$work/tensors"
# first COLUMN INDEX: of the table of tensors
first() { jq ".tensors|sort_by(.file_offset_bytes)[$2]$1" "$work/tensors"; }
n=$(jq '.tensors|length' "$work/tensors")
end=$(($(first .file_offset_bytes -1) + $(first .size_bytes -1)))
missing $((end - 1)) "[1,$n,$((n - 1)),$(first .index -1),$(first .name -1)]"
at=$(first .file_offset_bytes 2)
missing "$at" "[$((end - at)),$n,2,$(first .index 2),$(first .name 2)]"
run check "$work/cut.gguf"
has "cut: text" "$work/out" "missing: $((end - at)) bytes; tensors whole: 2 of $n; the first that is not: $(first .index 2) "
run check --json "$sample"
json "nothing is missing" .missing null

# ---- what bytes and names tell ----
# put FILE OFFSET BYTES: over what is there
put() {
    printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
# fill FILE HOW SIZE: up to that size, with zeros that are written or a hole
fill() {
    case $2 in
    hole) truncate -s "$3" "$1" ;;
    written) zeros $(($3 - $(wc -c <"$1"))) >>"$1" ;;
    esac
}
# zeros_in NAME EXPECTED: of the findings about zeros in holes.gguf
zeros_in() {
    run check --json "$work/holes.gguf"
    json "zeros: $1" '[.findings[]|select(.message|test("bytes are zero"))|
        [.severity,.offset]]' "$2"
}
data=$("$ggld" info --json "$sample" | jq .metadata_bytes)
last=$(first .file_offset_bytes -1)
while read -r name how start until severity; do
    start=$((start)) until=$((until))
    head -c $start "$sample" >"$work/holes.gguf"
    [ $start = "$data" ] || put "$work/holes.gguf" $((start - 1)) '\x55'
    fill "$work/holes.gguf" "$how" $until
    expected="[[\"$severity\",$start]]"
    [ "$severity" != none ] || expected='[]'
    zeros_in "$name ($how)" "$expected"
done <<END
within_a_tensor written size-200001 size warning
within_a_tensor hole size-200001 size warning
of_a_page written size-4096 size warning
of_a_page hole size-4096 size warning
of_less_than_a_page written size-4095 size none
of_less_than_a_page hole size-4095 size none
all_data written data size warning
all_data hole data size warning
the_last_tensor written last size note
the_last_tensor hole last size note
the_last_tensor_in_part written last+1001 size warning
of_a_file_cut_off written size-300001 size-50003 warning
of_a_file_cut_off hole size-300001 size-50003 warning
END
has "zeros: of a file cut off, which tensor" "$work/out" "in tensor "
# bytes N: so many, none of them zero
bytes() { zeros "$1" | tr '\0' U; }
# one_tensor BYTES: holes.gguf with a tensor of so many, without its data
one_tensor() {
    { header 1 1 && kv_text general.architecture x && tensor t 24 0 "$1"; } \
        >"$work/holes.gguf"
    pad "$work/holes.gguf"
    data=$(wc -c <"$work/holes.gguf")
}
for how in written hole; do
    one_tensor 5000001
    bytes 1500001 >>"$work/holes.gguf"
    fill "$work/holes.gguf" $how $((data + 5000001))
    zeros_in "more than is read at once ($how)" \
        "[[\"warning\",$((data + 1500001))]]"
done
# Zeros that were written, in front of a hole.
one_tensor 5000001
bytes 70001 >>"$work/holes.gguf"
fill "$work/holes.gguf" written $((data + 1400000))
fill "$work/holes.gguf" hole $((data + 5000001))
zeros_in "written, and a hole" "[[\"warning\",$((data + 70001))]]"
one_tensor 68719476736
bytes 5001 >>"$work/holes.gguf"
if truncate -s $((data + 68719476736)) "$work/holes.gguf" 2>"$work/err"; then
    zeros_in "of 64 GiB that nobody reads" "[[\"warning\",$((data + 5001))]]"
else
    skip "zeros: of 64 GiB" "$(cat "$work/err")"
fi
{ header 2 0 && tensor t 24 32 9000 && zeros 24; } >"$work/holes.gguf"
at=$(($(wc -c <"$work/holes.gguf") - 24))
zeros 9100 >>"$work/holes.gguf"
run check "$work/holes.gguf"
has "zeros: a record, and seven bytes of the offset before it" "$work/out" \
    "from byte $((at - 7)) in the records on: perhaps a download"
head -c $((size - 200001)) "$sample" >"$work/holes.gguf"
zeros 200001 >>"$work/holes.gguf"
expect "zeros: a hint by itself" 0 "hint: the last 20000" "" \
    check "$work/holes.gguf"
run check --json "$work/holes.gguf"
json "zeros: a hint by itself, JSON" \
    '[(.hints|length),(.hints[0].text|test("^the last .* aside$"))]' '[1,true]'
expect "zeros: info" 0 "tensors" "note: the last 4096 bytes or more are zero" \
    info "$work/holes.gguf"
run info --json "$work/holes.gguf"
json "zeros: info, JSON" .zero_tail_bytes 4096
expect "no zeros: info" 0 "tensors" "" info "$sample"
run info --json "$sample"
json "no zeros: info, JSON" .zero_tail_bytes 0
run check --json "$sample"
json "no hints" .hints '[]'

head -c 5000 "$sample" >"$work/records.gguf"
zeros 1000000 >>"$work/records.gguf"
expect "zeros in the records" 1 "in the records on: perhaps a download" "" \
    check "$work/records.gguf"
(cd "$work" && split -b 700001 sample.gguf && mv xab m.gguf.ab &&
    head -c 1048576 sample.gguf >mebibyte.gguf)
expect "a part by its name" 1 "one part of several: join them" "" \
    check "$work/xaa"
expect "another part by its name" 1 "one part of several: join them" "" \
    check "$work/m.gguf.ab"
expect "a part by its size" 1 "its size is a round number" "" \
    check "$work/mebibyte.gguf"
has "a part: a hint by itself" "$work/out" "hint: its size is a round number"
run check --json "$work/m.gguf.ab"
json "a part: a hint by itself, JSON" '.hints|map(.text)' \
    '["by its name it is one part of several: join them (cat)"]'
expect "a part: info" 0 "incomplete" "whole; by its name it is one part of" \
    info "$work/xaa"
# beside NAME OTHER YES-OR-NO: does a part of that name, with another beside it,
# get a hint?
mkdir "$work/parts"
beside() {
    rm -f "$work/parts/"*
    head -c 700001 "$sample" >"$work/parts/$1"
    [ "$2" = - ] || : >"$work/parts/$2"
    run check "$work/parts/$1"
    is "a part $1, beside it $2" "$3" \
        "$(grep -q '^hint: a file beside it is named as' "$work/out" &&
            echo yes || echo no)"
}
while read -r name other yes; do
    beside "$name" "$other" "$yes"
done <<'END'
model-aa model-ab yes
model-ab model-aa yes
model-aa - no
model-aa model-ac no
model-az model-ba yes
model-ba model-az yes
model-zz model-aaa no
FILEaa FILEab yes
FILEa FILEb no
model-00 model-01 yes
model-09 model-10 yes
model-10 model-09 yes
model.0999 model.1000 yes
model-a1 model-a2 no
END
sed 's/$/\r/' "$sample" >"$work/lines.gguf"
expect "line ends" 1 "follows a 0D: if a transfer turned LF" "" \
    check "$work/lines.gguf"
sed 's/[\x80-\xff]/\xef\xbf\xbd/g' "$sample" >"$work/text.gguf"
# In data: what a larger sample has. No number in front of it has 0A or 0D.
run sample --size 20M "$work/large.gguf"
{ header 1 1 && kv_text general.architecture x && tensor t 24 0 18000000; } \
    >"$work/noise.gguf"
pad "$work/noise.gguf"
tail -c 18000000 "$work/large.gguf" >>"$work/noise.gguf"
rm "$work/large.gguf"
expect "noise" 0 "readable: yes" "" check "$work/noise.gguf"
sed 's/$/\r/' "$work/noise.gguf" >"$work/lines.gguf"
expect "LF to CR LF, in data" 0 "hint: each of the " "" check "$work/lines.gguf"
has "LF to CR LF, in data" "$work/out" "turned LF to CR LF; fetch it"
sed 's/\r$//' "$work/noise.gguf" >"$work/lines.gguf"
expect "CR LF to LF, in data" 1 "hint: none of the " "" check "$work/lines.gguf"
has "CR LF to LF, in data" "$work/out" "turned CR LF to LF; fetch it"
head -c 17000001 "$work/noise.gguf" >"$work/lines.gguf"
run check --json "$work/lines.gguf"
json "cut off, no line ends changed" \
    '[(.findings|map(.section)),(.hints|map(.text[:40]))]' \
    '[["tensor-data","file"],["the file ends inside its data, 1000127 b"]]'

# ---- a file that is cut off ----
head -c 20000 "$sample" >"$work/cut.gguf"
expect "cut in its metadata" 1 "hint: the file ends inside its metadata (22 of" \
    "" check "$work/cut.gguf"
{
    header 40 0
    for i in $(seq 0 39); do tensor "t$i" 24 $((i * 32)) 32; done
} >"$work/many.gguf"
pad "$work/many.gguf"
# listed BYTES-OF-DATA LINES MORE: of the errors
listed() {
    cp "$work/many.gguf" "$work/cut.gguf"
    bytes "$1" >>"$work/cut.gguf"
    run check "$work/cut.gguf"
    is "$1 bytes of 40 tensors: errors listed" "$2" \
        "$(grep -c '^error    byte' "$work/out")"
    is "$1 bytes of 40 tensors: the others" "$3" \
        "$(sed -n 's/^error    and //p' "$work/out")"
    has "$1 bytes of 40 tensors: the hint" "$work/out" \
        "data, $((1280 - $1)) bytes are missing: a download that stopped?"
    run check --json "$work/cut.gguf"
    json "$1 bytes of 40 tensors: JSON" \
        '[.findings[]|select(.section=="tensor-data")]|length' \
        "$((40 - $1 / 32))"
}
listed 960 10 ""
listed 928 10 "1 more tensor ends past the end of the file"
listed 640 10 "10 more tensors end past the end of the file"
expect "a text filter" 1 "EF BF BD stands there" "" check "$work/text.gguf"

# ---- numbers ----
offset_of() {
    "$ggld" tensors --json "$1" | jq ".tensors[]|select(.name==\"$2\").file_offset_bytes"
}
bad=$work/bad.gguf
cp "$sample" "$bad"
at=$(offset_of "$bad" blk.1.attn_q.weight)
put "$bad" $((at + 18 * 5)) '\x00\x7c'  # infinity, in block 5
put "$bad" $((at + 18 * 9)) '\x01\xfe'  # NaN
put "$bad" $((at + 18 * 11 + 4)) '\x00\x7c' # codes may be anything
at=$(offset_of "$bad" output_norm.weight)
put "$bad" $((at + 4 * 3)) '\x00\x00\xc0\x7f'
expect "without --data" 0 "readable: yes" "" check "$bad"
expect "with --data" 1 "data all finite: no" "" check --data "$bad"
has "scales" "$work/out" "'blk.1.attn_q.weight' (q4_0): 2 of 2048 scales are not finite (1 NaN, 1 infinite), the first in block 5 (element 160)"
has "floats" "$work/out" "'output_norm.weight' (f32): 1 of 256 values is not finite (1 NaN, 0 infinite), the first in element 3"
run check --data --json "$bad"
json "JSON" '.data_findings|map([.name,.what,.checked,.nan,.infinite,.first_block])' \
    '[["blk.1.attn_q.weight","scales",2048,1,1,5],["output_norm.weight","values",256,1,0,3]]'

# one TYPE ELEMENTS BYTES OFFSET-OF-A-SCALE NOT-A-NUMBER: a block of each type
one() {
    local file=$work/one.gguf
    { header 1 0 && tensor t "$1" 0 "$2"; } >"$file"
    pad "$file"
    local start
    start=$(wc -c <"$file")
    zeros "$3" >>"$file"
    run check --data "$file"
    is "type $1: zeros are numbers" 0 "$rc"
    put "$file" $((start + $4)) "$5"
    run check --data "$file"
    is "type $1: found at byte $4" 1 "$rc"
    has "type $1" "$work/out" "not finite ("
}
while read -r type elems bytes offset not; do
    one "$type" "$elems" "$bytes" "$offset" "$not"
done <<'END'
0 1 4 0 \x00\x00\x80\xff
1 1 2 0 \x00\xfc
2 32 18 0 \x01\x7c
3 32 20 2 \x00\x7c
6 32 22 0 \x00\x7c
7 32 24 2 \x00\xfe
8 32 34 0 \x00\x7c
10 256 84 82 \x00\x7c
11 256 110 108 \x00\x7c
12 256 144 2 \x00\x7c
13 256 176 0 \x00\x7c
14 256 210 208 \x00\x7c
15 256 292 0 \x00\x00\x80\x7f
16 256 66 0 \x00\x7c
17 256 74 0 \x00\x7c
18 256 98 0 \x00\x7c
19 256 50 0 \x00\x7c
20 32 18 0 \x00\x7c
21 256 110 0 \x00\x7c
22 256 82 0 \x00\x7c
23 256 136 0 \x00\x7c
28 1 8 0 \x00\x00\x00\x00\x00\x00\xf0\x7f
29 256 56 48 \x00\x00\x00\x00\x00\xc0\x00\x70
30 1 2 0 \x80\x7f
34 256 54 52 \x00\x7c
35 256 66 64 \x00\x7c
39 32 17 0 \xff
41 128 18 0 \x00\x7c
42 64 18 0 \x00\x7c
END
finish
