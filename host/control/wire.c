#include "argument.h"
#include "control_internal.h"
#include "server.h"

#include "host/base/buffer.h"
#include "host/base/log.h"
#include "host/library/name_list.h"
#include "host/trace/named_tracer.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

/* --- Commands --------------------------------------------------------------------------------- */

static const struct th_argument *const none[] = {NULL};

static const struct th_argument *const *arguments_of(const struct th_control_command *command)
{
    return command->arguments ? command->arguments : none;
}

json_t *th_control_help(const struct th_control_command *command)
{
    struct th_buffer usage = {0};
    json_t *help;

    th_control_arguments_usage(arguments_of(command), &usage);
    help = json_pack("{s:s, s:s, s:s}", "command", command->name, "arguments",
                     th_buffer_text(&usage), "help", command->help);
    th_buffer_free(&usage);
    return help;
}

enum th_status th_control_take(const struct th_control_command *command, int count,
                               char *const words[], void *input)
{
    return th_control_arguments_take(arguments_of(command), command->missing, count, words, input);
}

const struct th_control_command *th_control_find(const struct th_control_command *const commands[],
                                                 const char *name)
{
    while (*commands && strcmp((*commands)->name, name) != 0)
        commands++;
    return *commands;
}

const char *th_control_nearest(const struct th_control_command *const commands[], const char *name)
{
    struct th_names names = {0};
    const char *nearest;

    for (const struct th_control_command *const *c = commands; *c; c++)
        th_library_names_add(&names, (*c)->name);
    nearest = th_library_suggest_nearest(name, (const char *const *)names.items, names.count);
    if (nearest)
        nearest = th_control_find(commands, nearest)->name;
    th_library_names_free(&names);
    return nearest;
}

enum th_status th_control_unknown(const struct th_control_setup *setup, const char *name)
{
    const char *nearest = th_control_nearest(setup->commands, name);

    return nearest
               ? th_error_raise(TH_USAGE, "there is no command '%.60s'; did you mean '%s'?", name,
                                nearest)
               : th_error_raise(TH_USAGE, "there is no command '%.60s'; `help` lists them", name);
}

/* --- Lines ------------------------------------------------------------------------------------ */

static int wire_add(const char *text, size_t size, void *out)
{
    th_buffer_add(out, text, size);
    return 0;
}

/* Appends LINE and a newline to OUT, and drops the reference. */
static void add_line(json_t *line, struct th_buffer *out)
{
    json_dump_callback(line, wire_add, out, JSON_COMPACT | JSON_REAL_PRECISION(9));
    th_buffer_add_byte(out, '\n');
    json_decref(line);
}

void th_control_wire_greet(const struct th_control_setup *setup, struct th_buffer *out)
{
    add_line(json_pack("{s:s, s:i, s:s, s:i}", "tracehost", setup->version, "protocol",
                       TH_CONTROL_PROTOCOL, "program", setup->program, "pid", (int)getpid()),
             out);
}

/* --- Answers --------------------------------------------------------------------------------- */

/* Returns the thread's chain as an array. The texts may contain bytes of file names: if a text is
 * not UTF-8, each non-ASCII byte is replaced by `?`. */
static json_t *chain(void)
{
    json_t *links = json_array(), *text;
    const char *link;

    for (size_t i = 0; (link = th_error_link(i)); i++) {
        text = json_string(link);
        if (!text) {
            char *plain = th_strdup(link);
            for (char *c = plain; *c; c++)
                if ((unsigned char)*c >= 0x80)
                    *c = '?';
            text = json_string(plain);
            th_free(plain);
        }
        json_array_append_new(links, text);
    }
    return links;
}

/* Returns a failed answer with the thread's chain, and takes over ID. */
static json_t *failure(json_t *id)
{
    json_t *answer = json_pack("{s:o, s:b, s:i, s:o}", "id", id, "ok", 0, "status",
                               (int)th_error_status(), "error", chain());

    th_error_clear();
    return answer;
}

