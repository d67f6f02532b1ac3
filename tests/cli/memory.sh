# SPDX-License-Identifier: MIT
# Memory: what a file makes of it, bounded by its size, and a system that has
# none to give.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
if [ -n "${GGLD_SANITIZED-}" ]; then
    skip "memory" "a sanitizer takes terabytes of addresses"
    finish
fi
cd "$work" || exit 1
"$GGLD_CROWD" tensors 25000 >crowd.gguf
sed 's/t\([0-9]\)/u\1/g' crowd.gguf >other.gguf
"$GGLD_CROWD" bytes 2000000 >bytes.gguf
{ "$GGLD_CROWD" bytes 1999999 && printf x; } >less.gguf
"$GGLD_CROWD" zeros 33554432 >zeros.gguf
truncate -s $((33554432 + 45)) zeros.gguf

# within KIB STATUS BYTES ARGUMENTS...: in an address space of so many KiB, the
# file's map in it; at least BYTES of output, which JSON is.
within() {
    local kib=$1 status=$2 bytes=$3
    shift 3
    (ulimit -v "$kib" && exec "$ggld" "$@") >out 2>err </dev/null
    rc=$?
    if [ $rc = "$status" ] && [ "$(wc -c <out)" -ge "$bytes" ] &&
        [ ! -s err ] && jq -n 'first(inputs) | type' <out >/dev/null 2>&1
    then pass; else
        fail "$* in $kib KiB" "expected: exit status $status, $bytes bytes, JSON" \
            "got: exit status $rc, $(wc -c <out) bytes; $(head -c 300 err)"
    fi
}
# What the least of commands takes by itself.
base=0
for kib in 10000 20000 40000 80000 160000; do
    (ulimit -v $kib && exec "$ggld" --version) >out 2>err && base=$kib && break
done
is "the command runs at all in 160000 KiB" 1 $((base > 0))
while read -r kib status bytes line; do
    # shellcheck disable=SC2086 # words
    within $((base + kib)) "$status" "$bytes" $line
done <<'END'
30000 0 5000000 check --json crowd.gguf
15000 0 6250000 tensors --json crowd.gguf
25000 1 5000000 diff --json --metadata crowd.gguf other.gguf
15000 0 700 info --json crowd.gguf
7500 0 15000000 kv --json bytes.gguf
10000 1 25000000 diff --json bytes.gguf less.gguf
60000 0 4000 info --json zeros.gguf
END
# Too long for jq.
(ulimit -v $((base + 60000)) && exec "$ggld" kv --json zeros.gguf) 2>err |
    wc -c >out
is "kv --json of a long text" "$((6 * 33554432 / 1000))" \
    "$(($(cat out) / 1000))"
is "kv --json of a long text says nothing else" "" "$(cat err)"
run info --json zeros.gguf
json "a long text is cut in info, and it is said so" \
    '.kv[0] | [.shortened, .bytes, (.value | length)]' '[true,33554432,4096]'

# ---- none to give ----

run sample --type f32 --layers 1 m.gguf
"$ggld" hash -o m.ggsum m.gguf 2>/dev/null
each() { # KIB
    local line said
    while read -r line; do
        case " ${commands[*]} " in *" ${line%% *} "*) ;; *) continue ;; esac
        # shellcheck disable=SC2086 # words
        (ulimit -v "$1" && exec timeout 100 "$ggld" $line) >out 2>err </dev/null
        rc=$?
        rm -rf o.* s-0*
        said=$([ -s err ] || { [ "${line%% *}" = check ] && [ -s out ]; } ||
            { [ "${line%% *}" = diff ] && [ $rc = 1 ]; } && echo yes)
        # 127: the system can't even load the program.
        if [ $rc = 0 ] || [ $rc = 127 ] ||
            { [ $rc -le 2 ] && [ "$said" = yes ]; }; then
            pass
        else
            fail "$line in $1 KiB" \
                "expected: success, or exit status 1 (or 2) and a line" \
                "got: exit status $rc; $(head -c 300 err)"
        fi
    done <<'END'
info --json m.gguf
info crowd.gguf
kv --json m.gguf
kv bytes.gguf x
tensors --json crowd.gguf
check --data --json m.gguf
check --json crowd.gguf
check crowd.gguf
diff --json --metadata crowd.gguf other.gguf
diff --values m.gguf m.gguf
dump m.gguf output.weight
upgrade m.gguf o.gguf
upgrade crowd.gguf o.gguf
edit m.gguf --set general.name=abc -o o.gguf
edit crowd.gguf --set general.name=abc -o o.gguf
split --max-tensors 8 -o s m.gguf
convert m.gguf o.safetensors
quantize --type q8_0 m.gguf o.gguf
warm m.gguf
residency --json m.gguf
stream m.gguf
window m.gguf output.weight
hash --json m.gguf
verify --json m.gguf m.ggsum
END
}
for kib in 12000 20000 30000 40000 50000 70000 90000 150000; do
    each $kib
done
finish
