# SPDX-License-Identifier: MIT
# hash, verify, sign: what they print and write, what they find, and what they
# refuse.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
if ! "$ggld" --help | grep -q '^  hash '; then
    skip "integrity" "built without libuv"
    finish
fi
sample=$work/sample.gguf
run sample --layers 2 "$sample"
whole=$(sha256sum <"$sample" | cut -c1-64)
n=$("$ggld" tensors --json "$sample" | jq '.tensors|length')

flip() { # FILE OFFSET
    local byte
    byte=$(tail -c "+$(($2 + 1))" "$1" | head -c 1 | od -An -tu1)
    # shellcheck disable=SC2059 # made of an octal number
    printf "\\$(printf '%03o' $((byte ^ 16)))" |
        dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
# Old enough for verify --once.
settle() { sleep 0.2; }

# ---- hash ----
expect "hash: no note of what took no time" 0 "ggsum 1" "" hash "$sample"
is "hash: tensors" "$n" "$(grep -c '^tensor ' "$work/out")"
run hash --format sha256sum "$sample"
is "hash: sha256sum's own format" "$whole  $sample" "$(cat "$work/out")"
sha256sum --quiet --strict -c "$work/out"
is "hash: sha256sum takes it" 0 $?
run hash --format digest "$sample"
is "hash: a digest" "sha256:$whole" "$(cat "$work/out")"
run hash --format lfs "$sample"
is "hash: a pointer" \
    "version https://git-lfs.github.com/spec/v1 oid sha256:$whole size $(wc -c <"$sample")" \
    "$(xargs <"$work/out")"
run hash -f llama -a sha1 --algo=sha256,uuid "$sample"
is "hash: llama's lines" "$((2 * n + 3))" "$(wc -l <"$work/out")"
is "hash: llama's last line" uuid "$(tail -n 1 "$work/out" | cut -d' ' -f1)"
run hash -f llama "$sample"
is "hash: llama's own default" "xxh64" "$(cut -d' ' -f1 "$work/out" | sort -u)"
run hash --json "$sample"
json "hash: JSON" '.[0]|[.file,(.digests|length)]' \
    "[\"$sample\",$((n + 1))]"
json "hash: keys" '.[0]|keys_unsorted' \
    '["file","file_bytes","metadata_bytes","root","digests","read_bytes","seconds","bytes_per_s"]'
is "hash: nothing on standard error with JSON" "" "$(cat "$work/err")"
run hash -o "$work/out.ggsum" "$sample"
run hash "$sample"
same "hash: the same in a file" "$work/out" "$work/out.ggsum"
for format in ggsum llama sha256sum digest lfs in-toto; do
    run hash --format $format -o "$work/m" "$sample"
    expect "verify: $format" 0 "good: " - verify "$sample" "$work/m"
done
run sample --seed 7 "$work/other.gguf"
run hash --format in-toto "$work/sample.gguf" "$work/other.gguf"
json "hash: two files, sorted" '[.predicate.resources[].name]' \
    '["other.gguf","sample.gguf"]'
cp "$work/out" "$work/both.json"
expect "verify: one of two" 0 "good: the whole file" - \
    verify "$work/other.gguf" "$work/both.json"
expect "hash: a ggsum of two" 2 "" "one file" hash "$sample" "$work/other.gguf"
expect "hash: --save of two" 0 "" - hash --save "$sample" "$work/other.gguf"
is "hash: --save wrote two" 2 "$(find "$work" -name '*.gguf.ggsum' | wc -l)"
expect "hash: an unknown algorithm" 2 "" "--algo is 'md5'" hash -a md5 "$sample"
expect "hash: an unknown format" 2 "" "--format is 'x'" hash -f x "$sample"
expect "hash: chunks of md5" 2 "" "--chunks is 'md5'" hash --chunks md5 "$sample"
expect "hash: --save elsewhere" 2 "" "--save" hash --save -o x "$sample"
expect "hash: uuid of a file" 2 "" "sha256 only" hash -f sha256sum -a uuid "$sample"
expect "hash: sha1 for sha256sum" 2 "" "--algo is 'sha1', and sha256sum" \
    hash -a sha1 -f sha256sum "$work/none"
expect "hash: no file" 1 "" "No such file" hash "$work/none"
head -c 100000 "$sample" >"$work/part.gguf"
expect "hash: a part" 1 "" "past the end of the file" hash "$work/part.gguf"
run hash --chunks sha256:4K "$sample"
has "hash: chunks of 4K" "$work/out" "chunks sha256 4096 "
run hash --chunks none "$sample"
is "hash: no chunks" 0 "$(grep -c '^chunks' "$work/out")"
run hash --whole --uncached "$sample"
has "hash: --whole" "$work/out" "whole sha256:$whole"

# ---- verify ----
expect "verify: beside the file" 0 "good: " - verify "$sample"
expect "verify: --all" 0 "sha256 of tensor token_embd.weight" - \
    verify --all "$sample"
expect "verify: a digest" 0 "good: the whole file" - \
    verify "$sample" "sha256:$whole"
expect "verify: a wrong digest" 1 "the file differs: expected sha256 0000" - \
    verify "$sample" "sha256:$(printf '%064d' 0)"
is "verify: one thing is no things" "bad: 1 of 1 item" "$(tail -n 1 "$work/out")"
expect "verify: half a digest" 2 "" "is no digest: sha256: and 64 hex digits are" \
    verify "$sample" "sha256:${whole:0:32}"
expect "hash: a digest of two" 2 "" \
    "digest speaks of one file, and 2 were given: sha256sum speaks of several" \
    hash -f digest "$sample" "$sample"
expect "verify: a digest that is none" 2 "" "'sha256:00' is no digest: sha256: and 64 hex digits" \
    verify "$sample" sha256:00
expect "verify: another model's" 1 "differs" - \
    verify "$work/other.gguf" "$sample.ggsum"
cp "$sample" "$work/bad.gguf"
flip "$work/bad.gguf" 900000
expect "verify: a flipped bit" 1 "differs first in bytes" - \
    verify "$work/bad.gguf" "$sample.ggsum"
run verify --json "$work/bad.gguf" "$sample.ggsum"
is "verify: status with JSON" 1 "$rc"
json "verify: JSON" '[.good,.items[0].verdict,.items[0].of]' \
    '[false,"differs","tensor"]'
json "verify: the range" \
    '.items[0]|(.bad_offset<=900000 and .bad_offset+.bad_bytes>900000)' true
json "verify: keys" 'keys_unsorted' \
    '["file","manifest","good","signed","from_cache","complete","by_root","unreadable","summary","counts","items","items_left_out","read_bytes","seconds","bytes_per_s"]'
expect "verify: no manifest" 1 "" "bad.gguf.ggsum: cannot open" \
    verify "$work/bad.gguf"
sha256sum "$work/other.gguf" >"$work/sums"
expect "verify: of other files only" 1 "" "no digest of" \
    verify "$sample" "$work/sums"
head -n -1 "$sample.ggsum" >"$work/cut.ggsum"
expect "verify: a cut manifest" 1 "" \
    "cut.ggsum line $(wc -l <"$work/cut.ggsum"): cut" \
    verify "$sample" "$work/cut.ggsum"
sed 's/^size .*/size 7/' "$sample.ggsum" >"$work/x.ggsum"
expect "verify: a changed manifest" 1 "" "x.ggsum line 4: metadata" \
    verify "$sample" "$work/x.ggsum"
expect "verify: nothing" 2 "" "operand missing" verify
expect "verify: e3b0c442" 1 "no bytes at all" - verify "$sample" \
    sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
root=$(sed -n 's/^root sha256://p' "$sample.ggsum")
expect "verify: the root" 0 "good: " - verify --root "$root" "$sample"
expect "verify: another root" 1 "" "not the one given" \
    verify --root "${root//[0-9]/0}" "$sample"
size=$(wc -c <"$sample")
head -c 100000 "$sample" >"$work/cut.gguf"
cut=$(sha256sum <"$work/cut.gguf" | cut -c1-64)
expect "verify: a cut file" 1 "expected $size bytes, it has 100000" \
    "past the end of the file" verify "$work/cut.gguf" "$sample.ggsum"
has "verify: a cut file's insides" "$work/out" "not checked"
expect "verify: a cut file, by its digest" 1 \
    "expected sha256 $whole, it is $cut" "does not open" \
    verify "$work/cut.gguf" "sha256:$whole"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %s\n' \
    "$whole" "$size" >"$work/pointer"
expect "verify: a cut file, by a pointer: size" 1 "resized" "does not open" \
    verify "$work/cut.gguf" "$work/pointer"
has "verify: a cut file, by a pointer: digest" "$work/out" "it is $cut"
cp "$sample" "$work/bad.gguf"
flip "$work/bad.gguf" 1
expect "verify: a damaged header" 1 "the metadata differs" "does not open" \
    verify "$work/bad.gguf" "$sample.ggsum"
run verify --json "$work/bad.gguf" "$sample.ggsum"
json "verify: a damaged header, JSON" \
    '[.good,(.unreadable|type),.items[0].verdict]' '[false,"string","differs"]'
is "verify: its status" 1 "$rc"
head -c 500 "$sample" >"$work/cut.gguf"
expect "verify: half of the metadata" 1 "it has 500" "does not open" \
    verify "$work/cut.gguf" "$sample.ggsum"
: >"$work/empty.gguf"
expect "verify: an empty file" 1 "it has 0" "does not open" \
    verify "$work/empty.gguf" "$sample.ggsum"
echo text >"$work/text"
expect "verify: a text, as it should be" 0 "good: the whole file" \
    "does not open" verify "$work/text" \
    "sha256:$(sha256sum <"$work/text" | cut -c1-64)"
expect "verify: no root" 2 "" "--root is 'zz': the 64 hex" \
    verify --root zz "$sample"
expect "verify: half a root" 2 "" "64 hex digits" \
    verify --root "${root:0:32}" "$sample"
expect "verify: an empty root" 2 "" "64 hex digits" verify --root '' "$sample"
mkfifo "$work/pipe"
for command in hash verify; do
    expect "$command: a FIFO" 1 "" "FIFO" $command "$work/pipe" \
        $([ $command = hash ] || echo "$sample.ggsum")
done
expect "verify: a FIFO for a manifest" 1 "" "pipe: a FIFO, where a regular" \
    verify "$sample" "$work/pipe"
expect "verify: a folder for a manifest" 1 "" "a directory, where" \
    verify "$sample" "$work"
run hash --format in-toto "$sample"
sed 's/"algorithm"/"digest": "00", &/' "$work/out" >"$work/twice.json"
expect "verify: a key twice" 1 "" "repeat another of the same object" \
    verify "$sample" "$work/twice.json"

# ---- what is covered, and by what ----
run hash -f llama -a sha256 "$sample"
cp "$work/out" "$work/llama"
expect "verify: a gap is said" 0 "; not covered: the metadata" - \
    verify "$sample" "$work/llama"
expect "verify: --complete" 1 "; not covered: the metadata" - \
    verify --complete "$sample" "$work/llama"
expect "verify: --complete of what is" 0 "good: " - verify --complete "$sample"
expect "verify: --complete of a digest" 0 "good: " - \
    verify --complete "$sample" "sha256:$whole"
settle
for i in 1 2; do
    expect "verify: a gap that is remembered, $i" 0 "good: " - \
        verify --folder "$work/gaps" "$sample" "$work/llama"
    expect "verify: is one still, $i" 1 "not all of it is covered (and so not" - \
        verify --complete --folder "$work/gaps" "$sample" "$work/llama"
done
run verify --json --complete "$sample" "$work/llama"
json "verify: --complete with JSON" '[.good,.complete,.counts.uncovered]' \
    '[false,false,1]'
expect "verify: a root over xxh3" 0 "(by the root: metadata and chunks, and" \
    "its chunks have digests that a forger can match: its root finds damage" \
    verify --root "$root" "$sample"
run hash --chunks sha256 -o "$work/sound.ggsum" "$sample"
sound=$(sed -n 's/^root sha256://p' "$work/sound.ggsum")
expect "verify: a root over sha256" 0 "(by the root: metadata and chunks, and" \
    - verify --root "$sound" "$sample" "$work/sound.ggsum"
is "verify: a root over sha256: nothing to be said against it" 0 \
    "$(grep -c forger "$work/err")"
run verify --json --root "$sound" "$sample" "$work/sound.ggsum"
json "verify: a root with JSON" '[.good,.by_root]' '[true,["metadata","chunks"]]'

# ---- lists that are too long ----
awk -v s="$sample" 'BEGIN {
    printf "xxh64     %016d  %s:token_embd.weight\n", 1, s
    for (i = 0; i < 30000; i++)
        printf "xxh64     %016d  %s:tensor.%d\n", i, s, i }' >"$work/long"
