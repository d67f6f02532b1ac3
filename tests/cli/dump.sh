# SPDX-License-Identifier: MIT
# dump: the formats against each other, rows, output files.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
sample=$work/sample.gguf
run sample --type f32 "$sample"
size() { wc -c <"$1"; }

# offset_of FILE TENSOR: where its bytes are
offset_of() {
    "$ggld" tensors --json "$1" |
        jq ".tensors[]|select(.name==\"$2\").file_offset_bytes"
}

name=blk.0.attn_k.weight # 256 x 128
tail -c +$(($(offset_of "$sample" $name) + 1)) "$sample" |
    head -c 131072 >"$work/bytes"
run dump "$sample" $name --format raw
same "raw is what the file has" "$work/bytes" "$work/out"
run dump "$sample" $name --format f32
same "f32 of an f32 tensor is raw" "$work/bytes" "$work/out"
run dump "$sample" $name --format npy
tail -c 131072 "$work/out" >"$work/tail"
same "npy ends with the values" "$work/bytes" "$work/tail"
is "npy: magic, version 1.0, length" '93 4e 55 4d 50 59 01 00 76 00' \
    "$(head -c 10 "$work/out" | od -An -tx1 | xargs)"
is "npy: header, slowest dimension first" \
    "{'descr': '<f4', 'fortran_order': False, 'shape': (128, 256), }" \
    "$(head -c 128 "$work/out" | tail -c +11 | sed 's/ *$//')"
is "npy: values begin at a multiple of 64" 0 $((($(size "$work/out") - 131072) % 64))
run dump "$sample" $name
is "text: a row a line" "128 256" \
    "$(awk 'END { print NR, NF }' "$work/out")"
is "text: the same values" 0 "$(
    tr ' ' '\n' <"$work/out" >"$work/column"
    od -An -v -tf4 -w4 "$work/bytes" | tr -d ' ' |
        paste -d' ' "$work/column" - |
        awk '{ d = $1 - $2; if (d > 1e-7 || d < -1e-7) n++ } END { print n + 0 }'
)"

# ---- rows ----
run dump "$sample" $name --rows 3:5 --format raw
head -c 5120 "$work/bytes" | tail -c 2048 >"$work/tail"
same "rows 3:5" "$work/tail" "$work/out"
run dump "$sample" $name --rows 127: --format raw
is "rows 127:" 1024 "$(size "$work/out")"
run dump "$sample" $name --rows :2 --format npy
has "rows :2, npy: a matrix of them" "$work/out" "'shape': (2, 256), }"
run dump "$sample" $name --rows 5:5
is "rows 5:5: none" 0:0 "$rc:$(size "$work/out")"
expect "rows past the end" 1 "" \
    "rows 0:129 of '$name' are not within 0:128 (256 elements each)" \
    dump "$sample" $name --rows 0:129
expect "rows backwards" 2 "" "rows '5:3' end before they begin" \
    dump "$sample" $name --rows 5:3
expect "rows from behind the end on" 1 "" "rows 200:128 of '$name'" \
    dump "$sample" $name --rows 200:
expect "no rows" 2 "" "rows '3' are not of the form A:B" \
    dump "$sample" $name --rows 3
expect "no such tensor" 1 "" "no tensor 'nope'" dump "$sample" nope

expect "nearly a tensor" 1 "" "(did you mean 'blk.0.attn_k.weight'?)" \
    dump "$sample" blk.0.attn_k

# ---- other types ----
for type in f16 bf16 q8_0 q4_0; do
    run quantize "$sample" "$work/$type.gguf" --type $type
    run dump "$work/$type.gguf" $name --format f32
    cp "$work/out" "$work/f32"
    is "$type: f32" 131072 "$(size "$work/f32")"
    run dump "$work/$type.gguf" $name --format f16
    is "$type: f16" 65536 "$(size "$work/out")"
    if [ $type = f16 ]; then
        cp "$work/out" "$work/f16"
        run dump "$work/$type.gguf" $name --format raw
        same "f16 of an f16 tensor is raw" "$work/f16" "$work/out"
        run dump "$work/$type.gguf" $name --format npy
        has "npy of an f16 tensor" "$work/out" "'descr': '<f2'"
    else
        run dump "$work/$type.gguf" $name --format npy
        has "npy of a $type tensor" "$work/out" "'descr': '<f4'"
        tail -c 131072 "$work/out" >"$work/tail"
        same "$type: npy and f32" "$work/f32" "$work/tail"
    fi
    run dump "$work/$type.gguf" $name --rows 7:8 --format f32
    head -c 8192 "$work/f32" | tail -c 1024 >"$work/tail"
    same "$type: a row is that of the whole" "$work/tail" "$work/out"
done

