/* What files of one tracer share, and what it uses of this folder, nobody else sees. */
#ifndef TRACER_LOCAL_H
#define TRACER_LOCAL_H

#define TRACER_LOCAL __attribute__((visibility("hidden")))

#endif
