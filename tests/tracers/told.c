/* A tracer that has told all about an event when its callback returns, for consumers that are killed. In each event
 * whose number can be divided by $TOLD_PAUSE it lets $TOLD_MS milliseconds pass. In event $TOLD_AT of its process it kills
 * the group of its process; or, if $TOLD_GATE names a FIFO, opens that, and reads it to its end. */
#include <erl_tracer.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long events;

static unsigned long number_of(const char *name)
{
    const char *text = getenv(name);

    return text ? strtoul(text, NULL, 10) : 0;
}

static void wait_at_gate(const char *gate)
{
    FILE *fifo = fopen(gate, "re");

    if (!fifo)
        return;
    while (fgetc(fifo) != EOF)
        ;
    fclose(fifo);
}

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
    unsigned long pause = number_of("TOLD_PAUSE");

    events++;
    if (pause && events % pause == 0)
        poll(NULL, 0, (int)number_of("TOLD_MS"));
    if (events != number_of("TOLD_AT"))
        return;
    if (getenv("TOLD_GATE"))
        wait_at_gate(getenv("TOLD_GATE"));
    else
        kill(0, SIGKILL);
}
