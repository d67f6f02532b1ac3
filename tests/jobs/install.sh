#!/bin/sh
# SPDX-License-Identifier: MIT
# install.sh BUILD APP.C MODEL CC...: installs into a folder of its own, and
# builds an app of libggld-uv against what is there, by pkg-config: with the
# shared libraries, and with both archives. Each opens and warms the model.
set -eu
build=$1
app=$2
model=$3
shift 3
command -v pkg-config >/dev/null || {
    echo "skipped: pkg-config is not here"
    exit 77
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

DESTDIR="$tmp/root" meson install -C "$build" --no-rebuild --quiet
pc=$(find "$tmp/root" -name ggld-uv.pc)
[ -n "$pc" ] || {
    echo "expected: ggld-uv.pc is installed; got: none"
    exit 1
}
# libuv's own file is the system's.
system=$(pkg-config --variable pc_path pkg-config)
root=$(PKG_CONFIG_PATH="${pc%/*}" pkg-config --variable=prefix ggld-uv)
find "$tmp/root" -name '*.pc' -exec sed -i "s|^prefix=.*|prefix=$tmp/root$root|" {} +
export PKG_CONFIG_LIBDIR="${pc%/*}:$system"
libdir=$(pkg-config --variable=libdir ggld-uv)

needs_ours() { readelf -d "$1" | grep -q 'NEEDED.*libggld'; }
run() { # what program: jobs of its own, on a model
    rc=0
    LD_LIBRARY_PATH="$libdir" "$2" "$model" >"$tmp/said" 2>&1 || rc=$?
    { [ "$rc" = 0 ] && grep -q '^first values: ' "$tmp/said" &&
        grep -qx 'all is warm' "$tmp/said"; } || {
        echo "expected: the app warms $model with the $1 libraries; got: exit $rc"
        cat "$tmp/said"
        exit 1
    }
}

# shellcheck disable=SC2046 # words
"$@" -std=c11 -D_GNU_SOURCE "$app" -o "$tmp/shared" \
    $(pkg-config --cflags --libs ggld-uv)
needs_ours "$tmp/shared" || {
    echo "expected: the app needs libggld-uv.so; got: it does not"
    exit 1
}
run shared "$tmp/shared"

# An app of both archives has one name for one thing.
twice=$(nm -g --defined-only "$libdir/libggld.a" "$libdir/libggld-uv.a" |
    awk 'NF == 3 { print $3 }' | sort | uniq -d)
[ -z "$twice" ] || {
    echo "expected: no name in both archives; got: $twice"
    exit 1
}
libs=$(pkg-config --static --libs ggld-uv |
    sed 's/-lggld-uv/-l:libggld-uv.a/; s/-lggld\b/-l:libggld.a/')
# shellcheck disable=SC2046,SC2086 # words
"$@" -std=c11 -D_GNU_SOURCE "$app" -o "$tmp/static" \
    $(pkg-config --cflags ggld-uv) $libs
if needs_ours "$tmp/static"; then
    echo "expected: the static app needs no libggld; got: it does"
    exit 1
fi
run static "$tmp/static"
echo "ggld-uv: shared and static"
