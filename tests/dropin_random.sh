#!/usr/bin/env bash
# dropin_random.sh — random sequences of collectives in a program that knows nothing of the library, and random programs with several of them
# under way at once, as they are and under the drop-in: no difference, no hang, with what `auto` chooses and with every call forced through a plan.
# And many non-blocking all-gathers one after the other, whose rounds are made before the call.
# PAT_TEST_SEQUENCES: how many sequences in each of the runs (default 6; with MPICH 2), PAT_TEST_FLIGHTS: how many programs (five times
# as many), PAT_TEST_SEED: the first one's seed.
set -u
sequences=${PAT_TEST_SEQUENCES:-6}
seed=${PAT_TEST_SEED:-1}
failed=0
report=$(mktemp) || exit 1
trap 'rm -f "$report"' EXIT

# once RANKS [NAME=VALUE...]: one batch.
once() { run "$1" "plain_random $seed $sequences 25" "${@:2}"; }
several() { run "$1" "plain_flights $seed $flights" "${@:2}"; }

# Its seeds are those of the others, which go on from where they are.
gathers() {
    local next=$seed
    run "$1" "plain_ahead $seed $sequences 60" "${@:2}"
    seed=$next
}

# by_plan LEAST RANKS NAME=VALUE...: the same, and so many of the non-blocking collectives must have gone by plans, and nearly as many of the persistent ones.
by_plan() {
    rm -f "$report"
    several "${@:2}" "PAT_REPORT=$report"
    went "$1" 'MPI_I[a-z_]+' "${@:2}"
    [ -z "$persistent" ] || went $(($1 - 3)) 'MPI_[A-Z][a-z_]+_init' "${@:2}"
}
went() { # LEAST CALLS RANKS NAME=VALUE...
    local num
    num=$(sed -nE "/ $2 /{N;s/.* ($2) .*\n.*run by [a-z_]+ [1-9][0-9]* %.*/\1/p}" "$report" | sort -u | wc -l)
    if [ "$num" -lt "$1" ]; then
        printf '%s ranks, %s: calls of %s collectives %s have gone by plans, not of %s:\n%s\n' "$3" "${*:4}" "$num" "$2" "$1" "$(cat "$report")" >&2
        failed=1
    fi
}

# run RANKS PROGRAM [NAME=VALUE...]
run() {
    local ranks=$1 program=$2 out
    shift 2
    # shellcheck disable=SC2086 # the program and its arguments
    out=$(env PAT_TEST_WRAP="env ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0:verify_asan_link_order=0 $*" "$PAT_SOURCE/tests/mpirun.sh" "$ranks" "$PAT_BUILD/tests/"$program 2>&1)
    local rc=$?
    if [ $rc -ne 0 ] || ! grep -q ': 0 differences' <<<"$out"; then
        printf '%s ranks, %s, %s: exit status %s:\n%s\n' "$ranks" "$program" "$*" $rc "$out" >&2
        failed=1
    fi
    seed=$((seed + (sequences > flights ? sequences : flights)))
}

preload=LD_PRELOAD=$("$PAT_SOURCE/tests/preload.sh")
most=9 auto=6
persistent=$(grep -E '^PAT_MPI_HAS_(X_)?INIT:INTERNAL=1' "$PAT_BUILD/CMakeCache.txt")
case $("${PAT_TEST_MPIRUN:-mpirun}" --version 2>/dev/null) in
*HYDRA*)
    most=3 sequences=${PAT_TEST_SEQUENCES:-2} # ranks that spin while they wait: more of them than there are cores take minutes
    auto=0                                    # there auto leaves non-blocking calls to the MPI library
    ;;
esac
flights=${PAT_TEST_FLIGHTS:-$((5 * sequences))}
once 3 PAT_NOTHING=
several 3 PAT_NOTHING=
several 3 "$preload"
gathers 3 PAT_NOTHING=
for ranks in 2 3 5 9; do
    [ $ranks -le $most ] || continue
    gathers $ranks "$preload" PAT_LINK=10,200
    gathers $ranks "$preload" PAT_FORCE=relay
    once $ranks "$preload"
    once $ranks "$preload" PAT_LINK=10,200 PAT_REPORT=/dev/null PAT_ALG_ALLREDUCE=allreduce_doubling PAT_ALG_ALLTOALL=alltoall_linear \
        PAT_ALG_SCATTER=scatter_linear PAT_ALG_REDUCE=reduce_chain PAT_ALG_REDUCE_SCATTER=reduce_scatter_pairwise
    once $ranks "$preload" PAT_FORCE=relay PAT_ALG_ALLREDUCE=allreduce_converge
    case $ranks in
    3 | 9)
        by_plan 9 $ranks "$preload" PAT_FORCE=relay PAT_ALG_ALLREDUCE=allreduce_ring PAT_ALG_ALLTOALL=alltoall_pairwise \
            PAT_ALG_BCAST=bcast_chain PAT_ALG_GATHER=gather_binomial PAT_ALG_SCATTER=scatter_binomial PAT_ALG_REDUCE=reduce_binomial \
            PAT_ALG_REDUCE_SCATTER=reduce_scatter_halving
        ;;
    2) by_plan $((auto > 2 ? auto - 2 : 0)) 2 "$preload" PAT_LINK=10,200 ;; # broadcasts and reduces between two are the MPI library's
    *) by_plan $auto $ranks "$preload" PAT_LINK=10,200 ;;
    esac
done
four=$((most < 4 ? most : 4))
once $four "$preload" PAT_FORCE=bdr PAT_ALG_BCAST=bcast_binomial PAT_ALG_GATHER=gather_binomial PAT_ALG_ALLREDUCE=allreduce_converge \
    PAT_ALG_ALLTOALL=alltoall_pairwise PAT_ALG_SCATTER=scatter_binomial PAT_ALG_REDUCE=reduce_binomial \
    PAT_ALG_REDUCE_SCATTER=reduce_scatter_halving
once $four "$preload" PAT_FORCE=bdr PAT_ALG_ALLREDUCE=allreduce_ring
once $four "$preload" PAT_FORCE=relay PAT_THREAD_LEVEL=keep PAT_ALG_ALLREDUCE=allreduce_converge
once 3 "$preload" PAT_FORCE=relay PAT_MEM=64K PAT_ALG_ALLREDUCE=allreduce_native
once 3 "$preload" PAT_FORCE=relay PAT_MEM=64K PAT_ALG_ALLREDUCE=allreduce_converge
exit $failed
