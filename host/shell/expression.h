/*
 * The trees that texts become, and how they are built. The text is untrusted: trees are at most
 * TH_EXPRESSION_DEPTH deep, so that whoever walks them may do so by recursion.
 */
#ifndef TH_EXPRESSION_H
#define TH_EXPRESSION_H

#include "shell.h"

enum { TH_EXPRESSION_DEPTH = 1000 };

/* What a node is, and its parts. A part that may be missing is NULL. */
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

/* What was read. Whoever needs it has a share: the program, and each fun that was made by it. */
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
void th_shell_source_keep(struct th_source *source);
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

/* An expression; expressions separated by commas, as a block; what begins with a reserved word. */
th_shell_parsed th_shell_parse_expression, th_shell_parse_block, th_shell_parse_word;

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

/* What operators stand between; the same where a ':' behind it means no call; the rest of an
 * expression that begins with LEFT. */
th_shell_parsed th_shell_parse_operand, th_shell_parse_primary;
struct th_node *th_shell_parse_rest(struct th_expression_parser *p, struct th_node *left);

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

#endif
