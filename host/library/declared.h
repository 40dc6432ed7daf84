/* The settings that a library declares as a tracer. Inner header of library/. */
#ifndef TH_LIBRARY_DECLARED_H
#define TH_LIBRARY_DECLARED_H

#include "host/base/base.h"
#include "plugin_api/erl_tracer.h"

/*
 * Checks the table SETTINGS of SIZE bytes. TH_REFUSED if a pointer in it leads to no memory, if no
 * row of it is the end, or if a row has no name that an atom can be, an unknown type, or the type
 * TH_SETTING_WORD and no words.
 */
enum th_status th_library_declared_check(const struct th_tracer_setting *settings, size_t size);

#endif
