# SPDX-License-Identifier: MIT
# The names that people use for how a model is quantised: by its
# general.file_type, or else by the types that its tensors mix.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
model=$work/model.gguf

# make FILE_TYPE TYPE_ID:BLOCK_ELEMS:BLOCK_BYTES:ROWS...: a matrix of each, rows
# of 256 elements, in a block of layers; with FILE_TYPE - the key is absent.
make() {
    local file_type=$1 spec type elems bytes rows offset=0 i=0
    shift
    {
        header $# $([ "$file_type" = - ] && echo 0 || echo 1)
        if [ "$file_type" != - ]; then
            text general.file_type
            le 4 4 && le "$file_type" 4
        fi
        for spec; do
            IFS=: read -r type elems bytes rows <<<"$spec"
            tensor "blk.$i.weight" "$type" $offset 256 "$rows"
            offset=$((offset + (256 / elems * bytes * rows + 31) / 32 * 32))
            i=$((i + 1))
        done
    } >"$model"
    pad "$model"
    zeros $offset >>"$model"
}

# named NAME DECLARED MAKE_ARGUMENTS...
named() {
    make "${@:3}"
    expect "$1 of ${*:3}" 0 "quantisation  $1$($2 || echo ' (by its tensors)')," \
        - info "$model" # whose data is zeros, as a note has it
    run info --json "$model"
    json "$1 of ${*:3}, JSON" '[.quantization,.quantization_declared]' \
        "[\"$1\",$2]"
}

f32=0:1:4
f16=1:1:2
q4_0=2:32:18
q8_0=8:32:34
q2_k=10:256:84
q3_k=11:256:110
q4_k=12:256:144
q5_k=13:256:176
q6_k=14:256:210

# ---- as it says itself ----
named F32 true 0 $q4_k:16
named F16 true 1 $f16:16
named Q4_0 true 2 $q4_0:16
named Q8_0 true 7 $q8_0:16
named Q4_K_S true 14 $q4_k:16
named Q4_K_M true 15 $q4_k:16
named Q5_K_M true 17 $q5_k:16
named Q6_K true 18 $q6_k:16
named Q4_K_M true $((1024 + 15)) $q4_k:16 # "guessed"

# ---- by its tensors ----
named F32 false - $f32:16
named F16 false - $f16:16 $f32:1
named Q4_0 false - $q4_0:16 $q6_k:1
named Q8_0 false - $q8_0:16
named Q2_K_S false - $q2_k:64
named Q2_K false - $q2_k:64 $q3_k:32
named Q3_K_S false - $q3_k:64
named Q3_K_M false - $q3_k:64 $q4_k:32
named Q3_K_L false - $q3_k:64 $q5_k:32
named Q4_K_S false - $q4_k:64 $q6_k:1
named Q4_K_M false - $q4_k:64 $q6_k:8
named Q5_K_S false - $q5_k:64
named Q5_K_M false - $q5_k:64 $q6_k:8
named Q6_K false - $q6_k:64
# A number that nobody has given yet says nothing.
named Q4_K_M false 999 $q4_k:64 $q6_k:8
finish
