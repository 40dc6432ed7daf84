/*
 * Private copies of libraries, from which tracers and modules are opened that are loaded into a
 * running host, or may be replaced in it.
 *
 * A copy is a file NAME.GEN.so in the program's own folder (private_copy.c), GEN counting up in the
 * program: so the loader takes each for another library, and nobody writes to it, truncates or
 * replaces it while its code runs. It is a real file, for debuggers and profilers, as long as the
 * library is open.
 *
 * A copy is of one moment: the file is looked at before and after it is read, and may not have
 * changed. What is written within one tick of the kernel's clock has the same times; so the copying
 * begins in a tick after the file's last change.
 *
 * Any thread. Inner header of library/.
 */
#ifndef TH_PRIVATE_COPY_H
#define TH_PRIVATE_COPY_H

#include "host/base/error.h"

#include <sys/stat.h>

struct th_examination;

/*
 * Copies the file PATH; *COPY is the copy's path, which the caller frees, and ORIGINAL what was
 * copied. TH_REFUSED if PATH cannot be read, changes meanwhile, or has not the header of a library
 * of this machine; TH_FAILED if there is no room for copies.
 */
enum th_status th_library_copy_make(const char *path, char **copy, struct stat *original);

/* Writes a file COPY of SIZE bytes, which must be below the folder of copies. TH_FAILED. */
enum th_status th_library_copy_write(const char *copy, const void *bytes, size_t size);

/* Removes the file, of which the loader may still have the content. */
void th_library_copy_remove(const char *copy);

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
 * Any thread.
 */

/*
 * For a copy that finds nothing by $ORIGIN *HANDLE is NULL. Else it is the carrier's, from
 * dlopen(): to be closed after the copy. TH_REFUSED if something is missing, or the folder of the
 * original has a name that the loader cannot be told.
 */
enum th_status th_library_origin_open(const struct th_examination *facts, void **handle);

/* The carrier's file, which goes with the copy; the caller frees it. */
char *th_library_origin_file(const struct th_examination *facts);

#endif
