# The recipe by which Spack builds PAT: copy it into a repository of your own (spack repo create), as packages/pat/package.py.
# PAT is not published at an address that Spack could fetch from: make the tarball with packaging/tarball in the directory in
# which Spack is run, and install with --no-checksum, since the file's checksum cannot stand in a file that is in it.

import os

from spack.package import *


class Pat(CMakePackage):
    """Arrival-aware collectives on top of MPI: all-gathers whose early ranks' data moves while late ranks still compute, a
    drop-in for unchanged programs, and tools that measure them."""

    url = f"file://{os.getcwd()}/pat-0.2.0.tar.gz"
    manual_download = True

    license("BSD-3-Clause")

    version("0.2.0")

    variant("tools", default=True, description="Build the benchmark and the other tools")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("help2man", type="build", when="+tools")
    depends_on("mpi")
    depends_on("hwloc")
    depends_on("jansson")
    depends_on("gsl", when="+tools")
    depends_on("cmocka", type="test")
    # pat-run takes the words of its command line apart with getopt; pat-lab raises network namespaces.
    depends_on("util-linux", type="run")

    def cmake_args(self):
        return [
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define_from_variant("PAT_BENCH", "tools"),
            self.define("PAT_TESTS", self.run_tests),
        ]

    # The suite itself runs ranks, raises networks and takes long.
    def check(self):
        with working_dir(self.build_directory):
            ctest("--label-regex", "unit", "--output-on-failure")
