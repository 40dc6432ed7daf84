/*
 * Runs nif_times.c in tracehost for nif.py: answers each line, the name of a row, with the median
 * of
 * the picoseconds a call took, and the line `rows` with the names of all rows.
 *
 *   nif_times LIBRARY
 */
#include "host/code/code.h"
#include "host/library/library.h"
#include "host/process/process.h"
#include "host/runtime/runtime.h"
#include "host/term/term.h"

#include <stdlib.h>

enum { TIMES = 101 };

static struct th_library *library;
static struct th_process *caller;
static th_env env; /* environment of results */
static struct th_mailbox *receiver;
static th_term pids; /* {Live, Dead, Receiver} */

static void fail(void)
{
    th_error_print(stderr, "bench");
    exit(1);
}

/* No process waits for messages. */
static void arrived(void *context, const struct th_message *message)
{
    (void)context, (void)message;
}

static void make_pids(th_env *own)
{
    struct th_mailbox *dead = th_process_start_mailbox(arrived, NULL, NULL);
    th_term dead_pid = th_process_pid(dead);
    th_term pid;

    th_process_exit(dead, TH_AM(normal));
    receiver = th_process_start_mailbox(arrived, NULL, NULL);
    pid = th_process_pid(receiver);
    pids = th_make_tuple_of(own, pid, dead_pid, pid);
}

static void empty_mailbox(void)
{
    struct th_message *message = th_process_take(receiver);

    while (message) {
        struct th_message *next = message->next;
        th_process_message_free(message);
        message = next;
    }
}

/* Calls a function of the library on a scheduler, as `tracehost call` does. */
static th_term call(const char *name, unsigned arity, const th_term argv[])
{
    const struct th_callee callee = {
        .library = library,
        .function = th_library_entry_function(th_library_entry(library), name, arity),
        .name = name,
    };
    th_term result = TH_NONE;

    th_env_clear(&env);
    th_runtime_run_call(caller, &callee, argv, &env, &result);
    return result;
}

static void print_rows(void)
{
    for (th_term rows = call("rows", 0, NULL); th_is_list(rows); rows = th_cell(rows)[1])
        puts(th_atom_name(th_cell(rows)[0])->text);
    puts("");
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void print_median(const char *row)
{
    th_term argv[] = {th_atom(row), pids};
    int64_t times[TIMES];

    for (size_t i = 0; i < TIMES; i++) {
        if (!th_get_int64(call("time", 2, argv), &times[i])) {
            fprintf(stderr, "bench: no row %s\n", row);
            exit(1);
        }
        empty_mailbox();
    }
    qsort(times, TIMES, sizeof times[0], by_value);
    printf("%lld\n", (long long)times[TIMES / 2]);
}

static void answer(char *line)
{
    line[strcspn(line, "\n")] = 0;
    if (strcmp(line, "rows") == 0)
        print_rows();
    else
        print_median(line);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char line[256];
    th_env own;

    if (argc != 2)
        return 2;
    th_env_init(&own, TH_ENV_PLAIN);
    th_env_init(&env, TH_ENV_PLAIN);
    th_runtime_start(&(const struct th_runtime_setup){0});
    caller = th_runtime_run_start();
    make_pids(&own);
    if (th_library_open(argv[1], &library) != TH_OK ||
        th_library_load(library, NULL, th_small(0)) != TH_OK)
        fail();
    while (fgets(line, sizeof line, stdin))
        answer(line);
    th_env_release(&env);
    th_process_exit(receiver, TH_AM(normal));
    th_runtime_run_exit(caller, TH_AM(normal));
    th_library_release(library);
    th_runtime_stop();
    th_env_release(&own);
    return 0;
}
