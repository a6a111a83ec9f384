#!/usr/bin/env bash
# tool_bench.sh — pat-bench as a user meets it: bad input is refused once, with status 2 and nothing written; a small run
# over local ranks gives the promised CSV with figures that can be true; files give the same tables again.
set -eu
bench=$PAT_BUILD/bench/pat-bench
if [ ! -x "$bench" ]; then
    echo "skipped: no pat-bench in this build"
    exit 77
fi
here=$PAT_SOURCE/tests
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset PAT_LAB_RATE PAT_LAB_BURST PAT_LAB_CHECK PAT_PROGRESS
# Ranks that end with an error are not waited for: they do so after MPI_Finalize, when all is written.
export OMPI_MCA_odls_base_sigkill_timeout=0

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# refused RANKS MESSAGE-PART OPTION...: status 2, one message of ours with that part, and no new file. 0 ranks: no mpirun.
refused() {
    local ranks=$1 part=$2 status=0 launch=() before after
    shift 2
    [ "$ranks" -eq 0 ] || launch=("$here/mpirun.sh" "$ranks")
    before=$(find . | sort)
    "${launch[@]}" "$bench" "$@" >out 2>err || status=$?
    after=$(find . ! -name out ! -name err | sort)
    [ "$status" -eq 2 ] || fail "pat-bench $* with $ranks ranks: status $status instead of 2; $(cat err)"
    [ "$(grep -c '^pat-bench: ' err)" -eq 1 ] || fail "pat-bench $*: not exactly one message: $(cat err)"
    grep -qF -e "$part" err || fail "pat-bench $*: '$part' is not in: $(cat err)"
    [ "$(comm -13 <(echo "$before") <(echo "$after"))" = "" ] || fail "pat-bench $*: left files behind"
    rm -f out err
}

mkdir directory
refused 0 "1 rank" --count 1K
refused 0 "'fastest': unknown algorithm; accepted: all, auto, native, direct, bruck, ring, nex, " --alg fastest
refused 1 "1 rank" --count 1K
refused 0 "'-3'" --max-delay -3
refused 2 "'--tempo': unknown option; accepted: --op" --tempo 3
refused 3 "at least one float for each of the 3 ranks" --count 2
refused 2 "--csv: cannot write 'missing/r.csv'" --csv missing/r.csv
refused 2 "--json: cannot write 'directory'" --csv good.csv --json directory
refused 2 "--plot: cannot make the directory 'missing/figures'" --plot missing/figures
PAT_LAB_CHECK=perhaps refused 2 "PAT_LAB_CHECK 'perhaps': accepted: pass, fail" --count 1K
PAT_PROGRESS=often refused 0 "PAT_PROGRESS 'often'" --count 1K
PAT_ALG=fastest refused 2 "PAT_ALG" --count 1K
refused 0 "cannot read 'none.csv'" --from none.csv
echo "not a result" >some.csv
refused 0 "'some.csv', line 1" --from some.csv

# These two need no ranks, and under a launcher one rank answers for all.
"$bench" --help | grep -q -- '--max-delay=LIST' || fail "--help does not explain --max-delay"
[ "$("$here/mpirun.sh" 2 "$bench" --version | wc -l)" -eq 1 ] || fail "--version answers more than once"

# A small run, not divisible by the ranks. Every byte is checked by the program: a wrong one is status 1.
"$here/mpirun.sh" 3 "$bench" --alg all --count 1000,16K --max-delay 0,3 --iters 4 --base 2 --warmup 1 --flat-iters 1 \
    --csv r.csv --json r.json --progress >run.txt 2>run.err || fail "the run ended with status $?: $(cat run.err)"
header=alg,procs,ppn,count,segment_bytes,max_delay_ms,pattern,iters,elapsed_ms,elapsed_ci_ms,past_last_ms,run_ms
header+=,absorption_ms,imbalance_factor,bound_ms,early_share,thread_cpu_ms,waiting_cpu_ms,op
[ "$(head -n 1 r.csv)" = "$header" ] || fail "the CSV's header is $(head -n 1 r.csv)"
awk -F, '
    function bad(what) { print what ": " $0; failed = 1; exit 1 }
    NR == 1 { next }
    NF != 19 || $19 != "allgather" { bad("not 19 columns, the last the collective") }
    $2 != 3 || $3 != 3 { bad("not 3 ranks on one node") }
    $4 != 999 && $4 != 16383 { bad("count not rounded down to a multiple of the ranks") }
    $5 != $4 / 3 * 4 { bad("segment") }
    $8 < 1 || $8 > 4 { bad("valid iterations") }
    !($9 > 0 && $12 > 0 && $14 > 0 && $15 > 0) { bad("times that cannot be") }
    $9 < $15 { bad("faster than the bound") }
    $9 > $12 || $11 > $12 { bad("longer than the whole run") }
    $6 == 3 && $12 < 0.5 { bad("a run shorter than the delays") }
    $16 < 0 || $16 > 1 { bad("early share") }
    $1 == "native" && $16 != 0 { bad("the MPI library received early") }
    { rows++; algs += !seen[$1]++ }
    END {
        if (!failed && (rows != 4 * algs || !("native" in seen) || !("bdr" in seen) || !("bslb" in seen))) {
            print rows " rows of " algs " algorithms instead of 4 of each"
            exit 1
        }
    }' r.csv || fail "see above"
