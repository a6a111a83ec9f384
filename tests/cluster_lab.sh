#!/bin/bash
# The emulated cluster as its user meets it: nodes that are different machines, statuses that pass through, nothing left
# behind whatever ends a run, links that carry what they promise. 77 where namespaces are not allowed.
# It must never look at, or take down, a lab that it did not raise.
# shellcheck disable=SC2016
set -u
lab=$(cd "$(dirname "$0")/../bench" && pwd)/lab
work=$(mktemp -d)
failures=0 raised=()
mark=1$$ # seconds that nobody else on this machine sleeps

# shellcheck disable=SC2317
finish() {
    local name
    for name in "${raised[@]}"; do [[ -d /run/pat-lab/$name ]] && timeout 20 "$lab" down --name "$name"; done
    rm -rf "$work"
}
trap finish EXIT

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
    sed 's/^/    /' "$work/out" "$work/err" 2>/dev/null
}

# STATUS ARGUMENTS...: lab with these arguments ends with STATUS; leaves $work/out and $work/err
expect() {
    local want=$1 status=0
    shift
    timeout 40 "$lab" "$@" >"$work/out" 2>"$work/err" || status=$?
    ((status == want)) || fail "lab $*: status $status, not $want"
}

# VALUE ARGUMENTS...: refused with status 2 and a message that names VALUE
refused() {
    local value=$1
    shift
    expect 2 "$@"
    grep -qF -- "'$value'" "$work/err" || fail "lab $*: the message does not name '$value'"
}

# PID ARGUMENTS...: run a lab in the background, in the state a terminal would start it in; sets $!
background() {
    env --default-signal=INT "$lab" "$@" >"$work/out" 2>"$work/err" &
    raised+=("p$!")
}

# LAB SECONDS PATH: nothing is left of it, nor of its "sleep SECONDS", nor PATH
gone() {
    local namespaces processes
    namespaces=$(ip netns list | grep -c "^pat-$1-")
    processes=$(pgrep -cxf "sleep $2")
    [[ $namespaces == 0 && $processes == 0 && ! -e /run/pat-lab/$1 && ! -e $3 ]] ||
        fail "left behind by lab $1: $namespaces namespaces, $processes processes; state $(ls -d "/run/pat-lab/$1" "$3" 2>&1)"
}

wait_for() { # CONDITION...: up to 10 s
    local i
    for ((i = 0; i < 100; i++)); do
        "$@" && return
        sleep 0.1
    done
    fail "never came true: $*"
}
asleep() { [[ $(pgrep -cxf "sleep $1") == "$2" ]]; }

# --- bad input, on any machine
refused frobnicate frobnicate
refused --frob run -n 2 --frob -- true
refused 0 run -n 0 -- true
refused 255 up -n 255
refused 65 run -n 2 --ppn 65 -- true
refused across run -n 2 --map across -- true
refused random:x run -n 2 --map random:x -- true
refused 100mb run -n 2 --rate 100mb -- true
refused 1tbit check -n 2 --rate=1tbit
refused 11gbit up -n 2 --rate 11gbit
refused x run -n 2 --timeout x -- true
refused A-b up -n 2 --name A-b
refused true run -n 2 true
refused 1 check -n 1
refused lam run -n 2 --mpi lam -- true
refused 0 run -n 2 --switches 0 -- true
refused 3 run -n 2 --switches 3 -- true
refused 50mbit up -n 2 --trunk 50mbit
refused fast check -n 4 --switches 2 --trunk fast
expect 2 run -n 2
expect 0 --help

status=0
"$lab" run -n 1 -- env >"$work/out" 2>"$work/err" || status=$?
if ((status == 77)); then
    echo "skipped: $(cat "$work/err")"
    ((failures == 0)) && exit 77
    exit 1
fi

is_open='' # is it Open MPI whose ranks these are?
grep -q '^OMPI_COMM_WORLD_RANK=' "$work/out" && is_open=yes

