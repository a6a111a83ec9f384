#!/usr/bin/env bash
# mpirun.sh RANKS PROGRAM [ARG...]: local ranks over shared memory, oversubscribed, under a timeout, as any user.
# PAT_TEST_MPIRUN: the launcher of the MPI library that PROGRAM was built with (default mpirun).
# PAT_TEST_TIMEOUT: seconds before the job is ended (default 120). PAT_TEST_WRAP: a command put before PROGRAM;
# just "valgrind" stands for valgrind as we want it: errors and memory that is definitely lost make a rank fail.
# PAT_TEST_SLOW: the tests' own time limits are multiplied by this.
# PAT_TEST_PML: what Open MPI sends messages by, ob1 (default) or ucx; 77 where it has no ucx.
# PAT_TEST_NODES: NODESxRANKS, as 4x4: so many ranks on each of so many nodes of an emulated cluster in place of RANKS ranks on
# this machine, over ob1; PAT_TEST_MAP: how they are numbered (lab's --map); PAT_TEST_RATE: its links (100mbit).
set -u
ranks=$1
shift
if [ -n "${PAT_TEST_NODES-}" ]; then
    [[ $PAT_TEST_NODES =~ ^[1-9][0-9]*x[1-9][0-9]*$ ]] || { echo "PAT_TEST_NODES='$PAT_TEST_NODES': accepted: NODESxRANKS" >&2; exit 2; }
    export PAT_RANKS_PER_NODE=${PAT_RANKS_PER_NODE:-auto} # or some tests would play nodes of their own
    # shellcheck disable=SC2086
    exec "$(dirname "$0")/../bench/lab" run -n "${PAT_TEST_NODES%x*}" --ppn "${PAT_TEST_NODES#*x}" --map "${PAT_TEST_MAP:-slot}" \
        --rate "${PAT_TEST_RATE:-100mbit}" --timeout "${PAT_TEST_TIMEOUT:-120}" -- ${PAT_TEST_WRAP:-} "$@"
fi
launcher=${PAT_TEST_MPIRUN:-mpirun}
options=()
version=$("$launcher" --version 2>/dev/null)
case $version in
*"(Open MPI)"* | *"(OpenRTE)"* | *"(PRRTE)"*)
    [ "$(id -u)" -eq 0 ] && options=(--allow-run-as-root)
    memory=sm # as Open MPI 5 calls it
    [[ $version == *"(Open"*") "[1-4].* ]] && memory=vader
    options+=(--oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
    if [ "${PAT_TEST_PML-}" = ucx ]; then # without InfiniBand it must be told that any network will do
        ompi_info --parsable 2>/dev/null | grep -q '^mca:pml:ucx:' || exit 77
        options+=(--mca pml ucx --mca opal_common_ucx_tls any --mca opal_common_ucx_devices any)
    else
        options+=(--mca pml ob1 --mca btl "$memory,self")
    fi
    ;;
*HYDRA*) options=(-bind-to none) ;; # it needs no leave to put more ranks on a machine than it has cores
esac
if [ "${PAT_TEST_WRAP-}" = valgrind ]; then
    here=$(cd "$(dirname "$0")" && pwd)
    PAT_TEST_WRAP="valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite"
    PAT_TEST_WRAP+=" --show-leak-kinds=definite --num-callers=30 --fair-sched=yes"
    PAT_TEST_WRAP+=" --suppressions=$here/sanitize/valgrind.supp"
    list=/usr/share/openmpi/openmpi-valgrind.supp
    [ -e "$list" ] && PAT_TEST_WRAP+=" --suppressions=$list"
    own=$here/sanitize/valgrind.$(basename "$1").supp
    [ -e "$own" ] && PAT_TEST_WRAP+=" --suppressions=$own"
    : "${PAT_TEST_TIMEOUT:=280}"
    export PAT_TEST_SLOW=${PAT_TEST_SLOW:-10}
fi
# shellcheck disable=SC2086 # PAT_TEST_WRAP is meant to be split into words
exec timeout --kill-after=5 "${PAT_TEST_TIMEOUT:-120}" "$launcher" "${options[@]}" \
    -n "$ranks" ${PAT_TEST_WRAP:-} "$@"
