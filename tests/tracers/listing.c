/* Lists events, in memory until it is unloaded, and joins the lists of shares. LISTING_BREAKS in the
 * environment makes it wrong: `forget` forgets a share, `turn` joins shares in the wrong order,
 * `refuse` cannot save, `fail` cannot merge, `crash` crashes in save(), `exit` crashes at the exit of a
 * process, `tell` prints a line on stderr at this event, `load` when it is loaded. */
#include <erl_tracer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *list;
static size_t used;

static int breaks(const char *how)
{
    const char *wanted = getenv("LISTING_BREAKS");

    return wanted && strcmp(wanted, how) == 0;
}

/* Inserts SIZE bytes of TEXT at byte AT. */
static void insert(size_t at, const char *text, size_t size)
{
    char *grown = realloc(list, used + size + 1);

    if (!grown)
        abort();
    list = grown;
    memmove(list + at + size, list + at, used - at);
    memcpy(list + at, text, size);
    used += size;
}

TH_TRACER_LOAD()
{
    if (breaks("load"))
        fputs("loaded\n", stderr);
    return 0;
}

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
    char line[4096];
    int size;

    if (tag == TH_TRACER_ATOM(env, exit) && breaks("exit"))
        abort();
    if (tag == TH_TRACER_ATOM(env, exit) && breaks("tell"))
        fputs("an exit\n", stderr);
    size = enif_snprintf(line, sizeof line - 1, "%T %T %T", tracee, tag, term);

    if (size < 0 || (size_t)size > sizeof line - 2)
        size = sizeof line - 2;
    line[size++] = '\n';
    insert(used, line, (size_t)size);
}

TH_TRACER_SAVE()
{
    unsigned char *bytes;
    ERL_NIF_TERM binary;

    if (breaks("refuse"))
        return 0;
    if (breaks("crash"))
        abort();
    bytes = enif_make_new_binary(env, used, &binary);
    if (used > 0) /* else there is no list */
        memcpy(bytes, list, used);
    return binary;
}

TH_TRACER_MERGE()
{
    static int forgotten;
    ErlNifBinary bytes;

    if (breaks("fail") || !enif_inspect_binary(env, saved, &bytes))
        return 1;
    if (!breaks("forget") || forgotten++)
        insert(breaks("turn") ? 0 : used, (const char *)bytes.data, bytes.size);
    return 0;
}

TH_TRACER_UNLOAD()
{
    if (used > 0) /* else there is no list */
        fwrite(list, 1, used, stdout);
    free(list);
}
