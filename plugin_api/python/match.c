/* Match specifications without a session: tracehost/matches.py has the class of users. */
#include "binding.h"

#include <string.h>

static const char capsule_name[] = "tracehost.Match";

static void free_match(PyObject *capsule)
{
    tracehost_match_free(PyCapsule_GetPointer(capsule, capsule_name));
}

/* Appends a fault to the list CONTEXT; a failure leaves an exception. */
static void add_fault(void *context, const struct tracehost_match_fault *fault)
{
    static const char *const parts[] = {"whole", "head", "guard", "body"};
    PyObject *made = PyErr_Occurred() ? NULL
                                      : Py_BuildValue("nsnszs", (Py_ssize_t)fault->clause,
                                                      parts[fault->part], (Py_ssize_t)fault->item,
                                                      fault->text, fault->term, fault->place);

    if (made)
        PyList_Append(context, made);
    Py_XDECREF(made);
}

/* Sets the exception of a specification with FAULTS, a list of tuples. */
static PyObject *raise_faults(enum tracehost_status status, PyObject *faults)
{
    PyObject *type, *value, *traceback;

    th_python_raise(status);
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (PyObject_SetAttrString(value, "faults", faults) < 0)
        PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    return NULL;
}

static PyObject *compile(PyObject *module, PyObject *arguments)
{
    PyObject *specification, *faults;
    int kind;
    tracehost_match *match = NULL;
    enum tracehost_status status = TRACEHOST_OK;
    ErlNifEnv *env = NULL;

    (void)module;
    if (!PyArg_ParseTuple(arguments, "iO:match_compile", &kind, &specification))
        return NULL;
    faults = PyList_New(0);
    if (!faults)
        return NULL;
    if (PyUnicode_Check(specification) && !PyObject_TypeCheck(specification, th_python_atom_type)) {
        const char *text = PyUnicode_AsUTF8AndSize(specification, NULL);

        if (text)
            status = tracehost_match_compile_text((enum tracehost_match_kind)kind, text, add_fault,
                                                  faults, &match);
    } else {
        ERL_NIF_TERM term;

        env = enif_alloc_env();
        if (!env)
            PyErr_NoMemory();
        else if (th_python_encode(env, specification, &term))
            status = tracehost_match_compile((enum tracehost_match_kind)kind, term, add_fault,
                                             faults, &match);
    }
    if (env)
        enif_free_env(env);
    if (status != TRACEHOST_OK && !PyErr_Occurred())
        raise_faults(status, faults);
    Py_DECREF(faults);
    if (!match || PyErr_Occurred()) {
        tracehost_match_free(match);
        return NULL;
    }
    return PyCapsule_New(match, capsule_name, free_match);
}

/* The input of a match, and what it was made of. */
struct subject {
    tracehost_match *match;
    ErlNifEnv *env;
    struct tracehost_match_subject subject;
};

static bool take_part(struct subject *taken, PyObject *value, ERL_NIF_TERM *term)
{
    return value == Py_None || th_python_encode(taken->env, value, term);
}

/* Takes the arguments of run and explain: capsule, target, arity, self, caller. */
static bool take_subject(PyObject *arguments, struct subject *taken)
{
    PyObject *capsule, *target, *self, *caller;
    unsigned arity;

    *taken = (struct subject){.subject.size = sizeof taken->subject};
    if (!PyArg_ParseTuple(arguments, "OOIOO:match", &capsule, &target, &arity, &self, &caller))
        return false;
    taken->match = PyCapsule_GetPointer(capsule, capsule_name);
    taken->subject.arity = arity;
    if (!taken->match)
        return false;
    taken->env = enif_alloc_env();
    if (!taken->env)
        PyErr_NoMemory();
    else if (take_part(taken, target, &taken->subject.target) &&
             take_part(taken, self, &taken->subject.self) &&
             take_part(taken, caller, &taken->subject.caller))
        return true;
    if (taken->env)
        enif_free_env(taken->env);
    return false;
}

static PyObject *run(PyObject *module, PyObject *arguments)
{
    static const char *const ends[] = {"no", "yes", "unknown"};
    struct tracehost_match_result result = {.size = sizeof result};
    struct subject taken;
    enum tracehost_status status;
    PyObject *made;

    (void)module;
    if (!take_subject(arguments, &taken))
        return NULL;
    status = tracehost_match_run(taken.match, taken.env, &taken.subject, &result);
    made = status != TRACEHOST_OK
               ? th_python_raise(status)
               : Py_BuildValue("snNNNII", ends[result.end], (Py_ssize_t)result.clause,
                               result.message ? th_python_value(taken.env, result.message)
                                              : Py_NewRef(Py_None),
                               PyBool_FromLong(result.return_trace),
                               PyBool_FromLong(result.exception_trace), result.callers_unknown,
                               result.unsure);
    enif_free_env(taken.env);
    return made;
}

static PyObject *explain(PyObject *module, PyObject *arguments)
{
    struct subject taken;
    enum tracehost_status status;
    char *text = NULL;
    PyObject *made;

    (void)module;
    if (!take_subject(arguments, &taken))
        return NULL;
    status = tracehost_match_explain(taken.match, &taken.subject, &text);
    made = status == TRACEHOST_OK ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace")
                                  : th_python_raise(status);
    tracehost_free(text);
    enif_free_env(taken.env);
    return made;
}

static PyMethodDef functions[] = {
    {"match_compile", compile, METH_VARARGS, NULL},
    {"match_run", run, METH_VARARGS, NULL},
    {"match_explain", explain, METH_VARARGS, NULL},
    {0},
};

bool th_python_add_match(PyObject *module)
{
    return PyModule_AddFunctions(module, functions) == 0;
}
