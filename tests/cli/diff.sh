# SPDX-License-Identifier: MIT
# diff: its lines, its JSON and its exit status.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
a=$work/a.gguf
b=$work/b.gguf
long=$(printf 'x%.0s' {1..100})
{
    header 4 4
    kv_text only.a gone
    text number && le 4 4 && le 7 4
    kv_text long "${long}1"
    text list && le 9 4 && le 4 4 && le 9 8
    for i in 1 2 3 4 5 6 7 8 9; do le $i 4; done
    tensor only.a 24 0 4
    tensor shape 0 32 2 3
    tensor type 0 64 2
    tensor data 0 96 4
} >"$a"
pad "$a"
{
    zeros 32
    zeros 32
    le $((0x3f800000)) 4 && le $((0x40000000)) 4 && zeros 24
    le $((0x3f800000)) 4 && le $((0x7fc00000)) 4 && zeros 24
} >>"$a"
{
    header 4 4
    text number && le 10 4 && le 7 8
    kv_text long "${long}2"
    text list && le 9 4 && le 4 4 && le 9 8
    for i in 1 2 3 4 5 6 7 0 9; do le $i 4; done
    kv_text only.b '\e[31mred'
    tensor data 0 0 4
    tensor shape 0 32 3 2
    tensor type 1 64 2
    tensor only.b 8 96 32 1
} >"$b"
pad "$b"
{
    le $((0x40000000)) 4 && zeros 28
    zeros 32
    le $((0x3c00)) 2 && le $((0x4100)) 2 && zeros 28
    zeros 64
} >>"$b"

expect "different" 1 - "" diff "$a" "$b"
is "different: lines" "- key only.a: (string) \"gone\"
! key number: (u32) 7 -> (u64) 7
! key long: (string) \"${long:0:60}\"... -> (string) \"${long:0:60}\"..., from byte 100 on
! key list: (u32[9]) [1, 2, 3, 4, 5, 6, ...] -> (u32[9]) [1, 2, 3, 4, 5, 6, ...], from element 7 on
+ key only.b: (string) \"\\x1B[31mred\"
- tensor only.a: i8 4
! tensor shape: 2 x 3 -> 3 x 2
! tensor type: f32 -> f16
! tensor data: data differs from byte 2 on
+ tensor only.b: q8_0 32 x 1" "$(cat "$work/out")"
expect "--values" 1 - "" diff --values "$a" "$b"
has "--values: types" "$work/out" \
    "! tensor type: f32 -> f16; 1 of 2 values differ, by at most 0.5 (element 1), rms 0.353553"
has "--values: data" "$work/out" \
    "! tensor data: data differs from byte 2 on; 2 of 4 values differ, by at most 1 (element 0), rms 0.57735, 1 beside NaN"
expect "--metadata" 1 "! tensor type" "" diff --metadata "$a" "$b"
is "--metadata: no data" 0 "$(grep -c 'data differs' "$work/out")"

expect "--json" 1 - "" diff --json --values "$a" "$b"
json "--json: kinds" '[.same,(.differences|map(.kind))]' \
    '[false,["kv_removed","kv_changed","kv_changed","kv_changed","kv_added","tensor_removed","tensor_reshaped","tensor_retyped","tensor_data","tensor_added"]]'
json "--json: a key" '.differences[1]' \
    '{"kind":"kv_changed","key":"number","a":{"key":"number","type":"u32","value":7},"b":{"key":"number","type":"u64","value":7}}'
json "--json: a tensor" '.differences[8]' \
    '{"kind":"tensor_data","name":"data","a":{"type":"f32","dims":[4]},"b":{"type":"f32","dims":[4]},"first_byte":2,"values":{"n_elems":4,"n_unequal":2,"n_nan":1,"max_elem":0,"max":1,"rms":0.5773502691896257}}'

expect "the same" 0 "" "" diff "$a" "$a"
expect "the same, --json" 0 - "" diff --json "$a" "$a"
json "the same, --json" '[.same,.differences]' '[true,[]]'
expect "no file" 2 "" "ggld: $work/none: " diff "$a" "$work/none"
expect "no GGUF" 2 "" "ggld: $work/out: " diff "$work/out" "$a"
expect "usage" 2 "" "operand missing" diff "$a"
expect "both" 2 "" "exclude each other" diff --values --metadata "$a" "$b"
"$ggld" diff "$a" "$b" >/dev/full 2>"$work/err"
is "no room for the output" 2 $?
has "no room for the output" "$work/err" "standard output"
finish
