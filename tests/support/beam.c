#include "beam.h"

#include "assertions.h"
#include "host/base/base.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

void beam_of_machine(void)
{
    static const char folder[] = "/tools/beam:"; /* of tests/cross/make-tools */
    const char *path = getenv("PATH"), *found = path ? strstr(path, folder) : NULL, *start = found;
    char *without;

    if (!found)
        return;
    while (start > path && start[-1] != ':')
        start--;
    without = th_printf("%.*s%s", (int)(start - path), path, found + strlen(folder));
    setenv("PATH", without, true);
    th_free(without);
}

bool beam_is_later(void)
{
    static int later = -1; /* not determined yet */

    if (later < 0)
        later =
            system(
                "erl -noinput -boot no_dot_erlang -eval "
                "'halt(case erlang:system_info(otp_release) > \"25\" of true -> 0; _ -> 1 end)'") ==
            0;
    return later;
}

void assert_beam_ended(int status, size_t count)
{
    enum { SHELL_SIGNALLED = 128 }; /* a shell reports a signal as 128 plus its number */

    if (WIFEXITED(status) && WEXITSTATUS(status) == SHELL_SIGNALLED + SIGSEGV && count > 1000 &&
        beam_is_later())
        print_message("the BEAM was ended by SIGSEGV, after %zu terms\n", count);
    else
        assert_int_equal(status, 0);
}
