/*
 * check_value.c — the part of the checker that follows values: what every byte holds in the end, and whether that is what
 * the collective is for. It replays the plans in one order of events, which stands for all of them: check_order.c has
 * proven that no order leads to other values.
 *
 * A value is an expression over contributions: a leaf is what one rank contributes, and REDUCE makes an expression of two.
 * Equal expressions have one number, so two ranks with the same number have joined the same contributions in the same
 * order, and have the same bits. A run is a range of bytes that hold one expression, each for the contributors' byte that is
 * `shift` further on.
 */
#include "check_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    int64_t begin, end;
    int64_t shift; /* byte b of the run is made of the contributors' byte b + shift */
    int expression;
} run;

/* Runs that ascend and do not overlap; equal neighbours are one run, so there are few. */
typedef struct runs {
    run *at;
    int num, cap;
} runs;

typedef struct values {
    const check *c;
    runs *held; /* by every rank, of all its spaces: see pat_check_byte */
    /* What a node reads, and for a REDUCE the left operand and what it makes of both; counted from the range's beginning. */
    runs in, left, joined;
    runs fresh; /* what takes the place of some of the runs that are held */

    /* Expressions by number: the first are the leaves. */
    int (*operands)[2];
    uint64_t *sets; /* set_words each: the contributions */
    size_t set_words;
    int num_expressions, cap_expressions;
    int *bucket; /* open hash by operands; -1 for an empty slot */
    size_t num_buckets;
} values;

/* ---- Expressions ---- */

static const uint64_t *set_of(const values *v, int expression)
{
    return v->sets + (size_t)expression * v->set_words;
}

static bool in_set(const values *v, int expression, int rank)
{
    return set_of(v, expression)[rank / 64] >> (rank % 64) & 1;
}

static size_t bucket_of(const values *v, int left, int right)
{
    const uint64_t key = (uint64_t)left << 32 | (uint32_t)right;
    size_t at = (size_t)((key * 0x9E3779B97F4A7C15u) >> 32) & (v->num_buckets - 1);
    for (int e; (e = v->bucket[at]) >= 0 && (v->operands[e][0] != left || v->operands[e][1] != right);)
        at = (at + 1) & (v->num_buckets - 1);
    return at;
}

/* Room for so many expressions, and a table with at most half its slots taken. */
static int grow_expressions(values *v, int wanted)
{
    size_t buckets = 256;
    while (buckets < 2 * (size_t)wanted)
        buckets *= 2;
    void *operands = realloc(v->operands, (size_t)wanted * sizeof(*v->operands));
    v->operands = operands ? operands : v->operands;
    void *sets = realloc(v->sets, (size_t)wanted * v->set_words * sizeof(*v->sets));
    v->sets = sets ? sets : v->sets;
    int *bucket = malloc(buckets * sizeof(*bucket));
    if (!operands || !sets || !bucket) {
        free(bucket);
        return ENOMEM;
    }
    free(v->bucket);
    v->bucket = memset(bucket, -1, buckets * sizeof(*bucket));
    v->num_buckets = buckets;
    v->cap_expressions = wanted;
    for (int e = v->c->num_ranks; e < v->num_expressions; e++)
        v->bucket[bucket_of(v, v->operands[e][0], v->operands[e][1])] = e;
    return 0;
}

/* The number of op(left, right); -1 when memory is short. */
static int join(values *v, int left, int right)
{
    if (v->num_expressions == v->cap_expressions && grow_expressions(v, 2 * v->cap_expressions))
        return -1;
    const size_t slot = bucket_of(v, left, right);
    if (v->bucket[slot] >= 0)
        return v->bucket[slot];
    const int e = v->num_expressions++;
    v->operands[e][0] = left;
    v->operands[e][1] = right;
    for (size_t w = 0; w < v->set_words; w++)
        v->sets[(size_t)e * v->set_words + w] = set_of(v, left)[w] | set_of(v, right)[w];
    return v->bucket[slot] = e;
}

