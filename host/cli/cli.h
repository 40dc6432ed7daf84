/* The face of cli/: what can be used without the program around it. Only tests and fuzzers do. */
#ifndef TH_CLI_H
#define TH_CLI_H

#include "call_session.h"

#include "host/control/control.h"

#endif
