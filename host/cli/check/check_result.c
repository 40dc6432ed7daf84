#include "check_result.h"

#include "check_line.h"

#include "host/base/buffer.h"
#include "host/base/error.h"
#include "host/base/log.h"
#include "host/base/memory.h"
#include "host/base/output.h"
#include "host/cli/subcommand.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Returns the name of the library without folder, ".so" and settings. Owner: the caller frees it. */
static char *plain_name(const char *library)
{
    size_t length = strcspn(library, "=,"), begin = length;

    while (begin > 0 && library[begin - 1] != '/')
        begin--;
    if (length - begin > 3 && strncmp(library + length - 3, ".so", 3) == 0)
        length -= 3;
    return th_printf("%.*s", (int)(length - begin), library + begin);
}

/* Returns the name of the file for finding NUMBER. Owner: as plain_name().
 * Letters stand for the number: files that differ in a number alone look like a wrap set. */
static char *name_file(const struct th_check_options *check, const struct th_check_shown *shown,
                       size_t number)
{
    enum { LETTERS = 26 };
    const char *folder = check->output;
    const char letters[] = {(char)('a' + (number - 1) / LETTERS % LETTERS),
                            (char)('a' + (number - 1) % LETTERS), '\0'};
    char *name = plain_name(check->library), *file;

    file = th_printf("%s%s%s.%s-%s.%s", folder ? folder : "", folder ? "/" : "", name,
                     th_check_rules[shown->found->rule].name,
                     number > LETTERS ? letters : letters + 1, shown->suffix);
    th_free(name);
    return file;
}

static enum th_status write_input(const struct th_buffer *input, const char *file)
{
    struct th_output out;
    enum th_status status = th_output_open(&out, file);

    if (status != TH_OK)
        return status;
    status = th_output_write(&out, input->data, input->size);
    if (status == TH_OK)
        return th_output_commit(&out);
    th_output_abandon(&out);
    return status;
}

/* Prints TEXT, which stands behind an option. */
static void print_value(const char *option, const char *text)
{
    fputs(option, stdout);
    th_cli_print_word(stdout, text);
}

static void print_command(const struct th_check_options *check, const struct th_check_shown *shown,
                          const char *file)
{
    printf("  repeat   tracehost %s", shown->show   ? shown->show
                                      : shown->call ? "call --check"
                                                    : "check");
    for (size_t i = 0; i < check->folders.count; i++)
        print_value(" -L ", check->folders.items[i]);
    if (shown->show) {
        char *library = th_printf("%.*s", (int)strcspn(check->library, "=,"), check->library);
        print_value(" ", library);
        puts("\n");
        th_free(library);
        return;
    }
    if (check->info)
        print_value(" --load-info=", check->info);
    if (shown->call)
        fputs(shown->call, stdout);
    else
        print_value(" --run=", shown->run);
    print_value(" ", check->library);
    print_value(shown->call ? " -f " : " ", file);
    puts("\n");
}

/* Writes the input of SHOWN to FILE, and prints what is in the file. */
static enum th_status print_input(const struct th_check_shown *shown, const char *file)
{
    enum th_status status = write_input(shown->input, file);

    if (status != TH_OK)
        return status;
    printf("  %-8s %s: %zu %s%s%s\n", shown->word, file, shown->count, shown->unit,
           th_log_plural(shown->count),
           shown->confirmed ? "" : "; the finding is not met each time");
    shown->print(shown->input);
    return TH_OK;
}

enum th_status th_check_result_print(const struct th_check_options *options,
                                     const struct th_check_shown *shown, size_t number)
{
    const struct th_check_rule_text *rule = &th_check_rules[shown->found->rule];
    char *file = name_file(options, shown, number);
    enum th_status status = TH_OK;

    printf("%s: %s%s\n  rule     %s\n  source   %s\n", rule->name, shown->found->text,
           th_check_line(options, shown->found), rule->rule, rule->source);
    if (shown->input)
        status = print_input(shown, file);
    if (status == TH_OK)
        print_command(options, shown, file);
    th_cli_command_flush();
    th_free(file);
    return status;
}

bool th_check_known_has(const struct th_check_known *known, uint64_t key)
{
    for (size_t i = 0; i < known->count; i++)
        if (known->keys[i] == key)
            return true;
    return known->count == TH_CHECK_MOST_RESULTS;
}

enum th_status th_check_output_check(const struct th_check_options *options)
{
    if (!options->output || access(options->output, W_OK) == 0)
        return TH_OK;
    th_error_raise(TH_FAILED, "%s", strerror(errno));
    return th_error_context("cannot write to the folder '%s'", options->output);
}

uint64_t th_check_pick(uint64_t *state, uint64_t limit)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (z ^ z >> 31) % limit;
}