# --- who measures in a session that goes behind all others is told so
in_session() { # NICE COMMAND...: in a new session with that weight in the scheduler
    setsid -w bash -c 'echo "$1" >/proc/$$/autogroup && shift && exec timeout 40 "$@"' session "$@" >"$work/out" 2>"$work/err"
}
if [[ $(cat /proc/sys/kernel/sched_autogroup_enabled 2>/dev/null) == 1 ]] && in_session 5 true; then
    in_session 5 "$lab" run -n 1 -- true || fail "no run in a session with nice 5"
    grep -q 'note: this session has nice 5 in the scheduler' "$work/err" || fail "no note for a session with nice 5"
    in_session 0 "$lab" run -n 1 -- true || fail "no run in a session with nice 0"
    grep -q 'note: this session' "$work/err" && fail "there is a note for a session like all others"
fi

# --- nodes are different machines, ranks see the caller's world
cd "$work" || exit 1
PAT_PROBE='a b' expect 0 run -n 4 --ppn 2 --rate 50mbit -- \
    sh -c 'echo "$(hostname) $TMPDIR $(ip -4 -o addr show eth0 | grep -o "198[.0-9]*/") $PWD $PAT_PROBE $PAT_LAB_RATE $PAT_LAB_CHECK"'
[[ $(wc -l <"$work/out") == 8 && $(sort -u "$work/out" | wc -l) == 4 ]] || fail "4 nodes with 2 ranks each: not 8 lines of 4 kinds"
for field in 1 2 3; do
    [[ $(cut -d' ' -f$field "$work/out" | sort -u | wc -l) == 4 ]] || fail "nodes share host name, TMPDIR or address"
done
[[ $(cut -d' ' -f4- "$work/out" | sort -u) == "$work a b 50000000 " ]] || fail "directory or PAT_ variables did not reach the ranks"
nodes_by_rank() { # MAP: the nodes of 6 ranks on 3 nodes, by rank
    expect 0 run -n 3 --ppn 2 --map "$1" -- sh -c 'echo "${OMPI_COMM_WORLD_RANK:-$PMI_RANK} $(hostname | sed s/.*-n//)"'
    by_rank=$(sort -n "$work/out" | cut -d' ' -f2 | paste -sd' ')
}
nodes_by_rank slot
[[ $by_rank == "1 1 2 2 3 3" ]] || fail "--map slot: ranks are on nodes $by_rank"
nodes_by_rank node
[[ $by_rank == "1 2 3 1 2 3" ]] || fail "--map node: ranks are on nodes $by_rank"
if [[ $is_open ]]; then
    nodes_by_rank random:4
    random=$by_rank
    nodes_by_rank random:4
    [[ $by_rank == "$random" && $(tr ' ' '\n' <<<"$random" | sort | paste -sd' ') == "1 1 2 2 3 3" && $random != "1 1 2 2 3 3" ]] ||
        fail "--map random:4: ranks are on nodes $random, then $by_rank"
else # Hydra cannot
    refused random:4 run -n 3 --ppn 2 --map random:4 -- true
    # Its ranks have a library that has them yield, and keep it beside another one.
    if [[ -e ${PAT_BUILD-}/libpat-mpi.so ]]; then
        expect 0 run -n 2 -- "${lab%/*}/cluster/lab_preload.sh" "$PAT_BUILD/libpat-mpi.so" sh -c 'echo "$LD_PRELOAD"'
        [[ $(grep -c "^$PAT_BUILD/libpat-mpi.so:/.*/lab-yield.so$" "$work/out") == 2 ]] || fail "what is preloaded on two nodes"
    fi
fi
echo hello | expect 0 run -n 2 -- sh -c 'test ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} != 0 || cat' # Hydra leaves other ranks' stdin open
grep -qx hello "$work/out" || fail "stdin does not reach rank 0"

