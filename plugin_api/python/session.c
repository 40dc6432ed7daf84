/* Sessions by their numbers: tracehost/hosts.py has the class of users. */
#include "binding.h"

#include <string.h>

/* --- Arguments that are terms, or text -------------------------------------------------------- */

/* Terms of one call. */
struct terms {
    ErlNifEnv *env;
};

/* Makes the term of VALUE, 0 for None. Returns false with an exception. */
static bool take_term(struct terms *terms, PyObject *value, ERL_NIF_TERM *term)
{
    *term = 0;
    if (value == Py_None)
        return true;
    if (!terms->env)
        terms->env = enif_alloc_env();
    if (!terms->env) {
        PyErr_NoMemory();
        return false;
    }
    return th_python_encode(terms->env, value, term);
}

/* Takes VALUE as Erlang text if it is a str that is no Atom, else as a term. */
static bool take_text_or_term(struct terms *terms, PyObject *value, const char **text,
                              ERL_NIF_TERM *term)
{
    *text = NULL;
    *term = 0;
    if (!PyUnicode_Check(value) || PyObject_TypeCheck(value, th_python_atom_type))
        return take_term(terms, value, term);
    *text = PyUnicode_AsUTF8AndSize(value, NULL);
    return *text != NULL;
}

static void free_terms(struct terms *terms)
{
    if (terms->env)
        enif_free_env(terms->env);
}

/* --- Life ------------------------------------------------------------------------------------- */

static PyObject *create(PyObject *module, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"tracer", "name", "state", "flags", "callbacks", NULL};
    struct tracehost_session_setup setup = {.size = sizeof setup};
    struct tracehost_callbacks callbacks;
    struct th_python_tracer *made = NULL;
    struct terms terms = {0};
    tracehost_session session;
    tracehost_host *host;
    PyObject *tracer = NULL, *state, *given;
    enum tracehost_status status = TRACEHOST_FAILED;
    bool called = false;

    (void)module;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O&zOIO:session_create", names,
                                     PyUnicode_FSConverter, &tracer, &setup.name, &state,
                                     &setup.recorded_flags, &given))
        return NULL;
    setup.tracer = PyBytes_AsString(tracer);
    host = take_term(&terms, state, &setup.state) ? th_python_host_enter() : NULL;
    if (host && given != Py_None) {
        made = th_python_tracer_make(given, &callbacks);
        setup.callbacks = &callbacks;
    }
    if (host && !made && given != Py_None) {
        th_python_host_leave();
    } else if (host) {
        TH_PYTHON_UNLOCKED(status, tracehost_session_create(host, &setup, &session));
        th_python_host_leave();
        called = true;
    }
    free_terms(&terms);
    Py_DECREF(tracer);
    if (called && status == TRACEHOST_OK)
        return PyLong_FromUnsignedLongLong(session);
    th_python_tracer_free(made);
    return called ? th_python_answer(status) : NULL;
}

static PyObject *destroy(PyObject *module, PyObject *argument)
{
    tracehost_session session = PyLong_AsUnsignedLongLong(argument);
    tracehost_host *host = PyErr_Occurred() ? NULL : th_python_host_enter();
    enum tracehost_status status;

    (void)module;
    if (!host)
        return NULL;
    TH_PYTHON_UNLOCKED(status, tracehost_session_destroy(host, session));
    th_python_host_leave();
    return th_python_answer(status);
}

static PyObject *is_alive(PyObject *module, PyObject *argument)
{
    tracehost_session session = PyLong_AsUnsignedLongLong(argument);
    tracehost_host *host = PyErr_Occurred() ? NULL : th_python_host_enter();
    bool alive;

    (void)module;
    if (!host)
        return NULL;
    alive = tracehost_session_get_state(host, session) == TRACEHOST_SESSION_ALIVE;
    th_python_host_leave();
    return PyBool_FromLong(alive);
}

static PyObject *ask_status(PyObject *module, PyObject *argument)
{
    tracehost_session session = PyLong_AsUnsignedLongLong(argument);
    tracehost_host *host = PyErr_Occurred() ? NULL : th_python_host_enter();
    enum tracehost_status status;
    bool attached = false;

    (void)module;
    if (!host)
        return NULL;
    TH_PYTHON_UNLOCKED(status, tracehost_session_ask_status(host, session, &attached));
    th_python_host_leave();
    if (status != TRACEHOST_OK || th_python_host_has_failed())
        return th_python_answer(status);
    return PyBool_FromLong(attached);
}

/* --- Counts and description ------------------------------------------------------------------- */

#define COUNT(name)                                            \
    {                                                          \
#name, offsetof(struct tracehost_session_counts, name) \
    }

