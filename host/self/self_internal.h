/*
 * Inner header of self/.
 */
#ifndef TH_SELF_INTERNAL_H
#define TH_SELF_INTERNAL_H

#include <stdbool.h>

/* True: th_self fills a page of its own (storage.c). */
extern const bool th_self_is_page;

#endif
