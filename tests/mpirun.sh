#!/usr/bin/env bash
# mpirun.sh RANKS PROGRAM [ARG...]: local ranks over shared memory, oversubscribed, under a timeout, as any user.
# PAT_TEST_TIMEOUT: seconds before the job is ended (default 120). PAT_TEST_WRAP: a command put before PROGRAM;
# just "valgrind" stands for valgrind as we want it: errors and memory that is definitely lost make a rank fail.
# PAT_TEST_SLOW: the tests' own time limits are multiplied by this.
# PAT_TEST_PML: what Open MPI sends messages by, ob1 (default) or ucx; 77 where it has no ucx.
set -u
ranks=$1
shift
root=()
[ "$(id -u)" -eq 0 ] && root=(--allow-run-as-root)
if [ "${PAT_TEST_WRAP-}" = valgrind ]; then
    here=$(cd "$(dirname "$0")" && pwd)
    PAT_TEST_WRAP="valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite"
    PAT_TEST_WRAP+=" --show-leak-kinds=definite --num-callers=30 --fair-sched=yes"
    PAT_TEST_WRAP+=" --suppressions=$here/sanitize/valgrind.supp"
    list=/usr/share/openmpi/openmpi-valgrind.supp
    [ -e "$list" ] && PAT_TEST_WRAP+=" --suppressions=$list"
    : "${PAT_TEST_TIMEOUT:=280}"
    export PAT_TEST_SLOW=${PAT_TEST_SLOW:-10}
fi
pml=(--mca pml ob1 --mca btl "vader,self")
if [ "${PAT_TEST_PML-}" = ucx ]; then # without InfiniBand it must be told that any network will do
    ompi_info --parsable 2>/dev/null | grep -q '^mca:pml:ucx:' || exit 77
    pml=(--mca pml ucx --mca opal_common_ucx_tls any --mca opal_common_ucx_devices any)
fi
# shellcheck disable=SC2086 # PAT_TEST_WRAP is meant to be split into words
exec timeout --kill-after=5 "${PAT_TEST_TIMEOUT:-120}" mpirun "${root[@]}" --oversubscribe --bind-to none \
    "${pml[@]}" --mca mpi_yield_when_idle 1 -n "$ranks" ${PAT_TEST_WRAP:-} "$@"
