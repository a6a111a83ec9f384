#!/usr/bin/env bash
# tool_faults.sh [SITE...] — every public call on three ranks, again and again, and each time one thing fails on one rank: an allocation,
# or a call of MPI (tests/faults). Every run must end soon: right, where the library can do without what has failed, or with an error code
# and its text, after which all ranks take the way out: they free the communicator, end the library and MPI. No crash, no hang, no wrong
# result. SITE, as FILE:LINE or FILE: only these places; all_mockups.c: only what fails in mock-ups, all of which is made to fail in one run.
# PAT_FAULT_TIMES: how many times each place is made to fail, the 1st time it is come to, the 2nd ... (default 1).
# PAT_FAULT_RANKS: on which ranks, one run for each (default "1").
set -u
times=${PAT_FAULT_TIMES:-1}
program=$PAT_BUILD/tests/faults_all_calls
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
[ -x "$program" ] || { echo "no $program" >&2; exit 77; }
export PAT_LINK=20,10 PAT_TEST_TIMEOUT=${PAT_FAULT_TIMEOUT:-60}

find_sites() {
    if ! INJECT=list "$PAT_SOURCE/tests/mpirun.sh" 3 "$program" >"$dir/list" 2>"$dir/err"; then
        cat "$dir/err" >&2
        echo "nothing fails, and it does not end well" >&2
        exit 1
    fi
    # Of a place that is come to on several ranks, the most times.
    mapfile -t sites < <(sed -n 's/^site \([^ ]*\):\([0-9]*\) \(.*\)/\1 \2 \3/p' "$dir/list" | sort -k1,1 -k2,2nr | awk '!seen[$1, $3]++')
}
: >"$dir/jobs"
: >"$dir/outcomes"
find_sites
places=${#sites[@]}
[ ${#sites[@]} -ge 60 ] || { echo "only ${#sites[@]} places that can fail: is the build the one with faults?" >&2; exit 1; }

# A question that is put as a send to nobody: of a type that can be used it cannot fail.
questions="describe.c PMPI_Send"

# One run; its outcome is a word on the standard output. A run waits more than it computes, so that two go on at a time.
# shellcheck disable=SC2317 # another shell calls it
try() { # FILE:LINE:TIME RANK NAME
    local own=$dir/$BASHPID status ended
    mkdir "$own"
    : >"$own/lost"
    INJECT=$1 INJECT_RANK=$2 INJECT_LOST=$own/lost "$PAT_SOURCE/tests/mpirun.sh" 3 "$program" >"$own/out" 2>"$own/err"
    status=$?
    ended=$(grep -c '^rank [0-9]* has ended$' "$own/err")
    if [ $status -eq 0 ] && ! grep -q '^injected: ' "$own/err"; then
        echo missed
        return
    fi
    case $status in
    0)
        if [ "$ended" -ne 3 ]; then
            echo "$1 on rank $2 ($3): only $ended ranks have ended" >&2
        elif grep -q '^rank [0-9]*: ' "$own/err"; then
            echo error && return
        else
            echo borne && return
        fi
        ;;
    124 | 137) echo "$1 on rank $2 ($3): it hangs" >&2 ;;
    50) echo "$1 on rank $2 ($3): $(grep -m1 '^rank ' "$own/err")" >&2 ;;
    *) echo "$1 on rank $2 ($3): status $status: $(grep -m1 -iE 'signal|error' "$own/err")" >&2 ;;
    esac
    echo bad
}
export -f try
export dir program
jobs=0
try_all() { # what try_at has put down
    jobs=$((jobs + $(wc -l <"$dir/jobs")))
    xargs -r -P 2 -L 1 bash -c 'try "$@"' _ <"$dir/jobs" >>"$dir/outcomes" || exit 1
    : >"$dir/jobs"
}
outcomes() { # WORD
    grep -cx "$1" "$dir/outcomes"
}

wanted() { # FILE:LINE
    local site
    [ $# -gt 1 ] || return 0
    for site in "${@:2}"; do
        [[ $1 == "$site" || $1 == "$site":* ]] && return 0
    done
    return 1
}

try_at() { # PLACE TIMES NAME
    for ((time = 1; time <= times && time <= $2; time++)); do
        for rank in ${PAT_FAULT_RANKS:-1}; do
            echo "$1:$time $rank $3" >>"$dir/jobs"
        done
    done
}

for line in "${sites[@]}"; do
    read -r place come name <<<"$line"
    wanted "$place" "$@" || continue
    [ "${place%%:*} $name" != "$questions" ] || continue
    try_at "$place" "$come" "$name"
done
try_all

# Places in these files are come to only where there is a calibration to be found. With the link's true latency: what takes less than a
# message does is not believed.
export XDG_CACHE_HOME=$dir/cache
calibrate=(env "PAT_LINK=1,10" "$PAT_SOURCE/tests/mpirun.sh" 3 "$PAT_BUILD/bench/pat-calibrate" --quick --precision 1 --longest 0.001 --progress off)
if [ -x "$PAT_BUILD/bench/pat-calibrate" ]; then
    "${calibrate[@]}" >"$dir/out" 2>&1 || { cat "$dir/out" >&2; exit 1; }
    find_sites
    for line in "${sites[@]}"; do
        read -r place come name <<<"$line"
        if wanted "$place" machine.c store.c && wanted "$place" "$@"; then
            places=$((places + 1))
            try_at "$place" "$come" "$name"
        fi
    done
    try_all
fi

# Mock-ups, each with all that can fail in it, in one run: nothing of them is left behind that a run of its own would have to end.
if wanted all_mockups.c "$@"; then
    every=()
    [ "${PAT_FAULT_RANKS:-1}" = 1 ] || every=(all)
    : >"$dir/lost"
    INJECT_LOST=$dir/lost "$PAT_SOURCE/tests/mpirun.sh" 3 "$PAT_BUILD/tests/faults_all_mockups" "${every[@]}" 2>"$dir/err"
    status=$?
    if [ $status -ne 0 ]; then
        grep '^rank ' "$dir/err" >&2
        echo "mock-ups with something that fails end with $status" >&2
        exit 1
    fi
fi
bad=$(outcomes bad)
done=$(wc -l <"$dir/outcomes")
[ "$done" -eq $jobs ] || { echo "of $jobs runs $done have an outcome" >&2; exit 1; }
echo "$done runs with something failing at $places places: $(outcomes error) ended after an error and its text," \
    "$(outcomes borne) went on and were right, in $(outcomes missed) it did not come to it, $bad were bad"
[ "$bad" -eq 0 ]
