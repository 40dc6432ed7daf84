/* The host: tracehost/hosts.py has the class of users. A program has one host at a time. */
#include "binding.h"

#include <stdlib.h>

static tracehost_host *host;
static PyObject *display;        /* function that gets terms of match specifications; NULL: none */
static unsigned long user;       /* thread that uses the host */
static unsigned uses;            /* how often it has entered; 0: no thread uses the host */
static PyObject *kept_exception; /* of a callback */

/* --- Use by one thread at a time -------------------------------------------------------------- */

static bool enter(void)
{
    unsigned long self = PyThread_get_thread_ident();

    if (uses && user != self) {
        th_python_misused("another thread uses the host: one thread at a time may");
        return false;
    }
    user = self;
    uses++;
    return true;
}

tracehost_host *th_python_host_enter(void)
{
    if (!host)
        return (tracehost_host *)th_python_misused("no host runs: make a tracehost.Host first");
    return enter() ? host : NULL;
}

void th_python_host_leave(void)
{
    uses--;
}

void th_python_host_keep_exception(PyObject *where)
{
    PyObject *type, *value, *traceback;

    if (kept_exception) {
        PyErr_WriteUnraisable(where);
        return;
    }
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback)
        PyException_SetTraceback(value, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    kept_exception = value;
}

bool th_python_host_has_failed(void)
{
    return kept_exception != NULL;
}

bool th_python_host_failed(void)
{
    PyObject *exception = kept_exception;

    if (!exception)
        return false;
    kept_exception = NULL;
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
    return true;
}

PyObject *th_python_answer(enum tracehost_status status)
{
    if (status != TRACEHOST_OK && !kept_exception)
        return th_python_raise(status);
    if (th_python_host_failed())
        return NULL;
    Py_RETURN_NONE;
}

PyObject *th_python_counts(const void *structure, const struct th_python_count *counts)
{
    PyObject *made = PyDict_New();

    for (; made && counts->name; counts++) {
        PyObject *count = PyLong_FromUnsignedLongLong(
            *(const uint64_t *)((const char *)structure + counts->offset));

        if (!count || PyDict_SetItemString(made, counts->name, count) < 0)
            Py_CLEAR(made);
        Py_XDECREF(count);
    }
    return made;
}

/* --- Start and stop --------------------------------------------------------------------------- */

/* Calls the program's function for a term that a match specification displays. */
static void display_term(ERL_NIF_TERM term)
{
    PyGILState_STATE state = PyGILState_Ensure();
    ErlNifEnv *env = enif_alloc_env();
    PyObject *value = env ? th_python_value(env, term) : PyErr_NoMemory();
    PyObject *answer = value ? PyObject_CallFunctionObjArgs(display, value, NULL) : NULL;

    if (!answer)
        th_python_host_keep_exception(display);
    Py_XDECREF(answer);
    Py_XDECREF(value);
    if (env)
        enif_free_env(env);
    PyGILState_Release(state);
}

static PyObject *start(PyObject *module, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"wall_clock", "recorded_callers", "guard", "frames", "display", NULL};
    struct tracehost_setup setup = {.size = sizeof setup};
    int wall_clock, recorded_callers, guard;
    unsigned frames;
    PyObject *shown;
    enum tracehost_status status;

    (void)module;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "pppIO:host_start", names, &wall_clock,
                                     &recorded_callers, &guard, &frames, &shown) ||
        !enter())
        return NULL;
    setup.clock = wall_clock ? TRACEHOST_CLOCK_WALL : TRACEHOST_CLOCK_RECORDED;
    setup.recorded_callers = recorded_callers;
    setup.guard = guard;
    setup.frames = frames;
    setup.display = shown == Py_None ? NULL : display_term;
    status = tracehost_host_start(&setup, &host);
    if (status == TRACEHOST_OK) {
        Py_XDECREF(display);
        display = Py_NewRef(shown);
    }
    th_python_host_leave();
    return th_python_answer(status);
}

static PyObject *stop(PyObject *module, PyObject *none)
{
    enum tracehost_status status;

    (void)module;
    (void)none;
    if (!th_python_host_enter())
        return NULL;
    TH_PYTHON_UNLOCKED(status, tracehost_host_stop(host));
    if (status != TRACEHOST_USAGE) /* else the host runs on */
        host = NULL;
    th_python_host_leave();
    return th_python_answer(status);
}

/* --- Folders, tracers, counts ----------------------------------------------------------------- */

static PyObject *add_folder(PyObject *module, PyObject *argument)
{
    PyObject *folder;
    enum tracehost_status status;

    (void)module;
    if (!PyUnicode_FSConverter(argument, &folder))
        return NULL;
    if (!th_python_host_enter()) {
        Py_DECREF(folder);
        return NULL;
    }
    status = tracehost_host_add_folder(host, PyBytes_AsString(folder));
    Py_DECREF(folder);
    th_python_host_leave();
    return th_python_answer(status);
}

static PyObject *get_counts(PyObject *module, PyObject *none)
{
    static const struct th_python_count members[] = {
        {"sessions", offsetof(struct tracehost_host_counts, sessions)},
        {"calls_forgotten", offsetof(struct tracehost_host_counts, calls_forgotten)},
        {"returns_not_kept", offsetof(struct tracehost_host_counts, returns_not_kept)},
        {"mail_dropped", offsetof(struct tracehost_host_counts, mail_dropped)},
        {0},
    };
    struct tracehost_host_counts counts = {.size = sizeof counts};
    enum tracehost_status status;

    (void)module;
    (void)none;
    if (!th_python_host_enter())
        return NULL;
    status = tracehost_host_get_counts(host, &counts);
    th_python_host_leave();
    return status == TRACEHOST_OK ? th_python_counts(&counts, members) : th_python_raise(status);
}

/* Calls the program's function, which the call of delivered() owns until now. */
static void call_done(void *function)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *answer = PyObject_CallFunctionObjArgs(function, NULL);

    if (!answer)
        th_python_host_keep_exception(function);
    Py_XDECREF(answer);
    Py_DECREF((PyObject *)function);
    PyGILState_Release(state);
}

static PyObject *delivered(PyObject *module, PyObject *arguments)
{
    PyObject *function, *tracee;
    ErlNifEnv *env;
    ERL_NIF_TERM term = 0;
    enum tracehost_status status;

    (void)module;
    if (!PyArg_ParseTuple(arguments, "OO:delivered", &function, &tracee))
        return NULL;
    env = enif_alloc_env();
    if (!env)
        return PyErr_NoMemory();
    if ((tracee != Py_None && !th_python_encode(env, tracee, &term)) || !th_python_host_enter()) {
        enif_free_env(env);
        return NULL;
    }
    Py_INCREF(function);
    TH_PYTHON_UNLOCKED(status, tracehost_host_delivered(host, term, call_done, function));
    if (status != TRACEHOST_OK)
        Py_DECREF(function);
    th_python_host_leave();
    enif_free_env(env);
    return th_python_answer(status);
}

static PyMethodDef functions[] = {
    TH_PYTHON_KEYWORDS("host_start", start, NULL),
    {"host_stop", stop, METH_NOARGS, NULL},
    {"host_add_folder", add_folder, METH_O, NULL},
    {"host_counts", get_counts, METH_NOARGS, NULL},
    {"host_delivered", delivered, METH_VARARGS, NULL},
    {0},
};

bool th_python_add_host(PyObject *module)
{
    return PyModule_AddFunctions(module, functions) == 0;
}
