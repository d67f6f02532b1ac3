# SPDX-License-Identifier: MIT
# convert: safetensors to GGUF and back, one file, several, an index; names,
# types and keys by options; what is refused, and what is left behind.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
if ! "$ggld" --help | grep -q '^  convert '; then
    skip "convert" "built without libuv"
    finish
fi
cd "$work" || exit 1

st() { # FILE HEADER: data comes from standard input
    {
        le ${#2} 8
        printf '%s' "$2"
        cat
    } >"$1"
}
floats() { # COUNT: 1.0, and so on upwards, in small steps
    local i
    for ((i = 0; i < $1; i++)); do le $((0x3f800000 + i * 65536)) 4; done
}
entry() { # NAME DTYPE SHAPE BEGIN END
    printf '"%s":{"dtype":"%s","shape":[%s],"data_offsets":[%s,%s]}' "$@"
}

# ---- there ----
{
    floats 64
    floats 32
    le 7 4 && le -7 4
} | st a.safetensors "{\"__metadata__\":{\"general.name\":\"A model\",\"format\":\"pt\"},$(
    entry model.w F32 2,32 0 256),$(entry norm F32 32 256 384),$(
    entry ids I32 2 384 392)}"
no_arch="note: no general.architecture is set, without which llama.cpp loads no model: --arch NAME sets it"
expect "to f16, if nothing is said" 0 "a.gguf: F16, 641 B to 640 B (99.8%)" "" \
    convert --arch a a.safetensors a.gguf
expect "no architecture" 0 - "ggld: a.safetensors: $no_arch" \
    convert a.safetensors none.gguf
expect "an architecture by --set" 0 - "" \
    convert --set general.architecture:string=a a.safetensors none.gguf
run convert a.safetensors none.gguf
expect "none in a GGUF model" 0 - \
    "ggld: none.gguf: note: no general.architecture is set" \
    quantize -t f16 none.gguf x.gguf
rm x.gguf none.gguf
run tensors --json a.gguf
json "shapes and types" '.tensors|map([.name,.type,.dims])' \
    '[["model.w","f16",[32,2]],["norm","f32",[32]],["ids","i32",[2]]]'
run dump a.gguf model.w --rows 0:1
is "values" "1 1.0078125 1.015625" "$(cut -d' ' -f1-3 out)"
run dump a.gguf ids
is "integers stay" "7 -7" "$(cat out)"
expect "what ggml takes" 0 "accepted by ggml: yes" "" check --strict --data a.gguf
run info --json a.gguf
json "keys" '.kv|map([.key,.value])' \
    '[["general.architecture","a"],["general.type","model"],["general.name","A model"],["general.quantization_version",2],["general.file_type",1]]'

expect "--max-size" 0 "a-00002-of-00002.gguf: 2 tensors, " "" \
    convert --arch a --max-size 520 a.safetensors a.gguf
has "--max-size: all of it" out "2 shards: F16, "
expect "--max-size: the set is the model" 0 "" "" diff a.gguf a-00001-of-00002.gguf
expect "a set back to safetensors" 0 - "5 of 8 key-values are not carried over" convert a-00001-of-00002.gguf b.safetensors
rm a-0000?-of-00002.gguf b.safetensors
expect "--max-size to safetensors" 2 "" "--max-size is for GGUF output only" \
    convert --max-size 300 a.gguf b.safetensors

printf '# names\n\nmodel.w\tblk.0.w\r\n  norm   output_norm \nnone x\n' >names.txt
printf 'a template' >template.txt
expect "options" 0 "new/folder/o.gguf: Q8_0" \
    "note: 1 of 3 names to be changed are not there, as 'none'" \
    convert -t q8_0 --arch llama --name Mine --map names.txt \
    --set llama.block_count:u32=1 --set llama.eps:f32=1e-5 \
    --set general.name:string=Ours --set 'tokens:string[]=["a,b","é"]' \
    --set 'scores:f32[]=[0.5,-1]' --set flag:bool=true --set n:i64=-5 \
    --set t:string=@template.txt --set u:string=@@x \
    --keep 'output*=bf16' a.safetensors new/folder/o.gguf
run tensors --json new/folder/o.gguf
json "names and types" '.tensors|map([.name,.type])' \
    '[["blk.0.w","q8_0"],["output_norm","bf16"],["ids","i32"]]'
