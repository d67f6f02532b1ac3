# SPDX-License-Identifier: MIT
# Help, man pages and completions tell the same: every option of a command is
# in all of them, and the pages are well formed.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
tools=$GGLD_SOURCE/tools
for command in "${commands[@]}"; do
    page=$tools/man/ggld-$command.1
    run $command --help
    options=$(sed -n 's/^ .* --\([a-z-]*\).*/\1/p' "$work/out" | sort -u)
    is "$command: has options" yes "$([ -n "$options" ] && echo yes)"
    for option in $options; do
        has "$command --$option: man page" "$page" "Fl -$option"
        has "$command --$option: bash" "$tools/completions/ggld.bash" "--$option"
        has "$command --$option: zsh" "$tools/completions/_ggld" "--$option"
    done
    # And nothing else.
    for option in $(grep -o 'Fl -[a-z-]\+' "$page" | cut -c5- | sort -u); do
        has "$command: man page's --$option" "$work/out" "--$option"
    done
    has "ggld.1 lists $command" "$tools/man/ggld.1" ".It Cm $command"
    has "ggld --help lists $command" <("$ggld" --help) "  $command "
done
if command -v mandoc >/dev/null; then
    is "man pages: nothing to say of them" "" "$(
        mandoc -Tlint "$tools"/man/*.[15] | grep -v 'referenced manual not found'
    )"
else
    skip "man pages" "no mandoc here"
fi

# Completion, as bash asks for it.
run sample "$work/s.gguf"
complete_words() { # WORDS..., the last to be completed
    PATH=$(dirname "$ggld"):$PATH bash -c '
        compopt() { :; }
        . "$0"
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _ggld
        printf "%s\n" "${COMPREPLY[@]}"' \
        "$tools/completions/ggld.bash" "$@" | xargs
}
is "bash: commands" "quantize" "$(complete_words ggld qua)"
is "bash: options" "--rows" "$(complete_words ggld dump --ro)"
is "bash: types" "q8_0" "$(complete_words ggld quantize a b --type q8)"
is "bash: tensors" "output_norm.weight" \
    "$(complete_words ggld dump "$work/s.gguf" output_n)"
is "bash: files" "$work/s.gguf" "$(complete_words ggld info "$work/s.g")"
finish
