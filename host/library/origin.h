/*
 * What a library finds beside itself ($ORIGIN), for a private copy of it.
 *
 * The loader takes $ORIGIN for the folder of the file that it opens, which is the copy's. So before
 * the copy a carrier is opened: a library without code, made here, that needs what the copy needs
 * and looks for it where the original would, with $ORIGIN spelled out. The loader then has all of
 * it, under the names that the copy asks for, and looks for nothing any more. Its own rules decide
 * what is found: the order of places, and that what is in memory is not opened again.
 *
 * The carrier keeps what it has opened as long as it is open; it is a file beside the copy.
 *
 * Any thread. Inner header of library/.
 */
#ifndef TH_LIBRARY_ORIGIN_H
#define TH_LIBRARY_ORIGIN_H

#include "examine.h"

/*
 * For a copy that finds nothing by $ORIGIN *HANDLE is NULL. Else it is the carrier's, from
 * dlopen(): to be closed after the copy. TH_REFUSED if something is missing, or the folder of the
 * original has a name that the loader cannot be told.
 */
enum th_status th_library_origin_open(const struct th_examination *facts, void **handle);

/* The carrier's file, which goes with the copy; the caller frees it. */
char *th_library_origin_file(const struct th_examination *facts);

#endif
