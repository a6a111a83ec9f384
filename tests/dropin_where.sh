#!/usr/bin/env bash
# dropin_where.sh — PAT_STACK: calls by way of one function are at one place, or at as many as it is called from. PAT_SIGNAL: each rank says in which call it is.
set -u
failed=0
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
library=$("$PAT_SOURCE/tests/preload.sh")

fail() {
    printf '%s\n' "$*" >&2
    failed=1
}

# under NAME=VALUE... -- PROGRAM...: what it prints goes to "$dir/out".
under() {
    local settings=()
    while [ "$1" != -- ]; do
        settings+=("$1")
        shift
    done
    shift
    PAT_TEST_WRAP="env ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0:verify_asan_link_order=0 LD_PRELOAD=$library ${settings[*]}" \
        "$PAT_SOURCE/tests/mpirun.sh" 3 "$@" >"$dir/out" 2>&1 || fail "$*: $(cat "$dir/out")"
}

# places FILE: how many calls each rank makes at each place of all-reduces, and the place's lines or names.
places() {
    jq -r '[.sites[] | select(.call == "MPI_Allreduce") | "\(.calls / .ranks) \(.source // .at)"] | sort[]' "$1"
}

deep=$PAT_BUILD/tests/plain_deep
under PAT_REPORT="$dir/one.json" -- "$deep"
[ "$(places "$dir/one.json" | wc -l)" = 1 ] || fail "without PAT_STACK: $(places "$dir/one.json")"
mkdir "$dir/trace"
under PAT_STACK=2 PAT_REPORT="$dir/two.json" PAT_TRACE="$dir/trace" -- "$deep"
read -r _ in from_first from_second _ < <(grep '^lines ' "$dir/out")
if jq -e '.sites[0].source' "$dir/one.json" >/dev/null; then
    wanted=$(printf '%s\n' "1 plain_deep.c:$in < plain_deep.c:$from_second" "3 plain_deep.c:$in < plain_deep.c:$from_first")
    [ "$(places "$dir/two.json")" = "$wanted" ] || fail "PAT_STACK=2: $(places "$dir/two.json"), and not $wanted"
else # nothing but addresses is known
    [ "$(places "$dir/two.json" | grep -cE '^[13] plain_deep[+(].* < plain_deep[+(]')" = 2 ] || fail "PAT_STACK=2: $(places "$dir/two.json")"
fi
report=$PAT_BUILD/bench/pat-report
if [ -x "$report" ]; then
    "$report" "$dir/trace" >"$dir/text" || fail "pat-report: $(cat "$dir/text")"
    [ "$(grep -c ' MPI_Allreduce ' "$dir/text")" = 2 ] || fail "two places in the trace: $(cat "$dir/text")"
fi
if [ -n "${PAT_TEST_PYTHON-yes}" ] && /usr/bin/python3 -c 'import mpi4py' 2>/dev/null && grep -q 'Open MPI' "$dir/one.json"; then
    under PAT_STACK=2 PAT_REPORT="$dir/python.json" -- /usr/bin/python3 "$PAT_SOURCE/tests/programs/deep.py"
    [ "$(places "$dir/python.json")" = $'1 programs/deep.py:8 < programs/deep.py:14\n3 programs/deep.py:8 < programs/deep.py:12' ] ||
        fail "PAT_STACK=2 in Python: $(places "$dir/python.json")"
fi

under PAT_SIGNAL=USR2 -- "$deep" asked
read -r _ _ _ _ barrier < <(grep '^lines ' "$dir/out")
for rank in 0 2; do
    grep -qE "^pat: rank $rank on $(uname -n), [0-9.]+ s after MPI_Init: in MPI_Barrier at (plain_deep.c:$barrier|plain_deep[+(][^ ]*) for [0-9.]+ s \(call 5\)$" "$dir/out" ||
        fail "rank $rank, which waits in a barrier: $(cat "$dir/out")"
done
grep -qE "^pat: rank 1 on $(uname -n), [0-9.]+ s after MPI_Init: in no call since MPI_Allreduce at (plain_deep.c:$in|plain_deep[+(][^ ]*), for [0-9.]+ s \(call 4\)$" "$dir/out" ||
    fail "rank 1, which has not come yet: $(cat "$dir/out")"
# Who has taken the signal keeps it, and is asked all the same; a rank in MPI_Finalize answers, and nobody dies of it.
under PAT_SIGNAL=USR2 -- "$deep" taken
if [ "$(grep -c '^taken by the program$' "$dir/out")" != 3 ] || [ "$(grep -c '^pat: PAT_SIGNAL: a rank will not answer: the program has taken the signal' "$dir/out")" != 3 ]; then
    fail "a signal that the program has taken: $(cat "$dir/out")"
fi
under PAT_SIGNAL=USR2 -- "$deep" last
for rank in 0 2; do
    grep -qE "^pat: rank $rank on $(uname -n), [0-9.]+ s after MPI_Init: in MPI_Finalize for [0-9.]+ s \(call 5\)$" "$dir/out" || fail "rank $rank, which waits in MPI_Finalize: $(cat "$dir/out")"
done
exit $failed
