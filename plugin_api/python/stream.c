/* Class Stream: a recording as an iterator of events. tracehost/streams.py has the class of users. */
#include "binding.h"

#include <stdlib.h>

/* Records of a batch; one, if the size of the input is unknown: a pipe or node may be slow to send the next. */
enum { BATCH = 1024, MOST_BATCH = 1 << 16 };

struct stream {
    PyObject_HEAD tracehost_stream *stream; /* NULL: closed */
    struct th_python_batch batch;
    PyObject *damaged;         /* None: raise; False: count; else called */
    unsigned long long faults; /* records and places whose damage was given out */
    bool used;                 /* by a thread that may be without the lock */
    bool read;                 /* a batch was read */
};

static PyTypeObject *stream_type;

/* Returns STREAM if it can be used now, else NULL with an exception. */
static struct stream *usable(PyObject *object)
{
    struct stream *stream = (struct stream *)object;

    if (!stream->stream)
        return (struct stream *)th_python_misused("the stream is closed");
    if (stream->used)
        return (struct stream *)th_python_misused(
            "the stream is in use: another thread reads it, or a replay does");
    return stream;
}

/* --- Opening and closing ---------------------------------------------------------------------- */

static bool open_stream(struct stream *stream, const char *name, int fd,
                        const struct tracehost_stream_options *options)
{
    enum tracehost_status status;
    struct th_python_chain chain;

    Py_BEGIN_ALLOW_THREADS status =
        fd < 0 ? tracehost_stream_open(name, options, &stream->stream)
               : tracehost_stream_open_fd(fd, name, options, &stream->stream);
    if (status != TRACEHOST_OK)
        th_python_chain_take(&chain, status);
    Py_END_ALLOW_THREADS if (status != TRACEHOST_OK) th_python_chain_raise(&chain);
    return status == TRACEHOST_OK;
}

static bool may_wait(const struct stream *stream)
{
    struct tracehost_stream_info info = {.size = sizeof info};

    return tracehost_stream_get_info(stream->stream, &info) != TRACEHOST_OK || !info.all_bytes;
}

/* Allocates the batch: MOST records; if MOST is 0, as many as fit the input. */
static bool prepare_batch(struct stream *stream, size_t most)
{
    if (!most)
        most = may_wait(stream) ? 1 : BATCH;
    stream->batch.most = most;
    stream->batch.env = enif_alloc_env();
    stream->batch.records = calloc(most, sizeof *stream->batch.records);
    if (stream->batch.env && stream->batch.records)
        return true;
    PyErr_NoMemory();
    return false;
}

static PyObject *new_stream(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"name", "fd", "scheduler_id", "max_memory", "damaged", "batch", NULL};
    struct tracehost_stream_options options = {.size = sizeof options};
    struct stream *stream;
    PyObject *name = NULL, *damaged;
    Py_ssize_t max_memory, most;
    int fd, scheduler_id;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);

    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O&ipnOn:Stream", names,
                                     PyUnicode_FSConverter, &name, &fd, &scheduler_id, &max_memory,
                                     &damaged, &most))
        return NULL;
    if (most < 0 || most > MOST_BATCH || max_memory < 0) {
        Py_DECREF(name);
        return th_python_misused(max_memory < 0
                                     ? "`max_memory` is a number of bytes, or 0"
                                     : "`batch` is a number of records from 1 to 65536, or 0");
    }
    options.scheduler_id = scheduler_id;
    options.max_memory = (size_t)max_memory;
    stream = (struct stream *)allocate(type, 0);
    if (stream) {
        stream->damaged = Py_NewRef(damaged);
        if (!open_stream(stream, PyBytes_AsString(name), fd, &options) ||
            !prepare_batch(stream, (size_t)most))
            Py_CLEAR(stream);
    }
    Py_DECREF(name);
    return (PyObject *)stream;
}

/* Drops what was read of the stream, and closes it. */
static void close_now(struct stream *stream)
{
    tracehost_stream *closed = stream->stream;

    stream->stream = NULL;
    th_python_batch_free(&stream->batch);
    Py_BEGIN_ALLOW_THREADS tracehost_stream_close(closed);
    Py_END_ALLOW_THREADS
}

static PyObject *close_stream(PyObject *object, PyObject *none)
{
    (void)none;
    if (((struct stream *)object)->stream) {
        if (!usable(object))
            return NULL;
        close_now((struct stream *)object);
    }
    Py_RETURN_NONE;
}

static void free_stream(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);

    PyObject_GC_UnTrack(object);
    close_now((struct stream *)object);
    Py_CLEAR(((struct stream *)object)->damaged);
    free_object(object);
    Py_DECREF(type);
}

static int traverse_stream(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((struct stream *)object)->damaged);
    return 0;
}

static int clear_stream(PyObject *object)
{
    Py_CLEAR(((struct stream *)object)->damaged);
    return 0;
}

