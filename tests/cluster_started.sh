#!/usr/bin/env bash
# cluster_started.sh — the non-blocking collectives of an unchanged program on emulated nodes, with no setting at all: plans run those that they should, the
# report says which and why, and results are the same to the last byte; where nodes have several ranks too. 77 where namespaces are not allowed.
set -u
export PAT_TEST_TIMEOUT=60
for name in PAT_LINK PAT_CALIBRATION PAT_REORDER PAT_RANKS_PER_NODE; do unset "$name"; done
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0

# started LAYOUT NUMBERING SEED [SEQUENCES]: runs the program, and leaves for each call what has run it, and why, summed over its places.
started() {
    local status=0
    PAT_TEST_NODES=$1 PAT_TEST_MAP=$2 PAT_TEST_WRAP="$PAT_SOURCE/bench/cluster/lab_preload.sh $PAT_BUILD/libpat-mpi.so env PAT_REPORT=$dir/report.json" \
        "$PAT_SOURCE/tests/mpirun.sh" 0 "$PAT_BUILD/tests/plain_random" "$3" "${4:-90}" 25 >"$dir/out" 2>&1 || status=$?
    [ $status -ne 77 ] || exit 77
    if [ $status -ne 0 ] || ! grep -q ': 0 differences' "$dir/out"; then
        echo "$1, numbered by $2, seed $3: exit status $status" >&2
        cat "$dir/out" >&2
        exit 1
    fi
    # What the MPI library has run is not in run_by then.
    jq 'def sum(of): reduce (.[] | of // {} | to_entries[]) as $e ({}; .[$e.key] += $e.value);
        .sites | map(select(.call | startswith("MPI_I"))) | group_by(.call) | map({key: .[0].call, value: {run_by: (sum(.run_by) | del(.mpi)), because: sum(.because)}}) |
        from_entries' "$dir/report.json" >"$dir/calls"
}

# expect WHAT FILTER
expect() {
    [ "$(jq "$2" "$dir/calls")" = true ] && return
    echo "$1: not $2 in $(jq -c . "$dir/calls")" >&2
    failed=1
}

started 3x1 slot 17
expect "all-gathers" '(.MPI_Iallgather.run_by | keys) == ["direct"]'
expect "why" '.MPI_Iallgather.because["moves meanwhile"] > 0'
expect "all-gathers of unequal blocks" '.MPI_Iallgatherv.run_by | add > 0'
expect "all-to-alls" '.MPI_Ialltoall.run_by.alltoall_linear > 0'
expect "blocks that go straight to where they belong, by the MPI library" '[.MPI_Ialltoallv, .MPI_Igather, .MPI_Igatherv, .MPI_Iscatter, .MPI_Iscatterv] | all((.run_by | length) == 0 and .because["as fast by the MPI library"] > 0)'
expect "all-reduces, of integers alone" '(.MPI_Iallreduce.run_by | add > 0) and .MPI_Iallreduce.because["order kept, see PAT_REORDER"] > 0'
expect "broadcasts, long ones alone" '(.MPI_Ibcast.run_by | add > 0) and .MPI_Ibcast.because["too short to gain"] > 0'
expect "reduces, reduce-scatters" '[.MPI_Ireduce, .MPI_Ireduce_scatter_block] | all(.run_by | add > 0)'
expect "barriers, which are too short" '.MPI_Ibarrier.because["too short to gain"] > 0 and (.MPI_Ibarrier.run_by | length) == 0'
started 2x2 node 27
expect "several ranks a node: all-gathers" '(.MPI_Iallgather.run_by | keys - ["ring"]) == [] and .MPI_Iallgather.run_by.ring > 0'
expect "several ranks a node: reductions" '[.MPI_Iallreduce, .MPI_Ireduce] | all(.run_by | (keys | map(endswith("_halving"))) == [true])'
expect "several ranks a node: what is left" '(.MPI_Ibcast.run_by | length) == 0 and .MPI_Ibcast.because["several ranks a node"] > 0'
started 2x2 slot 27 40
expect "numbered node by node: all-gathers" '(.MPI_Iallgather.run_by | keys - ["nex", "ring"]) == [] and (.MPI_Iallgather.run_by | add > 0)'
started 2x1 slot 41 60
expect "between two ranks, what has a root" '([.MPI_Ibcast, .MPI_Ireduce] | all((.run_by | length) == 0)) and .MPI_Ireduce.because["as fast by the MPI library"] > 0'
expect "between two ranks, all-reduces" '.MPI_Iallreduce.run_by | add > 0'
export PAT_ALG_GATHER=gather_together PAT_ALG_SCATTER=scatter_linear PAT_ALG_ALLTOALL=alltoall_linear
started 2x2 node 27 40
unset PAT_ALG_GATHER PAT_ALG_SCATTER PAT_ALG_ALLTOALL
expect "blocks that go straight to where they belong, by plans that are named" '[.MPI_Igather, .MPI_Igatherv, .MPI_Iscatter, .MPI_Iscatterv, .MPI_Ialltoallv] | all(.run_by | add > 0)'
export PAT_ALG=bdr # which goes by arrivals, so that another one runs these calls
started 2x2 node 27 40
unset PAT_ALG
expect "several ranks a node: in place of an algorithm that cannot" '(.MPI_Iallgather.run_by | length) > 0 and .MPI_Iallgather.run_by.direct == null'
expect "a barrier where an algorithm is named" '.MPI_Ibarrier.run_by | add > 0'

