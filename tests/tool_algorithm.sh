#!/usr/bin/env bash
# tool_algorithm.sh — an algorithm is one file and one line. In a copy of the sources one is added, and nothing else: the
# checker's tests and those of formulas must try it, programs can name it, and the tools measure, calibrate and choose it.
set -eu

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

for command in jq perl; do
    command -v $command >/dev/null || exit 77
done
if grep -q '^PAT_SANITIZE:STRING=..*' "$PAT_BUILD/CMakeCache.txt"; then
    echo "skipped: the same with sanitizers shows nothing more"
    exit 77
fi
here=$PAT_SOURCE/tests
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree"
for part in CMakeLists.txt include pat algorithms src bench tests cmake docs packaging; do
    [ ! -e "$PAT_SOURCE/$part" ] || cp -r "$PAT_SOURCE/$part" "$work/tree"
done
cd "$work/tree"

cat >algorithms/trial.c <<'CODE'
#include "parts.h"

void pat_trial_build(pat_plan *plan, const pat_job *job, int rank)
{
    pat_relay_build(plan, job, rank);
}

void pat_trial_formula(pat_formula *formula, const pat_job *job)
{
    pat_relay_formula(formula, job);
}
CODE
list=$(grep -l 'OURS(relay, op' algorithms/*.h)
perl -0pi -e 's/OURS\(relay, op,[^)]*\)/$& \\\n    OURS(trial, op, AHEAD | ANY_ORDER, "relay once more")/' "$list"

# Fewer patterns for the checker, as under a sanitizer.
programs=(unit_check_all unit_closed_form unit_calibration mpi_allgather)
tools=(pat-bench pat-calibrate pat-info)
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS="-O1 -DSLOW_BUILD" \
    "-DMPI_C_COMPILER=$(sed -n 's/^MPI_C_COMPILER:[A-Z]*=//p' "$PAT_BUILD/CMakeCache.txt")" >log || fail "cmake: $(tail -n 20 log)"
cmake --build build --parallel 2 --target "${programs[@]}" "${tools[@]}" >log || fail "it does not build: $(tail -n 20 log)"

for program in "${programs[@]}"; do
    case $program in
    unit_*) "build/tests/$program" >log 2>&1 || fail "$program: $(cat log)" ;;
    mpi_*) "$here/mpirun.sh" 2 "build/tests/$program" >log 2>&1 || fail "$program: $(cat log)" ;;
    esac
done
build/bench/pat-info --json >info.json
jq -e '.algorithms["all-gather"] | index("trial")' info.json >/dev/null || fail "pat-info does not know it"
"$here/mpirun.sh" 2 build/bench/pat-bench --alg trial --bytes 16K --max-delay 1 --iters 2 --base 1 --csv out.csv >log 2>&1 ||
    fail "pat-bench: $(cat log)"
grep -q '^trial,2,' out.csv || fail "pat-bench does not run it"
export PAT_LINK=1,10000 # the same network from now on, however busy the machine is
"$here/mpirun.sh" 2 build/bench/pat-calibrate --quick --precision 1 --longest 0.001 --progress off --out found.json >log 2>&1 ||
    fail "pat-calibrate: $(cat log)"
jq -e '.algorithms.trial.beta_ns >= 0' found.json >/dev/null || fail "pat-calibrate does not fit it: $(cat log)"

# Where it is the fastest by calibration, it is chosen.
jq '.algorithms.trial.alpha_us = 0.001 | .algorithms.trial.beta_ns = 0.0001 | .points |= map(select(.algorithm != "trial"))' \
    found.json >fast.json
"$here/mpirun.sh" 2 env PAT_CALIBRATION="$PWD/fast.json" build/bench/pat-info --json >auto.json || fail "pat-info by calibration"
jq -e '.auto.ranges["all-gather"] | any(.runs == "trial")' auto.json >/dev/null || fail "it is not chosen: $(jq -c .auto auto.json)"
echo "one file and one line: it is checked, named, measured, calibrated and chosen"