rows=$(($(wc -l <r.csv) - 1))
grep -q '^#@count_rounded_down=1000 to 999, a multiple of 3 ranks$' run.txt || fail "rounding is not said"
for key in procs=3 ppn=3 iters=4 seed=1 thread_level=multiple pattern=uniform; do
    grep -q "^#@$key\$" run.txt || fail "no line #@$key"
done
grep -q '^Process number: 3, 3 per node; delays: uniform$' run.txt || fail "no table"
grep -Eq '^pat-bench: +[0-9]+ %, [0-9]+:[0-9]+ left' run.err || fail "no progress: $(cat run.err)"
if command -v jq >/dev/null; then
    jq -e '.complete and (.rows | length == '"$rows"') and (.rows | all((.iter_elapsed_ms, .iter_ran) | length == 4)) and (.cells | length == 4)
        and (.rows | map(select(.alg == "native" or .alg == "bdr") | .alg as $alg | .iter_ran | map(select(. != null)) | length > 0 and all(. == $alg)) | all)
        and .settings.seed == "1" and .settings.count == "999,16383"' r.json >/dev/null || fail "the JSON is not as documented"
fi

# The file gives the same tables, without ranks.
"$bench" --from r.json >again.txt || fail "--from failed"
diff <(sed -n '/^# Fastest/,$p' run.txt) <(sed -n '/^# Fastest/,$p' again.txt) || fail "--from prints other tables"
"$bench" --from r.json --versus relay | awk '/^Segments of/ { groups = 1 } /^$/ { groups = 0 } groups && $1 ~ /^[0-9.]+$/ { cells += $2 } END { exit cells != 4 }' ||
    fail "--versus does not tell of 4 cells"
# What auto loses by choosing, and whom it let run: on one node, with so little data, the MPI library.
"$here/mpirun.sh" 3 "$bench" --alg auto,native --count 1000 --max-delay 0 --iters 4 --base 2 --warmup 1 --flat-iters 1 --versus auto >v.txt 2>&1 ||
    fail "pat-bench --versus auto: $(cat v.txt)"
grep -q '^ *all *1 .*best: native 2; ran: native [1-4]$' v.txt || fail "--versus does not tell what auto loses, or who ran: $(cat v.txt)"
"$bench" --from r.csv --versus relay | grep -q '^# left out: 4 cells' || fail "--versus takes a CSV for more than it is"
"$bench" --from r.csv --paper | grep -q '^# Beside the paper' || fail "--paper prints nothing"

# The same seed gives the same delays: run times above the delays' span follow them. Another pattern, the other call.
"$here/mpirun.sh" 2 "$bench" --alg bdr,native --count 1K --max-delay 20 --iters 3 --base 1 --pattern rotating-late \
    --persistent --csv p.csv >/dev/null 2>run.err || fail "the persistent run ended with status $?: $(cat run.err)"
awk -F, 'NR > 1 && ($12 < 18 || $7 != "rotating-late") { exit 1 }' p.csv ||
    fail "one rank is always 20 ms late, the run took less: $(cat p.csv)"
[ -z "$(find . -name '*.??????' ! -name '*.csv' ! -name '*.json')" ] || fail "temporary files are left"

# An all-reduce: its own algorithms, one vector, sums that the program checks, nothing faster than the bound.
"$here/mpirun.sh" 3 "$bench" --op allreduce --alg all,auto --bytes 16K --max-delay 0,20 --iters 3 --base 2 --warmup 1 --flat-iters 1 \
    --csv a.csv --json a.json >a.txt 2>run.err || fail "the all-reduces ended with status $?: $(cat run.err)"
grep -q '^#@op=allreduce$' a.txt || fail "no line #@op=allreduce"
awk -F, 'NR == 1 { next }
    $1 !~ /^allreduce_/ || $4 != 2048 || $5 != 16384 || $19 != "allreduce" { exit 1 }
    !($9 >= $15 && $15 > 0 && $12 > 0) || ($6 == 20 && $12 < 2) { exit 1 }
    $1 == "allreduce_converge" && $16 > 0 { early = 1 }
    { rows++; algs += !seen[$1]++ }
    END { exit !(rows == 2 * algs && "allreduce_native" in seen && "allreduce_auto" in seen && early) }' a.csv || fail "the all-reduces cannot be true: $(cat a.csv)"
if command -v jq >/dev/null; then
    jq -e '.settings.op == "allreduce" and (.rows | all(.op == "allreduce")) and (.cells | length == 2 and all(.op == "allreduce"))
        and (.rows | map(select(.alg == "allreduce_ring")) | all(.predicted_ms > 0 and .ideal_ring_ms > 0))' a.json >/dev/null ||
        fail "the JSON of the all-reduces is not as documented"
