#!/usr/bin/env bash
# cluster_select.sh — what `auto` chooses on a real network, with no setting at all, for an unchanged program: relay on slow links
# with one rank a node, and where blocks are long with several, numbered across nodes; where they are short whatever was measured to be
# faster, with what is slower tried in a few calls only; between two ranks what MPI does not send early by itself. 77 where namespaces are not allowed.
set -u
lab=$PAT_SOURCE/bench/lab
jacobi=$PAT_BUILD/bench/examples/jacobi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0

# places NODES PPN RATE ARGUMENT...: the report's lines on jacobi's all-gathers, as JSON; exits where there can be no cluster
places() {
    local nodes=$1 ppn=$2 rate=$3 status=0
    shift 3
    rm -f "$dir/report.json"
    timeout 120 "$lab" run -n "$nodes" --ppn "$ppn" --map node --rate "$rate" --timeout 100 -- "$PAT_SOURCE/bench/cluster/lab_preload.sh" "$PAT_BUILD/libpat-mpi.so" env \
        "PAT_REPORT=$dir/report.json" "$jacobi" "$@" >"$dir/out" 2>&1 || status=$?
    [ $status -ne 77 ] || exit 77
    if [ $status -ne 0 ]; then
        echo "jacobi on $nodes nodes, $ppn ranks each: status $status" >&2
        cat "$dir/out" >&2
        [ $status -eq 124 ] || exit 1
        echo '{"ended": "after 100 seconds"}' >"$dir/site" # tried again: Linux may keep ranks that share a core from it for a minute
        return
    fi
    jq -c '.sites[] | select(.call == "MPI_Allgather")' "$dir/report.json" >"$dir/site"
}

# expect WHAT FILTER NODES PPN RATE ARGUMENT...: true of all its sites in one of three runs, because `auto` goes by measured times,
# which whatever else this machine does can turn round
expect() {
    local what=$1 filter=$2 seen=
    shift 2
    for _ in 1 2 3; do
        places "$@"
        [ "$(jq -s "length > 0 and all(.[]; $filter)" "$dir/site")" != true ] || return
        seen+=$(cat "$dir/site")$'\n'
    done
    printf '%s: not %s in any of:\n%s' "$what" "$filter" "$seen" >&2
    failed=1
}

few_or_faster='(.run_by.relay // 0) <= 0.2 * .calls or (.because["measured: faster"] // 0) > 0'

expect "slow links, one rank a node" '(.run_by.relay // 0) > 0.6 * .calls and .model.algorithm == "relay" and .model.setting == "PAT_ALG" and .model.spared_ms_of_a_rank == 0' 4 1 30mbit 8192 30 2 20
expect "short blocks, several ranks a node" "$few_or_faster" 2 4 100mbit 1024 40 2 0
expect "long blocks, several ranks a node" '(.run_by.relay // 0) > 0.6 * .calls' 2 4 100mbit 65536 12 2 0

# Blocks of 64000 bytes and of 128000: Open MPI sends up to 65280 without asking.
expect "two ranks, blocks that MPI sends unasked" '.run_by.relay == null and .because["two ranks, early anyway"] > 0' 2 1 50mbit 8000 12 2 20
expect "two ranks, longer blocks" '(.run_by.relay // 0) > 0.6 * .calls' 2 1 50mbit 16000 12 2 20
# There relay takes about as long as the MPI library, and runs calls in which ranks were found to come apart.
expect "two ranks that come together, blocks in between" "$few_or_faster"' or (.because["ranks come apart"] // 0) > 0' 2 1 200mbit 16000 40 2 0
# What relay would have spared where it does not run is said in the first lines.
timeout 120 "$lab" run -n 4 --rate 30mbit --timeout 100 -- "$PAT_SOURCE/bench/cluster/lab_preload.sh" "$PAT_BUILD/libpat-mpi.so" env PAT_ALG=native "PAT_REPORT=$dir/report.txt" \
    "$jacobi" 8192 12 2 20 >"$dir/out" 2>&1 || { cat "$dir/out" >&2; failed=1; }
head -6 "$dir/report.txt" | grep -A1 -E '^# By the model, PAT_ALG=relay would take [0-9.]+ ms in place of [0-9.]+:$' |
    grep -qE '^#  +[0-9.]+ s less of the run, about, at jacobi[^ ]+ \(MPI_Allgather\)\.$' || { head -6 "$dir/report.txt" >&2; failed=1; }
exit $failed
