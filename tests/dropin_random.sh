#!/usr/bin/env bash
# dropin_random.sh — random sequences of collectives in a program that knows nothing of the library, as it is and under the
# drop-in: no difference, no hang, with what `auto` chooses and with every call forced through a plan.
# PAT_TEST_SEQUENCES: how many sequences in each of the runs (default 6; with MPICH 2), PAT_TEST_SEED: the first one's seed.
set -u
sequences=${PAT_TEST_SEQUENCES:-6}
seed=${PAT_TEST_SEED:-1}
failed=0

# once RANKS [NAME=VALUE...]: one batch.
once() {
    local ranks=$1 out
    shift
    out=$(env PAT_TEST_WRAP="env ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0:verify_asan_link_order=0 $*" "$PAT_SOURCE/tests/mpirun.sh" "$ranks" "$PAT_BUILD/tests/plain_random" "$seed" "$sequences" 25 2>&1)
    local rc=$?
    if [ $rc -ne 0 ] || ! grep -q ': 0 differences' <<<"$out"; then
        printf '%s ranks, seed %s, %s: exit status %s:\n%s\n' "$ranks" "$seed" "$*" $rc "$out" >&2
        failed=1
    fi
    seed=$((seed + sequences))
}

preload=LD_PRELOAD=$("$PAT_SOURCE/tests/preload.sh")
most=9
case $("${PAT_TEST_MPIRUN:-mpirun}" --version 2>/dev/null) in
*HYDRA*) most=3 sequences=${PAT_TEST_SEQUENCES:-2} ;; # ranks that spin while they wait: more of them than there are cores take minutes
esac
once 3 PAT_NOTHING=
for ranks in 2 3 5 9; do
    [ $ranks -le $most ] || continue
    once $ranks "$preload"
    once $ranks "$preload" PAT_LINK=10,200 PAT_REPORT=/dev/null PAT_ALG_ALLREDUCE=allreduce_doubling PAT_ALG_ALLTOALL=alltoall_linear \
        PAT_ALG_SCATTER=scatter_linear PAT_ALG_REDUCE=reduce_chain PAT_ALG_REDUCE_SCATTER=reduce_scatter_pairwise
    once $ranks "$preload" PAT_FORCE=relay PAT_ALG_ALLREDUCE=allreduce_converge
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
