/* Counts events, and joins the counts of shares. Of each event before a share a byte is written to the end of the file
 * $PASSED. With $PASSED_THREAD the tracer has a thread. */
#include <erl_tracer.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

unsigned char th_tracer_past = 50;

static unsigned long events;

static void *sleep_on(void *unused)
{
    for (;;)
        pause();
    return unused;
}

TH_TRACER_LOAD()
{
    static char name[] = "sleeper";
    ErlNifTid thread;
    const char *wish = getenv("PASSED_THREAD");

    return wish && *wish ? enif_thread_create(name, &thread, sleep_on, NULL, NULL) : 0;
}

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
    const char *path = getenv("PASSED");
    int file = th_tracer_past == 1 && path
                   ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666)
                   : -1;

    events++;
    if (file >= 0 && write(file, ".", 1) != 1)
        abort();
    if (file >= 0)
        close(file);
}

TH_TRACER_SAVE()
{
    ERL_NIF_TERM saved = enif_make_ulong(env, events);

    events = 0;
    return saved;
}

TH_TRACER_MERGE()
{
    unsigned long more;

    if (!enif_get_ulong(env, saved, &more))
        return 1;
    events += more;
    return 0;
}

TH_TRACER_UNLOAD()
{
    printf("%lu events\n", events);
}
