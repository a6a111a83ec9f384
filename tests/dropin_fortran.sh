#!/usr/bin/env bash
# dropin_fortran.sh — Fortran programs by mpif.h, `use mpi` and `use mpi_f08` under the drop-in: right with every call forced
# through a plan, MPI_IN_PLACE included, and the calls really taken over.
set -u
failed=0 ran=0
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
for binding in mpifh usempi usempif08; do
    program=$PAT_BUILD/tests/plain_$binding
    [ -x "$program" ] || continue
    ran=1
    for ranks in 2 3; do
        rm -f "$dir/report.json"
        out=$(PAT_TEST_WRAP="env ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0:verify_asan_link_order=0 LD_PRELOAD=$("$PAT_SOURCE/tests/preload.sh") PAT_FORCE=relay PAT_ALG_BCAST=bcast_binomial
            PAT_ALG_GATHER=gather_linear PAT_REPORT=$dir/report.json" \
            "$PAT_SOURCE/tests/mpirun.sh" $ranks "$program" 2>&1)
        rc=$?
        calls=$(jq -c '[.sites[] | select(.call | test("MPI_(Allgather|Bcast|Gather)$"))] |
            [length, (map(.calls) | add) / .[0].ranks, (map(.run_by.mpi) | add)]' "$dir/report.json" 2>&1)
        if [ $rc -ne 0 ] || ! grep -q ': 0 differences' <<<"$out"; then
            printf '%s, %s ranks: exit status %s:\n%s\n' "$binding" $ranks $rc "$out" >&2
            failed=1
        fi
        if [ "$calls" != "[5,36,0]" ]; then # places, calls of a rank, left to the MPI library
            printf '%s, %s ranks: not every call by a plan: %s\n' "$binding" $ranks "$calls" >&2
            failed=1
        fi
    done
done
[ $ran = 1 ] || { echo "no Fortran compiler for this MPI library: skipped"; exit 77; }
exit $failed