fi
# Without milestones the last calls say who comes late: then the late rank has data early all the same.
"$here/mpirun.sh" 3 "$bench" --op allreduce --alg allreduce_converge --bytes 64K --max-delay 30 --pattern one-late --no-milestones \
    --iters 4 --base 5 --warmup 5 --flat-iters 0 --csv n.csv >n.txt 2>&1 || fail "pat-bench --no-milestones: $(cat n.txt)"
grep -q '^#@milestones=none$' n.txt || fail "that no milestones were given is not said"
awk -F, 'NR > 1 && $16 > 0 { early = 1 } END { exit !early }' n.csv || fail "without milestones nothing moves early: $(cat n.csv)"
awk -F, 'NR > 1 && $13 != "nan" { exit 1 }' n.csv || fail "an absorption time that was not measured: $(cat n.csv)"
"$bench" --from n.csv --op allreduce >/dev/null || fail "--from with unknown absorption times failed"
"$bench" --from a.json --op allreduce --versus converge >again.txt || fail "--from of all-reduces failed"
diff <(sed -n '/^# Fastest/,/^# Cells/p' a.txt) <(sed -n '/^# Fastest/,/^# Cells/p' again.txt) || fail "--from prints other tables"

# A trace: everything a rank receives is there, after it was sent, and a figure comes of it.
mkdir trace
PAT_TRACE=trace "$here/mpirun.sh" 3 "$bench" --alg relay,bdr --count 30K --max-delay 5 --iters 1 --base 5 --link 50,1000 \
    >/dev/null 2>run.err || fail "the traced run ended with status $?: $(cat run.err)"
awk -F, 'FNR == 1 { if (NF != 13) exit 1; next }
    $8 == "recv" { bytes[$2 " " $4] += $11; came[$2, $9, $4, $10] = $13 }
    $8 == "send" { left[$2, $4, $9, $10] = $12 }
    $13 < $12 { exit 1 }
    END {
        for (round in bytes) { rounds++; if (bytes[round] != 2 * 40960) exit 1 }
        for (m in left) if (!(m in came) || came[m] < left[m]) exit 1
        exit rounds < 3 * 2
    }' trace/rank-[012].csv || fail "the trace cannot be true"
if command -v gnuplot >/dev/null; then
    "$PAT_SOURCE/bench/timeline" --from trace --algs relay,bdr --out drawn >/dev/null || fail "bench/timeline failed"
    grep -q 'relay: mean elapsed' drawn/timeline.svg || fail "bench/timeline draws nothing"
fi

# What planning costs, without any ranks.
"$PAT_BUILD/bench/pat-plan-cost" --procs 4,48 >cost.txt || fail "pat-plan-cost failed"
awk '$1 == "relay" && $2 == 48 && $3 > 94 && $4 > 0 && $5 > 0 { ok = 1 } END { exit !ok }' cost.txt || fail "$(cat cost.txt)"
awk '($1 == "link" || $1 == "calibration") && $2 == 48 && $4 > 0 && $5 > 0 && $6 > 0 && $7 $8 == "byarrivals" { ok++ } END { exit ok != 2 }' cost.txt ||
    fail "pat-plan-cost does not say what a choice by estimates costs: $(cat cost.txt)"
status=0
"$PAT_BUILD/bench/pat-plan-cost" --procs 4,1 >out 2>err || status=$?
[ $status -eq 2 ] || fail "pat-plan-cost takes 1 rank"
grep -q -- "--procs '1': accepted: a whole number from 2 to" err || fail "pat-plan-cost does not say what it takes: $(cat err)"
# A calibration of local ranks: written whole, gone on with, held against new runs; a broken one is refused.
# Three models against the MPI library's own collectives: a line for each operation.
"$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-taulop" --mpi one-copy --least 1M --most 1M --runs 3 >taulop.txt || fail "pat-taulop --mpi"
[ "$(grep -cE ' 2( +[0-9.]+ %){4}$' taulop.txt)" -eq 6 ] || fail "pat-taulop --mpi: $(cat taulop.txt)"
calibrate=(env "PAT_LINK=1,10000" "$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-calibrate")
"${calibrate[@]}" --quick --precision 1 --longest 0.001 --out cal.json >cal.txt || fail "pat-calibrate failed: $(cat cal.txt)"
# All-gathers, broadcasts and gathers that the library has, but not what it leaves to others.
ours=$("$PAT_BUILD/bench/pat-info" --json | jq -c '[.algorithms["all-gather", "broadcast", "gather"][] | select(test("(auto|native)$") | not)] | sort')
jq -e --argjson ours "$ours" '.ranks == 2 and (.algorithms | keys) == $ours and (.points | length) >= 54' cal.json >/dev/null ||
    fail "pat-calibrate wrote $(cat cal.json)"
