# SPDX-License-Identifier: MIT
# warm, residency, stream: what they say, in which order they read, and what
# they refuse.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
if ! "$ggld" --help | grep -q '^  warm '; then
    skip "jobs" "built without libuv"
    finish
fi
sample=$work/sample.gguf
run sample --layers 2 "$sample"
bytes=$("$ggld" tensors --json "$sample" | jq '[.tensors[].size_bytes]|add')
n=$("$ggld" tensors --json "$sample" | jq '.tensors|length')

# ---- warm ----
expect "warm" 0 "in $n tensors are warm" "" warm "$sample"
run warm --json "$sample"
json "warm: JSON" '[.tensors,.size_bytes,.warm_bytes]' "[$n,$bytes,$bytes]"
json "warm: keys" 'keys_unsorted' \
    '["file","tensors","size_bytes","warm_bytes","seconds","bytes_per_s"]'
for io in auto map pread; do
    expect "warm --io $io" 0 "are warm" "" warm --io $io "$sample"
done
expect "warm --io direct" 2 "" "--io is 'direct': auto, map, pread or uring" warm --io direct "$sample"
expect "warm --io none" 2 "" "--io is 'none'" warm --io none "$sample"
run warm --json --tensors 'blk.0.*,output_norm.weight' "$sample"
json "warm: patterns" '.tensors' "$("$ggld" tensors --json "$sample" |
    jq '[.tensors[].name|select(startswith("blk.0.") or .=="output_norm.weight")]|length')"
expect "warm: a name that is not there" 1 "" \
    "no tensor is called 'blk.99.*'" warm --tensors 'blk.0.*,blk.99.*' "$sample"
run warm --json --budget 8K "$sample"
json "warm: budget" '.warm_bytes<=8192 and .warm_bytes>7000' true
expect "warm: a small budget" 1 "" "budget of 100" warm --budget 100 "$sample"
run warm --json --tensors 'blk.0.*' --tensors output_norm.weight "$sample"
json "warm: patterns given twice" '.tensors' "$("$ggld" tensors --json "$sample" |
    jq '[.tensors[].name|select(startswith("blk.0.") or .=="output_norm.weight")]|length')"
expect "warm: a pattern that is empty" 1 "" "no tensor is called ''" \
    warm --tensors '' "$sample"
expect "warm: one of two patterns that is empty" 1 "" "no tensor is called ''" \
    warm --tensors 'blk.0.*' --tensors= "$sample"
expect "warm: no budget" 2 "" "--budget is 'x'" warm --budget x "$sample"
printf '%s\r\n' '# last first' '' output_norm.weight 'blk.1.*' >"$work/order"
run warm --json --order "$work/order" --tensors '*norm*' "$sample"
json "warm: an order of some" '.tensors' "$("$ggld" tensors --json "$sample" |
    jq '[.tensors[].name|select(contains("norm"))]|length')"
echo 'blk.7.*' >"$work/order"
expect "warm: an order of what is not there" 1 "" "'blk.7.*'" \
    warm --order "$work/order" "$sample"
printf 'blk.0.*\noutput\0.weight\n' >"$work/order"
expect "warm: an order with a NUL" 1 "" \
    "line 2 has a NUL: a name or a pattern is wanted" \
    warm --order "$work/order" "$sample"
printf 'blk.0.*\rx\n' >"$work/order"
expect "warm: an order with a return in a line" 1 "" \
    "'blk.0.*\\x0Dx': no tensor of the model is called that" \
    warm --order "$work/order" "$sample"
expect "warm: no order" 1 "" "cannot open" warm --order "$work/none" "$sample"

# In the order given: with a budget of its size just that tensor is warm.
if command -v python3 >/dev/null; then
    size=$("$ggld" tensors --json "$sample" |
        jq '.tensors[]|select(.name=="blk.1.ffn_down.weight").size_bytes')
    echo blk.1.ffn_down.weight >"$work/order"
    python3 -c 'import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
os.fsync(fd)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)' "$sample"
    run warm --order "$work/order" --budget "$size" "$sample"
    run residency --json "$sample"
    json "warm: order" \
        ".tensors[]|select(.name==\"blk.1.ffn_down.weight\").resident_bytes" \
        "$size"
else
    skip "warm: order" "no python3 to empty the page cache with"
fi

# ---- residency ----
run warm "$sample"
expect "residency" 0 "blk.1 " "" residency "$sample"
has "residency: all is there" "$work/out" \
    "[################################]  100 %"
run residency --json "$sample"
json "residency: JSON" '[.size_bytes,.resident_bytes]' "[$bytes,$bytes]"
json "residency: layers" '[.layers[].name]|sort' \
    '["blk.0","blk.1","output","output_norm","token_embd"]'
