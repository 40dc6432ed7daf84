/* The options of commands about code, for who looks at their words before the host does. */
#ifndef TH_CONTROL_CODE_H
#define TH_CONTROL_CODE_H

#include <argp.h>

extern const struct argp_option th_load_option_table[];

#endif
