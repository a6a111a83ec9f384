/*
 * all_mockups.c — every mock-up, with one thing after the other that fails on one rank: each allocation and each call of MPI that it makes (inject.h). The rank gets an
 * error code with a text, or the call goes on and is right; the others come to an end too, as far as MPI lets them (lost.c); and the scratch has back
 * what was taken of it, so that the same call, with nothing that fails, is right afterwards. With the argument `all` each fails on every rank, else on one of
 * them in turn. Status 50: something of this does not hold.
 */
#include "inject.h"

#include <pat.h>
#include <stdio.h>
#include <string.h>

#include "mock_scratch.h"
#include "mockups.h"

enum { COUNT = 5, MOST_RANKS = 8, INTS = 2 * COUNT * MOST_RANKS };

static int rank, size;
static int errors, borne; /* on this rank: of what has failed here */
static int given[INTS], want[INTS], got[INTS];
static MPI_Datatype gaps;

/* ---- What fails -------------------------------------------------------------------------------------------- */

/* The at-th of what can fail from now on; 0: nothing. One thread makes calls. */
static struct {
    int at, come;
    char what[160];
} plan;

bool inject(const char *file, int line, const char *name)
{
    const char *slash = strrchr(file, '/');
    if (plan.at == 0 || ++plan.come != plan.at)
        return false;
    snprintf(plan.what, sizeof(plan.what), "%s at %s:%d", name, slash ? slash + 1 : file, line);
    return true;
}

static void wrong(const pat_mock *mock, int at, int on, const char *what)
{
    fprintf(stderr, "rank %d: %s by %s, number %d of what can fail on rank %d%s%s: %s\n", rank,
            mock->mpi_name, mock->name, at, on, plan.what[0] ? ": " : "", plan.what, what);
    MPI_Abort(MPI_COMM_WORLD, 50);
}

/* ---- A call ------------------------------------------------------------------------------------------------- */

static void fill(void)
{
    for (int i = 0; i < INTS; i++) {
        given[i] = 1000 * rank + i;
        want[i] = got[i] =
            rank == 1 ? 7 * i : -1; /* rank 1 is the root, and a broadcast's buffer is this one */
    }
}

static pat_mock_call call_of(const pat_mock *mock, int *recv, MPI_Comm comm)
{
    const MPI_Datatype type = mock->kind == PAT_MOCK_VECTOR ? MPI_INT : gaps;
    return (pat_mock_call){.send = given,
                           .send_count = COUNT,
                           .send_type = type,
                           .recv = recv,
                           .recv_count = COUNT,
                           .recv_type = type,
                           .op = MPI_SUM,
                           .root = 1,
                           .comm = comm};
}

static bool is_released(const pat_mock_scratch *scratch)
{
    const pat_mock_pools *pools = scratch->spare;
    return pools && !scratch->idle && pools->data.used == 0 && pools->ints.used == 0;
}

/* Is there a number `at` of what can fail on rank `on`? */
static int try_at(const pat_mock *mock, pat_mock_scratch *scratch, int at, int on)
{
    enum pat_mock_why why;
    MPI_Comm comm;
    int failed;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    fill();
    const pat_mock_call native = call_of(mock, want, comm), call = call_of(mock, got, comm);
    MPI_Barrier(MPI_COMM_WORLD);
    pat_mock_run(pat_mock_find(mock->mpi_name, "default"), &native, scratch, &why);
    plan.at = rank == on ? at : 0;
    plan.come = 0;
    plan.what[0] = '\0';
    const int rc = pat_mock_run(mock, &call, scratch, &why);
    failed = plan.what[0] != '\0';
    plan.at = 0;
    errors += failed && rc != MPI_SUCCESS;
    borne += failed && rc == MPI_SUCCESS;
    if (rc != MPI_SUCCESS) {
        const char *text = PAT_Error_string(rc);
        inject_lost();
        if (!text || strlen(text) <= 10)
            wrong(mock, at, on, "an error without a text");
    }
    MPI_Bcast(&failed, 1, MPI_INT, on, MPI_COMM_WORLD);
    if (rc != MPI_SUCCESS && !failed)
        wrong(mock, at, on, PAT_Error_string(rc));
    if (rc == MPI_SUCCESS && (!failed || rank == on) && why != PAT_MOCK_RAN)
        wrong(mock, at, on, pat_mock_why_text(why));
    if (rc == MPI_SUCCESS && (!failed || rank == on) && memcmp(want, got, sizeof(got)) != 0)
        wrong(mock, at, on, "a wrong result");
    if (!is_released(scratch))
        wrong(mock, at, on, "the scratch has not back what was taken of it");
    MPI_Barrier(MPI_COMM_WORLD);
    inject_found();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
    return failed;
}

/* ---- All of them --------------------------------------------------------------------------------------------- */

static void all_mockups(bool on_all, bool by_nodes, int ranks_per_node)
{
    pat_mock_scratch *scratch = pat_mock_scratch_make(1 << 16, 1 << 12, ranks_per_node);
    for (int i = 0; scratch && pat_mock_at(i); i++) {
        const pat_mock *mock = pat_mock_at(i);
        if (strcmp(mock->name, "default") == 0 || (by_nodes && mock->topology == PAT_MOCK_FLAT))
            continue;
        for (int on = 0; on < (on_all ? size : 1); on++) {
            int at = 1;
            while (try_at(mock, scratch, at, on_all ? on : (i + at) % size))
                at++;
        }
    }
    pat_mock_scratch_free(scratch);
}

int main(int argc, char **argv)
{
    MPI_Datatype one;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(1, MPI_INT, &one);
    MPI_Type_create_resized(one, 0, 2 * sizeof(int), &gaps);
    MPI_Type_commit(&gaps);
    MPI_Type_free(&one);
    const bool on_all = argc > 1 && strcmp(argv[1], "all") == 0;
    /* All ranks on one node, and each on its own: all communicators are of all ranks, or of one (lost.c). */
    all_mockups(on_all, false, 0);
    all_mockups(on_all, true, 1);
    const int mine[2] = {errors, borne};
    int sums[2];
    MPI_Reduce(mine, sums, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Type_free(&gaps);
    MPI_Finalize();
    if (rank == 0)
        printf("%d failures in mock-ups: %d ended with an error and its text, %d were borne\n",
               sums[0] + sums[1], sums[0], sums[1]);
    return 0;
}
