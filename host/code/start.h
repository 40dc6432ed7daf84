/* Where the functions of modules begin: see th_code_at(). Inner header of code/. */
#ifndef TH_START_H
#define TH_START_H

#include "export.h"

/* Those that say their code. One thread at a time; a callee must be findable no longer when it is
 * freed, and may be freed then at once: who is still looking compares addresses only. */
void th_code_starts_add(const struct th_callee callees[], size_t count);
void th_code_starts_remove(const struct th_callee callees[], size_t count);

#endif
