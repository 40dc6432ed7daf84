/*
 * The trees that texts become, and how they are built; what evaluates them. The text is untrusted:
 * trees are at most TH_EXPRESSION_DEPTH deep, so that whoever walks them may do so by recursion.
 */
#ifndef TH_SHELL_INTERNAL_H
#define TH_SHELL_INTERNAL_H

#include "shell.h"

#include "host/term/atom.h"
#include "host/term/text_token.h"

enum { TH_EXPRESSION_DEPTH = 1000 };

/* Kinds of nodes, and their parts. A part that may be missing is NULL. */
enum th_node_kind {
    TH_NODE_CONSTANT, /* `value` */
    TH_NODE_VARIABLE, /* `value` is its name, an atom */
    TH_NODE_ANY,      /* _ */
    TH_NODE_LIST,     /* the elements, at last the tail */
    TH_NODE_TUPLE,    /* the elements */
    TH_NODE_MAP,      /* the map that is updated or NULL, then associations */
    TH_NODE_PAIR,     /* of a map: key and value; `exact` where := stands between them */
    TH_NODE_BITS,     /* segments */
    TH_NODE_SEGMENT,  /* the value, the size or NULL; `spec`; `exact` for "a string" */
    TH_NODE_CALL,     /* the module or NULL, the function, the arguments */
    TH_NODE_FUN,      /* the variable that is its name or NULL, then clauses whose patterns are
                         tuples of the arguments; `value` is its place among the source's funs */
    TH_NODE_EXPORT,   /* fun Module:Function/Arity with variables; fun Function/Arity: no module */
    TH_NODE_COMPREHENSION,      /* a list's: what is made; then generators and filters, in turn */
    TH_NODE_COMPREHENSION_BITS, /* the same of bit strings */
    TH_NODE_COMPREHENSION_MAP,  /* and of a map, from a pair */
    TH_NODE_GENERATOR,          /* the pattern, what it goes through: a list; a map if the pattern
                                   is a pair; a bit string if it is `exact` */
    TH_NODE_FILTER,             /* an expression; `exact` if it may stand in guards */
    TH_NODE_MATCH,              /* pattern = expression */
    TH_NODE_SEND,               /* receiver ! message */
    TH_NODE_UNARY,              /* `op`: one operand */
    TH_NODE_BINARY,             /* `op`: two */
    TH_NODE_CATCH,              /* an expression */
    TH_NODE_BLOCK,              /* expressions, one after the other; at least one */
    TH_NODE_CASE,               /* an expression, then clauses */
    TH_NODE_IF,                 /* clauses without a pattern */
    TH_NODE_RECEIVE,            /* the time or NULL, the block after it or NULL, then clauses */
    TH_NODE_TRY,     /* a block, CLAUSES of `of`, CLAUSES of `catch`, the block of `after` */
    TH_NODE_CLAUSES, /* clauses */
    TH_NODE_CLAUSE,  /* the pattern or NULL, the guard or NULL, a block; in a `catch` the pattern
                        is that of {Class, Reason, Stack} */
    TH_NODE_GUARD    /* blocks of tests, one of which must hold as a whole */
};

/* X(name, text, precedence, whether it groups from the right) */
#define TH_OPERATORS(X)                                                          \
    X(MATCH, "=", 100, true)                                                     \
    X(SEND, "!", 100, true)                                                      \
    X(ORELSE, "orelse", 150, true)                                               \
    X(ANDALSO, "andalso", 160, true)                                             \
    X(EQUAL, "==", 200, false)                                                   \
    X(UNEQUAL, "/=", 200, false)                                                 \
    X(IDENTICAL, "=:=", 200, false)                                              \
    X(DIFFERENT, "=/=", 200, false)                                              \
    X(LESS, "<", 200, false)                                                     \
    X(AT_MOST, "=<", 200, false)                                                 \
    X(GREATER, ">", 200, false)                                                  \
    X(AT_LEAST, ">=", 200, false)                                                \
    X(APPEND, "++", 300, true)                                                   \
    X(LESS_ALL, "--", 300, true)                                                 \
    X(PLUS, "+", 400, false)                                                     \
    X(MINUS, "-", 400, false)                                                    \
    X(BOR, "bor", 400, false)                                                    \
    X(BXOR, "bxor", 400, false)                                                  \
    X(BSL, "bsl", 400, false)                                                    \
    X(BSR, "bsr", 400, false)                                                    \
    X(OR, "or", 400, false)                                                      \
    X(XOR, "xor", 400, false)                                                    \
    X(TIMES, "*", 500, false)                                                    \
    X(DIVIDE, "/", 500, false)                                                   \
    X(DIV, "div", 500, false)                                                    \
    X(REM, "rem", 500, false)                                                    \
    X(BAND, "band", 500, false)                                                  \
    X(AND, "and", 500, false)                                                    \
    X(NOT, "not", 600, false) /* unary, as BNOT is, and PLUS and MINUS may be */ \
    X(BNOT, "bnot", 600, false)

