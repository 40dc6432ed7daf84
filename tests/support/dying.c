#include "dying.h"

#include "assertions.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

void die_of(void (*call)(void), char *said, size_t size)
{
    int ends[2], status;
    FILE *from_child;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        call();
        _exit(0);
    }
    close(ends[1]);
    from_child = fdopen(ends[0], "r");
    assert_non_null(fgets(said, (int)size, from_child));
    fclose(from_child);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
