/* Keeps the list of recorded streams, and the zeros of their clocks. */
#include "recordings.h"

#include "recorded_internal.h"

#include "host/base/buffer.h"
#include "host/term/make.h"
#include "host/term/map.h"

#include <pthread.h>
#include <string.h>

/* The links are written and read under `lock`. */
static struct {
    pthread_mutex_t lock;
    struct th_recording *first, **end;
    _Atomic int count; /* written under the lock, read relaxed: a number in itself */
} recordings = {.lock = PTHREAD_MUTEX_INITIALIZER, .end = &recordings.first};

struct th_recording *th_recorded_streams_begin(const char *name)
{
    size_t size = strlen(name) + 1;
    struct th_recording *recording = th_alloc_zero(sizeof *recording + size);

    memcpy(recording->name, name, size);
    pthread_mutex_lock(&recordings.lock);
    *recordings.end = recording;
    recordings.end = &recording->next;
    recordings.count++;
    pthread_mutex_unlock(&recordings.lock);
    return recording;
}

static const char *node_name(const struct th_etf_node *node)
{
    return th_atom_name(node->node)->text;
}

bool th_recorded_streams_other_node(const struct th_etf_node *a, const struct th_etf_node *b)
{
    if (a->node == TH_NONE || b->node == TH_NONE)
        return false;
    return a->node != b->node || (a->creation && b->creation && a->creation != b->creation);
}

enum th_status th_recorded_streams_match_nodes(const char *name, const struct th_etf_node *node,
                                               const char *other,
                                               const struct th_etf_node *other_node)
{
    if (!th_recorded_streams_other_node(node, other_node))
        return TH_OK;
    if (node->node != other_node->node)
        th_error_raise(TH_USAGE, "%s is of the node %s, %s of %s", other, node_name(other_node),
                       name, node_name(node));
    else
        th_error_raise(TH_USAGE,
                       "both are of the node %s, but of two starts: creation %u in %s, %u in %s",
                       node_name(node), other_node->creation, other, node->creation, name);
    return th_error_context(
        "cannot play streams of two nodes together: one identifier would name two processes");
}

enum th_status th_recorded_streams_set_node(struct th_recording *recording,
                                            const struct th_etf_node *node)
{
    enum th_status status = TH_OK;

    recording->node = *node;
    pthread_mutex_lock(&recordings.lock);
    for (const struct th_recording *one = recordings.first; one != recording && status == TH_OK;
         one = one->next)
        status = th_recorded_streams_match_nodes(recording->name, node, one->name, &one->node);
    pthread_mutex_unlock(&recordings.lock);
    return status;
}

int th_recorded_recordings_count(void)
{
    return atomic_load_explicit(&recordings.count, memory_order_relaxed);
}

static th_term recordings_describe(th_env *env, const struct th_recording *recording)
{
    const th_term keys[] = {TH_AM(name), TH_AM(records), TH_AM(lost),
                            TH_AM(gaps), TH_AM(damaged), TH_AM(interrupted)};
    const _Atomic uint64_t *const counts[] = {&recording->records, &recording->lost,
                                              &recording->gaps, &recording->damaged,
                                              &recording->interrupted};
    th_term values[sizeof keys / sizeof keys[0]] = {
        th_make_binary(env, recording->name, strlen(recording->name))};

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        values[1 + i] = th_make_uint64(env, atomic_load_explicit(counts[i], memory_order_relaxed));
    return th_make_map(env, keys, values, sizeof keys / sizeof keys[0], NULL);
}

th_term th_recorded_streams_list(th_env *env)
{
    th_term *elements = NULL, list;
    size_t count = 0, capacity = 0;

    pthread_mutex_lock(&recordings.lock);
    for (const struct th_recording *one = recordings.first; one; one = one->next) {
        TH_ARRAY_GROW(elements, count, capacity);
        elements[count++] = recordings_describe(env, one);
    }
    pthread_mutex_unlock(&recordings.lock);
    list = th_make_list(env, elements, count);
    th_free(elements);
    return list;
}

/* Zeros of the clocks. Used by the replaying thread alone. */
static struct zero {
    bool known;
    int64_t ns;
} zeros[TH_CLOCKS];
static int64_t offset; /* likewise */

int64_t th_recorded_streams_zero(const struct th_event_time *time)
{
    enum th_time_clock clock = th_trace_time_clock(time->kind);

    if (!zeros[clock].known)
        zeros[clock] = (struct zero){true, time->ns};
    return zeros[clock].ns;
}

void th_recorded_streams_set_offset(int64_t ns)
{
    offset = ns;
}

int64_t th_recorded_streams_offset(void)
{
    return offset;
}

void th_recorded_streams_forget_clocks(void)
{
    offset = 0;
    zeros[TH_CLOCK_CPU].known = zeros[TH_CLOCK_MONOTONIC].known = false;
}

void th_recorded_streams_forget(void)
{
    th_recorded_streams_forget_clocks();
    zeros[TH_CLOCK_SYSTEM].known = false;
    pthread_mutex_lock(&recordings.lock);
    while (recordings.first) {
        struct th_recording *recording = recordings.first;
        recordings.first = recording->next;
        th_free(recording);
    }
    recordings.end = &recordings.first;
    recordings.count = 0;
    pthread_mutex_unlock(&recordings.lock);
}
