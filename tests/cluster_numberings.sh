#!/usr/bin/env bash
# cluster_numberings.sh — on emulated nodes with several ranks each, and one, whatever the numbering, results are the same to the last byte:
# node by node, across nodes, as chance has it. What runs are the tests of results that run on one machine too: all collectives, sizes and
# types, unequal blocks, and random programs, whose communicators leave out ranks, so that their nodes are irregular.
# PAT_TEST_SECONDS: how long a random program runs (default 2).
set -u
export PAT_TEST_TIMEOUT=70 PAT_TEST_SECONDS=${PAT_TEST_SECONDS:-2}
for name in PAT_LINK PAT_CALIBRATION PAT_REORDER PAT_RANKS_PER_NODE; do unset "$name"; done
failed=0

# run LAYOUT NUMBERING PROGRAM [ARGUMENT...]; the third failure ends the test, before a time limit of others can.
run() {
    local program=$PAT_BUILD/tests/$3 rc=0
    [ -x "$program" ] || { echo "no $program" >&2; exit 77; }
    PAT_TEST_NODES=$1 PAT_TEST_MAP=$2 "$PAT_SOURCE/tests/mpirun.sh" 0 "$program" "${@:4}" >"$dir/out" 2>&1 || rc=$?
    [ $rc -ne 0 ] || return 0
    [ $rc -ne 77 ] || [ $failed -ne 0 ] || { cat "$dir/out" >&2; exit 77; }
    echo "$3, $1 nodes x ranks, numbered by $2: exit status $rc (124: the time limit)" >&2
    tail -n 20 "$dir/out" >&2
    failed=$((failed + 1))
    [ $failed -lt 3 ] || exit 1
}

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
chance=random:1
grep -q '^PAT_MPI_IS_OPEN:INTERNAL=1' "$PAT_BUILD/CMakeCache.txt" || chance=node # MPICH's launcher has no such numbering
for program in mpi_allgather mpi_unequal mpi_rooted mpi_reduce mpi_random; do run 3x2 $chance $program; done
run 3x2 node mpi_allgather
run 3x2 node mpi_random
run 2x4 $chance mpi_random
run 2x1 slot mpi_random
# Ranks of a node share a clock, and nodes do not: what each rank says of its error is right.
run 3x2 slot mpi_drift 4
# What the ranks run on is found out, and said.
info() { # NUMBERING WORDS
    PAT_TEST_NODES=3x2 PAT_TEST_MAP=$1 "$PAT_SOURCE/tests/mpirun.sh" 0 "$PAT_BUILD/bench/pat-info" >"$dir/out" 2>&1 &&
        grep -q "^nodes  *3, with 2 ranks each, numbered $2\$" "$dir/out" && return
    echo "pat-info on 3x2 nodes x ranks, numbered by $1, does not say that they are numbered $2: $(grep ^nodes "$dir/out")" >&2
    failed=$((failed + 1))
}
if [ -x "$PAT_BUILD/bench/pat-info" ]; then
    info slot "node by node"
    info node "across nodes"
fi
[ $failed -eq 0 ]
