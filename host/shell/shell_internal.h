/*
 * The inner header of shell/: syntax trees, their parser and their evaluator. The text is
 * untrusted; a tree is at most TH_EXPRESSION_DEPTH deep, so that recursion over a tree is safe.
 */
#ifndef TH_SHELL_INTERNAL_H
#define TH_SHELL_INTERNAL_H

#include "shell.h"

#include "host/term/atom.h"
#include "host/term/make.h"
#include "host/term/text_token.h"

enum { TH_EXPRESSION_DEPTH = 1000 };

/* Kinds of nodes, with their parts. A missing part is NULL. */
enum th_node_kind {
    TH_NODE_CONSTANT, /* `value` */
    TH_NODE_VARIABLE, /* `value` is the name, an atom */
    TH_NODE_ANY,      /* _ */
    TH_NODE_LIST,     /* the elements, then the tail */
    TH_NODE_TUPLE,    /* the elements */
    TH_NODE_MAP,      /* the map to update or NULL, then associations */
    TH_NODE_PAIR,     /* of a map: key and value; `exact` for := */
    TH_NODE_BITS,     /* segments */
    TH_NODE_SEGMENT,  /* the value, the size or NULL; `spec`; `exact` for "a string" */
    TH_NODE_CALL,     /* the module or NULL, the function, the arguments */
    TH_NODE_FUN,      /* the name's variable or NULL, then clauses whose patterns are tuples of the
                         arguments; `value` is the index among the source's funs */
    TH_NODE_EXPORT,   /* fun M:F/A with variables: module or NULL, function, arity */
    TH_NODE_COMPREHENSION,      /* of a list: the result; then generators and filters, in order */
    TH_NODE_COMPREHENSION_BITS, /* likewise, of a bit string */
    TH_NODE_COMPREHENSION_MAP,  /* likewise, of a map: the result is a pair */
    TH_NODE_GENERATOR,          /* the pattern, then its input: a list; a map if the pattern is a
                                   pair; a bit string if `exact` */
    TH_NODE_FILTER,             /* an expression; `exact` if allowed in guards */
    TH_NODE_MATCH,              /* pattern = expression */
    TH_NODE_SEND,               /* receiver ! message */
    TH_NODE_UNARY,              /* `op`: one operand */
    TH_NODE_BINARY,             /* `op`: two operands */
    TH_NODE_CATCH,              /* an expression */
    TH_NODE_BLOCK,              /* expressions, in order; at least one */
    TH_NODE_CASE,               /* an expression, then clauses */
    TH_NODE_IF,                 /* clauses without a pattern */
    TH_NODE_RECEIVE,            /* the time or NULL, the block of `after` or NULL, then clauses */
    TH_NODE_TRY,     /* a block, CLAUSES of `of`, CLAUSES of `catch`, the block of `after` */
    TH_NODE_CLAUSES, /* clauses */
    TH_NODE_CLAUSE,  /* the pattern or NULL, the guard or NULL, a block; in a `catch` the pattern is
                        a tuple {Class, Reason, Stack} */
    TH_NODE_GUARD    /* blocks of tests; the guard holds if all tests of one block hold */
};

/* X(name, text, precedence, groups from the right) */
#define TH_OPERATORS(X)                                                      \
    X(MATCH, "=", 100, true)                                                 \
    X(SEND, "!", 100, true)                                                  \
    X(ORELSE, "orelse", 150, true)                                           \
    X(ANDALSO, "andalso", 160, true)                                         \
    X(EQUAL, "==", 200, false)                                               \
    X(UNEQUAL, "/=", 200, false)                                             \
    X(IDENTICAL, "=:=", 200, false)                                          \
    X(DIFFERENT, "=/=", 200, false)                                          \
    X(LESS, "<", 200, false)                                                 \
    X(AT_MOST, "=<", 200, false)                                             \
    X(GREATER, ">", 200, false)                                              \
    X(AT_LEAST, ">=", 200, false)                                            \
    X(APPEND, "++", 300, true)                                               \
    X(LESS_ALL, "--", 300, true)                                             \
    X(PLUS, "+", 400, false)                                                 \
    X(MINUS, "-", 400, false)                                                \
    X(BOR, "bor", 400, false)                                                \
    X(BXOR, "bxor", 400, false)                                              \
    X(BSL, "bsl", 400, false)                                                \
    X(BSR, "bsr", 400, false)                                                \
    X(OR, "or", 400, false)                                                  \
    X(XOR, "xor", 400, false)                                                \
    X(TIMES, "*", 500, false)                                                \
    X(DIVIDE, "/", 500, false)                                               \
    X(DIV, "div", 500, false)                                                \
    X(REM, "rem", 500, false)                                                \
    X(BAND, "band", 500, false)                                              \
    X(AND, "and", 500, false)                                                \
    X(NOT, "not", 600, false) /* unary, as is BNOT; PLUS and MINUS may be */ \
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
    unsigned depth; /* of the subtree, this node included */
    const char *at; /* first byte in the text */
    th_term value;
    const struct th_spec *spec;
    size_t count;
    struct th_node *parts[];
};

