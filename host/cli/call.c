/* tracehost call: evaluates calls of any NIF library. */
#include "call_prompt.h"
#include "command.h"
#include "host/trace/trace.h"
#include "interrupt.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum {
    OPTION_LOAD_INFO = TH_OPTION_OWN,
    OPTION_REPEAT,
    OPTION_THREADS,
    OPTION_CHECK,
    MOST_THREADS = 1024,
    CHUNK = 65536
};

struct text {
    const char *name; /* of the file, NULL: it is an argument */
    const char *expression;
};

struct call {
    const char **folders;
    size_t folder_count, folder_capacity;
    const char **libraries;
    size_t library_count, library_capacity;
    struct text *texts;
    size_t text_count, text_capacity;
    const char *info;
    uint64_t repeat, threads;
    bool check, many; /* many: --repeat or --threads was given */
};

static const struct argp_option options[] = {
    {NULL, 'L', "DIR", 0,
     "Look in DIR first, then in $TRACEHOST_PATH, then where tracehost is installed", 0},
    {NULL, 'f', "FILE", 0, "Evaluate what is in FILE, or - for stdin, before the EXPRESSIONs", 0},
    {"load-info", OPTION_LOAD_INFO, "TERM", 0,
     "What the libraries' load() is given, as by erlang:load_nif/2 (default: 0)", 0},
    {"repeat", OPTION_REPEAT, "N", 0, "Evaluate all N times", 0},
    {"threads", OPTION_THREADS, "N", 0,
     "Evaluate all in N processes at once, on N schedulers, each with its own variables", 0},
    {"check", OPTION_CHECK, NULL, 0,
     "Watch what the libraries do with the NIF API; exit with 1 if it is forbidden", 0},
    {0},
};

/* --- Arguments -------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
    size_t size = strlen(text), tail = strlen(with);

    return size >= tail && strcmp(text + size - tail, with) == 0;
}

/* What no name of a library has tells an expression, but a path may be called whatever it likes. */
static bool is_expression(const char *text)
{
    size_t size = strlen(text);

    if (begins(text, "/") || begins(text, "./") || begins(text, "../") ||
        (strchr(text, '/') && ends(text, ".so")))
        return false;
    while (size > 0 && strchr(" \t\r\n", text[size - 1]))
        size--;
    return size == 0 || text[size - 1] == '.' || strpbrk(text, "()[]{}=<>\"':;,!$#% \t\r\n");
}

static void add_text(struct call *call, const char *name, const char *expression)
{
    TH_ARRAY_GROW(call->texts, call->text_count, call->text_capacity);
    call->texts[call->text_count++] = (struct text){name, expression};
}

static void add_argument(struct call *call, const char *text)
{
    if (strcmp(text, "-") == 0) {
        add_text(call, text, NULL);
    } else if (is_expression(text)) {
        add_text(call, NULL, text);
    } else {
        TH_ARRAY_GROW(call->libraries, call->library_count, call->library_capacity);
        call->libraries[call->library_count++] = text;
    }
}