enum th_operator {
#define X(name, text, precedence, right) TH_OPERATOR_##name,
    TH_OPERATORS(X)
#undef X
        TH_OPERATOR_COUNT
};
extern const char *const th_shell_operator_texts[TH_OPERATOR_COUNT];

struct th_node {
    unsigned char kind; /* enum th_node_kind */
    unsigned char op;   /* enum th_operator */
    bool exact;
    unsigned depth; /* of the tree below, itself included */
    const char *at; /* where it begins in the text */
    th_term value;
    const struct th_spec *spec;
    size_t count;
    struct th_node *parts[];
};

/* A fun in a text. */
struct th_fun_source {
    const struct th_node *node;
    const th_term *names; /* of all variables in it */
    size_t name_count;
};

/* A text that was read. The program and each fun that was made by it have a share. */
struct th_source {
    _Atomic size_t shares; /* see th_shell_source_drop() for the orders */
    uint64_t number;       /* unique in this host, from 1 */
    char *text;
    size_t size;
    th_env env; /* holds the constants, and the nodes as words */
    struct th_fun_source *funs;
    size_t fun_count, fun_capacity;
};

/* Takes a share; gives one back. Any thread. */
void th_shell_source_keep(void *source);
void th_shell_source_drop(struct th_source *source);

/* --- Building -------------------------------------------------------------------------------- */

struct th_expression_parser {
    struct th_scanner scanner; /* its token is the next one that is to be read */
    struct th_source *source;
    bool failed; /* an error was raised: the rest of the text is passed over */
    unsigned depth;
    struct th_node **parts; /* of the nodes that are being built, the innermost last */
    size_t count, capacity;
};

/* A node of the parts from FIRST on, which are taken off. */
struct th_node *th_shell_make_node(struct th_expression_parser *p, enum th_node_kind kind,
                                   const char *at, size_t first);

/* A node of COUNT parts, NULL where one is missing. */
struct th_node *th_shell_make_node_of(struct th_expression_parser *p, enum th_node_kind kind,
                                      const char *at, struct th_node *const parts[], size_t count);

/* A node without parts. */
struct th_node *th_shell_make_leaf(struct th_expression_parser *p, enum th_node_kind kind,
                                   const char *at, th_term value);

/* SIZE bytes that live as long as the source. */
void *th_shell_source_alloc(struct th_source *source, size_t size);

/* Makes NODE the next one of the source's funs. */
void th_shell_source_add_fun(struct th_source *source, struct th_node *node);

/* Puts PART (NULL for one that is missing) behind the parts. */
void th_shell_push_part(struct th_expression_parser *p, struct th_node *part);

/* Reads the next token. */
void th_shell_advance(struct th_expression_parser *p);

/* True if the token is the word, or operator, TEXT; th_shell_skip() reads the next one then. */
bool th_shell_at(const struct th_expression_parser *p, const char *text);
bool th_shell_skip(struct th_expression_parser *p, const char *text);

/* Reads the token TEXT, which must be there. */
void th_shell_expect(struct th_expression_parser *p, const char *text);

/* An error was raised: whoever reads goes on, and finds the text at its end. Returns a node that is
 * none. */
struct th_node *th_shell_stop(struct th_expression_parser *p) __attribute__((cold));

/* The same, raising an error for the place AT unless one was raised before. */
struct th_node *th_shell_fail(struct th_expression_parser *p, const char *at, const char *format,
                              ...) __attribute__((format(printf, 3, 4), cold));

/* The same: "expected WANTED", for the token at hand. */
struct th_node *th_shell_fail_here(struct th_expression_parser *p, const char *wanted)
    __attribute__((cold));

/* Reads a node. */
typedef struct th_node *th_shell_parsed(struct th_expression_parser *p);

/* Reads nodes as PARSE does, as long as SEPARATOR follows; they are pushed. */
void th_shell_parse_several(struct th_expression_parser *p, th_shell_parsed *parse,
                            const char *separator);

