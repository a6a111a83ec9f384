/*
 * converge_reckon.c — what allreduce_converge reckons before it takes a way: how long its pieces are, and how long
 * the chain would take. From the job alone, so that every rank comes to the same answer.
 */
#include "converge.h"

/* Room for MPI's own before a message's data, and what a packet must hold beside it to count. */
enum { MESSAGE_HEADERS = 64, LEAST_DATA = 512, MOST_LEVELS = 32 };

/* ---- Pieces ---- */

/*
 * Pieces of the vector where each delays the end by `waits` times vector_ns / C, and costs piece_ns: the sum has its
 * least where C is the root of waits * vector_ns / piece_ns. Pieces that MPI sends without asking first are worth more
 * of them.
 */
static int64_t count_pieces(const pat_job *job, int64_t waits, int64_t least_bytes)
{
    const int64_t most = INT64_C(1) << 60;
    const int64_t ratio = pat_converge_vector_ns(job) / pat_converge_piece_ns(job);
    int64_t pieces = pat_part_root(ratio < most / waits ? waits * ratio : most);
    if (pieces < pat_part_unasked_messages(job))
        pieces = pat_part_unasked_messages(job);
    pieces = pat_part_least(pieces, pat_part_least(PAT_CONVERGE_MOST_PIECES, job->block_bytes / least_bytes));
    return pieces > 1 ? pieces : 1;
}

/* A packet that is not full has headers as long as one that is: so a piece fills one, or more where that is nearer. */
int64_t pat_converge_piece_bytes(const pat_job *job, int64_t waits, int64_t least_bytes)
{
    const int64_t packet = job->packet_bytes;
    int64_t bytes = (job->block_bytes - 1) / count_pieces(job, waits, least_bytes) + 1;
    if (packet >= MESSAGE_HEADERS + LEAST_DATA) {
        const int64_t nearest = (2 * (bytes + MESSAGE_HEADERS) + packet) / (2 * packet);
        const int64_t filled = (nearest > 1 ? nearest : 1) * packet - MESSAGE_HEADERS;
        if (filled <= pat_part_unasked(job))
            bytes = filled;
    }
    return bytes > job->element_bytes ? bytes - bytes % job->element_bytes : job->element_bytes;
}

/* ---- The chain ---- */

/*
 * Where the last calls say when ranks come, a vector's time is as far ahead as they are said to be, however early they
 * are (src/choose/predict.h): so who is just that far ahead is taken to be there for long.
 */
int64_t pat_converge_ahead(const pat_job *job, int rank, int last)
{
    const uint64_t vector = (uint64_t)pat_converge_vector_ns(job), part = vector / PAT_CONVERGE_UNITS + 1;
    const uint64_t most = (uint64_t)job->num_ranks * PAT_CONVERGE_UNITS;
    if (!job->arrival_ns)
        return 0;
    const uint64_t ahead = (uint64_t)job->arrival_ns[last] - (uint64_t)job->arrival_ns[rank];
    if (ahead > 0 && ahead == vector)
        return (int64_t)most;
    return (int64_t)(ahead / part < most ? ahead / part : most);
}

/*
 * When the last of the ranks from `from` to before `to`, which joins them, has all it needs; in UNITS after the last
 * call of all. Of each half that it joins it gets the sum: not before the rank that has that one calls, and not sooner
 * than that one has all it needs. These sums come through one link, so what begins at some time or later takes a
 * vector's time for each.
 */
static int64_t joined_at(const pat_job *job, int from, int to, int last)
{
    const int joiner = pat_converge_last(job, from, to);
    int64_t begins[MOST_LEVELS], all = -pat_converge_ahead(job, joiner, last);
    int num = 0;
    while (to - from > 1) {
        const int middle = pat_converge_middle(from, to);
        const bool is_left = joiner >= middle; /* the other half is */
        const int other_from = is_left ? from : middle, other_to = is_left ? middle : to;
        const int64_t there = joined_at(job, other_from, other_to, last);
        begins[num++] = -pat_converge_ahead(job, pat_converge_last(job, other_from, other_to), last);
        all = there > all ? there : all;
        *(is_left ? &from : &to) = middle;
    }
    for (int i = 0; i < num; i++) {
        int64_t through = begins[i];
        for (int j = 0; j < num; j++)
            through += begins[j] >= begins[i] ? PAT_CONVERGE_UNITS : 0;
        all = through > all ? through : all;
    }
    return all;
}

/*
 * What those who pass the total on have still to send of their own contribution, the one with most of it. The last of
 * all begins the chain, and the one before it ends it and passes nothing on: so it is the second most of the others.
 */
static int64_t left_in_chain(const pat_job *job, int last)
{
    int64_t most = 0, second = 0;
    for (int r = 0; r < job->num_ranks; r++) {
        const int64_t left = r == last ? 0 : pat_converge_left(job, r, last);
        if (left > most) {
            second = most;
            most = left;
        } else if (left > second) {
            second = left;
        }
    }
    return second;
}

/*
 * A vector in pieces, P-2 pieces more and P-1 latencies. Less by up to a third of a vector's time, since fewer messages
 * are under way at once than by shares, which counts where ranks share processors. But never less than it takes
 * until all sums are at the last rank, nor than a rank takes that has its contribution and the total to send; then
 * pieces follow one another at a distance, and few of them wait where they are passed on.
 */
int64_t pat_converge_chain_ns(const pat_job *job)
{
    const int P = job->num_ranks, last = pat_converge_last(job, 0, P);
    const int64_t pieces = pat_converge_chain_pieces(job);
    const int64_t piece = pat_converge_vector_ns(job) / pieces + pat_converge_piece_ns(job);
    const int64_t vector = pieces * piece, latencies = (P - 1) * job->alpha_ns;
    const int64_t straight = vector + (P - 2) * piece + latencies;
    const int64_t in = joined_at(job, 0, P, last), out = PAT_CONVERGE_UNITS + left_in_chain(job, last);
    const int64_t held_up =
        pat_converge_in_units(vector, in > out ? in : out) + (P - 2) * piece / 4 + latencies;
    const int64_t swift = straight - pat_part_least(straight / 4, vector / 3);
    return swift > held_up ? swift : held_up;
}
