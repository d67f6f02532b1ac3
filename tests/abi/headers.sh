#!/bin/sh
# SPDX-License-Identifier: MIT
# headers.sh ROOT: each public header compiles alone, and twice over, as C11,
# C17 and C++17, without a warning, with every compiler that is here.
set -eu
cd "$1/include/ggld"

n=0
cpp=0
here() { command -v "$1" >/dev/null; }
check() { # compiler language standard
    here "$1" || return 0
    for header in *.h; do
        printf '#include <ggld/%s>\n#include <ggld/%s>\n' "$header" "$header" |
            "$1" -x "$2" -std="$3" -Wall -Wextra -Wconversion -Wshadow \
                -pedantic -Werror -fsyntax-only -I.. - || {
            echo "expected: $header alone compiles with $1 as $3; got: above"
            exit 1
        }
        n=$((n + 1))
        [ "$2" = c ] || cpp=$((cpp + 1))
    done
}

# cc is one of the others, or all there is.
c_compilers="gcc clang"
cpp_compilers="g++ clang++"
here gcc || here clang || c_compilers=cc
here g++ || here clang++ || cpp_compilers=c++
for compiler in $c_compilers; do
    check "$compiler" c c11
    check "$compiler" c c17
done
for compiler in $cpp_compilers; do
    check "$compiler" c++ c++17
done

if [ $n -eq 0 ] || [ $cpp -eq 0 ]; then
    echo "no C or no C++ compiler: nothing is shown"
    exit 77
fi

for header in *.h; do
    grep -q "'$header'" meson.build || {
        echo "expected: meson.build installs $header; got: it does not"
        exit 1
    }
done
echo "headers: $n times compiled, $cpp of them as C++"
