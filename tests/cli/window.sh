# SPDX-License-Identifier: MIT
# window: what touching a tensor took, in text and JSON, and what is refused.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
if ! "$ggld" --help | grep -q '^  window '; then
    skip "window" "built without libuv"
    finish
fi
sample=$work/sample.gguf
tensor=token_embd.weight
run sample --layers 1 --vocab 32000 "$sample"
n=$("$ggld" tensors --json "$sample" |
    jq ".tensors[]|select(.name==\"$tensor\").elements")

expect "window" 0 "resident " "" window "$sample" "$tensor"
has "window: all of it" "$work/out" "in order "
run window --json "$sample" "$tensor"
json "window: JSON" '[.tensor,.touch,.touches,.dropped]' \
    "[\"$tensor\",\"order\",$n,0]"
json "window: all is resident" '.resident_bytes==.size_bytes' true
json "window: sizes" '.size_bytes>=4*.touches and .chunk_bytes==65536' true
json "window: keys" 'keys_unsorted' \
    '["file","tensor","type","touch","lazy","size_bytes","chunk_bytes","budget_bytes","touches","seconds","bytes_per_s","faults","filled","ahead","dropped","read_s","place_s","drop_s","resident_bytes","peak_bytes"]'
lazy=$(jq .lazy "$work/out")

run window --json --count 10 "$sample" "$tensor"
json "window: ten of them" '.touches' 10
if [ "$lazy" = true ]; then
    run window --json --touch random --count 3000 --budget 1M "$sample" "$tensor"
    json "window: at random" '[.touch,.touches,.budget_bytes]' \
        '["random",3000,1048576]'
    json "window: within the budget" \
        '.peak_bytes<=1048576 and .dropped>0 and .faults>0 and .filled>4' true
    run window --json --budget 1M --chunk 128K "$sample" "$tensor"
    json "window: in order within the budget" \
        '.chunk_bytes==131072 and .peak_bytes<=1048576 and .dropped>0' true
    expect "window: at random, text" 0 "each" "" \
        window --touch random --count 50 "$sample" "$tensor"
    expect "window: a budget of a chunk" 1 "" "has room for 1 chunks" \
        window --budget 64K --chunk 64K "$sample" "$tensor"
else
    skip "window: within budgets" "this system offers no userfaultfd"
fi

expect "window: no tensor" 1 "" "did you mean '$tensor'" \
    window "$sample" token_embd.weigh
expect "window: no file" 1 "" "No such file" window "$work/none" "$tensor"
expect "window: no way to touch" 2 "" "--touch is 'both'" \
    window --touch both "$sample" "$tensor"
expect "window: no budget" 2 "" "--budget is 'much'" \
    window --budget much "$sample" "$tensor"
expect "window: no chunk" 2 "" "--chunk is '0'" \
    window --chunk 0 "$sample" "$tensor"
expect "window: no count" 2 "" "--count is '0'" \
    window --count 0 "$sample" "$tensor"
expect "window: one operand" 2 "" "operand missing" window "$sample"
finish
