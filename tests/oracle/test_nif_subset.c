/*
 * The NIF API against a real BEAM: one library, compiled with OTP's own header, gives the same
 * answers in both. Skipped where there is no Erlang, or not its header ($OTP_INCLUDE).
 */
#include "host/nif/nif.h"
#include "host/process/process.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { SHOWN = 20 /* the most differences that are printed */ };

static char folder[] = "/tmp/nif_subset.XXXXXX";
static bool has_erlang;

static bool run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static bool run(const char *format, ...)
{
    va_list args;
    char *command;
    int status;

    va_start(args, format);
    assert_true(vasprintf(&command, format, args) > 0);
    va_end(args);
    status = system(command);
    free(command);
    return status == 0;
}

/* Compiles both halves and asks the BEAM. */
static int ask_beam(void **state)
{
    const char *compiler = getenv("CC");
    const char *include = getenv("OTP_INCLUDE");

    (void)state;
    assert_non_null(mkdtemp(folder));
    has_erlang = include && *include && run("command -v erl >/dev/null");
    if (!has_erlang)
        return 0;
    assert_true(run("erlc -o %s tests/oracle/nif_subset.erl", folder));
    assert_true(run("%s -std=gnu11 -O1 -Wall -Wextra -Werror -fPIC -shared -I%s "
                    "tests/oracle/nif_subset*.c -o %s/nif_subset.so",
                    compiler && *compiler ? compiler : "cc", include, folder));
    assert_true(run("cd %s && erl -noshell -run nif_subset main .", folder));
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    run("rm -rf %s", folder);
    return 0;
}

/* The content of a file of the folder. */
static struct th_buffer content(const char *name)
{
    struct th_buffer bytes = {0};
    char *path = th_printf("%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    size_t got;

    assert_non_null(file);
    do {
        got = fread(th_buffer_reserve(&bytes, 65536), 1, 65536, file);
        bytes.size += got;
    } while (got > 0);
    fclose(file);
    th_free(path);
    return bytes;
}

static th_term read_terms(th_env *env)
{
    struct th_etf_options options = {.here = th_world_node()};
    struct th_buffer bytes = content("terms");
    th_term terms;
    size_t used;

    assert_int_equal(th_etf_decode(env, bytes.data, bytes.size, true, &options, &terms, &used),
                     TH_OK);
    assert_int_equal(used, bytes.size);
    th_buffer_free(&bytes);
    return terms;
}

/* What the library's one function answers here. GIVEN is {Terms, Self, Dead}. */
static th_term ask_here(th_env *env, th_term given)
{
    const th_term *parts = th_tuple_elements(given);
    char *path = th_printf("%s/nif_subset.so", folder);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ErlNifEntry *(*init)(void);

    if (!library)
        fail_msg("%s", dlerror());
    *(void **)&init = dlsym(library, "nif_init");
    assert_non_null(init);
    th_free(path);
    env->self = parts[1];
    th_world_end(parts[2]);
    return init()->funcs[0].fptr(env, 2, (ERL_NIF_TERM[]){parts[0], parts[2]});
}

static struct th_buffer as_lines(th_term answers)
{
    struct th_buffer lines = {0};

    for (; th_is_list(answers); answers = th_cell(answers)[1]) {
        const th_term *pair = th_tuple_elements(th_cell(answers)[0]);
        char name[100];
        assert_true(enif_get_string(NULL, pair[0], name, sizeof name, ERL_NIF_LATIN1) > 0);
        th_buffer_printf(&lines, "%s ", name);
        th_text_print(&lines, pair[1]);
        th_buffer_add_byte(&lines, '\n');
    }
    return lines;
}

/* Here there are names for a few errno values that a BEAM does not know. */
static bool may_differ(const char *line)
{
    return strcmp(line, "erl_errno_id \"unknown\"") == 0;
}

static size_t count_differences(char *theirs, char *ours)
{
    const char *term = "";
    size_t count = 0;
    char *expected, *got;

    while ((expected = strsep(&theirs, "\n")) && (got = strsep(&ours, "\n"))) {
        if (strncmp(expected, "--- ", 4) == 0)
            term = expected + 4;
        if (strcmp(expected, got) != 0 && !may_differ(expected) && count++ < SHOWN)
            print_error("of term %s of terms/0\n  BEAM: %.300s\n  here: %.300s\n", term, expected,
                        got);
    }
    return count + ((expected != NULL) != (ours != NULL));
}

static void answers_are_those_of_a_beam(void **state)
{
    struct th_buffer theirs, ours;
    th_env env;

    (void)state;
    if (!has_erlang)
        skip();
    th_env_init(&env, TH_ENV_CALLBACK);
    th_world_set_node((struct th_etf_node){TH_AM(nonode), 0});
    theirs = content("answers");
    ours = as_lines(ask_here(&env, read_terms(&env)));
    assert_true(theirs.size > 100000);
    assert_int_equal(
        count_differences((char *)th_buffer_text(&theirs), (char *)th_buffer_text(&ours)), 0);
    th_buffer_free(&theirs);
    th_buffer_free(&ours);
    th_env_release(&env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_a_beam),
    };

    return cmocka_run_group_tests(tests, ask_beam, clean_up);
}
