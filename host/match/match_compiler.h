/* What the files that compile match specifications share. */
#ifndef TH_MATCH_COMPILER_H
#define TH_MATCH_COMPILER_H

#include "match_function.h"

/* A variable of the clause that is being compiled. */
struct th_match_variable {
    uint32_t number;
    uint32_t slot; /* TH_MATCH_WHOLE_TARGET: it stands for the whole head */
};

#define TH_MATCH_WHOLE_TARGET UINT32_MAX

struct th_match_compiler {
    struct th_match_spec *spec;
    struct th_match_faults faults;
    struct th_match_place place;
    struct th_match_variable *variables; /* of this clause, by rising numbers */
    size_t variable_count, variable_capacity;
    size_t slots; /* of variables, in this clause */
    size_t depth; /* of the term that is being compiled */
    struct th_buffer shown;
};

/* Adds an instruction; its index is returned. */
size_t th_match_emit(struct th_match_compiler *c, enum th_match_code code, size_t level,
                     size_t operand);

/* The index of a constant, which must live as long as the specification. */
size_t th_match_constant(struct th_match_compiler *c, th_term t);

/* Code from here on is of this place. */
void th_match_mark(struct th_match_compiler *c, enum th_match_part part, size_t item);

/* Adds a fault, about T (TH_NONE: the whole), at the place that is being compiled. */
void th_match_add_fault(struct th_match_compiler *c, th_term t, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds fault I once more. */
void th_match_repeat_fault(struct th_match_compiler *c, size_t i);

/* T as a BEAM's faults print it; valid until the next call. */
const char *th_match_shown(struct th_match_compiler *c, th_term t);

/* The number of a variable '$N'; false for any other term. */
bool th_match_variable_number(th_term t, uint32_t *number);

/* The variable, NULL if it is not bound. */
const struct th_match_variable *th_match_find_variable(const struct th_match_compiler *c,
                                                       uint32_t number);
void th_match_add_variable(struct th_match_compiler *c, uint32_t number, uint32_t slot);

/* Goes one level deeper; false, with a fault, where that is too deep. */
bool th_match_descend(struct th_match_compiler *c, th_term t);

/* The parts of a clause. */
void th_match_compile_head(struct th_match_compiler *c, th_term head);
void th_match_compile_expression(struct th_match_compiler *c, th_term t, bool body);

/* match_screen.c: of SPEC, which is complete. */
void th_match_make_screens(struct th_match_spec *spec);

#endif
