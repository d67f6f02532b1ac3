#!/bin/sh
# SPDX-License-Identifier: MIT
# layers_refuses.sh: plants one wrong #include at a time into a small tree and
# expects layers.sh to name it, so that a green layers.sh means something.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree"

mkdir -p include/ggld tools tests/views
for layer in base spec read write kern lazy change export integrity window \
    jobs; do
    mkdir -p loader/$layer
    echo '#include <ggld/a.h>' >loader/$layer/$layer.h
done
echo '#include <stdint.h>' >include/ggld/a.h
echo '#include <ggld/a.h>' >tools/main.c

sh "$here/layers.sh" "$tree" >/dev/null || {
    echo "expected: a tree without faults passes; got: refused"
    exit 1
}

# FILE and the #include that must be refused in it.
n=0
while read -r path include; do
    echo "#include $include" >"$path"
    if said=$(sh "$here/layers.sh" "$tree"); then
        echo "expected: $path with #include $include refused; got: passed"
        exit 1
    fi
    case $said in
    "$path:1: includes $include: "*) ;;
    *)
        echo "expected: $path:1 named with $include; got: $said"
        exit 1
        ;;
    esac
    rm "$path"
    n=$((n + 1))
done <<'CASES'
loader/base/x.c "../spec/spec.h"
loader/spec/x.c "../read/read.h"
loader/spec/x.h "../kern/kern.h"
loader/read/x.c "../write/write.h"
loader/read/x.c "../kern/kern.h"
loader/write/x.c "../read/read.h"
loader/kern/x.inc "../read/read.h"
loader/kern/x.def "../lazy/lazy.h"
loader/lazy/x.c "../jobs/jobs.h"
loader/lazy/x.c "../change/change.h"
loader/write/x.c "../change/change.h"
loader/change/x.c "../jobs/jobs.h"
loader/jobs/x.c "../read/read.h"
loader/integrity/x.c "../jobs/jobs.h"
loader/window/x.c "../jobs/jobs.h"
loader/window/x.c "../integrity/integrity.h"
loader/window/x.c "../lazy/lazy.h"
loader/integrity/x.c "../window/window.h"
loader/jobs/x.c "../window/window.h"
loader/export/x.c "../integrity/integrity.h"
loader/export/x.c "../jobs/jobs.h"
loader/export/x.c "../write/write.h"
loader/integrity/x.c "../export/export.h"
loader/jobs/x.c "../export/export.h"
loader/export/x.c <uv.h>
loader/jobs/x.c <json-c/json.h>
loader/read/x.c <json-c/json.h>
loader/lazy/x.c <uv.h>
loader/window/x.c <uv.h>
loader/jobs/x.c <linux/userfaultfd.h>
loader/integrity/x.c <uv.h>
loader/lazy/x.c <liburing.h>
loader/jobs/x.c <openssl/evp.h>
loader/read/x.c <openssl/sha.h>
loader/lazy/x.c <xxhash.h>
loader/lazy/x.c "spec.h"
loader/lazy/x.c "../../include/ggld/a.h"
loader/lazy/x.c <ggld/nothing.h>
include/ggld/x.h <sys/types.h>
include/ggld/x.h <ggld/a.h>
include/ggld/x.h "../../loader/base/base.h"
tools/x.c "../loader/base/base.h"
tools/x.c "base/base.h"
tests/views/x.c "read/read.h"
CASES
echo "layers_refuses: $n wrong includes named"
