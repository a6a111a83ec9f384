# mpi4py_calls.py — collectives as Python programs call them: lower-case methods, which pickle objects and send their lengths
# first, and upper-case ones on bytearray and array.array. On several communicators, with roots that change, unequal blocks and
# blocks of nothing. Prints what came of it: rank 0 a checksum for every part, taken over what all ranks hold.
from array import array
from hashlib import sha256
from mpi4py import MPI

world = MPI.COMM_WORLD


def noise(length, seed):
    """Bytes that differ from place to place, rank to rank and call to call."""
    out, word = bytearray(length), 2 * seed + 1
    for i in range(length):
        word = word * 1103515245 + 12345 & 0x7FFFFFFF
        out[i] = word >> 16 & 0xFF
    return out


class Part:
    """What all ranks hold goes into one checksum, by point-to-point messages only: collectives are what is to be judged."""

    def __init__(self, name):
        self.name, self.digest = name, sha256()

    def take(self, thing):
        self.digest.update(bytes(thing) if isinstance(thing, (bytearray, array, memoryview)) else repr(thing).encode())

    def tell(self):
        if world.rank > 0:
            world.send(self.digest.hexdigest(), 0, 99)
            return
        whole = sha256(self.digest.digest())
        for r in range(1, world.size):
            whole.update(world.recv(source=r, tag=99).encode())
        print(self.name, whole.hexdigest(), flush=True)


def expect(found, wanted, what):
    if found != wanted:
        print("rank %d: %s: wrong" % (world.rank, what), flush=True)


def objects(comm, part):
    """Lower case: any objects, of other lengths on every rank."""
    for i in range(12):
        mine = {"rank": comm.rank, "text": "x" * (37 * i * (comm.rank + 1)), "numbers": list(range(i + comm.rank))}
        every = comm.allgather(mine)
        expect([e["rank"] for e in every], list(range(comm.size)), "allgather")
        root = i % comm.size
        gathered = comm.gather(mine["text"], root)
        expect(gathered is None, comm.rank != root, "gather")
        told = comm.bcast(every if comm.rank == root else None, root)
        expect(told, every, "bcast")
        part.take((every, gathered, told, comm.scatter(every if comm.rank == root else None, root)))


def buffers(comm, part, lengths):
    """Upper case: bytes as they lie there. Length 0 too, in place too."""
    for i, length in enumerate(lengths):
        mine, root = noise(length, 1000 * comm.rank + i), i % comm.size
        all_ = bytearray(length * comm.size)
        comm.Allgather(mine, all_)
        expect(all_[length * comm.rank:length * (comm.rank + 1)], mine, "Allgather")
        place = bytearray(length * comm.size)
        place[length * comm.rank:length * (comm.rank + 1)] = mine
        comm.Allgather(MPI.IN_PLACE, place)
        expect(place, all_, "Allgather in place")
        at_root = bytearray(length * comm.size) if comm.rank == root else None
        comm.Gather(mine, at_root, root)
        expect(at_root, all_ if comm.rank == root else None, "Gather")
        told = bytearray(mine) if comm.rank == root else bytearray(length)
        comm.Bcast(told, root)
        expect(told, all_[length * root:length * (root + 1)], "Bcast")
        counts = [(r + 1) * length // comm.size for r in range(comm.size)]
        uneven = bytearray(sum(counts))
        comm.Allgatherv(mine[:counts[comm.rank]], [uneven, counts, None, MPI.BYTE])
        part.take(all_)
        part.take(at_root or b"")
        part.take(told)
        part.take(uneven)


def strided(comm, part):
    """Columns of a matrix by a derived datatype: what is sent does not lie together."""
    rows = 200
    column = MPI.DOUBLE.Create_vector(rows, 1, comm.size).Create_resized(0, MPI.DOUBLE.extent)
    column.Commit()
    for i in range(10):
        mine = array("d", (comm.rank + 0.25 * k + i for k in range(rows)))
        matrix = array("d", bytes(8 * rows * comm.size))
        comm.Allgather([mine, rows, MPI.DOUBLE], [matrix, 1, column])
        expect(matrix[comm.rank::comm.size], mine, "Allgather of columns")
        part.take(matrix)
        comm.Bcast([matrix, 1, column], i % comm.size)
        part.take(matrix)
    column.Free()


def iterate(comm, part):
    """A Jacobi iteration on a matrix of rows, as solvers do it: all-gather the vector, look at the change, go on."""
    rows = 600  # enough bytes for a plan to be worth while on a slow link
    n, first = rows * comm.size, rows * comm.rank
    vector, steps = array("d", [0.0]) * n, 0
    limits = array("d", [1e-9 if comm.rank == 0 else 0.0])
    comm.Bcast(limits, 0)
    while steps < 200:
        mine = array("d", bytes(8 * rows))
        for k in range(rows):
            i = first + k
            near = (vector[i - 1] if i > 0 else 0.0) + (vector[i + 1] if i + 1 < n else 0.0)
            mine[k] = (1.0 + 0.001 * i + near) / 2.75
        change = max(abs(a - b) for a, b in zip(mine, vector[first:first + rows]))
        comm.Allgather(mine, vector)
        steps += 1
        if max(comm.allgather(change)) < limits[0]:
            break
    part.take(vector)
    if world.rank == 0:
        print("%s: %d steps, sum %.17g" % (part.name, steps, sum(vector)), flush=True)


def run(name, comm):
    for work, arguments in (
        (objects, ()),
        (buffers, ([1, 0, 7, 4096, 65536, 0, 100003, 8],)),
        (buffers, ([513] * 40,)),
        (strided, ()),
        (iterate, ()),
    ):
        part = Part("%s %s" % (name, work.__name__))
        if comm != MPI.COMM_NULL:
            work(comm, part, *arguments)
        part.tell()


run("world", world)
backwards = world.Split(0, -world.rank)
run("backwards", backwards)
most = world.Split(0 if world.rank < world.size - 1 else MPI.UNDEFINED)
run("all but the last", most)
for k in range(5):  # communicators that do not live long
    short = world.Dup()
    part = Part("short-lived %d" % k)
    buffers(short, part, [257, 1024])
    short.Free()
    part.tell()
run("alone", MPI.COMM_SELF)
