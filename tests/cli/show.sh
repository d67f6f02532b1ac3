# SPDX-License-Identifier: MIT
# info, kv and tensors: text, JSON, names that would do harm, files that are
# not whole.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
sample=$work/sample.gguf
run sample "$sample"

# ---- text ----
expect "info" 0 "format        GGUF version 3, little-endian, alignment 32" "" \
    info "$sample"
for line in \
    "size          1.2 MiB (1,215,584 bytes): metadata 30.1 KiB, data 1.1 MiB" \
    "architecture  llama" \
    "parameters    2.10 M (2,098,432)" \
    "quantisation  Q4_0, 4.52 bits per weight" \
    "  general.name                            string        \"ggld sample\"" \
    "  llama.attention.layer_norm_rms_epsilon  f32           1e-05" \
    "  tokenizer.ggml.token_type               i32[1024]     [1, 1, 1, 1, ...]" \
    "  q4_0            16      2.10 M     1.1 MiB           1,179,648   99.6%"; do
    has "info" "$work/out" "$line"
done
expect "kv" 0 'llama.block_count (u32) = 2' "" kv "$sample"
expect "kv KEY, a number" 0 "10000" "" kv "$sample" llama.rope.freq_base
expect "kv KEY, none" 1 "" "no key 'nope'" kv "$sample" nope
expect "kv KEY, nearly one" 1 "" \
    "no key 'general.nam' (did you mean 'general.name'?)" \
    kv "$sample" general.nam
run kv "$sample" tokenizer.chat_template
is "kv KEY, a text of lines" "{{ message['content'] }}<|eot_id|>{% endfor %}" \
    "$(sed -n 3p "$work/out")"
run kv "$sample" tokenizer.ggml.merges
is "kv KEY, an array, an element a line" 760 "$(wc -l <"$work/out")"
is "kv KEY, an element" '"Ġ ba"' "$(head -n 1 "$work/out")"
while IFS='|' read -r key bytes; do
    run kv --raw "$sample" "$key"
    is "kv --raw $key: exit status" 0 "$rc"
    printf %b "$bytes" >"$work/bytes"
    same "kv --raw $key" "$work/bytes" "$work/out"
done <<'EOF'
general.name|ggld sample
llama.block_count|2
llama.rope.freq_base|10000
llama.attention.layer_norm_rms_epsilon|1e-05
tokenizer.ggml.add_bos_token|true
EOF
while IFS='|' read -r status message arguments; do
    # shellcheck disable=SC2086 # words
    expect "kv --raw, refused: $arguments" "$status" "" "$message" \
        kv --raw "$sample" $arguments
done <<'EOF'
2|--raw is of one value: a KEY is wanted|
2|--raw and --json exclude each other|general.name --json
1|key 'tokenizer.ggml.merges' is an array of 760|tokenizer.ggml.merges
1|no key 'nope'|nope
EOF
expect "tensors" 0 \
    "blk.0.ffn_down.weight     q4_0      768 x 256            110,592" "" \
    tensors "$sample"
is "tensors: a line each, and a title" 22 "$(wc -l <"$work/out")"

# ---- JSON ----
run info --json "$sample"
json "info: keys" 'keys_unsorted' '["file","version","byte_order","alignment_bytes","shards","file_bytes","metadata_bytes","data_bytes","data_bytes_declared","whole","tensors_whole","zero_tail_bytes","readable","interrupted_edit","interrupted_edit_message","parameters","bits_per_weight","quantization","quantization_declared","kv_count","kv","tensor_count","types"]'
json "info: numbers" '[.version,.file_bytes,.parameters,.kv_count,.tensor_count]' \
    '[3,1215584,2098432,27,21]'
json "info: arrays are shortened" \
    '.kv[]|select(.key=="tokenizer.ggml.token_type")|[.count,.shortened,.value]' \
    '[1024,true,[1,1,1,1]]'
run kv --json "$sample"
json "kv: in full" \
    '.kv[]|select(.key=="tokenizer.ggml.merges")|[.elem_type,.count,(.value|length),.shortened]' \
    '["string",760,760,false]'
has "kv: f32 in its shortest form" "$work/out" '"value": 1e-05'
run kv --json "$sample" tokenizer.ggml.tokens
json "kv KEY: letters beyond ASCII" '.value[0]' '"Ā"'
run tensors --json "$sample"
json "tensors" '.tensors[2]' '{"index":2,"name":"blk.0.ffn_down.weight","type":"q4_0","type_id":2,"supported":true,"dims":[768,256],"elements":196608,"size_bytes":110592,"file_offset_bytes":179296,"shard":0,"whole":true}'

