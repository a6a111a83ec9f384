#!/usr/bin/env bash
# tool_report.sh — pat-report on what PAT_TRACE leaves: the tables, the CSV and the timeline say of a program what it knows of itself. Of a rank
# that was killed what it had written is there, and so it is on a full disk. Files that are cut off or nonsense are said to be so, and crash nothing.
# shellcheck disable=SC2015 # fail is right where either half is false
set -u
failed=0
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
library=$("$PAT_SOURCE/tests/preload.sh")
report=$PAT_BUILD/bench/pat-report
[ -x "$report" ] || { echo "skipped: pat-report was not built"; exit 77; }

fail() {
    printf '%s\n' "$*" >&2
    failed=1
}

# traced DIR PROGRAM...: what it prints goes to "$dir/out".
traced() {
    local to=$1
    shift
    PAT_TEST_WRAP="env ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0:verify_asan_link_order=0 LD_PRELOAD=$library PAT_TRACE=$to" \
        "$PAT_SOURCE/tests/mpirun.sh" 4 "$@" >"$dir/out" 2>&1
}

mkdir "$dir/late"
traced "$dir/late" "$PAT_BUILD/tests/plain_late" 6 30 || fail "plain_late: $(cat "$dir/out")"
"$report" "$dir/late" --csv "$dir/calls.csv" --chrome "$dir/timeline.json" >"$dir/text" 2>"$dir/err" || fail "pat-report: $(cat "$dir/err")"
[ ! -s "$dir/err" ] || fail "pat-report warns of a good trace: $(cat "$dir/err")"
grep -qE '^# Waiting for late ranks in collectives took [1-9][0-9.]* % of the run: ' "$dir/text" || fail "no answer in words: $(head -3 "$dir/text")"
awk 'length > 120 { print "too long: " $0 }' "$dir/text" | grep . >&2 && failed=1
# The program's own words: line, function, who is late there.
while read -r line call rank _; do
    grep -qE "^(plain_late.c:$line|plain_late[+(][^ ]*) +$call .* $rank \(([5-9][0-9]|100) %\)$" "$dir/text" || fail "$call in line $line, rank $rank: $(cat "$dir/text")"
done < <(grep -E '^[0-9]+ MPI_[A-Za-z]+ [0-9]+ [0-9.]+$' "$dir/out")
# All calls are there: 10 places, 6 turns (and a reduction for each of 6 places), on 4 ranks but for the halves, which are 4 ranks too.
[ "$(awk -F, 'NR > 1' "$dir/calls.csv" | wc -l)" = $(((9 * 6 + 6) * 4)) ] || fail "$(wc -l <"$dir/calls.csv") lines of calls"
[ "$(awk -F, 'NR > 1 { print NF }' "$dir/calls.csv" | sort -u)" = 15 ] || fail "lines of calls with other than 15 fields"
jq -e '[.traceEvents[] | select(.cat == "collective")] | length == 240 and all(.ph == "X" and .dur >= 0 and .ts >= 0 and .tid < 4)' "$dir/timeline.json" >/dev/null || fail "the timeline is not whole"
jq -e '[.traceEvents[] | select(.ph == "M" and .name == "thread_name")] | length == 4' "$dir/timeline.json" >/dev/null || fail "not four tracks"
# The waiting in both is the same.
same=$(jq -n --slurpfile t "$dir/timeline.json" --argjson csv "$(awk -F, 'NR > 1 { s += $12 } END { printf "%.3f", s }' "$dir/calls.csv")" \
    '([$t[0].traceEvents[].args?.wait_us // 0] | add) - $csv | . < 1 and . > -1')
[ "$same" = true ] || fail "the timeline's waiting is not that of the table of calls"

