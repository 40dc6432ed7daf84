/*
 * Tables of call_time and call_memory. Each thread has a hash table from processes to sums for each
 * tally; other threads read it while it is written. So its fields are atomic, and a full table is
 * replaced by a larger one. Processes are never removed.
 */
#include "account.h"

#include "breakpoint_internal.h"
#include "generic_bp.h"
#include "hit.h"
#include "site.h"

#include "host/base/buffer.h"
#include "host/base/hash.h"

enum { FIRST_ROWS = 8 };

/* Relaxed loads and stores of the owning thread; but PROCESS is published with release. */
struct row {
    _Atomic uint64_t process; /* 0: free */
    _Atomic uint64_t calls;
    _Atomic int64_t amount;
};

struct table {
    struct th_later later;  /* the first member */
    size_t count, capacity; /* the owning thread's; constant, a power of two */
    struct row rows[];
};

/* --- A thread's table ------------------------------------------------------------------------- */

/* Finds the row of PROCESS, or the free row for it. */
static struct row *account_find(struct table *table, uint64_t process)
{
    size_t i = th_hash_mix(process);

    for (;; i++) {
        struct row *row = &table->rows[i & (table->capacity - 1)];
        uint64_t there = atomic_load_explicit(&row->process, memory_order_relaxed);
        if (there == process || there == 0)
            return row;
    }
}

static void free_table(struct th_later *later)
{
    th_free(later);
}

static struct table *account_grow(_Atomic uint64_t *word, struct table *old)
{
    size_t capacity = old ? 2 * old->capacity : FIRST_ROWS;
    struct table *new = th_alloc_zero(sizeof *new + capacity * sizeof new->rows[0]);

    new->capacity = capacity;
    for (size_t i = 0; old && i < old->capacity; i++) {
        struct row *from = &old->rows[i], *row;
        uint64_t process = atomic_load_explicit(&from->process, memory_order_relaxed);
        if (!process)
            continue;
        row = account_find(new, process);
        atomic_init(&row->process, process);
        atomic_init(&row->calls, atomic_load_explicit(&from->calls, memory_order_relaxed));
        atomic_init(&row->amount, atomic_load_explicit(&from->amount, memory_order_relaxed));
        new->count++;
    }
    atomic_store_explicit(word, (uintptr_t) new, memory_order_release);
    if (old)
        th_progress_later(&old->later, free_table);
    return new;
}

static void account_add(uint32_t tally, uint64_t process, uint64_t calls, int64_t amount)
{
    _Atomic uint64_t *word = th_breakpoint_tally_word(tally);
    struct table *table = (struct table *)atomic_load_explicit(word, memory_order_relaxed);
    struct row *row;

    if (!table || 4 * table->count >= 3 * table->capacity)
        table = account_grow(word, table);
    row = account_find(table, process);
    if (atomic_load_explicit(&row->process, memory_order_relaxed) == 0) {
        atomic_store_explicit(&row->process, process, memory_order_release);
        table->count++;
    }
    calls += atomic_load_explicit(&row->calls, memory_order_relaxed);
    amount += atomic_load_explicit(&row->amount, memory_order_relaxed);
    atomic_store_explicit(&row->calls, calls, memory_order_relaxed);
    atomic_store_explicit(&row->amount, amount, memory_order_relaxed);
}

/* --- The tables of all threads ---------------------------------------------------------------- */

void th_breakpoint_account_dispose(uint64_t word)
{
    th_free((void *)word);
}

struct collection {
    struct th_table places; /* by process: its index in ITEMS, plus 1 */
    struct th_bp_usage *items;
    size_t count, capacity;
};

static void account_collect(_Atomic uint64_t *word, void *context)
{
    struct table *table = (struct table *)atomic_load_explicit(word, memory_order_acquire);
    struct collection *all = context;

    for (size_t i = 0; table && i < table->capacity; i++) {
        struct row *row = &table->rows[i];
        uint64_t process = atomic_load_explicit(&row->process, memory_order_acquire);
        size_t place;

        if (!process)
            continue;
        place = (size_t)th_hash_table_get(&all->places, process);
        if (!place) {
            TH_ARRAY_GROW(all->items, all->count, all->capacity);
            all->items[all->count++] = (struct th_bp_usage){.process = process};
            th_hash_table_set(&all->places, process, (void *)all->count);
            place = all->count;
        }
        all->items[place - 1].calls += atomic_load_explicit(&row->calls, memory_order_relaxed);
        all->items[place - 1].amount += atomic_load_explicit(&row->amount, memory_order_relaxed);
    }
}

static struct th_bp_usage *collect_both(uint32_t one, uint32_t other, size_t *count)
{
    struct collection all = {0};

    if (one)
        th_breakpoint_tally_each(one, account_collect, &all);
    if (other)
        th_breakpoint_tally_each(other, account_collect, &all);
    th_hash_table_free(&all.places);
    *count = all.count;
    return all.items;
}

/* --- Calls and returns ------------------------------------------------------------------------ */

/* Charges SITE's function, if it has an active breakpoint of KIND. Thread: in a reader section. */
static void charge(struct th_site *site, const struct th_bp_session *session, enum th_bp_kind kind,
                   uint64_t process, int64_t amount)
{
    unsigned generation = th_breakpoint_generation();
    const struct th_generic_bp *bp = site ? th_breakpoint_find(site, session) : NULL;
    const struct th_bp_data *data = bp ? &bp->data[generation] : NULL;

    if (data && th_breakpoint_active(data) & kind)
        account_add(kind == TH_BP_TIME ? data->time : data->memory, process, 0, amount);
}

