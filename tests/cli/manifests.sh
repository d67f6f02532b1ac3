# SPDX-License-Identifier: MIT
# hash and verify by formats: what each refuses, whose names are a file's, and
# that what is written in one folder is read in another.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
if ! "$ggld" --help | grep -q '^  hash '; then
    skip "manifests" "built without libuv"
    finish
fi
formats=(ggsum llama sha256sum digest lfs in-toto)
mkdir -p "$work/d/e" "$work/f"
run sample --layers 2 "$work/d/s.gguf"
whole=$(sha256sum <"$work/d/s.gguf" | cut -c1-64)
cd "$work/f" || exit 1

# ---- wrong usage ----
while IFS='|' read -r says options; do
    # shellcheck disable=SC2086 # words
    expect "hash $options" 2 "" "$says" hash $options ../d/s.gguf
done <<'EOF'
--chunks is 'uuid': xxh3, sha256, xxh64 or sha1|--chunks uuid
--chunks is 'xxh3:4095': a chunk is a power of two from 4K to 1G|--chunks xxh3:4095
--chunks is 'xxh3:5000': a chunk is a power of two|--chunks xxh3:5000
--chunks is 'xxh3:2G': a chunk is a power of two|--chunks xxh3:2G
--chunks is 'xxh3:2K': a chunk is a power of two|--chunks xxh3:2K
--chunks is 'xxh3:0': a chunk is a power of two|--chunks xxh3:0
--chunks is 'xxh3:x': a chunk is a power of two|--chunks xxh3:x
--whole is of every byte of the file, and a uuid|-a uuid --whole
--chunks is for a ggsum; llama has none|-f llama --chunks sha256
--chunks is for a ggsum; digest has none|-f digest --chunks none
--whole is for a ggsum; lfs has none|-f lfs --whole
--whole is for a ggsum; llama has none|-f llama --whole --json
--algo is 'sha1', and digest has sha256 only|-f digest --json -a sha1
--algo is 'uuid', and in-toto has sha256 only|-f in-toto -a uuid
EOF
for chunks in xxh3:4K sha1:1M xxh64 sha256:1G none; do
    expect "hash --chunks $chunks" 0 "ggsum 1" - \
        hash --chunks $chunks ../d/s.gguf
done

# ---- written here, read there ----
for format in "${formats[@]}"; do
    for path in ../d/s.gguf "$work/d/s.gguf" ../d/e/../s.gguf ../d/./s.gguf; do
        run hash -f "$format" -o "$work/m" "$path"
        is "hash -f $format $path" 0 "$rc"
        for at in f d d/e .; do
            for given in "$work/d/s.gguf" "$(realpath --relative-to "$work/$at" "$work/d/s.gguf")"; do
                (cd "$work/$at" && "$ggld" verify "$given" "$work/m") \
                    >"$work/out" 2>&1
                is "$format of $path, in $at as $given" "0 good" \
                    "$? $(tail -n 2 "$work/out" | grep -o -m 1 good)"
            done
        done
    done
done
sha256sum ../d/s.gguf >"$work/m"
expect "verify: sha256sum's own, with .." 0 "good: the whole file" - \
    verify ../d/s.gguf "$work/m"
sha1sum --tag ../d/s.gguf >"$work/m"
expect "verify: sha1sum's with a tag" 0 "good: the whole file" - \
    verify ../d/s.gguf "$work/m"

# ---- names ----
# Whose last part is the file's name may be its own, whatever comes before it.
xxh64=$("$ggld" hash --json -f llama ../d/s.gguf 2>/dev/null |
    jq -r '.[0].digests[]|select(.of=="tensors").digest' | cut -d: -f2)
root=$(printf '%s' "$whole" | perl -pe '$_ = pack("H*", $_)' | sha256sum |
    cut -c1-64)
name_it() { # FORMAT NAME
    case $1 in
    llama) printf 'xxh64     %s  %s\n' "$xxh64" "$2" ;;
    sha256sum) printf '%s  %s\n' "$whole" "$2" ;;
    tag) printf 'SHA256 (%s) = %s\n' "$2" "$whole" ;;
    in-toto) jq -n --arg n "$2" --arg d "$whole" --arg r "$root" '{
        _type: "https://in-toto.io/Statement/v1",
        subject: [{name: "d", digest: {sha256: $r}}],
        predicateType: "https://model_signing/signature/v1.0",
        predicate: {
            serialization: {method: "files", hash_type: "sha256"},
            resources: [{name: $n, algorithm: "sha256", digest: $d}]}}' ;;
    esac
}
while read -r name others statement; do
    for format in llama sha256sum tag in-toto; do
        name_it $format "$name" >"$work/m"
        says=$others
        [ $format = in-toto ] && says=$statement
        case $says in
        good) expect "$format: named $name" 0 "good: " - \
            verify ../d/s.gguf "$work/m" ;;
        other) expect "$format: named $name" 1 "" \
            "no digest of '../d/s.gguf' is in it (1 line is about other files)" \
            verify ../d/s.gguf "$work/m" ;;
        out) expect "$format: named $name" 1 "" \
            "'$name' is not inside the model's folder" \
            verify ../d/s.gguf "$work/m" ;;
        esac
    done
