#!/usr/bin/env bash
# tool_commands.sh — the commands refuse bad input with status 2, naming the value, before they do anything; and the
# demo's verdict says what its CSV says.
set -eu

broken=0
complain() {
    echo "FAIL: $*" >&2
    broken=1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# refuses VALUE COMMAND...: status 2, the value in one line on stderr, nothing on stdout.
refuses() {
    local value=$1 status=0
    shift
    "$@" >"$work/out" 2>"$work/err" || status=$?
    [ $status -eq 2 ] || complain "$* ended with $status, not 2"
    grep -qF -- "'$value'" "$work/err" || complain "$* does not name '$value': $(cat "$work/err")"
    [ ! -s "$work/out" ] || complain "$* went on: $(head -n 3 "$work/out")"
}
demo=$PAT_SOURCE/bench/demo
refuses 1 "$demo" --nodes 1
refuses 65 "$demo" --nodes 65
refuses eight "$demo" --nodes eight
refuses "10 mbit" "$demo" --rate "10 mbit"
refuses 10MB "$demo" --rate 10MB
refuses 0 "$demo" --iters 0
refuses -3 "$demo" --iters -3
refuses /proc/demo "$demo" --out /proc/demo
refuses --fast "$demo" --fast
refuses quick "$PAT_SOURCE/tests/run" quick
refuses memory "$PAT_SOURCE/tests/run" --sanitize memory
refuses /proc/build "$PAT_SOURCE/tests/run" --build /proc/build
refuses all "$PAT_SOURCE/bench/install-packages" all

grid=$PAT_SOURCE/bench/arrival-grid
refuses scan "$grid" --op scan
refuses "4 7" "$grid" --procs "4 7"
refuses 5=20 "$grid" --rate 5=20
refuses "0 four" "$grid" --factors "0 four"
refuses 100K "$grid" --sizes 100K
refuses 64 "$grid" --sizes 64
refuses 4x3 "$grid" --procs 4x3
refuses "slot core" "$grid" --maps "slot core"
refuses -2 "$grid" --gap -2
refuses /proc/no-build "$grid" --build /proc/no-build
refuses 32=10 "$PAT_SOURCE/bench/paper-grid" --rate 32=10
refuses soon "$PAT_SOURCE/bench/paper-grid" --base soon
if [ -x "$PAT_BUILD/bench/pat-bench" ] && command -v jq >/dev/null && command -v gnuplot >/dev/null; then
    refuses foo "$grid" --build "$PAT_BUILD" --algs auto,foo --out "$work/grid"
    refuses allreduce_relay "$grid" --build "$PAT_BUILD" --algs ring,relay --versus ring --op allreduce --out "$work/grid"
    refuses auto "$grid" --build "$PAT_BUILD" --algs ring,relay --out "$work/grid"
    refuses all "$grid" --build "$PAT_BUILD" --algs all --out "$work/grid"
    # A cell that was measured at another rate is neither taken nor replaced.
    mkdir "$work/grid"
    printf '{"complete": true, "settings": {"alg": "ring", "iters": "10", "env.PAT_LAB_RATE": "123000000", "max_delay_ms": "0",
        "base_ms": "60", "pattern": "uniform", "warmup": "2", "flat_iters": "2"}}' >"$work/grid/p4-64k-f0.json"
    one=(--build "$PAT_BUILD" --out "$work/grid" --algs ring --versus ring --procs 4 --sizes 64K --factors 0 --gap 0)
    refuses "$work/grid/p4-64k-f0.json" "$grid" "${one[@]}"
    refuses "$work/grid/p4-64k-f0.json" "$grid" "${one[@]}" --rate 4=123 --fresh
    grep -q 123000000 "$work/grid/p4-64k-f0.json" || complain "arrival-grid replaced a result"
fi

refuses 17 "$PAT_SOURCE/bench/timeline" --nodes 17
for size in 0 64KB 1.5K -4 8M; do
    refuses "$size" "$PAT_SOURCE/bench/timeline" --bytes "$size"
    refuses "$size" "$PAT_SOURCE/bench/dropin-speed" --bytes "$size"
