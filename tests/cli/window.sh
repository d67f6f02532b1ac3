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
json "window: sizes" '.size_bytes>=4*.touches and .chunk_bytes==32768' true
json "window: keys" 'keys_unsorted' \
    '["file","tensor","type","touch","lazy","not_lazy_because","size_bytes","chunk_bytes","budget_bytes","touches","open_s","seconds","bytes_per_s","faults","filled","ahead","dropped","read_s","place_s","drop_s","resident_bytes","peak_bytes"]'
lazy=$(jq .lazy "$work/out")

run window --json --count 10 "$sample" "$tensor"
json "window: ten of them" '.touches' 10

# It goes on for minutes, and touches at random again and again.
"$ggld" window --touch random --count 10000000000 "$sample" "$tensor" \
    >"$work/out" 2>"$work/err" &
job=$!
for ((i = 0; i < 600; i++)); do
    # Caught from when it touches on: bit 14 is SIGTERM.
    caught=$(sed -n "s/^SigCgt:.*\(....\)$/\1/p" /proc/$job/status)
    [ $((0x$caught & 0x4000)) != 0 ] && break
    sleep 0.1
done
kill -TERM $job
wait $job
is "window: stopped: exit status" 143 $?
is "window: stopped: what it says" "ggld: $sample: stopped by a signal" \
    "$(cat "$work/err")"
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

# Forbidden by a filter, as containers do: filled at open, which counts.
forbid=$GGLD_WITHOUT_FAULTS
if "$forbid" true; then
    "$forbid" "$ggld" window --json "$sample" "$tensor" >"$work/out" ||
        fail "window: without faults: expected exit 0"
    json "window: without faults, why" '[.lazy,.not_lazy_because[:5],.faults]' \
        '[false,"EPERM",0]'
    json "window: without faults, the fill is in the times" \
        '.read_s>0 and .open_s>=.read_s and .seconds>=.open_s' true
    "$forbid" "$ggld" window "$sample" "$tensor" >"$work/out"
    has "window: without faults, text" "$work/out" "userfaultfd: EPERM"
    "$forbid" "$ggld" window --budget 1M "$sample" "$tensor" 2>"$work/err"
    has "window: without faults, over the budget" "$work/err" \
        "do not fit the budget of 1048576"
    has "window: without faults, what to do" "$work/err" "is what --budget gives"
else
    skip "window: without faults" "no filter of system calls can be set here"
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
