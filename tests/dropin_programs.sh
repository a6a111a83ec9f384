#!/usr/bin/env bash
# dropin_programs.sh [PROGRAM...] — programs of Debian as they are installed, natively and under the drop-in: the results are the
# same to the last bit, and with every call forced through a plan, nine in ten of those that can be run by one are. Prints a
# line for each run and operation; docs/programs.md explains them. Which programs, that depends on the MPI library of the build:
# those of Debian are linked with either.
# PAT_TEST_RUNS: how often each is run under each setting (default 1).
set -u

programs_openmpi=(hpcc lammps pw pw_scalapack mpi4py neuron petsc)
programs_mpich=(bagel nwchem)
# What each is known to call; if a plan has run none of these, they have not come to us at all.
declare -A calls_of=([hpcc]="MPI_Bcast MPI_Gather" [lammps]="MPI_Allgather MPI_Bcast MPI_Gather" [pw]=MPI_Bcast
    [pw_scalapack]=MPI_Bcast [mpi4py]="MPI_Allgather MPI_Allgatherv MPI_Bcast MPI_Gather" [neuron]="MPI_Allgather MPI_Allgatherv" [petsc]=MPI_Bcast
    [bagel]="MPI_Allgather MPI_Bcast MPI_Gather" [nwchem]="MPI_Allgather MPI_Bcast")
# Non-blocking calls that go by plans where the link is slow.
declare -A starts_of=([petsc]=MPI_Iallgather)
# What the drop-in runs by plans: shares are of these operations only.
eligible=(MPI_Allgather MPI_Allgatherv MPI_Bcast MPI_Gather)
# What it is told. By default nothing; shared memory is so fast that it then leaves all blocks to the MPI library. Told of a
# slow link it goes to and fro between plans and the MPI library, in a program whose all-gathers are long enough, as mpi4py's.
settings_default=()
settings_slow_link=("PAT_LINK=10,10")
slow_link=(mpi4py petsc bagel nwchem)
settings_forced=(PAT_FORCE=relay PAT_ALG_BCAST=bcast_binomial PAT_ALG_GATHER=gather_binomial)
settings_forced_too=(PAT_FORCE=bdr PAT_ALG_BCAST=bcast_split PAT_ALG_GATHER=gather_sync)
least_percent=90

if grep -q '^PAT_MPI_IS_OPEN:INTERNAL=1' "$PAT_BUILD/CMakeCache.txt"; then
    of_this_library=("${programs_openmpi[@]}")
else
    of_this_library=("${programs_mpich[@]}")
