#!/bin/sh
# lab_enter.sh ADDRESS COMMAND...: run COMMAND on an emulated node, the way ssh would on a real one (the words are
# joined and read by a shell). bench/lab links it as "enter" into the directory of a lab's state; MPI launchers get it
# as their remote shell. It must never leave a process of its own behind: everything is exec.
#
# A host name and a TMPDIR per node are not decoration: the daemons of a launch keep their session directories under
# both, and with shared ones about one launch in ten hung with a daemon missing.
state=$(dirname "$0")
node=${1##*.}
shift
TMPDIR=$(cat "$state/tmp")/n$node
lab=$(basename "$state")
export TMPDIR
unset OPAL_OUTPUT_STDERR_FD # meant for mpirun alone, see lab_launch_openmpi.sh
# shellcheck disable=SC2016
exec ip netns exec "pat-$lab-$node" unshare --uts \
    sh -c 'hostname "$1" && shift && exec sh -c "$*"' sh "$lab-n$node" "$@"