expect "verify: many lines that are wrong" 1 "bad: 3" - \
    verify "$sample" "$work/long"
is "verify: so many are listed" 1002 "$(wc -l <"$work/out")"
has "verify: and the rest counted" "$work/out" "and 29"
run verify --json "$sample" "$work/long"
json "verify: the same with JSON" \
    '[(.items|length),.counts.missing,.items_left_out>29000]' '[1000,30000,true]'
sed 1d "$work/long" >"$work/foreign"
expect "verify: of another model, before it is read" 1 "" \
    "of another model: 0 of the 30000 tensors" verify "$sample" "$work/foreign"

# ---- once ----
settle
expect "once: first" 0 "good: metadata" - \
    verify --folder "$work/cache" "$sample"
expect "once: again" 0 "verified before" "" \
    verify --folder "$work/cache" "$sample"
XDG_CACHE_HOME=$work/xdg expect "once: where it is kept" 0 "good: " - \
    verify --once "$sample"
is "once: one record" 1 "$(find "$work/xdg/ggld/verified" -type f | wc -l)"
cp "$sample.ggsum" "$work/bad.gguf.ggsum"
settle
expect "once: bad files" 1 "differs" - \
    verify --folder "$work/cache" "$work/bad.gguf"
expect "once: are not remembered" 1 "differs" - \
    verify --folder "$work/cache" "$work/bad.gguf"