# How well each of these times is known; what part of a broadcast's is its closing gather.
jq -e 'all(.points[], .experiments[]; .runs >= 3 and .mean_us and .ci95_us >= 0 and (.not_precise | type == "boolean")) and
    ([.experiments[].algorithm] | unique) == '"$ours"' and
    all(.points[], .experiments[]; (.algorithm | startswith("bcast_")) == has("closing_share")) and
    all(.experiments[]; has("closing_share") == has("closing_bytes"))' cal.json >/dev/null || fail "nothing is known of the times: $(cat cal.json)"
jq -e 'all(.points[], .experiments[]; .lag1 >= -1 and .lag1 <= 1 and .normal_p >= 0 and .normal_p <= 1)' cal.json >/dev/null ||
    fail "nothing is known of the repetitions: $(cat cal.json)"
grep -q '^# [0-9]* experiments: [0-9]* not precise; in [0-9]* a repetition goes by' cal.txt || fail "no sum of what is known: $(cat cal.txt)"
jq -e '(.gamma_apart | length) == (.gamma | length) and all(.gamma_apart[]; . >= 0)' cal.json >/dev/null ||
    fail "gamma is not measured twice: $(jq -c '[.gamma, .gamma_apart]' cal.json)"
grep -q '^# gamma 1.000; measured twice, at most 0.0 % apart$' cal.txt || fail "gamma is not said to be repeatable: $(cat cal.txt)"
grep -q '^bcast_chain .* of [0-9]* .* to [0-9]* %$' cal.txt || fail "no share of the closing gather: $(cat cal.txt)"
jq 'del(.algorithms.bcast_chain) | del(.points[] | select(.algorithm == "bcast_chain"))' cal.json >cut.json
"${calibrate[@]}" --quick --precision 1 --longest 0.001 --out cut.json >cut.txt || fail "pat-calibrate does not go on"
[ "$(grep '^bcast_\|^gather_' cut.txt | grep -vc ' with ')" -eq 1 ] || fail "pat-calibrate measured again: $(cat cut.txt)"
# On a busy machine an algorithm may have lost its points to the noise, and gets them now: nothing that was there may be lost.
jq -es '(.[0].points | map(select(.algorithm != "bcast_chain"))) - .[1].points == [] and
    ([.[] | del(.algorithms.bcast_chain, .points) | .experiments |= (map(select(.algorithm != "bcast_chain")) | sort)] | .[0] == .[1])' cal.json cut.json >/dev/null ||
    fail "going on changed what was there"
jq '.link.mbit = 10' cal.json >foreign.json
cp foreign.json before.json
status=0
"${calibrate[@]}" --quick --precision 1 --longest 0.001 --out foreign.json >out 2>err || status=$?
if [ $status -ne 2 ] || ! grep -q 'accepted: --again' err || ! cmp -s foreign.json before.json; then
    fail "a calibration of another network: status $status, $(cat err)"
fi
PAT_EXPLAIN=1 "${calibrate[@]}" --quick --precision 1 --check --longest 0.002 --out cal.json >check.txt 2>err || fail "pat-calibrate --check failed: $(cat err)"
# Who runs with another one's plan is told once, and so is that segments wait for receivers on the same node.
[ "$(grep 'falls back' err)" = "PAT: 2 ranks, 1024 bytes: bcast_split falls back on bcast_chain" ] || fail "nobody says once who falls back: $(cat err)"
if grep -q '^MPI library *Open MPI' <("$PAT_BUILD/bench/pat-info"); then
    [ "$(grep -c '^PAT: 2 ranks: segments of 8192 bytes wait for their receivers inside a node' err)" -eq 1 ] || fail "nobody says that segments wait: $(cat err)"
fi
[ "$(grep -c 'chosen: loss mean' check.txt)" -eq 3 ] || fail "pat-calibrate --check says $(cat check.txt)"
# Beside them what Open MPI 3.1 would take; of all-gathers that is not known.
[ "$(grep -c '^# as Open MPI 3.1 chooses' check.txt)" -eq 2 ] || fail "pat-calibrate --check has no rule: $(cat check.txt)"
awk '/^# broadcast/ { op = 1 } /^# gather/ { op = 2 } op == 1 && $1 == 1024 && / bcast_binomial +[0-9.]+ %$/ { ok++ }
    op == 1 && $1 == 2048 && / bcast_split +[0-9.]+ %$/ { ok++ } op == 2 && $1 == 4096 && / gather_linear +[0-9.]+ %$/ { ok++ }
    op == 2 && $1 == 8192 && / gather_sync +[0-9.]+ %$/ { ok++ } END { exit ok != 4 }' check.txt || fail "the rule of Open MPI 3.1: $(cat check.txt)"
