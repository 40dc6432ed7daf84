/*
 * tracehost new: makes a folder with a tracer or a plugin to begin with.
 *
 * The files are those of samples/new, which the build puts into the program. A file is taken if each
 * folder of its path is a word of the command: KIND, the language, or `erlang`, with --erlang. Files
 * of one name become one file, in the order of their paths. PLACEHOLDER stands for NAME.
 */
#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/base/memory.h"
#include "host/base/output.h"
#include "host/cli/options/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLACEHOLDER "placeholder"

/* The path below samples/new and the text of each file, all with a 0 at their ends, in the order of
 * the paths; then an empty path. SConscript makes this array. */
extern const char th_cli_new_files[];

struct new_file {
    char *name;
    struct th_buffer content;
};

struct new_folder {
    unsigned kind, language; /* indices of kinds[] and languages[] */
    const char *name;
    bool erlang;
    const char *output;     /* the folder; NULL: NAME */
    struct new_file *files; /* files of the folder, in the order of their first paths */
    size_t count, capacity;
};

static const char *const kinds[] = {"tracer", "plugin", NULL};
static const char *const languages[] = {"c", "c++", "rust", NULL};

/* --- Arguments -------------------------------------------------------------------------------- */

/* NAME is the name of a file, of an Erlang module, and of a string in C and Rust. */
static enum th_status new_take_name(const struct th_argument *argument, const char *value,
                                    void *input)
{
    static const char *const reserved[] = {
        "after", "and",   "andalso", "band",   "begin",   "bnot", "bor", "bsl",  "bsr", "bxor",
        "case",  "catch", "cond",    "div",    "else",    "end",  "fun", "if",   "let", "maybe",
        "not",   "of",    "or",      "orelse", "receive", "rem",  "try", "when", "xor"};
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    struct new_folder *new = input;

    (void)argument;
    if (!*value || !strchr(letters, *value) || value[strspn(value, others)])
        return th_error_raise(TH_USAGE,
                              "NAME must be a lower-case letter, and letters, digits and _ behind "
                              "it, not '%s'",
                              value);
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strcmp(value, reserved[i]) == 0)
            return th_error_raise(TH_USAGE,
                                  "NAME must not be '%s', a reserved word of Erlang: choose "
                                  "another name",
                                  value);
    new->name = value;
    return TH_OK;
}

static enum th_status new_take_output(const struct th_argument *argument, const char *value,
                                      void *input)
{
    struct new_folder *new = input;

    (void)argument;
    if (!*value)
        return th_error_raise(TH_USAGE, "--output must be the path of a folder, not ''");
    new->output = value;
    return TH_OK;
}

static const struct th_argument arguments[] = {
    TH_WORD("KIND", CHOICE, TH_ARGUMENT_NEEDED, .words = kinds, TH_INTO(struct new_folder, kind)),
    TH_WORD("NAME", TEXT, TH_ARGUMENT_NEEDED, .take = new_take_name),
    TH_OPTION("lang", "LANGUAGE", CHOICE, INPUT, "c (default), c++ or rust", .words = languages,
              TH_INTO(struct new_folder, language)),
    TH_OPTION("erlang", NULL, FLAG, INPUT, "Add the module that loads the library into a node",
              TH_INTO(struct new_folder, erlang)),
    TH_OPTION("output", "DIR", FOLDER, OUTPUT, "Make the folder DIR instead of NAME", .letter = 'o',
              .take = new_take_output),
    {0},
};

static const struct th_argument_set sets[] = {{.items = arguments}, {0}};

static const struct th_usage usage = {
    .sets = sets,
    .before = "Makes the folder NAME with a tracer or a plugin to begin with, and its test.\n"
              "KIND is tracer or plugin. NAME becomes the name of the library and of its Erlang "
              "module: a lower-case letter, then letters, digits and _.",
    .examples = "  tracehost new tracer my_tracer\n"
                "  tracehost new plugin my_plugin --lang=c++ --erlang",
};

/* --- The files -------------------------------------------------------------------------------- */

/* Returns true if each folder of PATH is a word of the command. */
static bool new_is_wanted(const struct new_folder *new, const char *path)
{
    const char *const words[] = {kinds[new->kind], languages[new->language],
                                 new->erlang ? "erlang" : ""};

    for (const char *end; (end = strchr(path, '/')) != NULL; path = end + 1) {
        size_t length = (size_t)(end - path), i = 0;
        while (i < 3 && (strlen(words[i]) != length || memcmp(words[i], path, length) != 0))
            i++;
        if (i == 3)
            return false;
    }
    return true;
}

/* Returns TEXT with NAME in place of each PLACEHOLDER. Owner: the caller. */
static char *new_put_name(const char *text, const char *name)
{
    struct th_buffer out = {0};

    for (const char *found; (found = strstr(text, PLACEHOLDER)) != NULL;
         text = found + strlen(PLACEHOLDER)) {
        th_buffer_add(&out, text, (size_t)(found - text));
        th_buffer_add_text(&out, name);
    }
    th_buffer_add_text(&out, text);
    return th_buffer_take_text(&out);
}

