#!/usr/bin/env bash
# cluster_stored.sh — on an emulated cluster a calibration that is found is for communicators that use its network, and not for those of one
# node, nor one of ranks that were numbered in another way. Ranks are numbered across nodes, so that four of them share a link when each sends to the next, as pat-calibrate measures it: in
# the order in which the library's rings go the same link is four times as fast, and would be another network.
set -u
[ -x "$PAT_BUILD/tests/mpi_stored" ] || { echo "no $PAT_BUILD/tests/mpi_stored" >&2; exit 77; }
for name in PAT_LINK PAT_CALIBRATION; do unset "$name"; done
exec "$PAT_SOURCE/bench/lab" run -n 2 --ppn 4 --map node --rate 20 --timeout 100 -- "$PAT_BUILD/tests/mpi_stored" 4.8
