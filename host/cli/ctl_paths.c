/* What of a command's words is for the host to find, and begins here. */
#include "ctl.h"

#include "control_code.h"
#include "control_words.h"
#include "trace_options.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

static const struct argp_option no_options[] = {{0}};

/* The commands that name libraries: all words from FIRST on that are no options do, and values of
 * options that are a TRACER. */
static const struct naming {
    const char *command;
    const struct argp_option *options;
    int first;
    const char *ends; /* characters that end a path, as a tracer's state follows */
} namings[] = {
    {"attach", th_trace_option_table, 0, "=,"},
    {"load", th_load_option_table, 0, ""},
    {"pattern", th_trace_option_table, INT_MAX, "=,"},
    {"replace", no_options, 1, "=,"},
};

struct finding {
    const struct naming *naming;
    int words;          /* so far, that are no options */
    const char **found; /* where paths begin, in the words' own bytes */
    int found_count;
};

static bool is_tracer(const struct argp_option *options, int key)
{
    while (options->key != key)
        options++;
    return options->arg && strcmp(options->arg, "TRACER") == 0;
}

static enum th_status look_at(void *context, int key, const char *value)
{
    struct finding *finding = context;
    const struct naming *naming = finding->naming;
    bool names = key == TH_WORD ? finding->words++ >= naming->first
                                : value && is_tracer(naming->options, key);

    if (names && *value != '/' && memchr(value, '/', strcspn(value, naming->ends)))
        finding->found[finding->found_count++] = value;
    return TH_OK;
}

static const struct naming *naming_of(const char *command)
{
    for (size_t i = 0; i < sizeof namings / sizeof *namings; i++)
        if (strcmp(namings[i].command, command) == 0)
            return &namings[i];
    return NULL;
}

/* The words, and before what was found HERE. */
static char **put_before(int count, char *const words[], const struct finding *finding,
                         const char *here)
{
    size_t room = ((size_t)count + 1) * sizeof(char *), used = room;
    const char **next = finding->found, **end = next + finding->found_count;
    char **paths;

    for (int i = 0; i < count; i++)
        room += strlen(here) + 1 + strlen(words[i]) + 1;
    paths = th_alloc(room);
    for (int i = 0; i < count; i++) {
        const char *word = words[i], *path = word + strlen(word), *slash = "", *before = "";
        if (next < end && *next >= word && *next < path) {
            path = *next++;
            before = here;
            slash = "/";
        }
        paths[i] = (char *)paths + used;
        used +=
            (size_t)snprintf(paths[i], room - used, "%.*s%s%s%s", (int)(path - word), word, before,
                             slash, path + (*slash && !strncmp(path, "./", 2) ? 2 : 0)) +
            1;
    }
    paths[count] = NULL;
    return paths;
}

char **th_ctl_paths(int count, char *const words[])
{
    struct finding finding = {.naming = naming_of(words[0])};
    char here[PATH_MAX];
    char **paths;

    finding.found = th_alloc((size_t)count * sizeof *finding.found);
    if (finding.naming && getcwd(here, sizeof here) &&
        th_words_take(finding.naming->options, "", count - 1, words + 1, look_at, &finding) !=
            TH_OK)
        th_error_clear(); /* the host says what is wrong */
    paths = put_before(count, words, &finding, here);
    th_free(finding.found);
    return paths;
}
