#include "noting.h"

#include "host/base/base.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int alive;

struct thing {
    struct th_shared shared; /* the first member */
    int number;
};

static void end(struct th_shared *shared)
{
    atomic_fetch_sub(&alive, 1);
    memset(shared, 0xEE, sizeof *shared); /* makes a use after the end visible */
    th_free(shared);
}

struct th_shared *thing_create(int number)
{
    struct thing *thing = th_alloc_zero(sizeof *thing);

    th_breakpoint_shared_init(&thing->shared, end);
    thing->number = number;
    atomic_fetch_add(&alive, 1);
    return &thing->shared;
}

int things_alive(void)
{
    return atomic_load(&alive);
}

bool things_remain(int count)
{
    for (int i = 0; i < 10000 && things_alive() > count; i++)
        usleep(1000);
    return things_alive() == count;
}

/* --- Noting ----------------------------------------------------------------------------------- */

static struct th_buffer notes;

static void note(char name, const char *what, const struct th_shared *spec)
{
    th_buffer_printf(&notes, "%s%c %s %d", notes.size ? ", " : "", name, what,
                     spec ? ((const struct thing *)spec)->number : 0);
}

static uint32_t act(struct noting *noting, struct th_hit *hit)
{
    if (noting->act)
        noting->act(noting, hit);
    return noting->answer;
}

static uint32_t call(struct th_hit *hit, struct th_bp_session *session, struct th_shared *spec,
                     uint32_t kind)
{
    struct noting *noting = (struct noting *)session;

    note(noting->name, kind == TH_BP_GLOBAL ? "global" : "local", spec);
    return act(noting, hit);
}

static uint32_t meta(struct th_hit *hit, struct th_bp_session *session, struct th_shared *spec,
                     struct th_shared *tracer)
{
    struct noting *noting = (struct noting *)session;

    note(noting->name, "meta", spec);
    th_buffer_printf(&notes, " by %d", ((struct thing *)tracer)->number);
    return act(noting, hit);
}

static struct th_account *account(struct th_hit *hit, struct th_bp_session *session,
                                  struct th_account_reading *reading)
{
    struct noting *noting = (struct noting *)session;

    (void)hit;
    *reading = noting->reading;
    return noting->account;
}

static void entered(struct th_hit *hit, struct th_bp_session *session,
                    const struct th_account_frame *frame)
{
    (void)hit;
    ((struct noting *)session)->frame = *frame;
}

static const struct th_bp_hooks hooks = {call, meta, account, entered, NULL};

struct noting *noting_create(char name)
{
    struct noting *noting = th_alloc_zero(sizeof *noting);

    noting->name = name;
    th_breakpoint_session_init(&noting->session, &hooks, end);
    atomic_fetch_add(&alive, 1);
    return noting;
}

void noting_end(struct noting *noting)
{
    struct th_change *change = th_breakpoint_change_create();

    th_breakpoint_change_end_session(change, &noting->session);
    th_breakpoint_change_run(change, NULL, NULL);
    th_breakpoint_shared_drop(&noting->session.shared);
}

const char *note_call(struct th_site *site, uint32_t kinds, uint32_t *asked)
{
    struct th_hit hit = {.kinds = kinds};
    uint32_t answer = 0;

    notes.size = 0;
    if (th_breakpoint_site_is_armed(site))
        answer = th_breakpoint_hit(site, &hit);
    if (asked)
        *asked = answer;
    return th_buffer_text(&notes);
}

/* --- Changes ---------------------------------------------------------------------------------- */

struct th_site *new_site(void)
{
    return th_breakpoint_site_create(&th_breakpoint_site_virtual, NULL, NULL);
}

static void keep_counts(struct th_change *change, void *counts)
{
    *(struct th_change_counts *)counts = th_breakpoint_change_counts(change);
}

struct th_change_counts make_settings(const struct th_bp_setting *settings, size_t count)
{
    struct th_change *change = th_breakpoint_change_create();
    struct th_change_counts counts;

    for (size_t i = 0; i < count; i++)
        th_breakpoint_change_add(change, &settings[i]);
    if (!th_breakpoint_change_run(change, keep_counts, &counts))
        abort();
    return counts;
}

void set_kinds(struct th_site *site, struct noting *noting, uint32_t kinds, int number)
{
    struct th_shared *spec = number ? thing_create(number) : NULL;
    struct th_bp_setting setting = {.site = site,
                                    .session = &noting->session,
                                    .set = kinds,
                                    .spec = spec,
                                    .meta_spec = spec,
                                    .meta_tracer = spec};

    make_settings(&setting, 1);
    th_breakpoint_shared_drop(spec);
}

void clear_kinds(struct th_site *site, struct noting *noting, uint32_t kinds)
{
    struct th_bp_setting setting = {.site = site, .session = &noting->session, .clear = kinds};

    make_settings(&setting, 1);
}

bool wait_for_site(struct th_site *site, bool armed)
{
    for (int i = 0; i < 6000 && th_breakpoint_site_is_armed(site) != armed; i++)
        usleep(10000);
    return th_breakpoint_site_is_armed(site) == armed;
}