# One collective alone; the others can still be added.
"${calibrate[@]}" --quick --precision 1 --longest 0.001 --op gather --out part.json >part.txt || fail "pat-calibrate --op: $(cat part.txt)"
jq -e '[.algorithms | keys[] | startswith("gather_")] | all' part.json >/dev/null || fail "pat-calibrate --op gather wrote $(jq -c .algorithms part.json)"
jq -e '[.points[].algorithm] | unique | index("gather_native") and all(startswith("gather_"))' part.json >/dev/null ||
    fail "pat-calibrate --op gather has points of $(jq -c '[.points[].algorithm] | unique' part.json)"
# On how many nodes the ranks are, as plans take it.
PAT_RANKS_PER_NODE=3 "$here/mpirun.sh" 5 "$PAT_BUILD/bench/pat-info" >out 2>nodes.err || fail "pat-info with 5 ranks: $(cat nodes.err)"
grep -q '^nodes  *2, with 2 to 3 ranks, numbered node by node, as PAT_RANKS_PER_NODE says' out || fail "pat-info says of nodes: $(grep ^nodes out)"
if grep -q '^MPI library *Open MPI' <("$PAT_BUILD/bench/pat-info"); then
    "$PAT_BUILD/bench/pat-info" | grep -q '^ *3840 bytes inside a node, where segments' || fail "pat-info says nothing of limits inside a node"
    OMPI_MCA_btl_vader_eager_limit=16384 OMPI_MCA_btl_sm_eager_limit=16384 "$PAT_BUILD/bench/pat-info" | grep -q '^ *16128 bytes inside a node$' ||
        fail "pat-info does not see the limit inside a node"
fi
if command -v gnuplot >/dev/null; then
    gnuplot -c "$PAT_SOURCE/bench/plots/choices.gp" check 2>err || fail "choices.gp failed: $(cat err)"
    if [ "$(cat check-{all-gather,broadcast,gather}.svg | grep -c '</svg>')" -ne 3 ] || [ -s err ]; then fail "choices.gp: $(cat err)"; fi
fi
# Rules are made of the times of Open MPI's own algorithms, each forced, and of nothing else.
status=0
"$PAT_BUILD/bench/pat-calibrate" --out cal.json --rules rules.txt 2>err || status=$?
if [ $status -ne 2 ] || [ -e rules.txt ] || ! grep -q 'accepted: a file that pat-calibrate --library' err; then fail "rules of nothing: $(cat err)"; fi
status=0
OMPI_MCA_coll_tuned_use_dynamic_rules=0 "${calibrate[@]}" --library --out cal.json >out 2>err || status=$?
if [ $status -ne 2 ] || ! grep -q 'is off; accepted: OMPI_MCA_coll_tuned_use_dynamic_rules=1' err; then fail "what cannot be forced: $(cat err)"; fi
"${calibrate[@]}" --quick --precision 1 --longest 0.001 --library --out cal.json >library.txt || fail "pat-calibrate --library: $(cat library.txt)"
jq -e '([.library[].collective] | unique) == ["allgather", "bcast", "gather"] and
    ([.library[] | select(.collective == "bcast") | .id] | unique | length) >= 9 and all(.library[]; .us > 0 and .runs >= 3)' cal.json >/dev/null ||
    fail "not all of Open MPI's algorithms are measured: $(jq -c .library cal.json)"
grep -q '^# the MPI library.s own, broadcast with 2 ranks$' library.txt || fail "pat-calibrate --library says $(cat library.txt)"
"$PAT_BUILD/bench/pat-calibrate" --out cal.json --rules rules.txt --rules-json rules.json || fail "no rules"
jq -e '.collectives.bcast | length == 3 and .[0].comm_size_min == 2 and .[2].comm_size_max == "inf"' rules.json >/dev/null ||
    fail "rules.json: $(cat rules.json)"
"$here/mpirun.sh" 2 env PAT_LINK=1,10000 OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_dynamic_rules_filename="$PWD/rules.txt" \
    OMPI_MCA_coll_base_verbose=30 "$PAT_BUILD/bench/pat-calibrate" --quick --precision 1 --check --longest 0.001 --op bcast --out cal.json >ruled.txt 2>ompi.txt ||
    fail "Open MPI with rules.txt: $(cat ruled.txt ompi.txt)"
[ "$(grep -c 'chosen: loss mean' ruled.txt)" -eq 1 ] || fail "pat-calibrate --check --op bcast says $(cat ruled.txt)" # nothing of the others
grep -h '^\[' ruled.txt ompi.txt | grep -qi 'error\|fixed rules' && fail "Open MPI does not like rules.txt: $(cat ompi.txt)"
head -c 200 cal.json >cut.json
status=0
"${calibrate[@]}" --check --out cut.json >out 2>err || status=$?
if [ $status -ne 2 ] || ! grep -q 'cut.json: line' err; then fail "a cut file: status $status, $(cat err)"; fi
# Its choices and times held against measured cells, each by the calibration of its link.
"$here/mpirun.sh" 2 "$bench" --alg native,ring,relay --bytes 64K --max-delay 2 --iters 4 --base 1 --link 1,10000 --json cell.json >out ||
    fail "no cell to judge"
