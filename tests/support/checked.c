#include "checked.h"

#include "assertions.h"
#include "loaded.h"

#include "host/base/base.h"
#include "host/check/check.h"
#include "host/code/code.h"
#include "host/term/term.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct th_library *library;
static int saved_stderr = -1;
FILE *checked_said;

void checked_begin(const char *info)
{
    checked_said = tmpfile();
    assert_non_null(checked_said);
    saved_stderr = dup(2);
    dup2(fileno(checked_said), 2);
    th_check_start();
    library = loaded_plugin("tests/plugins/sins.so", th_atom(info));
}

int checked_begin_clean(void **state)
{
    (void)state;
    checked_begin("clean");
    return 0;
}

/* Replaces each address of 8 digits or more, which differs in each run, with 0x_. */
static void hide_addresses(char *line)
{
    char *number = line;

    while ((number = strstr(number, "0x"))) {
        size_t digits = strspn(number += 2, "0123456789abcdef");
        if (digits < 8)
            continue;
        *number = '_';
        memmove(number + 1, number + digits, strlen(number + digits) + 1);
    }
}

char *checked_end(uint64_t *findings)
{
    static const char prefix[] = "tracehost: check: ";
    struct th_buffer text = {0};
    char line[1000];
    char *copy;

    th_library_release(library);
    *findings = th_check_end();
    dup2(saved_stderr, 2);
    close(saved_stderr);
    saved_stderr = -1;
    rewind(checked_said);
    while (fgets(line, sizeof line, checked_said)) {
        assert_memory_equal(line, prefix, strlen(prefix));
        hide_addresses(line);
        th_buffer_add_text(&text, line + strlen(prefix));
    }
    fclose(checked_said);
    copy = th_strdup(th_buffer_text(&text));
    th_buffer_free(&text);
    return copy;
}

int checked_give_up(void **state)
{
    (void)state;
    if (saved_stderr >= 0)
        dup2(saved_stderr, 2);
    return 0;
}

void checked_expect(uint64_t count, const char *lines)
{
    uint64_t findings;
    char *text = checked_end(&findings);

    assert_string_equal(text, lines);
    assert_int_equal(findings, count);
    th_free(text);
}

void checked_perform(const char *function, const char *list, const char *name,
                     struct th_buffer *text)
{
    th_env *env = th_env_create(TH_ENV_CALLBACK);
    th_term arguments = TH_NIL, answer, argv[4];
    struct th_callee callee = {.library = library};
    struct th_check_call call = {.callee = &callee, .function = name, .argv = argv, .env = env};
    char *full_name;

    assert_int_equal(th_text_parse(env, list, strlen(list), &arguments), TH_OK);
    for (; th_is_list(arguments); arguments = th_cell(arguments)[1])
        argv[call.argc++] = th_cell(arguments)[0];
    callee.function =
        th_library_entry_function(th_library_entry(library), function, (unsigned)call.argc);
    assert_non_null(callee.function);
    callee.name = full_name = th_printf("sins:%s/%d", function, call.argc);
    env->library = library;

    th_check_begin(&call);
    answer = callee.function->fptr(env, call.argc, argv);
    answer = th_check_answer(&call, answer, false);
    if (answer == TH_NONE)
        th_buffer_add_text(text, "raised ");
    th_text_print(text, answer == TH_NONE ? env->exception : answer);
    th_check_retire(env);
    th_free(full_name);
    th_resource_reap();
}

const char *checked_call_as(const char *function, const char *list, const char *name)
{
    static char came[1000];
    struct th_buffer text = {0};

    checked_perform(function, list, name, &text);
    snprintf(came, sizeof came, "%s", th_buffer_text(&text));
    th_buffer_free(&text);
    return came;
}

const char *checked_call(const char *function, const char *list)
{
    return checked_call_as(function, list, function);
}
