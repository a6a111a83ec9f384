#!/usr/bin/env bash
# mpirun.sh RANKS PROGRAM [ARG...]: local ranks over shared memory, oversubscribed, under a timeout, as any user.
# PAT_TEST_TIMEOUT: seconds before the job is ended (default 120). PAT_TEST_WRAP: a command put before PROGRAM.
set -u
ranks=$1
shift
root=()
[ "$(id -u)" -eq 0 ] && root=(--allow-run-as-root)
# shellcheck disable=SC2086 # PAT_TEST_WRAP is meant to be split into words
exec timeout --kill-after=5 "${PAT_TEST_TIMEOUT:-120}" mpirun "${root[@]}" --oversubscribe --bind-to none \
    --mca btl vader,self --mca pml ob1 --mca mpi_yield_when_idle 1 -n "$ranks" ${PAT_TEST_WRAP:-} "$@"