/* --- Events ----------------------------------------------------------------------------------- */

/* Gives out the damage behind the batch. Returns false with an exception if the iteration stops here. */
static bool give_fault(struct stream *stream)
{
    PyObject *exception, *answer = NULL;

    stream->batch.faulty = false;
    stream->faults++;
    if (stream->damaged == Py_None) {
        th_python_chain_raise(&stream->batch.fault);
        return false;
    }
    if (stream->damaged == Py_False) {
        free(stream->batch.fault.links);
        stream->batch.fault.links = NULL;
        return true;
    }
    exception = th_python_chain_exception(&stream->batch.fault);
    stream->used = false; /* the function may use the stream */
    if (exception)
        answer = PyObject_CallFunctionObjArgs(stream->damaged, exception, NULL);
    Py_XDECREF(exception);
    Py_XDECREF(answer);
    if (!answer || !usable((PyObject *)stream))
        return false;
    stream->used = true;
    return true;
}

static void read_batch(struct stream *stream)
{
    stream->read = true;
    Py_BEGIN_ALLOW_THREADS th_python_batch_read(&stream->batch, stream->stream);
    Py_END_ALLOW_THREADS
}

static PyObject *take_event(struct stream *stream)
{
    struct th_python_recorded *recorded = &stream->batch.records[stream->batch.next++];
    size_t at = recorded->at;

    return th_python_event(&recorded->record, th_python_build(&stream->batch.tape, &at));
}

static PyObject *next_event(PyObject *object)
{
    struct stream *stream = usable(object);
    PyObject *event = NULL;

    if (!stream)
        return NULL;
    stream->used = true;
    for (;;) {
        if (stream->batch.next < stream->batch.count) {
            event = take_event(stream);
            break;
        }
        if (stream->batch.faulty) {
            if (!give_fault(stream))
                break;
        } else if (stream->batch.ended || PyErr_CheckSignals() < 0) {
            break;
        } else {
            read_batch(stream);
        }
    }
    stream->used = false;
    return event;
}

static PyObject *stop_stream(PyObject *object, PyObject *none)
{
    (void)none;
    tracehost_stream_stop(((struct stream *)object)->stream);
    Py_RETURN_NONE;
}

/* --- Description ------------------------------------------------------------------------------ */

static PyObject *describe(PyObject *object, PyObject *none)
{
    struct stream *stream = usable(object);
    struct tracehost_stream_info info = {.size = sizeof info};
    enum tracehost_status status;

    (void)none;
    if (!stream)
        return NULL;
    status = tracehost_stream_get_info(stream->stream, &info);
    if (status != TRACEHOST_OK)
        return th_python_raise(status);
    return Py_BuildValue("{szszszsNsKsKsKsKsKsKsK}", "format", info.format, "file", info.file,
                         "note", info.note, "node", th_python_word_value(info.node), "records",
                         info.records, "drops", info.drops, "malformed", info.malformed, "damages",
                         info.damages, "bytes", info.bytes, "all_bytes", info.all_bytes, "faults",
                         stream->faults);
}

tracehost_stream *th_python_stream_use(PyObject *object)
{
    struct stream *stream;

    if (!PyObject_TypeCheck(object, stream_type)) {
        PyErr_SetString(PyExc_TypeError, "a replay takes a tracehost.Stream");
        return NULL;
    }
    stream = usable(object);
    if (!stream)
        return NULL;
    if (stream->read) {
        th_python_misused("events of the stream were read already: open it again to replay it");
        return NULL;
    }
    stream->used = true;
    return stream->stream;
}

void th_python_stream_leave(PyObject *object)
{
    ((struct stream *)object)->used = false;
}

static PyMethodDef methods[] = {
    {"close", close_stream, METH_NOARGS,
     "close()\n--\n\nCloses the stream. A second call has no effect.\n\n"
     "Errors: UsageError while another thread or a replay uses the stream."},
    {"stop", stop_stream, METH_NOARGS,
     "stop()\n--\n\nEnds reading and replaying before the next record. Any thread may call it, "
     "also during a replay.\n"
     "Events that were read in the same batch are still given out."},
    {"_describe", describe, METH_NOARGS, NULL},
    {0},
};
static PyType_Slot slots[] = {
    {Py_tp_new, new_stream},           {Py_tp_dealloc, free_stream},
    {Py_tp_traverse, traverse_stream}, {Py_tp_clear, clear_stream},
    {Py_tp_iter, PyObject_SelfIter},   {Py_tp_iternext, next_event},
    {Py_tp_methods, methods},          {0},
};
static PyType_Spec spec = {
    .name = "tracehost._tracehost.Stream",
    .basicsize = sizeof(struct stream),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

bool th_python_add_stream(PyObject *module)
{
    return th_python_add_type(module, &stream_type, &spec);
}
