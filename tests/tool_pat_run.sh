#!/usr/bin/env bash
# tool_pat_run.sh — pat-run with every launcher it knows, each a script that says what it is and prints its arguments: what is
# set reaches the ranks, what the user has set is kept, and what cannot be served is refused with status 2.
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0
run=$PAT_SOURCE/src/dropin/pat-run
for name in $(compgen -e PAT_ | grep -vE '^PAT_(SOURCE|BUILD)$'); do unset "$name"; done
source=$PAT_SOURCE build=$PAT_BUILD
unset PAT_SOURCE PAT_BUILD LD_PRELOAD SLURM_EXPORT_ENV
library=$(readlink -f "$build/libpat-mpi.so")

stub() { # NAME VERSION
    # shellcheck disable=SC2016 # the script's own
    printf '#!/bin/sh\nif [ "$1" = --version ]; then echo "%s"; else printf "%%s " "$@"; printf "|%%s\\n" "${LD_PRELOAD-}"; fi\n' "$2" >"$dir/$1"
    chmod +x "$dir/$1"
}
# gives WANTED ARGUMENT...: pat-run with these arguments prints WANTED, in which LIB stands for the library.
gives() {
    local wanted=${1//LIB/$library} got
    wanted=${wanted//CA${library}RATION/CALIBRATION}
    shift
    got=$(cd "$dir" && "$run" --library="$library" "$@" 2>&1)
    # PAT_RUN goes along with all of them.
    [[ $got == *PAT_RUN* || $got == *"|$library" || $got == *--export=ALL,* ]] || { echo "$*: no PAT_RUN: $got" >&2; failed=1; }
    got=$(sed -E 's/(-x |-genv )PAT_RUN( 1)? ?|-e PAT_RUN=1 |,PAT_RUN\b//g' <<<"$got")
    [ "$got" = "$wanted" ] || { printf '%s:\n  expected %s\n  not      %s\n' "$*" "$wanted" "$got" >&2; failed=1; }
}
# refuses TEXT ARGUMENT...: status 2, TEXT on one line, nothing run.
refuses() {
    local text=$1 status=0
    shift
    (cd "$dir" && "$run" "$@" >out 2>err) || status=$?
    if [ $status -ne 2 ] || [ -s "$dir/out" ] || ! grep -qF -- "$text" "$dir/err"; then
        printf '%s: status %s, no "%s" in: %s\n' "$*" $status "$text" "$(cat "$dir/out" "$dir/err")" >&2
        failed=1
    fi
}

# By what it says it is, not by its name.
stub mpirun "mpirun (Open MPI) 4.1.4"
gives '-x LD_PRELOAD=LIB -n 2 ./a |' ./mpirun -n 2 ./a
gives '-x LD_PRELOAD=LIB -n 2 ./a : -x LD_PRELOAD=LIB -n 1 ./b |' ./mpirun -n 2 ./a : -n 1 ./b
gives '-x LD_PRELOAD=LIB:/x.so -x PAT_FORCE -n 2 ./a |' --alg=ring ./mpirun -x LD_PRELOAD=/x.so -n 2 ./a
refuses '--app' --library="$library" ./mpirun --app file
stub mpirun "mpirun (Open MPI) 5.0.7"
gives '-x LD_PRELOAD=LIB -x PAT_REPORT ./a |' -r ./mpirun ./a
stub prterun "prterun (PRRTE) 3.0.8"
gives '-x LD_PRELOAD=LIB ./a |' ./prterun ./a
stub mpiexec "HYDRA build details:"
gives '-genv LD_PRELOAD LIB -n 2 ./a : -n 1 ./b |' ./mpiexec -n 2 ./a : -n 1 ./b
gives '-genv LD_PRELOAD LIB:/x.so -genv PAT_FORCE ring -n 2 ./a |' --alg=ring ./mpiexec -genv LD_PRELOAD /x.so -n 2 ./a
gives '-genv LD_PRELOAD LIB -genv PAT_CALIBRATION none ./a |' --calibration=none ./mpiexec ./a
gives '-genv LD_PRELOAD LIB -genv PAT_CALIBRATION none ./a |' -c NonE ./mpiexec ./a
gives "-genv LD_PRELOAD LIB -genv PAT_CALIBRATION $(readlink -f "$dir")/mpiexec ./a |" -c mpiexec ./mpiexec ./a
refuses '--calibration=no.json: accepted: a file that is there, or none' --library="$library" -c no.json ./mpiexec ./a
stub mpirun "Intel(R) MPI Library for Linux* OS, Version 2021.8"
gives '-genv LD_PRELOAD LIB ./a |' ./mpirun ./a
stub mpirun "something else"
refuses './mpirun: neither' --library="$library" ./mpirun ./a

# srun: what it is told to export already is kept.
stub srun "slurm 22.05.8"
gives '--export=ALL,LD_PRELOAD=LIB -n 4 ./a --export=x |' ./srun -n 4 ./a --export=x
gives '--export=ALL,B=c,LD_PRELOAD=LIB -n4 ./a |' ./srun --export=ALL,B=c -n4 ./a
gives '--export=LD_PRELOAD=LIB,PAT_FORCE -l -c 2 ./a |' --alg=ring ./srun --export=NONE -l -c 2 ./a
gives '--export=A,B=c,LD_PRELOAD=LIB,PAT_FORCE --mpi pmix ./a |' --alg=ring ./srun --mpi pmix --export A,B=c ./a
gives '--export=ALL,LD_PRELOAD=LIB:/x.so ./a |' ./srun --export=NONE --export=ALL,LD_PRELOAD=/x.so ./a
gives '--export=ALL,LD_PRELOAD=LIB -n 1 ./a : --export=LD_PRELOAD=LIB -n 2 ./b |' ./srun -n 1 ./a : --export=NIL -n 2 ./b
export SLURM_EXPORT_ENV=NONE
gives '--export=LD_PRELOAD=LIB ./a |' ./srun ./a
unset SLURM_EXPORT_ENV
stub aprun "aprun (ALPS)"
gives '-e LD_PRELOAD=LIB -e PAT_FORCE=ring -n 4 ./a |' --alg=ring ./aprun -n 4 ./a

# Programs themselves; where a report goes.
stub program ""
gives '1 2 |LIB' ./program 1 2
gives '1 |LIB' -rfile.json ./program 1
refuses '--report=file.json or -rfile.json' --library="$library" -r file.json ./program 1
refuses "'./none': no such command" --library="$library" ./none

# A place that LD_PRELOAD cannot name.
mkdir "$dir/a b" "$dir/a:b"
for place in "a b" a:b; do
    cp "$library" "$dir/$place"
    refuses "$place/libpat-mpi.so" --library="$dir/$place/libpat-mpi.so" ./program
done
[ -n "$source" ] && [ $failed = 0 ] && echo "every launcher gets what is set"
exit $failed