ints=$work/ints.gguf
{
    header 4 0
    tensor i64 27 0 2
    tensor f64 28 32 2
    tensor i8 24 64 3
    tensor scalar 0 96
} >"$ints"
pad "$ints"
{
    printf '\xff\xff\xff\xff\xff\xff\xff\x7f'
    printf '\xff\xff\xff\xff\xff\xff\xff\xff'
    zeros 16
    le $((0x3fb999999999999a)) 8
    le $((0x7ff0000000000000)) 8
    zeros 16
    printf '\x80\x7f\x00'
    zeros 29
    le $((0xc0200000)) 4
} >>"$ints"
pad "$ints"
expect "i64 exactly" 0 "9223372036854775807 -1" "" dump "$ints" i64
expect "f64 exactly" 0 "0.1 inf" "" dump "$ints" f64
expect "i8" 0 "-128 127 0" "" dump "$ints" i8
expect "no dimensions" 0 "-2.5" "" dump "$ints" scalar
run dump "$ints" i64 --format npy
has "npy of integers" "$work/out" "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }"
run dump "$ints" scalar --format npy
has "npy of a scalar" "$work/out" "'shape': (), }"
run dump "$ints" i8 --format npy
has "npy of single bytes" "$work/out" "'descr': '|i1'"

# ---- the ends of what numbers hold ----
# Floats: 70000, 65504, inf, the least subnormal, another, 1e-40. Doubles: 1e39,
# inf, 2.5, the least subnormal.
ends=$work/ends.gguf
{
    header 2 0
    tensor floats 0 0 6
    tensor doubles 28 32 4
} >"$ends"
pad "$ends"
{
    for bits in 0x4788b800 0x477fe000 0x7f800000 1 3 0x116c2; do le $((bits)) 4; done
    zeros 8
    le $((0x48078287f49c4a1d)) 8
    le $((0x7ff0000000000000)) 8
    le $((0x4004000000000000)) 8
    le 1 8
} >>"$ends"
pad "$ends"
expect "floats, no more digits than are needed" 0 \
    "70000 65504 inf 1e-45 4e-45 1e-40" "" dump "$ends" floats
expect "doubles, no more digits than are needed" 0 "1e+39 inf 2.5 5e-324" "" \
    dump "$ends" doubles
expect "f16: what became infinite is told" 0 - \
    "ggld: $ends: note: 1 finite value of 'floats' is too large for f16: infinite" \
    dump "$ends" floats --format f16 -o "$work/o"
expect "f16: of doubles" 0 - "1 finite value of 'doubles' is" \
    dump "$ends" doubles --format f16 -o "$work/o"
expect "f32: of doubles" 0 - "1 finite value of 'doubles' is too large for f32" \
    dump "$ends" doubles --format f32 -o "$work/o"
expect "f32: of floats nothing is lost" 0 - "" \
    dump "$ends" floats --format f32 -o "$work/o"
expect "f16: rows" 0 - "" dump "$sample" $name --format f16 -o "$work/o"

# ---- output files ----
expect "-o" 0 "" "" dump "$sample" $name --format raw -o "$work/o"
same "-o: the same bytes" "$work/bytes" "$work/o"
echo old >"$work/old"
ln -s old "$work/link"
chmod 640 "$work/old"
run dump "$sample" $name --format raw -o "$work/link"
same "-o: a link's target is replaced" "$work/bytes" "$work/old"
is "-o: and keeps its mode" 640 "$(stat -c %a "$work/old")"
echo old >"$work/old"
(
    ulimit -f 8
    "$ggld" dump "$sample" $name --format raw -o "$work/old" 2>"$work/err"
)
is "-o: no room" 1 $?
has "-o: no room" "$work/err" "ggld: $work/old: cannot write: File too large"
is "-o: the old file is as it was" old "$(cat "$work/old")"
expect "-o: the model itself" 2 "" "OUT is FILE itself" \
    dump "$sample" $name -o "$sample"
expect "-o: folders that are not there" 0 "" "" \
    dump "$sample" $name --format raw -o "$work/made/for/o"
same "-o: folders are made" "$work/bytes" "$work/made/for/o"
(
    cd "$work" && ulimit -f 8
    "$ggld" dump "$sample" $name -f raw -o some/more/o 2>"$work/err"
)
is "-o: no room in a folder that is new" 1 $?
is "-o: and the folders are gone again" no "$([ -e "$work/some" ] && echo yes || echo no)"
expect "-o: below a file" 1 "" "old/o: cannot create: Not a directory" \
    dump "$sample" $name -o "$work/old/o"
(cd "$work" && "$ggld" dump "$sample" $name -f raw -o - >"$work/out")
same "-o -: standard output" "$work/bytes" "$work/out"
is "-o -: makes no file" no "$([ -e "$work/-" ] && echo yes || echo no)"
run dump "$sample" $name -f raw -o /dev/stdout
same "-o: /dev/stdout" "$work/bytes" "$work/out"
is "no temporary file is left" "" "$(find "$work" -name "*.tmp.*")"
finish
