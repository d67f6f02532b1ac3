# SPDX-License-Identifier: MIT
# What the tests of the command share: running it, comparing, counting. The
# command is $GGLD_COMMAND, its source folder $GGLD_SOURCE, real files lie in
# $GGLD_SHARED or else $GGLD_SHARED_DEFAULT, where there are some.
# shellcheck shell=bash
set -u
export LC_ALL=C
ggld=$GGLD_COMMAND
GGLD_SHARED=${GGLD_SHARED:-$GGLD_SHARED_DEFAULT}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
skipped=0
rc=0

# As it lists them: without libuv there are fewer.
mapfile -t commands < <("$ggld" --help | sed -n 's/^  \([a-z]*\)  *.*/\1/p')

pass() { passed=$((passed + 1)); }

fail() { # NAME, then lines that say why
    echo "FAILED: $1"
    shift
    printf '    %s\n' "$@"
    failed=$((failed + 1))
}

skip() { # NAME WHY
    echo "skipped: $1: $2"
    skipped=$((skipped + 1))
}

# is NAME EXPECTED GOT
is() {
    if [ "$2" = "$3" ]; then pass; else
        fail "$1" "expected: $2" "got:      $3"
    fi
}

# has NAME FILE TEXT: TEXT stands in FILE.
has() {
    if grep -qF -- "$3" "$2"; then pass; else
        fail "$1" "expected to find: $3" "in:" "$(head -n 20 "$2")"
    fi
}

# same NAME FILE FILE
same() {
    if cmp -s "$2" "$3"; then pass; else
        fail "$1" "$(cmp "$2" "$3" 2>&1)"
    fi
}

# run ARGUMENTS...: the command; its output in $work/out and $work/err, its
# exit status in $rc.
run() {
    "$ggld" "$@" >"$work/out" 2>"$work/err" </dev/null
    rc=$?
}

# expect NAME STATUS OUT ERR ARGUMENTS...: runs it; OUT and ERR are texts that
# have to be found, or empty: nothing may be there, or - : anything may. What is
# refused is refused in one line a file, notes aside.
expect() {
    local name=$1 status=$2 out=$3 err=$4
    shift 4
    run "$@"
    is "$name: exit status" "$status" "$rc"
    expect_stream "$name: standard output" "$work/out" "$out"
    expect_stream "$name: standard error" "$work/err" "$err"
    case $status:$err in
    0:* | *: | *:-) ;;
    *) is "$name: more than a line of standard error" "" "$(
        sed '/^ggld: [^:]*: note: /d; s/^\(ggld: [^:]*\):.*/\1/' "$work/err" |
            sort | uniq -d
        grep -v '^ggld: ' "$work/err"
    )" ;;
    esac
}

expect_stream() {
    case $3 in
    -) ;;
    '') is "$1" "" "$(head -c 400 "$2")" ;;
    *) has "$1" "$2" "$3" ;;
    esac
}

# json NAME FILTER EXPECTED: what jq makes of $work/out.
json() {
    is "$1" "$3" "$(jq -c "$2" "$work/out" 2>&1)"
}

# widest: of the lines of a terminal, in characters.
widest() {
    tr -d '\r' | awk '{ if (length > n) n = length } END { print n + 0 }'
}

# ---- making files by hand ----

le() { # VALUE BYTES (up to 8)
    local i hex bytes=
    for ((i = 0; i < $2; i++)); do
        printf -v hex '\\x%02x' $((($1 >> (8 * i)) & 255))
        bytes+=$hex
    done
    # shellcheck disable=SC2059 # made of \xNN
    printf "$bytes"
}
zeros() { # BYTES
    head -c "$1" /dev/zero
}
text() { # ESCAPED: a string as the format stores it
    local plain
    # In the C locale a letter is a byte; NUL can't be.
    printf -v plain '%b' "$1"
    le ${#plain} 8
    printf '%s' "$plain"
}
header() { # TENSORS KEY-VALUES
    printf GGUF
    le 3 4
    le "$1" 8
    le "$2" 8
}
kv_text() { # KEY TEXT
    text "$1"
    le 8 4
    text "$2"
}
tensor() { # NAME TYPE OFFSET DIMENSION...
    local dim
    text "$1"
    le $(($# - 3)) 4
    for dim in "${@:4}"; do le "$dim" 8; done
    le "$2" 4
    le "$3" 8
}
pad() { # FILE: zeros up to a multiple of 32
    local size
    size=$(wc -c <"$1")
    zeros $(((32 - size % 32) % 32)) >>"$1"
}

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ] || exit 1
    [ "$passed" != 0 ] || exit 77
    exit 0
}
