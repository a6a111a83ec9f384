#!/usr/bin/env bash
# tool_install.sh — the installed package serves a stranger: programs outside the tree, in C and C++, found by
# find_package and by pkg-config, shared and static, run on two ranks. The tree is moved before use, so that an
# absolute path left in it would show. A project that takes the source tree in by add_subdirectory gets the library and
# nothing else: no tests, no tools, no compiler flags, no build type.
set -eu

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# Programs that link an instrumented library would need the same instrumentation.
if grep -q '^PAT_SANITIZE:STRING=..*' "$PAT_BUILD/CMakeCache.txt"; then
    echo "skipped: built with sanitizers"
    exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$PAT_BUILD" --prefix "$work/first" >"$work/log" || fail "cmake --install: $(cat "$work/log")"
mv "$work/first" "$work/prefix"
prefix=$work/prefix

mkdir "$work/user"
cat >"$work/user/user.c" <<'CODE'
#include <pat.h>
#include <stdio.h>

#define COUNT 1000

int main(int argc, char **argv)
{
    int provided, rank, size, major, minor, patch, wrong = 0;
    static int mine[COUNT], all[2 * COUNT];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (PAT_Init() != MPI_SUCCESS || PAT_UseAlg("ring") != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < COUNT; i++)
        mine[i] = 10000 * (rank + 1) + i;
    if (PAT_Allgather(mine, COUNT, MPI_INT, all, COUNT, MPI_INT, MPI_COMM_WORLD) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < COUNT; i++)
            wrong += all[r * COUNT + i] != 10000 * (r + 1) + i;
    PAT_Finalize();
    MPI_Finalize();
    PAT_Get_version(&major, &minor, &patch);
    if (PAT_VERSION != major * 10000 + minor * 100 + patch)
        wrong++;
    if (wrong == 0)
        printf("rank %d: right, version %d.%d.%d\n", rank, major, minor, patch);
    return wrong != 0;
}
CODE
cp "$work/user/user.c" "$work/user/user.cc"
cat >"$work/user/CMakeLists.txt" <<'CODE'
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES C CXX)
find_package(pat 0.2 CONFIG REQUIRED)
add_executable(user_c user.c)
target_link_libraries(user_c PRIVATE pat::pat)
add_executable(user_cxx user.cc)
target_link_libraries(user_cxx PRIVATE pat::pat)
add_executable(user_static user.c)
target_link_libraries(user_static PRIVATE pat::pat_static)
CODE

# run WHAT PROGRAM: both ranks must report.
run() {
    local version output
    version=$(sed -n 's/^project(pat VERSION \([0-9.]*\).*/\1/p' "$PAT_SOURCE/CMakeLists.txt")
    output=$(LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} PAT_TEST_TIMEOUT=60 \
        "$PAT_SOURCE/tests/mpirun.sh" 2 "$2" 2>&1) || fail "$1: $output"
    [ "$(grep -c "right, version $version\$" <<<"$output")" -eq 2 ] || fail "$1: $output"
    echo "ok: $1"
}

libdir=$(dirname "$(find "$prefix" -name libpat.so)")
[ -e "$libdir/libpat.so" ] || fail "no libpat.so was installed"

mpicc=$(sed -n 's/^MPI_C_COMPILER:[A-Z]*=//p' "$PAT_BUILD/CMakeCache.txt")
if ! { cmake -S "$work/user" -B "$work/user/build" -DCMAKE_PREFIX_PATH="$prefix" &&
    cmake --build "$work/user/build"; } >"$work/log" 2>&1; then
    fail "user of find_package: $(cat "$work/log")"
fi
run "find_package, C, shared" "$work/user/build/user_c"
run "find_package, C++, shared" "$work/user/build/user_cxx"
run "find_package, C, static" "$work/user/build/user_static"
# A project in C++ alone, which also asks for the package from within a function.
mkdir "$work/cxx"
cp "$work/user/user.cc" "$work/cxx"
cat >"$work/cxx/CMakeLists.txt" <<'CODE'
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES CXX)
function(add_program name)
  find_package(pat 0.2 CONFIG REQUIRED)
  add_executable(${name} user.cc)
  target_link_libraries(${name} PRIVATE pat::pat)
endfunction()
if(FROM_FUNCTION)
  add_program(user_cxx)
else()
  find_package(pat 0.2 CONFIG REQUIRED)
  add_executable(user_cxx user.cc)
  target_link_libraries(user_cxx PRIVATE pat::pat)
  add_executable(user_static user.cc)
  target_link_libraries(user_static PRIVATE pat::pat_static)