# What was hidden: of calls that have moved while the program slept, and of calls that it has waited for at once.
PAT_TEST_NODES=3x1 PAT_TEST_WRAP="$PAT_SOURCE/bench/cluster/lab_preload.sh $PAT_BUILD/libpat-mpi.so env PAT_REPORT=$dir/report.json" \
    "$PAT_SOURCE/tests/mpirun.sh" 0 "$PAT_BUILD/tests/plain_hidden" >"$dir/out" 2>&1 || { cat "$dir/out" >&2; exit 1; }
jq '.sites | map({key: .call, value: .}) | from_entries' "$dir/report.json" >"$dir/calls"
expect "all calls have ended" '[.MPI_Ialltoall, .MPI_Iallreduce, .MPI_Iallgather] | all(.ended_calls == .calls)'
expect "hidden while the program slept" '.MPI_Ialltoall | .under_way_ms > 0 and .hidden_ms > 0.7 * .under_way_ms'
expect "hidden, though the MPI library runs it" '.MPI_Iallreduce | .run_by.mpi == .calls and .hidden_ms > 0.7 * .under_way_ms'
# It takes some 30 ms; where nobody moves it, it goes on for the 200 in which the program sleeps.
expect "over while the program slept" '[.MPI_Ialltoall, .MPI_Iallreduce] | all(.under_way_ms < 150 * .ended_calls)'
if grep -qE '^PAT_MPI_HAS_(X_)?INIT:INTERNAL=1' "$PAT_BUILD/CMakeCache.txt"; then
    expect "persistent, though the MPI library runs it: over while the program slept" '.MPI_Allreduce_init | .run_by.mpi == .calls and .ended_calls == .calls and .under_way_ms < 150 * .ended_calls'
fi
expect "in place, with lists: by a plan" '.MPI_Ialltoallv.run_by.alltoall_linear == .MPI_Ialltoallv.calls'
# A rank that waits and gets no processor counts as computing, so some is hidden on a crowded machine.
expect "not hidden where it waited" '.MPI_Iallgather | .under_way_ms > 0 and .hidden_ms < 0.5 * .under_way_ms'
PAT_TEST_NODES=3x1 PAT_TEST_WRAP="$PAT_SOURCE/bench/cluster/lab_preload.sh $PAT_BUILD/libpat-mpi.so env PAT_REPORT=$dir/report.txt" \
    "$PAT_SOURCE/tests/mpirun.sh" 0 "$PAT_BUILD/tests/plain_hidden" >"$dir/out" 2>&1 || { cat "$dir/out" >&2; exit 1; }
for line in '^#   hidden of non-blocking calls +[0-9.]+   of [0-9.]+ that they were under way$' 'alltoall_linear 100 %.*; [0-9.]+ ms under way, [0-9]+ % of it hidden$'; do
    grep -qE "$line" "$dir/report.txt" || { echo "no line '$line' in: $(cat "$dir/report.txt")" >&2; failed=1; }
done
expect "blocking calls hide nothing" '.MPI_Barrier.under_way_ms == null'
exit $failed
