/* tracehost probes: lists the USDT probes of the program, or of any ELF file. */
#include "subcommand.h"

#include "host/base/log.h"
#include "host/base/memory.h"
#include "host/cli/options/usage.h"
#include "host/library/debuginfo/probe_notes.h"
#include "host/library/find.h"
#include "host/probe/probe.h"

#include <jansson.h>
#include <string.h>

struct probes {
    bool json;
    struct th_texts folders; /* of -L */
    const char *name;        /* NULL: the program itself */
};

static const struct th_argument arguments[] = {
    TH_WORD("LIBRARY|PROGRAM", PROGRAM, 0, TH_INTO(struct probes, name)),
    TH_OPTION("format", "FORMAT", CHOICE, OUTPUT, "text (default) or json",
              .words = TH_WORDS("text", "json"), TH_INTO(struct probes, json)),
    TH_OPTION(NULL, "DIR", FOLDER, INPUT, "Search DIR first, then $TRACEHOST_PATH", .letter = 'L',
              .how = TH_ARGUMENT_REPEATS, TH_INTO(struct probes, folders)),
    {0},
};

static const struct th_argument_set sets[] = {
    {.items = arguments},
    {0},
};

static const struct th_usage usage = {
    .sets = sets,
    .before = "Lists the USDT probes of a file, or of tracehost, with their arguments.",
    .after = "LIBRARY or PROGRAM is a name, looked up as NAME.so among tracers and plugins, or a "
             "path with a '/'. The file may be of any kind, and none of its code is run. An "
             "argument without a name is shown by its size.",
    .examples = "  tracehost probes\n"
                "  tracehost probes --format=json usdt",
};

/* --- Arguments --- */

/* Returns the table's row for NOTE, with the same name, number and sizes of arguments. NULL: a
 * foreign probe. */
static const struct th_probe *row_of(const struct th_probe_note *note)
{
    const struct th_probe *probe =
        strcmp(note->provider, "erlang") == 0 ? th_probe_find(note->name) : NULL;
    const char *text = note->arguments, *where;
    unsigned count = 0;
    size_t length;
    int size;

    if (!probe)
        return NULL;
    for (; th_debuginfo_probe_next_argument(&text, &size, &where, &length); count++)
        if (count >= probe->count || size != th_probe_type_size(probe->arguments[count].type))
            return NULL;
    return count == probe->count ? probe : NULL;
}

/* Returns the type of argument I, of SIZE bytes (negative: signed), from ROW, or else the C
 * type. */
static const char *type_of(const struct th_probe *row, unsigned i, int size)
{
    static const struct {
        int size;
        const char *type;
    } types[] = {{1, "uint8_t"},  {-1, "int8_t"},  {2, "uint16_t"}, {-2, "int16_t"},
                 {4, "uint32_t"}, {-4, "int32_t"}, {8, "uint64_t"}, {-8, "int64_t"}};

    if (row)
        return th_probe_type_name(row->arguments[i].type);
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++)
        if (types[k].size == size)
            return types[k].type;
    return "?";
}

/* --- Text --- */

/* Prints one line for the COUNT places of a probe; the places may have different operands. */
static void print_probe(const struct th_probe_note *note, size_t count)
{
    const struct th_probe *row = row_of(note);
    const char *text = note->arguments, *where;
    size_t length;
    int size;

    printf("%s:%s(", note->provider, note->name);
    for (unsigned i = 0; th_debuginfo_probe_next_argument(&text, &size, &where, &length); i++) {
        const char *type = type_of(row, i, size);
        printf("%s%s", i > 0 ? ", " : "", type);
        if (row)
            printf("%s%s", type[strlen(type) - 1] == '*' ? "" : " ", row->arguments[i].name);
    }
    printf(")");
    if (count > 1)
        printf(" in %zu places", count);
    printf("\n");
}

/* --- JSON --- */

static json_t *probes_address(uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
    return json_string(text);
}

