# shellcheck shell=bash disable=SC2034,SC2154
# What bench/paper-grid, bench/arrival-grid and in part bench/timeline share: options, the time of a segment, and measuring
# a cell once. Sourced. The grid sets: source, name, build, out, iters, factors, procs (a default, and allowed_procs), rate
# (per node count, Mbit/s), algs, and op, where it is not allgather, and warm, the iterations before those that count, where
# it says how many. It must never replace a result: what is there was measured with these settings, or the grid stops.

op=allgather
warm=
map=slot # how ranks are numbered

# shellcheck source=bench/scripts/options.sh
. "$source/bench/scripts/options.sh"

listed() { # WORD LIST: is the word in the list?
    [[ " $2 " == *" $1 "* ]]
}

numbers() { # OPTION VALUE: numbers, separated by spaces
    [[ $2 =~ ^[0-9]+(\.[0-9]+)?(\ [0-9]+(\.[0-9]+)?)*$ ]] || bad "$1 '$2': accepted: numbers, separated by spaces"
}

some_of() { # OPTION VALUE ALLOWED: some of the allowed words, separated by spaces
    local word words=($2)
    for word in "${words[@]:-none}"; do
        listed "$word" "$3" || bad "$1 '$2': accepted: some of $3"
    done
}

# OPTION VALUE: takes an option that all grids have; 1: it is none of these.
grid_option() {
    local pair=$2
    case $1 in
    --out) out=$2 ;;
    --build) build=$2 ;;
    --algs)
        [ "$2" != all ] || bad "--algs 'all': accepted: names, separated by commas"
        algs=$2
        ;;
    --iters)
        whole "$1" "$2" 1 99999
        iters=$2
        ;;
    --factors)
        numbers "$1" "$2"
        factors=$2
        ;;
    --procs)
        some_of "$1" "$2" "$allowed_procs"
        procs=$2
        ;;
    --rate)
        [[ $2 =~ ^[0-9x]+=[1-9][0-9]{0,4}$ ]] && listed "${pair%%=*}" "$allowed_procs" ||
            bad "--rate '$2': accepted: NODES=MBIT, for NODES out of $allowed_procs"
        rate[${pair%%=*}]=${pair#*=}
        ;;
    *) return 1 ;;
    esac
}

joined() { # WORDS...: with commas between them
    local IFS=,
    echo "$*"
}

rates() { # the rates as text
    local p text=''
    for p in $allowed_procs; do text+=" $p=${rate[$p]}"; done
    echo "${text# }"
}

needs_build() { # before anything is measured
    [ -x "$build/bench/pat-bench" ] || bad "--build '$build': no bench/pat-bench there; build first (see README.md)"
}

grid_begin() { # PAT-BENCH-ARGUMENTS...: everything that can be wrong is found out before anything is measured
    local tool
    for tool in jq gnuplot; do
        command -v $tool >/dev/null || bad "'$tool' is not on the PATH; bench/install-packages installs it"
    done
    [[ $out != *,* ]] || bad "--out '$out': accepted: a name without a comma"
    needs_build
    "$build/bench/pat-bench" --op "$op" --alg "$algs" "$@" --version >/dev/null || exit 2
    mkdir -p "$out" || exit 2
    export PAT_BUILD=$build
}

ranks_a_node() { # NODES or NODESxRANKS
    [[ $1 != *x* ]] && echo 1 || echo "${1#*x}"
}

all_ranks() { # NODES or NODESxRANKS
    echo $((${1%x*} * $(ranks_a_node "$1")))
}

# KIB NODES TIMES...: that many times a segment's time, in ms, separated by commas. 6 % of a link goes into headers.
segment_times() {
    local kib=$1 mbit=${rate[$2]}
    shift 2
    awk -v kib="$kib" -v rate="$mbit" -v times="$*" 'BEGIN {
        tau = kib * 1024 * 8 / (rate * 1e6 * 0.94) * 1e3
        n = split(times, t, " ")
        for (i = 1; i <= n; i++) printf "%s%.2f", (i > 1 ? "," : ""), t[i] * tau }'
}

# As long as the largest delay, at least 60 ms: then every rank has said its Edge before the first arrives.
computation_ms() { # DELAYS
    awk -v delays="$1" 'BEGIN { n = split(delays, d, ","); m = 60
        for (i = 1; i <= n; i++) if (d[i] > m) m = d[i]
        print m }'
}

# FILE NODES DELAYS COMPUTATION PATTERN: is the cell measured? Stops when it was, but with other settings.
finished() {
    jq -e .complete "$1" >/dev/null 2>&1 || return 1
    jq -e --arg op "$op" --arg algs "$algs" --arg iters "$iters" --arg rate "${rate[$2]}000000" --arg delays "$3" --arg base "$4" \
        --arg pattern "$5" --arg warm "$warm" 'def numbers: split(",") | map(tonumber); .settings | (.op // "allgather") == $op and .alg == $algs and .iters == $iters and
        .["env.PAT_LAB_RATE"] == $rate and (.max_delay_ms | numbers) == ($delays | numbers) and
        (.base_ms | tonumber) == ($base | tonumber) and .pattern == $pattern and
        ($warm == "" or (.warmup | tonumber) + (.flat_iters | tonumber) == ($warm | tonumber))' "$1" >/dev/null 2>&1 && return 0
    bad "'$1' was measured with other settings (collective, algorithms, iterations and those before them, rate, delays, computation): choose another --out, or delete it"
}

measure() { # FILE NODES KIB DELAYS COMPUTATION PATTERN PAT-BENCH-ARGUMENTS...
    local file=$1 nodes=$2 kib=$3 delays=$4 compute=$5 pattern=$6 status=0
    shift 6
    "$source/bench/lab" run -n "${nodes%x*}" --ppn "$(ranks_a_node "$nodes")" --map "$map" --rate "${rate[$nodes]}mbit" \
        --check --timeout 3600 -- "$build/bench/pat-bench" \
        --op "$op" --alg "$algs" --bytes "${kib}K" --max-delay "$delays" --iters "$iters" --base "$compute" \
        --pattern "$pattern" --csv "${file%.json}.csv" --json "$file" "$@" >"${file%.json}.txt" || status=$?
    [ "$status" -eq 0 ] && return
    echo "$name: pat-bench ended with status $status" >&2
    exit "$status"
}

# FILES PAT-BENCH-ARGUMENTS...: tables of these files, separated by commas. Pictures there are of all-gathers, in the
# directory pictures_in, or in that of the results.
report() {
    local files=$1 pictures=()
    shift
    [ "$op" != allgather ] || pictures=(--plot "${pictures_in:-$out}")
    "$build/bench/pat-bench" --op "$op" --from "$files" "${pictures[@]}" "$@"
}

failed_checks() { # FILE...: names the cells whose emulated cluster failed its own check
    local file failed=()
    for file in "$@"; do
        grep -q '"lab_check": "pass"' "$file" || failed+=("$(basename "$file" .json)")
    done
    [ ${#failed[@]} -eq 0 ] || echo "The emulated cluster failed its own check in these cells: ${failed[*]}"
}
