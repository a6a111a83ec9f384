#!/usr/bin/env bash
# dropin_mockups.sh — profiles of mock-ups under the drop-in: random collectives of a program that knows nothing of it come out the same,
# run by the mock-ups and PAT's own algorithms that the profiles name, which the report says, whatever calls of other lengths are run by; floating-point numbers are joined in another order only by leave; what is wrong with a profile is told with its line, and the program
# runs without that one alone; what a mock-up cannot run the MPI library does, and the report says why; wrong arguments are MPI's to judge.
set -u
failed=0
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
preload=LD_PRELOAD=$("$PAT_SOURCE/tests/preload.sh")
ranks=3 seed=1
case $("${PAT_TEST_MPIRUN:-mpirun}" --version 2>/dev/null) in
*HYDRA*) ranks=2 ;; # which spin while they wait
esac

fail() {
    printf '%s\n' "$@" >&2
    failed=1
}

# profile FILE COLLECTIVE RANKS MOCK-UP...: one after the other, for ranges of bytes that grow.
profile() {
    local file=$1 collective=$2 ranks=$3 begin=0 length=4 i k
    shift 3
    {
        printf '# made by dropin_mockups.sh\n%s\n%s\n%s\n' "$collective" "$ranks" $#
        for ((i = 1; i <= $#; i++)); do echo "$i ${!i}"; done
        echo $((16 * $#))
        for ((k = 0; k < 16; k++, length *= 2)); do
            for ((i = 1; i <= $#; i++, begin += length)); do echo "$begin $((begin + length - 1)) $i"; done
        done
    } >"$file"
}

# run RANKS PROGRAM [ARG...] -- NAME=VALUE...: sets `out` and `rc`.
run() {
    local words=()
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    shift
    out=$(PAT_TEST_WRAP="env ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0:verify_asan_link_order=0 $preload $*" \
        "$PAT_SOURCE/tests/mpirun.sh" "${words[@]}" 2>&1)
    rc=$?
}

# ---- All mock-ups, for all communicators that a program makes ----------------------------------------------------
mkdir "$dir/all"
for ((p = 1; p <= ranks; p++)); do
    while read -r collective mocks; do
        # shellcheck disable=SC2086 # names of mock-ups
        profile "$dir/all/$collective-$p.prf" "$collective" $p $mocks
    done <<'END'
MPI_Allgather allgather_as_gather_bcast allgather_as_alltoall allgather_as_allreduce allgather_as_allgatherv allgather_hier allgather_ring
MPI_Allreduce allreduce_as_reduce_bcast allreduce_as_reducescatterblock_allgather allreduce_as_reducescatter_allgatherv allreduce_hier allreduce_lane
MPI_Alltoall alltoall_as_alltoallv alltoall_pairwise
MPI_Bcast bcast_as_allgatherv bcast_as_scatter_allgather bcast_hier bcast_lane bcast_binomial
MPI_Gather gather_as_allgather gather_as_gatherv gather_as_reduce
MPI_Reduce reduce_as_allreduce reduce_as_reducescatterblock_gather reduce_as_reducescatter_gatherv reduce_as_reducescatter reduce_hier
MPI_Reduce_scatter_block reducescatterblock_as_reduce_scatter reducescatterblock_as_reducescatter reducescatterblock_as_allreduce
MPI_Scan scan_as_exscan_reducelocal
MPI_Scatter scatter_as_bcast scatter_as_scatterv
END
done
program=$PAT_BUILD/tests/plain_random
run $ranks "$program" $seed 6 25 -- "PAT_MOCKUPS=$dir/all" "PAT_REPORT=$dir/all.json" PAT_REORDER=1
{ [ $rc -eq 0 ] && grep -q ': 0 differences' <<<"$out"; } || fail "all profiles: exit status $rc" "$out"
[ "$(grep -c '^pat:' <<<"$out")" -eq 0 ] || fail "good profiles are complained of" "$out"
num=$(jq '[.sites[].run_by | keys[] | select(test("_(as|hier|lane|ring|pairwise$|binomial)"))] | unique | length' "$dir/all.json")
[ "$num" -ge 12 ] || fail "the report knows of $num mock-ups only" "$(jq -c '.sites[] | {call, run_by}' "$dir/all.json")"
for call in Scan Bcast Allreduce; do
    left=$(jq --arg call MPI_$call '[.sites[] | select(.call == $call) | .run_by.mpi] | add' "$dir/all.json")
    [ "$left" = 0 ] || fail "$left calls of MPI_$call were not run by mock-ups" "$(jq -c '.sites[] | {call, run_by}' "$dir/all.json")"
done

# ---- The order of operands ---------------------------------------------------------------------------------------
run $ranks "$program" $seed 3 25 -- "PAT_MOCKUPS=$dir/all" "PAT_REPORT=$dir/order.json"
{ [ $rc -eq 0 ] && grep -q ': 0 differences' <<<"$out"; } || fail "no leave to reorder: exit status $rc" "$out"
kept='[.sites[] | select(.call == "MPI_Allreduce") | {kept: (.no_mock_up_because["order kept, see PAT_REORDER"] // 0), left: .run_by.mpi, calls}]'
jq -e "$kept | all(.kept == .left) and any(.kept > 0) and any(.left < .calls)" "$dir/order.json" >/dev/null ||
    fail "all-reduces without leave to reorder" "$(jq -c "$kept" "$dir/order.json")"
jq -e '[.. | .["order kept, see PAT_REORDER"]? // empty] | length == 0' "$dir/all.json" >/dev/null || fail "order kept in spite of PAT_REORDER=1" "$(jq -c . "$dir/all.json")"

# ---- PAT's own algorithms, beside what auto runs and prepares, and the MPI library ---------------------------------
mkdir "$dir/own"
while read -r collective algs; do
    # shellcheck disable=SC2086 # names of algorithms
    profile "$dir/own/$collective.prf" "$collective" $ranks $algs
done <<'END'
MPI_Allgather pat_direct default pat_bruck allgather_as_alltoall pat_ring default pat_nex pat_lnbc
MPI_Allreduce pat_allreduce_doubling default pat_allreduce_ring pat_allreduce_halving
MPI_Alltoall pat_alltoall_linear pat_alltoall_pairwise
MPI_Bcast pat_bcast_linear pat_bcast_chain bcast_as_allgatherv pat_bcast_kchain pat_bcast_binary pat_bcast_split pat_bcast_binomial
MPI_Gather pat_gather_together pat_gather_linear pat_gather_sync pat_gather_binomial
MPI_Reduce pat_reduce_binomial pat_reduce_chain pat_reduce_halving
MPI_Reduce_scatter_block pat_reduce_scatter_halving pat_reduce_scatter_pairwise
MPI_Scatter pat_scatter_linear pat_scatter_binomial
END
# own_of FILE COLLECTIVE: which of PAT's own ran the program's blocking calls of it, as far as its profile names them.
own_of() {
    local names
    names=$(sed -n 's/^[0-9]* pat_//p' "$dir/own/$2.prf" | sort -u)
    jq -r --arg call "$2" '.sites[] | select(.call == $call) | .run_by | to_entries[] | select(.value > 0) | .key' "$1" | sort -u | comm -12 - <(echo "$names")
}

run $ranks "$program" $seed 8 25 20 -- "PAT_MOCKUPS=$dir/own" "PAT_REPORT=$dir/own.json" PAT_LINK=10,200
{ [ $rc -eq 0 ] && grep -q ': 0 differences' <<<"$out"; } || fail "PAT's own: exit status $rc" "$out"
[ "$(grep -c '^pat:' <<<"$out")" -eq 0 ] || fail "profiles with PAT's own algorithms are complained of" "$out"
ran=$(for file in "$dir"/own/*.prf; do own_of "$dir/own.json" "$(basename "$file" .prf)"; done)
[ "$(wc -l <<<"$ran")" -ge 10 ] || fail "run by PAT's own:" "$ran" "$(jq -c '.sites[] | {call, run_by, no_mock_up_because}' "$dir/own.json")"
for call in MPI_Allgather MPI_Allreduce MPI_Alltoall MPI_Reduce_scatter_block; do
    [ -n "$(own_of "$dir/own.json" $call)" ] || fail "no $call by PAT's own" "$(jq -c '.sites[] | {call, run_by, no_mock_up_because}' "$dir/own.json")"
done
jq -e '[.sites[].no_mock_up_because // {} | keys[]] | index("order kept, see PAT_REORDER") and index("PAT has no plan for such a call") and index("first calls")' "$dir/own.json" >/dev/null ||
    fail "why PAT's own have not run" "$(jq -c '.sites[] | {call, run_by, no_mock_up_because}' "$dir/own.json")"
# Beside relay, which moves data before the call.
run $ranks "$program" $seed 2 25 20 -- "PAT_MOCKUPS=$dir/own" "PAT_REPORT=$dir/relay.json" PAT_ALG=relay
{ [ $rc -eq 0 ] && grep -q ': 0 differences' <<<"$out"; } || fail "PAT's own beside relay: exit status $rc" "$out"
jq -e '[.sites[] | select(.call == "MPI_Allgather") | .run_by.relay // 0] | add > 0' "$dir/relay.json" >/dev/null || fail "no all-gather by relay" "$(jq -c '.sites[] | {call, run_by}' "$dir/relay.json")"
for call in MPI_Allreduce MPI_Alltoall MPI_Reduce_scatter_block; do
    [ -n "$(own_of "$dir/relay.json" $call)" ] || fail "no $call by PAT's own beside relay" "$(jq -c '.sites[] | {call, run_by, no_mock_up_because}' "$dir/relay.json")"
done

# ---- Wrong arguments ---------------------------------------------------------------------------------------------
run 2 "$PAT_BUILD/tests/plain_levels" init -- "PAT_MOCKUPS=$dir/all"
[ $rc -eq 0 ] || fail "wrong arguments: exit status $rc" "$out"
run 2 "$PAT_BUILD/tests/plain_levels" 3 -- "PAT_MOCKUPS=$dir/all"
{ [ $rc -eq 0 ] && ! grep -q '^pat:' <<<"$out"; } || fail "all threads at once: exit status $rc" "$out"

# ---- A profile that is wrong, one that is not, and one for what cannot be run -------------------------------------
mkdir "$dir/some"
profile "$dir/some/a.prf" MPI_Bcast $ranks bcast_as_scatter_allgather
profile "$dir/some/b.prf" MPI_Bcast $ranks bcast_as_allgatherv
profile "$dir/some/prf-c.txt" MPI_Gather $ranks gather_as_scatter
printf 'MPI_Scan\n-1\n' >"$dir/some/d.prf.old"
mkfifo "$dir/some/e.prf"
echo nonsense >"$dir/some/notes.txt"
profile "$dir/some/f.prf" MPI_Allreduce $ranks allreduce_lane
profile "$dir/some/g.prf" MPI_Reduce 77 reduce_as_allreduce
profile "$dir/some/h.prf" MPI_Scatter $ranks pat_scatter_ring
profile "$dir/some/i.prf" MPI_Alltoall 1 pat_alltoall_linear
[ $ranks -eq 3 ] && nodes=PAT_RANKS_PER_NODE=2 || nodes=PAT_RANKS_PER_NODE=1
run $ranks "$program" $seed 3 25 -- "PAT_MOCKUPS=$dir/some" "PAT_REPORT=$dir/some.txt" "$nodes"
{ [ $rc -eq 0 ] && grep -q ': 0 differences' <<<"$out"; } || fail "some profiles: exit status $rc" "$out"
wanted="pat: $dir/some/b.prf: MPI_Bcast of $ranks ranks is told of by $dir/some/a.prf already; accepted: one profile for each; the program runs without it
pat: $dir/some/d.prf.old: line 2: \"-1\": accepted: a whole number from 1 to 2147483647; the program runs without it
pat: $dir/some/e.prf: not a regular file; the program runs without it
pat: $dir/some/h.prf: line 5: \"pat_scatter_ring\": accepted: default, or the name of a mock-up of MPI_Scatter, pat_scatter_linear, pat_scatter_binomial; the program runs without it
pat: $dir/some/i.prf: 1 rank: PAT's own algorithms cannot run: they need two; the MPI library runs these calls
pat: $dir/some/prf-c.txt: line 5: \"gather_as_scatter\": accepted: default, or the name of a mock-up of MPI_Gather, pat_gather_together, pat_gather_linear, pat_gather_sync, pat_gather_binomial; the program runs without it"
[ "$(grep '^pat: ' <<<"$out" | sort)" = "$wanted" ] || fail "what is wrong with profiles:" "$(diff <(echo "$wanted") <(grep '^pat: ' <<<"$out" | sort))"
grep -q 'run by bcast_as_scatter_allgather' "$dir/some.txt" || fail "the good profile is not applied" "$(cat "$dir/some.txt")"
! grep -q 'gather_as_\|reduce_as_' "$dir/some.txt" || fail "another profile is applied" "$(cat "$dir/some.txt")"
if [ $ranks -eq 3 ]; then
    grep -q 'no mock-up because: nodes have unequal numbers of ranks' "$dir/some.txt" || fail "no word of nodes" "$(cat "$dir/some.txt")"
fi

# ---- No profiles --------------------------------------------------------------------------------------------------
mkdir "$dir/none"
for directory in none missing; do
    run 2 "$PAT_BUILD/tests/plain_levels" init -- "PAT_MOCKUPS=$dir/$directory"
    { [ $rc -eq 0 ] && grep -q "^pat: PAT_MOCKUPS=\"$dir/$directory\": n\|No such file" -i <<<"$out"; } || fail "$directory: exit status $rc" "$out"
done
exit $failed
