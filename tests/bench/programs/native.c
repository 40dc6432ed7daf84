/*
 * Measures native sites: how much longer a call of a library's function takes than a plain one, on
 * one thread and on two at once.
 *
 *   native LIBRARY
 */
#include "measure.h"

#include "host/base/base.h"
#include "host/breakpoint/breakpoint.h"
#include "host/library/library.h"

#include <pthread.h>
#include <stdlib.h>

enum { CALLS = 300000, ENV = 1 };

typedef uint64_t function(uint64_t env, uint64_t a);

static function *plain, *patchable;
static struct th_native *native;
static struct th_native_place place;
static struct th_site *site;

/* --- The tracer's part ------------------------------------------------------------------------ */

/* Volatile, so that each call goes through the pointer. */
typedef uint64_t callback(void *env, int argc, const uint64_t argv[]);

static __attribute__((noinline)) uint64_t answer_no(void *env, int argc, const uint64_t argv[])
{
    (void)env;
    (void)argv;
    return (uint64_t)argc - 3;
}

static __attribute__((noinline)) uint64_t answer_yes(void *env, int argc, const uint64_t argv[])
{
    (void)env;
    (void)argv;
    return (uint64_t)argc;
}

static callback *volatile enabled;
static callback *volatile trace = answer_no;

/* The result of the breakpoint's hook. */
static uint32_t answer;

static uint32_t offer(struct th_hit *hit, struct th_bp_session *session, struct th_shared *spec,
                      uint32_t kind)
{
    const uint64_t argv[3] = {(uintptr_t)hit, (uintptr_t)spec, kind};

    (void)session;
    if (!enabled(NULL, 3, argv))
        return 0;
    trace(NULL, 3, argv);
    return answer;
}

static const struct th_bp_hooks hooks = {.call = offer};

/* --- The handler ------------------------------------------------------------------------------ */

static uint32_t meet_single(const struct th_fast_hit *single)
{
    struct th_bp_session *of;

    if (!single->kinds)
        return 0;
    of = single->breakpoint->session;
    return of->hooks->call(NULL, of, single->data->spec, single->kinds);
}

static uint32_t meet(struct th_native *met)
{
    unsigned long *word = th_progress_enter_quickly();
    struct th_fast_hit single;
    uint32_t asked = 0;

    if (!word)
        th_progress_enter();
    if (__builtin_expect(th_breakpoint_fast_hit(met->owner, TH_BP_LOCAL, &single), 1))
        asked = meet_single(&single);
    if (word)
        th_progress_leave_quickly(word);
    else
        th_progress_leave();
    return asked;
}

/* The call has returned or raised. */
static void end_call(const uint64_t *argument)
{
    trace(NULL, 1, argument);
}

static __attribute__((noinline)) uint64_t run_body(uint64_t env, uint64_t a, function *body)
{
    uint64_t argument __attribute__((cleanup(end_call))) = a;

    return body(env, a);
}

static uint64_t handle(uint64_t env, uint64_t a, struct th_native *met)
{
    function *body = (function *)met->body;

    if (meet(met) & TH_HIT_RETURN)
        return run_body(env, a, body);
    return body(env, a);
}

/* --- Cases ------------------------------------------------------------------------------------ */

static void end_session(struct th_shared *session)
{
    (void)session;
}

static struct th_bp_session session;

static void set(uint32_t kinds)
{
    struct th_change *change = th_breakpoint_change_create();

    th_breakpoint_change_add(
        change, &(struct th_bp_setting){
                    .site = site, .session = &session, .clear = TH_BP_ALL, .set = kinds});
    th_breakpoint_change_run(change, NULL, NULL);
}

static uint64_t call_often(function *called)
{
    uint64_t sum = 0;

    for (int i = 0; i < CALLS; i++)
        sum += called(ENV, (uint64_t)i);
    __asm__ volatile("" ::"r"(sum));
    return CALLS;
}

static void *call_beside(void *called)
{
    call_often((function *)called);
    return NULL;
}

static bool two_threads;

static uint64_t call_all(function *called)
{
    pthread_t beside;

    if (two_threads)
        pthread_create(&beside, NULL, call_beside, (void *)called);
    call_often(called);
    if (two_threads)
        pthread_join(beside, NULL);
    return CALLS;
}

static uint64_t call_plain(void)
{
    return call_all(plain);
}

static uint64_t call_not_patched(void)
{
    return call_all(patchable);
}

static uint64_t call_clear(void)
{
    uint64_t events;

    th_breakpoint_sites_write(&site, 1, true);
    events = call_all(patchable);
    th_breakpoint_sites_write(&site, 1, false);
    return events;
}

static uint64_t call_patched(callback *says, uint32_t asked)
{
    uint64_t events;

    enabled = says;
    answer = asked;
    set(TH_BP_LOCAL);
    events = call_all(patchable);
    set(0);
    return events;
}

static uint64_t call_discarded(void)
{
    return call_patched(answer_no, 0);
}

static uint64_t call_traced(void)
{
    return call_patched(answer_yes, 0);
}

static uint64_t call_and_return(void)
{
    return call_patched(answer_yes, TH_HIT_RETURN);
}

static void measure_calls(const char *title)
{
    static const struct measure_case cases[] = {
        {"plain", call_plain},       {"not patched", call_not_patched},
        {"flags clear", call_clear}, {"discarded", call_discarded},
        {"call", call_traced},       {"call and return", call_and_return},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    double medians[CASES];

    printf("%s:\n", title);
    measure(stdout, cases, CASES, medians);
    printf("  more than a plain one:");
    for (size_t i = 1; i < CASES; i++)
        printf("  %s %.1f ns (%.1f times)", cases[i].name, medians[i] - medians[0],
               medians[i] / medians[0]);
    printf("\n");
}

/* --- The library ------------------------------------------------------------------------------ */

static void fail(void)
{
    th_error_print(stderr, "bench");
    exit(1);
}

static void open_library(const char *path)
{
    struct th_library *library;
    const char *why;
    void *code;

    if (th_native_begin() != TH_OK || th_library_open(path, &library) != TH_OK)
        fail();
    code = th_library_code_map(library)->locals[0].code;
    why = th_native_refusal(library, code);
    if (why && th_error_raise(TH_FAILED, "%s", why))
        fail();
    plain = (function *)th_library_entry(library)->functions[0].fptr(NULL, 0, NULL);
    patchable = (function *)code;
    native = th_native_create(library, code, TH_NATIVE_TERMS_1, (void *)handle, NULL);
    if (!native && th_error_raise(TH_FAILED, "no native site"))
        fail();
    place.records[0] = native;
    site = th_breakpoint_site_create(&th_native_site_native, NULL, &place);
    native->owner = site;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return TH_USAGE;
    th_breakpoint_session_init(&session, &hooks, end_session);
    open_library(argv[1]);
    measure_calls("A call of a library's function, one thread");
    two_threads = true;
    measure_calls("Two threads at once, a call of each");
    return 0;
}
