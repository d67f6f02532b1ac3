# SPDX-License-Identifier: MIT
# bash completion for ggld

_ggld_tensors() {
    ggld tensors --json -- "$1" 2>/dev/null |
        sed -n 's/^ *"name": *"\(.*\)",\{0,1\}$/\1/p'
}

_ggld_keys() {
    ggld kv --json -- "$1" 2>/dev/null |
        sed -n 's/^ *"key": *"\(.*\)",\{0,1\}$/\1/p'
}

_ggld() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} words=
    local types="f32 f16 bf16 q8_0 q4_0 q4_1 q5_0 q5_1"

    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        words="info kv tensors dump check convert edit quantize upgrade diff
            split merge sample bench warm residency stream window hash verify sign help
            --help --version"
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
        return
    fi
    case $command:$prev in
    dump:-f | dump:--format) words="text f32 f16 npy raw" ;;
    *:-t | *:--type) words=$types ;;
    convert:-[ansk] | convert:--arch | convert:--name | convert:--set) return ;;
    *:--keep | quantize:-k | convert:--skip | convert:-x) return ;;
    sample:--like) words="llama3-8b" ;;
    sample:--layers | sample:--vocab | sample:--seed | sample:--size) return ;;
    *:--max-size | split:--max-tensors) return ;;
    warm:--io) words="auto map pread uring" ;;
    stream:--io) words="auto map pread direct uring" ;;
    window:--touch) words="order random" ;;
    window:--chunk | window:--count | *:--budget | warm:--tensors) return ;;
    hash:-a | hash:--algo) words="sha256 sha1 xxh64 xxh3 uuid" ;;
    hash:-f | hash:--format | verify:-f | verify:--format)
        words="ggsum llama sha256sum digest lfs in-toto"
        ;;
    hash:--chunks) words="xxh3 sha256 none" ;;
    verify:--root) return ;;
    edit:-s | edit:--set | edit:-u | edit:--unset | edit:--rename)
        local i
        for ((i = 2; i < COMP_CWORD; i++)); do
            [ -f "${COMP_WORDS[i]}" ] && words=$(_ggld_keys "${COMP_WORDS[i]}")
        done
        [ -n "$words" ] || return
        ;;
    edit:--rename-tensor | edit:--reserve) return ;;
    bench:--elems | dump:-r | dump:--rows) return ;;
    esac
    if [ -z "$words" ] && [[ $cur == -* ]]; then
        case $command in
        info | tensors) words="--single --json --help" ;;
        kv) words="--single --raw --json --help" ;;
        dump) words="--format --rows --output --single --help" ;;
        edit)
            words="--set --unset --rename --rename-tensor --output --in-place
                --reserve --force --dry-run --recover --json --help"
            ;;
        check) words="--strict --data --single --json --help" ;;
        convert)
            words="--type --pure --arch --name --set --map --keep --skip
                --allow-nonfinite --max-size --force --help"
            ;;
        quantize)
            words="--type --pure --keep --allow-nonfinite --max-size --force
                --help"
            ;;
        upgrade) words="--big-endian --help" ;;
        diff) words="--values --metadata --json --help" ;;
        split)
            words="--max-size --max-tensors --output --no-tensor-first-split
                --force --dry-run --json --help"
            ;;
        merge) words="--delete-inputs --consume --help" ;;
        sample)
            words="--type --layers --vocab --like --size --sparse --seed
                --force --help"
            ;;
        bench) words="--elems --single --json --help" ;;
        warm) words="--tensors --order --budget --io --single --json --help" ;;
        residency) words="--single --json --help" ;;
        stream) words="--budget --f32 --io --single --json --help" ;;
        window) words="--touch --budget --chunk --count --single --json --help" ;;
        hash)
            words="--algo --format --output --save --whole --chunks --uncached
                --single --json --help"
            ;;
        verify)
            words="--format --pubkey --root --once --folder --all --complete --uncached
                --single --json --help"
            ;;
        sign) words="--key --output --help" ;;
        esac
    fi
    # The tensors of the file before.
    if [ -z "$words" ] && { [ "$command" = dump ] || [ "$command" = window ]; } &&
        [ -f "$prev" ]; then
        words=$(_ggld_tensors "$prev")
    fi
    if [ -n "$words" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    else
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}
complete -F _ggld ggld