run kv --json new/folder/o.gguf
json "the user's keys win" '.kv|map([.key,.type,.value])' \
    '[["general.architecture","string","llama"],["general.type","string","model"],["general.name","string","Ours"],["general.quantization_version","u32",2],["general.file_type","u32",7],["llama.block_count","u32",1],["llama.eps","f32",1e-05],["tokens","array",["a,b","é"]],["scores","array",[0.5,-1]],["flag","bool",true],["n","i64",-5],["t","string","a template"],["u","string","@x"]]'

# ---- several files, and an index ----
floats 32 | st m-00001-of-00002.safetensors "{$(entry a F32 32 0 128)}"
floats 16 | st m-00002-of-00002.safetensors "{$(entry b F32 16 0 64)}"
echo '{"metadata":{},"weight_map":{"b":"m-00002-of-00002.safetensors","a":"m-00001-of-00002.safetensors"}}' \
    >m.safetensors.index.json
expect "two shards" 0 - "" convert --arch a m-0000[12]-of-00002.safetensors two.gguf
expect "an index" 0 - "" convert --arch a m.safetensors.index.json index.gguf
same "either is the same" two.gguf index.gguf
expect "one shard of two" 1 "" "is one of 2 shards, and 1 were given" \
    convert m-00001-of-00002.safetensors x.gguf
mv m-00002-of-00002.safetensors away
expect "a shard that is missing" 1 "" \
    "m.safetensors.index.json: 1 of 2 shards are not there: 'm-00002-of-00002.safetensors'" \
    convert m.safetensors.index.json x.gguf
floats 15 | st m-00002-of-00002.safetensors "{$(entry b F32 16 0 64)}"
expect "a shard that is cut" 1 "" \
    "m-00002-of-00002.safetensors: 'm-00002-of-00002.safetensors': tensor 'b': data at" \
    convert m-0000[12]-of-00002.safetensors x.gguf

floats 16 | st m-00002-of-00002.safetensors "{$(entry b F32 16 0 64)}"
index() { # TOTAL
    echo '{"metadata":{"total_size":'"$1"'},"weight_map":{"b":"m-00002-of-00002.safetensors","a":"m-00001-of-00002.safetensors"}}' \
        >m.safetensors.index.json
}
index 192
expect "the sum that an index has" 0 - "" convert --arch a m.safetensors.index.json x.gguf
index 192.0
expect "the sum as a fraction" 0 - "" convert --arch a m.safetensors.index.json x.gguf
index 200
expect "another sum" 0 - \
    "note: the index says that its tensors have 200 bytes (total_size), and they have 192" \
    convert m.safetensors.index.json x.gguf
rm x.gguf
printf 'GGUF\3\0\0\0\0\0\0\0' >one.gguf
printf 'PK\3\4 and more of it' >one.zip
printf 'version https://git-lfs.github.com/spec/v1\n' >one.lfs
echo short >one.short
printf '\377\0\0\0\0\0\0\0{}' >one.cut
while IFS='|' read -r name why; do
    echo '{"weight_map":{"t":"'"$name"'"}}' >one.json
    expect "a shard that is none: $name" 1 "" "ggld: one.json: '$name': header: $why" \
        convert one.json x.gguf
done <<'SHARDS'
one.gguf|this is a GGUF file, not safetensors
one.zip|this is a zip archive, as PyTorch writes, not safetensors
one.lfs|this is a Git LFS pointer: fetch the file itself (git lfs pull)
one.short|a file of 6 bytes is no safetensors file
one.cut|its length of 255 bytes goes past the end of the file (10 bytes)
SHARDS

# ---- safetensors to safetensors ----
{
    floats 32
    zeros 64
} | st mixed.safetensors "{$(entry a F32 32 0 128),$(entry b BF16 32 128 192)}"
expect "types are kept" 0 "kept.safetensors: types kept, " "" \
    convert mixed.safetensors kept.safetensors
same "types are kept: the data" <(tail -c 192 mixed.safetensors) \
    <(tail -c 192 kept.safetensors)
expect "a type for all" 0 "half.safetensors: F16, " "" \
    convert -t f16 mixed.safetensors half.safetensors
is "a type for all: the data" 128 \
    $(($(stat -c %s half.safetensors) - 8 - $(od -An -tu8 -N8 half.safetensors)))
floats 1 | st texts.safetensors "{\"__metadata__\":{\"general.name\":\"A\",\"format\":\"pt\",\"k\":\"v\"},$(entry a F32 1 0 4)}"
expect "metadata that is not carried" 0 - \
    "note: 1 of 3 texts of metadata is not carried over" \
    convert texts.safetensors x.gguf
