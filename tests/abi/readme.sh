#!/bin/sh
# SPDX-License-Identifier: MIT
# readme.sh ROOT LIBGGLD.A CC...: the README's programs are what it says they
# are: the first builds without a warning and reads a model, the second is
# tests/jobs/example_warm.c, which is built and run there.
set -eu
root=$1
library=$2
shift 2
model="$root/tests/malformed/data/Z3_q5k_exact.gguf"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

block() { # number: the text of the README's n-th block of C
    awk -v want="$1" '/^```c$/ { n++; next } /^```$/ { n += n % 2; next }
        n == 2 * want - 1' "$root/README.md"
}

block 1 >"$tmp/app.c"
"$@" -std=c11 -Wall -Wextra -Wconversion -Werror -I"$root/include" \
    "$tmp/app.c" "$library" -o "$tmp/app"
said=$("$tmp/app" "$model") || {
    echo "expected: the README's program reads $model; got: $said"
    exit 1
}
case $said in
"1 tensors"*) ;;
*)
    echo "expected: 1 tensors; got: $said"
    exit 1
    ;;
esac

block 2 >"$tmp/warm.c"
diff -u "$root/tests/jobs/example_warm.c" "$tmp/warm.c" || {
    echo "expected: the README has tests/jobs/example_warm.c as it is"
    exit 1
}
echo "2 passed, 0 failed, 0 skipped"
