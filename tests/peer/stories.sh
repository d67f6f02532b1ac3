#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# llama.cpp loads what the command makes of a model, and the model still tells
# the same story. $GGLD_LLAMA is a folder with node-llama-cpp, $GGLD_NODE the
# node that runs it; tools/peer.sh gets both.
. "$GGLD_SOURCE/tests/cli/lib.sh"
model=$GGLD_SHARED/models/stories260k-f32.v1.gguf
llama=$GGLD_SOURCE/tests/peer/llama

# The model has terms of its own, and is in no clone.
if [ ! -f "$model" ]; then
    skip stories "no $model"
    finish
fi
# With the model, llama.cpp has to be there in CI.
if [ ! -d "${GGLD_LLAMA-}" ] || [ -z "${GGLD_NODE-}" ]; then
    why="node-llama-cpp is not here; tools/test fetches it"
    if [ "${CI-}" = true ]; then fail stories "$why"; else skip stories "$why"; fi
    finish
fi

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
make "upgraded" f32.gguf upgrade "$model" f32.gguf
make "q8_0, from version 1" q8_0.gguf quantize "$model" q8_0.gguf -t q8_0
make "f16" f16.gguf quantize f32.gguf f16.gguf -t f16
make "edited" edited.gguf edit f32.gguf -o edited.gguf --reserve 4096 \
    -s general.name=Lily -s 'tokenizer.chat_template:string={{ bos_token }}'
cp edited.gguf place.gguf
make "edited in place" place.gguf edit --in-place place.gguf \
    -s 'general.description:string=in the room that was left'

# llama.cpp finds the other shards by the first one's name.
make "split" part-00001-of-00003.gguf split f32.gguf -o part --max-tensors 20
make "merged" merged.gguf merge part-00002-of-00003.gguf merged.gguf
make "q8_0, from shards" part-q8_0.gguf quantize part-00003-of-00003.gguf \
    part-q8_0.gguf -t q8_0

# To safetensors and back; key-values are given again, as whoever converts
# gives them.
make "safetensors" f32.safetensors convert f32.gguf f32.safetensors -t f32
unset 'names[-1]' 'files[-1]'
sets=()
while IFS= read -r -d '' set; do sets+=(--set "$set"); done < <(
    "$ggld" kv --json f32.gguf | jq -j '.kv[] |
        "\(.key):\(if .elem_type then "\(.elem_type)[]" else .type end)=",
        "\(.value | tostring)\u0000"'
)
make "converted" converted.gguf convert f32.safetensors converted.gguf \
    -t f32 "${sets[@]}"
make "converted to q8_0" converted-q8_0.gguf convert f32.safetensors \
    converted-q8_0.gguf -t q8_0 "${sets[@]}"

# The modules are looked for from the script's folder on.
ln -s "$GGLD_LLAMA/node_modules" node_modules
cp "$llama/tell.mjs" .
mapfile -t stories < <("$GGLD_NODE" tell.mjs "${files[@]}" 2>"$work/err")
[ ${#stories[@]} = ${#files[@]} ] || sed 's/^/    /' "$work/err"

for i in "${!names[@]}"; do
    is "${names[i]}: story" "${stories[0]-none}" "${stories[i]-none}"
done
has "the story" <(echo "${stories[0]-}") "there was a little girl named Lily"
finish
