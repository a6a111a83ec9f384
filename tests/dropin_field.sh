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

# refuse TEXT IN: no line of IN matches.
refuse() {
    grep -qE -- "$1" <<<"$2" || return
    printf '%s: "%s" in:\n%s\n' "${FUNCNAME[1]}" "$1" "$2" >&2
    failed=1
}

nobody_can_see_which_algorithm_ran_and_why() {
    local out
    out=$(under 3 PAT_LINK=10,20 PAT_REPORT=json -- "$jacobi" 5000 12 0 0 | sed '1,/checksum/d' | jq -c '.sites[] | select(.call == "MPI_Allgather").because')
    expect '"first calls":9,' "$out"
    expect '"to compare":' "$out"
    out=$(under 3 PAT_REPORT=json -- "$jacobi" 5000 12 0 0 | sed '1,/checksum/d' | jq -c '.sites[] | select(.call == "MPI_Allgather").because')
    expect '^{"ranks on one node":36}$' "$out"
    out=$(under 3 PAT_EXPLAIN=1 -- "$jacobi" 5000 12 0 0)
    expect '^PAT: 3 ranks: collectives (other than long all-gathers )?are left to the MPI library \(ranks on one node\)$' "$out"
    out=$(under 3 PAT_EXPLAIN=1 PAT_BACKGROUND=0 -- "$jacobi" 5000 12 0 0)
    expect '^PAT: 3 ranks: all-gathers are left to the MPI library \(no background thread\)$' "$out"
    out=$(under 3 PAT_FORCE=relay PAT_REPORT=text -- "$jacobi" 2000 12 0 0)
    expect '^status 0' "$out"
    expect '^jacobi[^ ]+ +MPI_Allgather +12 +16000 ' "$out"
    expect '^    run by relay 100 %; because: asked for 100 %$' "$out"
    out=$(under 3 PAT_REPORT=text -- "$jacobi" 1 12 0 0)
    expect '^jacobi[^ ]* +MPI_Allgather +12 +8 ' "$out"
    expect '^    run by MPI library 100 %; because: too short to gain 100 %$' "$out"
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
    out=$(jq -c '.sites[] | select(.call == "MPI_Allgather") | [.known_calls > 60, .met_calls == 90, .waiting_ms > 3 * .met_calls, .waited_for[0].calls > 5]' "$dir/skew.json")
    expect '^\[true,true,true,true\]$' "$out"
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

progress_threads_slow_calls_down() { # with a lock that spins, over UCX, which writes how it has been set
    local out user levels=$PAT_BUILD/tests/plain_levels
    [ -z "${PAT_TEST_MPIRUN-}" ] && ompi_info --parsable 2>/dev/null | grep -q '^mca:pml:ucx:' || return 0
    grep -q '^PAT_SANITIZE:STRING=.*thread' "$PAT_BUILD/CMakeCache.txt" && return 0 # UCX does not start with it
    out=$(PAT_TEST_PML=ucx under 2 UCX_LOG_LEVEL=info PAT_EXPLAIN=1 -- "$levels" init)
    expect 'init: level 3, 0 failures; UCX_USE_MT_MUTEX is not set$' "$out" # for programs that this one starts
    expect ' UCX_USE_MT_MUTEX=y( |$)' "$out"
    refuse '^PAT: UCX spins' "$out"
    out=$(PAT_TEST_PML=ucx under 2 UCX_LOG_LEVEL=info PAT_THREAD_LEVEL=keep -- "$levels" 3)
    expect ' UCX_USE_MT_MUTEX=y( |$)' "$out"
    for user in UCX_USE_MT_MUTEX=n UCX_MPI_USE_MT_MUTEX=n PAT_BACKGROUND=0 PAT_THREAD_LEVEL=keep; do
        out=$(PAT_TEST_PML=ucx under 2 UCX_LOG_LEVEL=info "$user" -- "$levels" init)
        expect ' UCX_LOG_LEVEL=info' "$out"
        refuse ' UCX_USE_MT_MUTEX=y' "$out"
    done
    expect '; UCX_USE_MT_MUTEX is set$' "$(PAT_TEST_PML=ucx under 1 UCX_USE_MT_MUTEX=n -- "$levels" init)"
    # A program that starts MPI itself is told.
    out=$(PAT_TEST_PML=ucx PAT_TEST_WRAP='env PAT_EXPLAIN=1' "$PAT_SOURCE/tests/mpirun.sh" 2 "$PAT_BUILD/tests/mpi_tags" 2>&1)
    expect '^PAT: UCX spins while .* sleeps with UCX_USE_MT_MUTEX=y$' "$out"
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
    expect '^plain_moves[^ ]* +MPI_Barrier ' "$(cat "$dir/piped")"
    [ -p "$dir/pipe" ] || expect 'still a pipe' "$(ls -l "$dir/pipe")"
    ln -s /proc/self/fd/2 "$dir/stderr" # as /dev/stderr, which a broken build must not take away from a machine
    out=$(under 2 "PAT_REPORT=$dir/stderr" -- "$PAT_BUILD/tests/plain_moves" "$dir")
    expect '^plain_moves[^ ]* +MPI_Barrier ' "$out"
    [ -L "$dir/stderr" ] || expect 'still a link' "$(ls -l "$dir/stderr")"
}

# Lines fit a terminal, begin with the place, and places that differ only in what does not fit are told apart.
a_report_is_wider_than_a_terminal() {
    local out
    under 2 "PAT_REPORT=$dir/names.txt" PAT_MEM=1M -- "$PAT_BUILD/tests/plain_names" "a long word" >"$dir/out"
    out=$(awk 'length > 120 { print "too long: " $0 }' "$dir/names.txt")
    [ -z "$out" ] || expect 'lines of at most 120' "$out"
    # The golden text: hexadecimal numbers, numbers and blanks may differ.
    sed -E -e "s|$dir/||g" -e "s/  $(uname -n) /  HOST /" -e 's/0x[0-9a-f]+/HEX/g' -e 's/[0-9]+(\.[0-9]+)*/N/g' -e 's/ +/ /g' -e 's/from [^ ]+$/from HOST/' \
        -e 's/ and (.*) on N-N-NTN:N:NZ/ and MPI on DATE/' -e "s|[^ ]*/tests/|.../|g" -e '/^#$/d' \
        -e '/^# N s plain_names/d' -e 's/ N N N N - N$/ N N N W - R/' -e 's/ N N N N - -$/ N N N W - R/' "$dir/names.txt" >"$dir/seen"
    cat >"$dir/golden" <<'TEXT'
# Waiting for late ranks in collectives took N % of the run: N of N s (mean over N ranks).
# PAT N and MPI on DATE, N ranks on N node from HOST
# command: .../plain_names a long word
# settings: PAT_MEM=NM PAT_REPORT=names.txt and defaults
# The whole program, means over ranks, in ms:
# saved by calls that relay ran (estimated) N
# less: starting the library N
# less: making and freeing states of communicators N
# less: ending the library N
# LOST in all (estimated) N of N from MPI_Init to MPI_Finalize
# the background thread's processor time N beside that
# Clocks: offsets are known to within N us (worst rank), drift up to N ppm, measured again N times.
# No blocking call was run by relay, so none can have saved anything.
# Calls of a rank, bytes of a call, and times of a call in ms, means over calls and ranks: of it waiting for late ranks,
# saved (estimated, known only of calls that relay ran), and the rank that was waited for longest. Places without a
# second line were passed on to the MPI library.
place call calls bytes time/ms wait/ms saved/ms last
plain_names(a_function_wit...)+HEX MPI_Barrier N N N W - R
plain_names(a_function_wit...)+HEX MPI_Barrier N N N W - R
plain_names(a_function_wit...)+HEX MPI_Barrier N N N W - R
plain_names(a_function_wit...)+HEX MPI_Barrier N N N W - R
# How far apart the ranks came, means over calls: average and worst imbalance time, and the same in times of a message
# of the call's size (AIF, WIF); how many calls are balanced (WIF < N); how alike calls in a row are (-N to N).
place call bytes avg/ms worst/ms AIF WIF balanced alike
plain_names(a_funct...)+HEX MPI_Barrier <=N N N N N N% N
plain_names(a_funct...)+HEX MPI_Barrier <=N N N N N N% N
plain_names(a_funct...)+HEX MPI_Barrier <=N N N N N N% N
plain_names(a_funct...)+HEX MPI_Barrier <=N N N N N N% N
# Ranks, in s: in collectives, of that waiting for late ranks, in messages between two ranks, all else; and how long
# the others together have waited for it.
 rank host calls collectives waiting messages all else waited for
 N HOST N N N N N N
 N HOST N N N N N N
TEXT
    out=$(diff "$dir/golden" "$dir/seen") || expect 'as in the golden text' "$out"
    out=$(awk '/MPI_Barrier/ { print $1, $3 }' "$dir/names.txt" | sort -u)
    [ "$(grep -c ' 1$' <<<"$out")" = 4 ] || expect 'four places' "$out"
}

nobody_knows_where_a_report_is_from() {
    local out now
    now=$(date -u +%s)
    under 3 "PAT_REPORT=$dir/about.json" PAT_MEM=1M -- "$jacobi" 2000 12 0 0 >"$dir/out"
    # On one node all ranks read the same clock.
    expect '^\[0,0,0\]$' "$(jq -c '.clocks | [.error_us, .drift_ppm, .measured_again]' "$dir/about.json")"
    out=$(jq -c --argjson now "$now" --arg host "$(uname -n)" '[.schema_version, .ranks, .nodes, .host == $host,
        (.command[0] | endswith("/jacobi")), .command[1:], .settings.PAT_MEM, .settings.PAT_WAIT, .set_in_environment,
        (.date | fromdate) >= $now, (.mpi_library | length) > 3, (.pat_version | test("^[0-9.]+$"))]' "$dir/about.json")
    expect '^\[2,3,1,true,true,\["2000","12","0","0"\],"1M","adaptive",\["PAT_MEM","PAT_REPORT"\],true,true,true\]$' "$out"
    # An argument that is not UTF-8 costs no report.
    under 2 "PAT_REPORT=$dir/latin.json" -- "$PAT_BUILD/tests/plain_names" $'M\xfcller' >"$dir/out"
    expect '^"M\?ller"$' "$(jq '.command[1]' "$dir/latin.json")"
}

# What is saved is less all that the library costs, and a loss is called one. The first call, which makes the state, counts.
a_tool_praises_itself() {
    local out
    under 3 PAT_FORCE=relay PAT_LINK=10,1000 "PAT_REPORT=$dir/sum.json" -- "$jacobi" 2000 12 0 0 >"$dir/out"
    out=$(jq -c 'def near($a; $b): ($a - $b) | . < 0.001 and . > -0.001; .ranks as $n | .program as $p |
        [near($p.saved_ms_estimated; $p.saved_by_calls_ms_estimated - $p.start_ms - $p.states_ms - $p.end_ms),
         near($p.saved_by_calls_ms_estimated; ([.sites[].saved_ms_estimated // 0] | add) / $n),
         $p.start_ms > 0, $p.states_ms > 0, $p.end_ms > 0, $p.thread_cpu_ms > 0, $p.known_calls_of_all_ranks,
         $p.estimated_by]' "$dir/sum.json")
    expect '^\[true,true,true,true,true,true,36,"measured calls, least time of the link"\]$' "$out"
    # Whatever twelve short calls save on a link that takes no time, it is less than what the library took to start.
    out=$(under 3 PAT_FORCE=relay PAT_LINK=0.001,1000000 PAT_REPORT=text -- "$jacobi" 2000 12 0 0)
    expect '^#   saved by calls that relay ran \(estimated\) +-?[0-9.]+$' "$out"
    expect '^#   LOST in all \(estimated\) +[0-9.]+   of ' "$out"
    expect '^# least that the link needs stands for it, and more may have been saved' "$out"
    # Ranks that come late to the first call are not what its state costs.
    under 3 PAT_FORCE=relay PAT_LINK=10,1000 "PAT_REPORT=$dir/late.json" -- "$jacobi" 2000 1 0 3000 >"$dir/out"
    expect '^true$' "$(jq '.program.states_ms < 0.5 * ([.sites[] | select(.call == "MPI_Allgather").time_ms] | add / 3)' "$dir/late.json")"
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
progress_threads_slow_calls_down
progress_threads_race_at_finalize
tools_do_not_stack
srun_drops_the_environment
several_programs_in_one_job
wrong_settings_end_the_program
a_report_is_missed_after_hours
an_older_report_is_lost
a_report_goes_to_something_else
a_report_is_wider_than_a_terminal
nobody_knows_where_a_report_is_from
a_tool_praises_itself
exit $failed