/* A contribution that both have, or -1. */
static int in_both(const values *v, int left, int right)
{
    for (size_t w = 0; w < v->set_words; w++) {
        const uint64_t both = set_of(v, left)[w] & set_of(v, right)[w];
        if (both)
            return (int)w * 64 + __builtin_ctzll(both);
    }
    return -1;
}

/* ---- Runs ---- */

static int make_room(runs *r, int wanted)
{
    if (wanted <= r->cap)
        return 0;
    const int cap = wanted > 2 * r->cap ? wanted : 2 * r->cap;
    run *at = realloc(r->at, (size_t)cap * sizeof(*at));
    if (!at)
        return ENOMEM;
    r->at = at;
    r->cap = cap;
    return 0;
}

/* One more run behind the last. */
static int append(runs *r, run more)
{
    run *last = r->num > 0 ? &r->at[r->num - 1] : NULL;
    if (more.begin == more.end)
        return 0;
    if (last && last->end == more.begin && last->expression == more.expression && last->shift == more.shift) {
        last->end = more.end;
        return 0;
    }
    if (make_room(r, r->num + 1))
        return ENOMEM;
    r->at[r->num++] = more;
    return 0;
}

/* The first run that ends behind the byte; their number when there is none. */
static int find(const runs *r, int64_t byte)
{
    int low = 0, high = r->num;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (r->at[middle].end > byte)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* What of the run lies within the range, counted from a byte that is now the `origin`-th. */
static run clip(run r, int64_t begin, int64_t end, int64_t origin)
{
    r.begin = (r.begin > begin ? r.begin : begin) - origin;
    r.end = (r.end < end ? r.end : end) - origin;
    r.shift += origin;
    return r;
}

/* Put the `in` runs, which begin at 0, over what was held from `begin` on. */
static int overwrite(values *v, runs *held, int64_t begin, int64_t length, const runs *in)
{
    const int64_t end = begin + length;
    const int first = find(held, begin), low = first > 0 ? first - 1 : 0;
    int high = find(held, end), error = 0;
    high = high < held->num ? high + 1 : high;
    v->fresh.num = 0;
    for (int k = low; k < high && held->at[k].begin < begin && !error; k++)
        error = append(&v->fresh, clip(held->at[k], held->at[k].begin, begin, 0));
    for (int k = 0; k < in->num && !error; k++)
        error = append(&v->fresh, clip(in->at[k], 0, length, -begin));
    for (int k = low; k < high && !error; k++)
        if (held->at[k].end > end)
            error = append(&v->fresh, clip(held->at[k], end, held->at[k].end, 0));
    const int more = v->fresh.num - (high - low);
    if (!error)
        error = make_room(held, held->num + more);
    if (error)
        return error;
    memmove(held->at + high + more, held->at + high, (size_t)(held->num - high) * sizeof(*held->at));
    memcpy(held->at + low, v->fresh.at, (size_t)v->fresh.num * sizeof(*held->at));
    held->num += more;
    return 0;
}

/* ---- Nodes ---- */

/* What the node's rank holds from an address on, counted from there. */
static int fetch(const values *v, int node, pat_address from, runs *out)
{
    const check *c = v->c;
    const int rank = c->owner[node];
    const runs *held = &v->held[rank];
    const int64_t begin = pat_check_byte(c, from), end = begin + pat_check_node(c, node)->length;
    int64_t at = begin;
    int error = 0;
    out->num = 0;
    for (int k = find(held, begin); at < end && !error; k++) {
        if (k == held->num || held->at[k].begin > at)
            return pat_check_refuse(c, rank, node - c->first[rank], "%s need not be here by then",
                                    pat_check_name(c, at));
        error = append(out, clip(held->at[k], begin, end, begin));
        at = held->at[k].end;
    }
    return error;
}

/* What comes in must not be there already. */
static int check_new(const values *v, int node, int64_t begin, const runs *in)
{
    const int rank = v->c->owner[node];
    const runs *held = &v->held[rank];
    for (int i = 0; i < in->num; i++) {
        const run r = clip(in->at[i], 0, in->at[i].end, -begin);
        for (int k = find(held, r.begin); k < held->num && held->at[k].begin < r.end; k++) {
            const run *h = &held->at[k];
            if (h->expression == r.expression && h->shift == r.shift)
                return pat_check_refuse(v->c, rank, node - v->c->first[rank], "%s is delivered a second time",
                                        pat_check_name(v->c, h->begin > r.begin ? h->begin : r.begin));
        }
    }
    return 0;
}

/* What one node has read, the other (or itself) writes. */
static int deliver(values *v, int reader, int writer)
{
    const check *c = v->c;
    const pat_node *n = pat_check_node(c, writer);
    const int64_t begin = pat_check_byte(c, n->to);
    int error = fetch(v, reader, pat_check_node(c, reader)->from, &v->in);
    if (!error)
        error = check_new(v, writer, begin, &v->in);
    return error ? error : overwrite(v, &v->held[c->owner[writer]], begin, n->length, &v->in);
}

/* Both operands of a part of a REDUCE, counted from its beginning; the joined one goes to the right operand's runs. */
static int join_runs(values *v, int node, const run *left, run *right)
{
    const check *c = v->c;
    const int rank = c->owner[node], i = node - c->first[rank];
    const int64_t byte = pat_check_byte(c, pat_check_node(c, node)->to) + right->begin;
    const int twice = in_both(v, left->expression, right->expression);
    if (left->shift != right->shift)
        return pat_check_refuse(c, rank, i, "%s is joined with another byte, %lld and not %lld",
                                pat_check_name(c, byte), (long long)(left->shift + right->begin),
                                (long long)(right->shift + right->begin));
    if (twice >= 0)
        return pat_check_refuse(c, rank, i, "%s has the contribution of rank %d already",
                                pat_check_name(c, byte), twice);
    right->expression = join(v, left->expression, right->expression);
    return right->expression < 0 ? ENOMEM : 0;
}

static int reduce(values *v, int node)
{
    const check *c = v->c;
    const pat_node *n = pat_check_node(c, node);
    runs *right = &v->in;
    v->joined.num = 0;
    int error = fetch(v, node, n->from, &v->left);
    if (!error)
        error = fetch(v, node, n->to, right);
    for (int k = 0; k < right->num && !error; k++)
        for (int l = find(&v->left, right->at[k].begin);
             !error && l < v->left.num && v->left.at[l].begin < right->at[k].end; l++) {
            const run *left = &v->left.at[l];
            run part = clip(right->at[k], left->begin, left->end, 0);
            error = join_runs(v, node, left, &part);
            if (!error)
                error = append(&v->joined, part);
        }
    if (error)
        return error;
    return overwrite(v, &v->held[c->owner[node]], pat_check_byte(c, n->to), n->length, &v->joined);
}

static int replay(values *v)
{
    const check *c = v->c;
    int error = 0;
    for (int q = 0; q < c->num_nodes && !error; q++) {
        const int node = c->queue[q];
        const pat_node *n = pat_check_node(c, node);
        if (n->length == 0)
            continue;
        if (n->kind == PAT_NODE_COPY)
            error = deliver(v, node, node);
        else if (n->kind == PAT_NODE_SEND)
            error = deliver(v, node, c->partner[node]);
        else if (n->kind == PAT_NODE_REDUCE)
            error = reduce(v, node);
    }
    return error;
}

/* ---- The result ---- */

/* Of a run in a rank's result: does it hold the contributions it should? */
static int check_set(const values *v, int rank, const run *r, int64_t byte, int block)
{
    const check *c = v->c;
    if (!c->collective->reduces && r->expression == block)
        return 0;
    for (int giver = 0; giver < c->num_ranks; giver++) {
        const bool is_wanted = c->collective->reduces || giver == block;
        if (in_set(v, r->expression, giver) != is_wanted)
            return pat_check_refuse(c, rank, -1, "rank %d ends %s the contribution of rank %d in %s", rank,
                                    is_wanted ? "without" : "with", giver, pat_check_name(c, byte));
    }
    return 0;
}

static int check_block(const values *v, int rank, int block)
{
    const check *c = v->c;
    const pat_plan *p = &c->plans[rank];
    const runs *held = &v->held[rank];
    const int64_t base = c->base[PAT_SPACE_RESULT], begin = base + pat_plan_block_start(p, block);
    const int64_t end = base + pat_plan_block_start(p, block + 1);
    const int64_t share = pat_collective_share_start(c->collective, p);
    int64_t at = begin;
    int error = 0;
    for (int k = find(held, begin); at < end && !error; k++) {
        const int64_t next = k < held->num && held->at[k].begin < end ? held->at[k].begin : end;
        if (next > at)
            return pat_check_refuse(c, rank, -1, "rank %d never gets bytes %lld to %lld", rank,
                                    (long long)(at - base), (long long)(next - base - 1));
        if (begin + held->at[k].shift != share)
            return pat_check_refuse(
                c, rank, -1, "rank %d ends with byte %lld of a contribution, not %lld, in %s", rank,
                (long long)(at + held->at[k].shift), (long long)(share + at - begin), pat_check_name(c, at));
        error = check_set(v, rank, &held->at[k], at, block);
        at = held->at[k].end;
    }
    return error;
}

/* Every byte of what all get alike must be the same expression as at the root, or at rank 0, which always has it. */
static int check_same(const values *v, int rank)
{
    const check *c = v->c;
    const int first = c->plans[rank].root;
    const runs *held = &v->held[rank], *model = &v->held[first];
    const int64_t begin = c->base[PAT_SPACE_RESULT],
                  end = begin + pat_collective_result_bytes(c->collective, &c->plans[rank]);
    for (int64_t at = begin; at < end;) {
        const run *mine = &held->at[find(held, at)], *other = &model->at[find(model, at)];
        if (mine->expression != other->expression)
            return pat_check_refuse(c, rank, -1, "rank %d joins %s in another order than rank %d", rank,
                                    pat_check_name(c, at), first);
        at = mine->end < other->end ? mine->end : other->end;
    }
    return 0;
}

static int check_result(const values *v)
{
    const check *c = v->c;
    int error = 0;
    for (int r = 0; r < c->num_ranks && !error; r++) {
        if (!pat_collective_gets(c->collective, &c->plans[r]))
            continue;
        for (int b = 0; b < pat_collective_blocks(c->collective, c->num_ranks) && !error; b++)
            error = check_block(v, r, b);
        if (!error && !c->collective->personal)
            error = check_same(v, r);
    }
    return error;
}

/* ---- Together ---- */

/* Every rank holds what it contributes. */
static int begin_values(values *v)
{
    const check *c = v->c;
    v->set_words = (size_t)(c->num_ranks + 63) / 64;
    v->num_expressions = c->num_ranks;
    v->held = calloc((size_t)c->num_ranks, sizeof(*v->held));
    int error = v->held ? grow_expressions(v, 2 * c->num_ranks) : ENOMEM;
    if (error)
        return error;
    memset(v->sets, 0, (size_t)c->num_ranks * v->set_words * sizeof(*v->sets));
    for (int r = 0; r < c->num_ranks && !error; r++) {
        v->sets[(size_t)r * v->set_words + (size_t)(r / 64)] |= (uint64_t)1 << (r % 64);
        error = append(&v->held[r],
                       (run){.end = pat_collective_own_bytes(c->collective, &c->plans[r]), .expression = r});
    }
    return error;
}

int pat_check_values(const check *c)
{
    values v = {.c = c};
    int error = begin_values(&v);
    if (!error)
        error = replay(&v);
    if (!error)
        error = check_result(&v);
    for (int r = 0; v.held && r < c->num_ranks; r++)
        free(v.held[r].at);
    free(v.held);
    free(v.in.at);
    free(v.left.at);
    free(v.joined.at);
    free(v.fresh.at);
    free(v.operands);
    free(v.sets);
    free(v.bucket);
    return error;
}