/* A fun in a text. */
struct th_fun_source {
    const struct th_node *node;
    const th_term *names; /* of all variables in the fun */
    size_t name_count;
};

/* A parsed text. The program and each fun made by it hold a reference. */
struct th_source {
    struct th_magic magic; /* for the funs; its words are the number */
    _Atomic size_t shares; /* memory order: see th_shell_source_drop() */
    uint64_t number;       /* unique in this host, from 1 */
    char *text;
    size_t size;
    th_env env; /* holds the constants, and the nodes as words */
    struct th_fun_source *funs;
    size_t fun_count, fun_capacity;
};

/* Take and drop a reference. Thread: any. */
void th_shell_source_keep(struct th_magic *source);
void th_shell_source_drop(struct th_source *source);

/* --- Building -------------------------------------------------------------------------------- */

struct th_expression_parser {
    struct th_scanner scanner; /* its token is the next one to parse */
    struct th_source *source;
    bool failed; /* an error was raised: the rest of the text is skipped */
    unsigned depth;
    struct th_node **parts; /* parts of unfinished nodes, the innermost last */
    size_t count, capacity;
};

/* Makes a node from the parts from FIRST on, and removes these parts. */
struct th_node *th_shell_make_node(struct th_expression_parser *p, enum th_node_kind kind,
                                   const char *at, size_t first);

/* Makes a node from COUNT PARTS; a missing part is NULL. */
struct th_node *th_shell_make_node_of(struct th_expression_parser *p, enum th_node_kind kind,
                                      const char *at, struct th_node *const parts[], size_t count);

/* Makes a node without parts. */
struct th_node *th_shell_make_leaf(struct th_expression_parser *p, enum th_node_kind kind,
                                   const char *at, th_term value);

/* Allocates SIZE bytes that live as long as the source. */
void *th_shell_source_alloc(struct th_source *source, size_t size);

/* Appends NODE to the source's funs. */
void th_shell_source_add_fun(struct th_source *source, struct th_node *node);

/* Appends PART (may be NULL) to the parts. */
void th_shell_push_part(struct th_expression_parser *p, struct th_node *part);

/* Reads the next token. */
void th_shell_advance(struct th_expression_parser *p);

/* Returns true if the token is the word or operator TEXT; th_shell_skip() then reads the next
 * token. */
bool th_shell_at(const struct th_expression_parser *p, const char *text);
bool th_shell_skip(struct th_expression_parser *p, const char *text);

/* Reads the token TEXT; any other token is an error. */
void th_shell_expect(struct th_expression_parser *p, const char *text);

/* Skips the rest of the text after an error, so that all parsers end. Returns a dummy node. */
struct th_node *th_shell_stop(struct th_expression_parser *p) __attribute__((cold));

/* The same; raises an error for the place AT, unless an error was raised before. */
struct th_node *th_shell_fail(struct th_expression_parser *p, const char *at, const char *format,
                              ...) __attribute__((format(printf, 3, 4), cold));

/* The same: "expected WANTED", at the current token. */
struct th_node *th_shell_fail_here(struct th_expression_parser *p, const char *wanted)
    __attribute__((cold));

/* Parses a node. */
typedef struct th_node *th_shell_parsed(struct th_expression_parser *p);

/* Parses nodes with PARSE, separated by SEPARATOR, and pushes them. */
void th_shell_parse_several(struct th_expression_parser *p, th_shell_parsed *parse,
                            const char *separator);

/* Parse an expression; expressions separated by commas, as a block. */
th_shell_parsed th_shell_parse_expression, th_shell_parse_block;

/* Parses after "fun". */
struct th_node *th_shell_parse_fun(struct th_expression_parser *p, const char *at);

