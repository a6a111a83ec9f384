# late.py [CALLS] — at each place another rank is late by 60 ms. Prints for each place its line, the MPI function, who is late there and by how much.
import inspect
import sys
from time import monotonic, sleep

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
calls = int(sys.argv[1]) if len(sys.argv) > 1 else 4
places = {}


def late(who, call):
    line = inspect.currentframe().f_back.f_lineno
    start = monotonic()
    if rank == who % size:
        sleep(0.06)
    place = places.setdefault(line, [call, who % size, 0.0])
    place[2] += monotonic() - start if rank == place[1] else 0


own, everything, total = bytearray(64), bytearray(64 * size), bytearray(8)
for turn in range(calls):
    late(1, "MPI_Allgather"), world.Allgather(own, everything)
    late(2, "MPI_Allreduce"), world.Allreduce([own[:8], MPI.INT64_T], [total, MPI.INT64_T])
    late(0, "MPI_Bcast"), world.Bcast(own)
    world.Barrier()
    late(3, "MPI_Barrier"), world.Barrier()
    late(1, "MPI_Gather"), world.Gather(own, everything if rank == 0 else None)
    world.Barrier()
    late(2, "MPI_Wait"), world.Iallgather(own, everything).Wait()
    world.Barrier()
for line, (call, who, seconds) in places.items():
    seconds = world.allreduce(seconds, MPI.MAX)
    if rank == 0:
        print("%d %s %d %.3f" % (line, call, who, 1e3 * seconds / calls))
