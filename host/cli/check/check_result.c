/* Prints a finding: the rule, the smallest stream, and the command that repeats it. */
#include "check_search.h"
#include "check_tracer.h"

#include "host/base/buffer.h"
#include "host/base/error.h"
#include "host/base/log.h"
#include "host/base/memory.h"
#include "host/base/output.h"
#include "host/cli/subcommand.h"
#include "host/replay/kept_records.h"
#include "host/replay/reader.h"
#include "host/term/text.h"
#include "host/trace/event.h"

#include <string.h>

/* Returns the name of the library without folder, ".so" and settings. Owner: the caller frees it. */
static char *plain_name(const char *tracer)
{
    size_t length = strcspn(tracer, "=,"), begin = length;

    while (begin > 0 && tracer[begin - 1] != '/')
        begin--;
    if (length - begin > 3 && strncmp(tracer + length - 3, ".so", 3) == 0)
        length -= 3;
    return th_printf("%.*s", (int)(length - begin), tracer + begin);
}

/* Returns the name of the file for finding NUMBER. Owner: as plain_name().
 * Letters stand for the number: files that differ in a number alone look like a wrap set. */
static char *name_file(const struct th_check_tracer *check, const struct th_check_result *result,
                       size_t number)
{
    enum { LETTERS = 26 };
    const char *folder = check->output;
    const char letters[] = {(char)('a' + (number - 1) / LETTERS % LETTERS),
                            (char)('a' + (number - 1) % LETTERS), '\0'};
    char *name = plain_name(check->tracer), *file;

    file = th_printf("%s%s%s.%s-%s.trace", folder ? folder : "", folder ? "/" : "", name,
                     th_check_rules[result->found.rule].name,
                     number > LETTERS ? letters : letters + 1);
    th_free(name);
    return file;
}

static enum th_status write_stream(const struct th_buffer *stream, const char *file)
{
    struct th_output out;
    enum th_status status = th_output_open(&out, file);

    if (status != TH_OK)
        return status;
    status = th_output_write(&out, stream->data, stream->size);
    if (status == TH_OK)
        return th_output_commit(&out);
    th_output_abandon(&out);
    return status;
}

static void print_command(const struct th_check_tracer *check, const struct th_check_result *result,
                          const char *file)
{
    char run[TH_CHECK_SETTING_TEXT];

    th_check_setting_print(&result->setting, run);
    fputs("  repeat   tracehost check", stdout);
    for (size_t i = 0; i < check->folders.count; i++) {
        fputs(" -L ", stdout);
        th_cli_print_word(stdout, check->folders.items[i]);
    }
    fputs(" --run=", stdout);
    th_cli_print_word(stdout, run);
    putchar(' ');
    th_cli_print_word(stdout, check->tracer);
    putchar(' ');
    th_cli_print_word(stdout, file);
    putchar('\n');
}

/* Prints the events of a short stream. */
static void print_events(const struct th_buffer *stream)
{
    enum { MOST = 5, WIDTH = 200 };
    struct th_event event = {0};
    struct th_buffer line = {0};
    struct th_reader *reader;
    th_env env;

    if (th_replay_kept_open(stream, "the records", NULL, &reader) != TH_OK)
        return;
    th_env_init(&env, TH_ENV_PLAIN);
    for (int i = 0; i < MOST && th_replay_reader_next(reader, &event) == TH_OK; i++) {
        th_term whole;
        line.size = 0;
        if (event.source->whole(&event, &env, &whole) == TH_OK)
            th_text_show_limited(&line, whole, WIDTH);
        printf("           %s\n", th_buffer_text(&line));
    }
    th_error_clear();
    th_env_release(&env);
    th_buffer_free(&line);
    th_replay_reader_close(reader);
}

enum th_status th_check_result_print(const struct th_check_tracer *check,
                                     const struct th_check_result *result, size_t number)
{
    const struct th_check_rule_text *rule = &th_check_rules[result->found.rule];
    char *file = name_file(check, result, number);
    enum th_status status = write_stream(&result->stream, file);

    if (status == TH_OK) {
        printf("%s: %s\n  rule     %s\n  source   %s\n  stream   %s: %zu event%s%s\n", rule->name,
               result->found.text, rule->rule, rule->source, file, result->records,
               th_log_plural(result->records),
               result->confirmed ? "" : "; the finding is not met each time");
        print_events(&result->stream);
        print_command(check, result, file);
        putchar('\n');
        th_cli_command_flush();
    }
    th_free(file);
    return status;
}
