# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# How MPICH and its relatives start a job across a lab, by their launcher Hydra. Sourced by bench/lab; the functions are those
# of lab_launch_openmpi.sh, and so are their rules.

# The launcher: by its own name first, since mpirun may be another library's.
launch_mpirun() {
    local name
    for name in mpiexec.hydra mpiexec.mpich mpiexec mpirun; do
        command -v "$name" >/dev/null && "$name" --version 2>/dev/null | grep -q 'HYDRA' && echo "$name" && return
    done
    return 1
}

# launch_available: is the library's launcher installed?
launch_available() {
    launch_mpirun >/dev/null
}
launch_wanted='mpiexec of MPICH (Debian package mpich)'
launch_mpicc='mpicc.mpich mpicc'

# launch_messages: what the launcher had to say when a job failed: it has said so already.
launch_messages() {
    :
}

# launch_command NODES PPN COMMAND...
launch_command() {
    local nodes=$1 ppn=$2 hosts='' i numbered=()
    shift 2
    # Hydra goes round the hosts with as many ranks at a time as -ppn says.
    case $map in
    node) numbered=(-ppn 1) ;;
    random:*) bad "--map '$map': with MPICH slot and node are accepted" ;;
    esac
    for ((i = 1; i <= nodes; i++)); do hosts+=${hosts:+,}$lab_subnet.$i:$ppn; done

    # All nodes share this machine's processors, so ranks yield while they wait (lab_yield.c), unless COMMAND sets an
    # LD_PRELOAD of its own without this library; lab_preload.sh keeps it.
    local yield
    yield=$(built lab-yield.so) || { say 'note: lab-yield.so is not built, so ranks keep a processor busy while they wait' && yield=; }
    [[ $yield != *[:\ ]* ]] || { say "note: '$yield' cannot be preloaded, since its path has a blank or a colon, so ranks keep a processor busy while they wait" && yield=; }

    # The remote shell is a file in the lab's temporary directory, because /run is usually mounted noexec. Messages go by TCP
    # over the nodes' links; ranks of one node share its memory, which is MPICH's own business. Hydra hands node 1's TMPDIR on
    # to all ranks: each takes its own node's.
    # shellcheck disable=SC2054
    LAUNCH=(env
        UCX_TLS=tcp,self UCX_NET_DEVICES=eth0
        HYDRA_LAUNCHER=rsh "HYDRA_LAUNCHER_EXEC=$lab_tmp/enter" HYDRA_IFACE=eth0
        sh -c 'printf "#!/bin/sh\nexec sh \"%s\" \"\$@\"\n" "$0" >"$1" && chmod +x "$1" && shift && exec "$@"'
        "$lab_state/enter" "$lab_tmp/enter"
        "$(launch_mpirun)" -hosts "$hosts" -n "$((nodes * ppn))" "${numbered[@]}" -bind-to none)
    LAUNCH+=("${extra_mpirun[@]}"
        sh -c 'TMPDIR=$0/n$(hostname | sed "s/.*-n//") && export TMPDIR && exec "$@"' "$lab_tmp" ${yield:+"$bench_dir/cluster/lab_preload.sh" "$yield"} "$@")
}