/* Returns the file that PATH of samples/new becomes: the one of its name, or a new one. */
static struct new_file *new_file_at(struct new_folder *new, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = new_put_name(slash ? slash + 1 : path, new->name);

    for (size_t i = 0; i < new->count; i++)
        if (strcmp(new->files[i].name, name) == 0) {
            th_free(name);
            return &new->files[i];
        }
    TH_ARRAY_GROW(new->files, new->count, new->capacity);
    new->files[new->count] = (struct new_file){.name = name};
    return &new->files[new->count++];
}

static void new_gather_files(struct new_folder *new)
{
    for (const char *path = th_cli_new_files, *text; *path; path = text + strlen(text) + 1) {
        text = path + strlen(path) + 1;
        if (new_is_wanted(new, path)) {
            struct new_file *file = new_file_at(new, path);
            char *content = new_put_name(text, new->name);
            th_buffer_add_text(&file->content, content);
            th_free(content);
        }
    }
}

/* --- The folder ------------------------------------------------------------------------------- */

/* Writes FILE into the folder of a descriptor. Errors: returns false, with errno. */
static bool new_write_file(int folder, const struct new_file *file)
{
    int fd = openat(folder, file->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), error = 0;

    if (fd < 0)
        return false;
    if (!th_output_write_bytes(fd, file->content.data, file->content.size))
        error = errno;
    if (close(fd) != 0 && !error)
        error = errno;
    errno = error;
    return !error;
}

/* Makes the folder as TEMPORARY, beside its own name, and renames it when it is complete. If a step
 * fails, nothing is left: no memory is allocated on the way. */
static enum th_status new_make_folder(const struct new_folder *new, char *temporary)
{
    mode_t mask = umask(0);
    struct stat about;
    int folder, error;
    size_t written = 0;

    umask(mask);
    if (lstat(new->output, &about) == 0)
        return th_error_raise(TH_FAILED, "%s exists already: choose another NAME or -o DIR",
                              new->output);
    if (!mkdtemp(temporary))
        return th_error_raise(TH_FAILED, "cannot make the folder %s: %s", new->output,
                              strerror(errno));
    folder = open(temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (folder >= 0 && written < new->count && new_write_file(folder, &new->files[written]))
        written++;
    if (folder >= 0 && written == new->count && fchmod(folder, 0777 & ~mask) == 0 &&
        rename(temporary, new->output) == 0) {
        close(folder);
        return TH_OK;
    }
    error = errno;
    for (size_t i = 0; folder >= 0 && i < new->count; i++)
        unlinkat(folder, new->files[i].name, 0);
    rmdir(temporary);
    if (folder < 0 || written == new->count)
        th_error_raise(TH_FAILED, "cannot make the folder %s: %s", new->output, strerror(error));
    else
        th_error_raise(TH_FAILED, "cannot write %s/%s: %s", new->output, new->files[written].name,
                       strerror(error));
    if (folder >= 0)
        close(folder);
    return TH_FAILED;
}

/* Returns TEXT as one word of a shell. Owner: the caller. */
static char *new_shell_word(const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+,-";
    struct th_buffer word = {0};

    if (!text[strspn(text, plain)])
        return th_strdup(text);
    th_buffer_add_byte(&word, '\'');
    for (; *text; text++)
        if (*text == '\'')
            th_buffer_add_text(&word, "'\\''");
        else
            th_buffer_add_byte(&word, (unsigned char)*text);
    th_buffer_add_byte(&word, '\'');
    return th_buffer_take_text(&word);
}

/* Prints the files, and the commands that follow. PROGRAM is the program's path if a shell may
 * not find the program by its name; else empty. */
static void new_print_result(struct new_folder *new, const char *program)
{
    char *folder = new_shell_word(new->output), *path = new_shell_word(program);

    printf("made %s", new->output);
    for (size_t i = 0; i < new->count; i++)
        printf("%s %s", i ? "," : ":", new->files[i].name);
    printf("\n\nGo on with\n  cd %s\n  make test", folder);
    if (*path)
        printf(" TRACEHOST=%s", path);
    putchar('\n');
    th_free(folder);
    th_free(path);
}

int th_cli_command_new(int argc, char **argv)
{
    struct new_folder new = {0};
    bool by_path = strchr(program_invocation_name, '/') != NULL; /* parsing changes that name */
    char *output, *temporary, program[PATH_MAX] = "";
    int status;

    th_cli_command_parse(&usage, argc, argv, &new);
    output = th_strdup(new.output ? new.output : new.name);
    for (size_t length = strlen(output); length > 1 && output[length - 1] == '/'; length--)
        output[length - 1] = 0;
    new.output = output;
    temporary = th_printf("%s.XXXXXX", output);
    new_gather_files(&new);
    if (new_make_folder(&new, temporary) == TH_OK) {
        if (by_path && readlink("/proc/self/exe", program, sizeof program - 1) < 0)
            *program = 0;
        new_print_result(&new, program);
        status = th_cli_command_finish("new", TH_OK);
    } else {
        status = th_cli_command_fail("new");
    }
    for (size_t i = 0; i < new.count; i++) {
        th_free(new.files[i].name);
        th_buffer_free(&new.files[i].content);
    }
    th_free(new.files);
    th_free(temporary);
    th_free(output);
    return status;
}
