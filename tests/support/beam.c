#include "beam.h"

#include "assertions.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>

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

/* A shell reports a signal as 128 plus its number. */
void assert_beam_ended(int status, size_t count)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) > 128 && count > 1000 && beam_is_later())
        print_message("the BEAM was ended by signal %d, after %zu terms\n",
                      WEXITSTATUS(status) - 128, count);
    else
        assert_int_equal(status, 0);
}
