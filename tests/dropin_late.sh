#!/usr/bin/env bash
# dropin_late.sh — one rank is late at each place of a program, in C, Fortran and Python, all settings as they are: the first ten lines of the
# report name each place by its line in the source, the late rank, its host and the time it is waited for. Communicators
# that are duplicates, or in another order, are right too; what cannot be told is said.
set -u
failed=0
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
library=$("$PAT_SOURCE/tests/preload.sh")
# has_lines PROGRAM: without libdw, or debugging information, its places are addresses.
has_lines() {
    grep -qx 'PAT_HAS_LIBDW:INTERNAL=1' "$PAT_BUILD/CMakeCache.txt" && ldconfig -p | grep -q 'libdw\.so\.1 ' &&
        readelf --section-headers --wide "$PAT_BUILD/tests/$1" | grep -q '\.debug_line'
}

# under NAME=VALUE... -- PROGRAM...: what it prints goes to "$dir/out", the report to "$dir/report".
under() {
    local settings=()
    while [ "$1" != -- ]; do
        settings+=("$1")
        shift
    done
    shift
    rm -f "$dir/report"
    PAT_TEST_WRAP="env ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0:verify_asan_link_order=0 LD_PRELOAD=$library PAT_REPORT=$dir/report ${settings[*]}" \
        "$PAT_SOURCE/tests/mpirun.sh" 4 "$@" >"$dir/out" 2>&1 || {
        echo "$*: failed:" >&2
        cat "$dir/out" >&2
        failed=1
    }
}