done
refuses fast "$PAT_SOURCE/bench/dropin-speed" --rate fast
refuses core "$PAT_SOURCE/bench/dropin-speed" --map core
refuses 65 "$PAT_SOURCE/bench/dropin-speed" --ppn 65
refuses --pace "$PAT_SOURCE/bench/dropin-speed" --pace 3
refuses /no/cal.json "$PAT_SOURCE/bench/dropin-speed" --calibration /no/cal.json
refuses eight "$PAT_SOURCE/bench/arrival-study" --nodes eight
refuses gromacs "$PAT_SOURCE/bench/arrival-study" gromacs
refuses /no/reports "$PAT_SOURCE/bench/arrival-study" --table /no/reports
refuses MPI_Barrier "$PAT_SOURCE/bench/guidelines-trust" --collective MPI_Barrier
refuses 8,1KB "$PAT_SOURCE/bench/guidelines-trust" --sizes 8,1KB
refuses neither "$PAT_SOURCE/bench/guidelines-trust" --only neither
refuses /no/build "$PAT_SOURCE/bench/guidelines-trust" --build /no/build
if command -v gnuplot >/dev/null; then
    refuses /no/trace "$PAT_SOURCE/bench/timeline" --from /no/trace
fi

# The documents' pictures can be drawn anew from the data beside them, one command each, without a word of complaint.
if command -v gnuplot >/dev/null; then
    for data in "$PAT_SOURCE"/docs/pictures/*.csv; do
        picture=$work/$(basename "$data" .csv)
        case $picture in
        */elapsed-*) template=elapsed ;;
        *) template=$(basename "$picture") ;;
        esac
        cp "$data" "$picture.csv"
        gnuplot -c "$PAT_SOURCE/bench/plots/$template.gp" "$picture" 2>"$work/err" || complain "$template.gp failed"
        [ ! -s "$work/err" ] || complain "$template.gp: $(head -n 3 "$work/err")"
        grep -q '</svg>' "$picture.svg" || complain "$template.gp drew no picture of $(basename "$data")"
        # One colour for an algorithm, whatever the picture.
        [ "$template" = timeline ] || [ "$template" = over-bound ] || grep -qi '#D55E00\|213, *94, *0' "$picture.svg" ||
            complain "$template.gp has another colour for relay"
    done
    for svg in "$PAT_SOURCE"/docs/pictures/*.svg; do
        [ -e "${svg%.svg}.csv" ] || complain "there is no data beside $svg"
    done
fi

for command in bench/timeline bench/dropin-speed bench/arrival-grid bench/arrival-study bench/paper-grid bench/demo tests/run bench/install-packages; do
    "$PAT_SOURCE/$command" --help | grep -q '^usage: ' || complain "$command --help"
done

# All tools alike: an unknown option, a bad value, a value that is missing, a word too many, a bad setting: status 2, nothing
# on the standard output. --version and --help need no ranks.
version=$(sed -n 's/^project(pat VERSION \([0-9.]*\).*/\1/p' "$PAT_SOURCE/CMakeLists.txt")
tells() { # NAME COMMAND...: its help and version
    local name=$1
    shift
    "$@" --help >"$work/out" 2>"$work/err" || complain "$name --help ends with $?"
    grep -q '^[Uu]sage: ' "$work/out" || complain "$name --help: $(cat "$work/out" "$work/err")"
    "$@" -h >"$work/short" 2>&1 || complain "$name -h ends with $?"
    cmp -s "$work/out" "$work/short" || complain "$name -h and --help differ"
    [ "$("$@" --version 2>&1)" = "$name $version" ] || complain "$name --version: $("$@" --version 2>&1)"
}
ends_with_2() { # COMMAND...
    local status=0
    "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
    [ $status -eq 2 ] || complain "$* ended with $status, not 2: $(cat "$work/err")"
    [ -s "$work/err" ] || complain "$* does not say why"
    [ ! -s "$work/out" ] || complain "$* went on: $(head -n 3 "$work/out")"
}
tells pat-lab "$PAT_SOURCE/bench/lab"
tells pat-run "$PAT_SOURCE/src/dropin/pat-run"
ends_with_2 "$PAT_SOURCE/bench/lab"
ends_with_2 "$PAT_SOURCE/bench/lab" run --nodes 2
ends_with_2 "$PAT_SOURCE/bench/lab" up -n
ends_with_2 "$PAT_SOURCE/src/dropin/pat-run" --rapport
if [ -x "$PAT_BUILD/bench/pat-bench" ]; then
    bench=$PAT_BUILD/bench
    for tool in pat-bench pat-calibrate pat-model pat-info pat-overhead pat-imbalance pat-guidelines pat-report pat-taulop pat-plan-cost pat-dropin-cost; do
        tells $tool "$bench/$tool"
        ends_with_2 "$bench/$tool" --bogus
        ends_with_2 "$bench/$tool" surplus surplus
    done
    # In all of them a size is bytes per rank, with K, M or G, and a link is latency and rate.
    for size in 0 64KB -1 1.5K K 99999999999G; do
        for tool in pat-bench pat-model pat-plan-cost "pat-overhead thread"; do
            # shellcheck disable=SC2086 # a mode
            refuses "$size" "$bench"/$tool --bytes "$size"
            grep -q accepted "$work/err" || complain "$tool --bytes $size: $(cat "$work/err")"
        done
        refuses "$size" "$bench/pat-taulop" --most "$size"
    done
    for link in 50 50,0 50us,940 50,940,1; do
        for tool in pat-bench pat-model pat-plan-cost; do
            refuses "$link" "$bench/$tool" --link "$link"
        done
    done
    for option in "pat-bench --iters" "pat-calibrate --precision" "pat-model --procs" "pat-overhead call --rounds" "pat-imbalance balanced --iters" \
        "pat-taulop --runs" "pat-plan-cost --procs"; do
        # shellcheck disable=SC2086 # the tool and its option
        ends_with_2 "$bench"/$option
        # shellcheck disable=SC2086
        refuses x "$bench"/$option x
    done
    # What cannot be written is told of before anything is measured or read.
    refuses /proc/none.json "$bench/pat-calibrate" --rules /proc/none.json
    refuses /proc/none.tsv "$bench/pat-model" --judge none.json --points /proc/none.tsv cell.json
    ends_with_2 "$bench/pat-model" --judge "$work/none.json" "$work/none.json"
    refuses /proc/none.json "$PAT_SOURCE/tests/mpirun.sh" 2 "$bench/pat-calibrate" --out /proc/none.json
    # What is set wrongly is said on the standard error, and the rest is told all the same.
    wrongly() { # NAME=VALUE TEXT STATUS
        local status=0
        env "$1" "$bench/pat-info" --json >"$work/out" 2>"$work/err" || status=$?
        [ $status -eq "$3" ] || complain "pat-info with $1 ended with $status, not $3"
        grep -qF -- "$2" "$work/err" || complain "pat-info with $1 does not say '$2': $(cat "$work/err")"
    }
    wrongly PAT_MEM=much 'PAT_MEM="much": accepted: a number of bytes' 2
    wrongly PAT_ALG=ringg 'PAT_ALG="ringg": accepted: auto, native, direct, bruck, ring' 2
    wrongly PAT_LINKS=1 'PAT_LINKS is set, but it is no setting; is PAT_LINK meant?' 0
    wrongly PAT_RT_SUMMARY=1 'PAT_RT_SUMMARY is set, but it is no setting' 0
    # The library says it where it is asked to explain, and pat-run always asks.
    said() { # NAME=VALUE: how often a program of two ranks is told of PAT_LINKS
        PAT_LINKS=1 PAT_LINK=1,1000 "$PAT_SOURCE/tests/mpirun.sh" 2 env "$1" "$bench/pat-overhead" call --rounds 3 2>&1 >/dev/null |
            grep -c 'PAT: PAT_LINKS is set, but it is no setting; is PAT_LINK meant?'
    }
    [ "$(said PAT_EXPLAIN=1)" = 1 ] || complain "PAT_EXPLAIN=1 does not point out PAT_LINKS once"
    [ "$(said PAT_EXPLAIN=0)" = 0 ] || complain "PAT_LINKS is pointed out though nobody asked"
    # A preloaded library with sanitizers needs their runtime first.
    if ! grep -q '^PAT_SANITIZE:STRING=..*' "$PAT_BUILD/CMakeCache.txt"; then
        launcher=(env "PAT_LINKS=1" "$PAT_SOURCE/src/dropin/pat-run" "--library=$PAT_BUILD/libpat-mpi.so")
        "${launcher[@]}" "$bench/pat-info" 2>"$work/err" >"$work/out" || complain "pat-run: $(cat "$work/err")"
        grep -q '^PAT: PAT_LINKS is set' "$work/err" || complain "pat-run does not point out PAT_LINKS: $(cat "$work/err")"
    fi
    if command -v jq >/dev/null; then
        # Six times 0.2 ms and the latency; 0.2 ms; an all-reduce contends from the former on: docs/settings.md.
        PAT_LINK=50,80 "$bench/pat-info" --json | jq -e '.version == "'"$version"'" and .auto.ranges["all-gather"] == [
            {"from_bytes": 1, "to_bytes": 1999, "runs": "native"},
            {"from_bytes": 2000, "to_bytes": 14999, "runs": "by arrivals"},
            {"from_bytes": 15000, "to_bytes": null, "runs": "relay"}] and .auto.ranges["all-reduce"] == [
            {"from_bytes": 1, "to_bytes": 14999, "runs": "native"},
            {"from_bytes": 15000, "to_bytes": null, "runs": "by measurement"}] and
            (.settings | map(select(.name == "PAT_LINK"))[0] | .value == "50,80" and .origin == "environment")' >/dev/null ||
            complain "pat-info --json: $(PAT_LINK=50,80 "$bench/pat-info" --json)"
    fi
    # Under a launcher one rank speaks for all.
    "$PAT_SOURCE/tests/mpirun.sh" 3 "$bench/pat-model" --bogus >"$work/out" 2>"$work/err" || true
    [ "$(grep -c "unrecognized option '--bogus'" "$work/err")" -eq 1 ] || complain "not one message: $(cat "$work/err")"
