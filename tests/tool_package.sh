#!/usr/bin/env bash
# tool_package.sh — the packages serve a user of Debian: the source package and the binary packages are made from the tarball,
# without network; lintian has nothing to say against them; all of them, those for both MPI libraries, are installed side by
# side below a directory, beside what this machine has; and a program that is built with what was installed runs. Besides:
# the version is the same everywhere, and the tarball is the same however it was made.
set -eu

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# In every place that must name it, the version is the project's.
cd "$PAT_SOURCE"
version=$(sed -n 's/^project(pat VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
[ "$(sed -n 's/^## \([0-9.]*\) - .*/\1/p' CHANGELOG.md | head -n 1)" = "$version" ] || fail "CHANGELOG.md begins with another version than $version"
grep -qx "version: $version" CITATION.cff || fail "CITATION.cff is not of version $version"
grep -q "^pat-mpi ($version-" <(head -n 1 packaging/debian/changelog) || fail "packaging/debian/changelog is not of version $version"
grep -qF "version(\"$version\")" packaging/spack/package.py || fail "packaging/spack/package.py lacks version $version"
! command -v python3 >/dev/null || python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' packaging/spack/package.py ||
    fail "packaging/spack/package.py is not Python"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022

# The same bytes from the sources, from what was unpacked, and with another umask, order of names and time zone.
mkdir "$work/one" "$work/two" "$work/deb"
tarball=$(packaging/tarball --out "$work/one")
[ "$(basename "$tarball")" = "pat-$version.tar.gz" ] || fail "the tarball is called $tarball"
(umask 077 && tar -C "$work/two" -xzf "$tarball")
(umask 007 && LC_ALL=C.UTF-8 TZ=Asia/Kolkata "$work/two/pat-$version/packaging/tarball" --out "$work/two" >/dev/null)
cmp "$tarball" "$work/two/pat-$version.tar.gz" || fail "the tarball made from an unpacked one differs"
rm -rf "$work/two"
echo "ok: $(basename "$tarball") is the same from both"
for script in tarball deb; do
    status=0
    packaging/$script --out /proc/none >"$work/log" 2>&1 || status=$?
    if [ $status -ne 2 ] || ! grep -qF "'/proc/none'" "$work/log"; then
        fail "packaging/$script --out /proc/none ends with $status: $(cat "$work/log")"
    fi
    packaging/$script --help | grep -q '^usage: ' || fail "packaging/$script --help"
done

for command in dh lintian; do
    if ! command -v $command >/dev/null; then
        echo "skipped: no $command here (bench/install-packages packaging)"
        exit 77
    fi
done
if grep -q '^PAT_SANITIZE:STRING=..*' "$PAT_BUILD/CMakeCache.txt"; then
    echo "skipped: built with sanitizers, which the packages are not"
    exit 77
fi
flavours=openmpi,mpich
if ! command -v mpicc.mpich >/dev/null; then
    echo "not made: packages for MPICH"
    flavours=openmpi
fi

# ---- They are made, and there is nothing to say against them ------------------------------------------------------------

DEB_BUILD_OPTIONS="parallel=2 noautodbgsym" DEB_CFLAGS_APPEND="-O1 -g0" packaging/deb --flavours $flavours --out "$work/deb" >"$work/log" 2>&1 ||
    fail "packaging/deb: $(tail -n 40 "$work/log")"
[ -z "$(find "$work/deb" -name '.*' -type d -mindepth 1)" ] || fail "packaging/deb leaves something behind"
cmp "$tarball" "$work/deb/pat-mpi_$version.orig.tar.gz" || fail "the source package is not made from the tarball"
root=()
[ "$(id -u)" -ne 0 ] || root=(--allow-root)
lintian "${root[@]}" --fail-on error,warning "$work"/deb/*.changes >"$work/lintian" 2>&1 || fail "lintian: $(cat "$work/lintian")"
! grep -E '^[EW]:' "$work/lintian" || fail "lintian found these"
while read -r package; do
    case $package,$flavours in *-mpich*,openmpi) continue ;; esac
    compgen -G "$work/deb/${package}_$version-*.deb" >/dev/null || fail "there is no package $package"
done < <(sed -n 's/^Package: //p' packaging/debian/control)
echo "ok: $(find "$work/deb" -name '*.deb' | wc -l) packages, and lintian is content"

for deb in "$work"/deb/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -t | grep -v '/$'
done | sort | uniq -d >"$work/twice"
[ ! -s "$work/twice" ] || fail "more than one package holds $(cat "$work/twice")"
echo "ok: no two packages hold the same file"

# ---- They are installed together, below a directory of their own --------------------------------------------------------

# dpkg is told that all is there that this machine has: it looks at dependencies, and at files that some other package holds.
there=$work/root
mkdir -p "$there/var/lib/dpkg/info" "$there/var/lib/dpkg/updates" "$there/var/lib/dpkg/alternatives" "$there/etc/alternatives" "$there/var/log"
cp /var/lib/dpkg/status "$there/var/lib/dpkg/status"
cp /var/lib/dpkg/info/*.list "$there/var/lib/dpkg/info"
touch "$there/var/lib/dpkg/available"
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(unshare --map-root-user)
if ! "${as_root[@]}" true 2>/dev/null; then
    echo "skipped: neither root nor user namespaces to install packages below a directory"
    exit 77
fi
"${as_root[@]}" env "PATH=$PATH:/usr/sbin:/sbin" dpkg --root="$there" --force-script-chrootless --no-triggers --install "$work"/deb/*.deb \
    >"$work/log" 2>&1 || fail "dpkg --install: $(grep -v '^Selecting\|^Preparing' "$work/log" | tail -n 20)"
chosen=$(readlink "$there/etc/alternatives/pat-run") || fail "no alternative was made for pat-run"
[ "$chosen" = /usr/bin/pat-run.openmpi ] || fail "pat-run is $chosen"
[ "$(readlink "$there/etc/alternatives/pat-info")" = /usr/bin/pat-info.openmpi ] || fail "pat-info does not go with pat-bench"
while read -r link; do
    case $(readlink "$link") in /*) continue ;; esac # alternatives, looked at above
    [ -e "$link" ] || fail "$link leads nowhere"
done < <(find "$there/usr" -type l)
for tool in "$there"/usr/bin/pat-*.*; do
    name=$(basename "$tool")
    [ "$("$tool" --version)" = "${name%.*} $version" ] || fail "$name --version: $("$tool" --version 2>&1)"
    [ -s "$there/usr/share/man/man1/$name.1.gz" ] || fail "$name has no man page"
    [ -L "$there/usr/bin/${name%.*}" ] || fail "there is no alternative for $name"
done
echo "ok: all are installed below $there"

# ---- They are used ------------------------------------------------------------------------------------------------------

libdir=$there/usr/lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH)
mkdir "$work/user"
cat >"$work/user/user.c" <<'CODE'
#include <pat.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int provided, rank, all[2] = {0, 0};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int mine = 40 + rank;
    if (PAT_Init() != MPI_SUCCESS || PAT_UseAlg("ring") != MPI_SUCCESS ||
        PAT_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    PAT_Finalize();
    MPI_Finalize();
    printf("%d and %d\n", all[0], all[1]);
    return 0;
}
CODE
cat >"$work/user/CMakeLists.txt" <<'CODE'
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES C)
find_package(pat CONFIG REQUIRED)
add_executable(shared user.c)
target_link_libraries(shared PRIVATE pat::pat)
add_executable(static user.c)
target_link_libraries(static PRIVATE pat::pat_static)
CODE
export LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# on_two_ranks WITH PROGRAM...: WITH is nothing, or what goes before the launcher.
on_two_ranks() {
    local with=()
    [ -z "$1" ] || with=("$1" --report)
    shift
    local options=()
    [ "$flavour" != openmpi ] || options=(--oversubscribe --bind-to none --mca btl "vader,self" --mca mpi_yield_when_idle 1)
    timeout --kill-after=5 60 "${with[@]}" "mpirun.$flavour" "${options[@]}" -n 2 "$@" 2>&1
}
both() { # WHAT PROGRAM
    local output
    output=$(on_two_ranks "" "$2") || fail "$flavour, $1: $output"
    [ "$(grep -c '^40 and 41$' <<<"$output")" -eq 2 ] || fail "$flavour, $1: $output"
    echo "ok: $flavour, $1"
}
for flavour in ${flavours//,/ }; do
    read -ra flags <<<"$(PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --cflags --libs "pat-$flavour")"
    "${CC:-cc}" -o "$work/user/pc-$flavour" "$work/user/user.c" "${flags[@]}" || fail "$flavour, pkg-config"
    both pkg-config "$work/user/pc-$flavour"
    readelf -d "$work/user/pc-$flavour" | grep -q "NEEDED.*\[libpat-$flavour\.so\.0\]" || fail "$flavour: another library is linked"
    # Of both packages find_package takes the one for the project's MPI library.
    if ! { cmake -S "$work/user" -B "$work/user/$flavour" -DCMAKE_PREFIX_PATH="$there/usr" -DMPI_C_COMPILER="mpicc.$flavour" &&
        cmake --build "$work/user/$flavour"; } >"$work/log" 2>&1; then
        fail "$flavour, find_package: $(cat "$work/log")"
    fi
    readelf -d "$work/user/$flavour/shared" | grep -q "NEEDED.*\[libpat-$flavour\.so\.0\]" ||
        fail "$flavour, find_package takes another library: $(readelf -d "$work/user/$flavour/shared")"
    both "find_package, shared" "$work/user/$flavour/shared"
    both "find_package, static" "$work/user/$flavour/static"
    # A program that knows nothing of the library, under the drop-in, which finds the library by itself.
    "mpicc.$flavour" -o "$work/user/jacobi-$flavour" "$there/usr/share/doc/pat-mpi-doc/examples/jacobi.c" -lm || fail "$flavour, jacobi"
    output=$(unset LD_LIBRARY_PATH && on_two_ranks "$there/usr/bin/pat-run.$flavour" "$work/user/jacobi-$flavour" 1024 12 1 1) || fail "$flavour, pat-run: $output"
    grep -q '^# The whole program' <<<"$output" || fail "$flavour, pat-run: no report: $output"
    echo "ok: $flavour, pat-run"
done
# Without a word from the project the MPI library is the machine's, and so is the package.
machines=$(basename "$(readlink -f "$(command -v mpicc)")")
cmake -S "$work/user" -B "$work/user/any" -DCMAKE_PREFIX_PATH="$there/usr" >"$work/log" 2>&1 || fail "find_package: $(cat "$work/log")"
for flavour in ${flavours//,/ }; do
    if [ "$(basename "$(readlink -f "$(command -v "mpicc.$flavour")")")" = "$machines" ]; then
        grep -q "pat_DIR:PATH=.*/pat-$flavour\$" "$work/user/any/CMakeCache.txt" || fail "find_package without an MPI library: $(grep pat_DIR "$work/user/any/CMakeCache.txt")"
    fi
done
# The plots are found from where the tool is.
[ -s "$there/usr/share/pat/plots/elapsed.gp" ] || fail "the templates are not installed"
echo "the packages can be made, installed and used"