static uint64_t count_from_one(const char *text, struct argp_state *state, const char *option,
                               uint64_t most)
{
    uint64_t count = th_option_count(text, state, option);

    if (count < 1 || count > most)
        argp_error(state, "%s wants a number from 1 to %" PRIu64 ", not '%s'", option, most, text);
    return count;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct call *call = state->input;

    switch (key) {
    case 'L':
        TH_ARRAY_GROW(call->folders, call->folder_count, call->folder_capacity);
        call->folders[call->folder_count++] = value;
        return 0;
    case 'f':
        add_text(call, value, NULL);
        return 0;
    case OPTION_LOAD_INFO:
        call->info = value;
        return 0;
    case OPTION_REPEAT:
        call->repeat = count_from_one(value, state, "--repeat", INT64_MAX / MOST_THREADS);
        call->many = true;
        return 0;
    case OPTION_THREADS:
        call->threads = count_from_one(value, state, "--threads", MOST_THREADS);
        call->many = true;
        return 0;
    case OPTION_CHECK:
        call->check = true;
        return 0;
    case ARGP_KEY_ARG:
        add_argument(call, value);
        return 0;
    case ARGP_KEY_END:
        if (call->library_count == 0)
            argp_error(state, "which LIBRARY?");
        if (call->many && call->text_count == 0)
            argp_error(state, "--repeat and --threads want EXPRESSIONs, or - for stdin");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options,
    parse,
    "LIBRARY... [EXPRESSION...]",
    "Loads NIF libraries and evaluates Erlang expressions that call their functions, as a shell "
    "does.\v"
    "LIBRARY is a name, looked up as NAME.so, or a path with a '/'. EXPRESSION is what ends in a "
    "full stop or has a bracket, a quote, a blank or any of = : ; , < > ! $ # % in it; but what "
    "begins with / or ./ or ../, or ends in .so behind a /, is a path. - stands for what is on "
    "stdin. An EXPRESSION's last full stop may be left out. Without any, stdin is read; if that "
    "is a terminal, there is a prompt.\n\n"
    "There are terms, variables and patterns, operators, case, if, try, catch, receive and !; "
    "self(), register/2, timer:sleep/1 and the like; flush(), f(), f(V), b() and q() as in the "
    "shell; tracehost:console(), a process that prints what it is sent, and "
    "tracehost:open_port(\"FILE\") and close_port/1. There are no funs, no comprehensions and no "
    "other functions of Erlang's.\n\n"
    "Values are printed on stdout, exceptions on stderr; then the exit status is 1. With --repeat "
    "and --threads, values are those of the first time.\n\n"
    "Examples:\n"
    "  tracehost call -L priv jiffy 'jiffy:nif_decode_init(<<\"[1,2]\">>, []).'\n"
    "  tracehost call ./my_nif.so '{ok, C} = my_nif:new().' 'my_nif:add(C, 1).'\n"
    "  tracehost call --threads=4 --repeat=1000 my_nif -f stress.txt\n",
    NULL,
    NULL,
    NULL,
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

static enum th_status read_text(const struct text *text, struct th_program *program)
{
    struct th_buffer file = {0};
    enum th_status status = TH_OK;

    *program = (struct th_program){0};
    th_env_init(&program->env, TH_ENV_PLAIN);
    if (text->name)
        status = read_file(text->name, &file);
    if (status == TH_OK && text->name)
        status = th_program_parse(program, (char *)file.data, file.size, false);
    else if (status == TH_OK)
        status = th_program_parse(program, text->expression, strlen(text->expression), true);
    if (status != TH_OK && text->expression)
        th_error_context("cannot read '%.200s'", text->expression);
    else if (status != TH_OK && file.size > 0)
        th_error_context("cannot read %s", strcmp(text->name, "-") == 0 ? "stdin" : text->name);
    th_buffer_free(&file);
    return status;
}

/* All that is to be evaluated is read before anything is. */
static enum th_status read_texts(const struct call *call, struct th_program *programs,
                                 size_t *count)
{
    enum th_status status = TH_OK;

    for (*count = 0; status == TH_OK && *count < call->text_count; ++*count)
        status = read_text(&call->texts[*count], &programs[*count]);
    return status;
}

static enum th_status read_info(const struct call *call, th_env *env, th_term *info)
{
    *info = th_small(0);
    if (!call->info || th_text_parse(env, call->info, strlen(call->info), info) == TH_OK)
        return TH_OK;
    return th_error_raise(TH_USAGE, "--load-info is no Erlang term: %s", th_error_link(0));
}

/* --- The work --------------------------------------------------------------------------------- */

static enum th_status load_all(const struct call *call, struct th_call_libraries *libraries)
{
    struct th_search search;
    th_env env;
    th_term info;
    enum th_status status;

    th_env_init(&env, TH_ENV_PLAIN);
    th_search_init(&search, TH_SEARCH_PLUGINS, call->folders, call->folder_count);
    status = read_info(call, &env, &info);
    for (size_t i = 0; status == TH_OK && i < call->library_count; i++) {
        const char *name = call->libraries[i];
        status = th_call_library_add(libraries, &search, name, info);
        if (status != TH_OK && *name >= 'A' && *name <= 'Z' && !strchr(name, '/'))
            th_error_context("'%s' is taken for a library; as an expression it ends in a full stop",
                             name);
    }
    th_search_free(&search);
    th_env_release(&env);
    return status;
}

static void sum_up(const struct call *call, const struct th_call_work *work)
{
    uint64_t done = atomic_load_explicit(&work->done, memory_order_relaxed);
    uint64_t failed = atomic_load_explicit(&work->failed, memory_order_relaxed);

    if (!call->many && !th_interrupt_came())
        return;
    th_command_flush();
    fprintf(stderr, "tracehost call: ");
    if (th_interrupt_came())
        fprintf(stderr, "%s came%s", th_interrupt_name(), call->many ? " after " : "\n");
    if (call->many)
        fprintf(stderr, "%" PRIu64 " round%s of %u process%s, %" PRIu64 " evaluation%s failed\n",
                done, th_plural(done), work->sessions, work->sessions == 1 ? "" : "es", failed,
                th_plural(failed));
}

static enum th_status evaluate_all(const struct call *call, struct th_call_work *work)
{
    enum th_status status = TH_OK;

    if (call->text_count > 0) {
        status = th_call_work_run(work);
    } else {
        struct th_call_session session;
        th_call_session_start(&session, work, 1);
        th_call_prompt(&session);
        th_call_session_end(&session);
    }
    if (status != TH_OK)
        th_command_fail("call");
    sum_up(call, work);
    return status == TH_OK && atomic_load_explicit(&work->failed, memory_order_relaxed) ? TH_FAILED
                                                                                        : status;
}

/* From the first library to when the last one has no users any more. */
static enum th_status work_with_libraries(const struct call *call, struct th_call_work *work)
{
    struct th_call_libraries libraries = {0};
    enum th_status status;

    status = load_all(call, &libraries);
    if (status == TH_OK)
        status = evaluate_all(call, work);
    else
        th_command_fail("call");
    th_library_halt();
    th_runtime_kill_all();
    th_call_libraries_free(&libraries);
    return status;
}

static enum th_status run(const struct call *call, struct th_call_work *work)
{
    struct th_runtime_setup setup = {.schedulers = work->sessions};
    enum th_status status;

    th_guard_install();
    if (call->check)
        th_check_start();
    th_runtime_start(&setup);
    status = work_with_libraries(call, work);
    if (th_port_close_all() != TH_OK && status == TH_OK)
        status = th_command_fail("call");
    th_runtime_stop(); /* with it the last destructors have run, and the last unload() */
    th_guard_end();
    if (call->check && th_check_end() > 0 && status == TH_OK)
        status = TH_FAILED;
    return status;
}

int th_command_call(int argc, char **argv)
{
    struct call call = {.repeat = 1, .threads = 1};
    struct th_program *programs;
    size_t count;
    enum th_status status;

    th_command_parse(&argp, argc, argv, &call);
    if (call.text_count == 0 && !isatty(STDIN_FILENO))
        add_text(&call, "-", NULL);
    th_interrupt_install();
    programs = th_alloc((call.text_count + 1) * sizeof *programs);
    status = read_texts(&call, programs, &count);
    if (status == TH_OK) {
        struct th_call_work work = {.programs = programs,
                                    .program_count = count,
                                    .rounds = call.repeat,
                                    .sessions = (unsigned)call.threads};
        status = run(&call, &work);
    } else {
        th_command_fail("call");
    }
    for (size_t i = 0; i < count; i++)
        th_program_free(&programs[i]);
    th_free(programs);
    th_free(call.folders);
    th_free(call.libraries);
    th_free(call.texts);
    return th_interrupt_status(th_command_finish("call", status));
}
