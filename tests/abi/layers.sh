#!/bin/sh
# SPDX-License-Identifier: MIT
# layers.sh ROOT: direction is a rule. Every #include of the library goes to
# its own layer or one below; tools and tests of the public interface include
# public headers only.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"

# Tests that reach inside (unit, malformed and the like) are not among these.
outside='tools|tests/(abi|cli|peer|views)'

list=$(mktemp)
trap 'rm -f "$list"' EXIT
find include loader tools tests -type f >"$list"

set -- $(grep -E "^(include|loader|$outside)/.*\.(c|h|def|inc)\$" "$list")
awk -v existing="$list" -f "$here/includes.awk" "$@"
echo "layers: $# files keep to the direction"
