#!/usr/bin/env bash
# tool_guidelines.sh — pat-guidelines: what was printed of Open MPI on another machine comes out as it was printed; bad input is refused by its line before
# anything is measured; small campaigns leave whole tables, which hold what was asked for and nothing else. How fast anything is, is not judged here.
set -eu
tool=$PAT_BUILD/bench/pat-guidelines
here=$(cd "$(dirname "$0")" && pwd)
if ! [ -x "$tool" ]; then
    echo "skipped: no pat-guidelines here"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
broken=0
complain() {
    echo "FAIL: $*" >&2
    broken=1
}
export OMPI_MCA_odls_base_sigkill_timeout=1
ranks() { # NUMBER ARGUMENT...
    local number=$1
    shift
    "$here/mpirun.sh" "$number" "$tool" "$@"
}
# Runs that fail: each rank's exit status goes to `out`, since a launcher takes seconds to end a job when a rank has failed.
failing() { # NUMBER ARGUMENT...
    local number=$1
    shift
    # shellcheck disable=SC2016
    PAT_TEST_TIMEOUT=20 "$here/mpirun.sh" "$number" bash -c 'args=("${@//%RANK/${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-}}}}")
        "$0" "${args[@]}" || echo "status $?"' "$tool" "$@" >out 2>err || complain "$*: $(cat err)"
    [ "$(grep -c '^status [12]$' out)" = "$number" ]
}

# ---- The 56 printed rows: 24 and 17 violations on 36x1, 19 and 14 on 36x2, 13 and 12 on 36x32 -------------------------------
"$tool" --replay "$here/guide_hydra.csv" -o hydra -m -s || complain "--replay ends with $?"
for counts in '36x1 24 24 17' '36x2 19 19 14' '36x32 13 13 12' 'all 56 56 43'; do
    tr -s ' ' <hydra/MPI_Totals.txt | grep -q "^$counts " || complain "not $counts: $(cat hydra/MPI_Totals.txt)"
done
# Printed: N,ppn,collective,count,slowdown,mockup,starred. Ours: collective,count,N,ppn,n,default_median,slowdown,mockup,mockup_median
awk -F, 'FNR == 1 { next }
    NR == FNR { slowdown[$3 "," $4 "," $1 "," $2] = $5; mockup[$3 "," $4 "," $1 "," $2] = $6 ($7 == 1 ? "*" : ""); next }
    { key = $1 "," $2 "," $3 "," $4; off = $7 / slowdown[key] - 1; rows++
      if (mockup[key] != $8 || off > 0.01 || off < -0.01) { print key ": " $7 " by " $8 ", printed " slowdown[key] " by " mockup[key]; bad = 1 } }
    END { exit bad || rows != 56 }' "$here/guide_hydra_printed.csv" hydra/MPI_Results.csv >off || complain "not as printed: $(cat off)"

# ---- What is wrong is refused, and nothing is begun ----------------------------------------------------------------------
refused() { # TEXT ARGUMENT...
    local text=$1 status=0
    shift
    "$tool" "$@" >out 2>err || status=$?
    [ $status -eq 2 ] || complain "$* ends with $status, not 2: $(cat err)"
    grep -qF -- "$text" err || complain "$* does not say '$text': $(cat err)"
    [ ! -s out ] || complain "$* went on: $(head -n 3 out)"
}
echo 'MPI_Bcast --msizes-list=8,1K --nrep=20 --rt-bench-time-ms=30000 --runtime-type=global' >good
echo 'MPI_Bcast --msizes-list=8 --nrep=many' >bad
echo 'MPI_Barrier --msizes-list=8' >barrier
echo 'MPI_Scan --msizes-list=8' >scan
refused 'there is nothing to do'
refused "'bad', line 1: --nrep 'many': accepted: a whole number" -f bad
refused "'MPI_Barrier': accepted: MPI_Allgather" -f barrier
refused "cannot read 'none'" -f none
refused "accepted for MPI_Bcast: default, mpi, pat, and pat_ALG with ALG one of bcast_auto" -f good --left pat_ring
refused "'pat': accepted for MPI_Scan, which PAT has not: default, mpi" -f scan --left pat
refused "--left 'ours': accepted: default, mpi, pat" -f good --left ours
refused "--comparer '6': accepted: a whole number from 0 to 5" -f good -c 6
refused "--test '3': accepted" -f good -t 3
refused "--csv: accepted only with --output" -f good -s
refused "--arrival 'late:4': accepted: PATTERN:FACTOR" -f good --arrival late:4
refused "--arrival 'uniform': accepted" -f good --arrival uniform
refused "--arrival 'trace:': accepted: PATTERN:FACTOR" -f good --arrival trace:
refused "--place: accepted only with --arrival trace:DIR" -f good --arrival uniform:4 --place app.c:12
for list in 1 4-2 2-8:0 '' 2,,4; do
    refused "--ranks '$list': accepted: all, or numbers from 2 on" -f good --ranks "$list"