# Calls that never were, whose sums are known: what is written of them is what was worked out by hand.
mkdir "$dir/made"
"$PAT_BUILD/tests/made_log" "$dir/made" 4 4 || fail "made_log"
"$report" "$dir/made" --json "$dir/made.json" --csv "$dir/made.csv" >"$dir/made.txt" 2>"$dir/err" || fail "pat-report: $(cat "$dir/err")"
mkdir "$dir/more"
"$PAT_BUILD/tests/made_log" "$dir/more" 4 4 more || fail "made_log more"
"$report" "$dir/more" --json "$dir/more.json" --csv "$dir/more.csv" --chrome "$dir/more.timeline" >"$dir/more.txt" 2>"$dir/err" || fail "pat-report: $(cat "$dir/err")"
for kind in txt json csv; do
    diff "$PAT_SOURCE/tests/golden/report.$kind" "$dir/made.$kind" >&2 || fail "made_log: other $kind"
    diff "$PAT_SOURCE/tests/golden/more.$kind" "$dir/more.$kind" >&2 || fail "made_log more: other $kind"
done
jq -e '[.traceEvents[] | select(.cat == "milestone")] | length == 16 and all(.name == "25 % done" and .ph == "i")' "$dir/more.timeline" >/dev/null || fail "milestones in the timeline"

