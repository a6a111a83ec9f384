# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# How Open MPI starts a job across a lab. Sourced by bench/lab; a launcher for another MPI library is another file
# with the same functions and names. It must never start anything itself: launch_command fills the array LAUNCH with the
# command to be run on node 1, and what it sets goes into the environment of that command only.

# The launcher: by its own name first, since mpirun may be another library's.
launch_mpirun() {
    local name
    for name in mpirun.openmpi mpirun mpiexec; do
        command -v "$name" >/dev/null && "$name" --version 2>/dev/null | grep -qE 'Open MPI|OpenRTE' && echo "$name" && return
    done
    return 1
}

# launch_available: is the library's launcher installed?
launch_available() {
    launch_mpirun >/dev/null
}
launch_wanted='mpirun of Open MPI (Debian package openmpi-bin)'
launch_mpicc='mpicc.openmpi mpicc'

# launch_messages: what the launcher had to say, shown when a job failed. mpirun's own remarks go to a file because one
# of them, a setpgid that lost a harmless race against the child, comes with nearly every launch of many nodes.
launch_messages() {
    grep -v 'setpgid([0-9,]*) failed in parent' "$lab_tmp/launcher.log" 2>/dev/null
}

# launch_command NODES PPN COMMAND...
# in: map, random_nodes, lab_state (directory of the lab), lab_tmp, lab_subnet (first three bytes), extra_mpirun (array), launch_quiet
launch_command() {
    local nodes=$1 ppn=$2 hosts='' i name
    shift 2
    for ((i = 1; i <= nodes; i++)); do hosts+=${hosts:+,}$lab_subnet.$i:$ppn; done

    # Settings go by environment and not by --mca, so that --mpirun-arg can override them. The agent is called through
    # sh because /run is usually mounted noexec.
    # Since Open MPI 5 the launcher is PRRTE, which reads PRTE_MCA_ in place of OMPI_MCA_ and calls its remote shell ssh.
    local mpirun btl=tcp,self
    mpirun=$(launch_mpirun)
    if ((ppn > 1)); then # ranks of one node share its memory, as on a real one; vader is called sm since Open MPI 5
        btl=tcp,sm,self
        [[ $("$mpirun" --version | head -n 1) != *")"\ [1-4].* ]] || btl=tcp,vader,self
    fi
    LAUNCH=(env
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        OMPI_MCA_plm=rsh
        "OMPI_MCA_plm_rsh_agent=sh $lab_state/enter"
        OMPI_MCA_plm_rsh_no_tree_spawn=1
        OMPI_MCA_pml=ob1 "OMPI_MCA_btl=$btl"
        "OMPI_MCA_btl_tcp_if_include=$lab_subnet.0/24"
        "OMPI_MCA_oob_tcp_if_include=$lab_subnet.0/24"
        PRTE_MCA_plm=ssh "PRTE_MCA_plm_ssh_agent=sh $lab_state/enter" PRTE_MCA_plm_ssh_no_tree_spawn=1
        "PRTE_MCA_prte_if_include=$lab_subnet.0/24"
        OMPI_MCA_mpi_yield_when_idle=1 # all nodes share this machine's cores
        OPAL_OUTPUT_STDERR_FD=9 sh -c 'exec 9>>"$0" && exec "$@"' "$lab_tmp/launcher.log"
        "$mpirun" --bind-to none -x OPAL_OUTPUT_STDERR_FD=2)
    [[ $map == random:* ]] || LAUNCH+=(-H "$hosts" -n "$((nodes * ppn))" --map-by "$map")
    [[ -z ${launch_quiet:-} ]] || LAUNCH+=(--quiet)
    for name in $(compgen -e PAT_); do LAUNCH+=(-x "$name"); done
    LAUNCH+=("${extra_mpirun[@]}")
    if [[ $map != random:* ]]; then
        LAUNCH+=("$@")
        return
    fi
    # No mapper of mpirun's takes the nodes of the ranks one by one, but a job may consist of programs with their own hosts.
    local between=''
    for i in $(random_nodes "$nodes" "$ppn" "${map#*:}"); do
        LAUNCH+=(${between:+"$between"} -n 1 -H "$lab_subnet.$i:$ppn" "$@")
        between=:
    done
}
