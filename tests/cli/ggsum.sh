# SPDX-License-Identifier: MIT
# ggsums of all kinds against a program that knows them from their page only.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
if ! "$ggld" --help | grep -q '^  hash '; then
    skip "ggsum" "built without libuv"
    finish
fi
if ! python3 -c 'import ctypes; ctypes.CDLL("libxxhash.so.0")' 2>/dev/null; then
    skip "ggsum" "no python3 here, or no libxxhash for it"
    finish
fi
check() { # MODEL: the ggsum is $work/m
    "$ggld" tensors --json "$1" >"$work/tensors.json"
    python3 "$GGLD_SOURCE/tests/cli/ggsum.py" "$1" "$work/m" \
        "$work/tensors.json" >"$work/root" 2>&1
}
run sample --layers 1 "$work/small.gguf"
run sample --size 3M "$work/large.gguf"
{
    header 3 1
    kv_text general.architecture llama
    tensor 'a b:%\xc3\xa4\n' 24 0 5
    tensor '' 24 32
    tensor none 0 64 0 3
} >"$work/odd.gguf"
pad "$work/odd.gguf"
printf 'abcde%27sz' '' >>"$work/odd.gguf"
zeros 31 >>"$work/odd.gguf"
{ header 0 1; kv_text general.architecture llama; } >"$work/empty.gguf"

try() { # MODEL ALGOS CHUNKS
    local whole=--whole name="$1, $2, chunks $3" said
    [ "$2" = uuid ] && whole=--uncached
    run hash -a "$2" --chunks "$3" $whole -o "$work/m" "$work/$1.gguf"
    is "$name" 0 "$rc"
    check "$work/$1.gguf"
    is "$name: by the page" 0 $?
    said=$(sed -n 's/^root sha256://p' "$work/m")
    is "$name: its root" "$said" "$(cat "$work/root")"
}
all_algos=(sha256 sha1 xxh64 xxh3 uuid sha256,sha1,xxh64,xxh3,uuid xxh64,xxh3
    sha1,uuid)
all_chunks=(none xxh3 xxh64 sha1 sha256 xxh3:4K sha256:4K sha1:64K)
# A tensor's digests and the chunks' know nothing of each other.
for algos in "${all_algos[@]}"; do
    for chunks in none xxh3 sha256:4K; do
        try odd $algos $chunks
    done
done
for chunks in "${all_chunks[@]}"; do
    try small sha256,xxh3,uuid $chunks
done
for model in large empty; do
    try $model sha1 xxh3:4K # more chunks than a node has, and none
done
is "no data: the metadata is all there is" \
    "size $(wc -c <"$work/empty.gguf") metadata $(wc -c <"$work/empty.gguf")" \
    "$(sed -n 's/^\(size [0-9]*\).*/\1/p; s/^\(metadata [0-9]*\).*/\1/p' \
        "$work/m" | xargs)"

# It is no rubber stamp.
run hash -a sha256 --chunks xxh3:4K -o "$work/good" "$work/small.gguf"
while read -r change; do
    sed "$change" "$work/good" | grep -v '^end ' >"$work/m"
    echo "end sha256:$(sha256sum <"$work/m" | cut -c1-64)" >>"$work/m"
    check "$work/small.gguf"
    is "by the page, after $change" 1 $?
done <<'EOF'
s/^size ./size 9/
s/^\(metadata [0-9]* sha256:\)./\1x/
0,/^tensor /s/^\(tensor [^ ]* [^ ]* \)[0-9]/\19/
0,/^chunks/!b;/^chunks/n;s/^./y/
s/^root sha256:.*/root sha256:00/
/^root/d
EOF
finish