done
refused "--ranks: accepted where no side is PAT's" -f good --ranks all --own
refused "--ranks: accepted only with --input" --judge hydra --ranks 2
refused "--launch: accepted only with --output" -f good --launch 1
refused "--profile: accepted only with --left default, not 'mpi'" -f good --left mpi --profile prf
refused "cannot read '$work/none/guidelines.json'" --report "$work/none"
refused "'surplus'" -f good surplus
"$tool" --write-algorithms list.csv || complain "--write-algorithms ends with $?"
head -n 2 list.csv | tr '\n' ' ' | grep -q '^cliname;mpiname;algname;rooted allgather;MPI_Allgather;default;0 $' || complain "$(head -n 2 list.csv)"
grep -v 'MPI_Bcast;default' list.csv >headless.csv
refused "the line bcast;MPI_Bcast;default;1 is missing" -f good --algorithms headless.csv
failing 2 -f good -o /proc/none || complain "a directory in /proc was taken"
grep -q "pat-guidelines: '/proc/none/data' is no directory that can be written to" err || complain "-o /proc/none: $(cat err)"

# Every rank reads the files: one that is missing on a node is told, and different ones are no hang.
cp good good.0
failing 2 -f good.%RANK || complain "a file was missing on rank 1"
grep -q "^pat-guidelines: rank 1: cannot read 'good.1'" err || complain "rank 1's file: $(cat err)"
sed 's/8,1K/8,2K/' good >good.1
failing 2 -f good.%RANK || complain "different files were taken"
grep -q "^pat-guidelines: the input file or the list of algorithms is not the same on all ranks" err || complain "different files: $(cat err)"
# Nothing can be written once it has begun: every rank ends.
mkdir -p full/guidelines.json
failing 2 -f good -o full || complain "a directory in place of guidelines.json was taken"
grep -q "^pat-guidelines: .*'full/guidelines.json'" err || complain "the first results cannot be written: $(cat err)"

# ---- A campaign: what was deleted from the list is not measured, and the merged table has a row for each collective and size -------
cat >input <<'TEXT'
# as the method's own tool has it
MPI_Bcast --msizes-list=1,1024 --nrep=30 --rt-bench-time-ms=30000 --proc-sync=roundtime --rt-barrier-count=0
MPI_Allgather --bytes=8,4K --samples=30 --time-ms=30000 --sync=roundtime --barrier-after=20
TEXT
grep -v 'bcast_as_allgatherv' list.csv >shorter.csv
ranks 2 -f input -o first -c 5 -m -s --algorithms shorter.csv --scratch 6K --beyond --profile prf 2>err || complain "a campaign ends with $?: $(cat err)"
[ "$(cut -d, -f1,2 first/MPI_Results.csv | tr '\n' ' ')" = 'collective,count MPI_Bcast,1 MPI_Bcast,1024 MPI_Allgather,8 MPI_Allgather,4096 ' ] ||
    complain "merged: $(cat first/MPI_Results.csv)"
[ "$(head -n 1 first/MPI_Bcast.csv)" = 'collective,count,N,ppn,n,default_median,slowdown,mockup,mockup_median' ] || complain "$(cat first/MPI_Bcast.csv)"
[ ! -e first/data/data_MPI_Bcast_bcast_as_allgatherv.dat ] || complain "a deleted algorithm was measured"
[ "$(grep -c '^MPI_Bcast [0-9]* 1024 [0-9.]*$' first/data/data_MPI_Bcast_bcast_as_scatter_allgather.dat)" = 30 ] || complain "not 30 samples"
# 2 x 4 KiB do not go into 6 KiB of scratch: told, and no comparison.
grep -q '^# not run: MPI_Allgather by allgather_as_alltoall, 4096 bytes, 1 x 2 ranks: the scratch for data is too small$' first/MPI_Allgather.txt ||
    complain "what did not run is not told: $(cat first/MPI_Allgather.txt)"
grep -q '^#@not_run=4096 bytes: ' first/data/data_MPI_Allgather_allgather_as_alltoall.dat || complain "nor in the raw data"
[ -s first/beyond/MPI_Results.csv ] || complain "no table of --beyond"
if command -v jq >/dev/null; then
    jq -e '.complete and (.cells | length) == 4 and
        ([.cells[] | select(.collective == "MPI_Allgather" and .bytes == 4096) | .series[] | select(.algorithm == "allgather_as_alltoall")][0] |
            .verdict == null and .median_ms == null and .not_run != null)' first/guidelines.json >/dev/null || complain "guidelines.json: $(head -c 600 first/guidelines.json)"
