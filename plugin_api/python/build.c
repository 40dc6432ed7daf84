/* Makes Python values of a tape. The containers that are open are on a stack: depth has no limit. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_KEY_DEPTH = 32 };

/* A container whose elements are being made. */
struct open {
    PyObject *elements; /* a tuple or list */
    const struct th_python_item *item;
    size_t filled;
    struct open *outer;
};

PyObject *th_python_value_class(const char *name)
{
    static PyObject *classes;
    PyObject *found, *module;

    if (!classes && !(classes = PyDict_New()))
        return NULL;
    found = PyDict_GetItemString(classes, name);
    if (found)
        return found;
    module = PyImport_ImportModule("tracehost.values");
    found = module ? PyObject_GetAttrString(module, name) : NULL;
    Py_XDECREF(module);
    if (found && PyDict_SetItemString(classes, name, found) < 0)
        Py_CLEAR(found);
    Py_XDECREF(found);
    return found;
}

/* --- Values without elements ------------------------------------------------------------------ */

/* Makes an integer of its external format: SMALL_BIG_EXT and LARGE_BIG_EXT end in a sign and the
 * bytes of the amount, the least first. */
static PyObject *build_big(const struct th_python_item *item)
{
    static const char digits[] = "0123456789abcdef";
    size_t head = item->bytes[1] == 110 ? 3 : 6;
    size_t size = item->count - head - 1;
    const unsigned char *amount = item->bytes + head + 1;
    char *text = malloc(2 * size + 2), *at = text;
    PyObject *made;

    if (!text)
        return PyErr_NoMemory();
    if (item->bytes[head])
        *at++ = '-';
    for (size_t i = size; i--;) {
        *at++ = digits[amount[i] >> 4];
        *at++ = digits[amount[i] & 15];
    }
    *at = 0;
    made = PyLong_FromString(text, NULL, 16);
    free(text);
    return made;
}

/* Makes a bitstring of BIT_BINARY_EXT: a size of four bytes, the bits used of the last byte, the bytes. */
static PyObject *build_bitstring(const struct th_python_item *item)
{
    PyObject *class = th_python_value_class("Bitstring");
    size_t size = item->count - 7;
    size_t bits = size ? 8 * (size - 1) + item->bytes[6] : 0;

    return class ? PyObject_CallFunction(class, "y#n", item->bytes + 7, (Py_ssize_t)size,
                                         (Py_ssize_t)bits)
                 : NULL;
}

static PyObject *build_leaf(const struct th_python_item *item)
{
    switch (item->kind) {
    case TH_PYTHON_ATOM:
        return th_python_atom(item->word);
    case TH_PYTHON_INTEGER:
        return PyLong_FromLongLong(item->integer);
    case TH_PYTHON_BIG:
        return build_big(item);
    case TH_PYTHON_FLOAT:
        return PyFloat_FromDouble(item->number);
    case TH_PYTHON_BINARY:
        return PyBytes_FromStringAndSize((const char *)item->bytes, (Py_ssize_t)item->count);
    case TH_PYTHON_BITSTRING:
        return build_bitstring(item);
    case TH_PYTHON_LOCAL:
        return th_python_local(item->word);
    default:
        return th_python_identifier(item->bytes, item->count, 0);
    }
}

/* --- Containers ------------------------------------------------------------------------------- */

/* Makes an empty container for the elements of ITEM. */
static PyObject *open_elements(const struct th_python_item *item)
{
    return item->kind == TH_PYTHON_LIST ? PyList_New((Py_ssize_t)item->count)
                                        : PyTuple_New((Py_ssize_t)item->count);
}

static PyObject *finish_improper(PyObject *elements)
{
    PyObject *class = th_python_value_class("ImproperList");
    Py_ssize_t last = PyTuple_Size(elements) - 1;
    PyObject *items = class ? PyTuple_GetSlice(elements, 0, last) : NULL;

    return items ? PyObject_CallFunction(class, "NO", items, PyTuple_GetItem(elements, last))
                 : NULL;
}

/* Returns whether tuples are nested in KEY at most DEPTH deep: hash() recurses without a limit. */
static bool is_shallow(PyObject *key, int depth)
{
    if (!PyTuple_Check(key))
        return true;
    if (depth == 0)
        return false;
    for (Py_ssize_t i = 0; i < PyTuple_Size(key); i++)
        if (!is_shallow(PyTuple_GetItem(key, i), depth - 1))
            return false;
    return true;
}