fi
programs=("${of_this_library[@]}")
[ $# -gt 0 ] && programs=("$@")
inputs=$PAT_SOURCE/tests/programs
export PAT_TEST_TIMEOUT=${PAT_TEST_TIMEOUT:-60}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0 skipped=0

if grep -q '^PAT_SANITIZE:STRING=.*thread' "$PAT_BUILD/CMakeCache.txt"; then
    echo "skipped: the thread sanitizer wants programs that were built with it"
    exit 77
fi
library=$("$PAT_SOURCE/tests/preload.sh")
counter=$(find "$PAT_BUILD/tests" -name 'libpassed_tool.so' | head -n 1)
[ -n "$counter" ] || { echo "no libpassed_tool.so in $PAT_BUILD/tests" >&2; exit 1; }

fail() {
    printf '%s\n' "$*" >&2
    failed=1
}

# ---- The programs: needs_* says what is not installed; run_* runs it in the current directory; results_* prints what it has ---
# ---- found out, without times, rates and what it draws by lot; whole_*: is all there, and right by the program's own judgement? -

needs() {
    command -v "$1" >/dev/null || echo "$1 (Debian: $2)"
}

needs_hpcc() { needs hpcc hpcc; }
run_hpcc() {
    cp "$inputs/hpccinf.txt" .
    "$PAT_SOURCE/tests/mpirun.sh" 4 hpcc
}
# Which rank runs alone, and the matrix of DGEMM, are drawn by lot; what the summary says of HPL and PTRANS, it says of the
# fastest of several runs. It leaves out processor times below the clock's resolution, and updates when it finds itself slow.
results_hpcc() {
    sed -nE -e '/^Begin of LatencyBandwidth/,/^End of LatencyBandwidth/d' -e '/^(VERBOSE|CPU +[0-9]|Number of updates EXECUTED|MPIRandomAccess.*_ExeUpdates|Each test below| +\(= )/d' \
        -e '/^(Your clock|Increase the size|you are not getting)/d' \
        -e '/^(Current time|Hostname|Node selected|Scaled residual|CPU time|Verification: |.*[Rr]eal time used|(Mini|Aver|Maxi)[a-z]* )/d' \
        -e '/(second|GUP|[Gg]flop|GB)\/?s|Flops|^(Copy|Scale|Add|Triad):|(_time[0-9]*|CheckTime|GBs|GUPs|Gflops|usec|GBytes|_(Copy|Scale|Add|Triad))=/d' \
        -e '/^(Generation time|Tuning|Computing|Inverse FFT):|^(HPL_([A-Z][a-zA-Z0-9]*|N|NB|ctop|nprow|npcol)|PTRANS_(n|nb|nprow|npcol)|MPI_Wtick)=/d' \
        -e 's/^(W[RC][0-9A-Z]+ .*[0-9]) +[0-9.]+ +[0-9.]+e[-+][0-9]+ *$/\1/' \
        -e 's/^(WALL .*[0-9]) +[0-9.]+ +(PASSED|FAILED) +[0-9.]+ +([0-9.]+)/\1 \2 \3/' -e p hpccoutf.txt
}
whole_hpcc() { grep -q '^Success=1' <<<"$1" && ! grep -qE 'FAILED|[1-9][0-9]* errors' <<<"$1"; }

needs_lammps() { needs lmp lammps; }
run_lammps() { "$PAT_SOURCE/tests/mpirun.sh" 4 lmp -in "$inputs/lammps.in" -log none; }
results_lammps() {
    sed -E '/^(Loop time|Performance|Total wall time|[A-Z][a-z]+ +\|)|CPU (use|=)|seconds|Mbytes/d' out
    sha256sum ./*.txt ./*.ppm ./*.restart
}
whole_lammps() { [ "$(grep -c '\.ppm$' <<<"$1")" -ge 3 ] && grep -q 'end\.txt' <<<"$1"; }

needs_pw() {
    needs pw.x quantum-espresso
    [ -r /usr/share/espresso/pseudo/Si.pz-vbc.UPF ] || echo "Si.pz-vbc.UPF (Debian: quantum-espresso-data)"
}
run_pw() { "$PAT_SOURCE/tests/mpirun.sh" 4 pw.x -nk 2 -in "$inputs/pw.in"; }
results_pw() {
    sed -E -e '/WALL|Program PWSCF|total cpu time|This run was terminated/d' out
    sha256sum si.save/charge-density.dat
}
whole_pw() { grep -q 'JOB DONE' <<<"$1" && [ "$(grep -c '^!' <<<"$1")" -ge 2 ]; }

# The same with matrices that are diagonalised by all ranks together, by ScaLAPACK.
needs_pw_scalapack() { needs_pw; }
run_pw_scalapack() { "$PAT_SOURCE/tests/mpirun.sh" 4 pw.x -nk 1 -nd 4 -in "$inputs/pw.in"; }
results_pw_scalapack() { results_pw; }
whole_pw_scalapack() { whole_pw "$1" && grep -q 'scalapack distributed' <<<"$1"; }

# The python3 on the path need not be the one that Debian's modules belong to.
python=
for candidate in /usr/bin/python3 python3; do
    [ -z "$python" ] && "$candidate" -c 'import mpi4py' 2>/dev/null && python=$candidate
done
needs_mpi4py() { [ -n "$python" ] || echo "mpi4py (Debian: python3-mpi4py)"; }
run_mpi4py() { "$PAT_SOURCE/tests/mpirun.sh" 3 "$python" -m mpi4py "$inputs/mpi4py_calls.py"; }
results_mpi4py() { cat out; }
whole_mpi4py() { [ "$(wc -l <<<"$1")" -eq 29 ] && ! grep -q wrong <<<"$1"; }

needs_neuron() { /usr/bin/python3 -c 'import neuron' 2>/dev/null >&2 || echo "NEURON (Debian: python3-neuron)"; }
run_neuron() { "$PAT_SOURCE/tests/mpirun.sh" 4 /usr/bin/python3 "$PAT_SOURCE/bench/examples/spikes.py" 2000 60 0.5 3; }
results_neuron() { sed -nE 's/^(checksum [^,]*),.*;( [0-9]+ spikes)/\1\2/p' out; }
whole_neuron() { grep -qE ' [1-9][0-9]* spikes' <<<"$1"; }

# Debian finds it by PETSC_DIR, or by a link that another package makes.
petsc_dirs=(/usr/lib/petscdir/*/*-real)
export PETSC_DIR=${PETSC_DIR:-${petsc_dirs[0]}}
needs_petsc() { /usr/bin/python3 -c 'import petsc4py' 2>/dev/null >&2 || echo "PETSc (Debian: python3-petsc4py)"; }
run_petsc() { "$PAT_SOURCE/tests/mpirun.sh" 4 /usr/bin/python3 "$inputs/petsc_solve.py"; }
results_petsc() { sed -n '/^seconds/!p' out; }
whole_petsc() { [ "$(grep -c '^solve [0-3]: [0-9]* steps, converged [1-9], residual [0-9.e-]*, checksum [1-9][0-9]*$' <<<"$1")" -eq 4 ]; }

needs_bagel() { needs BAGEL bagel; }
run_bagel() { BAGEL_NUM_THREADS=1 "$PAT_SOURCE/tests/mpirun.sh" 4 BAGEL "$inputs/bagel.json"; }
# The last column is a time, and so is all that steps of a calculation say; each rank writes the name of its machine.
results_bagel() {
    sed -E -e '/METHOD|elapsed time|Gradient computed|^ +(o|-) .* [0-9]+\.[0-9]{2}$/d' -e "/^ +$(hostname) *$/d" \
        -e 's/ +[0-9]+\.[0-9]{2}$//' out
    sha256sum hf.molden
}
whole_bagel() { grep -q 'MP2 correlation energy: ' <<<"$1" && [ "$(grep -c 'Nuclear energy gradient' <<<"$1")" -eq 2 ]; }

# Two ranks: each looks for messages without a pause while it waits, and one that others put data to has to run for that. By
# default Debian's gives wrong energies on two ranks already, or none, without us too; with this variable it is right.
needs_nwchem() { needs nwchem.mpich nwchem-mpich; }
run_nwchem() { ARMCI_USE_WIN_ALLOCATE=0 "$PAT_SOURCE/tests/mpirun.sh" 2 nwchem.mpich "$inputs/nwchem.nw"; }
# Of plane waves all to the last bit. The self-consistent field before them adds up in the order in which ranks fetch their
# work, natively as well: of that eight decimals, and no sign of what is rounded to zero.
results_nwchem() {
    sed -nE '/Total SCF energy|(One|Two)-electron energy/{s/[0-9]{4}$//;p}' out
    sed -nE '/RHF ENERGY GRADIENTS/,/ -----/{s/-(0\.0+)( |$)/ \1\2/g;p}' out
    sed -nE '/^== Energy Calculation ==/,/^== Timing ==/{/ITERATION (STARTED|ENDED)/d;p}' out
    sha256sum water.movecs
}
whole_nwchem() { grep -q 'Total SCF energy = *-76\.00979676' <<<"$1" && [ "$(grep -c 'Total PSPW energy' <<<"$1")" -eq 2 ]; }

# ---- Running and judging ------------------------------------------------------------------------------------------------------

# once PROGRAM NAME [NAME=VALUE...]: in a directory of its own; the results go to $dir/NAME.results.
once() {
    local program=$1 name=$2 rc start
    shift 2
    rm -rf "${dir:?}/$name"
    mkdir "$dir/$name" && cd "$dir/$name" || exit 1
    start=$(date +%s%N)
    PAT_TEST_WRAP="${*:+env $*}" "run_$program" >out 2>err
    rc=$?
    took=$((($(date +%s%N) - start) / 1000000))
    if [ $rc -ne 0 ]; then
        fail "$program, $name: exit status $rc (124: the time limit):"
        tail -n 20 out err >&2
        return 1
    fi
    "results_$program" >"$dir/$name.results"
    "whole_$program" "$(<"$dir/$name.results")" && return
    fail "$program, $name: the results are not whole:"
    tail -n 40 "$dir/$name.results" >&2
    return 1
}

# under PROGRAM NAME LEAST [NAME=VALUE...]: as natively? And with what share of the calls by a plan?
under() {
    local program=$1 name=$2 least=$3 op calls passed empty between alone rest plans could share
    shift 3
    once "$program" "$name" "ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0:verify_asan_link_order=0" \
        "LD_PRELOAD=$library:$counter" PASSED_TOOL=passed PAT_REPORT=report.json "$@" || return
    if ! diff -u "$dir/native.results" "$dir/$name.results" >"$dir/diff"; then
        fail "$program, $name: other results than natively:"
        head -n 30 "$dir/diff" >&2
    fi
    for op in "${eligible[@]}"; do
        read -r calls passed < <(jq -r --arg op "$op" '[.sites[] | select(.call == $op)] |
            "\(map(.calls) | add // 0) \(map(.run_by.mpi) | add // 0)"' report.json)
        read -r empty between alone rest < <(sed -nE "s/^$op empty (.*) between (.*) alone (.*) rest (.*)/\1 \2 \3 \4/p" passed)
        if [ $((${empty:-0} + ${between:-0} + ${alone:-0} + ${rest:-0})) -ne "${passed:--1}" ]; then
            fail "$program, $name, $op: by the report ${passed:-?} calls were passed on, but behind us there came" \
                "${empty:-?} of no bytes, ${between:-?} between groups, ${alone:-?} of one rank, ${rest:-?} others"
            continue
        fi
        plans=$((calls - passed)) could=$((calls - passed + rest))
        share=-
        [ $could -eq 0 ] || share=$((100 * plans / could))
        [ "$calls" -eq 0 ] || printf '%-13s %-11s %6d ms  %-14s %7d calls, eligible %7d, by plan %7d (%s %%); %s\n' \
            "$program" "$name" "$took" "$op" "$calls" $could $plans "$share" \
            "no bytes $empty, one rank $alone, between groups $between"
        if [ $could -gt 0 ] && [ $((100 * plans)) -lt $((least * could)) ]; then
            fail "$program, $name, $op: $plans of $could calls by plan, less than $least %; places with the most:"
            jq -c --arg op "$op" '[.sites[] | select(.call == $op and .run_by.mpi > 0)] | sort_by(-.run_by.mpi)[:5][]' report.json >&2
        fi
        if [ "$least" -gt 0 ] && [ $plans -eq 0 ] && [[ " ${calls_of[$program]} " == *" $op "* ]]; then
            fail "$program, $name: it calls $op, and no plan has run any"
        fi
    done
    op=${starts_of[$program]-}
    if [ "$name" = slow_link ] && [ -n "$op" ]; then
        read -r calls passed < <(jq -r --arg op "$op" '[.sites[] | select(.call == $op)] |
            "\(map(.calls) | add // 0) \(map(.run_by.mpi) | add // 0)"' report.json)
        plans=$((calls - passed))
        printf '%-13s %-11s %6d ms  %-14s %7d calls, by plan %7d\n' "$program" "$name" "$took" "$op" "$calls" $plans
        [ $plans -gt 0 ] || fail "$program, $name: it calls $op, and no plan has run any"
    fi
}

for program in "${programs[@]}"; do
    if [[ " ${of_this_library[*]} " != *" $program "* ]]; then
        echo "unknown program '$program'; accepted with this MPI library: ${of_this_library[*]}" >&2
        exit 2
    fi
    missing=$("needs_$program" | paste -sd, -)
    if [ -n "$missing" ]; then
        echo "skipped: not installed: $missing"
        skipped=1
        continue
    fi
    for ((k = 0; k < ${PAT_TEST_RUNS:-1}; k++)); do
        once "$program" native || break
        printf '%-13s %-11s %6d ms\n' "$program" native "$took"
        under "$program" default 0 "${settings_default[@]}"
        [[ " ${slow_link[*]} " != *" $program "* ]] || under "$program" slow_link 0 "${settings_slow_link[@]}"
        under "$program" forced $least_percent "${settings_forced[@]}"
        under "$program" forced_too $least_percent "${settings_forced_too[@]}"
    done
done
[ $failed -eq 0 ] || exit 1
[ $skipped -eq 0 ] || exit 77