fi
# Series after series, ours as left side, and ranks that come late.
echo 'MPI_Allgather --bytes=1K --samples=10 --time-ms=30000' >one
ranks 3 -f one -o late -s --order series --left pat --arrival one-late:4 -c 4 >out 2>err || complain "under arrivals: $? $(cat err)"
[ "$(grep -c 'default,1024' late/MPI_Allgather.csv)/$(grep -c 'allgather_as' late/past-last/MPI_Allgather.csv)" = 1/4 ] ||
    complain "under arrivals: $(cat late/MPI_Allgather.csv late/past-last/MPI_Allgather.csv)"

# Ranks that come as those of a program came: in app.c:12 the root is 4 ms late in the first, third and fifth call, and the other waits for it. On a busy
# machine other calls may take as long, but not all of them.
mkdir made other
"$PAT_BUILD/tests/made_log" made 2 5 1 # rank 1 was the root
"$PAT_BUILD/tests/made_log" other 2 4
printf '%s\n' 'cliname;mpiname;algname;rooted' 'bcast;MPI_Bcast;default;1' 'bcast;MPI_Bcast;mpi;1' >same.csv
echo 'MPI_Bcast --bytes=8 --samples=50 --time-ms=30000 --root=1' >rooted
ranks 2 -f rooted -o recorded --algorithms same.csv --arrival trace:made --place app.c:12 2>err || complain "recorded arrivals: $? $(cat err)"
awk '/^MPI_Bcast/ { late = $2 % 5 % 2 == 0; waited += late && $4 > 0.0015; did_not += !late && $4 <= 0.0015 } END { exit !(waited >= 20 && did_not >= 3) }' recorded/data/data_MPI_Bcast_default.dat ||
    complain "recorded arrivals: $(cat recorded/data/data_MPI_Bcast_default.dat)"
grep -qE '^#@arrival=trace:app\.c:12\+[0-9a-f]{8}$' recorded/past-last/data/data_MPI_Bcast_mpi.dat || complain "recorded arrivals have no name: $(head recorded/past-last/data/data_MPI_Bcast_mpi.dat)"
failing 2 -f rooted -o recorded --algorithms same.csv --launch 2 --arrival trace:other --place app.c:12 || complain "launches of two recorded patterns were joined"
grep -q 'it was measured with arrival=trace:app.c:12+[0-9a-f]*, this is arrival=trace:app.c:12+' err || complain "another recorded pattern: $(cat err)"
failing 3 -f good -o unborn --ranks 2-3 --arrival trace:made || complain "arrivals of 2 ranks were taken for 3"
grep -q "^pat-guidelines: --arrival 'trace:made': no call in 'made' that 3 ranks have made together (the trace is of 2 ranks)" err || complain "arrivals of other ranks: $(cat err)"
[ ! -e unborn ] || complain "what was refused was begun"

# A sweep: each number of ranks is a campaign of its own, on so many ranks.
ranks 4 -f good -o sweep --algorithms same.csv --ranks 2,3-9:7,4 2>err || complain "a sweep ends with $?: $(cat err)"
(cd sweep && for ranks in ranks-*; do sed -nE 's/^#@(ppn|ranks)=/ /p' "$ranks/data/data_MPI_Bcast_default.dat"; grep -c '^MPI_Bcast 19 ' "$ranks/data/data_MPI_Bcast_mpi.dat"; done) | tr -d '\n' >out
[ "$(cat out)" = ' 2 22 3 32 4 42' ] || complain "a sweep leaves: $(cat out)"
failing 3 -f good -o sweep --ranks 2,5 || complain "5 of 3 ranks were accepted"
grep -q "^pat-guidelines: --ranks '5': accepted on 3 ranks: 2 to 3" err || complain "5 of 3 ranks: $(cat err)"
"$tool" --judge sweep/ranks-3 -t 2 >out || complain "--judge of a part of a sweep ends with $?"
grep -q '^1x3 *2 ' out || complain "--judge of a part of a sweep: $(cat out)"
"$tool" --report sweep/ranks-4 sweep/ranks-2 sweep/ranks-3 >out || complain "--report of a sweep ends with $?"
grep -A4 'MPI_Bcast: slow-downs by the number of ranks' out | awk '{ print $1 $2 }' | tr '\n' ' ' | grep -qx 'MPI_Bcast:slow-downs ranksview 2#2 3#3 4#1 ' || complain "--report of a sweep: $(cat out)"
# Where one part cannot be kept, --fresh takes nothing away of the others either.
cp -r sweep twin
cp -r sweep spoiled
rm -r spoiled/ranks-3
touch spoiled/ranks-3
failing 3 -f good -o spoiled --algorithms same.csv --ranks 2,3 --fresh || complain "a part of a sweep went into a plain file"
grep -q "^pat-guidelines: .*spoiled/ranks-3" err || complain "a plain file in place of a part: $(cat err)"
[ "$(ls spoiled/ranks-2/data)" = "$(ls sweep/ranks-2/data)" ] || complain "--fresh has removed of a sweep that was refused: $(ls spoiled/ranks-2/data)"
ranks 3 -f one -o spoiled --algorithms list.csv --ranks 2 --fresh 2>err || complain "--fresh of a sweep: $(cat err)"
[ "$(find spoiled/ranks-2/data spoiled/ranks-4/data -name 'data_MPI_Bcast_mpi.dat')" = spoiled/ranks-4/data/data_MPI_Bcast_mpi.dat ] || complain "--fresh of a sweep: $(ls spoiled/*/data)"

