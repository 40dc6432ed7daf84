/*
 * The face of library/: finds shared objects (find.h), examines them as data (examine.h), opens,
 * loads and unloads them (load.h), maps their code (code_map.h), its source lines (line.h) and USDT
 * probes (probe_notes.h), reads their callbacks (entry.h) and keeps the resources that they make
 * (resource.h), and finds what Erlang nodes make of them (node_loading.h). Also: lists of names, and suggestions
 * for misspelt ones (name_list.h).
 */
#ifndef TH_LIBRARY_H
#define TH_LIBRARY_H

#include "code_map.h"
#include "entry.h"
#include "examine.h"
#include "find.h"
#include "load.h"
#include "name_list.h"
#include "node_loading.h"

#include "host/library/debuginfo/line.h"
#include "host/library/debuginfo/probe_notes.h"
#include "host/library/resource/resource.h"

#endif
