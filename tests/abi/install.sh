#!/bin/sh
# SPDX-License-Identifier: MIT
# install.sh BUILD VERSION PREFIX APP.C CC...: installs into a folder of its
# own, and builds and runs an app against what is there, by pkg-config, with
# the shared and with the static library.
set -eu
build=$1
version=$2
prefix=$3
app=$4
shift 4
command -v pkg-config >/dev/null || {
    echo "pkg-config is not here: nothing is shown"
    exit 77
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

DESTDIR="$tmp/root" meson install -C "$build" --no-rebuild --quiet
pc=$(find "$tmp/root" -name ggld.pc)
[ -n "$pc" ] || {
    echo "expected: ggld.pc is installed; got: none"
    exit 1
}
export PKG_CONFIG_LIBDIR="${pc%/*}" PKG_CONFIG_SYSROOT_DIR="$tmp/root"
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
libdir="$tmp/root$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --variable=libdir ggld)"

run() { # what program
    said=$(LD_LIBRARY_PATH="$libdir" "$2") || {
        echo "expected: the app runs with the $1 library; got: $said"
        exit 1
    }
    case $said in
    "$version "*) ;;
    *)
        echo "expected: version $version of the $1 library; got: $said"
        exit 1
        ;;
    esac
}
needs_ours() { readelf -d "$1" | grep -q 'NEEDED.*libggld'; }

[ "$(pkg-config --modversion ggld)" = "$version" ] || {
    echo "expected: version $version; got: $(pkg-config --modversion ggld)"
    exit 1
}
"$@" -std=c11 "$app" -o "$tmp/shared" $(pkg-config --cflags --libs ggld)
needs_ours "$tmp/shared" || {
    echo "expected: the app needs libggld.so; got: it does not"
    exit 1
}
run shared "$tmp/shared"

libs=$(pkg-config --static --libs ggld | sed 's/-lggld/-l:libggld.a/')
"$@" -std=c11 "$app" -o "$tmp/static" $(pkg-config --cflags ggld) $libs
if needs_ours "$tmp/static"; then
    echo "expected: the static app needs no libggld.so; got: it does"
    exit 1
fi
run static "$tmp/static"

for file in include/ggld/ggld.h; do
    [ -e "$tmp/root$prefix/$file" ] || {
        echo "expected: $prefix/$file is installed; got: it is not"
        exit 1
    }
done
echo "install: $said, shared and static"