fi

# A verdict from figures that are easy to follow: 4 ranks, two cells with late ranks (speed-ups 2 and 0.5), a balanced
# one (0.8), one beyond all factors, and an algorithm without a valid iteration.
cat >"$work/made.csv" <<'CSV'
alg,procs,ppn,count,segment_bytes,max_delay_ms,pattern,iters,elapsed_ms,elapsed_ci_ms,past_last_ms,run_ms,absorption_ms,imbalance_factor,bound_ms,early_share,thread_cpu_ms,waiting_cpu_ms
native,4,1,16384,16384,0,uniform,10,8,1,8,8,0,0.1,4,0,0,1
bdr,4,1,16384,16384,0,uniform,10,10,1,8,8,0,0.1,4,0,0,1
native,4,1,16384,16384,10,uniform,10,30,1,20,8,0,5,10,0,0,1
direct,4,1,16384,16384,10,uniform,10,20,1,18,8,0,5,10,0,0,1
bdr,4,1,16384,16384,10,uniform,10,10,1,6,8,0,5,10,0,0,1
bslb,4,1,16384,16384,10,uniform,0,nan,nan,nan,nan,nan,nan,nan,0,nan,nan
native,4,1,16384,16384,20,uniform,10,20,8,12,8,0,16,10,0,0,1
bslb,4,1,16384,16384,20,uniform,10,40,8,24,8,0,16,10,0,0,1
native,4,1,16384,16384,90,uniform,10,20,1,12,8,0,60,10,0,0,1
bslb,4,1,16384,16384,90,uniform,10,1,1,24,8,0,60,10,0,0,1
CSV
awk -v where="here" -v ranks=4 -f "$PAT_SOURCE/bench/scripts/demo.awk" "$work/made.csv" >"$work/verdict"
cat >"$work/expected" <<'TEXT'
Late ranks (imbalance factor 2 to 16), here: an arrival-aware algorithm was fastest in 1 of 2 cells, the 95 % intervals of the two means apart in 1; geometric mean of its speed-up over the best regular one 1.00, at most 2.00 (bdr, 16 KiB, delays up to 10 ms).
Balanced ranks (factor below 2): over 1 cell the best arrival-aware algorithm ran at 0.80 times the speed of the best regular one. (What lies beyond factor 16, 1 cell, decides nothing: there the wait for the last rank is all.)
What is left: where ranks were late, the best regular algorithm took 2.00 times the physical bound, the best arrival-aware one 2.00 times; past the last arrival they took 15.0 and 15.0 ms.
Caution: 1 of 10 rows lack a fifth or more of their 10 iterations, since ranks began late: a busy machine.
TEXT
difference=$(diff "$work/expected" "$work/verdict") || complain "the demo's verdict: $difference"
[ $broken -eq 0 ] || exit 1
echo "bad input is refused, the verdict follows from the figures"
