/* Commands from stdin, a line each. */
#include "ctl.h"

#include "host/cli/subcommand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum th_status th_ctl_do_line(struct th_ctl *ctl, const char *line)
{
    char **words;
    int count;
    enum th_status status = th_ctl_split(line, &count, &words);

    if (status != TH_OK)
        return status;
    if (count > 0)
        status = th_ctl_do(ctl, count, words);
    th_free(words);
    return status;
}

enum th_status th_ctl_tell(enum th_status status)
{
    th_cli_command_flush();
    if (status != TH_OK && status != TH_END && th_error_status() != TH_OK)
        th_cli_command_fail("ctl");
    th_error_clear();
    return status;
}

enum th_status th_ctl_script(struct th_ctl *ctl)
{
    enum th_status first = TH_OK, status;
    char *line = NULL;
    size_t room = 0;

    while (!ctl->gone && getline(&line, &room, stdin) >= 0) {
        status = th_ctl_tell(th_ctl_do_line(ctl, line));
        if (first == TH_OK)
            first = status;
    }
    if (!ctl->gone && !feof(stdin)) {
        status = th_ctl_tell(th_error_raise(TH_FAILED, "cannot read stdin: %s", strerror(errno)));
        if (first == TH_OK)
            first = status;
    }
    free(line);
    return first;
}
