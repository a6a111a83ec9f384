#!/usr/bin/env bash
# tool_spin.sh — spin searches the epoch protocol (epoch.pml) for three ranks whole: in one lane and in two that alternate, without
# estimates, with them, and with both. No deadlock, no message of a wrong epoch. Then the protocol is broken in one place after the other,
# and the search must find it. The same with the protocol of bells (bells.pml), the tags of non-blocking calls (pending.pml), and communicators that are freed (leave.pml).
set -u
command -v spin >/dev/null || { echo "skipped: no spin here"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
compiler=${CC:-$(command -v clang || echo cc)} # clang takes half the time for such long functions

# search MODEL OPTION...: prints what spin found; 0: searched whole, no error. It is compiled with ${compile[*]}, and has 2^$hash places for states.
search() {
    local model=$1 out
    shift
    rm -f pan*
    spin -a "$@" "$model" >spin.out 2>&1 || { cat spin.out; return 2; }
    "$compiler" -w "${compile[@]}" -DSAFETY -DVECTORSZ=4096 -DMEMLIM=4096 -o pan pan.c || return 2
    out=$(timeout 200 ./pan -m1000000 -w"$hash" 2>&1)
    grep -oE 'errors: .*|^pan:1: .*|[0-9]+ states, stored' <<<"$out" | paste -sd' '
    grep -q 'errors: 0' <<<"$out" && ! grep -qE 'search depth too small|resource shortage|out of memory|reached -DMEMLIM' <<<"$out"
}

# Three steps where not said otherwise. In two lanes with estimates these are too many states: there are two steps, and three plain ones.
# Those that take longest are searched with PAT_TEST_SPIN=all.
failed=0
first=yes
hash=24
compile=(-O0) # compiling takes longer than searching some 500,000 states
[ "${PAT_TEST_SPIN-}" != all ] || compile=(-O1)
while read -r options; do
    [ -n "$options" ] || [ $first = yes ] || continue # the first has none
    first=no
    # shellcheck disable=SC2086 # none, or some
    if ! found=$(search "$PAT_SOURCE/tests/epoch.pml" $options); then
        echo "epoch.pml ${options:-as it is}: $found" >&2
        failed=1
    else
        echo "${options:-one lane}: $found"
    fi
done <<OPTIONS

-DROOM=2
-DANY_GUESS
-DESTIMATES=1 -DCHANGES=1
-DLANES=2 -DROOM=2 -DSTEPS=2
-DLANES=2 -DESTIMATES=2 -DPLAIN
-DLANES=2 -DESTIMATES=2 -DCHANGES=2 -DSTEPS=2
-DLANES=2 -DESTIMATES=3 -DCHANGES=2 -DPLAIN
$([ "${PAT_TEST_SPIN-}" != all ] || printf '%s\n' "-DLANES=2 -DSTEPS=2 -DANY_GUESS" "-DLANES=2 -DESTIMATES=3 -DCHANGES=1 -DPLAIN" "-DESTIMATES=1" "-DESTIMATES=1 -DLEAVES -DSTEPS=2" "-DLANES=2" "-DESTIMATES=1 -DANY_GUESS" "-DESTIMATES=1 -DLEAVES" "-DLANES=2 -DESTIMATES=2 -DCHANGES=2 -DSTEPS=2 -DLEAVES" "-DLANES=2 -DESTIMATES=2 -DPLAIN -DLEAVES" "-DLANES=2 -DESTIMATES=2 -DSTEPS=2" "-DLANES=2 -DESTIMATES=3 -DPLAIN" "-DLANES=2 -DESTIMATES=3 -DSTEPS=2")
OPTIONS

compile=(-O0) # an error is soon found: compiling takes longer
model=$PAT_SOURCE/tests/epoch.pml
# broken WHAT FROM TO OPTION...: the model with a line changed must fail.
broken() {
    local what=$1 hash=20
    sed "s/$2/$3/" "$model" >broken.pml
    cmp -s broken.pml "$model" && { echo "the line to break is gone: $2" >&2; failed=1; return; }
    shift 3
    search broken.pml "$@" >found
    if ! grep -q 'errors: [1-9]' found; then
        echo "went unnoticed: $what" >&2
        failed=1
    fi
}
broken "a round in the slot of the one that was thrown away" '+ 1 - (as_prepared)' '+ 0 * (as_prepared)'
broken "tags that are used again in the next epoch" 'TAG_EPOCHS 2$' 'TAG_EPOCHS 1'
broken "a block that nobody passes on" 'SEND(r, (me + 2) % P)' 'SEND(r, me)'
broken "an own block that leaves before the call" 'r.id = ID(lane, size)$' 'r.id = ID(lane, size); r.got = 1 << me'
broken "a slot that depends on what this rank has prepared" ':: GUESS_NEXT(lane) != 0 && GUESS_NEXT(lane) != size' \
    ':: prepared[lane].state == EARLY \&\& GUESS_NEXT(lane) != size'
broken "a guess that is this rank's own" 'last\[lane\] = LEARNT(step)' 'last[lane] = 1 + me % 2'
broken "slots that lanes share" 'LANE_SLOTS \* (lane) + 2' '2' -DLANES=2 -DSTEPS=2
mixed=(-DLANES=2 -DESTIMATES=2 -DSTEPS=2) both=(-DLANES=2 -DESTIMATES=3 -DSTEPS=2)
broken "a call that forgets what was announced in the other lane" 'GUESS_ENDS_ANNOUNCED(lane) -> guess_void.*' \
    'GUESS_ENDS_ANNOUNCED(lane)' "${both[@]}"
broken "a settlement that forgets what was announced" 'GUESS_ENDS_ANNOUNCED(LANES) -> guess_void.*' \
    'GUESS_ENDS_ANNOUNCED(LANES)' "${mixed[@]}"
broken "an announced round that a rank which has none does not throw away" ':: prepared\[which\].state == EMPTY && BY_ESTIMATES' \
    ':: false \&\& BY_ESTIMATES' "${both[@]}"
broken "an epoch of the announced lane that goes on" 'GUESS_ENDS_ANNOUNCED(which) -> .*' 'GUESS_ENDS_ANNOUNCED(which)' "${both[@]}"
broken "a lane that ceases to go by the last call while a round is prepared by it" 'epoch\[lane\] % 2 == 1' 'step % 2 == 1' \
    -DCHANGES=2 "${mixed[@]}"
broken "estimates that go with a call that needs none" ':: which == LANES || BY_ESTIMATES(which) ->' ':: true ->' "${mixed[@]}"
compile=(-O0 -DT_REVERSE) # moves in the other order: some errors are found sooner so
leaves=(-DESTIMATES=1 -DLEAVES -DSTEPS=2)
broken "a round that is prepared for a call which is left" '!LEFT(SIZE_OF(expected\[exchange\])) \* ' '' "${leaves[@]}"
broken "a choice that is this rank's own" 'leaves\[exchange\]' 'leaves[me % 2]' "${leaves[@]}"
compile=(-O0)

model=$PAT_SOURCE/tests/bells.pml
beside=(-DRINGERS=1 -DTELLERS=1 -DDEAF=1 -DRINGS=1)
all=("-DRINGERS=1 -DRINGS=3" "-DRINGERS=2" "-DRINGERS=1 -DRINGS=3 -DSLEEPERS=2" "${beside[*]}")
[ "${PAT_TEST_SPIN-}" != all ] || all+=("-DRINGERS=2 -DSLEEPERS=2" "-DRINGERS=1 -DTELLERS=1 -DDEAF=1")
for options in "${all[@]}"; do
    # shellcheck disable=SC2086 # several
    found=$(search "$model" $options) || { echo "bells.pml $options: $found" >&2; failed=1; }
    echo "bells, $options: $found"
done
broken "a sleeper that does not ask whether the bell was rung" ':: rung_word == seen_word .*' ':: true ->'
broken "one that counts what was rung after its look" 'asleep++;' 'seen_data = rung_data; asleep++;'
broken "an answer before the eventfd is read" 'event = 0;' 'pending = false;/;s/^ *pending = false;$/event = 0;'
broken "a ringer that does not count" 'rung_data++;' ''
broken "nobody wakes whoever went to sleep meanwhile" ':: asleep > 0 -> wake()$' ':: false -> skip' -DRINGERS=1 -DRINGS=3 -DSLEEPERS=2
broken "a sleeper that heeds data and does not say so" ':: heeds -> heeding++' ':: false -> skip'
broken "a word that is told only to who heeds data" ':: asleep > 0 -> wake()$' ':: heeding > 0 -> wake()/;/proctype sleeper/,/^}/s/:: heeding > 0 -> wake()/:: asleep > 0 -> wake()' \
    "${beside[@]}"

model=$PAT_SOURCE/tests/pending.pml
compile=(-O1) # more moves than in the other models
all=("" "-DSLOTS=1")
[ "${PAT_TEST_SPIN-}" != all ] || all+=("-DSLOTS=1 -DKINDS=3")
for options in "${all[@]}"; do
    # shellcheck disable=SC2086 # several, or none
    found=$(search "$model" $options) || { echo "pending.pml $options: $found" >&2; failed=1; }
    echo "pending calls${options:+, $options}: $found"
done
compile=(-O0)
broken "a call that begins while another one has its tags" 'define TAGS_ARE_FREE(n) .*' 'define TAGS_ARE_FREE(n) true'
broken "one that begins when the other has only begun" 'IS_OVER(m)' 'HAS_BEGUN(m)'
broken "a call that was not guessed with the tags of one that was" 'define CALL_TAG(n) .*' 'define CALL_TAG(n) EARLY_TAG(number[n])'
broken "a round that is made while a call with its tags is under way" 'NONE_UNDER_WAY \&\& !left' '!left'
broken "a round that stays when another call comes" '== WRONG -> drop(NEXT)' '== WRONG -> skip'
broken "a round that stays when no call comes any more" '^        drop(NEXT);' '        skip;'

model=$PAT_SOURCE/tests/leave.pml
found=$(search "$model") || { echo "leave.pml: $found" >&2; failed=1; }
echo "freed communicators: $found"
broken "a settlement that ends while somebody has announced a call" 'done = ALL_SAY(NO_CALL)' 'done = true'
broken "one that goes when the others have only settled" 'gone || ALL_SAY(LEFT)' 'gone || ALL_SAY(NO_CALL)'
broken "a settlement that overlooks who has freed it" 'any_said\[step\] || posted' 'any_said[step] || (posted \&\& !freed[me])'
exit $failed
