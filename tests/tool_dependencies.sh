#!/usr/bin/env bash
# tool_dependencies.sh — where something is missing that PAT needs, CMake names all of it at once, each with its Debian
# package and, where there is one, the switch that does without it; and what the README and the packages' list say of
# dependencies is what CMake asks for.
set -eu

broken=0
complain() {
    echo "FAIL: $*" >&2
    broken=1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# configure ARG...: the output in $work/out, its lines joined; the status.
configure() {
    local status=0
    rm -rf "$work/build"
    cmake -S "$PAT_SOURCE" -B "$work/build" "$@" >"$work/log" 2>&1 || status=$?
    tr -s ' \n' ' ' <"$work/log" >"$work/out"
    return $status
}
names() { # WHAT TEXT...: the last configuration names each
    local what=$1 text
    shift
    for text in "$@"; do
        grep -qF -- "$text" "$work/out" || complain "$what: '$text' is not named: $(cat "$work/log")"
    done
}
silent_on() { # WHAT TEXT...
    local what=$1 text
    shift
    for text in "$@"; do
        ! grep -qF -- "$text" "$work/out" || complain "$what: '$text' is named: $(cat "$work/log")"
    done
}

# Without any .pc file: all libraries that are found by pkg-config are missing.
export PKG_CONFIG_LIBDIR=$work/nothing
mkdir "$work/nothing"
! configure || complain "CMake goes on without hwloc, jansson, GSL and cmocka"
names "no libraries" libhwloc-dev libjansson-dev libgsl-dev -DPAT_BENCH=OFF libcmocka-dev -DPAT_TESTS=OFF
silent_on "no libraries" libopenmpi-dev
! configure -DPAT_BENCH=OFF -DPAT_TESTS=OFF || complain "CMake goes on without hwloc and jansson"
names "no libraries, no tools and tests" libhwloc-dev libjansson-dev
silent_on "no libraries, no tools and tests" libgsl-dev libcmocka-dev

# With those of the library alone: the switches do without the rest.
for directory in $(env -u PKG_CONFIG_LIBDIR pkg-config --variable pc_path pkg-config | tr : ' '); do
    find "$directory" \( -name 'gsl.pc' -o -name 'cmocka.pc' \) -prune -o -name '*.pc' -exec ln -sf -t "$work/nothing" {} + 2>/dev/null || true
done
! configure || complain "CMake goes on without GSL and cmocka"
names "no GSL, no cmocka" libgsl-dev -DPAT_BENCH=OFF libcmocka-dev -DPAT_TESTS=OFF
silent_on "no GSL, no cmocka" libhwloc-dev libjansson-dev
configure -DPAT_BENCH=OFF -DPAT_TESTS=OFF || complain "-DPAT_BENCH=OFF -DPAT_TESTS=OFF does not do without GSL and cmocka: $(cat "$work/log")"
unset PKG_CONFIG_LIBDIR

for package in MPI:libopenmpi-dev PkgConfig:pkg-config; do
    ! configure -DCMAKE_DISABLE_FIND_PACKAGE_"${package%%:*}"=ON || complain "CMake goes on without ${package%%:*}"
    names "no ${package%%:*}" "${package#*:}"
done

# Without help2man everything is built but the tools' man pages.
configure -DPAT_HELP2MAN=OFF || complain "CMake does not do without help2man: $(cat "$work/log")"
names "no help2man" "No help2man (Debian package help2man)"

# What is asked for here is what the list of packages installs.
while read -r package; do
    case $package in libmpich-dev | libc6-dev) continue ;; esac # the other MPI library; part of build-essential
    grep -qE "^[a-z]+=\(.*\b$package\b" "$PAT_SOURCE/bench/install-packages" || complain "bench/install-packages lacks $package"
done < <(grep -ohE '\b(lib[a-z0-9-]+-dev|pkg-config|help2man)\b' "$PAT_SOURCE"/CMakeLists.txt "$PAT_SOURCE"/cmake/*.cmake | sort -u)
# The oldest CMake that is asked for is the one that the README states.
least=$(sed -n 's/^cmake_minimum_required(VERSION \([0-9.]*\)).*/\1/p' "$PAT_SOURCE/CMakeLists.txt")
tr '\n' ' ' <"$PAT_SOURCE/README.md" | grep -qF "CMake $least" || complain "README.md does not say CMake $least"
[ $broken -eq 0 ] || exit 1
echo "what is missing is named"
