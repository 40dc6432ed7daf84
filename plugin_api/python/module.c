/* The module _tracehost: its initialisation, and functions of terms. */
#include "binding.h"

#include <string.h>

static PyObject *parse(PyObject *module, PyObject *argument)
{
    const char *text = PyUnicode_Check(argument) ? PyUnicode_AsUTF8AndSize(argument, NULL) : NULL;
    ErlNifEnv *env;
    ERL_NIF_TERM term;
    enum tracehost_status status;
    PyObject *value;

    (void)module;
    if (!text)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "parse() takes a str");
    env = enif_alloc_env();
    if (!env)
        return PyErr_NoMemory();
    status = tracehost_term_parse(env, text, &term);
    value = status == TRACEHOST_OK ? th_python_value(env, term) : th_python_raise(status);
    enif_free_env(env);
    return value;
}

static PyObject *text_of_term(ErlNifEnv *env, ERL_NIF_TERM term)
{
    char *text = tracehost_term_to_text(term);
    PyObject *made = text ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace")
                          : th_python_raise(TRACEHOST_FAILED);

    (void)env;
    tracehost_free(text);
    return made;
}

static PyObject *external_of_term(ErlNifEnv *env, ERL_NIF_TERM term)
{
    ErlNifBinary bytes;
    PyObject *made;

    if (!enif_term_to_binary(env, term, &bytes))
        return PyErr_NoMemory();
    made = PyBytes_FromStringAndSize((char *)bytes.data, (Py_ssize_t)bytes.size);
    enif_release_binary(&bytes);
    return made;
}

/* Returns what MAKE makes of the term of VALUE. */
static PyObject *of_encoded(PyObject *value, PyObject *(*make)(ErlNifEnv *env, ERL_NIF_TERM term))
{
    ErlNifEnv *env = enif_alloc_env();
    ERL_NIF_TERM term;
    PyObject *made;

    if (!env)
        return PyErr_NoMemory();
    made = th_python_encode(env, value, &term) ? make(env, term) : NULL;
    enif_free_env(env);
    return made;
}

static PyObject *format(PyObject *module, PyObject *value)
{
    (void)module;
    return of_encoded(value, text_of_term);
}

static PyObject *encode(PyObject *module, PyObject *value)
{
    (void)module;
    return of_encoded(value, external_of_term);
}

static PyObject *decode(PyObject *module, PyObject *argument)
{
    ErlNifEnv *env;
    char *bytes;
    Py_ssize_t size;
    ERL_NIF_TERM term;
    PyObject *value;

    (void)module;
    if (PyBytes_AsStringAndSize(argument, &bytes, &size) < 0)
        return NULL;
    env = enif_alloc_env();
    if (!env)
        return PyErr_NoMemory();
    if (enif_binary_to_term(env, (unsigned char *)bytes, (size_t)size, &term, 0) == (size_t)size &&
        size)
        value = th_python_value(env, term);
    else
        value =
            PyErr_Format(PyExc_ValueError, "the %zd bytes are no term in external format", size);
    enif_free_env(env);
    return value;
}

static PyObject *console(PyObject *module, PyObject *none)
{
    (void)module;
    (void)none;
    return th_python_word_value(tracehost_console_pid());
}

static PyMethodDef functions[] = {
    {"parse", parse, METH_O,
     "parse(text)\n--\n\nReads one Erlang term, as '{ok,[1,2]}'; a full stop may follow. Returns "
     "its value.\n\n"
     "Errors: MalformedError with line and column."},
    {"format", format, METH_O,
     "format(value)\n--\n\nReturns the text of a value's term, as io:format(\"~0p\") writes it.\n\n"
     "Errors: TypeError if no term can be made of the value."},
    {"encode", encode, METH_O,
     "encode(value)\n--\n\nReturns the bytes of a value's term, as erlang:term_to_binary/1 makes "
     "them."},
    {"decode", decode, METH_O,
     "decode(external)\n--\n\nReturns the value of bytes that erlang:term_to_binary/1 has made.\n\n"
     "Errors: ValueError if the bytes are no term, or more than a term."},
    {"console_pid", console, METH_NOARGS,
     "console_pid()\n--\n\nReturns the Pid of a process that prints each message that a tracer "
     "sends to it, on a\n"
     "line of stdout."},
    {0},
};

bool th_python_add_type(PyObject *module, PyTypeObject **type, PyType_Spec *spec)
{
    if (!*type)
        *type = (PyTypeObject *)PyType_FromSpec(spec);
    return *type && PyModule_AddType(module, *type) == 0;
}

/* The library keeps one host, and the module its types and caches, for the whole process. */
static bool is_main_interpreter(void)
{
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0)
        return true;
    PyErr_SetString(PyExc_ImportError,
                    "tracehost works in the main interpreter, not in a subinterpreter");
    return false;
}

static int begin_module(PyObject *module)
{
    return is_main_interpreter() && PyModule_AddFunctions(module, functions) == 0 &&
                   PyModule_AddStringConstant(module, "version", tracehost_version_text()) == 0 &&
                   th_python_add_atom(module) && th_python_add_identifiers(module) &&
                   th_python_add_event(module) && th_python_add_stream(module) &&
                   th_python_add_tracer(module) && th_python_add_host(module) &&
                   th_python_add_session(module) && th_python_add_replay(module) &&
                   th_python_add_match(module)
               ? 0
               : -1;
}

PyMODINIT_FUNC PyInit__tracehost(void)
{
    static PyModuleDef_Slot slots[] = {{Py_mod_exec, begin_module}, {0}};
    static struct PyModuleDef module = {
        .m_base = PyModuleDef_HEAD_INIT,
        .m_name = "_tracehost",
        .m_doc = "The part of the package tracehost that is written in C.",
        .m_slots = slots,
    };

    return PyModuleDef_Init(&module);
}
