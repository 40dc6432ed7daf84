/* TRACER_LOCAL: visibility of functions that only the files of one tracer share, those of this
 * folder included. */
#ifndef TRACER_LOCAL_H
#define TRACER_LOCAL_H

#define TRACER_LOCAL __attribute__((visibility("hidden")))

#endif