refused "--profile: 'late' has the left side 'pat'; accepted: default" --judge late --profile prf

# ---- The same call on both sides, three launches: nothing of it is certain; a launch is not measured twice ---------------------------
for launch in 1 2 3; do
    ranks 2 -f good -o same -s --algorithms same.csv --launch $launch --more -c 4 2>err || complain "launch $launch: $(cat err)"
done
[ "$(grep -c '^#@launch=' same/data/data_MPI_Bcast_mpi.dat)" = 3 ] || complain "not three launches"
awk -F, 'NR > 1 && ($5 != 60 || $(NF - 1) != 3 || $NF != 0) { bad = 1 } END { exit bad || NR != 3 }' same/MPI_Bcast.csv || complain "A against A: $(cat same/MPI_Bcast.csv)"
failing 2 -f good -o same --algorithms same.csv --launch 3 || complain "launch 3 was measured twice"
grep -q "'same' has launch 3 already; accepted: 4" err || complain "launch 3 once more: $(cat err)"
failing 3 -f good -o same --algorithms same.csv --launch 4 || complain "launches of 2 and of 3 ranks were joined"
grep -q "it was measured with ppn=2, this is ppn=3" err || complain "launch 4 of 3 ranks: $(cat err)"

# Another campaign does not go into the same directory, unless what is there is to be removed.
failing 2 -f one -o same || complain "a directory with raw data was taken"
grep -q "'same/data' has the raw data of an earlier campaign; accepted: --launch N .*, --fresh" err || complain "raw data of another campaign: $(cat err)"
[ -e same/data/data_MPI_Bcast_mpi.dat ] || complain "what was refused removed raw data"
cp -r same again
ranks 2 -f one -o again --fresh 2>err || complain "--fresh: $(cat err)"
[ "$(find again/data -name 'data_MPI_Bcast_*' | wc -l)/$(find again/data -name 'data_MPI_Allgather_default.dat' | wc -l)" = 0/1 ] || complain "--fresh: $(ls again/data)"
refused "--fresh: accepted only with --output, and without --launch" -f good -o same --fresh --launch 2

# ---- Can it be trusted? What is made 500 times as slow, is found; how much slower it is, is not judged here ----------------------------------
# (A sanitizer's library would have to be preloaded before it.)
if command -v jq >/dev/null && ! grep -q '^PAT_SANITIZE:STRING=.' "$PAT_BUILD/CMakeCache.txt"; then
    "$here/../bench/guidelines-trust" --build "$PAT_BUILD" --mpirun "$here/mpirun.sh 2" --only planted --launches 1 --samples 6 --time-ms 30000 \
        --collective MPI_Bcast --planted 8K,16K,64K --percent 50000 --out trust >out 2>err || complain "guidelines-trust: $(cat err)"
    [ "$(grep -c '^  MPI_Bcast .*: found, slow-down ' out)" = 3 ] || complain "guidelines-trust: $(cat out)"
    # Nothing but these calls is slower: 2 first ones and 6 samples of each.
    grep -q '^slow_calls: 24 calls were made longer$' trust/err || complain "$(cat trust/err)"
fi

