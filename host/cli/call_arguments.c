#include "call_arguments.h"

#include "host/control/control.h"

#include <errno.h>
#include <string.h>

enum { CHUNK = 65536 };

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

static void add_text(struct th_call_arguments *arguments, const char *name, const char *expression)
{
    TH_ARRAY_GROW(arguments->texts, arguments->text_count, arguments->text_capacity);
    arguments->texts[arguments->text_count++] = (struct th_call_text){name, expression};
}

void th_cli_call_arguments_add(struct th_call_arguments *arguments, const char *text)
{
    if (strcmp(text, "-") == 0) {
        add_text(arguments, text, NULL);
    } else if (is_expression(text)) {
        add_text(arguments, NULL, text);
    } else {
        TH_ARRAY_GROW(arguments->libraries, arguments->library_count, arguments->library_capacity);
        arguments->libraries[arguments->library_count++] = text;
    }
}

void th_cli_call_arguments_add_file(struct th_call_arguments *arguments, const char *name)
{
    add_text(arguments, name, NULL);
}

void th_cli_call_arguments_free(struct th_call_arguments *arguments)
{
    th_free(arguments->libraries);
    th_free(arguments->texts);
}

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
        th_error_context("cannot read '%.200s'", text->expression);
    else if (status != TH_OK && file.size > 0)
        th_error_context("cannot read %s", strcmp(text->name, "-") == 0 ? "stdin" : text->name);
    th_buffer_free(&file);
    return status;
}

/* All that is to be evaluated is read before anything is. */
enum th_status th_cli_call_arguments_read(const struct th_call_arguments *arguments,
                                          struct th_program programs[], size_t *count)
{
    enum th_status status = TH_OK;

    for (*count = 0; status == TH_OK && *count < arguments->text_count; ++*count)
        status = read_text(&arguments->texts[*count], &programs[*count]);
    return status;
}

/* --- Libraries -------------------------------------------------------------------------------- */

static enum th_status load(struct th_library *library, th_term info)
{
    struct th_prepared *prepared = th_code_prepare(library);
    struct th_finish finish = {.prepared = &prepared, .count = 1, .info = info};
    enum th_status status = th_code_finish(&finish);

    if (status != TH_OK)
        th_code_prepared_drop(prepared);
    return status;
}

static enum th_status open_copy(const struct th_search *search, const char *name,
                                struct th_library **library)
{
    char *path;
    enum th_status status = th_library_search_find(search, name, &path);

    if (status != TH_OK)
        return status;
    status = th_library_open_copy(path, library);
    th_free(path);
    return status;
}

static bool is_same_file(const struct th_library *a, const struct th_library *b)
{
    const struct th_examination *one = th_library_examination(a),
                                *other = th_library_examination(b);

    return one->device == other->device && one->inode == other->inode;
}

/* Finds NAME, opens and loads it with INFO; COPY: opens a private copy, so that new code may take
 * its place, whatever is done to the file. TH_USAGE if there is another library of its module.
 * th_code_end() unloads it. */
static enum th_status add_library(const struct th_search *search, const char *name, th_term info,
                                  bool copy)
{
    struct th_library *library;
    struct th_library *there;
    enum th_status status =
        copy ? open_copy(search, name, &library) : th_library_find(search, name, &library);

    if (status != TH_OK)
        return status;
    there = th_code_module_find(th_library_name(library));
    if (!there)
        return load(library, info);
    if (!is_same_file(there, library)) /* the same file once more is as good as once */
        status = th_error_raise(TH_USAGE, "%s and %s are both module %s; one at a time, please",
                                th_library_path(there), th_library_path(library),
                                th_atom_name(th_library_name(library))->text);
    th_library_release(library);
    return status;
}

enum th_status th_cli_call_arguments_load(const struct th_call_arguments *arguments,
                                          const char *const folders[], size_t folder_count,
                                          bool copies)
{
    struct th_search search;
    th_env env;
    th_term info;
    enum th_status status;

    th_env_init(&env, TH_ENV_PLAIN);
    th_library_search_init(&search, TH_SEARCH_PLUGINS, folders, folder_count);
    status = th_control_load_info_read(arguments->info, &env, &info);
    for (size_t i = 0; status == TH_OK && i < arguments->library_count; i++) {
        const char *name = arguments->libraries[i];
        status = add_library(&search, name, info, copies);
        if (status != TH_OK && *name >= 'A' && *name <= 'Z' && !strchr(name, '/'))
            th_error_context("'%s' is taken for a library; as an expression it ends in a full stop",
                             name);
    }
    th_library_search_free(&search);
    th_env_release(&env);
    return status;
}

/* --- The table -------------------------------------------------------------------------------- */

static enum th_status take_word(const struct th_argument *argument, const char *value, void *input)
{
    (void)argument;
    th_cli_call_arguments_add(input, value);
    return TH_OK;
}

static enum th_status take_file(const struct th_argument *argument, const char *value, void *input)
{
    (void)argument;
    th_cli_call_arguments_add_file(input, value);
    return TH_OK;
}

const struct th_argument th_cli_call_argument_table[] = {
    TH_WORD("LIBRARY", LIBRARY, TH_ARGUMENT_REPEATS, .take = take_word),
    TH_OPTION(NULL, "FILE", FILE, 0,
              "Evaluate what is in FILE, or - for stdin, before the EXPRESSIONs", .letter = 'f',
              .take = take_file),
    TH_OPTION("load-info", "TERM", TEXT, 0,
              "What the libraries' load() is given, as by erlang:load_nif/2 (default: 0)",
              TH_INTO(struct th_call_arguments, info)),
    {0},
};
