# deep.py — two lines call a function that calls MPI, so that there is one place, or two.
from mpi4py import MPI

world, total = MPI.COMM_WORLD, bytearray(8)


def library():
    world.Allreduce(MPI.IN_PLACE, total)


for turn in range(3):
    library()

library()
