# SPDX-License-Identifier: MIT
# leftovers: what a command that was killed leaves beside its output, the next
# one of that output removes, and says so. Those of others stay.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
if [ -n "${GGLD_SANITIZED-}" ]; then
    skip "every command" "nothing can be preloaded before a sanitizer"
    finish
fi
cd "$work" || exit 1
"$ggld" sample in.gguf >/dev/null
"$ggld" split --max-tensors 8 -o set in.gguf >/dev/null
size=$(wc -c <in.gguf)

# killed NAME ARGUMENTS...: the command ends by SIGKILL, its output written.
killed() {
    local name=$1
    shift
    { (LD_PRELOAD=$GGLD_KILLER exec "$ggld" "$@" >/dev/null); } 2>/dev/null
    is "$name: killed" 137 $?
}
temporaries() { find . -name '*.tmp.*' | sort; }

# NAME OUT, and the command, which makes OUT.
while read -r name out arguments; do
    read -ra command <<<"$arguments"
    killed "$name" "${command[@]}"
    left=$(temporaries)
    case $left in
    ./"$out".tmp.????????????????) pass ;;
    *) fail "$name: one is left" "expected: $out.tmp.H" "got:      $left" ;;
    esac
    run info in.gguf
    is "$name: a command that writes nothing" "$left" "$(temporaries)"
    "$ggld" sample other.gguf -f >/dev/null 2>err
    is "$name: one with another output" "$left" "$(temporaries)"
    run "${command[@]}"
    is "$name: again" 0 "$rc"
    is "$name: it is gone" "" "$(temporaries)"
    has "$name: it is told" err "$out: note: '${left#./}', which a command that was killed had left, is removed: "
    is "$name: once" 1 "$(grep -c 'had left' err)"
    run "${command[@]}"
    is "$name: nothing to tell" 0 "$(grep -c 'had left' err)"
done <<'ROWS'
sample a.gguf sample -f a.gguf
quantize b.gguf quantize -t q8_0 in.gguf b.gguf
convert c.safetensors convert in.gguf c.safetensors
upgrade d.gguf upgrade in.gguf d.gguf
edit e.gguf edit in.gguf --set general.name:string=x -o e.gguf
merge f.gguf merge set-00001-of-00003.gguf f.gguf
dump g.txt dump in.gguf output_norm.weight -o g.txt
ROWS

killed "two: the first" sample -f a.gguf
killed "two: the second" sample -f b.gguf
for n in 1 2; do
    cp a.gguf "a.gguf.tmp.000000000000000$n"
done
run sample -f a.gguf
is "several: one line" 1 "$(wc -l <err)"
has "several" err " and 2 more, which commands that were killed had left, are removed: "
is "several: another's stays" 1 "$(temporaries | wc -l)"
run sample -f b.gguf

killed "split" split --max-tensors 8 -o s in.gguf
is "split: one is left" 1 "$(temporaries | wc -l)"
run split --max-tensors 8 -o s in.gguf
has "split" err "s-00001-of-00003.gguf: note: "
is "split: it is gone" "" "$(temporaries)"

# One that is being written has a lock.
: >a.gguf.tmp.0123456789abcdef
exec 8<a.gguf.tmp.0123456789abcdef
flock 8
run sample -f a.gguf
is "a living one stays" ./a.gguf.tmp.0123456789abcdef "$(temporaries)"
is "a living one: nothing is told" "" "$(cat err)"
exec 8<&-
run sample -f a.gguf
is "it dies" "" "$(temporaries)"
has "it dies" err "is removed: 0 B"

# A refusal, on the way to writing, removes nothing.
: >in.gguf.tmp.0123456789abcdef
expect "a name that is taken" 1 "" "is there already" sample in.gguf
expect "onto itself" 2 "" "are the same file" \
    quantize -t q8_0 in.gguf in.gguf
is "refusals" ./in.gguf.tmp.0123456789abcdef "$(temporaries)"
is "the input is as it was" "$size" "$(wc -c <in.gguf)"
finish