# judge SOURCE PLACES: the program's own words against the first lines of the report: "LINE FUNCTION RANK MS" for each place.
judge() {
    local source=$1 line call rank ms text lines="" places=0
    { [[ $source == */* ]] || has_lines "${source%.*}"; } && lines=yes
    while read -r line call rank ms; do
        places=$((places + 1))
        [ $lines ] && where=" $source:$line " || where=' [^ ]+[+(][^ ]* '
        text=$(head -10 "$dir/report" | grep -E "$where +$call: [0-9]+ % of waits are for rank $rank on $(uname -n), ")
        # On a busy machine other ranks are late too, by less.
        awk -v ms="$ms" '{ for (i = 1; i < NF; i++) if ($(i + 1) == "ms" && $(i + 2) == "each") waited = $i }
            END { exit !(NR >= 1 && waited > 0.7 * ms && waited < 1.5 * ms) }' <<<"$text" && continue
        echo "$source:$line: rank $rank is late by $ms ms in $call, but the report says \"$text\":" >&2
        head -10 "$dir/report" >&2
        failed=1
    done < <(grep -E '^[0-9]+ MPI_[A-Za-z]+ [0-9]+ [0-9.]+$' "$dir/out")
    [ "$places" = "$2" ] || { echo "$source: $places places where $2 were expected" >&2 && failed=1; }
}

under -- "$PAT_BUILD/tests/plain_late"
judge plain_late.c 6
! grep -q 'it is not known when' "$dir/report" || { grep 'it is not known' "$dir/report" >&2 && failed=1; }
# With persistent collectives there are three places more, and one in Fortran.
begun=4 in_fortran=6
grep -qE '^PAT_MPI_HAS_(X_)?INIT:INTERNAL=1' "$PAT_BUILD/CMakeCache.txt" && begun=7 in_fortran=7
under -- "$PAT_BUILD/tests/plain_late" begun
judge plain_late.c $begun
grep -qE '^# Messages between two ranks, and waiting for them, took another [0-9.]+ %: [0-9.]+ s\. For whom is not known\.$' "$dir/report" || {
    echo "messages: $(head -12 "$dir/report")" >&2
    failed=1
}
[ "$(grep -cE ' MPI_Sendrecv +4 +10 ' "$dir/report")" = 1 ] || {
    echo "the place of a message: $(cat "$dir/report")" >&2
    failed=1
}
# Each rank has a line.
[ "$(sed -n '/^# Ranks, in s/,$p' "$dir/report" | grep -cE "^ +[0-3]  $(uname -n) +[0-9]+ ")" = 4 ] || {
    echo "ranks: $(cat "$dir/report")" >&2
    failed=1
}
# What polls for a collective is about no message.
under PAT_REPORT="$dir/begun.json" -- "$PAT_BUILD/tests/plain_late" begun
jq -e '[.sites[] | select(.call | test("^MPI_(Test|Wait)")) | select(.message_calls != .calls)] | (map(.call) | unique == ["MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome"]) and
    all(.message_calls == null and .met_calls >= 16)' "$dir/begun.json" >/dev/null || {
    echo "calls that wait for collectives: $(jq -c '.sites[] | [.call, .calls, .met_calls, .message_calls]' "$dir/begun.json")" >&2
    failed=1
}
# Each start of a persistent collective is a call of it, whatever is started with it, and of a message it is none.
[ $begun = 4 ] || jq -e '(.sites | map(select(.call | endswith("_init"))) | group_by(.call) |
    map([.[0].call, (map(.calls) | add), (map(.because | add) | add)])) ==
        [["MPI_Allgather_init", 32, 32], ["MPI_Allreduce_init", 64, 64], ["MPI_Bcast_init", 32, 32]] and
    (.sites | map(select(.call | startswith("MPI_Start"))) | map([.call, .calls, .message_calls])) == [["MPI_Start", 16, 16], ["MPI_Start", 16, 16]] and
    .program.unmet_calls_of_all_ranks == 0' "$dir/begun.json" >/dev/null || {
    echo "starts of persistent collectives: $(jq -c '.program.unmet_calls_of_all_ranks, (.sites[] | [.call, .calls, .message_calls, .because])' "$dir/begun.json")" >&2
    failed=1
}
# Without room the starts are counted as well, and waiting for collectives still is about no message: a hundred records are kept at most.
under PAT_TRACE_MEM=1K PAT_REPORT="$dir/begun.json" -- "$PAT_BUILD/tests/plain_late" begun
jq -e '[.sites[] | select(.call | test("^MPI_(Test|Wait)")) | select(.message_calls)] as $messages |
    ([.sites[] | select(.message_calls == null and (.call | test("^MPI_(Test|Wait)") | not)).calls] | add) as $calls |
    .program.unmet_calls_of_all_ranks > $calls - 100 and ($messages | length) <= 1 and all($messages[]; .call == "MPI_Waitall" and .calls == 16 and .message_calls == 16)' "$dir/begun.json" >/dev/null || {
    echo "collectives without room: $(jq -c '.program.unmet_calls_of_all_ranks, (.sites[] | [.call, .calls, .message_calls])' "$dir/begun.json")" >&2
    failed=1
}
if [ -x "$PAT_BUILD/tests/plain_late_fortran" ]; then
    under -- "$PAT_BUILD/tests/plain_late_fortran"
    judge plain_late_fortran.F90 $in_fortran
    [ $begun = 4 ] || grep -qE ' MPI_Waitany +4 +0 +[^ ]+ +[0-9]' "$dir/report" || {
        echo "MPI_Waitany for a persistent collective in Fortran: $(grep ' MPI_Waitany ' "$dir/report")" >&2
        failed=1
    }
    grep -qx '# 4 calls of all ranks are left out, since MPI_Pcontrol(0) had switched counting off.' "$dir/report" || {
        echo "MPI_Pcontrol from Fortran: $(head -12 "$dir/report")" >&2
        failed=1
    }
fi
if [ -n "${PAT_TEST_PYTHON-yes}" ] && /usr/bin/python3 -c 'import mpi4py' 2>/dev/null && grep -q 'Open MPI' "$dir/report"; then
    under -- /usr/bin/python3 "$PAT_SOURCE/tests/programs/late.py"
    judge programs/late.py 6
fi

# What has no room, or does not fit together, is said to be unknown, and nothing else is wrong with the report.
under PAT_TRACE_MEM=1K -- "$PAT_BUILD/tests/plain_late" 20 1
grep -qE '^# Of [1-9][0-9]* calls it is not known when the other ranks came to them: there was no room for them \(PAT_TRACE_MEM, or the disk\)\.$' "$dir/report" || {
    echo "no word of calls for which there was no memory:" >&2
    head -12 "$dir/report" >&2
    failed=1
}
# A program may switch counting off: two of four turns with nine calls on four ranks.
under PAT_REPORT="$dir/switched.json" -- "$PAT_BUILD/tests/plain_late" 4 1 switched
jq -e '.program.switched_off_calls_of_all_ranks == 72 and .program.unmet_calls_of_all_ranks == 0 and
    ([.sites[] | select(.call == "MPI_Allgather")] | length == 1 and .[0].calls == 8)' "$dir/switched.json" >/dev/null || {
    echo "MPI_Pcontrol: $(jq -c '[.program, [.sites[] | [.call, .calls]]]' "$dir/switched.json")" >&2
    failed=1
}
under -- "$PAT_BUILD/tests/plain_late" crossed
grep -qE '^# Of 8 calls it is not known when the other ranks came to them: the ranks. calls do not fit together' "$dir/report" || {
    echo "two communicators that were used in another order on other ranks:" >&2
    head -12 "$dir/report" >&2
    failed=1
}

# Each rank is busy for its own time, which the program knows: the share of waiting in the report is that, within what other programs disturb.
under PAT_REPORT="$dir/spread.json" -- "$PAT_BUILD/tests/plain_spread" 15 40
seconds=$(sed -nE 's/^([0-9.]+) s; has to wait ([0-9.]+) %.*/\1/p' "$dir/out")
share=$(sed -nE 's/^([0-9.]+) s; has to wait ([0-9.]+) %.*/\2/p' "$dir/out")
jq -e --argjson s "${seconds:-0}" --argjson share "${share:-0}" '[.sites[] | select(.calls == 60)][0] | .met_calls == 60 and
    (.waiting_ms / 40 / $s - $share | . < 10 and . > -10) and .arrivals_above_1000_bytes.calls == 60' "$dir/spread.json" >/dev/null || {
    echo "plain_spread: has to wait $share % of $seconds s, but the report says:" >&2
    jq -c '.sites[] | [.call, .calls, .waiting_ms]' "$dir/spread.json" >&2
    failed=1
}
exit $failed
