#!/usr/bin/env bash
# tool_examples.sh — the examples do what they say. Every round of two_requests depends on the one before, so after a
# few rounds its error is what the same rounds give without any library, or some rank has read a stale block. threads gives its milestones
# whichever of a rank's threads computes what.
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

threads=$(find "$PAT_BUILD" -type f -name threads -perm -u+x | head -n 1)
if [ -z "$threads" ]; then
    echo "threads was not built: the compiler has no OpenMP"
    exit 0
fi
output=$(OMP_NUM_THREADS=2 PAT_TEST_TIMEOUT=60 "$PAT_SOURCE/tests/mpirun.sh" 2 "$threads" 20) || fail "threads: $output"
[ "$(grep -c '^rank [01]: 2 threads, 20 rounds, 20 milestones, integral 2.000000000$' <<<"$output")" = 2 ] || fail "threads: $output"
echo "ok: $(sed -n 's/^rank 0: //p' <<<"$output")"
