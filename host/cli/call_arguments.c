#include "call_arguments.h"

#include "interrupt.h"
#include "subcommand.h"

#include "host/check/check.h"
#include "host/code/loading.h"
#include "host/control/commands/commands.h"
#include "host/crash/crash.h"
#include "host/library/examine.h"
#include "host/library/load.h"
#include "host/process/process.h"
#include "host/term/atom.h"

#include <errno.h>
#include <string.h>

enum { CHUNK = 65536 };

/* --- Arguments -------------------------------------------------------------------------------- */

/* A character that no library name contains marks an expression; a path may contain any
 * character. */
static bool is_expression(const char *text)
{
    static const char *const paths[] = {"/", "./", "../"};
    size_t size = strlen(text);

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (strncmp(text, paths[i], strlen(paths[i])) == 0)
            return false;
    if (strchr(text, '/') && size >= 3 && strcmp(text + size - 3, ".so") == 0)
        return false;
    while (size > 0 && strchr(" \t\r\n", text[size - 1]))
        size--;
    return size == 0 || text[size - 1] == '.' || strpbrk(text, "()[]{}=<>\"':;,!$#% \t\r\n");
}

void th_cli_call_arguments_add(struct th_call_arguments *arguments, const char *name,
                               const char *expression)
{
    TH_ARRAY_GROW(arguments->texts, arguments->text_count, arguments->text_capacity);
    arguments->texts[arguments->text_count++] = (struct th_call_text){name, expression};
}

static enum th_status call_arguments_take_word(const struct th_argument *argument,
                                               const char *value, void *input)
{
    struct th_call_arguments *arguments = input;

    (void)argument;
    if (strcmp(value, "-") == 0) {
        th_cli_call_arguments_add(arguments, value, NULL);
    } else if (is_expression(value)) {
        th_cli_call_arguments_add(arguments, NULL, value);
    } else {
        TH_ARRAY_GROW(arguments->libraries.items, arguments->libraries.count,
                      arguments->libraries.capacity);
        arguments->libraries.items[arguments->libraries.count++] = value;
    }
    return TH_OK;
}

static enum th_status call_arguments_take_file(const struct th_argument *argument,
                                               const char *value, void *input)
{
    (void)argument;
    th_cli_call_arguments_add(input, value, NULL);
    return TH_OK;
}

const struct th_argument th_cli_call_argument_table[] = {
    TH_WORD("LIBRARY", LIBRARY, TH_ARGUMENT_REPEATS, .take = call_arguments_take_word),
    TH_OPTION(NULL, "FILE", FILE, INPUT, "Evaluate FILE (- for stdin) before the EXPRESSIONs",
              .letter = 'f', .take = call_arguments_take_file),
    TH_OPTION("load-info", "TERM", TEXT, INPUT, "Argument of the libraries' load() (default: 0)",
              TH_INTO(struct th_call_arguments, info)),
    TH_OPTION("grace", "T", TIME, LIMITS,
              "At the end, wait up to T for functions that run, else exit with 6 (default: 10s)",
              .most = INT64_MAX, TH_INTO(struct th_call_arguments, grace)),
    TH_OPTION("check", NULL, FLAG, OTHER, "Report misuse of the NIF API; if any, exit with 1",
              TH_INTO(struct th_call_arguments, check)),
    {0},
};

/* --- Texts ------------------------------------------------------------------------------------ */

static enum th_status read_file(const char *name, struct th_buffer *to)
{
    bool from_stdin = strcmp(name, "-") == 0;
    FILE *file = from_stdin ? stdin : fopen(name, "re");
    enum th_status status = TH_OK;
    size_t got;

    if (!file)
        return th_error_raise(TH_MALFORMED, "cannot open %s: %s", name, strerror(errno));
    while ((got = fread(th_buffer_reserve(to, CHUNK), 1, CHUNK, file)) > 0)
        to->size += got;
    if (ferror(file))
        status = th_error_raise(TH_MALFORMED, "cannot read %s: %s", from_stdin ? "stdin" : name,
                                strerror(errno));
    if (!from_stdin)
        fclose(file);
    return status;
}

static enum th_status read_text(const struct th_call_text *text, struct th_program *program)
{
    struct th_buffer file = {0};
    enum th_status status = TH_OK;

