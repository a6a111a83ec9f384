# spikes.py — a network for the NEURON simulator (https://neuron.yale.edu; Debian: python3-neuron), whose ranks exchange spikes by
# one MPI_Allgather in every 10 ms of the network's time. Each rank's part of the work takes a time of its own: it waits for it as for
# an accelerator, `base` milliseconds and up to `spread` more, drawn anew in every interval.
#
#     mpirun -n 16 /usr/bin/python3 spikes.py 13000 40 20 300   # room for spikes of a rank, exchanges, base, spread
#
# Prints a checksum of what every rank has received and times; the first 10 exchanges are left out of the time per exchange.
import hashlib
import sys
import time

from neuron import h

WARM = 10
INTERVAL = 10.0  # ms, the network's least delay

room, exchanges, base, spread = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
h.nrnmpi_init()
pc = h.ParallelContext()
rank, size = int(pc.id()), int(pc.nhost())
began = time.time()

cells = room // 16
keep = []
for i in range(cells):
    gid = rank * cells + i
    cell = h.NetStim()
    cell.interval, cell.number, cell.noise, cell.start = INTERVAL, 1e9, 0, 1 + (gid * 7 % 80) / 10
    pc.set_gid2node(gid, rank)
    pc.cell(gid, h.NetCon(cell, None))
    keep.append(cell)
# Some of the other ranks' cells have a target here, which fires at each spike.
times, ids = h.Vector(), h.Vector()
for k in range(4 * size):
    source = k * 31 % (cells * size)
    target = h.IntFire1()
    target.refrac = 0.1
    wire = pc.gid_connect(source, target)
    wire.weight[0], wire.delay = 2, INTERVAL
    heard = h.NetCon(target, None)
    heard.record(times, ids, k)
    keep += [target, wire, heard]
cvode = h.CVode()
pc.spike_compress(room, 0)
pc.set_maxstep(INTERVAL)
pc.step_wait(-1)  # no MPI_Barrier before each exchange, which would be there for the simulator's own statistics


def drawn(k):
    x = (k * 1009 + rank) * 0x9E3779B97F4A7C15 & (1 << 64) - 1
    x = (x ^ x >> 31) * 0x7FB5D329728EA185 & (1 << 64) - 1
    return (x ^ x >> 33) % 10000 / 10000


def work(k):
    time.sleep((base + spread * drawn(k)) / 1e3)
    if k + 1 < exchanges:
        cvode.event(h.t + INTERVAL, (work, k + 1))


h.dt = 0.1
h.finitialize()
cvode.event(INTERVAL / 2, (work, 0))
pc.psolve(min(WARM, exchanges) * INTERVAL)
warm = pc.wait_time()  # what the simulator itself counts as exchanging; it is told after a psolve only
pc.psolve(exchanges * INTERVAL)
whole, exchange = time.time() - began, pc.wait_time() - warm
digest = hashlib.sha256(repr([(t, int(i)) for t, i in zip(times, ids)]).encode()).hexdigest()
all_digests = pc.py_allgather(digest)
mean = pc.allreduce(exchange, 1) / size / max(1, exchanges - WARM)
whole = pc.allreduce(whole, 2)
if rank == 0:
    total = hashlib.sha256("".join(all_digests).encode()).hexdigest()[:16]
    print("checksum %s, %.3f s, MPI_Allgather %.2f ms a call; %d spikes" % (total, whole, 1e3 * mean, len(times)))
pc.barrier()
h.quit()