static json_t *json_of(const struct th_probe_note *notes, size_t count)
{
    const struct th_probe *row = row_of(notes);
    json_t *arguments = json_array(), *places = json_array();
    const char *text = notes->arguments, *where;
    size_t length;
    int size;

    for (unsigned i = 0; th_debuginfo_probe_next_argument(&text, &size, &where, &length); i++)
        json_array_append_new(arguments, json_pack("{s:s?, s:s, s:i}", "name",
                                                   row ? row->arguments[i].name : NULL, "type",
                                                   type_of(row, i, size), "size", size));
    for (size_t i = 0; i < count; i++) {
        json_t *operands = json_array();
        for (text = notes[i].arguments;
             th_debuginfo_probe_next_argument(&text, &size, &where, &length);)
            json_array_append_new(operands, json_stringn(where, length));
        json_array_append_new(
            places,
            json_pack("{s:o, s:o, s:o}", "location", probes_address(notes[i].location), "semaphore",
                      notes[i].semaphore ? probes_address(notes[i].semaphore) : json_null(),
                      "arguments", operands));
    }
    return json_pack("{s:s, s:s, s:o, s:o}", "provider", notes->provider, "name", notes->name,
                     "arguments", arguments, "places", places);
}

/* --- The probes ------------------------------------------------------------------------------- */

static void probes_show(const struct probes *probes, const struct th_probe_notes *notes)
{
    json_t *list = json_array();
    size_t count;

    for (size_t i = 0; i < notes->count; i += count) {
        const struct th_probe_note *first = &notes->notes[i];
        for (count = 1; i + count < notes->count && strcmp(first[count].name, first->name) == 0 &&
                        strcmp(first[count].provider, first->provider) == 0;)
            count++;
        if (probes->json)
            json_array_append_new(list, json_of(first, count));
        else
            print_probe(first, count);
    }
    if (probes->json)
        th_cli_command_print_json(json_incref(list), JSON_INDENT(2));
    json_decref(list);
}

/* Finds the file to read. Owner: the caller frees *PATH. */
static enum th_status probes_find(const struct probes *probes, char **path)
{
    static const enum th_search_kind kinds[] = {TH_SEARCH_TRACERS, TH_SEARCH_PLUGINS};
    enum th_status status = TH_FAILED;

    if (!probes->name || strchr(probes->name, '/')) {
        *path = th_strdup(probes->name ? probes->name : "/proc/self/exe");
        return TH_OK;
    }
    for (size_t i = 0; i < 2 && status != TH_OK; i++) {
        struct th_search search;
        th_error_clear();
        th_library_search_init(&search, kinds[i], probes->folders.items, probes->folders.count);
        status = th_library_search_find(&search, probes->name, path);
        th_library_search_free(&search);
    }
    return status;
}

int th_cli_command_probes(int argc, char **argv)
{
    struct probes probes = {0};
    struct th_probe_notes notes = {0};
    char *path = NULL;
    const char *title;
    enum th_status status;

    th_cli_command_parse(&usage, argc, argv, &probes);
    title = probes.name ? probes.name : "this program";
    status = probes_find(&probes, &path);
    if (status == TH_OK) {
        status = th_debuginfo_probe_notes_read(&notes, path);
        if (status != TH_OK)
            th_error_context("cannot read the probes of %s", title);
    }
    if (status == TH_OK && notes.count == 0 && !probes.json && !notes.damaged)
        th_warn("%s has no probes", title);
    if (status == TH_OK)
        probes_show(&probes, &notes);
    else
        th_cli_command_fail("probes");
    if (notes.damaged) {
        th_cli_command_flush();
        fprintf(stderr, "tracehost probes: %zu damaged note%s skipped\n", notes.damaged,
                notes.damaged == 1 ? " was" : "s were");
        status = TH_PARTIAL;
    }
    th_debuginfo_probe_notes_free(&notes);
    th_free(path);
    th_free(probes.folders.items);
    return th_cli_command_finish("probes", status);
}
