# shellcheck shell=bash disable=SC2034,SC2154
# The network of a lab: raise it, list who is inside, take it away. Sourced by bench/lab.
# It must never touch a process outside the lab's own namespaces, nor anything of the machine's own network: both ends
# of every link are born inside namespaces.
#
# A lab NAME is: the namespaces pat-NAME-1..n (nodes) and pat-NAME-sw (the switches, each a bridge), one veth pair per node
# and per trunk, a token bucket on both its ends, the directory $lab_root/NAME with what is known about it, and a directory of
# temporary files, one per node.

lab_root=/run/pat-lab
netns_root=/run/netns

# Can this process raise a lab at all? Says what is missing. Tried in unnamed namespaces, which vanish by themselves.
probe_namespaces() {
    local tool why
    if ((EUID != 0)); then
        say "network namespaces need root"
        return 77
    fi
    for tool in ip tc unshare flock; do
        command -v "$tool" >/dev/null && continue
        say "'$tool' is not installed (Debian packages iproute2, util-linux)"
        return 77
    done
    # shellcheck disable=SC2016
    if ! why=$(unshare --net --uts --mount sh -c '
            hostname probe && ip link add v0 type veth peer name v1 && ip link add b0 type bridge &&
            tc qdisc add dev v0 root tbf rate 1mbit burst 5000 limit 10000' 2>&1); then
        say "namespaces, veth, bridge or tc tbf not allowed here: ${why//$'\n'/; }"
        return 77
    fi
}

start_time() { # PID -> its start time, so that a number used again is not taken for the old process
    local stat
    { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 1
    stat=${stat##*) }
    # shellcheck disable=SC2086
    set -- $stat
    echo "${20}"
}

# STATE -> alive | gone | none (a lab from `up` belongs to no process)
owner_of() {
    local pid='-' start=''
    { read -r pid start <"$1/owner"; } 2>/dev/null
    if [[ $pid == - ]]; then
        echo none
    elif [[ -n $start && $(start_time "$pid") == "$start" ]]; then
        echo alive
    else
        echo gone
    fi
}

labs() { # names of all labs on this machine
    local state
    for state in "$lab_root"/*/; do [[ -d $state ]] && basename "$state"; done
    return 0
}

# Take the directory and a subnet for a lab; both are chosen under one lock, so that two labs raised at once differ.
# NAME OWNER -> sets own_lab, lab_name, lab_state, lab_subnet; 1: the name is taken
claim_lab() {
    local lock taken name third
    mkdir -p "$lab_root" || return 2
    exec {lock}>"$lab_root/.lock"
    flock "$lock"
    if ! mkdir "$lab_root/$1" 2>/dev/null; then
        exec {lock}>&-
        return 1
    fi
    own_lab=$1 lab_name=$1 lab_state=$lab_root/$1
    echo "$2" >"$lab_state/owner"
    taken=' '
    for name in $(labs); do [[ -r $lab_root/$name/subnet ]] && taken+="$(<"$lab_root/$name/subnet") "; done
    for ((third = 0; third < 256; third++)); do
        [[ $taken != *" 198.18.$third "* ]] && break
    done
    lab_subnet=198.18.$third # the block reserved for benchmarks of networks (RFC 2544)
    echo "$lab_subnet" >"$lab_state/subnet"
    exec {lock}>&-
    ((third < 256)) || { say "256 labs, every subnet is taken" && return 2; }
}

# What a namespace inherits depends on the machine (congestion control, buffer sizes); a lab is the same everywhere.
# Reno because every kernel has it and allows it in a namespace; where nothing is lost the choice hardly matters.
# IPv6 is off because Open MPI would find its addresses, and its longer header makes another payload rate.
tune_node() { # SLOW_START
    local net=/proc/sys/net
    echo reno >$net/ipv4/tcp_congestion_control
    { echo 1 >$net/ipv6/conf/all/disable_ipv6; } 2>/dev/null
    echo "$1" >$net/ipv4/tcp_slow_start_after_idle
    echo 1 >$net/ipv4/tcp_no_metrics_save
    echo "4096 131072 6291456" >$net/ipv4/tcp_rmem
    echo "4096 16384 4194304" >$net/ipv4/tcp_wmem
}

# Deep enough that a switch port does not drop: a lost packet costs TCP 200 ms, which would be the lab's doing.
queue_bytes=16000000

# Largest unit TCP hands to the link: two frames. Left alone it hands over up to 64 KiB, which the bucket has to cut into
# frames one by one, and that, not the traffic, is what first uses up a small machine (two frames: 100 Mbit/s at
# 16 nodes where uncut ones came to 80). A larger unit would need a larger bucket.
frames_at_once=2
pair_bytes=$((frames_at_once * 1514))

# bits per second -> bytes. The bucket has to hold the largest unit. Beyond that it only makes up for a timer that fires
# late: tokens that find it full are lost, and the link is slower than nominal. 50 us were enough wherever the
# processor was; on slow links 600 bytes give a longer time at the same price. What is more passes at once after every
# pause, and a short message would seem to cost nothing.
default_burst() {
    local slack=$(($1 * 50 / 8000000))
    echo $((pair_bytes + (slack > 600 ? slack : 600)))
}

raise_switch() { # NUMBER TRUNK: from the second on with a trunk to the first
    local in=pat-$lab_name-sw
    local -a shape=(root tbf rate "${2}bit" burst "$(default_burst "$2")" limit "$queue_bytes")
    ip -n "$in" link add "br$1" type bridge forward_delay 0 mcast_snooping 0 && ip -n "$in" link set "br$1" up || return 1
    (($1 > 1)) || return 0
    ip -n "$in" link add "up$1" type veth peer name "down$1" &&
        tc -n "$in" qdisc add dev "up$1" "${shape[@]}" &&
        tc -n "$in" qdisc add dev "down$1" "${shape[@]}" &&
        ip -n "$in" link set "up$1" master "br$1" up &&
        ip -n "$in" link set "down$1" master br1 up
}

# NODES RATE BURST SLOW_START SWITCHES TRUNK; needs claim_lab. 77: no named namespaces here; 1: a later step failed (it has said how).
raise_lab() {
    local nodes=$1 rate=$2 burst=$3 slow_start=$4 switches=$5 trunk=$6 switch=pat-$lab_name-sw node i
    local -a shape=(root tbf rate "${rate}bit" burst "$burst" limit "$queue_bytes")
    lab_tmp=$(mktemp -u /tmp/pat-lab.XXXXXX)
    echo "$lab_tmp" >"$lab_state/tmp" # noted before it exists: a signal may come in between
    mkdir -m 700 "$lab_tmp" || return 1
    echo "$nodes" >"$lab_state/nodes"
    echo "$rate" >"$lab_state/rate"
    echo "$burst" >"$lab_state/burst"
    echo "$switches" >"$lab_state/switches"
    echo "$trunk" >"$lab_state/trunk"
    ln -s "$bench_dir/cluster/lab_enter.sh" "$lab_state/enter" || return 1

    ip netns add "$switch" || return 77
    { ip netns exec "$switch" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'; } 2>/dev/null
    for ((i = 1; i <= switches; i++)); do raise_switch "$i" "$trunk" || return 1; done
    for ((i = 1; i <= nodes; i++)); do
        node=pat-$lab_name-$i
        mkdir "$lab_tmp/n$i" &&
            ip netns add "$node" &&
            ip netns exec "$node" bash -c "$(declare -f tune_node); tune_node $slow_start" &&
            ip -n "$node" link add eth0 type veth peer name "port$i" netns "$switch" &&
            ip -n "$node" link set eth0 gso_max_segs "$frames_at_once" &&
            tc -n "$node" qdisc add dev eth0 "${shape[@]}" &&
            tc -n "$switch" qdisc add dev "port$i" "${shape[@]}" &&
            ip -n "$switch" link set "port$i" master "br$(((i - 1) * switches / nodes + 1))" up &&
            ip -n "$node" addr add "$lab_subnet.$i/24" dev eth0 &&
            ip -n "$node" link set lo up &&
            ip -n "$node" link set eth0 up || return 1
    done
}

pids_inside() { # LAB -> every process in any of its namespaces
    local list
    compgen -G "$netns_root/pat-$1-*" >/dev/null || return 0
    list=$(stat -L -c '%d:%i' "$netns_root/pat-$1-"* 2>/dev/null)
    stat -L -c '%d:%i %n' /proc/[0-9]*/ns/net 2>/dev/null |
        awk -v list="$list" 'BEGIN { n = split(list, a, "\n"); for (i = 1; i <= n; i++) own[a[i]] = 1 }
                             $1 in own { split($2, path, "/"); print path[3] }'
}

# LAB [SPARED PIDS]: end what runs in the lab. Asked first, so that launchers can tidy up; repeated, since what is being
# killed may still be forking.
kill_inside() {
    local list=${2:-} tries pid victims signal=TERM
    local spared=" ${list//$'\n'/ } "
    for ((tries = 0; tries < 100; tries++)); do
        victims=()
        for pid in $(pids_inside "$1"); do [[ $spared == *" $pid "* ]] || victims+=("$pid"); done
        ((${#victims[@]})) || return 0
        ((tries < 15)) || signal=KILL
        if ((tries == 0 || tries >= 15)); then kill -s $signal "${victims[@]}" 2>/dev/null; fi
        sleep 0.1
    done
    say "lab '$1': processes that cannot be ended: ${victims[*]}"
    return 1
}

# LAB: take it away, however much of it there is.
drop_lab() {
    local state=$lab_root/$1 ns tmp=''
    kill_inside "$1"
    for ns in "$netns_root/pat-$1-"*; do
        [[ -e $ns ]] && ip netns del "$(basename "$ns")"
    done
    [[ -r $state/tmp ]] && tmp=$(<"$state/tmp")
    [[ $tmp == /tmp/pat-lab.* ]] && rm -rf "$tmp"
    rm -f /dev/shm/vader_segment."$1"-n[0-9]* # of ranks that were killed
    rm -rf "$state"
}
