/* Waits for lines that callbacks write into the file $JOURNAL, and for processes that end. */
#include <erl_nif.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    WAITS = 500, /* of 10 ms each; after that, a line is missing */
    MOST = 300,
    SIZE = 600
};

static long said; /* bytes that were returned before */

static int compare_lines(const void *one, const void *other)
{
    return strcmp(one, other);
}

/* Reads the lines after those returned before, at most MOST, as soon as WANTED lines exist. */
static int read_lines(char lines[MOST][SIZE], int wanted)
{
    int count = 0;

    for (int waits = 0; waits < WAITS; waits++) {
        FILE *file = fopen(getenv("JOURNAL"), "r");

        if (file && fseek(file, said, SEEK_SET) == 0)
            for (count = 0; count < MOST && fgets(lines[count], SIZE, file);)
                count++;
        if (file && count >= wanted) {
            said = ftell(file);
            waits = WAITS;
        }
        if (file)
            fclose(file);
        if (waits < WAITS)
            usleep(10000);
    }
    return count;
}

/* lines(N), sorted(N): return the next lines as soon as N exist, in order or sorted. */
static ERL_NIF_TERM answer_lines(ErlNifEnv *env, ERL_NIF_TERM number, bool sorts)
{
    static char lines[MOST][SIZE]; /* called by one process only */
    ERL_NIF_TERM list = enif_make_list(env, 0);
    int wanted = 0, count;

    enif_get_int(env, number, &wanted);
    count = read_lines(lines, wanted);
    if (sorts)
        qsort(lines, (size_t)count, SIZE, compare_lines);
    while (count-- > 0)
        list = enif_make_list_cell(
            env,
            enif_make_string_len(env, lines[count], strcspn(lines[count], "\n"), ERL_NIF_LATIN1),
            list);
    return list;
}

static ERL_NIF_TERM lines(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return answer_lines(env, argv[0], false);
}

static ERL_NIF_TERM sorted(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return answer_lines(env, argv[0], true);
}

/* ended(Pid): true if the process has ended, or ends soon. */
static ERL_NIF_TERM ended(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPid pid;

    (void)argc;
    if (!enif_get_local_pid(env, argv[0], &pid))
        return enif_make_badarg(env);
    for (int waits = 0; enif_is_process_alive(env, &pid) && waits < WAITS; waits++)
        usleep(10000);
    return enif_make_atom(env, enif_is_process_alive(env, &pid) ? "no" : "yes");
}

static ErlNifFunc functions[] = {{"lines", 1, lines, ERL_NIF_DIRTY_JOB_IO_BOUND},
                                 {"sorted", 1, sorted, ERL_NIF_DIRTY_JOB_IO_BOUND},
                                 {"ended", 1, ended, ERL_NIF_DIRTY_JOB_IO_BOUND}};

ERL_NIF_INIT(journal, functions, NULL, NULL, NULL, NULL)