rm x.gguf

# ---- back ----
data_of() { # FILE: what is behind its header
    tail -c +$((9 + $(od -An -tu8 -N8 "$1"))) "$1"
}
run sample --type f32 --layers 2 --vocab 600 s.gguf
for type in f32 f16 bf16; do
    expect "$type" 0 - \
        "key-values are not carried over: safetensors take texts of general.* keys" \
        convert -t $type s.gguf s.$type.safetensors
    expect "$type back" 0 - "" convert -t $type s.$type.safetensors s2.gguf
    expect "$type again" 0 - - convert -t $type s2.gguf again.safetensors
    same "$type: the same after GGUF and back" <(data_of s.$type.safetensors) \
        <(data_of again.safetensors)
done
run dump --format f32 s.gguf blk.1.ffn_up.weight
mv out expected
run convert -t f32 s.f32.safetensors s2.gguf
run dump --format f32 s2.gguf blk.1.ffn_up.weight
same "values there and back" expected out
run quantize -t q8_0 s.gguf q.gguf
expect "dequantised" 0 - - convert -t f32 q.gguf q.safetensors
run dump --format f32 q.gguf blk.1.ffn_up.weight
mv out expected
run convert -t f32 q.safetensors q2.gguf
run dump --format f32 q2.gguf blk.1.ffn_up.weight
same "values dequantised" expected out

# ---- what is refused ----
echo old >x.gguf
refused() { # NAME ERR ARGUMENTS...
    local name=$1 err=$2
    shift 2
    expect "$name" 2 "" "$err" convert "$@"
}
refused "no output" "operand missing" a.safetensors
refused "standard output" "OUT is '-'" a.safetensors -
refused "onto itself" "IN and OUT are the same file" a.safetensors a.safetensors
refused "onto a shard" "IN and OUT are the same file" m-0000[12]-of-00002.safetensors ./m-00002-of-00002.safetensors
refused "the same twice" "IN is given twice: 'a.safetensors' and './a.safetensors' are one file" a.safetensors s.gguf ./a.safetensors x.gguf
refused "an unknown type" "unknown type 'q9'" -t q9 a.safetensors x.gguf
refused "a type that is not written" "type 'q4_K' can't be written" -t q4_k a.safetensors x.gguf
refused "q8_0 to safetensors" "type 'q8_0' is none of safetensors" -t q8_0 s.gguf x.safetensors
refused "a key to safetensors" "--arch is for GGUF output only" --arch a s.gguf x.safetensors
refused "no name of an architecture" "--arch is empty: a name is wanted" --arch '' a.safetensors x.gguf
refused "a keep without a type" "--keep is 'x': GLOB=TYPE is wanted" --keep x a.safetensors x.gguf
refused "a set without a type" "--set 'a=1': KEY:TYPE=VALUE is wanted" --set a=1 a.safetensors x.gguf
refused "a set of an unknown type" "'u33' is no type" --set a:u33=1 a.safetensors x.gguf
while read -r value; do
    refused "--set $value" "--set '$value': " --set "$value" a.safetensors x.gguf
