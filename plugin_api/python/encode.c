/* Makes terms of Python values. The interpreter's limit of recursion bounds the depth. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

static bool refuse(PyObject *value)
{
    PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__name__");

    if (type)
        PyErr_Format(PyExc_TypeError,
                     "no term can be made of a value of type %S: use Atom, str, bytes, int, "
                     "float, bool, tuple, list, dict, or the classes of tracehost",
                     type);
    Py_XDECREF(type);
    return false;
}

static bool encode_integer(ErlNifEnv *env, PyObject *value, ERL_NIF_TERM *term)
{
    int overflow;
    long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);
    PyObject *text, *bytes = NULL;
    enum tracehost_status status = TRACEHOST_FAILED;

    if (!overflow) {
        *term = enif_make_int64(env, integer);
        return integer != -1 || !PyErr_Occurred();
    }
    text = PyNumber_ToBase(value, 16); /* "-0x1F" */
    if (text)
        bytes = PyUnicode_AsUTF8String(text);
    Py_XDECREF(text);
    if (!bytes)
        return false;
    /* "-0x1F" becomes "-16#1F", which takes one byte more. */
    {
        const char *hex = PyBytes_AsString(bytes);
        char *erlang = malloc(strlen(hex) + 2);

        if (erlang) {
            strcpy(erlang, *hex == '-' ? "-16#" : "16#");
            strcat(erlang, hex + (*hex == '-') + 2);
            status = tracehost_term_parse(env, erlang, term);
            free(erlang);
        }
    }
    Py_DECREF(bytes);
    if (status != TRACEHOST_OK)
        th_python_raise(status);
    return status == TRACEHOST_OK;
}

static bool encode_bytes(ErlNifEnv *env, const char *bytes, Py_ssize_t size, ERL_NIF_TERM *term)
{
    unsigned char *to = enif_make_new_binary(env, (size_t)size, term);

    if (!to) {
        PyErr_NoMemory();
        return false;
    }
    memcpy(to, bytes, (size_t)size);
    return true;
}

static bool encode_text(ErlNifEnv *env, PyObject *value, ERL_NIF_TERM *term)
{
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(value, &size);

    return text && encode_bytes(env, text, size, term);
}

/* Makes the terms of the elements of a tuple or list. free() frees the result; NULL with an
 * exception. */
static ERL_NIF_TERM *encode_elements(ErlNifEnv *env, PyObject *sequence, Py_ssize_t *count)
{
    ERL_NIF_TERM *terms;

    *count = PySequence_Size(sequence);
    terms = malloc(((size_t)*count + 1) * sizeof *terms);
    if (!terms) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < *count; i++) {
        PyObject *element = PySequence_GetItem(sequence, i);
        bool made = element && th_python_encode(env, element, &terms[i]);

        Py_XDECREF(element);
        if (!made) {
            free(terms);
            return NULL;
        }
    }
    return terms;
}

static bool encode_sequence(ErlNifEnv *env, PyObject *value, ERL_NIF_TERM *term)
{
    Py_ssize_t count;
    ERL_NIF_TERM *terms = encode_elements(env, value, &count);

    if (!terms)
        return false;
    *term = PyTuple_Check(value) ? enif_make_tuple_from_array(env, terms, (unsigned)count)
                                 : enif_make_list_from_array(env, terms, (unsigned)count);
    free(terms);
    return true;
}

static bool encode_improper(ErlNifEnv *env, PyObject *value, ERL_NIF_TERM *term)
{
    PyObject *items = PyObject_GetAttrString(value, "items");
    PyObject *tail = items ? PyObject_GetAttrString(value, "tail") : NULL;
    Py_ssize_t count;
    ERL_NIF_TERM *terms = NULL;

    if (tail && th_python_encode(env, tail, term))
        terms = encode_elements(env, items, &count);
    for (; terms && count; count--)
        *term = enif_make_list_cell(env, terms[count - 1], *term);
    free(terms);
    Py_XDECREF(items);
    Py_XDECREF(tail);
    return terms != NULL;
}