done <<EOF
s.gguf good good
d/s.gguf good good
other/s.gguf good good
../d/s.gguf good out
../../s.gguf good out
/etc/s.gguf good out
$work/d/s.gguf good out
./s.gguf good good
S.gguf other other
xs.gguf other other
s.gguf/x other other
EOF
# A ggsum is about the file that it is given for; its name leads nowhere.
run hash ../d/s.gguf
grep -v '^end ' "$work/out" >"$work/m"
cp "$work/m" "$work/body"
while read -r name says; do
    sed "s|^file .*|file $name|" "$work/body" >"$work/m"
    printf 'end sha256:%s\n' "$(sha256sum <"$work/m" | cut -c1-64)" >>"$work/m"
    case $says in
    good) expect "ggsum: named $name" 0 "good: " - verify ../d/s.gguf "$work/m" ;;
    *) expect "ggsum: named $name" 1 "" "m (ggsum) line 2: file '$name' is a path" \
        verify ../d/s.gguf "$work/m" ;;
    esac
done <<'EOF'
s.gguf good
other.gguf good
a/s.gguf path
../s.gguf path
/etc/s.gguf path
.. path
EOF
{ name_it sha256sum a/s.gguf; name_it sha256sum b/s.gguf; } >"$work/m"
expect "verify: two that fit as well" 1 "" \
    "m (sha256sum): both 'a/s.gguf' and 'b/s.gguf' could be this file" \
    verify ../d/s.gguf "$work/m"
{ echo "${whole//[0-9]/0}  s.gguf"; name_it sha256sum ../d/s.gguf; } >"$work/m"
expect "verify: the path counts more" 0 "good" - verify ../d/s.gguf "$work/m"

# ---- cut, CR LF ----
for format in "${formats[@]}"; do
    run hash -f "$format" -o "$work/m" ../d/s.gguf
    head -c -1 "$work/m" >"$work/cut"
    sed 's/$/\r/' "$work/m" >"$work/crs"
    case $format in
    ggsum)
        expect "$format: no newline at its end" 1 "" ": cut: " \
            verify ../d/s.gguf "$work/cut"
        expect "$format: CR LF" 1 "" "line 1: ends in CR LF" \
            verify ../d/s.gguf "$work/crs"
        continue ;;
    digest | in-toto)
        expect "$format: no newline at its end" 0 "good: " - \
            verify ../d/s.gguf "$work/cut" ;;
    *)
        expect "$format: no newline at its end" 1 "" \
            "cut: the last line has no newline" verify ../d/s.gguf "$work/cut" ;;
    esac
    expect "$format: CR LF" 0 "good: " - verify ../d/s.gguf "$work/crs"
done
{ name_it sha256sum s.gguf; printf '%s  x\r\n' "$whole"; } >"$work/m"
expect "verify: CR LF in one line" 1 "" "line 2: ends in CR LF and line 1 in LF" \
    verify ../d/s.gguf "$work/m"
run hash -f llama -a xxh64,sha1 -o "$work/m" ../d/s.gguf
n=$(wc -l <"$work/m")
head -n "$((n - 1))" "$work/m" >"$work/cut"
expect "verify: llama's last line cut off" 0 \
    "no digest of the tensors together by sha1, a last line" - \
    verify ../d/s.gguf "$work/cut"
head -n "$((n - 5))" "$work/m" >"$work/cut"
expect "verify: tensors cut off" 1 "extra" - verify ../d/s.gguf "$work/cut"

# ---- digits alone ----
echo "$whole" >"$work/m"
expect "verify: a file of digits" 0 "good: " - verify ../d/s.gguf "$work/m"
expect "verify: digits" 0 "good: " - verify ../d/s.gguf "$whole"
expect "verify: digits of another" 1 "the file differs" - \
    verify ../d/s.gguf "${whole//[0-9]/0}"

# ---- any file ----
echo '{"a": 1}' >config.json
sum=$(sha256sum <config.json | cut -c1-64)
for format in "${formats[@]}"; do
    case $format in
    ggsum | llama) expect "hash -f $format: no model" 1 "" "not a model" \
        hash -f "$format" config.json ;;
    *)
        expect "hash -f $format: no model" 0 "$sum" - \
            hash -f "$format" config.json
        cp "$work/out" "$work/m"
        expect "verify: $format of no model" 0 "good: the whole file" - \
            verify config.json "$work/m" ;;
    esac
done
run hash -f digest --json config.json
json "hash: JSON of no model" '.[0]|[.file_bytes,.metadata_bytes,.digests[0].digest]' \
    "[9,0,\"sha256:$sum\"]"
: >empty
expect "hash: an empty file" 0 "e3b0c44298fc1c14" - hash -f sha256sum empty
expect "hash: no file" 1 "" "No such file" hash -f sha256sum none
expect "hash: a folder" 1 "" "directory" hash -f sha256sum .
finish
