/*
 * Classes Pid, Port, Reference and Fun: values that Python programs compare, show and pass on. An
 * object holds the term in external format, which has node, numbers and creation. So equal objects
 * are equal terms, whatever recording they are from.
 */
#include "binding.h"

#include <string.h>

/* The objects of local pids and ports are kept, and dropped all at once when there are so many. */
enum { MOST_KEPT = 1 << 16 };

struct identifier {
    PyObject_HEAD PyObject *external; /* bytes */
    ERL_NIF_TERM word;                /* 0: not valid for ever */
};

enum class { PID, PORT, REFERENCE, FUN, CLASSES };

PyTypeObject *th_python_identifier_type;
static PyTypeObject *classes[CLASSES];
static struct th_python_table locals;

/* Tags of the external term format. Source: erl_ext_dist, "External Term Format". */
static enum class class_of(unsigned char tag) {
    switch (tag){
        case 88 :      /* NEW_PID_EXT */
            case 103 : /* PID_EXT */
                return PID;
        case 89 :          /* NEW_PORT_EXT */
            case 102 :     /* PORT_EXT */
                case 120 : /* V4_PORT_EXT */
                    return PORT;
        case 90 :          /* NEWER_REFERENCE_EXT */
            case 101 :     /* REFERENCE_EXT */
                case 114 : /* NEW_REFERENCE_EXT */
                    return REFERENCE;
        default : return FUN;
    }
}

PyObject *th_python_identifier(const unsigned char *external, size_t size, ERL_NIF_TERM word)
{
    PyTypeObject *type = classes[class_of(size > 1 ? external[1] : 0)];
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)external, (Py_ssize_t)size);
    struct identifier *made = bytes ? PyObject_New(struct identifier, type) : NULL;

    if (!made) {
        Py_XDECREF(bytes);
        return NULL;
    }
    made->external = bytes;
    made->word = word;
    return (PyObject *)made;
}

PyObject *th_python_local(ERL_NIF_TERM word)
{
    PyObject *found = th_python_table_get(&locals, word);
    ErlNifBinary bytes;

    if (!found) {
        if (locals.used >= MOST_KEPT)
            th_python_table_clear(&locals);
        if (!enif_term_to_binary(NULL, word, &bytes))
            return PyErr_NoMemory();
        found =
            th_python_table_put(&locals, word, th_python_identifier(bytes.data, bytes.size, word));
        enif_release_binary(&bytes);
    }
    Py_XINCREF(found);
    return found;
}

bool th_python_identifier_term(ErlNifEnv *env, PyObject *object, ERL_NIF_TERM *term)
{
    struct identifier *identifier = (struct identifier *)object;
    char *bytes;
    Py_ssize_t size;

    *term = identifier->word;
    if (*term)
        return true;
    if (PyBytes_AsStringAndSize(identifier->external, &bytes, &size) < 0)
        return false;
    if (enif_binary_to_term(env, (unsigned char *)bytes, (size_t)size, term, 0))
        return true;
    PyErr_NoMemory();
    return false;
}

static void free_identifier(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    Py_XDECREF(((struct identifier *)object)->external);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyObject *text_of_identifier(PyObject *object)
{
    ErlNifEnv *env = enif_alloc_env();
    PyObject *made = NULL;
    ERL_NIF_TERM term;
    char *text = NULL;

    if (env && th_python_identifier_term(env, object, &term))
        text = tracehost_term_to_text(term);
    if (text)
        made = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    else if (!PyErr_Occurred())
        PyErr_NoMemory();
    tracehost_free(text);
    if (env)
        enif_free_env(env);
    return made;
}

static Py_hash_t hash_identifier(PyObject *object)
{
    return PyObject_Hash(((struct identifier *)object)->external);
}

/* The order of identifiers of one class is that of their external formats. */
static PyObject *compare_identifiers(PyObject *left, PyObject *right, int operation)
{
    if (Py_TYPE(left) != Py_TYPE(right))
        Py_RETURN_NOTIMPLEMENTED;
    return PyObject_RichCompare(((struct identifier *)left)->external,
                                ((struct identifier *)right)->external, operation);
}

static PyObject *reduce_identifier(PyObject *object, PyObject *none)
{
    PyObject *module = PyImport_ImportModule("tracehost");
    PyObject *decode = module ? PyObject_GetAttrString(module, "decode") : NULL;

    (void)none;
    Py_XDECREF(module);
    return decode ? Py_BuildValue("N(O)", decode, ((struct identifier *)object)->external) : NULL;
}

static PyMethodDef identifier_methods[] = {
    {"__reduce__", reduce_identifier, METH_NOARGS, NULL},
    {0},
};
PyDoc_STRVAR(
    identifier_text,
    "A pid, port, reference or fun. str() is its text, as '<0.95.0>'. Objects of one class can be\n"
    "compared, hashed and sorted (by node, then by numbers), pickled, and used in terms.");
static PyType_Slot identifier_slots[] = {
    {Py_tp_dealloc, free_identifier},         {Py_tp_repr, text_of_identifier},
    {Py_tp_str, text_of_identifier},          {Py_tp_hash, hash_identifier},
    {Py_tp_richcompare, compare_identifiers}, {Py_tp_methods, identifier_methods},
    {Py_tp_doc, (void *)identifier_text},     {0},
};
static PyType_Spec identifier_spec = {
    .name = "tracehost.Identifier",
    .basicsize = sizeof(struct identifier),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = identifier_slots,
};

static PyTypeObject *make_class(const char *name, const char *text)
{
    PyType_Slot slots[] = {{Py_tp_dealloc, free_identifier}, {Py_tp_doc, (void *)text}, {0}};
    PyType_Spec spec = {
        .name = name,
        .basicsize = sizeof(struct identifier),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .slots = slots,
    };

    return (PyTypeObject *)PyType_FromSpecWithBases(&spec, (PyObject *)th_python_identifier_type);
}

bool th_python_add_identifiers(PyObject *module)
{
    static const char *const names[CLASSES] = {"tracehost.Pid", "tracehost.Port",
                                               "tracehost.Reference", "tracehost.Fun"};
    static const char *const docs[CLASSES] = {"A pid, as '<0.95.0>'.", "A port, as '#Port<0.7>'.",
                                              "A reference, as '#Ref<0.1.2.3>'.",
                                              "A fun, as 'fun lists:map/2'."};

    if (!th_python_add_type(module, &th_python_identifier_type, &identifier_spec))
        return false;
    for (int i = 0; i < CLASSES; i++) {
        if (!classes[i])
            classes[i] = make_class(names[i], docs[i]);
        if (!classes[i] || PyModule_AddType(module, classes[i]) < 0)
            return false;
    }
    return true;
}
