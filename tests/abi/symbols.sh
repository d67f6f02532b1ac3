#!/bin/sh
# SPDX-License-Identifier: MIT
# symbols.sh INCLUDE LIBNAME.A LIBNAME.SO [NEEDED...]: no global name in the
# static library is anything but ggld_...; the shared one exports just the
# functions that its public headers declare, and needs only what NEEDED says,
# and libc. Headers that ggld.h includes are libggld's, others libggld-uv's.
set -eu
include=$1
static=$2
shared=$3
shift 3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

nm -g --defined-only "$static" | awk 'NF == 3 { print $3 }' |
    sort -u >"$tmp/static"
[ -s "$tmp/static" ] || {
    echo "expected: global names in $static; got: none"
    exit 1
}
if grep -v '^ggld_' "$tmp/static"; then
    echo "expected: only ggld_... in $static; got: the names above"
    exit 1
fi

for header in "$include"/*.h; do
    ours=libggld-uv
    if [ "${header##*/}" = ggld.h ] ||
        grep -q "^#include \"${header##*/}\"" "$include/ggld.h"; then
        ours=libggld
    fi
    case ${static##*/} in "$ours.a") cat "$header" ;; esac
done >"$tmp/headers"

# Declarations end with ';'. The function is the first name before a '('.
awk '
    { text = text $0 "\n" }
    END {
        while ((i = index(text, "/*")) > 0) {
            rest = substr(text, i + 2)
            rest = substr(rest, index(rest, "*/") + 2)
            text = substr(text, 1, i - 1) " " rest
        }
        gsub(/(^|\n)[ \t]*#[^\n]*/, "", text)
        n = split(text, parts, ";")
        for (i = 1; i <= n; i++)
            if (parts[i] ~ /GGLD_API/) {
                if (!match(parts[i], /ggld_[a-z0-9_]+[ \n]*\(/))
                    print "unreadable:" parts[i]
                else
                    print substr(parts[i], RSTART, RLENGTH - 1)
            }
    }' "$tmp/headers" | sort >"$tmp/declared"
n=$(grep -v '^#' "$tmp/headers" | grep -c 'GGLD_API')
[ "$n" -eq "$(sort -u "$tmp/declared" | wc -l)" ] || {
    echo "expected: $n functions declared GGLD_API; got:"
    cat "$tmp/declared"
    exit 1
}

nm -D --defined-only "$shared" | awk '{ print $3 }' | sort >"$tmp/exported"
if ! diff "$tmp/declared" "$tmp/exported"; then
    echo "expected: $shared exports what the headers declare (<);" \
        "got: what it exports (>)"
    exit 1
fi

readelf -d "$shared" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' >"$tmp/needed"
while read -r library; do
    for allowed in libc "$@"; do
        case $library in "$allowed".*) continue 2 ;; esac
    done
    echo "expected: $shared needs libc $*; got: $library"
    exit 1
done <"$tmp/needed"
echo "symbols: $n exported, $(wc -l <"$tmp/static") global in the static one"
