/*
 * The face of embed/: the functions of plugin_api/tracehost.h, for programs that embed a host.
 *
 * This room only translates: it checks arguments, accepts structures of other versions, and passes
 * statuses and terms on. Rooms below do the work.
 */
#ifndef TH_EMBED_H
#define TH_EMBED_H

#include "plugin_api/tracehost.h"

#endif
