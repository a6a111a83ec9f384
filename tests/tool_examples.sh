#!/usr/bin/env bash
# tool_examples.sh — the examples do what they say. Every round of two_requests depends on the one before, so after a
# few rounds its error is what the same rounds give without any library, or some rank has read a stale block. threads gives its milestones
# whichever of a rank's threads computes what. transpose and cg know their errors.
set -eu

fail() {
    echo "FAIL: $*" >&2
    exit 1
}
program=$(find "$PAT_BUILD" -type f -name two_requests -perm -u+x | head -n 1)
[ -n "$program" ] || fail "two_requests was not built"

# run RANKS ROUNDS: what all ranks must agree on, from "equations" on.
run() {
    local output lines
    output=$(PAT_TEST_TIMEOUT=60 "$PAT_SOURCE/tests/mpirun.sh" "$1" "$program" "$2" 2>&1) || true
    lines=$(sed -n 's/^rank [0-9]*: //p' <<<"$output")
    [ "$(wc -l <<<"$lines")" -eq "$1" ] || fail "$1 ranks, $2 rounds: $output"
    [ "$(sort -u <<<"$lines" | wc -l)" -eq 1 ] || fail "$1 ranks, $2 rounds: the ranks differ: $output"
    head -n 1 <<<"$lines"
}

# expect ROUNDS: the same, computed here.
expect() {
    awk -v n=240 -v rounds="$1" 'BEGIN {
        for (i = 1; i <= n; i++)
            x[i] = 0
        for (; done < rounds; done++) {
            total = 0
            for (i = 1; i <= n; i++)
                total += x[i]
            for (i = 1; i <= n; i++)
                x[i] = (n * (n + 1) / 2 + (2 * n - 1) * i - (total - x[i])) / (2 * n)
        }
        for (i = 1; i <= n; i++) {
            off = x[i] > i ? x[i] - i : i - x[i]
            if (off > error)
                error = off
        }
        printf "%d equations, %d rounds, largest error %.6e\n", n, rounds, error
    }'
}

# An odd and an even number of rounds: either of the two buffers holds the last result.
for rounds in 8 9; do
    expected=$(expect $rounds)
    for ranks in 1 3 4; do
        got=$(run $ranks $rounds)
        [ "$got" = "$expected" ] || fail "$ranks ranks: $got, but right is: $expected"
    done
    echo "ok: $expected"
done
"$PAT_SOURCE/tests/mpirun.sh" 4 "$program" >/dev/null || fail "the default number of rounds does not solve the equations"
if "$PAT_SOURCE/tests/mpirun.sh" 2 "$program" 8 >/dev/null 2>&1; then
    fail "8 rounds cannot be enough"
fi

transpose=$(find "$PAT_BUILD" -type f -name transpose -perm -u+x | head -n 1)
cg=$(find "$PAT_BUILD" -type f -name cg -perm -u+x | head -n 1)
[ -n "$cg" ] || fail "cg was not built"
report=$(mktemp)
trap 'rm -f "$report"' EXIT
preload="env ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0:verify_asan_link_order=0 LD_PRELOAD=$("$PAT_SOURCE/tests/preload.sh")"

# solve PROGRAM RANKS OPTION...: what does not depend on time of what it says.
solve() {
    local output
    output=$(PAT_TEST_TIMEOUT=60 "$PAT_SOURCE/tests/mpirun.sh" "$2" "$1" "${@:3}") || fail "${1##*/}: ${*:2}: status $?: $output"
    sed -E 's/, [0-9.]+ s to solution, rank 0 waited [0-9.]+ s .*$/, times/' <<<"$output"
}