"$PAT_BUILD/bench/pat-model" --judge foreign.json --judge cal.json --points points.tsv cell.json cell.json >judged.txt || fail "nothing is judged"
awk '/^ +2 +65536 uniform / { cells++ } /^# chosen: loss mean .* of 2 cells; / { sum++ } /^# (native|ring|relay) .* of 2 cells$/ { off++ }
    END { exit !(cells == 2 && sum == 1 && off == 3) }' judged.txt || fail "pat-model --judge: $(cat judged.txt)"
[ "$(wc -l <points.tsv)" -eq 6 ] || fail "pat-model --points: $(cat points.tsv)"
status=0
"$PAT_BUILD/bench/pat-model" --judge foreign.json --points none.tsv cell.json >out 2>err || status=$?
if [ $status -ne 2 ] || [ -e none.tsv ] || ! grep -q 'no calibration' err; then fail "pat-model --judge by another link: $(cat err)"; fi
status=0
"$PAT_BUILD/bench/pat-model" --judge cal.json a.json >out 2>err || status=$?
if [ $status -ne 2 ] || ! grep -q 'not of all-gathers' err; then fail "pat-model --judge takes all-reduces: $(cat err)"; fi
# Two ranks of one node: nothing is known of a network, and the stage rule has shared memory alone.
grep -q network_over_node cal.json && fail "two ranks of a node have found a network: $(cat cal.json)"
"$PAT_BUILD/bench/pat-model" --stages cal.json >out || fail "pat-model --stages failed"
awk '/^# 2 ranks, 2 on a node; / { head = 1 } /^bcast_/ { rows++ } END { exit !(head && rows == 6) }' out || fail "pat-model --stages: $(cat out)"
jq '.network_over_node = 12.5' cal.json >ratio.json
"$PAT_BUILD/bench/pat-model" --stages ratio.json | grep -q ' 12.50 times ' ||
    fail "pat-model --stages does not read what a segment takes over the network"
jq '.machine.ranks_per_node = 2 | .ranks = 4' cal.json >ratio.json
status=0
"$PAT_BUILD/bench/pat-model" --stages ratio.json >out 2>err || status=$?
if [ $status -ne 2 ] || ! grep -q 'pat-calibrate --again' err; then fail "pat-model --stages without what a node's messages take: $(cat err)"; fi
for bad in '--precision 0' '--longest x' '--progress dots' 'more' '--out=' '--op allreduce' '--op bcast' '--op bcast --again --out new.json'; do
    status=0
    # shellcheck disable=SC2086 # two words
    "$PAT_BUILD/bench/pat-calibrate" $bad >out 2>err || status=$?
    if [ $status -ne 2 ] || ! grep -q accepted err; then fail "pat-calibrate takes $bad"; fi
done

# Predictions, without any ranks: four chained messages of 1 ms, and who is best under given arrivals.
model=$PAT_BUILD/bench/pat-model
"$model" --procs 4 --bytes 125K --link 0,1024 --factor 0 >model.txt || fail "pat-model failed"
awk '$1 == "ring" && $2 == 3 && $3 == 3 { ring = 1 } $1 == "bound" && $2 == 3 { bound = 1 } / best$/ { best++ }
    END { exit !(ring && bound && best == 1) }' model.txt || fail "pat-model: $(cat model.txt)"
"$model" --op bcast --procs 8 --bytes 8K,1M --segment 8K --factor 0 | awk '/ best$/ { who = who $1 " " } / falls back on bcast_chain$/ { back = back $1 " " }
    END { exit who != "bcast_binomial bcast_chain " || back != "bcast_split " }' || fail "pat-model finds another broadcast best, or none that falls back"
# An all-reduce of 1 ms: the ring meets its bound when all call at once, and converge takes a vector's time after a late rank.
"$model" --op allreduce --procs 4 --bytes 125K --link 0,1024 --arrivals 0,0,0,0 >model.txt || fail "pat-model --op allreduce failed"
"$model" --op allreduce --procs 4 --bytes 125K --link 0,1024 --arrivals 0,50,0,0 >>model.txt || fail "pat-model --op allreduce failed"
awk '$1 == "allreduce_ring" && $3 == 1.5 { ring++ } $1 == "bound" && $3 == 1.5 { bound++ } $1 == "bound" && $3 == 1 { bound++ }
    / best$/ { who = who $1 " " } END { exit !(ring == 2 && bound == 2 && who == "allreduce_ring allreduce_converge ") }' model.txt ||
    fail "pat-model --op allreduce: $(cat model.txt)"
# The choices that follow from printed parameters are the printed ones, all broadcasts and all gathers of that machine.
"$model" --printed grisou | awk '$1 == 8 && $5 == 0.257 && $8 == "binary" { row = 1 } / printed: (10 of 10|5 of 5) / { sums++ }
    END { exit !(row && sums == 2) }' || fail "pat-model --printed: $("$model" --printed grisou)"