# ---- A start that a rank has missed is no sample and is repeated; when there are too many it goes on with barriers, from the first on where none is allowed ---
if command -v jq >/dev/null && ! grep -q '^PAT_SANITIZE:STRING=.' "$PAT_BUILD/CMakeCache.txt"; then
    way="--bytes=8 --samples=10 --time-ms=30000 --sync=roundtime --runtime-type=global"
    printf '%s\n' "MPI_Allgather $way --barrier-after=20" "MPI_Gather $way --barrier-after=4" "MPI_Scatter $way --barrier-after=0" >missing
    grep -E '^cliname|MPI_(Allgather|Gather|Scatter);(default|[a-z]*_as_(allgatherv|gatherv|scatterv));' list.csv >pairs.csv
    "$here/mpirun.sh" 2 env "LD_PRELOAD=$PAT_BUILD/tests/liblate_tool.so" "$tool" -f missing -o missed --algorithms pairs.csv 2>err || complain "late starts: $(cat err)"
    grep -q '^late_tool: [1-9]' err || complain "no start was late: $(cat err)"
    jq -e '[.cells[] | .missed_starts] as [$some, $four, $none] | $some >= 4 and $four == 4 and $none == 0 and all(.cells[].series[]; .n == 10)' \
        missed/guidelines.json >/dev/null || complain "late starts: $(jq -c '.cells[] | [.collective, .missed_starts, .series[].n]' missed/guidelines.json)"
    # Rank 1 was 30 ms late. Something else may be, too, if rarely.
    [ "$(cat missed/data/data_MPI_[AGS]* | awk '/^MPI_/ && $4 > 0.03' | wc -l)" -le 2 ] || complain "late starts have become samples"
fi

# What is left behind can be judged anew, by another test and comparer.
"$tool" --judge first -t 2 -c 1 -s -m -o anew || complain "--judge ends with $?"
bcasts=(first/data/data_MPI_Bcast_*.dat)
[ "$(grep -c '^[0-9]*,' anew/MPI_Bcast.csv)" = $((2 * ${#bcasts[@]})) ] || complain "--judge: $(cat anew/MPI_Bcast.csv)"
grep -q '^# not run: MPI_Allgather by allgather_as_alltoall, 4096 bytes' anew/MPI_Allgather.txt || complain "--judge has forgotten what did not run"
refused "there is no raw data in 'hydra/data'" --judge hydra
refused "--left: accepted only with --input" --judge first --left pat

# ---- Side by side ---------------------------------------------------------------------------------------------------------------------
if command -v gnuplot >/dev/null; then
    "$tool" --report first same hydra sweep/ranks-3 -o report 2>err || complain "--report: $(cat err)"
    [ ! -s err ] || complain "--report: $(cat err)"
    grep -q '^MPI_Bcast *1024 *[a-z0-9.*!]* ' report/report.txt || complain "$(cat report/report.txt)"
    # No bar where nothing was judged: of these, only the printed medians of 36 nodes have 2 KiB.
    awk -F, 'NR > 1 && $5 == "2K" { rows++; if ($1 !~ /36x/) bad = 1 } NR > 1 && $1 ~ /1x2/ && $5 == "1K" { both++ } END { exit bad || rows != 3 || both != 2 }' \
        report/worst-by-size.csv || complain "bars: $(cat report/worst-by-size.csv)"
    for picture in heat-1 heat-6 worst-by-size ratio-MPI_Bcast totals; do
        grep -q '</svg>' report/$picture.svg || complain "no picture $picture"
    done
    # Two sweeps of one kind are not joined, and each line has a name of its own, which the legend tells.
    "$tool" --report sweep/ranks-2 twin/ranks-3 sweep/ranks-4 twin/ranks-4 -o twins 2>err || complain "--report of two sweeps: $(cat err)"
    awk -F, 'NR > 1 { name[$2] = name[$2] == "" || name[$2] == $1 ? $1 : "two names"; ranks[$2] = ranks[$2] " " $6; of[$1] = $2 }
        END { for (n in ranks) { lines++; good += of[name[n]] == n && ranks[n] ~ (name[n] ~ /view 1$/ ? "^ 2 4$" : "^ 3 4$") } exit !(lines >= 2 && good == lines) }' \
        twins/ranks-MPI_Bcast.csv || complain "two sweeps: $(cat twins/ranks-MPI_Bcast.csv)"
    while read -r name; do
        grep -qF ">$name<" twins/ranks-MPI_Bcast.svg || complain "the legend has no '$name': $(grep tspan twins/ranks-MPI_Bcast.svg)"
    done < <(awk -F, 'NR > 1 { print $1 }' twins/ranks-MPI_Bcast.csv | sort -u)
fi
[ $broken -eq 0 ] || exit 1
echo "what was printed comes out, what is wrong is refused, campaigns are whole"
