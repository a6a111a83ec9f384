#!/usr/bin/env bash
# dropin_field.sh — what users of such tools complain about, one function for each complaint, under the drop-in.
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
library=$("$PAT_SOURCE/tests/preload.sh")
jacobi=$PAT_BUILD/bench/examples/jacobi
failed=0

# under RANKS NAME=VALUE... -- PROGRAM...: the output of both streams, preceded by the exit status.
under() {
    local ranks=$1 settings=() out
    shift
    while [ "$1" != -- ]; do
        settings+=("$1")
        shift
    done
    shift
    out=$(PAT_TEST_WRAP="env ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0:verify_asan_link_order=0 LD_PRELOAD=$library ${settings[*]}" "$PAT_SOURCE/tests/mpirun.sh" "$ranks" "$@" 2>&1)
    echo "status $?"
    echo "$out"
}

# expect TEXT IN: a line of IN matches.
expect() {
    grep -qE -- "$1" <<<"$2" && return
    printf '%s: no "%s" in:\n%s\n' "${FUNCNAME[1]}" "$1" "$2" >&2
    failed=1
}

nobody_can_see_which_algorithm_ran_and_why() {
    local out
    out=$(under 3 PAT_LINK=10,20 PAT_REPORT=json -- "$jacobi" 5000 12 0 0 | sed '1,/checksum/d' | jq -c '.sites[] | select(.call == "MPI_Allgather").because')
    expect '"first calls":9,.*"long blocks":' "$out"
    out=$(under 3 PAT_FORCE=relay PAT_REPORT=text -- "$jacobi" 2000 12 0 0)
    expect '^status 0' "$out"
    expect '^MPI_Allgather +12 +16000 .* relay 100 % +asked for 100 % +jacobi\(main\+0x|^MPI_Allgather +12 +16000 .* relay 100 % +asked for 100 % +jacobi\+0x' "$out"
    out=$(under 3 PAT_REPORT=text -- "$jacobi" 1 12 0 0)
    expect '^MPI_Allgather +12 +8 .* MPI library 100 % +too short to gain 100 % ' "$out"
}

message_size_means_different_things() { # bytes of a rank's block, and they add up
    local out
    under 3 "PAT_REPORT=$dir/size.json" -- "$jacobi" 2000 12 0 0 >"$dir/out"
    out=$(jq -c '.sites[] | select(.call == "MPI_Allgather") | [.calls, .bytes, .least_bytes, .most_bytes]' "$dir/size.json")
    expect '^\[36,576000,16000,16000\]$' "$out"
}

tuned_defaults_do_not_carry_over() { # a foreign or missing file is said, and the program runs
    local out
    out=$(under 2 "PAT_CALIBRATION=$dir/none.json" -- "$jacobi" 2000 12 0 0)
    expect '^status 0' "$out"
    expect 'none.json.*the program runs without' "$out"
    expect 'checksum' "$out"
    [ "$(grep -c 'the program runs without' <<<"$out")" = 1 ] || expect 'one line, not one a rank' "$out"
}

benchmarks_are_misled_by_skew() { # waiting for a late rank is told from moving data, and who is late
    local out
    under 3 PAT_FORCE=relay PAT_LINK=10,1000 "PAT_REPORT=$dir/skew.json" -- "$jacobi" 2000 30 0 30 >"$dir/out"
    out=$(jq -c '.sites[] | select(.call == "MPI_Allgather") | [.known_calls > 60, .waiting_ms > 3 * .known_calls, .most_often_last.calls > 5]' "$dir/skew.json")
    expect '^\[true,true,true\]$' "$out"
}