# With relative errors and Huber's weights, nine disturbed runs of thirty leave the fit as it was.
"$model" --regressors --iters 1 | awk '/^#/ { mix = $0 } mix == "# 9 of 30 ten times" && $1 == "Huber" && $2 == "relative" { good = $5 >= 95 }
    END { exit !good }' || fail "pat-model --regressors: $("$model" --regressors --iters 1)"
# What comes in every second call is found, in made-up arrivals and in recorded ones; and no predictor is clearly better than the library.
"$model" --predictors >predicted.txt || fail "pat-model --predictors failed"
awk '$1 == "alternating" { found = $2 < 0.1 && $3 > 0.5 } /%$/ { worst = $NF + 0 > worst ? $NF + 0 : worst }
    END { exit !(found && worst <= 5) }' predicted.txt || fail "pat-model --predictors: $(cat predicted.txt)"
for i in {1..60}; do echo "# a call"; echo "$((i * 1000)), $((i * 1000 + i % 2 * 50)) $((i * 1000 + 30))"; done >arrivals.txt
"$model" --predictors --bytes 256K arrivals.txt | awk '$1 == "arrivals.txt" { found = $2 == 0 && $3 > 0.5 } END { exit !found }' ||
    fail "pat-model --predictors finds nothing in recorded arrivals"
echo "1 2 3 4" >>arrivals.txt
for bad in "--predictors arrivals.txt" "--predictors err" "--predictors --judge x" "--printed here" "--regressors --printed gros" "--stages x --predictors" "--printed gros --predictors" \
    "--op allreduce --bytes 12" "--procs 1" "--bytes 0" "--bytes 1G" "--bytes 64KB" "--link 50" "--op scan" "--arrivals 1,2" "--pattern late" "--goal best" "more"; do
    status=0
    # shellcheck disable=SC2086 # one option and its value
    "$model" $bad >out 2>err || status=$?
    if [ $status -ne 2 ] || [ -s out ]; then fail "pat-model takes $bad"; fi
    grep -qE 'accepted|numbers for' err || fail "pat-model $bad does not say what it takes: $(cat err)"
done
# The persistent call copies its own segment, the plain one also those that came early.
"$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-overhead" copies --rounds 3 --phase 5 >out || fail "pat-overhead copies failed"
awk '$1 == "persistent" { persistent = $NF } $1 == "plain" { plain = $NF }
    END { exit !(persistent >= 1 && persistent < 1.5 && plain > 1.5 && plain <= 2) }' out || fail "pat-overhead copies: $(cat out)"
# On one node the choice does not depend on when ranks come: milestones are paid for, and no call is announced.
"$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-overhead" exchange --rounds 3 --phase 2 --bytes 24K >out ||
    fail "pat-overhead exchange failed"
awk '/^milestones, elapsed +announced/ { paid = $4 } /^milestones, elapsed +plain/ { control = $5 }
    /^(announced|plain).*: 0 % of the calls announced, 100 % run by the MPI library/ { left++ }
    END { exit !(paid > 0 && control == 0 && left == 3) }' out || fail "pat-overhead exchange: $(cat out)"
# On one node auto leaves them all to the MPI library, unless it is told of a link; gathers, scatters, calls with lists, and between two ranks all that has a root, it leaves in any case.
PAT_LINK=20,1000 "$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-overhead" overlap --rounds 3 --bytes 64K >out || fail "pat-overhead overlap failed"
awk '$2 == "MPI" { other++ } $2 ~ /_native$/ { left++ } $1 == "allgather" && $2 == "ring" { ours++ } NF == 9 && $3 > 0 { rows++ }
    END { exit !(other == 12 && left == 7 && ours == 1 && rows == 24) }' out || fail "pat-overhead overlap: $(cat out)"
PAT_LINK=20,1000 PAT_TEST_WRAP="env LD_PRELOAD=$("$here/preload.sh")" "$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-overhead" overlap --call reduce --floats --as-program --rounds 3 >out ||
    fail "pat-overhead overlap --as-program failed"
awk '$1 == "reduce" && ($2 == "MPI" || $2 == "drop-in") { right++ } END { exit !(right == 2 && NR == 4) }' out || fail "pat-overhead overlap --as-program: $(cat out)"
"$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-overhead" overlap --as-program >out 2>&1 && fail "pat-overhead overlap --as-program went on without the drop-in"
grep -q -- '--as-program: .*accepted: under pat-run' out || fail "pat-overhead overlap --as-program: $(cat out)"
"$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-overhead" overlap --call scatterv --rounds 3 --bytes 1K >out || fail "pat-overhead overlap --call failed"
awk '$2 == "MPI" || $2 == "scatter_native" { right += $1 == "scatterv" } END { exit !(right == 2 && NR == 4) }' out || fail "pat-overhead overlap --call: $(cat out)"
# These are refused before MPI begins, when no rank waits for the one that says it.
OMPI_MCA_odls_base_sigkill_timeout=1 "$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-overhead" copies --as-program >out 2>&1 && fail "pat-overhead copies took --as-program"
grep -q "mode 'copies': accepted: with overlap" out || fail "pat-overhead copies --as-program: $(cat out)"
OMPI_MCA_odls_base_sigkill_timeout=1 "$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-overhead" overlap --call reduces >out 2>&1 && fail "pat-overhead took a call that there is not"
grep -q "pat-overhead: --call 'reduces': accepted: allgather, " out || fail "pat-overhead --call: $(cat out)"
# Ranks that come apart: a row for each size and each largest imbalance, and in the table as many algorithms as there are in the CSV.
"$here/mpirun.sh" 3 "$PAT_BUILD/bench/pat-imbalance" controlled --max 1,5 --patterns 2 --iters 2 --bytes 4,1K --csv apart.csv >out ||
    fail "pat-imbalance controlled failed"