touch "$sample"
settle
expect "once: touched" 0 "good: metadata" - \
    verify --folder "$work/cache" "$sample"
mkdir "$work/names"
cp "$sample" "$work/names/x.gguf"
ln -s x.gguf "$work/names/y.gguf"
ln "$work/names/x.gguf" "$work/names/z.gguf"
printf '%s  x.gguf\n%064d  y.gguf\n%064d  z.gguf\n' "$whole" 0 0 \
    >"$work/names/sums"
settle
expect "once: a file of several names, by the good one" 0 "good: " - \
    verify --folder "$work/cache" "$work/names/x.gguf" "$work/names/sums"
for name in y z; do
    expect "once: and by a bad one, $name" 1 "differs" - \
        verify --folder "$work/cache" "$work/names/$name.gguf" \
        "$work/names/sums"
done
expect "once: and by the good one again" 0 "verified before" "" \
    verify --folder "$work/cache" "$work/names/x.gguf" "$work/names/sums"

# ---- sign ----
if command -v openssl >/dev/null; then
    openssl genpkey -algorithm ed25519 -out "$work/key.pem"
    openssl pkey -in "$work/key.pem" -pubout -out "$work/pub.pem"
    openssl genpkey -algorithm ed25519 -out "$work/key2.pem"
    openssl pkey -in "$work/key2.pem" -pubout -out "$work/pub2.pem"
    expect "verify: no signature" 1 "" "sample.gguf.ggsum.sig: cannot open" \
        verify --pubkey "$work/pub.pem" "$sample"
    expect "sign" 0 "" "a forger can match" \
        sign --key "$work/key.pem" "$sample.ggsum"
    openssl pkeyutl -verify -rawin -pubin -inkey "$work/pub.pem" \
        -in "$sample.ggsum" -sigfile "$sample.ggsum.sig" >/dev/null
    is "sign: openssl takes it" 0 $?
    expect "verify: signed" 0 "(signed)" - \
        verify --pubkey "$work/pub.pem" "$sample"
    expect "verify: by another" 1 "" "not this key's signature" \
        verify --pubkey "$work/pub2.pem" "$sample"
    expect "verify: by a private key" 1 "" \
        "ggld: $work/key.pem: key: a private key, where its public half" \
        verify --pubkey "$work/key.pem" "$sample"
    openssl pkey -in "$work/pub.pem" -pubin -outform DER -out "$work/pub.der"
    expect "verify: by a key in DER" 1 "" \
        "ggld: $work/pub.der: key: not PEM, by its first byte DER" \
        verify --pubkey "$work/pub.der" "$sample"
    run hash --save --chunks sha256 "$sample"
    expect "verify: of another manifest" 1 "" "not this key's signature" \
        verify --pubkey "$work/pub.pem" "$sample"
    expect "sign: chunks of sha256" 0 "" "" \
        sign --key "$work/key.pem" "$sample.ggsum"
    expect "sign: no key" 2 "" "--key is needed" sign "$sample.ggsum"
    expect "sign: over the key" 2 "" "OUT is the manifest or the key" \
        sign --key "$work/key.pem" -o "$work/key.pem" "$sample.ggsum"
    expect "sign: over the manifest" 2 "" "OUT is the manifest or the key" \
        sign --key "$work/key.pem" -o "$sample.ggsum" "$sample.ggsum"
    run hash --save "$sample"
    expect "sign: a public key" 1 "" \
        "ggld: $work/pub.pem: key: a public key, where the private one" \
        sign --key "$work/pub.pem" "$sample.ggsum"
    is "sign: one line says why not" 1 "$(wc -l <"$work/err")"
    run hash --save --chunks sha256 "$sample"
    expect "sign: no manifest" 1 "" "ggld: $sample: manifest: no manifest of a known kind" \
        sign --key "$work/key.pem" "$sample"
    echo short >"$sample.ggsum.sig"
    expect "verify: a short signature" 1 "" "it has 6 bytes" \
        verify --pubkey "$work/pub.pem" "$sample"