# ---- names and values that would do harm ----
hostile=$work/hostile.gguf
{
    header 1 6
    kv_text 'k\x1b[31m\xff' 'v\x1b]0;x\x07'
    kv_text 'bidi' 'a\xe2\x80\xaeb\xc2\x9bc'
    kv_text 'utf8' 'na\xc3\xafve "\\'
    text big
    le 10 4
    printf '\xff\xff\xff\xff\xff\xff\xff\xff'
    text nan
    le 6 4
    le $((0x7fc00000)) 4
    text nested
    le 9 4
    le 9 4
    le 2 8
    le 4 4 && le 2 8 && le 7 4 && le 8 4
    le 8 4 && le 1 8 && text '\xfe'
    tensor 't\x1b[2J\xe2\x81\xa6' 0 0 1
} >"$hostile"
pad "$hostile"
le $((0x3f800000)) 4 >>"$hostile"
pad "$hostile"
for command in info kv tensors check; do
    run $command "$hostile"
    is "hostile: $command" 0 "$rc"
    is "hostile: $command: no byte that a terminal acts on" 0 \
        "$(LC_ALL=C tr -d '\n\040-\176\303\257' <"$work/out" | wc -c)"
    run $command --json "$hostile"
    is "hostile: $command --json: none either" 0 \
        "$(LC_ALL=C tr -d '\n\040-\176\303\257' <"$work/out" | wc -c)"
done
run kv "$hostile"
has "hostile: key" "$work/out" 'k\x1B[31m\xFF (string) = "v\x1B]0;x\x07"'
has "hostile: direction and C1" "$work/out" '"a\u{202E}b\u{009B}c"'
has "hostile: quotes and backslashes" "$work/out" 'naïve \"\\'
has "u64 in full" "$work/out" 'big (u64) = 18446744073709551615'
has "nan" "$work/out" 'nan (f32) = nan'
has "nested" "$work/out" 'nested (array[2]) = [[7, 8], ["\xFE"]]'
run kv --json "$hostile"
json "hostile: not UTF-8" '.kv[0].key' '{"hex":"6b1b5b33316dff"}'
json "hostile: direction" '.kv[1].value|explode' '[97,8238,98,155,99]'
has "u64 in full, JSON" "$work/out" '"value": 18446744073709551615'
json "nan, JSON" '.kv[4].value' '"NaN"'
json "nested, JSON" '.kv[5].value' '[[7,8],[{"hex":"fe"}]]'
run tensors "$hostile"
has "hostile: tensor" "$work/out" 't\x1B[2J\u{2066}'
run kv "$hostile" utf8
is "one string as it is" 'naïve "\' "$(cat "$work/out")"

# On a terminal a text keeps its lines, and nothing else that acts on it.
{
    header 0 1
    kv_text lines 'one\ntw\x1bo'
} >"$work/lines.gguf"
if command -v script >/dev/null; then
    script -qec "'$ggld' kv '$work/lines.gguf' lines" /dev/null >"$work/tty" \
        </dev/null
    is "a text on a terminal" 'one|tw\x1Bo|' \
        "$(tr -d '\r' <"$work/tty" | tr '\n' '|')"
    script -qec "'$ggld' dump -f raw '$sample' output_norm.weight" /dev/null \
        >"$work/tty" </dev/null
    is "no binary data to a terminal" 2 $?
    has "no binary data to a terminal" "$work/tty" "is not for a terminal"
else
    skip "on a terminal" "no script(1) here"
fi

# ---- files that are not whole ----
part=$work/part.gguf
head -c 600000 "$sample" >"$part"
for command in info kv tensors; do
    expect "part: $command" 0 - \
        "note: data: 555.8 KiB of 1.1 MiB present; 8 of 21 tensors whole" \
        $command "$part"
done
run tensors "$part"
is "part: those that are not whole are marked" 13 \
    "$(grep -c 'not whole$' "$work/out")"
run info --json "$part"
json "part: JSON" '[.whole,.tensors_whole,.data_bytes,.data_bytes_declared]' \
    '[false,8,569184,1184768]'
head -c 1000 "$sample" >"$work/head.gguf"
expect "not even the metadata" 1 "" "ggld: $work/head.gguf: " \
    info "$work/head.gguf"
for command in check "dump $part output.weight" "bench $part" \
    "quantize $part $work/q --type f16"; do
    # shellcheck disable=SC2086 # words
    run ${command% "$part"} "$part"
    [ "$command" = check ] || run $command
    is "part: $command refuses it" 1 "$rc"
done

# ---- real files ----
if [ -d "$GGLD_SHARED/models" ]; then
    while read -r file status; do
        run info "$GGLD_SHARED/models/$file"
        is "info $file" "$status" "$rc"
    done <<'END'
stories260k-f32.v1.gguf 0
llama2-tiny-random-f16.gguf 0
taesd-decoder.gguf 0
llama-20tensors-f32.gguf 0
dupkey-align64.v3.gguf 0
dupkey-align64.v2.gguf 0
big-endian.v3.gguf 0
align64-strings.gguf 0
one-element-align64.gguf 0
vocab-llama.v1.gguf 0
vocab-falcon.v2.gguf 0
vocab-llama-spm.gguf 0
utf8-mangled.gguf 1
no-data.gguf 0
fugg-prerelease.gguf 1
ggjt.bin 1
ggmf.bin 1
whisper-ggml.bin 1
lfs-pointer.gguf 1
END
    run info "$GGLD_SHARED/models/no-data.gguf"
    has "a file without its data is noted" "$work/err" "0 of 1 tensor whole"
else
    skip "real files" "no folder $GGLD_SHARED/models"
fi
finish