/* Parses a clause from "when" or "->" on; its PATTERN was parsed. */
struct th_node *th_shell_parse_clause_rest(struct th_expression_parser *p, struct th_node *pattern);

/* Reads "end". */
void th_shell_parse_end(struct th_expression_parser *p);

/* At "||": parses a comprehension of KIND with the result MADE, through CLOSING. */
struct th_node *th_shell_parse_comprehension(struct th_expression_parser *p, enum th_node_kind kind,
                                             struct th_node *made, const char *closing);

/* Parses expressions through CLOSING, and pushes them. */
void th_shell_parse_elements(struct th_expression_parser *p, const char *closing);

/* Makes a constant of VALUE and reads its token. Parses a variable, or '_'. */
struct th_node *th_shell_parse_constant(struct th_expression_parser *p, th_term value);
th_shell_parsed th_shell_parse_variable;

/* Parses an operand in a place where ':' after it is no call. */
th_shell_parsed th_shell_parse_primary;

/* Parses the operators after LEFT that bind at least as strongly as LEAST. */
struct th_node *th_shell_parse_rest(struct th_expression_parser *p, struct th_node *left,
                                    unsigned least);

/* Parse an operand without its signs; the same with calls and updates after it: ":function(...)",
 * "(...)", "#{...}". */
th_shell_parsed th_shell_parse_bare, th_shell_parse_called;

/* Parses after "<<". */
struct th_node *th_shell_parse_bits(struct th_expression_parser *p, const char *at);

/* Checks that all patterns and guards of FORM are valid. Errors: TH_MALFORMED with the place. */
enum th_status th_shell_check(const struct th_source *source, const struct th_node *form);

/* Returns true if NODE is valid as a test of a guard. */
bool th_shell_is_test(const struct th_node *node);

/* Returns true if guards may call the function. */
bool th_shell_in_guards(const char *name, size_t arity);

/* --- Evaluating ------------------------------------------------------------------------------ */

/*
 * Values move when memory is collected: th_shell_pause(), whenever a fun is applied or a
 * comprehension takes an element. So intermediate values must be on the evaluation's stack while
 * another part is evaluated. Patterns and guards never collect.
 */
enum {
    TH_EXPRESSION_BITS = INT32_MAX,   /* bits of a built bit string: a quarter of a gigabyte */
    TH_EXPRESSION_ELEMENTS = 1 << 24, /* elements of a list that a host function makes */
    TH_EXPRESSION_WORDS = 1 << 26     /* words of all values in use: half a gigabyte */
};

/* Returned in place of a value: the fun on the stack and its arguments must be applied. Not a
 * term. */
#define TH_TAIL_CALL ((th_term)0x80)

static inline th_term th_shell_boolean(bool b)
{
    return b ? TH_AM(true) : TH_AM(false);
}

static inline bool th_shell_is_boolean(th_term t)
{
    return t == TH_AM(true) || t == TH_AM(false);
}

/* Return the value of a node; TH_NONE after an exception. */
th_term th_shell_evaluate(struct th_evaluation *e, const struct th_node *node);
th_term th_shell_evaluate_bits(struct th_evaluation *e, const struct th_node *bits);
th_term th_shell_evaluate_comprehension(struct th_evaluation *e, const struct th_node *node);
th_term th_shell_evaluate_fun(struct th_evaluation *e, const struct th_node *node);

/* The same; with TAIL, for the last part of a fun, the result may be TH_TAIL_CALL. */
th_term th_shell_evaluate_part(struct th_evaluation *e, const struct th_node *node, bool tail);
th_term th_shell_evaluate_block(struct th_evaluation *e, const struct th_node *block, bool tail);
th_term th_shell_evaluate_receive(struct th_evaluation *e, const struct th_node *node, bool tail);

/* Return the result of NODE's operator for the operands VALUES, and the fun
 * PARTS[0]:PARTS[1]/PARTS[2]; TH_NONE after an exception. */
th_term th_shell_apply_operator(struct th_evaluation *e, const struct th_node *node,
                                const th_term values[]);
th_term th_shell_make_export(struct th_evaluation *e, const th_term parts[3]);

/* Pushes the values of COUNT nodes; *FIRST gets the index of the first. Returns false after an
 * exception. The caller resets `stacked`; not needed after an exception. */
bool th_shell_evaluate_all(struct th_evaluation *e, struct th_node *const nodes[], size_t count,
                           size_t *first);
void th_shell_push(struct th_evaluation *e, th_term t);

