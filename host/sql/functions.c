/* The table `functions`: a row for each function, the sums over its calls in the table `calls`. */
#include "table.h"

struct sums {
    uint64_t first_record;
    struct th_mfa function;
    uint64_t calls, exceptions;
    uint64_t timed;                  /* calls with a duration */
    int64_t total, own, least, most; /* -1: there is none */
};

#define ROW sums
#define FUNCTION_COLUMNS(X)                            \
    X(recording, TEXT, RECORDING, RECORDING, function) \
    X(module, TEXT, MODULE, MODULE, function)          \
    X(function, TEXT, FUNCTION, FUNCTION, function)    \
    X(arity, INTEGER, ARITY, ARITY, function)          \
    X(calls, INTEGER, NOTHING, COUNT, calls)           \
    X(exceptions, INTEGER, NOTHING, COUNT, exceptions) \
    X(timed, INTEGER, NOTHING, COUNT, timed)           \
    X(duration, INTEGER, NOTHING, DURATION, total)     \
    X(own_duration, INTEGER, NOTHING, DURATION, own)   \
    X(min_duration, INTEGER, NOTHING, DURATION, least) \
    X(max_duration, INTEGER, NOTHING, DURATION, most)

enum { FUNCTION_COLUMNS(TH_SQL_COLUMN_ENUM) FUNCTION_COLUMN_COUNT };
static const struct th_sql_column function_columns[] = {FUNCTION_COLUMNS(TH_SQL_COLUMN_ROW)};

struct summed_call {
    struct sums *sums; /* of its function; NULL: not asked for */
    uint32_t below;    /* place of the call that made this one; 0: none */
    int64_t inside;    /* nanoseconds of the calls that it made, as far as they are known */
};

struct functions {
    struct th_sql_open_calls open; /* struct summed_call */
    struct th_sql_kept sums;       /* struct sums by function */
};

/* A key that is not 0: two atoms have 40 bits, the arity 8. */
static uint64_t key_of_function(const struct th_mfa *function)
{
    return (uint64_t)th_atom_index(function->module) << 32 |
           (uint64_t)th_atom_index(function->function) << 9 | function->arity << 1 | 1;
}
_Static_assert(TH_ATOM_LIMIT <= 1 << 23, "atoms do not fit");

static void end_call_of_function(void *context, uint32_t place, enum th_call_duration kind,
                                 int64_t ns)
{
    struct th_sql_cursor *cursor = context;
    struct functions *functions = cursor->state;
    struct summed_call *call = th_sql_open_call(&functions->open, place);
    struct summed_call *below = th_sql_open_call(&functions->open, call->below);
    struct sums *sums = call->sums;

    if (below) /* the time of a call whose duration is not known is that of its caller */
        below->inside += kind == TH_DURATION_KNOWN ? ns : call->inside;
    if (!sums)
        return;
    sums->exceptions += cursor->event.tag == TH_TAG_exception_from &&
                        (kind == TH_DURATION_KNOWN || kind == TH_DURATION_UNTIMED);
    if (kind != TH_DURATION_KNOWN)
        return;
    if (sums->timed++ == 0) {
        sums->total = sums->own = 0;
        sums->least = ns;
    }
    sums->total += ns;
    sums->own += ns > call->inside ? ns - call->inside : 0;
    if (ns < sums->least)
        sums->least = ns;
    if (ns > sums->most)
        sums->most = ns;
}

static void begin_functions(struct th_sql_cursor *cursor)
{
    struct functions *functions = th_alloc_zero(sizeof *functions);

    th_sql_open_calls_begin(&functions->open, cursor, sizeof(struct summed_call),
                            end_call_of_function);
    cursor->state = functions;
}

static void end_functions(struct th_sql_cursor *cursor)
{
    struct functions *functions = cursor->state;

    th_sql_kept_free(&functions->sums, cursor);
    th_sql_open_calls_end(&functions->open);
    th_free(functions);
}

static struct sums *sums_of(struct th_sql_cursor *cursor, const struct th_mfa *function)
{
    struct functions *functions = cursor->state;
    uint64_t key = key_of_function(function);
    struct sums *sums = th_sql_kept_get(&functions->sums, key);

    if (sums)
        return sums;
    sums = th_sql_kept_add(&functions->sums, cursor, key);
    sums->function = *function;
    sums->first_record = cursor->event.number;
    sums->total = sums->own = sums->least = sums->most = -1;
    return sums;
}

static enum th_status take_for_functions(struct th_sql_cursor *cursor)
{
    struct functions *functions = cursor->state;
    struct th_call_followed followed;
    struct summed_call *call;
    struct sums *sums;
    bool is_call;
    enum th_status status = th_sql_open_calls_take(&functions->open, cursor, &is_call, &followed);

    if (!is_call)
        return status;
    call = th_sql_open_call(&functions->open, followed.place);
    if (call)
        call->below = followed.below;
    if (!th_sql_window_takes_function(&cursor->window, &followed.function))
        return TH_OK;
    sums = sums_of(cursor, &followed.function);
    sums->calls++;
    if (call)
        call->sums = sums;
    return TH_OK;
}

static bool queue_function(struct th_sql_cursor *cursor)
{
    struct functions *functions = cursor->state;
    const struct sums *sums = th_sql_kept_next(&functions->sums);

    th_sql_open_calls_tell(&functions->open, cursor);
    if (sums)
        th_sql_queue(cursor, sums);
    return sums;
}

const struct th_sql_table th_sql_functions_table = {.name = "functions",
                                                    .columns = function_columns,
                                                    .count = FUNCTION_COLUMN_COUNT,
                                                    .row_size = sizeof(struct sums),
                                                    .begin = begin_functions,
                                                    .take = take_for_functions,
                                                    .rest = queue_function,
                                                    .end = end_functions};