endif()
CODE
for from_function in OFF ON; do
    if ! { cmake -S "$work/cxx" -B "$work/cxx/$from_function" -DCMAKE_PREFIX_PATH="$prefix" -DFROM_FUNCTION=$from_function &&
        cmake --build "$work/cxx/$from_function"; } >"$work/log" 2>&1; then
        fail "project in C++ alone, from a function: $from_function: $(cat "$work/log")"
    fi
    run "find_package, project in C++ alone, from a function: $from_function" "$work/cxx/$from_function/user_cxx"
done
run "find_package, project in C++ alone, static" "$work/cxx/OFF/user_static"

# The source tree as a part of another project, shared and static, used from the directory above.
mkdir "$work/part"
cp "$work/user/user.c" "$work/part"
ln -s "$PAT_SOURCE" "$work/part/pat"
cat >"$work/part/CMakeLists.txt" <<'CODE'
cmake_minimum_required(VERSION 3.22)
project(part LANGUAGES C)
add_subdirectory(pat)
add_executable(user_part user.c)
target_link_libraries(user_part PRIVATE pat::pat)
add_executable(user_part_static user.c)
target_link_libraries(user_part_static PRIVATE pat::pat_static)
file(WRITE ${CMAKE_BINARY_DIR}/build-type "[${CMAKE_BUILD_TYPE}]")
CODE
if ! { cmake -S "$work/part" -B "$work/part/build" -DMPI_C_COMPILER="$mpicc" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON &&
    cmake --build "$work/part/build" --parallel 2; } >"$work/log" 2>&1; then
    fail "add_subdirectory: $(tail -n 40 "$work/log")"
fi
run "add_subdirectory, shared" "$work/part/build/user_part"
run "add_subdirectory, static" "$work/part/build/user_part_static"
[ "$(cat "$work/part/build/build-type")" = "[]" ] || fail "add_subdirectory sets the build type of the project"
grep '"command".*part/user\.c' "$work/part/build/compile_commands.json" >"$work/commands"
[ -s "$work/commands" ] || fail "the compile commands of user.c were not found"
! grep -E -e '-W|_GNU_SOURCE|-std=|-fsanitize' "$work/commands" || fail "add_subdirectory changes how the project is compiled"
built=$(find "$work/part/build/pat" -type f \( -name 'pat-*' -o -name 'unit_*' -o -name 'mpi_*' \) -perm -u+x)
[ -z "$built" ] || fail "add_subdirectory builds tools and tests: $built"
cmake --install "$work/part/build" --prefix "$work/part/prefix" >"$work/log" || fail "install of a project: $(cat "$work/log")"
[ ! -e "$work/part/prefix" ] || fail "a project installs what it takes in: $(find "$work/part/prefix" | head -n 5)"
echo "ok: add_subdirectory leaves the project as it is"

# Another MPI library's compiler is refused, if there is one here.
for other in mpicc.openmpi mpicc.mpich; do
    [ "$(readlink -f "$(command -v $other || echo "$mpicc")")" != "$(readlink -f "$(command -v "$mpicc")")" ] || continue
    if cmake -S "$work/user" -B "$work/user/other" -DCMAKE_PREFIX_PATH="$prefix" -DMPI_C_COMPILER=$other >"$work/log" 2>&1; then
        fail "find_package with $other goes on"
    fi
    grep -q 'was built with the MPI library' "$work/log" || fail "find_package with $other: $(cat "$work/log")"
    echo "ok: find_package refuses $other"
done
readelf -d "$work/user/build/user_c" | grep -q 'NEEDED.*libpat\.so\.0' || fail "pat::pat is not the shared library"

export PKG_CONFIG_PATH=$libdir/pkgconfig
read -ra flags <<<"$(pkg-config --cflags --libs pat)"
compilers=("${CC:-cc}" "${CXX:-c++}")
# Without a .pc file of the MPI library its compiler wrappers carry the flags.
[ -n "$(pkg-config --print-requires pat)" ] || compilers=("$mpicc" "${mpicc/mpicc/mpicxx}")
"${compilers[0]}" -o "$work/user_pc_c" "$work/user/user.c" "${flags[@]}" || fail "pkg-config user in C"
"${compilers[1]}" -Wall -Wextra -Werror -o "$work/user_pc_cxx" "$work/user/user.cc" "${flags[@]}" ||
    fail "pkg-config user in C++"