/* An expression; expressions separated by commas, as a block. */
th_shell_parsed th_shell_parse_expression, th_shell_parse_block;

/* Behind "fun". */
struct th_node *th_shell_parse_fun(struct th_expression_parser *p, const char *at);

/* A clause from "when" or "->" on, whose PATTERN was read. */
struct th_node *th_shell_parse_clause_rest(struct th_expression_parser *p, struct th_node *pattern);

/* At "end", which is read. */
void th_shell_parse_end(struct th_expression_parser *p);

/* At "||": a comprehension of KIND that makes MADE, up to CLOSING, which is read. */
struct th_node *th_shell_parse_comprehension(struct th_expression_parser *p, enum th_node_kind kind,
                                             struct th_node *made, const char *closing);

/* Expressions up to CLOSING, which is read; they are pushed. */
void th_shell_parse_elements(struct th_expression_parser *p, const char *closing);

/* A token that is a whole term, VALUE: reads it. A variable, or '_'. */
struct th_node *th_shell_parse_constant(struct th_expression_parser *p, th_term value);
th_shell_parsed th_shell_parse_variable;

/* An operand, where a ':' behind it means no call. */
th_shell_parsed th_shell_parse_primary;

/* Goes on behind LEFT with operators that bind at least as strongly as LEAST. */
struct th_node *th_shell_parse_rest(struct th_expression_parser *p, struct th_node *left,
                                    unsigned least);

/* An operand without its signs; the same with what may follow it: ":function(...)", "(...)",
 * "#{...}". */
th_shell_parsed th_shell_parse_bare, th_shell_parse_called;

/* Behind "<<". */
struct th_node *th_shell_parse_bits(struct th_expression_parser *p, const char *at);

/* Checks that all of a form may stand where it does: patterns are patterns, guards are guards. */
enum th_status th_shell_check(const struct th_source *source, const struct th_node *form);

/* True if the expression may be a test of a guard. */
bool th_shell_is_test(const struct th_node *node);

/* True for a function that a guard may call. */
bool th_shell_in_guards(const char *name, size_t arity);

/* --- Evaluating ------------------------------------------------------------------------------ */

/*
 * Values move when memory is given back, which happens whenever a fun is applied or a comprehension
 * goes on: th_shell_pause(). So whoever evaluates a part of an expression keeps what he has of
 * others on the evaluation's stack meanwhile. Patterns and guards do neither.
 */
enum {
    TH_EXPRESSION_BITS = INT32_MAX,   /* of a bit string that is built: a quarter of a gigabyte */
    TH_EXPRESSION_ELEMENTS = 1 << 24, /* of a list that a host's function makes */
    TH_EXPRESSION_WORDS = 1 << 26     /* of all values that are in use: half a gigabyte */
};

/* Instead of a value: the fun and its arguments that lie on the stack are to be applied. No term.
 */
#define TH_TAIL_CALL ((th_term)0x80)

static inline th_term th_shell_boolean(bool b)
{
    return b ? TH_AM(true) : TH_AM(false);
}

static inline bool th_shell_is_boolean(th_term t)
{
    return t == TH_AM(true) || t == TH_AM(false);
}

/* The value of any node, TH_NONE with an exception. */
th_term th_shell_evaluate(struct th_evaluation *e, const struct th_node *node);
th_term th_shell_evaluate_bits(struct th_evaluation *e, const struct th_node *bits);
th_term th_shell_evaluate_comprehension(struct th_evaluation *e, const struct th_node *node);
th_term th_shell_evaluate_fun(struct th_evaluation *e, const struct th_node *node);

/* The same; with TAIL, for the last part of a fun, it may be TH_TAIL_CALL. */
th_term th_shell_evaluate_part(struct th_evaluation *e, const struct th_node *node, bool tail);
th_term th_shell_evaluate_block(struct th_evaluation *e, const struct th_node *block, bool tail);
th_term th_shell_evaluate_receive(struct th_evaluation *e, const struct th_node *node, bool tail);

/* The result of NODE's operator for the VALUES of its operands; fun Module:Function/Arity of PARTS.
 */
th_term th_shell_apply_operator(struct th_evaluation *e, const struct th_node *node,
                                const th_term values[]);
th_term th_shell_make_export(struct th_evaluation *e, const th_term parts[3]);

/* Pushes the values of COUNT nodes, the first one at *FIRST; false with an exception. Who takes
 * them off sets `stacked` back; who raises an exception need not. */
