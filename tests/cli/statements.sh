# SPDX-License-Identifier: MIT
# OpenSSF model-signing statements: of which folder, and signed as
# ggld-manifests(5) says, with openssl in the signer's place.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
if ! "$ggld" --help | grep -q '^  hash '; then
    skip "statements" "built without libuv"
    finish
fi
mkdir -p "$work/m2/sub2" "$work/m2/a-b" "$work/m2/a"
run sample --layers 1 "$work/m2/a.gguf"
run sample --layers 1 --seed 2 "$work/m2/sub2/q.gguf"
cp "$work/m2/a.gguf" "$work/m2/a/x.gguf"
cp "$work/m2/a.gguf" "$work/m2/a-b/x.gguf"
echo '{}' >"$work/m2/config.json"
ln -s m2 "$work/link"

# ---- names ----
names='[.subject[0].name,.predicate.resources[].name]'
while read -r at expected files; do
    cd "$work/$at" || exit 1
    # shellcheck disable=SC2086 # words
    run hash -f in-toto $files
    json "in-toto: $files in $at" "$names" "$expected"
done <<EOF
. ["m2","a.gguf","sub2/q.gguf"] m2/sub2/q.gguf m2/a.gguf
. ["m2","a/x.gguf","a-b/x.gguf","a.gguf","config.json"] m2/a.gguf m2/config.json m2/a-b/x.gguf m2/a/x.gguf
. ["sub2","q.gguf"] m2/sub2/q.gguf
m2 ["m2","a.gguf"] a.gguf
m2 ["m2","a.gguf","sub2/q.gguf"] a.gguf sub2/q.gguf
m2/sub2 ["m2","a.gguf","sub2/q.gguf"] ../a.gguf q.gguf
m2/sub2 ["m2","a.gguf","sub2/q.gguf"] ../../m2/a.gguf $work/m2/sub2/q.gguf
. ["m2","a.gguf"] link/a.gguf
EOF
cd "$work" || exit 1
run hash -f in-toto -o statement.json m2/a.gguf m2/sub2/q.gguf m2/config.json
for file in m2/a.gguf m2/sub2/q.gguf m2/config.json; do
    expect "in-toto: verify $file" 0 "good: the whole file" - \
        verify $file statement.json
done
expect "in-toto: a file that is not in it" 1 "" \
    "statement.json (in-toto): no digest of" verify m2/a/x.gguf statement.json
run hash -f in-toto -o twice.json m2/a.gguf m2/a/x.gguf m2/a-b/x.gguf
expect "in-toto: two of one base name" 0 "good: " - \
    verify m2/a/x.gguf twice.json
while read -r at given status; do
    (cd "$at" && "$ggld" verify "$given" ../twice.json >out 2>&1 ||
        "$ggld" verify "$given" ../../twice.json) >out 2>&1
    is "in-toto: two of one base name, $given in $at" "$status" $?
done <<'EOF'
m2 a/x.gguf 0
m2/a x.gguf 1
m2/a ../a/x.gguf 0
EOF
all=$(jq -r '.predicate.resources[].digest' statement.json |
    perl -pe 'chomp; $_ = pack("H*", $_)' | sha256sum | cut -c1-64)
is "in-toto: the subject's digest is that of all" "$all" \
    "$(jq -r '.subject[0].digest.sha256' statement.json)"

# ---- refused ----
while IFS='|' read -r says filter; do
    jq "$filter" statement.json >changed.json
    expect "in-toto: $filter" 1 "" "$says" verify m2/a.gguf changed.json
done <<'EOF'
serialization hash_type is 'blake2b'; "sha256" is wanted|.predicate.serialization.hash_type="blake2b"
serialization hash_type is missing|del(.predicate.serialization.hash_type)
serialization method is 'shards'; "files" is wanted|.predicate.serialization.method="shards"
they are not sorted by name|.predicate.resources|=reverse
without name, algorithm sha256|.predicate.resources[0].algorithm="blake2b"
not that of the resources|del(.predicate.resources[2])
one subject|.subject+=.subject
EOF
{ printf ' \n'; cat statement.json; } >padded.json
expect "in-toto: white space before it" 0 "good: " - verify m2/a.gguf padded.json
jq '{_type, predicateType: "https://model_signing/Digests/v0.1", predicate: {},
    subject: [.predicate.resources[]|{name, digest: {sha256: .digest}}]}' \
    statement.json >old.json
expect "in-toto: Digests/v0.1" 0 "good: the whole file" - \
    verify m2/sub2/q.gguf old.json
bytes=$(wc -c <statement.json)
for ((n = 0; n < bytes - 2; n += 7)); do
    head -c $n statement.json >cut.json
    "$ggld" verify m2/a.gguf cut.json >out 2>err && break
done
is "in-toto: cut anywhere" 1 "$((n >= bytes - 2))"

# ---- signed ----
if command -v openssl >/dev/null; then
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 \
        -out key.pem 2>/dev/null
    openssl pkey -in key.pem -pubout -out pub.pem
    # As the page has it, line by line.
    sed -n '/^hint=/,/^\.Ed/p' "$GGLD_SOURCE/tools/man/ggld-manifests.5" |
        grep -v '^\.' | sed 's/\\e/\\/g' >recipe
    is "statement: the recipe is there" 1 "$(grep -c 'dgst -sha256 -sign' recipe)"
    bash -eu recipe
    is "statement: it runs" 0 $?
    json_is() { is "$1" "$3" "$(jq -r "$2" model.sig)"; }
    json_is "statement: a bundle" .mediaType \
        application/vnd.dev.sigstore.bundle.v0.3+json
    json_is "statement: of this key" .verificationMaterial.publicKey.hint \
        "$(sha256sum <pub.pem | cut -c1-64)"
    jq -r .dsseEnvelope.payload model.sig | base64 -d >payload
    same "statement: it is the payload" statement.json payload
    type=$(jq -r .dsseEnvelope.payloadType model.sig)
    jq -r '.dsseEnvelope.signatures[0].sig' model.sig | base64 -d >sig
    { printf 'DSSEv1 %d %s %d ' ${#type} "$type" "$(wc -c <payload)"
        cat payload; } >signed
    openssl dgst -sha256 -verify pub.pem -signature sig signed >/dev/null
    is "statement: openssl finds it signed" 0 $?
    expect "verify: an envelope" 1 "" "a signed envelope" \
        verify m2/a.gguf model.sig
    jq -r '.dsseEnvelope.payload // .payload' model.sig | base64 -d >inside.json
    expect "verify: what is inside" 0 "good: " - verify m2/a.gguf inside.json
else
    skip "statement: signed" "no openssl here"
fi
finish
