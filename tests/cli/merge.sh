# SPDX-License-Identifier: MIT
# merge: shards become the file that they were made of.
# shellcheck shell=bash
. "$(dirname "$0")/lib.sh"
sample=$work/sample.gguf
run sample "$sample"
make_shards() {
    run split --max-tensors 8 -f -o "$work/m" "$sample"
}
shard() { echo "$work/m-0000$1-of-00003.gguf"; }
make_shards
expect "merged" 0 "$work/out.gguf: 3 shards, 21 tensors" "" \
    merge "$(shard 1)" "$work/out.gguf"
same "merged" "$sample" "$work/out.gguf"
expect "from another shard" 0 - "" merge "$(shard 3)" "$work/out.gguf"
same "from another shard" "$sample" "$work/out.gguf"
is "the shards stay" 3 "$(find "$work" -name 'm-*' | wc -l)"
expect "--delete-inputs" 0 "compared, and the shards removed" "" \
    merge --delete-inputs "$(shard 1)" "$work/out.gguf"
same "--delete-inputs" "$sample" "$work/out.gguf"
is "--delete-inputs: the shards are gone" 0 \
    "$(find "$work" -name 'm-*' | wc -l)"

make_shards
echo old >"$work/out.gguf"
expect "onto a shard" 2 "" "is the input" merge "$(shard 1)" "$(shard 2)"
expect "a whole model" 1 "" "it is a whole model, and no shard" \
    merge "$sample" "$work/out.gguf"
(
    ulimit -f 200
    "$ggld" merge --delete-inputs "$(shard 1)" "$work/out.gguf" 2>"$work/err"
)
is "no room" 1 $?
is "no room: one line" 1 "$(wc -l <"$work/err")"
is "no room: the shards stay" 3 "$(find "$work" -name 'm-*' | wc -l)"
expect "onto a folder" 1 "" "is a folder" merge "$(shard 1)" "$work"
expect "both" 2 "" "exclude each other" \
    merge --delete-inputs --consume "$(shard 1)" "$work/out.gguf"

# --consume.
(
    ulimit -f 600
    "$ggld" merge --consume "$(shard 1)" "$work/part.gguf" 2>"$work/err"
)
is "--consume, no room" 1 $?
is "--consume, no room: nothing was done" 3 \
    "$(find "$work" -name 'm-*' -o -name 'part*' | wc -l)"
expect "--consume" 0 "$work/part.gguf: merged, and the shards consumed" "" \
    merge --consume "$(shard 1)" "$work/part.gguf"
same "--consume" "$sample" "$work/part.gguf"
expect "--consume again" 1 "" "they were merged before, it seems" \
    merge --consume "$(shard 1)" "$work/part.gguf"
same "--consume again" "$sample" "$work/part.gguf"
is "--consume: only the output is left" "$work/part.gguf" \
    "$(find "$work" -name 'm-*' -o -name 'part*')"
make_shards
echo other >"$work/out.gguf.ggld-part"
expect "a part of another" 1 "" "'out.gguf.ggld-part' is there beside it" \
    merge --consume "$(shard 1)" "$work/out.gguf"
is "a part of another is kept" other "$(cat "$work/out.gguf.ggld-part")"
rm "$work/out.gguf.ggld-part"
# Killed when the first shard is removed, and the last is another by now.
halfway() {
    make_shards
    "$GGLD_HALFWAY_MERGE" "$(shard 1)" "$work/part.gguf" 1 2>/dev/null
}
halfway 2>/dev/null
is "halfway: a shard is gone" 2 "$(find "$work" -name 'm-*' | wc -l)"
cp "$work/part.gguf.ggld-merge" "$work/journal"
printf '!GGLDMG2' | dd of="$work/part.gguf.ggld-merge" conv=notrunc status=none
expect "a journal of another version" 1 "" "of another version of ggld" \
    merge --consume "$(shard 1)" "$work/part.gguf"
has "a journal of another version: what is to be done" "$work/err" \
    "once the above is mended"
cat "$work/journal" >"$work/part.gguf.ggld-merge"
# Its 553 KiB, and 633 that are a hole: there must be no room for more.
taken=$(($(stat -c '%b * %B / 1024' "$work/part.gguf.ggld-part")))
[ "$taken" -le 620 ]
is "halfway: the part takes the room of that shard, 620 KiB at most; $taken" 0 $?
cp "$(shard 3)" "$work/third"
echo x >>"$(shard 3)"
expect "another shard" 1 "" "once the above is mended" \
    merge --consume "$(shard 1)" "$work/part.gguf"
is "another shard: none is removed" 2 "$(find "$work" -name 'm-*' | wc -l)"
mv "$work/third" "$(shard 3)"
touch "$(shard 3)"
expect "the shard is back" 0 - "" merge --consume "$(shard 1)" "$work/part.gguf"
same "the shard is back" "$sample" "$work/part.gguf"

# In a copy of the folder it goes on too.
rm "$work/part.gguf"
halfway 2>/dev/null
mkdir "$work/copy"
cp "$work"/m-* "$work"/part* "$work/copy"
expect "in a copy" 0 - "" merge --consume "$work/copy/m-00002-of-00003.gguf" \
    "$work/copy/part.gguf"
