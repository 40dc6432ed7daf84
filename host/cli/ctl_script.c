/* Commands from stdin, a line each. */
#include "ctl.h"

#include "command.h"
#include "interrupt.h"

#include <stdlib.h>

/* A word of each line is its command. */
static enum th_status do_line(struct th_ctl *ctl, const char *line)
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

enum th_status th_ctl_script(struct th_ctl *ctl)
{
    enum th_status worst = TH_OK;
    char *line = NULL;
    size_t room = 0;

    while (!ctl->gone && !th_interrupt_came() && getline(&line, &room, stdin) >= 0) {
        enum th_status status = do_line(ctl, line);
        th_command_flush();
        if (status == TH_END)
            break;
        if (status != TH_OK && th_error_status() != TH_OK)
            th_command_fail("ctl");
        th_error_clear();
        worst = worst == TH_OK ? status : worst;
    }
    free(line);
    return worst;
}
