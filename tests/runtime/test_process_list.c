/* Tests the list of processes from outside, while processes run, wait, start and end. */
#include "parties.h"

#include "host/base/base.h"

#include <pthread.h>
#include <unistd.h>

static struct th_process *process;
static char *self;

#define call(...) call_in(process, __VA_ARGS__)

static struct th_process_seen *seen;
static size_t seen_count;

static void look(void)
{
    th_free(seen);
    seen_count = th_runtime_list(&seen);
}

static const struct th_process_seen *find(const char *pid)
{
    for (size_t i = 0; i < seen_count; i++)
        if (strcmp(show("", seen[i].pid), pid) == 0)
            return &seen[i];
    return NULL;
}

/* Waits until PID's state is DOING. */
static const struct th_process_seen *await(const char *pid, enum th_process_doing doing)
{
    const struct th_process_seen *one;

    for (int i = 0; i < 10000; i++) {
        look();
        one = find(pid);
        if (one && one->doing == doing)
            return one;
        usleep(1000);
    }
    fail_msg("%s never does %d", pid, (int)doing);
    return NULL;
}

static void a_waiting_process_shows_its_function_and_messages(void **state)
{
    char *pid = th_strdup(call("spawn", "[party,select,[never,-1],1]"));
    const struct th_process_seen *one = await(pid, TH_PROCESS_WAITING);

    (void)state;
    assert_string_equal(one->function, "party:select/2");
    assert_int_equal(one->messages, 0);
    assert_int_equal(one->links, 1);
    assert_term_equal(one->name, TH_NONE);
    call("sends", "[%s,[a,b,c]]", pid);
    do
        one = await(pid, TH_PROCESS_WAITING);
    while (one->messages != 3 || one->reductions < 4); /* it has received each */
    call("register", "[someone,%s]", pid);
    look();
    assert_term_equal(find(pid)->name, th_atom("someone"));
    call("sends", "[%s,[{never,1}]]", pid);
    while (find(pid))
        look();
    th_free(pid);
}

static void a_running_process_shows_its_reductions(void **state)
{
    char *pid = th_strdup(call("spawn", "[party,loop,[4000000000000],0]"));
    const struct th_process_seen *one;
    uint64_t before;

    (void)state;
    do
        one = await(pid, TH_PROCESS_RUNNING);
    while (!one->function); /* until the process has called its function */
    before = one->reductions;
    assert_string_equal(one->function, "party:loop/1");
    while (find(pid)->reductions <= before)
        look();
    call("signal", "[%s,kill]", pid);
    while (find(pid))
        look();
    th_free(pid);
}

static void a_process_between_two_calls_shows_no_function(void **state)
{
    const struct th_process_seen *one = await(self, TH_PROCESS_WAITING);

    (void)state;
    assert_null(one->function);
    assert_order(one->reductions, >, 0);
}

/* --- Many processes --------------------------------------------------------------------------- */

static atomic_bool over; /* relaxed: only this flag matters */

static void *look_on(void *context)
{
    struct th_process_seen *all;
    _Atomic size_t *most = context; /* relaxed: one writer */

    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        size_t count = th_runtime_list(&all);
        for (size_t i = 0; i < count; i++)
            if (all[i].doing > TH_PROCESS_WAITING || (all[i].function && !*all[i].function))
                abort();
        if (count > atomic_load_explicit(most, memory_order_relaxed))
            atomic_store_explicit(most, count, memory_order_relaxed);
        th_free(all);
    }
    return NULL;
}

static void processes_are_listed_while_others_start_and_end(void **state)
{
    pthread_t threads[2];
    _Atomic size_t most[2] = {0};

    (void)state;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, look_on, &most[i]);
    for (int round = 0; round < 30 || most[0] < 2 || most[1] < 2; round++) {
        call("spawns", "[100,party,loop,[200]]");
        call("spawns", "[10,party,select,[never,2]]");
    }
    atomic_store_explicit(&over, true, memory_order_relaxed);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static int begin(void **state)
{
    (void)state;
    start_party(2);
    process = th_runtime_run_start();
    self = th_strdup(show("", th_runtime_run_pid(process)));
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_runtime_run_exit(process, TH_AM(normal));
    stop_party();
    th_free(self);
    th_free(seen);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_waiting_process_shows_its_function_and_messages),
        cmocka_unit_test(a_running_process_shows_its_reductions),
        cmocka_unit_test(a_process_between_two_calls_shows_no_function),
        cmocka_unit_test(processes_are_listed_while_others_start_and_end),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
