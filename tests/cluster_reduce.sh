#!/usr/bin/env bash
# cluster_reduce.sh — on an emulated cluster, with no setting at all, `allreduce_auto` finds that converge takes less than the MPI library's own
# all-reduce where a rank is late: for integers, and for floating-point numbers where these may be joined in any order.
set -u
[ -x "$PAT_BUILD/tests/mpi_reduce_auto" ] || { echo "no $PAT_BUILD/tests/mpi_reduce_auto" >&2; exit 77; }
for name in PAT_LINK PAT_CALIBRATION PAT_REORDER; do unset "$name"; done
exec "$PAT_SOURCE/bench/lab" run -n 4 --ppn 1 --rate 50mbit --timeout 150 -- "$PAT_BUILD/tests/mpi_reduce_auto" nodes
