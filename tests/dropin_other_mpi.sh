#!/usr/bin/env bash
# dropin_other_mpi.sh — a preloaded file that was built for another MPI library than the program's says so on one line, not
# one a rank, and the program runs as without it: in C, in Fortran, and with an MPI library that only a plug-in has.
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0
ours=$(sed -n 's/^PAT_MPI_LIBRARY:[A-Z]*=//p' "$PAT_BUILD/CMakeCache.txt")
case $ours in
libmpich*) other=openmpi theirs=libmpi.so.40 ;;
*) other=mpich theirs=libmpich.so.12 ;;
esac
for command in mpicc.$other mpirun.$other; do
    command -v "$command" >/dev/null || { echo "skipped: no $command here"; exit 77; }
done

compile() { # COMPILER ARG...
    "$@" 2>"$dir/log" || { cat "$dir/log" >&2; exit 1; }
}
tests=$PAT_SOURCE/tests
compile mpicc.$other -O2 -w -o "$dir/jacobi" "$PAT_SOURCE/bench/examples/jacobi.c" -lm
compile mpicc.$other -O2 -w -o "$dir/plain_random" "$tests/plain_random.c" -lpthread
# A program without MPI that loads all of this, as interpreters do.
compile mpicc.$other -O2 -w -shared -fPIC -Dmain=run -o "$dir/libplugin.so" "$PAT_SOURCE/bench/examples/jacobi.c" -lm
cat >"$dir/host.c" <<'CODE'
#include <dlfcn.h>
int main(int argc, char **argv)
{
    void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    int (*run)(int, char **) = plugin ? (int (*)(int, char **))dlsym(plugin, "run") : 0;
    return run ? run(argc - 1, argv + 1) : 2;
}
CODE
compile cc -o "$dir/host" "$dir/host.c" -ldl
fortran=()
if command -v mpifort.$other >/dev/null; then
    for binding in mpifh usempi usempif08; do
        compile mpifort.$other -w -fallow-argument-mismatch -I"$tests" -J"$dir" -o "$dir/plain_$binding" "$tests/plain_$binding.f90"
        fortran+=("plain_$binding")
    done
fi

# same PROGRAM [ARG...]: with the preloaded file and without it.
same() {
    local with without rc
    without=$(PAT_TEST_MPIRUN=mpirun.$other "$tests/mpirun.sh" 3 "$@" 2>"$dir/err")
    with=$(PAT_TEST_MPIRUN=mpirun.$other PAT_TEST_WRAP="env ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0:verify_asan_link_order=0 LD_PRELOAD=$("$tests/preload.sh") PAT_REPORT=text PAT_FORCE=relay" \
        "$tests/mpirun.sh" 3 "$@" 2>"$dir/err")
    rc=$?
    # Times differ.
    with=$(sed -E 's/, [0-9.]+ s(,.*)?$//' <<<"$with") without=$(sed -E 's/, [0-9.]+ s(,.*)?$//' <<<"$without")
    if [ $rc -ne 0 ] || [ -z "$with" ] || [ "$with" != "$without" ]; then
        printf '%s: exit status %s, "%s", but without "%s"\n' "$1" $rc "$with" "$without" >&2
        cat "$dir/err" >&2
        failed=1
    fi
    if [ "$(grep -c '^pat: ' "$dir/err")" != 1 ] || ! grep -q "^pat: $theirs: .*not $ours" "$dir/err"; then
        printf '%s: not one line with %s and %s:\n' "$1" $theirs "$ours" >&2
        cat "$dir/err" >&2
        failed=1
    fi
    grep -q '^call ' "$dir/err" && { echo "$1: a report" >&2; failed=1; }
}
same "$dir/jacobi" 5000 10 0 0
same "$dir/plain_random" 1 3 25
same "$dir/host" "$dir/libplugin.so" 5000 10 0 0
for program in "${fortran[@]}"; do
    same "$dir/$program"
done
[ $failed = 0 ] && echo "${#fortran[@]} bindings of Fortran, C and a plug-in with $theirs under a file for $ours"
exit $failed
