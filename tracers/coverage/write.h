/* Writes the result in each format. */
#ifndef COVERAGE_WRITE_H
#define COVERAGE_WRITE_H

#include "names.h"

/* The functions of one module, in sequence. */
struct module {
    const struct name *names;
    size_t count, called;
    bool listed; /* some are listed: so the functions never called are known */
    bool first;  /* first module of all */
};

/* Writes a line for each function, and one for the module. */
COVERAGE_LOCAL void write_text(FILE *file, const struct module *module);

/* Writes a module; {"modules":[ and ]} surround all modules. */
COVERAGE_LOCAL void write_json(FILE *file, const struct module *module);

/* Writes a record of lcov's tracefiles (geninfo(1), FILES). */
COVERAGE_LOCAL void write_lcov(FILE *file, const struct module *module);

#endif
