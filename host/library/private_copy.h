/*
 * Private copies of libraries: tracers and modules are opened from copies if they are loaded into a
 * running host, or may be replaced in it.
 *
 * A copy is a file NAME.GEN.so in the program's own folder (private_copy.c); GEN counts up in the
 * program. So the loader takes each copy as another library, and no other program writes to the
 * copy, truncates or replaces it while its code runs. The copy is a real file, for debuggers and
 * profilers, while the library is open.
 *
 * A copy has the content of one moment: the file must not change between a look before and one
 * after it is read. Changes within one tick of the kernel's clock have the same times, so copying
 * begins in a later tick than the file's last change.
 *
 * Thread: any. Inner header of library/.
 */
#ifndef TH_PRIVATE_COPY_H
#define TH_PRIVATE_COPY_H

#include "host/base/error.h"

#include <sys/stat.h>

struct th_examination;

/*
 * Copies the file PATH. *ORIGINAL becomes the stat() of the file that was copied.
 * Owner: the caller frees *COPY, the copy's path.
 * Errors: TH_REFUSED if PATH cannot be read, changes meanwhile, or lacks the header of a library of
 * this machine; TH_FAILED if there is no room.
 */
enum th_status th_library_copy_make(const char *path, char **copy, struct stat *original);

/* Writes a file COPY of SIZE bytes, in the folder of copies. Errors: TH_FAILED. */
enum th_status th_library_copy_write(const char *copy, const void *bytes, size_t size);

/* Removes the file COPY. The loader may still have its content mapped. */
void th_library_copy_remove(const char *copy);

/*
 * Libraries that a private copy finds by $ORIGIN, beside the original.
 *
 * The loader replaces $ORIGIN by the folder of the file that it opens, which is the copy's. So a
 * carrier is opened before the copy: a library without code, made here, that needs the same
 * libraries as the copy and looks for them where the original would, with $ORIGIN spelled out. The
 * loader then has all of them, under the names that the copy uses, and does not search again. Its
 * own rules still decide which file is found, and that a library in memory is not opened again.
 *
 * The carrier keeps these libraries open while it is open. Its file is beside the copy.
 *
 * Thread: any.
 */

/*
 * Opens the carrier for the copy of FACTS. *HANDLE is NULL if the copy needs nothing by $ORIGIN.
 * Owner: the caller closes *HANDLE with dlclose(), after the copy.
 * Errors: TH_REFUSED if a library is missing, is needed by a name with $ORIGIN, or the folder of
 * the original is gone or has a name that the loader would split; TH_FAILED if the carrier cannot
 * be written.
 */
enum th_status th_library_origin_open(const struct th_examination *facts, void **handle);

/* Returns the path of the carrier's file, to be removed with the copy.
 * Owner: the caller frees it. */
char *th_library_origin_file(const struct th_examination *facts);

#endif