a_tool_cannot_raise_the_thread_level() {
    expect 'init: level 3, 0 failures' "$(under 2 A=b -- "$PAT_BUILD/tests/plain_levels" init)"
    expect '0: level 3, 0 failures' "$(under 2 A=b -- "$PAT_BUILD/tests/plain_levels" 0)"
    expect '2: level 3, 0 failures' "$(under 2 A=b -- "$PAT_BUILD/tests/plain_levels" 2)"
    # Errors too are the MPI library's when every call would go by a plan.
    expect '2: level 3, 0 failures' "$(under 2 PAT_FORCE=relay PAT_ALG_BCAST=bcast_binomial \
        PAT_ALG_GATHER=gather_linear -- "$PAT_BUILD/tests/plain_levels" 2)"
}

thread_multiple_costs_or_hangs() { # it can be done without, cleanly
    expect 'init: level 0, 0 failures' "$(under 2 PAT_THREAD_LEVEL=keep -- "$PAT_BUILD/tests/plain_levels" init)"
    expect '1: level 1, 0 failures' "$(under 2 PAT_THREAD_LEVEL=keep PAT_FORCE=relay -- "$PAT_BUILD/tests/plain_levels" 1)"
}

progress_threads_race_at_finalize() {
    local i out
    for i in 1 2 3 4 5 6 7 8; do
        out=$(under 3 PAT_FORCE=relay -- "$jacobi" $((1000 * i)) $i 0 0)
        expect '^status 0' "$out"
        expect checksum "$out"
    done
}

tools_do_not_stack() { # either side; behind us it sees what we pass on, before us it hides the calls it makes by PMPI_
    local tool out
    tool=$(find "$PAT_BUILD/tests" -name 'libstack_tool.so' | head -n 1)
    out=$(under 3 "LD_PRELOAD=$library:$tool" "PAT_REPORT=$dir/behind.json" -- "$jacobi" 2000 12 0 0)
    expect '^status 0' "$out"
    expect 'other tool: [1-9][0-9]* all-gathers' "$out"
    out=$(under 3 "LD_PRELOAD=$library:$tool" PAT_FORCE=relay -- "$jacobi" 2000 12 0 0)
    expect 'other tool: 0 all-gathers' "$out"
    out=$(under 3 "LD_PRELOAD=$tool:$library" PAT_FORCE=relay -- "$jacobi" 2000 12 0 0)
    expect '^status 0' "$out"
    expect 'other tool: 12 all-gathers' "$out"
    expect "$checksum" "$out"
}

srun_drops_the_environment() {
    local out
    printf '#!/bin/sh\nprintf "%%s\\n" "$@"\n' >"$dir/srun"
    chmod +x "$dir/srun"
    out=$(PAT_MEM=1M "$PAT_SOURCE/src/dropin/pat-run" --library="$PAT_BUILD/libpat-mpi.so" --alg=relay "$dir/srun" -n 4 ./app --verbose 2>&1)
    expect "^--export=ALL,LD_PRELOAD=$(readlink -f "$PAT_BUILD/libpat-mpi.so")\$" "$out"
    expect '^-n$' "$out"
    expect '^--verbose$' "$out"
}

several_programs_in_one_job() { # mpirun gives what is set to the program before the next colon only
    local out
    # shellcheck disable=SC2016 # the script's own
    printf '#!/bin/sh\n[ "$1" = --version ] && echo "mpirun (Open MPI) 4.1.4" || printf "%%s\\n" "$@"\n' >"$dir/mpirun"
    chmod +x "$dir/mpirun"
    out=$("$PAT_SOURCE/src/dropin/pat-run" --library="$PAT_BUILD/libpat-mpi.so" "$dir/mpirun" -n 2 ./a : -n 2 ./b 2>&1)
    [ "$(grep -c '^LD_PRELOAD=' <<<"$out")" = 2 ] || expect 'LD_PRELOAD twice' "$out"
    out=$("$PAT_SOURCE/src/dropin/pat-run" --library="$PAT_BUILD/libpat-mpi.so" "$dir/mpirun" --app file 2>&1)
    expect '^pat-run: --app: ' "$out"
}

wrong_settings_end_the_program() { # they do not: they are said once
    local out
    out=$(under 3 PAT_MEM=12X -- "$jacobi" 2000 12 0 0)
    expect '^status 0' "$out"
    expect 'PAT_MEM="12X": accepted: ' "$out"
    expect "$checksum" "$out"
}

