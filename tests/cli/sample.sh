# SPDX-License-Identifier: MIT
# sample and bench: what is made is always the same and always sound, and what
# is measured is there.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
expect "sample" 0 "$work/a.gguf: Q4_0, 21 tensors, 1.1 MiB of data" "" \
    sample "$work/a.gguf"
run sample "$work/b.gguf"
same "the same every time" "$work/a.gguf" "$work/b.gguf"
# The same on every machine: of other bytes this test has to know.
is "and everywhere" "d58b06c4d1fc75a7" \
    "$(sha256sum <"$work/a.gguf" | cut -c1-16)"
cp "$work/a.gguf" "$work/kept.gguf"
expect "a model is there" 1 "" \
    "is there already: give another name, or --force" \
    sample --seed 2 "$work/a.gguf"
same "a model that was there" "$work/a.gguf" "$work/kept.gguf"
rm "$work/kept.gguf"
run sample --force --seed 2 "$work/b.gguf"
is "another seed, another file" 1 \
    "$(cmp -s "$work/a.gguf" "$work/b.gguf" && echo 0 || echo 1)"
is "of the same size" "$(wc -c <"$work/a.gguf")" "$(wc -c <"$work/b.gguf")"

for type in f32 f16 bf16 q8_0 q4_0 q4_1 q5_0 q5_1 q2_k q3_k q4_k q5_k q6_k \
    iq1_s iq1_m iq2_xxs iq2_xs iq2_s iq3_xxs iq3_s iq4_nl iq4_xs tq1_0 tq2_0 \
    mxfp4 nvfp4 q1_0 q2_0; do
    expect "$type" 0 - "" sample -f --type $type "$work/b.gguf"
    expect "$type: sound" 0 "data all finite: yes" "" \
        check --strict --data "$work/b.gguf"
    run info "$work/b.gguf"
    has "$type: its name" "$work/out" "quantisation  "
    "$ggld" dump "$work/b.gguf" blk.0.attn_q.weight >"$work/values"
    is "$type: values, none absurd, not all alike" "65536 ok" "$(
        tr ' ' '\n' <"$work/values" | awk '
            $1 > 1000 || $1 < -1000 || $1 ~ /n/ { bad++ }
            $1 != last { differ++ } { last = $1 }
            END { print NR, (!bad && differ > 1000 ? "ok" : "no") }'
    )"
done
expect "no such type of model" 2 "" \
    "no model is of type 'i8': f32, f16, q4_0, " \
    sample --type i8 "$work/none"

run sample -f --layers 5 --vocab 2000 "$work/b.gguf"
run info --json "$work/b.gguf"
json "--layers and --vocab" \
    '[.tensor_count,(.kv[]|select(.key=="tokenizer.ggml.tokens").count)]' \
    '[48,2000]'
run kv --json "$work/b.gguf" tokenizer.ggml.tokens
json "tokens are there once each" '.value|length == (unique|length)' true
run kv --json "$work/b.gguf" tokenizer.ggml.merges
json "merges too, and are two words each" \
    '.value|[length == (unique|length), all(test("^[^ ]+ [^ ]+$"))]' \
    '[true,true]'

# ---- a bar on a terminal, after a second; and Ctrl-C ----
if command -v script >/dev/null; then
    # In the foreground: else the group has a second signal, which ends at once.
    script -qec "stty cols 70; timeout --foreground -s INT 2.5 '$ggld' \
        sample --size 4G --type q5_1 '$work/long.gguf'" \
        /dev/null >"$work/tty" </dev/null
    has "a bar" "$work/tty" "sample ["
    is "a bar: no line is wider than the terminal" 1 $(($(
        tr '\r' '\n' <"$work/tty" | sed 's/\x1b\[K//' | grep '^sample' |
            awk '{ if (length > n) n = length } END { print n }'
    ) < 70))
    has "stopped" "$work/tty" "stopped by a signal; nothing was written"
    is "stopped: nothing is left" "" "$(find "$work" -name '*long.gguf*')"
else
    skip "on a terminal" "no script(1) here"
fi
expect "no bar elsewhere" 0 - "" sample -f --size 30M "$work/b.gguf"

# ---- the size of a real one ----
expect "like llama3-8b" 0 "Q4_0, 291 tensors, 4.3 GiB of data (a hole)" "" \
    sample --like llama3-8b --sparse "$work/l.gguf"
run info --json "$work/l.gguf"
json "like llama3-8b: tensors, parameters, tokens, merges" \
    '[.tensor_count,.parameters,(.kv[]|select(
        .key=="tokenizer.ggml.tokens" or
        .key=="tokenizer.ggml.merges").count)]' \
    '[291,8030261248,128256,280147]'
json "like llama3-8b: its mix" '.types|map([.type,.tensors])|sort' \
    '[["f32",65],["q4_0",225],["q6_K",1]]'
is "like llama3-8b: takes little room" 1 \
    $(($(du -k "$work/l.gguf" | cut -f1) < 20000))
run kv --json "$work/l.gguf" tokenizer.ggml.merges
json "like llama3-8b: merges are there once each" \
    '.value|length == (unique|length)' true
run kv --json "$work/l.gguf" tokenizer.ggml.tokens
json "like llama3-8b: tokens too" '.value|length == (unique|length)' true
expect "--size" 0 "400.0 GiB of data (a hole)" "" \
    sample --like llama3-8b --sparse -f --size 400G "$work/l.gguf"
run info --json "$work/l.gguf"
json "--size: as many records" '[.tensor_count,.kv_count]' '[291,27]'
rm "$work/l.gguf"
expect "--size too small" 2 "" "this model has at least" \
    sample --like llama3-8b --size 1G "$work/none"
is "nothing was made" no "$([ -e "$work/none" ] && echo yes || echo no)"

# ---- bench ----
expect "bench" 0 "bare walk" "" bench "$work/a.gguf"
for line in "open  " "heap of open  " "q4_0  " "f32  "; do
    has "bench" "$work/out" "$line"
done
has "bench: small tensors" "$work/out" "in cache only: fewer than 1,048,576"
run bench --json "$work/a.gguf"
json "bench: JSON" '[.records,.strings,(.types|map(.type)|sort)]' \
    '[48,1794,["f32","q4_0"]]'
json "bench: small tensors, JSON" \
    '.types|map([.memory_elements,.memory_gelem_per_s,.memset_ratio])|unique' \
    '[[0,null,null]]'
run sample --vocab 5000 "$work/large.gguf"
run bench --json --elems 1200000 "$work/large.gguf"
json "bench: large tensors" '.types|map([.type,.memory_elements])|sort' \
    '[["f32",0],["q4_0",1200000]]'
json "bench: what is measured is more than nothing" \
    '[.open_us,.walk_us,.heap_bytes,.types[].cache_gelem_per_s,
        (.types[]|select(.type=="q4_0").memset_ratio)]|all(. > 0)' \
    true
expect "bench: no elements" 2 "" "--elems is '0'" bench --elems 0 "$work/a.gguf"
finish