    *program = (struct th_program){0};
    if (text->name)
        status = read_file(text->name, &file);
    if (status == TH_OK && text->name)
        status = th_shell_parse(program, (char *)file.data, file.size, false);
    else if (status == TH_OK)
        status = th_shell_parse(program, text->expression, strlen(text->expression), true);
    if (status != TH_OK && text->expression)
        th_error_context("cannot parse '%.200s'", text->expression);
    else if (status != TH_OK && file.size > 0)
        th_error_context("cannot read %s", strcmp(text->name, "-") == 0 ? "stdin" : text->name);
    th_buffer_free(&file);
    return status;
}

/* --- Libraries -------------------------------------------------------------------------------- */

/* Finds, opens and loads NAME with INFO; COPY: opens a private copy. th_code_end() unloads the
 * library. Errors: TH_USAGE if another file has the same module. */
static enum th_status add_library(const struct th_search *search, const char *name, th_term info,
                                  bool copy)
{
    const struct th_examination *one, *other;
    struct th_library *library, *there;
    char *path = NULL;
    enum th_status status = copy ? th_library_search_find(search, name, &path)
                                 : th_library_find(search, name, &library);

    if (status == TH_OK && copy)
        status = th_library_open_copy(path, &library);
    th_free(path);
    if (status != TH_OK)
        return status;
    there = th_code_module_find(th_library_name(library));
    if (!there) {
        struct th_instance *prepared = th_code_prepare(library);
        struct th_finish finish = {.prepared = &prepared, .count = 1, .info = info};
        status = th_code_finish(&finish);
        if (status != TH_OK)
            th_code_prepared_drop(prepared);
        return status;
    }

    one = th_library_examination(there);
    other = th_library_examination(library);
    if (one->device != other->device || one->inode != other->inode)
        status = th_error_raise(TH_USAGE, "%s and %s are both module %s: load one at a time",
                                th_library_path(there), th_library_path(library),
                                th_atom_name(th_library_name(library))->text);
    th_library_release(library); /* the same file given twice counts once */
    return status;
}

static enum th_status load_libraries(const struct th_call_host *host)
{
    const struct th_call_arguments *arguments = host->arguments;
    struct th_search search;
    th_env env;
    th_term info;
    enum th_status status;

    th_env_init(&env, TH_ENV_PLAIN);
    th_library_search_init(&search, TH_SEARCH_PLUGINS, host->folders->items, host->folders->count);
    status = th_control_load_info_read(arguments->info, &env, &info);
    for (size_t i = 0; status == TH_OK && i < arguments->libraries.count; i++) {
        const char *name = arguments->libraries.items[i];
        status = add_library(&search, name, info, host->copies);
        if (status != TH_OK && *name >= 'A' && *name <= 'Z' && !strchr(name, '/'))
            th_error_context(
                "'%s' was read as the name of a library: end an expression with a full stop", name);
    }
    th_library_search_free(&search);
    th_env_release(&env);
    return status;
}

/* --- The host --------------------------------------------------------------------------------- */

enum th_status th_cli_call_host_run(const struct th_call_host *host)
{
    struct th_call_arguments *arguments = host->arguments;
    struct th_program *programs = th_alloc((arguments->text_count + 1) * sizeof *programs);
    enum th_status status = TH_OK;
    size_t count = 0;

    th_cli_interrupt_install();
    th_crash_install();
    if (arguments->check)
        th_check_start();
    if (host->begin)
        host->begin(host->context);
    for (; status == TH_OK && count < arguments->text_count; count++)
        status = read_text(&arguments->texts[count], &programs[count]);
    if (status != TH_OK) {
        th_cli_command_fail(host->command);
    } else {
        /* The runtime must exist from the first thread to the last unload(). */
        th_runtime_start(&host->setup);
        status = load_libraries(host);
        if (status == TH_OK)
            status = host->evaluate(host->context, programs, count);
        else
            th_cli_command_fail(host->command);
        if (!th_library_halting()) /* nothing has run */
            th_library_halt();
        th_runtime_kill_all();
        th_code_end();
        if (th_process_port_close_all() != TH_OK && status == TH_OK)
            status = th_cli_command_fail(host->command);
        th_runtime_stop(); /* runs the last destructors */
    }
    if (host->end)
        host->end(host->context);
    th_crash_end();
    if (arguments->check && th_check_end() > 0 && status == TH_OK)
        status = TH_FAILED;
    while (count > 0)
        th_shell_program_free(&programs[--count]);
    th_free(programs);
    th_free(arguments->libraries.items);
    th_free(arguments->texts);
    return status;
}
