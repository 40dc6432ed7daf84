/*
 * The staging index: the copies that a load writes (index.h). All with the code modification
 * permission. Inner header of code/.
 *
 *   th_code_stage_begin();
 *   th_code_stage_word(&module->current, instance);  ...
 *   th_progress_wait();
 *   th_code_stage_commit();                          or th_code_stage_drop(): as if nothing had
 *   been
 */
#ifndef TH_STAGE_H
#define TH_STAGE_H

#include "index.h"

/* The next index is brought up to date, and can be written. */
void th_code_stage_begin(void);

/* Its number. */
unsigned th_code_stage_index(void);

/* What WORD is to be; what it is as staged so far. */
void th_code_stage_word(struct th_code_word *word, uintptr_t value);
uintptr_t th_code_stage_read(const struct th_code_word *word);

/* It is the active one. */
void th_code_stage_commit(void);

#endif
