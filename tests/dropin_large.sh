#!/usr/bin/env bash
# dropin_large.sh — calls of MPI 4 under the drop-in: those with large counts are run by plans or passed on, each counted once in
# the report, as are starts of persistent ones; programs that only open sessions are run by the MPI library alone.
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
program=$PAT_BUILD/tests/plain_large
out=$("$PAT_SOURCE/tests/mpirun.sh" 1 "$program" 2>&1)
[[ $out != *skipped* ]] || { echo "$out"; exit 77; }
failed=0

# under [ARG] -- NAME=VALUE...: no difference may be seen. Sets `out`.
under() {
    local words=()
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    shift
    out=$(PAT_TEST_WRAP="env ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0:verify_asan_link_order=0 LD_PRELOAD=$("$PAT_SOURCE/tests/preload.sh") $*" \
        "$PAT_SOURCE/tests/mpirun.sh" 3 "$program" "${words[@]}" 2>&1) && grep -q ': 0 differences' <<<"$out" && return
    printf '%s: %s\n' "$*" "$out" >&2
    failed=1
}
calls() { # calls of a rank, and how many of them the MPI library has run
    jq -r '.sites | group_by(.call)[] | "\(.[0].call) \((map(.calls) | add) / .[0].ranks) \((map(.run_by.mpi) | add) / .[0].ranks)"' "$dir/report.json" 2>&1
}
wanted='MPI_Allgather 24 0
MPI_Allgather_init 12 0
MPI_Allgatherv_c 12 12
MPI_Allreduce 1 1
MPI_Alltoall 24 0
MPI_Barrier 12 12
MPI_Bcast 13 1
MPI_Gather 12 0
MPI_Gatherv_init 12 12
MPI_Wait 24 24'
under -- PAT_FORCE=relay PAT_ALG_BCAST=bcast_binomial PAT_ALG_GATHER=gather_linear PAT_ALG_ALLTOALL=alltoall_pairwise \
    "PAT_REPORT=$dir/report.json"
[ "$(calls)" = "$wanted" ] || { diff <(echo "$wanted") <(calls) >&2; failed=1; }
# A persistent collective fits together whichever of its forms ranks use.
jq -e '[.sites[] | select(.call == "MPI_Wait").met_calls] == [36, 36] and ([.sites[] | select(.call == "MPI_Gatherv_init")] | all(.because["persistent request"] == .calls))' \
    "$dir/report.json" >/dev/null || { jq -c '.sites[] | [.call, .calls, .met_calls, .because]' "$dir/report.json" >&2; failed=1; }
under -- PAT_NOTHING=
under sessions -- PAT_FORCE=relay "PAT_REPORT=$dir/none.json"
[ ! -e "$dir/none.json" ] || { echo "a report of a program without MPI_Init" >&2; failed=1; }
exit $failed