void th_breakpoint_account_more(struct th_site *site, const struct th_bp_session *session,
                                uint32_t kind, uint64_t process, uint64_t calls, int64_t ns)
{
    const struct th_generic_bp *bp;
    const struct th_bp_data *data;
    _Atomic uint64_t *word;

    th_progress_enter();
    bp = th_breakpoint_find(site, session);
    data = bp ? &bp->data[th_breakpoint_generation()] : NULL;
    if (data && th_breakpoint_active(data) & kind && kind == TH_BP_TIME) {
        account_add(data->time, process, calls, ns);
    } else if (data && th_breakpoint_active(data) & kind) {
        word = th_breakpoint_tally_word(data->count); /* written by this thread alone: relaxed */
        atomic_store_explicit(word, atomic_load_explicit(word, memory_order_relaxed) + calls,
                              memory_order_relaxed);
    }
    th_progress_leave();
}

void th_breakpoint_account_resume(struct th_account *account,
                                  const struct th_account_reading *reading)
{
    account->now = reading->now;
    account->words = reading->words;
}

void th_breakpoint_account_pause(struct th_account *account, struct th_bp_session *session,
                                 const struct th_account_reading *reading)
{
    th_progress_enter();
    charge(account->time, session, TH_BP_TIME, reading->process, reading->now - account->now);
    charge(account->memory, session, TH_BP_MEMORY, reading->process,
           (int64_t)(reading->words - account->words));
    th_progress_leave();
    th_breakpoint_account_resume(account, reading);
}

bool th_breakpoint_account_call(struct th_hit *hit, const struct th_generic_bp *bp,
                                const struct th_bp_data *data, uint32_t kinds)
{
    struct th_bp_session *session = bp->session;
    struct th_account_reading reading;
    struct th_account *account = session->hooks->account(hit, session, &reading);
    struct th_account_frame frame;

    if (!account)
        return false;
    th_breakpoint_account_pause(account, session, &reading);
    frame = (struct th_account_frame){kinds, account->time, account->memory};
    if (kinds & TH_BP_TIME) {
        account->time = hit->site;
        account_add(data->time, reading.process, 1, 0);
    }
    if (kinds & TH_BP_MEMORY) {
        account->memory = hit->site;
        account_add(data->memory, reading.process, 1, 0);
    }
    session->hooks->entered(hit, session, &frame);
    return true;
}

void th_breakpoint_account_return(struct th_account *account, struct th_bp_session *session,
                                  const struct th_account_frame *frame,
                                  const struct th_account_reading *reading)
{
    th_breakpoint_account_pause(account, session, reading);
    if (frame->kinds & TH_BP_TIME)
        account->time = frame->time;
    if (frame->kinds & TH_BP_MEMORY)
        account->memory = frame->memory;
}

static void take_first(struct th_shared **found, struct th_shared *there)
{
    if (!*found)
        *found = th_breakpoint_shared_take(there);
}

bool th_breakpoint_info(struct th_site *site, const struct th_bp_session *session,
                        struct th_bp_info *info)
{
    return th_breakpoint_info_of_two(site, NULL, session, info);
}

bool th_breakpoint_info_of_two(struct th_site *one, struct th_site *other,
                               const struct th_bp_session *session, struct th_bp_info *info)
{
    static const struct th_bp_data nothing;
    struct th_site *const sites[] = {one, other};
    const struct th_bp_data *data[] = {&nothing, &nothing};
    unsigned generation;

    *info = (struct th_bp_info){0};
    th_progress_enter();
    generation = th_breakpoint_generation(); /* hits obey it until this section ends */
    for (size_t i = 0; i < 2; i++) {
        const struct th_generic_bp *bp = sites[i] ? th_breakpoint_find(sites[i], session) : NULL;
        if (bp)
            data[i] = &bp->data[generation];
        info->kinds |= th_breakpoint_kinds(data[i]);
        info->active |= th_breakpoint_active(data[i]);
        take_first(&info->spec, data[i]->spec);
        take_first(&info->meta_spec, data[i]->meta_spec);
        if (data[i]->meta)
            take_first(&info->meta_tracer,
                       atomic_load_explicit(&data[i]->meta->tracer, memory_order_acquire));
        if (data[i]->count)
            info->calls += th_breakpoint_tally_sum(data[i]->count);
    }
    info->time = collect_both(data[0]->time, data[1]->time, &info->time_count);
    info->memory = collect_both(data[0]->memory, data[1]->memory, &info->memory_count);
    th_progress_leave();
    return info->kinds != 0;
}

void th_breakpoint_info_free(struct th_bp_info *info)
{
    th_breakpoint_shared_drop(info->spec);
    th_breakpoint_shared_drop(info->meta_spec);
    th_breakpoint_shared_drop(info->meta_tracer);
    th_free(info->time);
    th_free(info->memory);
    *info = (struct th_bp_info){0};
}

size_t th_breakpoint_sessions(struct th_site *site, struct th_bp_session **sessions, size_t room)
{
    size_t count = 0;
    struct th_generic_bp *bp;
    unsigned generation;

    th_progress_enter();
    generation = th_breakpoint_generation();
    for (bp = atomic_load_explicit(&site->first, memory_order_acquire); bp;
         bp = atomic_load_explicit(&bp->next, memory_order_acquire)) {
        if (!th_breakpoint_kinds(&bp->data[generation]))
            continue;
        if (count < room) {
            th_breakpoint_shared_take(&bp->session->shared);
            sessions[count] = bp->session;
        }
        count++;
    }
    th_progress_leave();
    return count;
}
