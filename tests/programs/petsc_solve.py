# petsc_solve.py [N] [SOLVES] — Poisson's equation on N x N points by PETSc's pipelined conjugate gradients, whose sums are summed up by MPI_Iallreduce; after each
# solve all ranks get the whole solution, by MPI_Iallgather. Prints what came of it, from rank 0: for every solve the steps, the norm of the residual and a checksum
# over what all ranks hold; and at the end how long it took.
import sys
from hashlib import sha256
from time import monotonic

import petsc4py

petsc4py.init(["petsc_solve"])
from petsc4py import PETSc

size = int(sys.argv[1]) if len(sys.argv) > 1 else 96
solves = int(sys.argv[2]) if len(sys.argv) > 2 else 4
world = PETSc.COMM_WORLD

matrix = PETSc.Mat().createAIJ([size * size, size * size], nnz=5, comm=world)
first, end = matrix.getOwnershipRange()
for row in range(first, end):
    y, x = divmod(row, size)
    matrix[row, row] = 4.0
    for there, inside in ((row - 1, x > 0), (row + 1, x < size - 1), (row - size, y > 0), (row + size, y < size - 1)):
        if inside:
            matrix[row, there] = -1.0
matrix.assemble()

solver = PETSc.KSP().create(world)
solver.setOperators(matrix)
solver.setType("pipecg")
solver.getPC().setType("jacobi")
solver.setTolerances(rtol=1e-8)
right, solution = matrix.createVecs()
to_all, everywhere = PETSc.Scatter.toAll(solution)

begin = monotonic()
for turn in range(solves):
    for row in range(first, end):
        right[row] = 1.0 + (row * (turn + 1)) % 7
    right.assemble()
    solver.solve(right, solution)
    to_all.scatter(solution, everywhere)
    held = sha256(everywhere.getArray().tobytes()).digest()
    # What a rank holds becomes a number that a double has exactly, and all of them are added up.
    all_held = PETSc.Vec().createMPI((1, world.size), comm=world)
    all_held[world.rank] = float(int.from_bytes(held[:5], "big"))
    all_held.assemble()
    if world.rank == 0:
        print("solve %d: %d steps, converged %d, residual %.17g," % (turn, solver.getIterationNumber(), solver.getConvergedReason(), solver.getResidualNorm()), end=" ")
    sum_held = all_held.sum()
    if world.rank == 0:
        print("checksum %.0f" % sum_held, flush=True)
if world.rank == 0:
    print("seconds %.3f" % (monotonic() - begin), flush=True)