static PyObject *get_counts(PyObject *module, PyObject *argument)
{
    static const struct th_python_count members[] = {
        COUNT(enabled),
        COUNT(traced),
        COUNT(discarded),
        COUNT(silenced),
        COUNT(untraced),
        COUNT(filtered),
        COUNT(removed),
        COUNT(kept),
        COUNT(refused),
        COUNT(status),
        COUNT(undecided),
        COUNT(callers_unknown),
        COUNT(actions_unsure),
        COUNT(external_unknown),
        COUNT(untimed),
        COUNT(returns_unknown),
        COUNT(lines_unknown),
        COUNT(messages_unmatched),
        COUNT(messages_silenced),
        COUNT(messages_undecided),
        COUNT(messages_unsure),
        COUNT(returns_doubtful),
        {0},
    };
    struct tracehost_session_counts counts = {.size = sizeof counts};
    tracehost_session session = PyLong_AsUnsignedLongLong(argument);
    tracehost_host *host = PyErr_Occurred() ? NULL : th_python_host_enter();
    enum tracehost_status status;

    (void)module;
    if (!host)
        return NULL;
    status = tracehost_session_get_counts(host, session, &counts);
    th_python_host_leave();
    return status == TRACEHOST_OK ? th_python_counts(&counts, members) : th_python_raise(status);
}

/* --- Tracees ---------------------------------------------------------------------------------- */

static PyObject *parse_flags(PyObject *module, PyObject *argument)
{
    const char *list = PyUnicode_AsUTF8AndSize(argument, NULL);
    uint32_t flags;
    enum tracehost_status status;

    (void)module;
    if (!list)
        return NULL;
    status = tracehost_flags_parse(list, &flags);
    return status == TRACEHOST_OK ? PyLong_FromUnsignedLong(flags) : th_python_raise(status);
}

/* Sets flags of a group of tracees, WHICH a number, or of one, WHICH a Pid or Port. */
static PyObject *set_flags(PyObject *module, PyObject *arguments)
{
    unsigned long long session;
    PyObject *which;
    int on;
    unsigned flags;
    struct terms terms = {0};
    ERL_NIF_TERM tracee = 0;
    tracehost_host *host;
    enum tracehost_status status;

    (void)module;
    if (!PyArg_ParseTuple(arguments, "KOpI:session_trace", &session, &which, &on, &flags) ||
        (!PyLong_Check(which) && !take_term(&terms, which, &tracee)))
        return NULL;
    host = th_python_host_enter();
    if (!host) {
        free_terms(&terms);
        return NULL;
    }
    if (PyLong_Check(which)) {
        enum tracehost_tracees group = (enum tracehost_tracees)PyLong_AsLong(which);

        TH_PYTHON_UNLOCKED(status, tracehost_session_trace(host, session, group, on, flags));
    } else {
        TH_PYTHON_UNLOCKED(status, tracehost_session_trace_one(host, session, tracee, on, flags));
    }
    th_python_host_leave();
    free_terms(&terms);
    return th_python_answer(status);
}

static PyObject *expect(PyObject *module, PyObject *arguments)
{
    unsigned long long session;
    PyObject *who;
    unsigned flags;
    struct terms terms = {0};
    ERL_NIF_TERM term;
    tracehost_host *host;
    enum tracehost_status status;

    (void)module;
    if (!PyArg_ParseTuple(arguments, "KOI:session_expect", &session, &who, &flags) ||
        !take_term(&terms, who, &term))
        return NULL;
    host = th_python_host_enter();
    if (host) {
        status = tracehost_session_expect(host, session, term, flags);
        th_python_host_leave();
    }
    free_terms(&terms);
    return host ? th_python_answer(status) : NULL;
}

/* Gets the flags of a group, WHICH a number, or of a Pid or Port. */
static PyObject *get_flags(PyObject *module, PyObject *arguments)
{
    unsigned long long session;
    PyObject *which;
    struct terms terms = {0};
    ERL_NIF_TERM tracee = 0;
    uint32_t flags = 0;
    tracehost_host *host;
    enum tracehost_status status;

    (void)module;
    if (!PyArg_ParseTuple(arguments, "KO:session_flags", &session, &which) ||
        (!PyLong_Check(which) && !take_term(&terms, which, &tracee)))
        return NULL;
    host = th_python_host_enter();
    if (!host) {
        free_terms(&terms);
        return NULL;
    }
    if (PyLong_Check(which)) {
        enum tracehost_tracees group = (enum tracehost_tracees)PyLong_AsLong(which);

        TH_PYTHON_UNLOCKED(status,
                           tracehost_session_get_default_flags(host, session, group, &flags));
    } else {
        TH_PYTHON_UNLOCKED(status, tracehost_session_get_flags(host, session, tracee, &flags));
    }
    th_python_host_leave();
    free_terms(&terms);
    if (status != TRACEHOST_OK || th_python_host_has_failed())
        return th_python_answer(status);
    return PyLong_FromUnsignedLong(flags);
}

/* --- Patterns --------------------------------------------------------------------------------- */