# --- statuses
[[ $is_open ]] || expect 7 run -n 3 -- sh -c 'exit 7' # of Open MPI's see the failing rank below
expect 124 run -n 3 --timeout 2 -- sleep ${mark}1
asleep ${mark}1 0 || fail "processes left after --timeout"

# --- nothing stays, whatever ends it
for signal in INT TERM; do
    background run -n 3 -- sleep ${mark}2
    pid=$!
    wait_for asleep ${mark}2 3
    temporary=$(cat "/run/pat-lab/p$pid/tmp")
    kill -s $signal $pid
    wait $pid
    [[ $? == $((128 + $(kill -l $signal))) ]] || fail "ended by $signal, status says otherwise"
    gone p$pid ${mark}2 "$temporary"
done
if [[ $is_open ]]; then # Hydra waits for the others
    background run -n 3 -- sh -c "test \$OMPI_COMM_WORLD_RANK = 0 && exit 3; sleep ${mark}3"
    pid=$!
    wait $pid
    [[ $? == 3 ]] || fail "a failing rank: status is not its own"
    gone p$pid ${mark}3 /nowhere
fi

# A killed lab cannot tidy up; its state stays readable, and down does it.
background run -n 3 -- sleep ${mark}4
pid=$!
wait_for asleep ${mark}4 3
temporary=$(cat "/run/pat-lab/p$pid/tmp")
kill -s KILL $pid
wait $pid 2>/dev/null
expect 0 status --name p$pid
grep -q 'owner gone' "$work/out" || fail "status does not see that the owner is gone"
expect 0 down --name p$pid
gone p$pid ${mark}4 "$temporary"

# --- a lab that stays, and another beside it
name=t$$
raised+=("$name")
expect 0 up -n 4 --rate 20mbit --switches 2 --name $name
refused $name up -n 2 --name $name
refused 5 run --name $name -n 5 -- true
"$lab" run --name $name -- sh -c 'hostname; sleep 2' >"$work/first" 2>"$work/first.err" &
first=$!
wait_for test -s "$work/first"
expect 0 run -n 2 -- hostname
wait $first || fail "the lab beside another: status $?"
cat "$work/first" >>"$work/out"
[[ $(sort -u "$work/out" | wc -l) == 6 ]] || fail "two labs at once: not 4 + 2 different hosts"

# --- links, which have to do with no MPI library, so that they are looked at with one of them
if [[ ! $is_open ]]; then
    expect 0 down --name $name
    ((failures == 0)) && echo "the lab does what it says"
    exit $((failures > 0))
fi
passed=''
for try in 1 2 3; do # a machine busy with other things may spoil one
    timeout 40 "$lab" check --name $name >"$work/out" 2>"$work/err" && passed=$try && break
done
if [[ -z $passed ]] || ! grep -q '^lab check: pass: 4 nodes, line 20 Mbit/s' "$work/out"; then
    fail "three checks at a modest rate"
fi
expect 0 run --name $name --check -- sh -c 'echo $PAT_LAB_CHECK'
verdict=$(sed -n 's/^lab check: \([a-zA-Z]*\):.*/\L\1/p' "$work/err")
[[ -n $verdict && $(sort -u "$work/out") == "$verdict" ]] || fail "the ranks are not told of the check"
expect 0 run --name $name -- sh -c 'echo $PAT_LAB_SWITCHES $PAT_LAB_TRUNK'
[[ $(sort -u "$work/out") == "2 20000000" ]] || fail "the ranks are not told of the switches"
expect 0 down --name $name
gone $name ${mark}5 /nowhere
expect 1 check -n 4 --rate 20mbit --switches 2 --trunk 10mbit
grep -q '^lab check: FAIL: 4 nodes.* min/median/max 9\.' "$work/out" || fail "a trunk at half the rate does not show"
expect 1 check -n 2 --rate 10gbit --json
grep -q '"pass": false' "$work/out" || fail "a rate out of reach passes, or is not reported as JSON"

((failures == 0)) && echo "the lab does what it says"
exit $((failures > 0))