void th_control_wire_complain(const char *text, struct th_buffer *out)
{
    th_error_raise(TH_USAGE, "%s", text);
    add_line(failure(json_null()), out);
}

/* --- Requests -------------------------------------------------------------------------------- */

static enum th_status read_request(json_t *line, struct th_control_wire_request *request)
{
    const char *name;
    json_t *value;
    size_t i;

    if (!json_is_object(line))
        return th_error_raise(TH_MALFORMED, "a request must be an object, {\"command\": ...}");
    json_object_foreach(line, name, value)
    {
        if (strcmp(name, "id") == 0)
            request->id = value;
        else if (strcmp(name, "command") == 0)
            request->name = json_string_value(value);
        else if (strcmp(name, "arguments") == 0)
            request->arguments = value;
        else
            return th_error_raise(TH_MALFORMED, "a request has no member \"%.60s\"", name);
    }
    if (!request->name)
        return th_error_raise(TH_MALFORMED, "a request must have a \"command\", a string");
    if (request->arguments && !json_is_array(request->arguments))
        return th_error_raise(TH_MALFORMED, "\"arguments\" must be an array");
    json_array_foreach(request->arguments, i, value)
    {
        if (!json_is_string(value))
            return th_error_raise(TH_MALFORMED, "argument %zu must be a string", i + 1);
    }
    return TH_OK;
}

/* Returns the request's id, or null. */
static json_t *id_of(const struct th_control_wire_request *request)
{
    return request->id ? json_incref(request->id) : json_null();
}

void th_control_wire_refuse(struct th_control_wire_request *request, struct th_buffer *out)
{
    add_line(failure(id_of(request)), out);
    json_decref(request->line);
}

bool th_control_wire_read(const struct th_control_setup *setup, const char *line, size_t size,
                          struct th_control_wire_request *request, struct th_buffer *out)
{
    json_error_t error;
    enum th_status status;

    *request = (struct th_control_wire_request){
        .line = json_loadb(line, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error)};
    if (request->line)
        status = read_request(request->line, request);
    else
        status = th_error_raise(TH_MALFORMED, "the line is not JSON: column %d: %s", error.column,
                                error.text);
    if (status == TH_OK)
        request->command = th_control_find(setup->commands, request->name);
    else
        th_control_wire_refuse(request, out);
    return status == TH_OK;
}

void th_control_wire_carry_out(const struct th_control_setup *setup,
                               struct th_control_wire_request *request, struct th_buffer *out)
{
    struct th_buffer warned = {0}, *before = th_warn_into(&warned);
    const struct th_control_command *command = request->command;
    size_t count = json_array_size(request->arguments);
    char **arguments = th_alloc((count + 1) * sizeof *arguments);
    json_t *result = NULL, *answer, *warnings = NULL;
    bool locks = command && setup->lock && !command->unlocked;
    enum th_status status = TH_OK;

    for (size_t i = 0; i < count; i++)
        arguments[i] = (char *)json_string_value(json_array_get(request->arguments, i));
    arguments[count] = NULL;
    if (locks)
        th_trace_tracer_lock_take(setup->lock);
    if (!command)
        status = th_control_unknown(setup, request->name);
    else if (!command->arguments)
        status = th_control_take(command, (int)count, arguments, NULL);
    if (status == TH_OK)
        status = command->carry_out(setup->context, (int)count, arguments, &result);
    if (locks)
        th_trace_tracer_lock_drop(setup->lock);
    th_free(arguments);
    th_warn_into(before);
    answer = status == TH_OK ? json_pack("{s:o, s:b, s:o}", "id", id_of(request), "ok", 1, "result",
                                         result ? result : json_null())
                             : failure(id_of(request));
    if (warned.size)
        warnings = json_array(); /* an array with one text for each line */
    for (const char *line = th_buffer_text(&warned), *end; warnings && (end = strchr(line, '\n'));
         line = end + 1)
        json_array_append_new(warnings, json_stringn(line, (size_t)(end - line)));
    json_object_set_new(answer, "warnings", warnings);
    add_line(answer, out);
    json_decref(request->line);
    th_buffer_free(&warned);
}