static PyObject *set_pattern(PyObject *module, PyObject *arguments)
{
    struct tracehost_pattern pattern = {.size = sizeof pattern};
    unsigned long long session;
    PyObject *function, *match;
    int on_load;
    struct terms terms = {0};
    tracehost_host *host = NULL;
    size_t matched = 0;
    enum tracehost_status status = TRACEHOST_FAILED;

    (void)module;
    if (!PyArg_ParseTuple(arguments, "KOOIp:session_pattern", &session, &function, &match,
                          &pattern.kinds, &on_load))
        return NULL;
    pattern.on_load = on_load;
    if (take_text_or_term(&terms, function, &pattern.function, &pattern.function_term) &&
        take_text_or_term(&terms, match, &pattern.match, &pattern.match_term))
        host = th_python_host_enter();
    if (host) {
        TH_PYTHON_UNLOCKED(status,
                           tracehost_session_set_pattern(host, session, &pattern, &matched));
        th_python_host_leave();
    }
    free_terms(&terms);
    if (!host)
        return NULL;
    if (status != TRACEHOST_OK || th_python_host_has_failed())
        return th_python_answer(status);
    return PyLong_FromSize_t(matched);
}

static PyObject *set_message_pattern(PyObject *module, PyObject *arguments)
{
    unsigned long long session;
    int receive;
    PyObject *match;
    struct terms terms = {0};
    const char *text;
    ERL_NIF_TERM term;
    tracehost_host *host = NULL;
    enum tracehost_status status = TRACEHOST_FAILED;

    (void)module;
    if (!PyArg_ParseTuple(arguments, "KpO:session_messages", &session, &receive, &match))
        return NULL;
    if (take_text_or_term(&terms, match, &text, &term))
        host = th_python_host_enter();
    if (host) {
        TH_PYTHON_UNLOCKED(
            status, (receive ? tracehost_session_set_receive_pattern
                             : tracehost_session_set_send_pattern)(host, session, text, term));
        th_python_host_leave();
    }
    free_terms(&terms);
    return host ? th_python_answer(status) : NULL;
}

static PyObject *usage_of(const struct tracehost_usage *usage, size_t count)
{
    PyObject *made = PyDict_New();

    for (size_t i = 0; made && i < count; i++) {
        PyObject *process = th_python_word_value(usage[i].process);
        PyObject *amount =
            process ? Py_BuildValue("KL", usage[i].calls, (long long)usage[i].amount) : NULL;

        if (!amount || PyDict_SetItem(made, process, amount) < 0)
            Py_CLEAR(made);
        Py_XDECREF(process);
        Py_XDECREF(amount);
    }
    return made;
}

static PyObject *match_of(ERL_NIF_TERM match)
{
    return match ? th_python_value(NULL, match) : Py_NewRef(Py_None);
}

/* Appends a function to the list CONTEXT; a failure leaves an exception. */
static void add_function(void *context, const struct tracehost_function *function)
{
    PyObject *made = NULL;

    if (!PyErr_Occurred())
        made = Py_BuildValue(
            "{sNsNsIsIsIsNsNsKsLsKsN}", "module", th_python_word_value(function->module),
            "function", th_python_word_value(function->function), "arity", function->arity, "kinds",
            function->kinds, "active", function->active, "match", match_of(function->match_spec),
            "meta_match", match_of(function->meta_match_spec), "calls", function->calls, "time",
            (long long)function->time, "time_calls", function->time_calls, "usage",
            usage_of(function->usage, function->usage_count));
    if (made)
        PyList_Append(context, made);
    Py_XDECREF(made);
}

static PyObject *list_functions(PyObject *module, PyObject *arguments)
{
    unsigned long long session;
    const char *function;
    tracehost_host *host;
    enum tracehost_status status;
    PyObject *list;

    (void)module;
    if (!PyArg_ParseTuple(arguments, "Kz:session_functions", &session, &function))
        return NULL;
    host = th_python_host_enter();
    if (!host)
        return NULL;
    list = PyList_New(0);
    status = list ? tracehost_session_visit_functions(host, session, function, add_function, list)
                  : TRACEHOST_OK;
    th_python_host_leave();
    if (status != TRACEHOST_OK)
        th_python_raise(status);
    if (PyErr_Occurred())
        Py_CLEAR(list);
    return list;
}

static PyMethodDef functions[] = {
    TH_PYTHON_KEYWORDS("session_create", create, NULL),
    {"session_destroy", destroy, METH_O, NULL},
    {"session_alive", is_alive, METH_O, NULL},
    {"session_attached", ask_status, METH_O, NULL},
    {"session_counts", get_counts, METH_O, NULL},
    {"session_trace", set_flags, METH_VARARGS, NULL},
    {"session_expect", expect, METH_VARARGS, NULL},
    {"session_flags", get_flags, METH_VARARGS, NULL},
    {"session_pattern", set_pattern, METH_VARARGS, NULL},
    {"session_messages", set_message_pattern, METH_VARARGS, NULL},
    {"session_functions", list_functions, METH_VARARGS, NULL},
    {"parse_flags", parse_flags, METH_O, NULL},
    {0},
};

bool th_python_add_session(PyObject *module)
{
    return PyModule_AddFunctions(module, functions) == 0;
}