run "pkg-config, C, shared" "$work/user_pc_c"
run "pkg-config, C++, shared" "$work/user_pc_cxx"

# One MPI library and no other, however the program was linked; that of the build.
mpi=$(sed -n 's/^PAT_MPI_LIBRARY:[A-Z]*=//p' "$PAT_BUILD/CMakeCache.txt")
for program in "$work/user/build/user_c" "$work/user/build/user_static" "$work/user_pc_c" "$work/user_pc_cxx"; do
    found=$(LD_LIBRARY_PATH=$libdir ldd "$program" | awk '$1 ~ /^libmpi(ch)?\.so/ { print $1 }')
    [ "$found" = "$mpi" ] || fail "$(basename "$program") is linked with '$found', not $mpi"
done
echo "ok: linked with $mpi alone"

# What the preloaded file calls to get at the library is no program's business.
foreign=$(nm -D --defined-only "$libdir/libpat.so" | awk '$3 !~ /^PAT_/ && $3 != "pat_gate_enter_library" { print $3 }')
[ -z "$foreign" ] || fail "libpat.so exports more than PAT_*: $foreign"
declared=$(sed -n 's/^PAT_PUBLIC .*[ *]\(PAT_[A-Za-z_]*\)(.*/\1/p' "$prefix/include/pat.h" | sort)
exported=$(nm -D --defined-only "$libdir/libpat.so" | awk '$3 ~ /^PAT_/ { print $3 }' | sort)
[ "$declared" = "$exported" ] || fail "pat.h and libpat.so differ: $(diff <(echo "$declared") <(echo "$exported"))"
echo "ok: libpat.so exports what pat.h declares, $(wc -l <<<"$exported") functions"

if grep -rlF -e "$PAT_BUILD" -e "$PAT_SOURCE" -e "$work/first" "$prefix" --include='*.cmake' --include='*.pc' --include='*.h'; then
    fail "these name a directory of the build machine"
fi
pages=$(find "$PAT_BUILD/man" -name '*.1') # none without help2man
for tool in "$prefix"/bin/*; do
    [ -e "$tool" ] || continue
    name=$(basename "$tool")
    "$tool" --help >"$work/log" 2>&1 || fail "installed $name --help: $(cat "$work/log")"
    [ "$("$tool" --version 2>&1)" = "$name $(sed -n 's/^project(pat VERSION \([0-9.]*\).*/\1/p' "$PAT_SOURCE/CMakeLists.txt")" ] ||
        fail "installed $name --version: $("$tool" --version 2>&1)"
    if [ -n "$pages" ] || [ ! -e "$PAT_BUILD/bench/$name" ]; then
        [ -s "$prefix/share/man/man1/$name.1" ] || fail "installed $name has no man page"
    fi
    echo "ok: $name --help, --version, man page"
done
# Every tool that the README names by its name is there.
if [ -e "$PAT_BUILD/bench/pat-bench" ]; then
    while read -r name; do
        [ -x "$prefix/bin/$name" ] || fail "the README names $name, which is not installed"
    done < <(tr '`' '\n' <"$PAT_SOURCE/README.md" | grep -xE '(pat|dropin)-[a-z-]+' | sort -u)
fi
for file in LICENSE README.md docs/settings.md docs/dropin.md docs/pictures/growth.svg; do
    [ -s "$prefix/share/doc/pat/$file" ] || fail "$file is not installed"
done
for function in $exported; do
    [ -s "$prefix/share/man/man3/$function.3" ] || fail "$function has no man page"
done
if command -v man >/dev/null; then
    MANPATH=$prefix/share/man man 3 PAT_Wait >"$work/log" 2>&1 || fail "man PAT_Wait: $(cat "$work/log")"
    grep -q PAT_Request_free "$work/log" || fail "man PAT_Wait shows another page: $(cat "$work/log")"
fi
if [ -e "$prefix/bin/pat-lab" ]; then
    status=0
    "$prefix/bin/pat-lab" run -n 2 --timeout 60 -- hostname >"$work/log" 2>&1 || status=$?
    if [ $status -eq 77 ]; then
        echo "not tried: pat-lab run, namespaces are not allowed here"
    else
        if [ $status -ne 0 ] || [ "$(grep -c -- '-n[12]$' "$work/log")" -ne 2 ]; then
            fail "pat-lab run: $(cat "$work/log")"
        fi
        echo "ok: pat-lab run"
    fi
fi
