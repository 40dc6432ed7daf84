#include "probe_lines.h"

#include "host/base/buffer.h"
#include "host/file/operations.h"
#include "host/probe/probe.h"

#include <string.h>

static unsigned raised[TH_PROBE_COUNT_OF_ALL]; /* raises of each; main thread only */

/* --- Lines ----------------------------------------------------------------------------------- */

/* Appends "tag={3,83} ", after the thread's text. */
static void add_tag(struct th_buffer *out, const char *who, const union th_probe_value *values)
{
    th_buffer_printf(out, "%s tag={%lld,%lld} ", who, (long long)values[0].integer,
                     (long long)values[1].integer);
}

static void add_command(struct th_buffer *out, int64_t command)
{
    const char *name =
        command >= 0 && command < TH_FILE_COMMANDS ? th_file_rows[command].name : NULL;

    th_buffer_printf(out, "| %s (%lld) | ", name ? name : "?", (long long)command);
}

static const char *probe_lines_text_of(union th_probe_value value)
{
    return value.string ? value.string : "";
}

void th_cli_probe_line(struct th_buffer *out, const struct th_probe *probe,
                       const union th_probe_value *values)
{
    switch ((enum th_probe_id)(probe - th_probe_probes)) {
    case TH_PROBE_efile_drv__entry:
        add_tag(out, "efile_drv enter", values);
        th_buffer_printf(out, "user tag %s ", probe_lines_text_of(values[2]));
        add_command(out, values[3].integer);
        th_buffer_printf(out, "args: %s %s , %lld %lld", probe_lines_text_of(values[4]),
                         probe_lines_text_of(values[5]), (long long)values[6].integer,
                         (long long)values[7].integer);
        if (values[8].integer || values[9].integer)
            th_buffer_printf(out, " %lld %lld", (long long)values[8].integer,
                             (long long)values[9].integer);
        th_buffer_printf(out, " (port %s)", probe_lines_text_of(values[10]));
        break;
    case TH_PROBE_efile_drv__int_entry:
    case TH_PROBE_efile_drv__int_return:
        add_tag(out, "async I/O worker", values);
        add_command(out, values[2].integer);
        th_buffer_add_text(out, probe == &th_probe_probes[TH_PROBE_efile_drv__int_entry]
                                    ? "efile_drv-int_entry"
                                    : "efile_drv-int_return");
        break;
    case TH_PROBE_efile_drv__return:
        add_tag(out, "efile_drv return", values);
        th_buffer_printf(out, "user tag %s ", probe_lines_text_of(values[2]));
        add_command(out, values[3].integer);
        if (values[4].integer)
            th_buffer_add_text(out, "success");
        else
            th_buffer_printf(out, "errno %lld", (long long)values[5].integer);
        break;
    default:
        th_buffer_add_text(out, probe->name);
        for (unsigned i = 0; i < probe->count; i++) {
            th_buffer_printf(out, " %s=", probe->arguments[i].name);
            if (probe->arguments[i].type == TH_PROBE_string)
                th_buffer_add_text(out, probe_lines_text_of(values[i]));
            else
                th_buffer_printf(out, "%lld", (long long)values[i].integer);
        }
    }
}

/* --- Printing -------------------------------------------------------------------------------- */

/* Prints a hit with a single stdio call, which locks the stream, so that lines stay whole. Skips
 * probes that were not selected: other tools may watch them. */
static void probe_lines_print(const struct th_probe *probe, const union th_probe_value *values)
{
    struct th_buffer line = {0};

    if (!raised[probe - th_probe_probes])
        return;
    th_cli_probe_line(&line, probe, values);
    th_buffer_add_byte(&line, '\n');
    fwrite(line.data, 1, line.size, stdout);
    th_buffer_free(&line);
}

size_t th_cli_probe_lines_add(const char *pattern)
{
    size_t count = 0;

    for (size_t i = 0; i < TH_PROBE_COUNT_OF_ALL; i++)
        if (th_probe_matches(&th_probe_probes[i], pattern)) {
            th_probe_raise(&th_probe_probes[i]);
            raised[i]++;
            count++;
        }
    return count;
}

void th_cli_probe_lines_begin(void)
{
    th_probe_watch(probe_lines_print);
}

void th_cli_probe_lines_end(void)
{
    th_probe_watch(NULL);
    for (size_t i = 0; i < TH_PROBE_COUNT_OF_ALL; i++)
        for (; raised[i] > 0; raised[i]--)
            th_probe_lower(&th_probe_probes[i]);
}
