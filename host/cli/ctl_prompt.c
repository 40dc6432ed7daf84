#include "ctl.h"
enum th_status th_ctl_prompt(struct th_ctl *ctl)
{
    return th_ctl_script(ctl);
}
