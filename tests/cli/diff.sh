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
! key list: (u32[9]) [1, 2, 3, 4, 5, 6, ...] -> (u32[9]) [1, 2, 3, 4, 5, 6, ...], from element 7 on: 8 -> 0
+ key only.b: (string) \"\\x1B[31mred\"
- tensor only.a: i8 4
! tensor shape: 2 x 3 -> 3 x 2
! tensor type: f32 -> f16
! tensor data: data differs from byte 2 on
+ tensor only.b: q8_0 32 x 1" "$(cat "$work/out")"
expect "--values" 1 - "" diff --values "$a" "$b"
has "--values: types" "$work/out" \
    "! tensor type: f32 -> f16; 1 of 2 values differs, by at most 0.5 (element 1), rms 0.353553"
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

# ---- where values part: the first element whose bits differ ----
model_a=$a model_b=$b
a=$work/part-a.gguf b=$work/part-b.gguf
# one FILE TYPE: a key "k", whose value comes from standard input
one() {
    {
        header 0 1
        text k && le "$2" 4
        cat
    } >"$1"
    pad "$1"
}
array() { # ELEMENT-TYPE BYTES VALUE...
    local type=$1 bytes=$2 value
    shift 2
    le "$type" 4 && le $# 8
    for value in "$@"; do le "$value" "$bytes"; done
}
# part NAME TYPE EXPECTED, of $work/x and $work/y
part() {
    one "$a" "$2" <"$work/x"
    one "$b" "$2" <"$work/y"
    expect "$1" 1 - "" diff "$a" "$b"
    is "$1" "! key k: $3" "$(cat "$work/out")"
}
# parts NAME ELEMENT-TYPE BYTES BEFORE A B EXPECTED: element 7 of nine
parts() {
    array "$2" "$3" "$4" "$4" "$4" "$4" "$4" "$4" "$4" "$5" "$4" >"$work/x"
    array "$2" "$3" "$4" "$4" "$4" "$4" "$4" "$4" "$4" "$6" "$4" >"$work/y"
    one "$a" 9 <"$work/x"
    one "$b" 9 <"$work/y"
    expect "$1" 1 ", from element 7 on: $7" "" diff "$a" "$b"
    run diff --json "$a" "$b"
    json "$1: --json" '.differences[0].first_element' '[7]'
}
f32_nan=$((0x7fc00000))
parts "f32: -0" 6 4 0 0 $((0x80000000)) "0 -> -0"
parts "f32: NaN's payload" 6 4 $f32_nan $f32_nan $((f32_nan + 1)) \
    "nan (0x7fc00000) -> nan (0x7fc00001)"
parts "f32: signalling and quiet" 6 4 $f32_nan $((0x7f800001)) \
    $((0x7fc00001)) "nan (0x7f800001) -> nan (0x7fc00001)"
parts "f32: behind NaN" 6 4 $f32_nan 0 $((0x3f800000)) "0 -> 1"
parts "f64: -0" 12 8 0 0 $((1 << 63)) "0 -> -0"
parts "f64: NaN's sign" 12 8 $((0x7ff8 << 48)) $((0x7ff8 << 48)) \
    $((0xfff8 << 48)) "nan (0x7ff8000000000000) -> nan (0xfff8000000000000)"
parts "u64: past i64" 10 8 -1 -1 -2 \
    "18446744073709551615 -> 18446744073709551614"
parts "i64" 11 8 -1 -1 -2 "-1 -> -2"
parts "i8" 1 1 -1 -1 127 "-1 -> 127"
parts "u16" 2 2 1 1 65535 "1 -> 65535"
parts "bool" 7 1 1 0 1 "false -> true"
parts "bool: two that are true" 7 1 1 1 2 "true (0x01) -> true (0x02)"
json "bits, --json" '.differences[0]|[.a_bits,.b_bits]' '["0x01","0x02"]'

array 6 4 0 $f32_nan >"$work/x"
array 6 4 0 $((f32_nan + 1)) >"$work/y"
part "NaN in a short array" 9 "(f32[2]) [0, nan] -> (f32[2]) [0, nan], from element 1 on: nan (0x7fc00000) -> nan (0x7fc00001)"
array 6 4 0 0 >"$work/x"
array 6 4 0 $((0x80000000)) >"$work/y"
part "-0 in a short array" 9 "(f32[2]) [0, 0] -> (f32[2]) [0, -0]"
le $f32_nan 4 >"$work/x"
le $((f32_nan + 1)) 4 >"$work/y"
part "NaN alone" 6 "(f32) nan -> (f32) nan, as bits 0x7fc00000 -> 0x7fc00001"
le 0 4 >"$work/x"
le $((0x80000000)) 4 >"$work/y"
part "-0 alone" 6 "(f32) 0 -> (f32) -0"
array 4 4 1 1 1 1 1 1 1 >"$work/x"
array 4 4 1 1 1 1 1 1 1 1 >"$work/y"
part "a longer one" 9 "(u32[7]) [1, 1, 1, 1, 1, 1, ...] -> (u32[8]) [1, 1, 1, 1, 1, 1, ...], from element 7 on"
for y in x y; do
    le 8 4 && le 2 8 && text "$long" && text "${long}$y"
done >"$work/both"
head -c $(($(wc -c <"$work/both") / 2)) "$work/both" >"$work/x"
tail -c $(($(wc -c <"$work/both") / 2)) "$work/both" >"$work/y"
part "long strings" 9 "(string[2]) [\"${long:0:60}\"..., \"${long:0:60}\"...] -> (string[2]) [\"${long:0:60}\"..., \"${long:0:60}\"...], from element 1 on: \"${long:0:60}\"... -> \"${long:0:60}\"..., from its byte 100 on"
# Arrays in an array, of floats and of nothing.
nested() { # LAST
    le 9 4 && le 3 8
    array 6 4 0 0 && array 4 4 && array 6 4 0 "$1"
}
nested 0 >"$work/x"
nested $((0x80000000)) >"$work/y"
part "nested" 9 "(array[3]) [[0, 0], [], [0, 0]] -> (array[3]) [[0, 0], [], [0, -0]], from element [2][1] on: 0 -> -0"
run diff --json "$a" "$b"
json "nested, --json" '.differences[0].first_element' '[2,1]'
expect "big-endian" 0 - "" upgrade --big-endian "$a" "$work/part-be.gguf"
expect "big-endian beside little-endian" 1 \
    ", from element [2][1] on: 0 -> -0" "" diff "$work/part-be.gguf" "$b"
{ le 9 4 && le 1 8 && array 4 4 0; } >"$work/x"
{ le 9 4 && le 1 8 && array 5 4 0; } >"$work/y"
part "nested: types" 9 "(array[1]) [[0]] -> (array[1]) [[0]], from element 0 on: u32[] -> i32[]"
{ le 9 4 && le 1 8 && array 4 4 0; } >"$work/x"
{ le 9 4 && le 1 8 && array 4 4 0 1; } >"$work/y"
part "nested: lengths" 9 "(array[1]) [[0]] -> (array[1]) [[0, 1]], from element [0][1] on"
a=$model_a b=$model_b

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