/* Applies the fun at index FIRST of the stack to the values after it, and pops them all. */
th_term th_shell_apply(struct th_evaluation *e, size_t first);

/* Calls a function of a library, or else of the host. */
th_term th_shell_call_function(struct th_evaluation *e, th_term module, th_term function,
                               const th_term arguments[], size_t count);

/* A state of an evaluation, to which the handler of an exception returns. */
struct th_standing {
    struct th_source *source;
    size_t count, scope, fresh, stacked;
};
struct th_standing th_shell_standing(const struct th_evaluation *e);
void th_shell_unwind(struct th_evaluation *e, const struct th_standing *standing);

/* Returns true if evaluation must stop; asks the host. */
bool th_shell_interrupted(struct th_evaluation *e);

/* Collects memory if the heap has grown enough. Returns false if evaluation must stop. If the
 * values take more than TH_EXPRESSION_WORDS, raises an exception and returns false. */
bool th_shell_pause(struct th_evaluation *e);

/* Returns the first of NODE's clauses, from index FIRST on, whose pattern matches T (TH_NONE: no
 * pattern) and whose guard holds, and binds its variables. Returns NULL, with nothing bound, if
 * there is none. */
const struct th_node *th_shell_match_clauses(struct th_evaluation *e, const struct th_node *node,
                                             size_t first, th_term t);

/* Matches T. If the match fails, some variables may be bound. */
bool th_shell_match(struct th_evaluation *e, const struct th_node *pattern, th_term t);

/* Matches the bits from *AT on. *AT moves behind them, also if their values differ. */
enum th_taken { TH_TAKEN_MATCHED, TH_TAKEN_OTHER, TH_TAKEN_NOT /* too few bits are left */ };
enum th_taken th_shell_match_next_bits(struct th_evaluation *e, const struct th_node *bits,
                                       th_term t, size_t *at);

/* Fills SPEC for a segment whose size is VALUE. Returns false if VALUE is no valid size. */
bool th_shell_segment_spec(const struct th_node *segment, th_term value, struct th_spec *spec);

th_term th_shell_make_bits(th_env *env, const void *data, size_t bits);

/* Returns the visible binding of NAME; NULL: none. */
struct th_binding *th_shell_find_binding(struct th_evaluation *e, th_term name);
void th_shell_bind(struct th_evaluation *e, th_term name, th_term value);

extern const char *const th_shell_classes[]; /* names of enum th_class */

/* Raise an exception and return TH_NONE. */
th_term th_shell_raise(struct th_evaluation *e, enum th_class class, th_term reason);
th_term th_shell_raise_pair(struct th_evaluation *e, const char *tag,
                            th_term value); /* {Tag, Value} */
th_term th_shell_raise_from(struct th_evaluation *e, th_term reason, th_term module,
                            th_term function, const th_term arguments[], size_t count);

th_term th_shell_raise_limit(struct th_evaluation *e, const char *note); /* system_limit */
th_term th_shell_raise_unbound(struct th_evaluation *e, const struct th_node *variable);

/* Adds a line of explanation to the exception. */
void th_shell_add_note(struct th_evaluation *e, const char *note);

/* Calls a function of this room or of the host. MODULE TH_NONE: a function that may be called
 * without a module. Returns TH_CALLED_UNDEFINED if there is none. */
enum th_called th_shell_call_own(struct th_evaluation *e, th_term module, th_term function,
                                 size_t count, const th_term arguments[], th_term *result);

/* Evaluates a call without a module: a command of the shell, or a function of erlang. */
th_term th_shell_evaluate_command(struct th_evaluation *e, const struct th_node *call);

/* A message that no receive has taken. */
struct th_shell_mail {
    struct th_shell_mail *next;
    th_term term;
    th_env env; /* holds the term */
};

/* Waits for the next message and appends it to the others. Returns false if none came. */
bool th_shell_wait(struct th_evaluation *e, int64_t nanoseconds);

/* Frees the message at *PLACE and unlinks it. */
void th_shell_drop_mail(struct th_evaluation *e, struct th_shell_mail **place);

/* Converts a time in milliseconds to nanoseconds; below 0 for infinity. Returns false after an
 * exception. */
bool th_shell_get_time(struct th_evaluation *e, th_term t, int64_t *nanoseconds);

/* Waits. Returns false if the wait was interrupted. */
bool th_shell_sleep(struct th_evaluation *e, int64_t nanoseconds);

#endif