done <<'VALUES'
a:u8=256
a:u8=-1
a:i8=-129
a:i8=128
a:u64=18446744073709551616
a:i64=-9223372036854775809
a:i32=
a:i32=1x
a:i32=+1
a:i32=-
a:f32=x
a:f64=
a:bool=1
a:u8[]=1
a:u8[]=[1,256]
a:u8[]=[1
a:string[]=[1]
a:bool[]=[1]
a:i32[]=[1.5]
VALUES
expect "a set of no file" 1 "" "file 'none': No such file" \
    convert --set a:string=@none a.safetensors x.gguf
while IFS='|' read -r key why; do
    expect "--set $key" 2 "" "--set '$key': $why" \
        convert --set "$key" a.safetensors x.gguf
done <<'KEYS'
split.count:u16=3|key 'split.count' says which shard of a set the file is
split.no:u16=0|key 'split.no' says which shard of a set the file is
split.tensors.count:i32=3|key 'split.tensors.count' says which shard
ggld.padding:string=x|key 'ggld.padding' is room for edits, and not set by hand
general.architecture:u32=1|key 'general.architecture' is a string, and can't be of type u32
general.file_type:string=x|key 'general.file_type' is a u32, and can't be of type string
general.quantization_version:i32=2|key 'general.quantization_version' is a u32
general.alignment:string=x|key 'general.alignment' is a u32
general.alignment:u32=64|OUT has IN's alignment
KEYS
expect "a key that is not UTF-8" 2 "" "not UTF-8" \
    convert --set $'\xff:u8=1' a.safetensors x.gguf
while IFS='|' read -r what line from to; do
    floats 1 | st named.safetensors "{$(entry "$from" F32 1 0 4)}"
    printf '%b\n' "$line" >map.txt
    expect "a map with $what" 0 - "" \
        convert --arch a --map map.txt named.safetensors named.gguf
    run tensors --json named.gguf
    json "a map with $what: the name" '.tensors[0].name' "\"$to\""
done <<'MAPS'
spaces in the old name|a  b\tc|a  b|c
spaces in the new name|a\tb c|a|b c
spaces around names|  a \t b  |a|b
several tabs|a\t\tb|a|b
spaces alone|a   b|a|b
a name that is longer|a\tbb|a|bb
MAPS
printf 'a b c\n' >bad.txt
expect "a map of three words" 1 "" "bad.txt: line 1: two names are wanted" \
    convert --map bad.txt a.safetensors x.gguf
printf 'norm a\nnorm b\n' >bad.txt
printf 'a\tb\tc\n' >bad.txt
expect "a map of three names" 1 "" \
    "line 1: two names are wanted, OLD NEW; a tab parts names that have spaces" \
    convert --map bad.txt a.safetensors x.gguf
printf 'norm a\nnorm b\n' >bad.txt
expect "a map with a name twice" 1 "" \
    "ggld: bad.txt: line 2: 'norm' has a new name already, by line 1" \
    convert --map bad.txt a.safetensors x.gguf
printf 'norm model.w\n' >bad.txt
expect "a map to a name that is there" 1 "" "'model.w'" \
    convert --map bad.txt a.safetensors x.gguf
expect "a keep that nothing fits" 2 "" "--keep 'x*': no tensor has such a name" \
    convert --keep 'x*=f16' a.safetensors x.gguf
{
    floats 40
    le 0x7fc00000 4
    floats 23
} | st nan.safetensors "{$(entry w F32 2,32 0 256)}"
expect "NaN" 1 "" \
    "ggld: nan.safetensors: tensor 0 'w': element 40 is NaN, and only finite values are let through: --allow-nonfinite lets them into tensors of floats" \
    convert nan.safetensors x.gguf
expect "NaN that is allowed" 0 - "" \
    convert --arch a --allow-nonfinite nan.safetensors nan.gguf
expect "NaN in q8_0" 1 "" "element 40 is NaN, which q8_0 cannot hold" \
    convert --allow-nonfinite -t q8_0 nan.safetensors x.gguf
zeros 10 | st u8.safetensors "{$(entry flags U8 1 0 1),$(entry h.0.mask BOOL 1 1 2),$(
    entry w F32 2 2 10)}"
expect "U8" 1 "" \
    "u8.safetensors: tensor 0 'flags' is of U8, for which GGUF has no type: --skip GLOB leaves tensors of such names out" \
    convert u8.safetensors x.gguf
expect "U8 and BOOL that are left out" 0 - "" \
    convert --arch a --skip flags -x '*.mask' u8.safetensors u8.gguf
run tensors --json u8.gguf
json "what is left" '.tensors|map(.name)' '["w"]'
expect "one of them left out" 1 "" "tensor 1 'h.0.mask' is of BOOL" \
    convert --skip flags u8.safetensors x.gguf
expect "a skip that nothing fits" 2 "" "--skip 'h.1.*': no tensor has such a name" \
    convert --skip 'h.1.*' u8.safetensors x.gguf
expect "all left out" 0 - "" convert --arch a --skip '*' u8.safetensors u8.gguf
long=$(printf 'n%.0s' {1..70})
floats 1 | st long.safetensors "{$(entry "$long" F32 1 0 4)}"
expect "a name that is too long" 1 "" "the name has 70 bytes, more than 63: --map gives it a shorter one" \
    convert long.safetensors x.gguf
expect "no file" 1 "" "ggld: none.safetensors: can't open" convert none.safetensors x.gguf
expect "GGUF and another" 1 "" "only safetensors are one model together" \
    convert s.gguf a.safetensors x.gguf
is "the old file is as it was" old "$(cat x.gguf)"
is "nothing is left behind" "" "$(find . -name '*.tmp*')"
finish