else
    skip "sign" "no openssl here"
fi
# Names that a format has no way to write, said before anything is read: the
# file behind the first is none.
while IFS='|' read -r format name message; do
    printf -v name %b "$name"
    cp "$sample" "$work/$name"
    expect "hash: $format of $(printf %q "$name")" 1 "" \
        "gguf: $format can't write the file's name, as that $message" \
        hash -f "$format" "$work/$name"
    expect "hash: $format of two" 1 "" "gguf: $format can't write" \
        hash -f "$format" "$work/none" "$work/$name"
    expect "hash: ggsum of $(printf %q "$name")" 0 "ggsum 1" "" hash "$work/$name"
done <<'EOF'
llama|new\nline.gguf|has a line break; ggsum can
llama|new\rline.gguf|has a line break; ggsum can
in-toto|not\xffutf8.gguf|is not UTF-8; ggsum can
EOF
expect "hash: JSON of such a name" 0 '"digests"' "" \
    hash -f llama --json "$work/"$'new\nline.gguf'
: >"$work/empty"
for format in digest sha256sum lfs in-toto; do
    expect "hash: $format of nothing" 0 e3b0c44298fc1c14 \
        "empty: note: it is empty: the digest is that of no bytes at all" \
        hash -f $format "$work/empty"
done
mkdir "$work/dash" && cd "$work/dash" || exit 1
for format in ggsum llama digest; do
    run hash -f $format "$sample"
    cp "$work/out" "$work/without"
    expect "hash: $format, -o -" 0 - "" hash -f $format "$sample" -o -
    same "hash: $format, -o -: it is standard output" "$work/without" "$work/out"
