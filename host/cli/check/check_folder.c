#include "check_folder.h"

#include "host/base/memory.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *place)
{
    (void)facts;
    (void)kind;
    (void)place;
    remove(path);
    return 0;
}

/* Removes all of FOLDER. A trial that ends just now may still write there: tries again. */
static void remove_all(const char *folder)
{
    enum { MOST_OPEN = 16, TRIES = 20 };
    static const struct timespec pause = {0, 50000000};

    for (int i = 0; i < TRIES; i++) {
        nftw(folder, remove_one, MOST_OPEN, FTW_DEPTH | FTW_PHYS);
        if (access(folder, F_OK) != 0)
            return;
        nanosleep(&pause, NULL);
    }
}

/* Removes FOLDER when the process PARENT has ended. Signals to the group of both do not matter. */
static _Noreturn void keep_folder(const char *folder, pid_t parent)
{
    sigset_t all, end;
    int number;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    sigemptyset(&end);
    sigaddset(&end, SIGUSR1);
    prctl(PR_SET_PDEATHSIG, SIGUSR1);
    if (getppid() == parent)
        sigwait(&end, &number);
    remove_all(folder);
    _exit(0);
}

enum th_status th_check_folder_make(struct th_check_folder *folder)
{
    const char *temporary = getenv("TMPDIR");
    const pid_t parent = getpid();

    *folder =
        (struct th_check_folder){.path = th_printf("%s/tracehost-check.XXXXXX",
                                                   temporary && *temporary ? temporary : "/tmp")};
    if (!mkdtemp(folder->path)) {
        th_error_raise(TH_FAILED, "%s", strerror(errno));
        th_error_context("cannot make the folder %s for files that runs write", folder->path);
        th_free(folder->path);
        return TH_FAILED;
    }
    folder->keeper = fork();
    if (folder->keeper == 0)
        keep_folder(folder->path, parent);
    return TH_OK;
}

void th_check_folder_remove(struct th_check_folder *folder)
{
    if (folder->keeper > 0) {
        kill(folder->keeper, SIGKILL);
        while (waitpid(folder->keeper, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    remove_all(folder->path);
    th_free(folder->path);
}
