/*
 * The face of embed/: what plugin_api/tracehost.h declares, for programs that are hosts themselves.
 *
 * It translates, nothing more: arguments are checked, structures of other versions understood,
 * statuses and terms handed on. The rooms below do the work.
 */
#ifndef TH_EMBED_H
#define TH_EMBED_H

#include "plugin_api/tracehost.h"

#endif