awk -F, 'NR > 1 && NF == 10 && $6 > 0 && $7 > 0 && $9 > 0 { rows[$2 " " $3]++ } END { for (r in rows) { cells++; algs += rows[r] } exit !(cells == 4 && algs == 12) }' apart.csv ||
    fail "pat-imbalance controlled: $(cat apart.csv)"
awk '/^ *(4|1024) +[15] / { n++ } END { exit n != 4 }' out || fail "pat-imbalance controlled: $(cat out)"
"$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-imbalance" balanced --call allreduce --compute 2 --iters 5 >out || fail "pat-imbalance balanced failed"
awk '/^ *65536 +2 / && $6 > 0 && $10 >= 0 { n++ } END { exit n != 1 }' out || fail "pat-imbalance balanced: $(cat out)"
# Recorded arrivals: ranks come 10 us apart, but for the last one, which is 4 ms late; so a rank waits 2.68 ms in the mean where all leave the barrier together.
mkdir made
"$PAT_BUILD/tests/made_log" made 3 5 || fail "made_log failed"
"$here/mpirun.sh" 3 "$PAT_BUILD/bench/pat-imbalance" replay made --call allgather --alg native,ring --csv replay.csv >out || fail "pat-imbalance replay failed"
awk -F, 'NR > 1 && $1 == "allgather" && $2 == "app.c:10" && $3 == 4096 && $4 == 5 && $6 > 1.5 && $6 < 60 { n++ } END { exit n != 2 }' replay.csv ||
    fail "pat-imbalance replay: $(cat out replay.csv)"
"$here/mpirun.sh" 3 "$PAT_BUILD/bench/pat-imbalance" replay made --place app.c:12 --bytes 4K >out || fail "pat-imbalance replay --place failed"
[ "$(grep -cE '^(# bcast at app.c:12, 3 ranks, 4096 bytes, 5 calls|bcast_native )' out)" = 2 ] || fail "pat-imbalance replay --place: $(cat out)"
OMPI_MCA_odls_base_sigkill_timeout=1 "$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-imbalance" replay made >out 2>&1 && fail "pat-imbalance replayed arrivals of other ranks"
grep -q "no call in 'made' that 2 ranks have made together (the trace is of 3 ranks); calls are there of so many ranks: 3$" out || fail "pat-imbalance replay: $(cat out)"
"$here/mpirun.sh" 3 bash -c '"$@" || true' - "$PAT_BUILD/bench/pat-imbalance" replay made --call alltoall >out 2>&1 # a launcher takes seconds where a rank fails
grep -q "no call of alltoall in 'made' .*; calls of so many ranks are there at: app.c:10 (MPI_Allgather), app.c:12 (MPI_Bcast), app.c:14 (MPI_Barrier)$" out ||
    fail "pat-imbalance replay of a call that is not there: $(cat out)"
OMPI_MCA_odls_base_sigkill_timeout=1 "$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-imbalance" controlled --alg ring >out 2>&1 && fail "pat-imbalance took an algorithm of another collective"
grep -q "pat-imbalance: --alg 'ring': accepted for alltoall: " out || fail "pat-imbalance --alg: $(cat out)"
"$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-overhead" thread --rounds 3 --phase 20 >out || fail "pat-overhead thread failed"
awk '/arriving: .* times a second$/ && $(NF - 3) > 0 { ok++ } END { exit ok != 2 }' out || fail "pat-overhead thread: $(cat out)"

# Ended from outside: the job ends, and a file is whole or not there.
unset OMPI_MCA_odls_base_sigkill_timeout
"$here/mpirun.sh" 2 "$bench" --alg ring --count 1K --max-delay 5,2000 --iters 3 --base 1 --csv killed.csv >/dev/null 2>&1 &
job=$!
for _ in $(seq 100); do
    [ -e killed.csv ] && break
    sleep 0.1
done
kill -TERM $job
wait $job && fail "a job that was ended says success"
[ "$(wc -l <killed.csv)" -eq 2 ] || fail "not one whole cell: $(cat killed.csv)"
echo "bad input is refused, results are plausible and come back"
