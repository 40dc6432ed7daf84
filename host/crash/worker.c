/* The supervised process: announces its end, and passes on that it goes on after a stop. */
#include "supervisor_internal.h"

#include "host/base/error.h"
#include "host/base/kept.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static struct th_crash_page *own_page; /* of the worker; in the region */
static struct th_crash_past own_past;  /* written before there are threads */

struct th_crash_page *th_crash_page(void)
{
    return own_page;
}

bool th_crash_is_supervised(void)
{
    return own_page != NULL;
}

void th_crash_finish(int status)
{
    if (!own_page)
        return;
    own_page->status = status;
    own_page->finished = true;
}

bool th_crash_is_successor(void)
{
    return own_past.deaths > 0;
}

bool th_crash_is_left_out(uint64_t number)
{
    static size_t next; /* index of the first place of left_out that was not passed */
    uint64_t place = th_crash_place_of(th_shared_here, NULL) | number;

    while (next < own_past.left_out_count && own_past.left_out[next] < place)
        next++;
    return place <= own_past.resumed ||
           (next < own_past.left_out_count && own_past.left_out[next] == place);
}

uint64_t th_crash_resumed_after(void)
{
    return own_past.resumed;
}

uint64_t th_crash_resumed_byte(void)
{
    return own_past.resumed_byte;
}

bool th_crash_continues_stdout(void)
{
    return own_past.has_written;
}

bool th_crash_continues_file(void)
{
    if (own_page)
        own_page->began = true;
    return own_past.resumed && own_past.has_begun;
}

void th_crash_set_screen(bool shown)
{
    if (own_page)
        own_page->screen = shown;
}

void th_crash_set_held(int file)
{
    struct th_kept_message message = {NULL};

    th_shared_send(&message, sizeof message, file);
}

/* --- Signals that are passed on --------------------------------------------------------------- */

/* A signal to the process group reaches the worker twice: directly, and through the supervisor, in
 * either order. So the number of signals that were sent is the larger of both counts. */
bool th_crash_is_repeated(int number, const siginfo_t *info)
{
    static unsigned counts[NSIG][2]; /* directly; passed on. Only handlers of NUMBER use a row. */
    bool passed_on = own_page && info->si_code == SI_QUEUE && info->si_pid == getppid();
    unsigned *count = &counts[number][passed_on], other = counts[number][!passed_on];

    return ++*count <= other;
}

/* --- The beginning ---------------------------------------------------------------------------- */

static void announce_end(int status, void *unused)
{
    (void)unused;
    th_crash_finish(status);
}

/* Wakes the supervisor, which stopped when the worker did. */
static void on_continue(int number, siginfo_t *info, void *context)
{
    int error = errno;

    (void)number, (void)context;
    if (own_page && th_shared_here->worker == getpid() && info->si_pid != getppid())
        kill(getppid(), SIGCONT);
    errno = error;
}

void th_crash_become_worker(const struct th_crash_worker *worker, pid_t supervisor, int socket)
{
    struct sigaction continued = {.sa_sigaction = on_continue, .sa_flags = SA_SIGINFO | SA_RESTART};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor)
        _exit(TH_FAILED); /* the supervisor was killed before that */
    th_shared_work(socket);
    own_page = worker->page;
    own_past = worker->past;
    on_exit(announce_end, NULL); /* the first handler runs last */
    sigaction(SIGCONT, &continued, NULL);
}
