/* What is told, in each format. */
#ifndef COVERAGE_WRITE_H
#define COVERAGE_WRITE_H

#include "names.h"

/* The functions of one module, which follow one another. */
struct module {
    const struct name *names;
    size_t count, called;
    bool listed; /* some of them were: so it is known which were never called */
    bool first;  /* of all */
};

/* A line for each function, and one for the module. */
COVERAGE_LOCAL void write_text(FILE *file, const struct module *module);

/* {"modules":[ and ]} go around all modules. */
COVERAGE_LOCAL void write_json(FILE *file, const struct module *module);

/* A record of lcov's tracefiles (geninfo(1), FILES). */
COVERAGE_LOCAL void write_lcov(FILE *file, const struct module *module);

#endif
