#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# llama.cpp loads what the command makes of a model, and the model still tells
# the same story. $GGLD_LLAMA is a folder with node-llama-cpp, $GGLD_NODE the
# node that runs it; tools/peer.sh gets both.
. "$GGLD_SOURCE/tests/cli/lib.sh"
model=$GGLD_SHARED/models/stories260k-f32.v1.gguf
llama=$GGLD_SOURCE/tests/peer/llama

# Where they are missing in CI, that is a failure.
missing() { # WHY
    if [ "${CI-}" = true ]; then fail stories "$1"; else skip stories "$1"; fi
    finish
}

if [ ! -d "${GGLD_LLAMA-}" ] || [ -z "${GGLD_NODE-}" ]; then
    missing "node-llama-cpp is not here; tools/test fetches it"
fi
[ -f "$model" ] || missing "no $model"

# make NAME FILE ARGUMENTS...: runs the command, which makes FILE, one of the
# models to try.
names=()
files=()
make() {
    run "${@:3}"
    is "$1: exit status" 0 "$rc"
    [ "$rc" = 0 ] || sed 's/^/    /' "$work/err"
    names+=("$1")
    files+=("$work/$2")
}

cd "$work" || exit 1
make "f32, version 3" f32.gguf quantize "$model" f32.gguf -t f32
make "q8_0, from version 1" q8_0.gguf quantize "$model" q8_0.gguf -t q8_0
make "f16" f16.gguf quantize f32.gguf f16.gguf -t f16
make "bf16" bf16.gguf quantize f32.gguf bf16.gguf -t bf16

# The modules are looked for from the script's folder on.
ln -s "$GGLD_LLAMA/node_modules" node_modules
cp "$llama/tell.mjs" .
mapfile -t stories < <("$GGLD_NODE" tell.mjs "${files[@]}" 2>"$work/err")
[ ${#stories[@]} = ${#files[@]} ] || sed 's/^/    /' "$work/err"

# What another number format changes in the numbers may change the story too;
# those are loaded, and tell some story.
for i in "${!names[@]}"; do
    case ${names[i]} in
    f16 | bf16 | *only\ loaded*)
        is "${names[i]}: has something to tell" '", ' "${stories[i]:0:3}"
        ;;
    *) is "${names[i]}: story" "${stories[0]-none}" "${stories[i]-none}" ;;
    esac
done
has "the story" <(echo "${stories[0]-}") "there was a little girl named Lily"
finish
