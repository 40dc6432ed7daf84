/* Kills processes that play shares of a recording, with SIGKILL. The environment has
 *
 *     KILLED_COUNT  how many processes are killed
 *     KILLED_LOG    a file; KILLED_LOG.N is the ticket of the Nth process that is killed
 *     KILLED_SEED   decides at which record of its share a process with a ticket is killed
 *
 * The process that plays the first share waits at its first event until all tickets are used, so that
 * it cannot end the others before. */
#include <erl_tracer.h>
#include <nif_module.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EVENTS = 40, TICK_MS = 2 };

static unsigned left; /* events until this process is killed; 0: it is not */
static int begun;

static int number_of(const char *name)
{
    const char *text = getenv(name);

    return text ? atoi(text) : 0;
}

/* Returns the number of a ticket, which nobody else has; -1 if all are taken. */
static int take_ticket(void)
{
    char name[4096];
    int fd;

    for (int i = 0; i < number_of("KILLED_COUNT"); i++) {
        snprintf(name, sizeof name, "%s.%d", getenv("KILLED_LOG"), i);
        fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
        if (fd >= 0) {
            close(fd);
            return i;
        }
    }
    return -1;
}

/* Appends a byte to the log, and ends. */
static void die(void)
{
    int fd = open(getenv("KILLED_LOG"), O_CREAT | O_APPEND | O_WRONLY, 0600);

    if (write(fd, "x", 1) == 1)
        kill(getpid(), SIGKILL);
}

static void wait_for_others(void)
{
    struct stat about;

    while (stat(getenv("KILLED_LOG"), &about) != 0 || about.st_size < number_of("KILLED_COUNT"))
        poll(NULL, 0, TICK_MS);
}

static void begin(void)
{
    int fd = th_share_file("killed"), ticket;

    begun = 1;
    if (fd < 0) {
        wait_for_others();
        return;
    }
    close(fd);
    ticket = take_ticket();
    srand((unsigned)number_of("KILLED_SEED") * 64 + (unsigned)ticket);
    left = ticket < 0 ? 0 : 1 + (unsigned)rand() % EVENTS;
}

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
    if (!begun)
        begin();
    if (left > 0 && --left == 0)
        die();
}

/* A share may end before the record at which it was to be killed. */
TH_TRACER_SAVE()
{
    if (!begun)
        begin();
    if (left > 0)
        die();
    return enif_make_list(env, 0);
}

TH_TRACER_MERGE()
{
    return 0;
}
