/*
 * tracehost's side of runtime.py: answers each line, "ROW N", with how many nanoseconds it took to
 * do that N times.
 *
 *   runtime LIBRARY      tests/plugins/party.so
 */
#include "host/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct th_library *library;
static struct th_process_run *process;
static th_env env; /* of results */

static int64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * (int64_t)1000000000 + time.tv_nsec;
}

static th_term call(const char *name, unsigned argc, const th_term argv[])
{
    th_term result = TH_NONE;

    if (th_run_call(process,
                    th_export_callee(th_export_find(th_atom("party"), th_atom(name), argc)), argv,
                    &env, &result) != TH_CALL_RETURNED) {
        fprintf(stderr, "bench: party:%s/%u failed\n", name, argc);
        exit(1);
    }
    return result;
}

static void answer(const char *row, long times)
{
    th_term count = th_small(times);
    th_term ping[2] = {TH_NIL, count};
    int64_t begin;

    th_env_clear(&env);
    if (strcmp(row, "ping") == 0)
        ping[0] = call("spawn", 4,
                       (const th_term[]){th_atom("party"), th_atom("server"), TH_NIL, th_small(0)});
    begin = now();
    if (strcmp(row, "ping") == 0)
        call("ping", 2, ping);
    else
        call(row, 1, &count);
    printf("%lld\n", (long long)(now() - begin));
    fflush(stdout);
    if (strcmp(row, "ping") == 0)
        th_mail_send(ping[0], TH_AM(ok));
}

int main(int argc, char **argv)
{
    char row[64];
    long times;

    if (argc != 2)
        return 2;
    th_env_init(&env, TH_ENV_PLAIN);
    th_runtime_start(&(const struct th_runtime_setup){0});
    if (th_library_open(argv[1], &library) != TH_OK ||
        th_library_load(library, NULL, th_small(0)) != TH_OK) {
        th_error_print(stderr, "bench");
        return 1;
    }
    th_module_add(library);
    process = th_run_start();
    while (scanf("%63s %ld", row, &times) == 2)
        answer(row, times);
    th_run_exit(process, TH_AM(normal));
    th_runtime_kill_all();
    th_module_remove(library);
    th_library_release(library);
    th_env_release(&env);
    th_runtime_stop();
    return 0;
}
