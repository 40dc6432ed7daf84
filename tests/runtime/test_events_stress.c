/* Changes flags and sessions while processes send, link and exit on several threads. */
#include "plays.h"

#include <pthread.h>

enum { ROUNDS = 600, SCHEDULERS = 3 };

static const char family[] =
    "[trap,{spawn,a,1,[{register,stress_a,self},{send,parent,up},{await,infinity},"
    "{send,parent,done}]},{spawn,b,3,[{token,send,true},{token,'receive',true},{send,a,go},"
    "{raise,error,b}]},{spawn,c,0,[{link,a},{unlink,a},{send,b,x},{print,0,y}]},"
    "{spawn,d,1,[{await,infinity}]},{exit,d,why},"
    "{await,50},{await,50},{await,50},{await,50},{await,50}]";

static atomic_bool over; /* relaxed: only this flag matters */

/* Starts and ends another session, which traces all with changing flags. */
static void *change_flags(void *unused)
{
    static const uint32_t flags[] = {
        TH_FLAG_PROCS | TH_FLAG_SEND,
        TH_FLAGS_EVENTS & ~(TH_FLAG_PORTS | TH_FLAG_RUNNING_PORTS),
        TH_FLAG_RUNNING | TH_FLAG_EXITING | TH_FLAG_RECEIVE,
        TH_FLAG_GC | TH_FLAG_SET_ON_SPAWN | TH_FLAG_SCHEDULER_ID,
    };
    const struct timespec moment = {0, 50000};

    (void)unused;
    for (unsigned i = 0; !atomic_load_explicit(&over, memory_order_relaxed); i++) {
        struct th_session *other = scene_create("t");
        th_trace_session_trace(other, TH_PROCESSES_ALL, true, flags[i % 4]);
        nanosleep(&moment, NULL);
        th_trace_session_trace(other, TH_PROCESSES_EXISTING, false, flags[(i + 1) % 4]);
        nanosleep(&moment, NULL);
        th_trace_session_destroy(other);
    }
    return NULL;
}

/* Returns the number of occurrences of SAMPLE in TEXT. */
static size_t count_of(const char *text, const char *sample)
{
    size_t count = 0;

    while ((text = strstr(text, sample))) {
        text += strlen(sample);
        count++;
    }
    return count;
}

/* The lasting session gets all events: each of the four processes is spawned and exits. */
static void flags_change_while_processes_live_and_end(void **state)
{
    pthread_t thread;
    const char *log;

    (void)state;
    trace_player(TH_FLAG_PROCS | TH_FLAG_EXITING);
    pthread_create(&thread, NULL, change_flags, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        play(family);
        log = scene_log();
        assert_int_equal(count_of(log, "trace_procs(spawn,s,"), 4);
        assert_int_equal(count_of(log, "trace_procs(spawned,s,"), 4);
        assert_int_equal(count_of(log, "trace_procs(exit,s,"), 4);
        assert_int_equal(count_of(log, "trace_running_procs(out_exited,s,"), 4);
    }
    atomic_store_explicit(&over, true, memory_order_relaxed);
    pthread_join(thread, NULL);
}

static int begin(void **state)
{
    (void)state;
    begin_plays(SCHEDULERS);
    return 0;
}

static int end(void **state)
{
    (void)state;
    end_plays();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(flags_change_while_processes_live_and_end, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