/* Makes a dict of keys and values. Returns None if the keys do not stay different keys in a dict: lists
 * and maps cannot be keys, 1 and 1.0 are one, and deep keys have no hash. */
static PyObject *dict_of_pairs(PyObject *elements)
{
    PyObject *made = PyDict_New();
    Py_ssize_t count = PyTuple_Size(elements);

    for (Py_ssize_t i = 0; made && i < count; i += 2) {
        PyObject *key = PyTuple_GetItem(elements, i);

        if (!is_shallow(key, MOST_KEY_DEPTH)) {
            Py_DECREF(made);
            Py_RETURN_NONE;
        }
        if (PyDict_SetItem(made, key, PyTuple_GetItem(elements, i + 1)) < 0)
            Py_CLEAR(made);
    }
    if (made && PyDict_Size(made) == count / 2)
        return made;
    if (!made && !PyErr_ExceptionMatches(PyExc_TypeError) &&
        !PyErr_ExceptionMatches(PyExc_RecursionError))
        return NULL;
    PyErr_Clear();
    Py_XDECREF(made);
    Py_RETURN_NONE;
}

static PyObject *finish_map(PyObject *elements)
{
    PyObject *made = dict_of_pairs(elements);
    PyObject *class;

    if (made != Py_None)
        return made;
    Py_DECREF(made);
    class = th_python_value_class("Map");
    return class ? PyObject_CallMethod(class, "of_elements", "(O)", elements) : NULL;
}

/* Ends the innermost container, which is full: frees OPEN, returns the value. */
static PyObject *close_container(struct open **open)
{
    struct open *full = *open;
    PyObject *made = full->elements;

    if (full->item->kind == TH_PYTHON_IMPROPER || full->item->kind == TH_PYTHON_MAP) {
        made = full->item->kind == TH_PYTHON_MAP ? finish_map(full->elements)
                                                 : finish_improper(full->elements);
        Py_DECREF(full->elements);
    }
    *open = full->outer;
    PyMem_Free(full);
    return made;
}

static bool open_container(struct open **open, const struct th_python_item *item)
{
    struct open *made = PyMem_Malloc(sizeof *made);

    if (!made) {
        PyErr_NoMemory();
        return false;
    }
    *made = (struct open){.elements = open_elements(item), .item = item, .outer = *open};
    if (!made->elements) {
        PyMem_Free(made);
        return false;
    }
    *open = made;
    return true;
}

static void drop_containers(struct open *open)
{
    while (open) {
        struct open *outer = open->outer;

        Py_DECREF(open->elements);
        PyMem_Free(open);
        open = outer;
    }
}

/* Puts VALUE, a new reference, into the innermost container. */
static void put_element(struct open *open, PyObject *value)
{
    Py_ssize_t at = (Py_ssize_t)open->filled++;

    if (open->item->kind == TH_PYTHON_LIST)
        PyList_SetItem(open->elements, at, value);
    else
        PyTuple_SetItem(open->elements, at, value);
}

PyObject *th_python_build(const struct th_python_tape *tape, size_t *at)
{
    struct open *open = NULL;
    PyObject *value;

    for (;;) {
        const struct th_python_item *item = &tape->items[(*at)++];

        if (item->kind >= TH_PYTHON_TUPLE && item->count) {
            if (!open_container(&open, item))
                break;
            continue;
        }
        value = item->kind == TH_PYTHON_MAP     ? PyDict_New()
                : item->kind >= TH_PYTHON_TUPLE ? open_elements(item)
                                                : build_leaf(item);
        while (value && open) {
            put_element(open, value);
            if (open->filled < open->item->count)
                break;
            value = close_container(&open);
        }
        if (!value || !open) {
            drop_containers(open);
            return value;
        }
    }
    drop_containers(open);
    return NULL;
}

PyObject *th_python_value(ErlNifEnv *env, ERL_NIF_TERM term)
{
    struct th_python_tape tape = {0};
    size_t at = 0;
    PyObject *made =
        th_python_flatten(&tape, env, term) ? th_python_build(&tape, &at) : PyErr_NoMemory();

    th_python_tape_free(&tape);
    return made;
}

PyObject *th_python_word_value(ERL_NIF_TERM word)
{
    if (!word)
        Py_RETURN_NONE;
    return enif_is_atom(NULL, word) ? th_python_atom(word) : th_python_local(word);
}
