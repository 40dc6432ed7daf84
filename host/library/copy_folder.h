/*
 * The folder of this program's private copies (private_copy.h).
 *
 * It is made when the first copy is, and removed with all that is in it when the program exits. Of
 * the places where it could be, the first is taken in which folders can be made and code can be run
 * from files: $TMPDIR, /tmp, and $XDG_RUNTIME_DIR as the last, as that is small, and in memory, as
 * a rule. It is called tracehost-code-XXXXXX and is its owner's alone (0700), as its files are
 * opened by name.
 *
 * Who has such a folder holds a lock on it (flock()) for life. So a folder without a lock is that
 * of a host that was killed: the next one that makes a folder in the same place removes it.
 * systemd-tmpfiles, too, leaves alone what is locked.
 *
 * A child of fork() has a folder of its own once it needs one, and leaves its parent's alone.
 *
 * Any thread. Inner header of library/.
 */
#ifndef TH_LIBRARY_COPY_FOLDER_H
#define TH_LIBRARY_COPY_FOLDER_H

#include "host/base/base.h"

/*
 * Makes the folder if there is none; the caller frees *PATH, which is absolute. TH_FAILED: there is
 * no place for one; the chain has each with what is wrong there.
 */
enum th_status th_copy_folder(char **path);

/* Removes the file PATH, if the folder it is in is this program's. */
void th_copy_folder_remove(const char *path);

#endif
