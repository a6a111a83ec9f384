/*
 * log_records.c — see log_reader.h: the records of one file. None is believed before it has been looked at.
 */
#include <stdlib.h>
#include <string.h>

#include "log_reader.h"

/* More than that no file of ours has; a number beyond is nonsense. */
enum { MOST_NUMBERS = 1 << 20, MOST_TEXT = 4096 };

/* Note that number `from` is ours number `to`. */
static bool note_number(int **list, int *num, int from, int to)
{
    if (from >= *num) {
        int room = *num ? *num : 16;
        while (room <= from)
            room *= 2;
        int *more = realloc(*list, (size_t)room * sizeof(*more));
        if (!more)
            return false;
        for (int i = *num; i < room; i++)
            more[i] = -1;
        *list = more;
        *num = room;
    }
    (*list)[from] = to;
    return true;
}

/* The text in the records after number `at`, ended by a '\0' that is not in it. Returns false where it is not whole. */
static bool take_text(const pat_log_file *f, int64_t at, int length, char text[MOST_TEXT + 1])
{
    if (length < 1 || length > MOST_TEXT)
        return false;
    for (int done = 0; done < length; done += PAT_LOG_TEXT_BYTES) {
        if (++at >= f->num || pat_log_kind(&f->records[at]) != PAT_LOG_TEXT)
            return false;
        const int some = length - done < PAT_LOG_TEXT_BYTES ? length - done : PAT_LOG_TEXT_BYTES;
        memcpy(text + done, f->records[at].text.text, (size_t)some);
    }
    text[length] = '\0';
    for (int i = 0; i < length; i++) /* it goes to terminals */
        text[i] = text[i] != '\0' && ((unsigned char)text[i] < ' ' || text[i] == 127) ? '?' : text[i];
    return true;
}

static bool is_number(int number)
{
    return number >= 0 && number < MOST_NUMBERS;
}

static void take_site(pat_log_reader *r, pat_log_file *f, int64_t at)
{
    const pat_log_define *d = &f->records[at].define;
    char text[MOST_TEXT + 1];
    if (!is_number(d->number) || !take_text(f, at, d->length, text)) {
        pat_log_warn(r, f->name, "record %lld: a place that is not whole", (long long)at);
        return;
    }
    const size_t name_length = strlen(text);
    const char *call = name_length < (size_t)d->length ? text + name_length + 1 : "";
    const int number = pat_log_site_of(r, text, call);
    if (number >= 0 && !note_number(&f->sites, &f->num_sites, d->number, number))
        r->no_memory = true;
}

static void take_line(pat_log_reader *r, const pat_log_file *f, int64_t at)
{
    const pat_log_define *d = &f->records[at].define;
    char text[MOST_TEXT + 1];
    if (d->number < 0 || d->number >= f->num_sites || f->sites[d->number] < 0 ||
        !take_text(f, at, d->length, text)) {
        pat_log_warn(r, f->name, "record %lld: a line of a place that is not there", (long long)at);
        return;
    }
    pat_log_site *site = &r->log->sites[f->sites[d->number]];
    char *line = strdup(text);
    if (!line) {
        r->no_memory = true;
        return;
    }
    free(site->line);
    site->line = line;
}

static void take_comm(pat_log_reader *r, pat_log_file *f, int64_t at)
{
    const pat_log_comm *c = &f->records[at].comm;
    if (!is_number(c->number) || c->size < 2 || c->size > r->log->num_ranks || c->rank < 0 ||
        c->rank >= c->size) {
        pat_log_warn(r, f->name, "record %lld: a communicator that cannot be", (long long)at);
        return;
    }
    const int number = pat_log_comm_of(r, f->name, c, f->rank);
    if (number >= 0 && !note_number(&f->comms, &f->num_comms, c->number, number))
        r->no_memory = true;
}

static bool is_count(int64_t number)
{
    return number >= 0 && number <= INT64_MAX / 4;
}

static bool has_site(const pat_log_file *f, int site)
{
    return site >= 0 && site < f->num_sites && f->sites[site] >= 0;
}

static bool has_comm(const pat_log_file *f, int comm)
{
    return comm >= 0 && comm < f->num_comms && f->comms[comm] >= 0;
}

/* NULL without memory. */
static pat_log_event *add_event(pat_log_reader *r, pat_log_rank *rank, int64_t start_ns, int64_t time_ns)
{
    if (!pat_log_room(&rank->events, rank->num_events, sizeof(*rank->events))) {
        r->no_memory = true;
        return NULL;
    }
    pat_log_event *e = &rank->events[rank->num_events++];
    *e = (pat_log_event){.start_ns = start_ns,
                         .time_ns = time_ns,
                         .root = -1,
                         .wait_ns = -1,
                         .after_ns = -1,
                         .apart_ns = -1,
                         .late = -1,
                         .alg = -1};
    return e;
}

/* These take a record, and return whether it makes sense. */
static bool take_call(pat_log_reader *r, const pat_log_file *f, const pat_log_call *c, pat_log_rank *rank)
{
    if (!has_site(f, c->site) || !has_comm(f, c->comm) || !is_count(c->start_ns) || !is_count(c->time_ns) ||
        !is_count(c->bytes))
        return false;
    pat_log_event *e = add_event(r, rank, c->start_ns, c->time_ns);
    if (e) {
        e->bytes = c->bytes;
        e->site = f->sites[c->site];
        e->comm = f->comms[c->comm];
        e->root = c->root;
        e->has_failed = c->kind == PAT_LOG_FAILED;
    }
    return true;
}

