/*
 * Who opens which file in place.
 *
 * What is opened is known to the loader at once, to others only when nif_init() has returned. Two
 * threads that open one file would both get the loader's handle, and neither find the instance of
 * the other. So one waits until the other has finished; those that open other files do not. No lock
 * is held meanwhile, as code of the library runs.
 *
 * Any thread. Inner header of library/.
 */
#ifndef TH_LIBRARY_OPENING_H
#define TH_LIBRARY_OPENING_H

#include "examine.h"

#include <pthread.h>

struct th_opening {
    struct th_opening *next;
    const struct th_examination *facts;
    pthread_t opener;
};

/*
 * Waits while another thread opens the file of FACTS, or another at its path. OPENING and FACTS
 * must stay until th_opening_end(), by the same thread. TH_REFUSED if waiting might last for ever:
 * the caller is in a constructor of a library.
 */
enum th_status th_opening_begin(struct th_opening *opening, const struct th_examination *facts);
void th_opening_end(struct th_opening *opening);

#endif
