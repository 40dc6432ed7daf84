/*
 * Class Atom, a subclass of str with one object for each atom, and the table of objects by words.
 *
 * The library's table of atoms, which has a fixed room, bounds the number of Atoms.
 */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ATOM_BYTES = 4 * 255 };

struct th_python_entry {
    uintptr_t key; /* 0: free */
    PyObject *value;
};

/* --- Tables ----------------------------------------------------------------------------------- */

static size_t slot_of(const struct th_python_table *table, uintptr_t key)
{
    size_t slot = (key * UINT64_C(0x9E3779B97F4A7C15)) >> 32 & (table->room - 1);

    while (table->entries[slot].key && table->entries[slot].key != key)
        slot = (slot + 1) & (table->room - 1);
    return slot;
}

PyObject *th_python_table_get(const struct th_python_table *table, uintptr_t key)
{
    return table->room ? table->entries[slot_of(table, key)].value : NULL;
}

static bool enlarge_table(struct th_python_table *table)
{
    struct th_python_table larger = {.room = table->room ? 2 * table->room : 256,
                                     .used = table->used};

    larger.entries = calloc(larger.room, sizeof *larger.entries);
    if (!larger.entries)
        return false;
    for (size_t i = 0; i < table->room; i++)
        if (table->entries[i].key)
            larger.entries[slot_of(&larger, table->entries[i].key)] = table->entries[i];
    free(table->entries);
    *table = larger;
    return true;
}

PyObject *th_python_table_put(struct th_python_table *table, uintptr_t key, PyObject *value)
{
    struct th_python_entry *entry;

    if (!value)
        return NULL;
    if (2 * table->used >= table->room && !enlarge_table(table)) {
        Py_DECREF(value);
        return PyErr_NoMemory();
    }
    entry = &table->entries[slot_of(table, key)];
    if (!entry->key)
        table->used++;
    Py_XDECREF(entry->value);
    *entry = (struct th_python_entry){key, value};
    return value;
}

void th_python_table_clear(struct th_python_table *table)
{
    struct th_python_table old = *table;

    *table = (struct th_python_table){0};
    for (size_t i = 0; i < old.room; i++)
        Py_XDECREF(old.entries[i].value);
    free(old.entries);
}

/* --- Atoms ------------------------------------------------------------------------------------ */

PyTypeObject *th_python_atom_type;
static struct th_python_table atoms, texts;

/* Makes a new object of class Atom for TEXT, a str. */
static PyObject *atom_object(PyObject *text)
{
    newfunc new_text = (newfunc)PyType_GetSlot(&PyUnicode_Type, Py_tp_new);
    PyObject *arguments = PyTuple_Pack(1, text);
    PyObject *made = arguments ? new_text(th_python_atom_type, arguments, NULL) : NULL;

    Py_XDECREF(arguments);
    return made;
}

PyObject *th_python_atom(ERL_NIF_TERM word)
{
    PyObject *found = th_python_table_get(&atoms, word);
    char name[MOST_ATOM_BYTES + 1];
    PyObject *text;
    int size;

    if (!found) {
        size = enif_get_atom(NULL, word, name, sizeof name, ERL_NIF_UTF8);
        text = PyUnicode_DecodeUTF8(name, size ? size - 1 : 0, "surrogateescape");
        found = text ? th_python_table_put(&atoms, word, atom_object(text)) : NULL;
        Py_XDECREF(text);
    }
    Py_XINCREF(found);
    return found;
}

bool th_python_atom_word(PyObject *text, ERL_NIF_TERM *word)
{
    Py_ssize_t size;
    const char *name = PyUnicode_AsUTF8AndSize(text, &size);

    if (!name)
        return false;
    if (enif_make_new_atom_len(NULL, name, (size_t)size, word, ERL_NIF_UTF8))
        return true;
    PyErr_Format(PyExc_ValueError,
                 "no atom can be made of a text of %zd characters: an atom has at most 255, "
                 "and a million atoms are possible",
                 PyUnicode_GetLength(text));
    return false;
}

PyObject *th_python_static_atom(const char *text)
{
    PyObject *found = th_python_table_get(&texts, (uintptr_t)text);
    ERL_NIF_TERM word;

    if (!found && enif_make_new_atom_len(NULL, text, strlen(text), &word, ERL_NIF_UTF8))
        found = th_python_table_put(&texts, (uintptr_t)text, th_python_atom(word));
    if (!found && !PyErr_Occurred())
        PyErr_SetString(PyExc_MemoryError, "the table of atoms is full");
    Py_XINCREF(found);
    return found;
}

static PyObject *new_atom(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"name", NULL};
    PyObject *text;
    ERL_NIF_TERM word;

    (void)type;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "U:Atom", names, &text) ||
        !th_python_atom_word(text, &word))
        return NULL;
    return th_python_atom(word);
}

PyDoc_STRVAR(
    atom_text,
    "Atom(name)\n--\n\n"
    "An atom: a str, equal to any str with the same text. There is one object for each atom.\n\n"
    "The atoms true, false, undefined and nil are Atoms, too: compare them with a text, as in\n"
    "``value == 'true'``, because each Atom but the empty one is true in a condition.\n\n"
    "Errors: ValueError if name has more than 255 characters, or the table of atoms is full.");

static PyType_Slot atom_slots[] = {
    {Py_tp_new, new_atom},
    {Py_tp_doc, (void *)atom_text},
    {0},
};
static PyType_Spec atom_spec = {
    .name = "tracehost.Atom",
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = atom_slots,
};

bool th_python_add_atom(PyObject *module)
{
    if (!th_python_atom_type)
        th_python_atom_type =
            (PyTypeObject *)PyType_FromSpecWithBases(&atom_spec, (PyObject *)&PyUnicode_Type);
    return th_python_atom_type && PyModule_AddType(module, th_python_atom_type) == 0;
}
