#!/usr/bin/env bash
# tool_spin.sh — spin searches the epoch protocol (epoch.pml) for three ranks whole, as relay has it: no deadlock, no block of
# a wrong epoch. Then the protocol is broken, and the search must find it.
set -u
command -v spin >/dev/null || { echo "skipped: no spin here"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

# search MODEL OPTION...: prints what spin found; 0: searched whole, no error.
search() {
    local model=$1 out
    shift
    rm -f pan*
    spin -a "$@" "$model" >spin.out 2>&1 || { cat spin.out; return 2; }
    "${CC:-cc}" -O2 -DSAFETY -DCOLLAPSE -DVECTORSZ=4096 -o pan pan.c || return 2
    out=$(timeout 200 ./pan -m1000000 -w24 2>&1)
    grep -E 'errors:|assertion|invalid end|states, stored' <<<"$out"
    grep -q 'errors: 0' <<<"$out" && ! grep -qE 'search depth too small|resource shortage|out of memory' <<<"$out"
}

failed=0
for options in "" "-DROOM=2 -DEPOCHS=2"; do
    # shellcheck disable=SC2086 # none, or some
    if ! found=$(search "$PAT_SOURCE/tests/epoch.pml" $options); then
        echo "epoch.pml ${options:-as it is}: $found" >&2
        failed=1
    else
        echo "${options:-relay}: $found"
    fi
done

# broken WHAT FROM TO: the model with a line changed must fail.
broken() {
    sed "s/$2/$3/" "$PAT_SOURCE/tests/epoch.pml" >broken.pml
    cmp -s broken.pml "$PAT_SOURCE/tests/epoch.pml" && { echo "the line to break is gone: $2" >&2; failed=1; return; }
    search broken.pml >found
    if ! grep -q 'errors: [1-9]' found; then
        echo "went unnoticed: $1" >&2
        failed=1
    fi
}
broken "a round in the slot of the one that was thrown away" 'slot = 2 \* (epoch % TAG_EPOCHS) + 1$' 'slot = 2 * (epoch % TAG_EPOCHS)'
broken "tags that are used again in the next epoch" 'TAG_EPOCHS 2$' 'TAG_EPOCHS 1'
broken "a block that nobody passes on" '(b) != RIGHT' '(b) == me'
broken "an own block that leaves before the call" '^        forget()$' 'got = (1 << me); sent = 0'
exit $failed
