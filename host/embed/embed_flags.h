/* Trace flags as programs have them, and as the host does. */
#ifndef TH_EMBED_FLAGS_H
#define TH_EMBED_FLAGS_H

#include "embed_sized.h"

/* TH_USAGE if there are bits among FLAGS that mean nothing. */
enum th_status th_embed_check_flags(uint32_t flags);

/* FLAGS, which were checked, as enum th_flag. */
uint32_t th_embed_flags(uint32_t flags);

#endif
