#!/usr/bin/env bash
# dropin_fortran.sh — Fortran programs by mpif.h, `use mpi` and `use mpi_f08` under the drop-in: right with every call forced
# through a plan, MPI_IN_PLACE included, and the calls really taken over; all other collectives right with a report and
# without, and each call once in the report; other tools on either side; Fortran that only its own caller can see.
set -u
failed=0 ran=0
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
library=$("$PAT_SOURCE/tests/preload.sh")
tool=$PAT_BUILD/tests/libstack_tool.so

# under RANKS PROGRAM [ARG...] -- [NAME=VALUE...]: runs it so, and sets `out`; no difference may be seen.
under() {
    local what=("$@") words=() rc
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    shift
    out=$(PAT_TEST_WRAP="env ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0:verify_asan_link_order=0 $*" \
        "$PAT_SOURCE/tests/mpirun.sh" "${words[@]}" 2>&1)
    rc=$?
    if [ $rc -ne 0 ] || ! grep -q ': 0 differences' <<<"$out"; then
        printf '%s: exit status %s:\n%s\n' "${what[*]}" $rc "$out" >&2
        failed=1
    fi
}

# expect WHAT WANTED GOT: of several lines those that differ are shown.
expect() {
    [ "$2" = "$3" ] || {
        printf '%s: expected (<), not (>):\n%s\n' "$1" "$(diff <(echo "$2") <(echo "$3") | grep '^[<>]')" >&2
        failed=1
    }
}

# What is passed on: name, calls of a rank, bytes of a rank.
passed_on() {
    jq -r '.sites | group_by(.call)[] | select(.[0].call | test("MPI_(Allgatherv?|Bcast|Gather)$") | not) |
        "\(.[0].call[4:]) \((map(.calls) | add) / .[0].ranks) \((map(.bytes) | add) / .[0].ranks)"' "$1" 2>&1
}
wanted='Allreduce 12 4800
Alltoall 2 8
Alltoallv 2 0
Alltoallw 2 0
Barrier 12 0
Exscan 2 8
Gatherv 2 8
Iallgather 2 8
Iallgatherv 2 8
Iallreduce 2 8
Ialltoall 2 8
Ialltoallv 2 0
Ialltoallw 2 0
Ibarrier 2 0
Ibcast 2 8
Iexscan 2 8
Igather 2 8
Igatherv 2 8
Ineighbor_allgather 2 8
Ineighbor_allgatherv 2 8
Ineighbor_alltoall 2 8
Ineighbor_alltoallv 2 0
Ineighbor_alltoallw 2 0
Ireduce 12 2400
Ireduce_scatter 2 8
Ireduce_scatter_block 2 8
Iscan 2 8
Iscatter 2 8
Iscatterv 2 8
Neighbor_allgather 2 8
Neighbor_allgatherv 2 8
Neighbor_alltoall 2 8
Neighbor_alltoallv 2 0
Neighbor_alltoallw 2 0
Reduce 1 4
Reduce_scatter 2 8
Reduce_scatter_block 2 8
Scan 2 8
Scatter 2 8
Scatterv 2 8
Wait 54 0'

for binding in mpifh usempi usempif08; do
    program=$PAT_BUILD/tests/plain_$binding
    [ -x "$program" ] || continue
    ran=1
    for ranks in 2 3; do
        rm -f "$dir/report.json"
        under $ranks "$program" -- "LD_PRELOAD=$library" PAT_FORCE=relay PAT_ALG_BCAST=bcast_binomial PAT_ALG_GATHER=gather_linear \
            "PAT_REPORT=$dir/report.json"
        expect "$binding, $ranks ranks: by plans: places, calls of a rank, left to the MPI library" '[6,38,0]' \
            "$(jq -c '[.sites[] | select(.call | test("MPI_(Allgatherv?|Bcast|Gather)$"))] |
                [length, (map(.calls) | add) / .[0].ranks, (map(.run_by.mpi) | add)]' "$dir/report.json" 2>&1)"
        expect "$binding, $ranks ranks: passed on" "$wanted" "$(passed_on "$dir/report.json")"
    done
    expect "$binding: places in the program" true \
        "$(jq --arg program "plain_$binding" 'all(.sites[].at; startswith($program))' "$dir/report.json" 2>&1)"
    under 3 "$program" -- "LD_PRELOAD=$library"
    for alg in doubling ring converge; do
        rm -f "$dir/reduce.json"
        under 3 "$program" -- "LD_PRELOAD=$library" PAT_FORCE=relay PAT_ALG_ALLREDUCE=allreduce_$alg PAT_ALG_ALLTOALL=alltoall_pairwise "PAT_REPORT=$dir/reduce.json"
        expect "$binding: all-reduces by $alg: calls of a rank, left to the MPI library" '[12,0]' \
            "$(jq -c '[.sites[] | select(.call == "MPI_Allreduce")] |
                [(map(.calls) | add) / .[0].ranks, (map(.run_by.mpi) | add)]' "$dir/reduce.json" 2>&1)"
        expect "$binding: all-to-alls by plan: calls of a rank, left to the MPI library" '[2,0]' \
            "$(jq -c '[.sites[] | select(.call == "MPI_Alltoall")] |
                [(map(.calls) | add) / .[0].ranks, (map(.run_by.mpi) | add)]' "$dir/reduce.json" 2>&1)"
    done
    # A tool behind is not skipped, and what it passes on in C is not one more call; one before hides what it passes on by PMPI_.
    under 2 "$program" -- "LD_PRELOAD=$library:$tool" "PAT_REPORT=$dir/behind.json"
    expect "$binding, a tool behind" 2 "$(grep -c 'other tool: 12 barriers in Fortran' <<<"$out")"
    expect "$binding, a tool behind" "$wanted" "$(passed_on "$dir/behind.json")"
    under 2 "$program" -- "LD_PRELOAD=$tool:$library" "PAT_REPORT=$dir/before.json"
    expect "$binding, a tool before" 2 "$(grep -c 'other tool: 12 barriers in Fortran' <<<"$out")"
    expect "$binding, a tool before" "$wanted" "$(passed_on "$dir/before.json")"
done
[ $ran = 1 ] || { echo "no Fortran compiler for this MPI library: skipped"; exit 77; }

host=("$PAT_BUILD/tests/plain_host" "$PAT_BUILD/tests/libguest.so")
under 2 "${host[@]}" -- PAT_NOTHING=
under 3 "${host[@]}" -- "LD_PRELOAD=$library" PAT_FORCE=relay "PAT_REPORT=$dir/guest.json"
expect "a program's own Fortran" $'Allreduce 5 60000\nBarrier 5 0\nNeighbor_allgather 1 4\nReduce 1 4' "$(passed_on "$dir/guest.json")"
exit $failed