# Collectives that do not block, and what waits for them: each wait is for the rank that came late, in the table and in the archive.
mkdir "$dir/begun"
traced "$dir/begun" "$PAT_BUILD/tests/plain_late" begun || fail "plain_late begun: $(cat "$dir/out")"
"$report" "$dir/begun" --csv "$dir/begun.csv" >"$dir/text" 2>"$dir/err" || fail "pat-report: $(cat "$dir/err")"
[ "$(awk -F, '$5 == "\"MPI_Waitall\"" { n[$13] += $12 > 30000 } END { print n[3], n[""] + 0 }' "$dir/begun.csv")" = "12 0" ] || fail "waits in MPI_Waitall: $(grep Waitall "$dir/begun.csv")"
grep -qE ' MPI_Sendrecv +16 +10 ' "$dir/text" || fail "messages: $(cat "$dir/text")"

# The page, which needs nothing beside it, and says the same in a browser.
if "$report" "$dir/made" --html "$dir/made.html" >"$dir/text" 2>"$dir/err"; then
    grep -qE '(src|href)="' "$dir/made.html" && fail "the page fetches something: $(grep -oE '(src|href)="[^"]*' "$dir/made.html")"
    grep -q '@[a-z.]*@' "$dir/made.html" && fail "something is missing in the page: $(grep -o '@[a-z.]*@' "$dir/made.html")"
    if command -v chromium >/dev/null; then
        # looks ADDRESS: its text, a line for each element with one, in "$dir/dom".
        looks() {
            HOME=$dir timeout 100 chromium --headless --no-sandbox --disable-gpu --dump-dom "file://$1" 2>/dev/null |
                awk '/<script/ { skip = 1 } !skip { print } /<\/script>/ { skip = 0 }' | sed 's/></>\n</g' >"$dir/dom"
            grep -q 'data-ready="yes"' "$dir/dom" || fail "the page is not drawn: $(grep -o 'data-error="[^"]*"' "$dir/dom")"
        }
        # says WORDS...: it does.
        says() {
            local words
            for words; do
                grep -qF -- "$words" "$dir/dom" || fail "the page does not say '$words': $(sed 's/<[^>]*>//g' "$dir/dom" | grep .)"
            done
        }
        looks "$dir/made.html#place=0&rank=2"
        says 'Waiting for late ranks in collectives took 25.0 % of the run: 30 ms of 120 ms' \
            'app.c:10, MPI_Allgather: 48.2 ms of all ranks together; 100 % of waits are for rank 3 on node1, 4.02 ms each' \
            './app a &lt;!--&lt;script&gt;&lt;/script&gt; b' 'One place: app.c:10, MPI_Allgather' \
            'Others have waited, all together, for rank 3 on node1: 48.2 ms in 12 waits.' \
            'data-rows="4" data-columns="4"' '>70.0 %<' '>82.6 %<'
        [ "$(grep -c 'aria-current="true"' "$dir/dom")" = 2 ] || fail "the place and the rank of the address are not chosen"
        # More calls than a page has room for, and of a rank there is no file, so that nobody knows who waited.
        mkdir "$dir/many"
        "$PAT_BUILD/tests/made_log" "$dir/many" 6 11000 && rm "$dir/many/calls-5.pat"
        "$report" "$dir/many" --html "$dir/many.html" --json "$dir/many.json" >"$dir/text" 2>"$dir/err" || fail "no file of a rank: $(cat "$dir/err")"
        looks "$dir/many.html"
        says 'data-rows="6" data-columns="1000"' 'it is not known how long they waited' '>Not known: ' 'and more are drawn one by one' \
            '1 thing is missing or wrong' 'Nobody waited here for a late rank, or it is not known.'
        jq -e '.pop == null and .mean_of_a_rank.waiting_s == 0 and .mean_of_a_rank.moving_s == 0' "$dir/many.json" >/dev/null || fail "sums of what is not known: $(head -30 "$dir/many.json")"
    else
        echo "no chromium here: the page is not looked at in a browser"
    fi
else
    grep -q 'was built without Chart.js' "$dir/err" || fail "--html: $(cat "$dir/err")"
fi

# Each rank is late now and then: the report that the ranks have made together says the same as the one that is made of their files.
mkdir "$dir/spread"
PAT_REPORT=$dir/spread.json traced "$dir/spread" "$PAT_BUILD/tests/plain_spread" 40 5 || fail "plain_spread: $(cat "$dir/out")"
"$report" "$dir/spread" --csv "$dir/spread.csv" >"$dir/text" 2>"$dir/err" || fail "plain_spread: $(cat "$dir/err")"
together=$(jq -r '[.sites[] | select(.call == "MPI_Allgather" and .calls == 160)][0] | "\(.waiting_ms | . * 10 | round) \(.waited_for | map("\(.rank):\(.calls)") | join(" "))"' "$dir/spread.json")
apart=$(awk -F, '$5 == "\"MPI_Allgather\"" && ++turn[$1] > 5 { wait += $12; if ($13 != "") { n[$13]++; ns[$13] += $12 } }
    END { printf "%.0f", wait / 100; for (k = 0; k < 4; k++) { best = ""; for (r in ns) if (best == "" || ns[r] > ns[best]) best = r; if (best == "") break; printf " %d:%d", best, n[best]; delete ns[best] }; print "" }' "$dir/spread.csv")
[ -n "$together" ] && [ "$together" = "$apart" ] || fail "the report says '$together', the files '$apart'"

# The archive of OTF2, where pat-report can write one: its own tool finds nothing wrong, and all calls.
if "$report" "$dir/late" --otf2 "$dir/otf2" >"$dir/text" 2>"$dir/err"; then
    if command -v otf2-print >/dev/null; then
        otf2-print "$dir/otf2/calls.otf2" >"$dir/events" 2>"$dir/err" || fail "otf2-print: $(cat "$dir/err")"
        [ ! -s "$dir/err" ] && ! grep -qiE 'warning|error|invalid' "$dir/events" || fail "otf2-print warns: $(cat "$dir/err")"
        [ "$(grep -c '^ENTER ' "$dir/events")" = 240 ] && [ "$(grep -c '^MPI_COLLECTIVE_END ' "$dir/events")" = 240 ] || fail "calls in the archive: $(grep -c '^ENTER ' "$dir/events")"
    fi
    "$report" "$dir/late" --otf2 "$dir/otf2" >"$dir/text" 2>"$dir/err" && fail "an archive was written over another one"
    grep -q 'is there already' "$dir/err" || fail "an archive that is there: $(cat "$dir/err")"
else
    grep -q 'was built without OTF2' "$dir/err" || fail "--otf2: $(cat "$dir/err")"
fi

# A rank that is killed: what there was by then.
mkdir "$dir/killed"
# It is killed once it has written some 50 records.
# shellcheck disable=SC2016 # the inner shell is to see these
traced "$dir/killed" sh -c '"$0" 1000 20 & child=$!
    [ "${OMPI_COMM_WORLD_RANK-$PMI_RANK}" = 2 ] && for i in $(seq 600); do
        [ "$(tail -c +65537 "$PAT_TRACE/calls-2.pat" 2>/dev/null | head -c 4000 | tr -d "\\0" | wc -c)" -gt 700 ] && { kill -9 $child; break; }
        sleep 0.1
    done
    wait $child' "$PAT_BUILD/tests/plain_late" && fail "a killed rank makes no error"
"$report" "$dir/killed" >"$dir/text" 2>"$dir/err" || fail "a killed rank: $(cat "$dir/err")"
grep -q '^pat-report: calls-2.pat: rank 2 did not come to its end' "$dir/err" || fail "a killed rank is not told of: $(cat "$dir/err")"
[ "$(awk '$2 ~ /^MPI_Allgather$/ { print ($3 >= 8) }' "$dir/text")" = 1 ] || fail "a killed rank's calls: $(cat "$dir/text")"

# A full disk: the program goes on and ends well, and what had room is there.
mkdir "$dir/full"
# shellcheck disable=SC2317 # another shell calls it
full() {
    mount -t tmpfs -o size=2M none "$dir/full" 2>/dev/null || return 77
    traced "$dir/full" "$PAT_BUILD/tests/plain_late" 2000 0 && "$report" "$dir/full" >"$dir/text" 2>"$dir/err"
}
export -f full traced
export dir report library
rm -f "$dir/out"
unshare --map-root-user --mount bash -c full
status=$?
if [ $status -eq 77 ] || [ $status -eq 1 ] && ! [ -s "$dir/out" ]; then
    echo "no file system of its own can be made here: a full disk is not tried"
elif [ $status -ne 0 ] || ! grep -q 'PAT_TRACE: on some ranks the disk has no room for all calls' "$dir/out" ||
    ! grep -qE '^pat-report: calls-[0-3].pat: [0-9]+ calls are missing, for want of room on the disk$' "$dir/err" ||
    ! grep -qE ' MPI_Allgather +[0-9]{3,} ' "$dir/text"; then
    fail "a full disk: status $status, $(cat "$dir/out" "$dir/err" "$dir/text")"
fi

# Cut off, and nonsense: an error or a warning, nothing worse.
mkdir "$dir/cut"
for bytes in 0 10 4095 65536 65540 68000; do
    cp "$dir"/late/calls-*.pat "$dir/cut"
    truncate -s "$bytes" "$dir/cut/calls-1.pat"
    "$report" "$dir/cut" >"$dir/text" 2>"$dir/err"
    status=$?
    [ $status -eq 0 ] && grep -q '^pat-report: calls-1.pat: ' "$dir/err" || fail "a file of $bytes bytes: status $status, $(cat "$dir/err")"
done
size=$(stat -c %s "$dir/late/calls-0.pat")
page=()
[ ! -e "$dir/made.html" ] || page=(--html "$dir/cut.html")
for seed in $(seq 1 40); do
    cp "$dir"/late/calls-*.pat "$dir/cut"
    awk -v seed="$seed" -v size="$size" 'BEGIN { srand(seed); for (i = 0; i < 30; i++) print int(rand() * (rand() < 0.4 ? 300 : 65536 + rand() * (size - 65536))), int(rand() * 256) }' |
        while read -r at byte; do
            # shellcheck disable=SC2059 # the byte is the format
            printf "$(printf '\\%03o' "$byte")" | dd of="$dir/cut/calls-$((seed % 4)).pat" bs=1 seek="$at" conv=notrunc status=none
        done
    timeout 60 "$report" "$dir/cut" --csv "$dir/cut.csv" --chrome "$dir/cut.json" --json "$dir/sums.json" "${page[@]}" --otf2 "$dir/cut.$seed" >"$dir/text" 2>"$dir/err"
    status=$?
    [ $status -eq 1 ] && grep -q 'was built without OTF2' "$dir/err" && status=0
    [ $status -eq 0 ] || [ $status -eq 2 ] || fail "nonsense (seed $seed): status $status, $(cat "$dir/err")"
    [ $status -ne 0 ] || jq empty "$dir/cut.json" "$dir/sums.json" || fail "nonsense (seed $seed): the timeline is no JSON"
done
mkdir "$dir/none"
"$report" "$dir/none" >"$dir/text" 2>"$dir/err"
[ $? -eq 2 ] && grep -q 'there is no file calls-<rank>.pat' "$dir/err" || fail "an empty directory: $(cat "$dir/err")"
"$report" "$dir/late" --csv /no/such/place >"$dir/text" 2>"$dir/err"
[ $? -eq 2 ] && grep -q -- '--csv' "$dir/err" || fail "a file that cannot be written: $(cat "$dir/err")"
exit $failed