bool th_shell_evaluate_all(struct th_evaluation *e, struct th_node *const nodes[], size_t count,
                           size_t *first);
void th_shell_push(struct th_evaluation *e, th_term t);

/* Applies the fun on the stack at FIRST to what lies behind it; takes all that off. */
th_term th_shell_apply(struct th_evaluation *e, size_t first);

/* Calls a function of a library, or else of the host. */
th_term th_shell_call_function(struct th_evaluation *e, th_term module, th_term function,
                               const th_term arguments[], size_t count);

/* Where an evaluation stands: whoever handles an exception goes back to it. */
struct th_standing {
    struct th_source *source;
    size_t count, scope, fresh, stacked;
};
struct th_standing th_shell_standing(const struct th_evaluation *e);
void th_shell_unwind(struct th_evaluation *e, const struct th_standing *standing);

/* True if nothing more is to be evaluated, as the user wants, too. */
bool th_shell_interrupted(struct th_evaluation *e);

/* Gives back memory if that may be worth it. False: the user wants all to end, or an exception, as
 * there is too much. */
bool th_shell_pause(struct th_evaluation *e);

/* The clause among those of NODE from FIRST on that T (TH_NONE: nothing) matches and whose guard
 * holds, its variables bound; NULL, nothing bound. */
const struct th_node *th_shell_match_clauses(struct th_evaluation *e, const struct th_node *node,
                                             size_t first, th_term t);

/* Matches T, whose variables are bound in part if it fails. */
bool th_shell_match(struct th_evaluation *e, const struct th_node *pattern, th_term t);

/* Matches the bits from *AT on, which moves behind them also if their values are others. */
enum th_taken { TH_TAKEN_MATCHED, TH_TAKEN_OTHER, TH_TAKEN_NOT /* too few are left */ };
enum th_taken th_shell_match_next_bits(struct th_evaluation *e, const struct th_node *bits,
                                       th_term t, size_t *at);

/* The specification of a segment now that its size has VALUE; false if that is no size. */
bool th_shell_segment_spec(const struct th_node *segment, th_term value, struct th_spec *spec);

th_term th_shell_make_bits(th_env *env, const void *data, size_t bits);

/* The binding of NAME that is seen, NULL if there is none. */
struct th_binding *th_shell_find_binding(struct th_evaluation *e, th_term name);
void th_shell_bind(struct th_evaluation *e, th_term name, th_term value);

extern const char *const th_shell_classes[]; /* names of enum th_class */

/* Raise an exception; return TH_NONE. */
th_term th_shell_raise(struct th_evaluation *e, enum th_class class, th_term reason);
th_term th_shell_raise_pair(struct th_evaluation *e, const char *tag,
                            th_term value); /* {Tag, Value} */
th_term th_shell_raise_from(struct th_evaluation *e, th_term reason, th_term module,
                            th_term function, const th_term arguments[], size_t count);

th_term th_shell_raise_limit(struct th_evaluation *e, const char *note); /* system_limit */
th_term th_shell_raise_unbound(struct th_evaluation *e, const struct th_node *variable);

/* Adds a line of explanation to the exception. */
void th_shell_add_note(struct th_evaluation *e, const char *note);

/* A function of the host's own. TH_CALLED_UNDEFINED if there is none of that name; MODULE TH_NONE
 * stands for what may be called without one. */
enum th_called th_shell_call_own(struct th_evaluation *e, th_term module, th_term function,
                                 size_t count, const th_term arguments[], th_term *result);

/* A call without a module: commands of the shell, functions of erlang. */
th_term th_shell_evaluate_command(struct th_evaluation *e, const struct th_node *call);

/* A message that no receive has taken yet. */
struct th_shell_mail {
    struct th_shell_mail *next;
    th_term term;
    th_env env; /* holds the term */
};

/* Waits for the next message, which is put behind the others; false: none came. */
bool th_shell_wait(struct th_evaluation *e, int64_t nanoseconds);

/* Frees the message at *PLACE, which leaves the others. */
void th_shell_drop_mail(struct th_evaluation *e, struct th_shell_mail **place);

/* The nanoseconds of a time in milliseconds, below 0 for infinity; false with an exception. */
bool th_shell_get_time(struct th_evaluation *e, th_term t, int64_t *nanoseconds);

/* Waits; false if that was interrupted. */
bool th_shell_sleep(struct th_evaluation *e, int64_t nanoseconds);

#endif
