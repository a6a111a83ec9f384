#!/bin/sh
# lab_preload.sh LIBRARY COMMAND...: run COMMAND with LIBRARY preloaded before whatever is already, as the lab's own library is with MPICH
# (lab_launch_mpich.sh). LD_PRELOAD=LIBRARY in front of COMMAND would take that one away, and its ranks would not yield while they wait.
case $1 in
*[:\ ]*)
    echo "lab_preload.sh: '$1': a path without blanks and colons is accepted, others cannot be preloaded" >&2
    exit 2
    ;;
esac
export LD_PRELOAD="$1${LD_PRELOAD:+:$LD_PRELOAD}"
shift
exec "$@"
