/*
 * Tests calls of functions whose breakpoints change meanwhile and that end by exceptions, by
 * longjmp() and by the cancellation of their thread. Each handler's cleanup must run, unless
 * longjmp() leaves it.
 */
#include "storm.h"

#include "tests/support/skipping.h"

#ifdef TH_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

enum { THROWS, JUMPS, STAYS, CATCHES, IS_LEFT, UNWINDING, DEPTH = 5 };
static struct meeting unwinding[UNWINDING];

/* Counters of a thread. Relaxed: only the thread writes; others read whether the counts suffice. */
struct unwound {
    _Atomic uint64_t calls, begun, ended, wrong;
};

static void add(_Atomic uint64_t *count, uint64_t more)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

static void note_call(struct unwound *unwound, bool right, uint64_t more_begun, uint64_t more_ended)
{
    add(&unwound->calls, 1);
    add(&unwound->wrong, !right);
    add(&unwound->begun, more_begun);
    add(&unwound->ended, more_ended);
}

static word call_nif_of(int i)
{
    const word depth = DEPTH;

    return ((call_nif *)unwinding[i].code)(ENV, 1, &depth);
}

static void call_all_along(struct unwound *unwound, int function, word answer)
{
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        uint64_t begun_before = begun, ended_before = ended;
        bool right = call_nif_of(function) == answer;
        note_call(unwound, right, begun - begun_before, ended - ended_before);
    }
}

static void *throw_all_along(void *unwound)
{
    call_all_along(unwound, CATCHES, 7);
    return NULL;
}

/* longjmp() leaves these frames without their cleanup. */
static void *jump_all_along(void *unwound)
{
    call_all_along(unwound, IS_LEFT, 5);
    return NULL;
}

/* A thread to cancel: its counters and a flag that it has started. */
struct cancelled {
    word there;
    uint64_t begun, ended;
};

static void note_end(void *context)
{
    struct cancelled *cancelled = context;

    cancelled->begun = begun;
    cancelled->ended = ended;
}

static void *stay(void *context)
{
    struct cancelled *cancelled = context;

    pthread_cleanup_push(note_end, cancelled);
    ((call_1 *)unwinding[STAYS].code)((word)&cancelled->there, DEPTH);
    pthread_cleanup_pop(0);
    return NULL;
}

static void cancel_once(struct unwound *unwound)
{
    struct cancelled cancelled = {0};
    pthread_t thread;
    void *result;

    pthread_create(&thread, NULL, stay, &cancelled);
    while (!__atomic_load_n(&cancelled.there, __ATOMIC_ACQUIRE))
        usleep(50);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    note_call(unwound, result == PTHREAD_CANCELED, cancelled.begun, cancelled.ended);
}

static void *cancel_all_along(void *unwound)
{
    while (!atomic_load_explicit(&over, memory_order_relaxed))
        cancel_once(unwound);
    return NULL;
}

static void meet_unwinding(struct th_library *library)
{
    static const char *const names[UNWINDING] = {"throws", "jumps", "stays", "catches", "is_left"};

    for (int i = 0; i < UNWINDING; i++)
        meet_function(&unwinding[i], library, names[i],
                      i < CATCHES ? TH_NATIVE_TERMS_1 : TH_NATIVE_NIF);
}

static const char *cxx(void)
{
    const char *named = getenv("CXX");

    return named ? named : "g++";
}

/* The C++ runtime allocates a pool for exceptions in a constructor and never frees this pool. */
static struct th_library *open_unwinding(const char *flags)
{
    struct th_library *library;

#ifdef TH_ADDRESS_SANITIZER
    __lsan_disable();
#endif
    library = compiled_open(cxx(), flags, "tests/breakpoint/unwinding.cc");
#ifdef TH_ADDRESS_SANITIZER
    __lsan_enable();
#endif
    return library;
}

enum { THROWN, CANCELLED, LEFT, RUNS };

/* True if frames have ended in each way, and longjmp() has left some without their cleanup. */
static bool has_seen_all(const struct unwound *unwound)
{
    for (int i = 0; i < RUNS; i++)
        if (unwound[i].begun == 0)
            return false;
    return unwound[LEFT].ended < unwound[LEFT].begun;
}

static void unwind(const char *flags)
{
    static void *(*const runs[])(void *) = {throw_all_along, cancel_all_along, jump_all_along};
    struct unwound unwound[RUNS] = {{0}};
    struct th_bp_session *session = create_session();
    struct th_library *library;
    struct span span = begin_span();
    pthread_t threads[RUNS];
    uint32_t random = 3;
    uint64_t number = 0;

    if (!compiled_by(cxx())) {
        skip_because("no C++ compiler");
    }
    library = open_unwinding(flags);
    atomic_store(&over, false);
    meet_unwinding(library);
    for (int i = 0; i < RUNS; i++)
        pthread_create(&threads[i], NULL, runs[i], &unwound[i]);
    while (!is_over(&span, number) || (!has_seen_all(unwound) && time(NULL) < span.end + 60)) {
        number++;
        set_functions(session, unwinding, UNWINDING, next_random(&random) % 32,
                      next_random(&random) % 4, number);
    }
    atomic_store(&over, true);
    for (int i = 0; i < RUNS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(unwound[i].wrong, 0);
        if (i != LEFT)
            assert_int_equal(unwound[i].begun, unwound[i].ended);
    }
    assert_true(has_seen_all(unwound));
    print_message("%lu changes; %lu thrown, %lu cancelled, %lu left; %lu frames unwound\n", number,
                  unwound[THROWN].calls, unwound[CANCELLED].calls, unwound[LEFT].calls,
                  unwound[THROWN].ended + unwound[CANCELLED].ended);
    end_session(session);
    for (int i = 0; i < UNWINDING; i++)
        drop_meeting(&unwinding[i]);
    th_progress_settle();
    th_library_release(library);
}

static void unwinding_runs_the_cleanup_of_handlers(void **state)
{
    (void)state;
#ifdef TH_ADDRESS_SANITIZER
    skip_because("the address sanitizer only finds a __cxa_throw that is there from the start");
#endif
    unwind(FLAGS);
}

static void a_library_with_its_own_unwinder_unwinds_handlers(void **state)
{
    (void)state;
    unwind(FLAGS " -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unwinding_runs_the_cleanup_of_handlers),
        cmocka_unit_test(a_library_with_its_own_unwinder_unwinds_handlers),
    };

    return storm_begin() ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
}