# refuses PROGRAM RANKS TEXT OPTION...: said once. One rank needs no mpirun, which takes two seconds to notice that a program has failed.
refuses() {
    local output status=0 launcher=() name=${1##*/}
    [ "$2" -eq 1 ] || launcher=("$PAT_SOURCE/tests/mpirun.sh" "$2")
    output=$("${launcher[@]}" "$1" "${@:4}" 2>&1) || status=$?
    [ $status -eq 2 ] || fail "$name ${*:4}: status $status: $output"
    [ "$(grep -cxF "$name: $3" <<<"$output")" -eq 1 ] || fail "$name ${*:4}: not once '$3': $output"
}

# helps PROGRAM
helps() {
    local help
    help=$("$PAT_SOURCE/tests/mpirun.sh" 2 "$1" --help)
    [ "$(grep -c "^usage: ${1##*/} " <<<"$help")" -eq 1 ] || fail "${1##*/} --help: $help"
}

# The sums are joined as the MPI library joins them; or by a plan, where the user says that the order does not matter. MPICH does not call the library
# when it looks for messages, so there an algorithm must be named.
kept='order kept' settings=PAT_REORDER=1
grep -q '^PAT_MPI_IS_OPEN:INTERNAL=1' "$PAT_BUILD/CMakeCache.txt" || kept='not with this MPI library' settings=PAT_ALG_ALLREDUCE=allreduce_ring
for ranks in 1 2 3; do
    options=(--size 24 --systems 300)
    right="^cg: $ranks ranks, N 24, 300 systems, [0-9]+ steps: largest error [0-9.]+e-(0[7-9]|1[0-9]), times$"
    got=$(solve "$cg" $ranks "${options[@]}")
    [[ $got =~ $right ]] || fail "$got"
    same=$(PAT_TEST_WRAP="$preload PAT_REPORT=$report PAT_LINK=10,200" solve "$cg" $ranks "${options[@]}")
    [ "$same" = "$got" ] || fail "under the drop-in: $same, but without: $got"
    [ $ranks = 1 ] || grep -A 1 ' MPI_Iallreduce ' "$report" | grep -q "run by MPI library 100 %; because: $kept" ||
        fail "$ranks ranks: the sums are not left to the MPI library: $(cat "$report")"
    other=$(PAT_TEST_WRAP="$preload $settings PAT_REPORT=$report PAT_LINK=10,200" solve "$cg" $ranks "${options[@]}")
    [[ $other =~ $right ]] || fail "by a plan: $other"
    [ $ranks = 1 ] || grep -A 1 ' MPI_Iallreduce ' "$report" | grep -q 'run by allreduce_[a-z]* 100 %' ||
        fail "$ranks ranks: the sums do not go by a plan: $(cat "$report")"
    echo "ok: $got"
done
solve "$cg" 2 --size 24 --systems 5 --blocking >/dev/null
refuses "$cg" 2 "--size 63: accepted with 2 ranks: a multiple of 2 up to 1024" --size 63
refuses "$cg" 1 "--systems '0': accepted: a whole number from 1 to 1048576" --systems 0
refuses "$cg" 1 "--steps: a value is missing; see cg --help" --steps
refuses "$cg" 1 "'--eps': accepted: --size N, --systems M, --steps S, --blocking, --help" --eps
status=0
output=$("$cg" --size 24 --systems 5 --steps 2 2>&1) || status=$?
[ $status -eq 1 ] || fail "two steps cannot be enough: status $status: $output"
grep -q '^cg: the result is wrong: after 2 steps of at most 2 the largest error is .*; accepted: below 1e-06$' <<<"$output" || fail "two steps: $output"
helps "$cg"

# Under the drop-in the transposes go by plans, with an error that is the same to the last digit.
if [ -z "$transpose" ]; then
    echo "transpose was not built: there is no FFTW"
else
    for case in "1 5 linear" "2 1 pairwise" "3 5 auto" "3 8 linear" "4 5 pairwise"; do
        read -r ranks blocks algorithm <<<"$case"
        options=(--size 120 --steps 3 --blocks "$blocks")
        got=$(solve "$transpose" "$ranks" "${options[@]}")
        [[ $got =~ ^"transpose: $ranks ranks, N 120, 3 steps, $blocks blocks: largest error "[0-9.]+e-1[0-9]", times"$ ]] || fail "$got"
        with=$(PAT_TEST_WRAP="$preload PAT_REPORT=$report PAT_ALG_ALLTOALL=alltoall_$algorithm" solve "$transpose" "$ranks" "${options[@]}")
        [ "$with" = "$got" ] || fail "under the drop-in, $algorithm: $with, but without: $got"
        [ "$ranks" = 1 ] || [ "$algorithm" = auto ] || grep -A 1 ' MPI_Ialltoall ' "$report" | grep -q "run by alltoall_$algorithm 100 %" ||
            fail "$ranks ranks: transposes do not go by the plan of alltoall_$algorithm: $(cat "$report")"
        echo "ok: $got"
    done
    refuses "$transpose" 1 "--size '7': accepted: a whole number from 8 to 32768" --size 7
    refuses "$transpose" 1 "--size '64k': accepted: a whole number from 8 to 32768" --size 64k
    refuses "$transpose" 2 "--size 63: accepted with 2 ranks: a multiple of 2" --size 63
    refuses "$transpose" 1 "--steps '0': accepted: a whole number from 1 to 1000000" --steps 0
    refuses "$transpose" 2 "--blocks 5: accepted: a divisor of the 32 rows that each rank has" --size 64 --blocks 5
    refuses "$transpose" 1 "--blocks: a value is missing; see transpose --help" --blocks
    refuses "$transpose" 1 "'--block-size': accepted: --size N, --steps S, --blocks B, --help" --block-size 4
    refuses "$transpose" 1 "'64': accepted: options alone; see transpose --help" 64
    helps "$transpose"
fi

threads=$(find "$PAT_BUILD" -type f -name threads -perm -u+x | head -n 1)
if [ -z "$threads" ]; then
    echo "threads was not built: the compiler has no OpenMP"
    exit 0
fi
output=$(OMP_NUM_THREADS=2 PAT_TEST_TIMEOUT=60 "$PAT_SOURCE/tests/mpirun.sh" 2 "$threads" 20) || fail "threads: $output"
[ "$(grep -c '^rank [01]: 2 threads, 20 rounds, 20 milestones, integral 2.000000000$' <<<"$output")" = 2 ] || fail "threads: $output"
echo "ok: $(sed -n 's/^rank 0: //p' <<<"$output")"
