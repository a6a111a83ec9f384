/*
 * mpi_trees.c — our trees against those of the MPI library that is installed, when it is an Open MPI that shows its
 * builders: every rank's parent and children, for 2 to 16 ranks and every root.
 *
 * ranks: 16
 */
#include "mpi_common.h"

#include <dlfcn.h>

#include "tree.h"

/* What Open MPI 4 returns; only this much of it. */
typedef struct their_tree {
    int32_t root, fanout, binomial, parent, num_children, child[32];
} their_tree;

typedef their_tree *(*by_root)(MPI_Comm comm, int root);
typedef their_tree *(*by_fanout)(int fanout, MPI_Comm comm, int root);

static struct {
    by_fanout chain, tree;
    by_root binomial, in_order;
    int (*destroy)(their_tree **tree);
} theirs;

static bool find_builders(void)
{
    /* A function pointer cannot be had from dlsym but by way of its bytes. */
    const struct {
        const char *name;
        void *where;
    } list[] = {{"ompi_coll_base_topo_build_chain", &theirs.chain},
                {"ompi_coll_base_topo_build_tree", &theirs.tree},
                {"ompi_coll_base_topo_build_bmtree", &theirs.binomial},
                {"ompi_coll_base_topo_build_in_order_bmtree", &theirs.in_order},
                {"ompi_coll_base_topo_destroy_tree", &theirs.destroy}};
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    if (!strstr(version, "Open MPI v4."))
        return false;
    for (int i = 0; i < (int)(sizeof(list) / sizeof(list[0])); i++) {
        void *symbol = dlsym(RTLD_DEFAULT, list[i].name);
        if (!symbol)
            return false;
        memcpy(list[i].where, &symbol, sizeof(symbol));
    }
    return true;
}

static void compare(const char *what, pat_tree tree, MPI_Comm comm, int root, their_tree *t)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    tree.num_ranks = size;
    int mine = (rank - root + size) % size, count = pat_tree_num_children(&tree, mine);
    test_at("%s, %d ranks, root %d, rank %d", what, size, root, rank);
    if (!t) {
        test_fail("the MPI library built no tree");
        return;
    }
    if (mine > 0)
        expect_int("parent", t->parent, (pat_tree_parent(&tree, mine) + root) % size);
    expect_int("number of children", t->num_children, count);
    for (int i = 0; i < count && i < t->num_children; i++)
        expect_int("child", t->child[i], (pat_tree_child(&tree, mine, i) + root) % size);
    theirs.destroy(&t);
}

static void compare_all(MPI_Comm comm, int root)
{
    for (int fanout = 1; fanout <= 8; fanout++)
        compare("chain", (pat_tree){.kind = PAT_TREE_CHAIN, .fanout = fanout}, comm, root,
                theirs.chain(fanout, comm, root));
    compare("binary", (pat_tree){.kind = PAT_TREE_BINARY}, comm, root, theirs.tree(2, comm, root));
    compare("binomial", (pat_tree){.kind = PAT_TREE_BINOMIAL}, comm, root, theirs.binomial(comm, root));
    compare("in-order binomial", (pat_tree){.kind = PAT_TREE_IN_ORDER}, comm, root,
            theirs.in_order(comm, root));
}

int main(int argc, char **argv)
{
    test_mpi_init(&argc, &argv, MPI_THREAD_SINGLE);
    if (!find_builders()) {
        MPI_Finalize();
        return 77;
    }
    for (int size = 2; size <= test.size; size++) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, test.rank < size ? 0 : MPI_UNDEFINED, 0, &comm);
        for (int root = 0; comm != MPI_COMM_NULL && root < size; root++)
            compare_all(comm, root);
        if (comm != MPI_COMM_NULL)
            MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return test.failures ? 1 : 0;
}
