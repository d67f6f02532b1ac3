# SPDX-License-Identifier: MIT
# Wrong use, help, and what becomes of output that cannot be written.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
sample=$work/sample.gguf
run sample "$sample"
is "a sample to work on" 0 "$rc"

run
is "no command: exit status" 2 "$rc"
has "no command: what there is" "$work/err" "Commands:"
expect "--help" 0 "Commands:" "" --help
expect "--version" 0 "ggld 0." "" --version
expect "unknown command" 2 "" "did you mean 'tensors'?" tensrs
expect "nothing like a command" 2 "" "unknown command 'xyzzy'" xyzzy
expect "unknown option" 2 "" "unknown option '--jsno' (did you mean '--json'?)" \
    info --jsno "$sample"
expect "unknown letter" 2 "" "unknown option '-x'" info -x "$sample"
expect "hint" 2 "" "see 'ggld info --help'" info
expect "operand missing" 2 "" "operand missing" dump "$sample"
expect "operand too many" 2 "" "operand too many: 'more'" info "$sample" more
expect "value missing" 2 "" "option '--format' needs a value" \
    dump "$sample" x --format
expect "value where none goes" 2 "" "option '--json' takes no value" \
    info --json=1 "$sample"
expect "control bytes on the command line" 2 "" '\x1B[31m' $'\033[31m'
expect "option behind operands" 0 '"version": 3' "" info "$sample" --json
expect "option before operands" 0 '"version": 3' "" info --json "$sample"
expect "joined value" 0 - "" dump "$sample" output_norm.weight --format=f32
expect "joined letter" 0 - "" dump -fraw "$sample" output_norm.weight
expect "missing file, named once" 1 "" \
    "ggld: $work/none: cannot open: No such file or directory" info "$work/none"
expect "option before the command" 2 "" \
    "option '--json' stands before the command: 'ggld info --json ...'" \
    --json info "$sample"
expect "option that none has, no command" 2 "" "unknown option '--jsn'" --jsn
expect "a folder" 1 "" "ggld: $work: " info "$work"
expect "a name with control bytes" 1 "" 'ggld: no\x1Bne: ' info $'no\033ne'
expect "stricter numbers" 2 "" "--layers is '2x'" sample --layers 2x "$work/x"
expect "number out of range" 2 "" "from 512 to" sample --vocab 3 "$work/x"
expect "size without sense" 2 "" "--size is '1Q'" sample --size 1Q "$work/x"
if "$ggld" --help | grep -q '^  quantize '; then
    expect "unknown type" 2 "" "unknown type 'q9'" \
        quantize "$sample" "$work/x" --type q9
    expect "type that can't be written" 2 "" "type 'q4_K' can't be written" \
        quantize "$sample" "$work/x" --type q4_k
    expect "type missing" 2 "" "--type is missing" quantize "$sample" "$work/x"
else
    skip "quantize" "built without libuv"
fi
is "nothing was made" no "$([ -e "$work/x" ] && echo yes || echo no)"

for command in "${commands[@]}"; do
    expect "$command --help" 0 "usage: ggld $command" "" $command --help
    expect "help $command" 0 "usage: ggld $command" "" help $command
    expect "$command: unknown option" 2 "" "see 'ggld $command --help'" \
        $command --nonsense
    expect "$command: unknown letter" 2 "" "see 'ggld $command --help'" \
        $command -Z
    expect "$command: no operand" 2 "" "ggld: $command: " $command
done

# What "-" is as an output: no name of a file.
mkdir "$work/dash" && cp "$sample" "$work/dash/m.gguf"
cd "$work/dash" || exit 1
while read -r command arguments; do
    case " ${commands[*]} " in
    *" $command "*) ;;
    *) skip "- of $command" "built without libuv" && continue ;;
    esac
    # shellcheck disable=SC2086 # words
    expect "- of $command" 2 "" \
        "is '-': it has to be a file, which appears only complete (./- is one" \
        $command $arguments
done <<'EOF'
upgrade m.gguf -
edit m.gguf --set a.b:u32=1 --output -
edit m.gguf --set a.b:u32=1 -o- --dry-run
split m.gguf --max-tensors 8 --output -
split m.gguf --max-tensors 8 --output - --dry-run
merge m.gguf -
merge --consume m.gguf -
sample -
convert m.gguf -
quantize m.gguf - --type q8_0
quantize m.gguf - --type q8_0 --max-size 1M
EOF
is "-: nothing was made" m.gguf "$(ls)"
expect "./- is a file" 0 "./-: " "" sample ./-
expect "-o - of dump" 0 - "" dump m.gguf output_norm.weight -o -
run dump m.gguf output_norm.weight
"$ggld" dump m.gguf output_norm.weight -o - >../dumped
same "-o - of dump: standard output" "$work/out" "$work/dumped"
cd "$work" || exit 1

cp "$sample" "$work/-dash"
(cd "$work" && "$ggld" info -- -dash >"$work/out" 2>&1)
is "a name that begins with a dash, behind --" 0 $?

# Neither a full disk nor a closed pipe passes for success.
for command in "info $sample" "kv $sample" "tensors $sample" "check $sample" \
    "info --json $sample" "dump $sample output_norm.weight" "--help"; do
    # shellcheck disable=SC2086 # words
    "$ggld" $command >/dev/full 2>"$work/err"
    is "full disk: $command" 1 $?
    has "full disk: $command" "$work/err" \
        "ggld: standard output: cannot write: No space left on device"
done
mkfifo "$work/fifo"
"$ggld" dump "$sample" token_embd.weight >"$work/fifo" 2>"$work/err" &
writer=$!
head -c 10 "$work/fifo" >/dev/null
wait $writer
is "closed pipe: ends by the signal, as others do" 141 $?
is "closed pipe: nothing is said" "" "$(cat "$work/err")"
(
    trap '' PIPE
    "$ggld" dump "$sample" token_embd.weight >"$work/fifo" 2>"$work/err" &
    head -c 10 "$work/fifo" >/dev/null
    wait $!
)
is "closed pipe, the signal ignored" 1 $?
has "closed pipe, the signal ignored" "$work/err" \
    "standard output: cannot write: Broken pipe"
finish