/* One that follows belongs to the last event, which is a wait then. */
static bool take_wait(pat_log_reader *r, const pat_log_file *f, const pat_log_wait *w, pat_log_rank *rank)
{
    pat_log_event *last = rank->num_events > 0 ? &rank->events[rank->num_events - 1] : NULL;
    if (!has_site(f, w->site) || !has_comm(f, w->comm) || !is_count(w->start_ns) || !is_count(w->time_ns) ||
        !is_count(w->turn) || (w->follows && (!last || !last->is_wait || last->start_ns != w->start_ns)))
        return false;
    if (!pat_log_room(&rank->awaited, rank->num_awaited, sizeof(*rank->awaited))) {
        r->no_memory = true;
        return true;
    }
    pat_log_event *e = w->follows ? last : add_event(r, rank, w->start_ns, w->time_ns);
    if (!e)
        return true;
    if (!w->follows) {
        e->is_wait = true;
        e->site = f->sites[w->site];
        e->comm = f->comms[w->comm];
        e->turn = w->turn;
    }
    rank->awaited[rank->num_awaited++] = (pat_log_awaited){f->comms[w->comm], w->turn, e - rank->events};
    return true;
}

static bool take_messages(pat_log_reader *r, const pat_log_file *f, const pat_log_sum *s, pat_log_rank *rank)
{
    if (!has_site(f, s->site) || !is_count(s->calls) || !is_count(s->time_ns) || !is_count(s->bytes))
        return false;
    if (pat_log_room(&rank->messages, rank->num_messages, sizeof(*rank->messages)))
        rank->messages[rank->num_messages++] =
            (pat_log_messages){f->sites[s->site], s->calls, s->time_ns, s->bytes};
    else
        r->no_memory = true;
    return true;
}

static bool take_told(pat_log_reader *r, const pat_log_milestone *m, pat_log_rank *rank)
{
    if (!is_count(m->start_ns) || m->thousandths < 0 || m->thousandths > 100000)
        return false;
    if (pat_log_room(&rank->told, rank->num_told, sizeof(*rank->told)))
        rank->told[rank->num_told++] = (pat_log_told){m->start_ns, 1e-3 * (double)m->thousandths};
    else
        r->no_memory = true;
    return true;
}

/* Of the call before, at record number `at`. */
static bool take_plan(pat_log_reader *r, const pat_log_file *f, int64_t at, pat_log_rank *rank)
{
    const pat_log_plan *p = &f->records[at].plan;
    char name[sizeof(p->alg) + 1];
    if (at == 0 || !pat_log_is_call(&f->records[at - 1]) || rank->num_events == 0 ||
        !is_count(p->early_bytes))
        return false;
    pat_log_event *e = &rank->events[rank->num_events - 1];
    if (e->is_wait || e->start_ns != f->records[at - 1].call.start_ns) /* the call made no sense */
        return false;
    pat_log_copy_text(name, sizeof(name), p->alg, sizeof(p->alg));
    e->alg = pat_log_alg_of(r, name);
    e->early_bytes = p->early_bytes;
    return true;
}

/* All ranks say the same: the first file's count. */
static bool take_link(pat_log_reader *r, const pat_log_one_way *o)
{
    pat_log *log = r->log;
    const int64_t last = log->num_link > 0 ? log->link[log->num_link - 1].bytes : -1;
    if (!is_count(o->bytes) || !is_count(o->ns))
        return false;
    if (o->bytes <= last)
        return true;
    if (pat_log_room(&log->link, log->num_link, sizeof(*log->link)))
        log->link[log->num_link++] = (pat_log_link){o->bytes, o->ns};
    else
        r->no_memory = true;
    return true;
}

static bool take_record(pat_log_reader *r, const pat_log_file *f, int64_t at, pat_log_rank *rank)
{
    const pat_log_record *record = &f->records[at];
    switch (pat_log_kind(record)) {
    case PAT_LOG_CALL:
    case PAT_LOG_FAILED:
        return take_call(r, f, &record->call, rank);
    case PAT_LOG_WAIT:
        return take_wait(r, f, &record->wait, rank);
    case PAT_LOG_SUM:
        return take_messages(r, f, &record->sum, rank);
    case PAT_LOG_PLAN:
        return take_plan(r, f, at, rank);
    case PAT_LOG_MILESTONE:
        return take_told(r, &record->milestone, rank);
    case PAT_LOG_ONE_WAY:
        return take_link(r, &record->one_way);
    case PAT_LOG_LINE:
        take_line(r, f, at);
        return true;
    default:
        return pat_log_kind(record) > PAT_LOG_END && pat_log_kind(record) < PAT_LOG_KINDS;
    }
}

/* Definitions first: one thread may have noted a call before another has said where it is. */
void pat_log_take_records(pat_log_reader *r, pat_log_file *f, pat_log_rank *rank)
{
    int64_t num_bad = 0;
    for (int64_t i = 0; i < f->num && !r->no_memory; i++)
        if (pat_log_kind(&f->records[i]) == PAT_LOG_SITE)
            take_site(r, f, i);
        else if (pat_log_kind(&f->records[i]) == PAT_LOG_COMM)
            take_comm(r, f, i);
    for (int64_t i = 0; i < f->num && !r->no_memory; i++)
        num_bad += !take_record(r, f, i, rank);
    if (num_bad > 0)
        pat_log_warn(r, f->name, "%lld records make no sense and are left out", (long long)num_bad);
}
