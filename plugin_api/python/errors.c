/* Exceptions: the classes are in tracehost/errors.py. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

void th_python_chain_take(struct th_python_chain *chain, enum tracehost_status status)
{
    size_t size = 1, at = 0;
    const char *link;

    chain->status = status;
    for (size_t i = 0; (link = tracehost_error_link(i)); i++)
        size += strlen(link) + 1;
    chain->links = malloc(size);
    if (!chain->links)
        return;
    for (size_t i = 0; (link = tracehost_error_link(i)); i++)
        at += strlen(strcpy(chain->links + at, link)) + 1;
    chain->links[at] = 0;
}

void th_python_chain_set(struct th_python_chain *chain, enum tracehost_status status,
                         const char *link)
{
    size_t size = strlen(link) + 1;

    chain->status = status;
    chain->links = calloc(1, size + 1);
    if (chain->links)
        memcpy(chain->links, link, size);
}

static PyObject *list_of_links(const char *links)
{
    PyObject *list = PyList_New(0);

    for (const char *link = links; list && *link; link += strlen(link) + 1) {
        PyObject *text = PyUnicode_DecodeUTF8(link, (Py_ssize_t)strlen(link), "replace");

        if (!text || PyList_Append(list, text) < 0)
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

PyObject *th_python_chain_exception(struct th_python_chain *chain)
{
    PyObject *module = NULL, *links = NULL, *exception = NULL;

    if (!chain->links)
        return PyErr_NoMemory();
    links = list_of_links(chain->links);
    free(chain->links);
    chain->links = NULL;
    if (links)
        module = PyImport_ImportModule("tracehost.errors");
    if (module)
        exception = PyObject_CallMethod(module, "from_chain", "iO", (int)chain->status, links);
    Py_XDECREF(module);
    Py_XDECREF(links);
    return exception;
}

PyObject *th_python_chain_raise(struct th_python_chain *chain)
{
    PyObject *exception = th_python_chain_exception(chain);

    if (exception)
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_XDECREF(exception);
    return NULL;
}

PyObject *th_python_raise(enum tracehost_status status)
{
    struct th_python_chain chain;

    th_python_chain_take(&chain, status);
    return th_python_chain_raise(&chain);
}

PyObject *th_python_misused(const char *text)
{
    struct th_python_chain chain;

    th_python_chain_set(&chain, TRACEHOST_USAGE, text);
    return th_python_chain_raise(&chain);
}
