# The recipe by which Spack (1.0 or later) builds PAT: copy it into a repository of your own (spack repo create), as
# packages/pat/package.py. PAT is not published at an address that Spack could fetch from: make the tarball by packaging/tarball
# in the directory in which Spack is run, and install with --no-checksum, since its checksum cannot stand in a file that is in it.

import os

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Pat(CMakePackage):
    """Arrival-aware collectives on top of MPI: all-gathers that move the data of early ranks while late ones still compute,
    a drop-in for unchanged programs, and tools that measure them."""

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
    depends_on("elfutils")
    depends_on("gsl", when="+tools")
    # pat-run takes its command line apart with getopt, pat-lab raises network namespaces.
    depends_on("util-linux", type="run")

    def cmake_args(self):
        return [
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define_from_variant("PAT_BENCH", "tools"),
            self.define("PAT_TESTS", False),
        ]