# What is said of the report comes before what the program says after MPI_Init; then it runs on.
a_report_is_missed_after_hours() {
    local out
    out=$(under 3 "PAT_REPORT=$dir/no/such/place" -- "$PAT_BUILD/tests/plain_moves" "$dir")
    expect '^status 0' "$out"
    expect '^plain_moves: done' "$out"
    expect '^pat: PAT_REPORT="[^"]*/no/such/place": cannot be written: No such file' "$(sed '/^plain_moves/,$d' <<<"$out")"
    [ "$(grep -c '^pat:' <<<"$out")" = 1 ] || expect 'one line, not one a rank' "$out"
    out=$(under 2 "PAT_REPORT=$dir" -- "$PAT_BUILD/tests/plain_moves" "$dir")
    expect "cannot be written: Is a directory" "$(sed '/^plain_moves/,$d' <<<"$out")"
}

an_older_report_is_lost() { # until there is a new one, it stays as it is; nothing else is left
    local out
    mkdir "$dir/run"
    out=$(cd "$dir/run" && under 2 PAT_REPORT=report.json -- "$PAT_BUILD/tests/plain_moves" "$dir/run")
    expect '^plain_moves: before MPI_Finalize:$' "$out"
    expect '^\[1\]$' "$(jq -c '[.sites[] | select(.call == "MPI_Barrier")] | [length]' "$dir/run/report.json")"
    echo old >"$dir/run/report.json"
    out=$(cd "$dir/run" && under 2 PAT_REPORT=report.json -- "$PAT_BUILD/tests/plain_moves" "$dir/run")
    expect '^plain_moves: before MPI_Finalize: report.json with 4 bytes$' "$out"
    expect '^2$' "$(jq .ranks "$dir/run/report.json")"
    expect '^report.json$' "$(ls "$dir/run")"
    [ "$(find "$dir/run" -mindepth 1 | wc -l)" = 1 ] || expect "nothing but the report" "$(ls "$dir/run")"
}

a_report_goes_to_something_else() { # a pipe, or the standard error by name, stays what it is
    local out
    mkfifo "$dir/pipe"
    timeout 100 cat "$dir/pipe" >"$dir/piped" &
    under 2 "PAT_REPORT=$dir/pipe" -- "$PAT_BUILD/tests/plain_moves" "$dir" >"$dir/out"
    wait $!
    expect '^MPI_Barrier ' "$(cat "$dir/piped")"
    [ -p "$dir/pipe" ] || expect 'still a pipe' "$(ls -l "$dir/pipe")"
    ln -s /proc/self/fd/2 "$dir/stderr" # as /dev/stderr, which a broken build must not take away from a machine
    out=$(under 2 "PAT_REPORT=$dir/stderr" -- "$PAT_BUILD/tests/plain_moves" "$dir")
    expect '^MPI_Barrier ' "$out"
    [ -L "$dir/stderr" ] || expect 'still a link' "$(ls -l "$dir/stderr")"
}

checksum=$("$PAT_SOURCE/tests/mpirun.sh" 3 "$jacobi" 2000 12 0 0 2>&1 | grep -oE 'checksum [^,]*')
[ -n "$checksum" ] || { echo "jacobi has no checksum" >&2; exit 1; }
expect_sum=$(under 3 PAT_FORCE=relay -- "$jacobi" 2000 12 0 0)
expect "$checksum" "$expect_sum"
nobody_can_see_which_algorithm_ran_and_why
message_size_means_different_things
tuned_defaults_do_not_carry_over
benchmarks_are_misled_by_skew
a_tool_cannot_raise_the_thread_level
thread_multiple_costs_or_hangs
progress_threads_race_at_finalize
tools_do_not_stack
srun_drops_the_environment
several_programs_in_one_job
wrong_settings_end_the_program
a_report_is_missed_after_hours
an_older_report_is_lost
a_report_goes_to_something_else
exit $failed