/* Makes a map. Takes over KEYS and VALUES, which are NULL after an exception. */
static bool encode_pairs(ErlNifEnv *env, PyObject *keys, PyObject *values, ERL_NIF_TERM *term)
{
    Py_ssize_t count, same;
    ERL_NIF_TERM *key_terms = values ? encode_elements(env, keys, &count) : NULL;
    ERL_NIF_TERM *value_terms = key_terms ? encode_elements(env, values, &same) : NULL;
    bool made = false;

    if (value_terms) {
        made = enif_make_map_from_arrays(env, key_terms, value_terms, (size_t)count, term);
        if (!made)
            PyErr_SetString(PyExc_ValueError, "two keys of a map are equal terms");
    }
    free(key_terms);
    free(value_terms);
    Py_XDECREF(keys);
    Py_XDECREF(values);
    return made;
}

static bool encode_dict(ErlNifEnv *env, PyObject *value, ERL_NIF_TERM *term)
{
    PyObject *keys = PyDict_Keys(value);

    return encode_pairs(env, keys, keys ? PyDict_Values(value) : NULL, term);
}

static bool encode_map(ErlNifEnv *env, PyObject *value, ERL_NIF_TERM *term)
{
    PyObject *keys = PyObject_CallMethod(value, "keys", NULL);

    return encode_pairs(env, keys, keys ? PyObject_CallMethod(value, "values", NULL) : NULL, term);
}

/* Makes the term of external format: a Bitstring has a method for its own. */
static bool encode_bitstring(ErlNifEnv *env, PyObject *value, ERL_NIF_TERM *term)
{
    PyObject *external = PyObject_CallMethod(value, "external", NULL);
    char *bytes;
    Py_ssize_t size;
    bool made = false;

    if (external && PyBytes_AsStringAndSize(external, &bytes, &size) == 0) {
        made = enif_binary_to_term(env, (unsigned char *)bytes, (size_t)size, term, 0) != 0;
        if (!made)
            PyErr_NoMemory();
    }
    Py_XDECREF(external);
    return made;
}

static bool is_instance(PyObject *value, const char *class_name)
{
    PyObject *class = th_python_value_class(class_name);

    return class && PyObject_IsInstance(value, class) == 1;
}

static bool encode_class(ErlNifEnv *env, PyObject *value, ERL_NIF_TERM *term)
{
    if (PyObject_TypeCheck(value, th_python_identifier_type))
        return th_python_identifier_term(env, value, term);
    if (is_instance(value, "ImproperList"))
        return encode_improper(env, value, term);
    if (is_instance(value, "Map"))
        return encode_map(env, value, term);
    if (is_instance(value, "Bitstring"))
        return encode_bitstring(env, value, term);
    return !PyErr_Occurred() && refuse(value);
}

static bool encode_float(ErlNifEnv *env, PyObject *value, ERL_NIF_TERM *term)
{
    *term = enif_make_double(env, PyFloat_AsDouble(value));
    if (!enif_is_exception(env, *term))
        return true;
    PyErr_SetString(PyExc_ValueError,
                    "no term can be made of a float that is infinite or no number");
    return false;
}

static bool encode_any(ErlNifEnv *env, PyObject *value, ERL_NIF_TERM *term)
{
    char *bytes;
    Py_ssize_t size;

    if (PyObject_TypeCheck(value, th_python_atom_type))
        return th_python_atom_word(value, term);
    if (PyUnicode_Check(value))
        return encode_text(env, value, term);
    if (PyBool_Check(value)) {
        *term = enif_make_atom(env, value == Py_True ? "true" : "false");
        return true;
    }
    if (PyLong_Check(value))
        return encode_integer(env, value, term);
    if (PyFloat_Check(value))
        return encode_float(env, value, term);
    if (PyBytes_Check(value))
        return PyBytes_AsStringAndSize(value, &bytes, &size) == 0 &&
               encode_bytes(env, bytes, size, term);
    if (PyTuple_Check(value) || PyList_Check(value))
        return encode_sequence(env, value, term);
    if (PyDict_Check(value))
        return encode_dict(env, value, term);
    return encode_class(env, value, term);
}

bool th_python_encode(ErlNifEnv *env, PyObject *value, ERL_NIF_TERM *term)
{
    bool made;

    if (Py_EnterRecursiveCall(" while a term is made"))
        return false;
    made = encode_any(env, value, term);
    Py_LeaveRecursiveCall();
    return made;
}