done
if [ -e "$work/key.pem" ]; then
    run sign --key "$work/key.pem" -o ../by-name.sig "$sample.ggsum"
    expect "sign: -o -" 0 - - sign --key "$work/key.pem" -o - "$sample.ggsum"
    same "sign: -o -: it is standard output" "$work/by-name.sig" "$work/out"
fi
is "-o -: nothing was made" "" "$(ls)"
cd "$work" || exit 1
expect "hash: over the model" 2 "" "OUT is FILE itself" \
    hash -o "$sample" "$sample"
ln -s "$sample" "$work/link.gguf"
expect "hash: over the model, by a link" 2 "" "OUT is FILE itself" \
    hash -o "$work/link.gguf" "$sample"
if command -v script >/dev/null; then
    script -qec "'$ggld' sign --key '$work/none' -o - '$sample.ggsum'" \
        /dev/null >"$work/tty" </dev/null
    is "sign: -o -, a terminal: exit status" 2 $?
    has "sign: -o -, a terminal" "$work/tty" \
        "a signature is binary, and not for a terminal"
    odd=$work/$(printf 'odd\033[31m.gguf')
    cp "$sample" "$odd"
    script -qec "'$ggld' hash -f llama -a xxh64 '$odd'" /dev/null \
        >"$work/tty" </dev/null
    is "hash: escapes on a terminal" "0" "$(grep -c "$(printf '\033')" \
        "$work/tty")"
else
    skip "hash, sign: on a terminal" "no script(1) here"
fi
finish
