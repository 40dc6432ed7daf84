/* The face of code/: what can be called, how it comes and goes, the permission to modify code, and
 * modifications that go on step by step. */
#ifndef TH_CODE_H
#define TH_CODE_H

#include "export.h"
#include "loading.h"
#include "modification.h"
#include "permission.h"

#endif
