#!/usr/bin/env bash
# dropin_kill.sh — a rank is killed at a random moment: the job ends as it does without the drop-in, and no later than two
# seconds after that. PAT_TEST_KILLS: how often (default 5).
set -u
kills=${PAT_TEST_KILLS:-5}
RANDOM=${PAT_TEST_SEED:-17}
jacobi=$PAT_BUILD/bench/examples/jacobi

# ranks_of PID: the ranks below that process, however many processes a launcher puts in between.
ranks_of() {
    local child
    pgrep -P "$1" -x jacobi
    for child in $(pgrep -P "$1"); do
        ranks_of "$child"
    done
}

# once WRAP DELAY: kills one rank DELAY seconds after the start. Sets `status`, and `took`: ms from the kill to the end.
once() {
    local job victims victim killed ended
    PAT_TEST_WRAP=$1 PAT_TEST_TIMEOUT=60 "$PAT_SOURCE/tests/mpirun.sh" 4 "$jacobi" 3000 100000 0 3 >/dev/null 2>&1 &
    job=$!
    sleep "$2"
    for ((i = 0; i < 100; i++)); do
        mapfile -t victims < <(ranks_of $job)
        [ ${#victims[@]} -eq 4 ] && break
        sleep 0.05
    done
    victim=${victims[RANDOM % 4]}
    kill -KILL "$victim"
    killed=$(date +%s%N)
    wait $job
    status=$? ended=$(date +%s%N)
    # Hydra gives the status of whichever rank it has seen end first: the killed one, or one that has ended for that reason.
    [[ $status != 6 && $status != 15 ]] || case $("${PAT_TEST_MPIRUN:-mpirun}" --version 2>/dev/null) in
    *HYDRA*) status=9 ;;
    esac
    took=$(((ended - killed) / 1000000))
}

failed=0 slowest=0
once "" 0.8
native_status=$status native_ms=$took
for ((k = 1; k <= kills; k++)); do
    delay=0.$((RANDOM % 7 + 3))$((RANDOM % 10))
    once "env ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0:verify_asan_link_order=0 LD_PRELOAD=$("$PAT_SOURCE/tests/preload.sh") PAT_FORCE=relay" $delay
    [ $took -gt $slowest ] && slowest=$took
    if [ $status -ne $native_status ] || [ $took -gt $((native_ms + 2000)) ]; then
        echo "killed after $delay s: exit status $status after $took ms; without the drop-in $native_status after $native_ms ms" >&2
        failed=1
    fi
done
echo "$kills kills: exit status $native_status, at most $slowest ms to the end; without the drop-in $native_ms ms"
exit $failed
