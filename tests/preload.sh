#!/usr/bin/env bash
# preload.sh — prints what LD_PRELOAD must hold for the drop-in of this build: the address sanitizer's library, where there is
# one, has to come before everything else. (What MPI and programs leak at the end is not looked at under the drop-in: it is not
# ours, and its libraries are gone by then; mpi_leaks looks at ours.)
set -eu
asan=
if grep -q '^PAT_SANITIZE:STRING=.*address' "$PAT_BUILD/CMakeCache.txt"; then
    asan=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$PAT_BUILD/CMakeCache.txt")
    asan=$("$asan" -print-file-name=libasan.so):
fi
echo "$asan$PAT_BUILD/libpat-mpi.so"