json "residency: sums" \
    '[([.layers[].size_bytes]|add),([.tensors[].resident_bytes]|add)]' \
    "[$bytes,$bytes]"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    chmod -R a+rX "$work"
    if setpriv --reuid 65534 --regid 65534 --clear-groups \
        "$ggld" residency --json "$sample" >"$work/out" 2>"$work/err"; then
        json "residency: somebody else's file" \
            '[.resident_bytes,.layers[0].resident_bytes]' '[null,null]'
    else
        skip "residency: somebody else's file" "$(cat "$work/err")"
    fi
else
    skip "residency: somebody else's file" "not root, or no setpriv"
fi

# A model of names alone, each of a tensor of 1024 floats.
of_names() { # FILE NAME...
    local file=$1 at=0 name
    shift
    {
        header $# 1
        kv_text general.architecture t5
        for name; do
            tensor "$name" 0 $at 1024
            at=$((at + 4096))
        done
    } >"$file"
    pad "$file"
    zeros $at >>"$file"
}
of_names "$work/names.gguf" token_embd.weight enc.blk.0.attn_q.weight \
    enc.blk.0.ffn.weight enc.blk.1.attn_q.weight dec.blk.0.attn_q.weight \
    dec.blk.10.attn_q.weight v.blk.3.ffn.weight v.patch_embd.weight mm.0.weight \
    mm.2.bias enc.output_norm.weight 7.weight blk.1x.weight
run residency --json "$work/names.gguf"
json "residency: a row for each layer of each part" '[.layers[]|[.name,.tensors]]' \
    '[["token_embd",1],["enc.blk.0",2],["enc.blk.1",1],["dec.blk.0",1],["dec.blk.10",1],["v.blk.3",1],["v",1],["mm.0",1],["mm.2",1],["enc",1],["7",1],["blk",1]]'

long=$(printf 'x%.0s' {1..60})
of_names "$work/long.gguf" "$long.blk.0.weight" "$long.blk.1.weight" blk.0.weight
run residency "$work/long.gguf"
is "residency: no row is wider than 80 columns" true \
    "$([ "$(widest <"$work/out")" -le 80 ] && echo true || widest <"$work/out")"
has "residency: a name that is cut" "$work/out" "xxx...  ["
if command -v script >/dev/null; then
    for columns in 46 60 80 132; do
        script -qec "stty cols $columns; '$ggld' residency '$work/long.gguf'" \
            /dev/null </dev/null >"$work/out" 2>&1
        is "residency: no row is wider than $columns columns" true \
            "$([ "$(widest <"$work/out")" -le $columns ] && echo true || widest <"$work/out")"
        script -qec "COLUMNS=$columns '$ggld' residency '$work/long.gguf'" \
            /dev/null </dev/null >"$work/out" 2>&1
        is "residency: no row is wider than COLUMNS=$columns" true \
            "$([ "$(widest <"$work/out")" -le $columns ] && echo true || widest <"$work/out")"
    done
else
    skip "residency: rows as wide as the terminal" "no script(1)"
fi

# ---- stream ----
expect "stream" 0 "page cache" "" stream --budget 1M "$sample"
run warm "$sample"
run stream --json "$sample"
json "stream: what was warm before" \
    '.page_cache_before_bytes == .peak_page_cache_bytes' true
# --io pread does without a map.
if command -v strace >/dev/null && [ -z "${GGLD_SANITIZED-}" ]; then
    for command in warm stream; do
        for io in map pread; do
            strace -f -y -e trace=mmap -o "$work/maps" \
                "$ggld" $command --io $io "$sample" >/dev/null 2>&1
            [ -s "$work/maps" ] ||
                skip "$command --io $io: maps" "strace does not work here"
            # What looks at the page cache maps a tensor for a moment.
            size=$(stat -c %s "$sample")
            is "$command --io $io: the file is mapped" \
                "$([ $io = map ] && echo yes || echo no)" \
                "$(grep -q "NULL, $size, PROT_READ.*$sample" "$work/maps" &&
                    echo yes || echo no)"
        done
    done
else
    skip "stream --io pread: no map" "no strace, or a sanitizer"
fi
for io in auto map pread; do
    for f32 in '' --f32; do
        # shellcheck disable=SC2086 # an option or none
        run stream $f32 --io $io --budget 1M --json "$sample"
        json "stream --io $io $f32" '[.budget_bytes,.read_bytes]' \
            "[1048576,$bytes]"
    done
done
json "stream: keys" 'keys_unsorted' \
    '["file","budget_bytes","read_bytes","seconds","bytes_per_s","peak_rss_anon_bytes","peak_page_cache_bytes","page_cache_before_bytes"]'
expect "stream: a small budget" 1 "" "budget of 1024" stream --budget 1K "$sample"
expect "stream: no file" 1 "" "No such file" stream "$work/none"
head -c 100000 "$sample" >"$work/part.gguf"
expect "stream: a part" 1 "" "past the end of the file" stream "$work/part.gguf"
finish
