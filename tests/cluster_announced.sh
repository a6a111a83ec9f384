#!/usr/bin/env bash
# cluster_announced.sh — on an emulated cluster `auto` takes, call by call, whom the calibration has ahead for when ranks have said they
# will come: relay, or the MPI library or ring, as a rank is late or none is, bdr where it is said to cost nothing.
set -u
[ -x "$PAT_BUILD/tests/mpi_announced" ] || { echo "no $PAT_BUILD/tests/mpi_announced" >&2; exit 77; }
for name in PAT_LINK PAT_CALIBRATION; do unset "$name"; done
exec "$PAT_SOURCE/bench/lab" run -n 4 --ppn 1 --rate 50mbit --timeout 150 -- "$PAT_BUILD/tests/mpi_announced" nodes
