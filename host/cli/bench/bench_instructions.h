/*
 * Counts the instructions of a tracer's callbacks with valgrind.
 *
 * Another process, `valgrind --tool=callgrind tracehost bench --unmeasured`, plays all series for the
 * empty tracer and for the tracer. callgrind writes a file of counts after each series. The counts
 * of a series are exact: how often a branch was missed or a cache line loaded does not matter.
 */
#ifndef TH_BENCH_INSTRUCTIONS_H
#define TH_BENCH_INSTRUCTIONS_H

#include "bench_measure.h"

#include "host/control/argument.h"

/* Counts the instructions of tracer NUMBER, whose libraries are searched in FOLDERS, and those of the
 * empty tracer, unless they are counted.
 * Errors: TH_FAILED if valgrind is missing, or ends with another status than 0. */
enum th_status th_bench_count_instructions(struct th_bench *bench, size_t number,
                                           const struct th_texts *folders);

/* Plays all series in the process that valgrind runs: the tracers of BENCH one after the other. */
void th_bench_play_counted(struct th_bench *bench);

#endif