same "in a copy" "$sample" "$work/copy/part.gguf"
is "in a copy: only the output is left" part.gguf "$(ls "$work/copy")"
rm -r "$work/copy"

# Whatever is asked of a shard, gone or there, of the output and of its part:
# it is said that a merge was interrupted, and which command goes on.
says() { # NAME TEXT COMMAND...
    run "${@:3}"
    has "$1: a merge was interrupted" "$work/err" "was interrupted"
    has "$1: what goes on" "$work/err" "$2"
    is "$1: said once" 1 "$(grep -c "was interrupted" "$work/err")"
}
for command in "${commands[@]}"; do
    case $command in
    edit) more=(--dry-run --set general.name=x) ;;
    dump | window) more=(token_embd.weight) ;;
    diff) more=("$sample") ;;
    split) more=(--dry-run --max-tensors 3 -o "$work/z") ;;
    quantize) more=(--type q8_0 "$work/new.gguf") ;;
    convert) more=("$work/new.safetensors") ;;
    upgrade | merge) more=("$work/new.gguf") ;;
    sign | sample) continue ;; # they take no model
    *) more=() ;;
    esac
    for no in 1 2; do
        says "$command, shard $no" \
            "'ggld merge --consume $(shard $no) $work/part.gguf' goes on" \
            "$command" "$(shard $no)" "${more[@]}"
    done
    for file in part.gguf part.gguf.ggld-part; do
        says "$command, $file" \
            "'ggld merge --consume SHARD $work/part.gguf' goes on" \
            "$command" "$work/$file" "${more[@]}"
    done
    rm -f "$work"/new.*
done

# What it still needs is not edited, but into another file, or by force.
state() { cat "$work"/m-* "$work"/part.gguf.* | cksum; }
before=$(state)
while read -r path; do
    for options in "" -i -n; do
        # shellcheck disable=SC2086 # an option or none
        expect "edit $options ${path##*/}" 1 "" \
            "a merge that is not done still needs it as it is" \
            edit $options "$path" --set general.name=x
    done
    is "edit ${path##*/}: untouched" "$before" "$(state)"
done <<PATHS
$(shard 2)
$work/part.gguf.ggld-part
PATHS
expect "edit a shard into another file" 0 - - \
    edit "$(shard 2)" --force --set general.name:string=x -o "$work/new.gguf"
rm "$work/new.gguf"
is "edit a shard into another file: untouched" "$before" "$(state)"
expect "edit by force, in a dry run" 0 - - \
    edit -n --force "$(shard 2)" --set general.name:string=x

# Its journal is locked while it is at work.
exec 9<"$work/part.gguf.ggld-merge"
flock -x 9
for path in "$(shard 2)" "$work/part.gguf.ggld-part"; do
    run info "$path"
    has "at work, ${path##*/}" "$work/err" \
        "a merge that consumes its shards, into '$work/part.gguf', is at work here: wait for its end"
    is "at work, ${path##*/}: not interrupted" 0 \
        "$(grep -c "was interrupted" "$work/err")"
done
exec 9<&-
run info "$work/part.gguf"
has "the output, which is not there" "$work/err" \
    "note: this is still to be made: a merge that consumes its shards"
echo old >"$work/part.gguf"
run info "$work/part.gguf"
has "the output, which is there" "$work/err" \
    "note: this is to be replaced: a merge that consumes its shards"
rm "$work/part.gguf"
says "diff, the other" "'ggld merge --consume $(shard 2) $work/part.gguf'" \
    diff "$sample" "$(shard 2)"
says "a merge into another" "'ggld merge --consume $(shard 1) $work/part.gguf'" \
    merge --consume "$(shard 1)" "$work/another.gguf"
expect "one that lacks none" 0 - "" info "$sample"
expect "the command that was told" 0 - "" \
    merge --consume "$(shard 2)" "$work/part.gguf"
same "the command that was told" "$sample" "$work/part.gguf"
rm -f "$work/part.gguf"
make_shards
rm "$(shard 2)"
expect "a shard is missing, --consume" 1 "" "m-00002-of-00003.gguf" \
    merge --consume "$(shard 1)" "$work/out.gguf"
is "a shard is missing, --consume: nothing is left" "" \
    "$(find "$work" -name '*.ggld-*')"
: >"$work/other.gguf.ggld-merge"
for command in info check merge; do
    operands=("$(shard 1)")
    [ $command != merge ] || operands+=("$work/out.gguf")
    run $command "${operands[@]}"
    has "$command: a merge was interrupted" "$work/err" \
        "into '$work/other.gguf', was interrupted here"
done
is "merge has no --single" 0 "$(grep -c 'single\|SINGLE\|No such' "$work/err")"
rm "$work/other.gguf.ggld-merge"
run info "$(shard 1)"
has "info has --single" "$work/err" "; one alone opens with --single"
expect "a shard is missing" 1 "" "m-00002-of-00003.gguf" \
    merge "$(shard 1)" "$work/out.gguf"
is "the old file is as it was" old "$(cat "$work/out.gguf")"
is "nothing is left behind" "" "$(find "$work" -name '*.tmp*')"
finish
