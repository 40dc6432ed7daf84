/*
 * The face of library/: shared objects. Found (find.h), examined as data (examine.h), opened,
 * loaded and unloaded (load.h), where their code is (code_map.h) and which lines it comes from
 * (line.h), which USDT probes are in them (probe_notes.h), their callbacks (entry.h), the resources
 * that they make (resource.h). And names that may have been meant (name_list.h).
 */
#ifndef TH_LIBRARY_H
#define TH_LIBRARY_H

#include "code_map.h"
#include "entry.h"
#include "examine.h"
#include "find.h"
#include "load.h"
#include "name_list.h"

#include "host/library/debuginfo/line.h"
#include "host/library/debuginfo/probe_notes.h"
#include "host/library/resource/resource.h"

#endif
