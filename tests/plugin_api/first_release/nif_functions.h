/*
 * Every function of the NIF API, once.
 *
 *     TH_NIF_FUNCTIONS(X) calls X(group, type, name, (parameters), since) for each of the 180.
 *
 * Each group is a macro of its own, with its contract before it: what it is, how it is used, what
 * failure looks like. Long because: it is one list.
 *
 * `since` is the first NIF version that has the function, 100 * major + minor; 200 stands for 2.0
 * and everything before it. From this list come the declarations in erl_nif.h, the host's table of
 * functions that a library may import, and the tables in the documentation. The types are
 * erl_nif.h's (ours or OTP's): a list that is only asked for names needs none of them.
 *
 * An X that uses `name` should stringise or paste it directly: on LP64, erl_nif.h makes the names
 * enif_get_int64, enif_get_uint64, enif_make_int64 and enif_make_uint64 macros for their `long`
 * twins, and a name that is handed on to a second macro has become the twin by then.
 *
 * What holds for all of them, unless a group says otherwise:
 *
 * Environments. An ErlNifEnv is where terms live. The one that a NIF or callback is given is good
 * until that call returns, on that thread; one of enif_alloc_env() until it is cleared or freed, by
 * one thread at a time. A term is used with its own environment and copied to get into another;
 * atoms, pids, ports and small integers are the same word in every environment.
 *
 * Success. An `int` result is non-zero for yes and for done, 0 for no and for "not such a term"; on
 * 0 nothing was written to the outputs. Getters do not raise. An ERL_NIF_TERM result always is a
 * term, except where an exception is made: then the caller returns that result at once.
 *
 * Threads. What takes no environment may be called from any thread. On a thread of the library's
 * own, NULL is passed where an environment only says who is calling: when sending, looking up
 * names, asking who is alive, monitoring.
 */
#ifndef TH_NIF_FUNCTIONS_H
#define TH_NIF_FUNCTIONS_H

/* A table: one row a function. */
/* clang-format off */

#define TH_NIF_FUNCTIONS(X) \
    TH_NIF_ENVIRONMENTS(X) \
    TH_NIF_TERM_KINDS(X) \
    TH_NIF_ATOMS(X) \
    TH_NIF_NUMBERS(X) \
    TH_NIF_BINARIES(X) \
    TH_NIF_LISTS(X) \
    TH_NIF_TUPLES(X) \
    TH_NIF_MAPS(X) \
    TH_NIF_EXTERNAL(X) \
    TH_NIF_PIDS(X) \
    TH_NIF_EXCEPTIONS(X) \
    TH_NIF_MEMORY(X) \
    TH_NIF_RESOURCES(X) \
    TH_NIF_IOQ(X) \
    TH_NIF_SCHEDULING(X) \
    TH_NIF_THREADS(X) \
    TH_NIF_TIME(X) \
    TH_NIF_UNIQUE(X) \
    TH_NIF_SYSTEM(X) \
    TH_NIF_PRINTF(X)

/*
 * Companions.
 *
 * Functions that NIF libraries import although erl_nif.h never had them; the same columns, with 0
 * where no version is known. erl_errno_id() is the driver API's: the name of an errno value in
 * lower case ("enoent"; "unknown"), constant text. enif_scheduler_id() is wanted by a tracer that
 * was written for an unreleased OTP: the number of the calling scheduler, from 1; 0 on other
 * threads.
 *
 * On failure: "unknown", or 0.
 */
#define TH_NIF_COMPANIONS(X) \
    X(system, char *, erl_errno_id, (int error), 0) \
    X(scheduling, int, enif_scheduler_id, (void), 0)

/*
 * Environments and private data.
 *
 * enif_alloc_env() makes an environment of the library's own, for terms that outlive a call and for
 * messages; whoever made it frees it. Clearing ends all its terms and keeps the environment. The
 * environment of a call may be neither cleared nor freed. enif_make_copy() copies all of a term,
 * binaries by reference. enif_priv_data() is what `load` or `upgrade` left in *priv_data; what it
 * points to, and who may write there, is the library's affair.
 *
 * On failure: nothing fails; NULL for private data where no code of a library runs.
 */
#define TH_NIF_ENVIRONMENTS(X) \
    X(env, void *, enif_priv_data, (ErlNifEnv *env), 200) \
    X(env, ErlNifEnv *, enif_alloc_env, (void), 200) \
    X(env, void, enif_free_env, (ErlNifEnv *env), 200) \
    X(env, void, enif_clear_env, (ErlNifEnv *env), 200) \
    X(env, ERL_NIF_TERM, enif_make_copy, (ErlNifEnv *dst_env, ERL_NIF_TERM src_term), 200)

/*
 * What a term is.
 *
 * enif_compare() is Erlang's total order (negative, 0, positive; 1 and 1.0 are equal),
 * enif_is_identical() its =:=. Terms of different environments may be compared while neither
 * changes. enif_term_size() is the bytes a copy of the term would take, without the word that is
 * the term itself and without what binaries refer to. enif_term_type() will grow new answers: have
 * a `default`.
 *
 * On failure: nothing fails; 0 is no.
 */
#define TH_NIF_TERM_KINDS(X) \
    X(compare, int, enif_is_ref, (ErlNifEnv *env, ERL_NIF_TERM term), 200) \
    X(compare, int, enif_is_identical, (ERL_NIF_TERM lhs, ERL_NIF_TERM rhs), 200) \
    X(compare, int, enif_compare, (ERL_NIF_TERM lhs, ERL_NIF_TERM rhs), 200) \
    X(compare, int, enif_is_fun, (ErlNifEnv *env, ERL_NIF_TERM term), 200) \
    X(compare, int, enif_is_number, (ErlNifEnv *env, ERL_NIF_TERM term), 203) \
    X(compare, ErlNifTermType, enif_term_type, (ErlNifEnv *env, ERL_NIF_TERM term), 215) \
    X(compare, size_t, enif_term_size, (ERL_NIF_TERM term), 218)

/*
 * Atoms.
 *
 * An atom is one word, the same in every environment, for ever: make it once in `load` and compare
 * with ==. enif_make_atom() and enif_make_atom_len() take Latin-1 and raise badarg over 255
 * characters; enif_make_new_atom() and its twin say which encoding, and return 0 instead. The
 * `existing` makers return 0 rather than grow the atom table, which never shrinks: use them for
 * names from outside. enif_get_atom() wants room for the terminating 0, counts it in its result,
 * and fails if the name is too long or has a character that the encoding has not; the length does
 * not count it. The cache index is a small number for the library's own tables, up to
 * enif_max_atom_cache_index(); different atoms may share it.
 *
 * On failure: 0; enif_make_atom() and enif_make_atom_len() raise badarg.
 */
#define TH_NIF_ATOMS(X) \
    X(atoms, int, enif_is_atom, (ErlNifEnv *env, ERL_NIF_TERM term), 200) \
    X(atoms, ERL_NIF_TERM, enif_make_atom, (ErlNifEnv *env, const char *name), 200) \
    X(atoms, int, enif_make_existing_atom, \
      (ErlNifEnv *env, const char *name, ERL_NIF_TERM *atom, ErlNifCharEncoding encoding), 200) \
    X(atoms, int, enif_get_atom, \
      (ErlNifEnv *env, ERL_NIF_TERM atom, char *buf, unsigned len, \
       ErlNifCharEncoding encoding), 200) \
    X(atoms, int, enif_get_atom_length, \
      (ErlNifEnv *env, ERL_NIF_TERM atom, unsigned *len, ErlNifCharEncoding encoding), 200) \
    X(atoms, ERL_NIF_TERM, enif_make_atom_len, \
      (ErlNifEnv *env, const char *name, size_t len), 200) \
    X(atoms, int, enif_make_existing_atom_len, \
      (ErlNifEnv *env, const char *name, size_t len, ERL_NIF_TERM *atom, \
       ErlNifCharEncoding encoding), 200) \
    X(atoms, int, enif_make_new_atom, \
      (ErlNifEnv *env, const char *name, ERL_NIF_TERM *atom, ErlNifCharEncoding encoding), 217) \
    X(atoms, int, enif_make_new_atom_len, \
      (ErlNifEnv *env, const char *name, size_t len, ERL_NIF_TERM *atom, \
       ErlNifCharEncoding encoding), 217) \
    X(atoms, int, enif_get_atom_cache_index, \
      (ErlNifEnv *env, ERL_NIF_TERM atom, unsigned *index), 218) \
    X(atoms, unsigned, enif_max_atom_cache_index, (void), 218)

/*
 * Numbers.
 *
 * A getter fails for a term that is not an integer (a float, for enif_get_double) and for an
 * integer that the C type cannot hold. enif_make_double() raises badarg for infinities and
 * not-a-numbers. The four 64-bit functions are `long` twins on LP64, where libraries import only
 * the twins.
 *
 * On failure: 0; enif_make_double() raises badarg.
 */
#define TH_NIF_NUMBERS(X) \
    X(numbers, int, enif_get_int, (ErlNifEnv *env, ERL_NIF_TERM term, int *ip), 200) \
    X(numbers, int, enif_get_ulong, (ErlNifEnv *env, ERL_NIF_TERM term, unsigned long *ip), 200) \
    X(numbers, int, enif_get_double, (ErlNifEnv *env, ERL_NIF_TERM term, double *dp), 200) \
    X(numbers, ERL_NIF_TERM, enif_make_int, (ErlNifEnv *env, int i), 200) \
    X(numbers, ERL_NIF_TERM, enif_make_ulong, (ErlNifEnv *env, unsigned long i), 200) \
    X(numbers, ERL_NIF_TERM, enif_make_double, (ErlNifEnv *env, double d), 200) \
    X(numbers, int, enif_get_uint, (ErlNifEnv *env, ERL_NIF_TERM term, unsigned *ip), 200) \
    X(numbers, int, enif_get_long, (ErlNifEnv *env, ERL_NIF_TERM term, long *ip), 200) \
    X(numbers, ERL_NIF_TERM, enif_make_uint, (ErlNifEnv *env, unsigned i), 200) \
    X(numbers, ERL_NIF_TERM, enif_make_long, (ErlNifEnv *env, long i), 200) \
    X(numbers, int, enif_get_int64, (ErlNifEnv *env, ERL_NIF_TERM term, ErlNifSInt64 *ip), 200) \
    X(numbers, int, enif_get_uint64, (ErlNifEnv *env, ERL_NIF_TERM term, ErlNifUInt64 *ip), 200) \
    X(numbers, ERL_NIF_TERM, enif_make_int64, (ErlNifEnv *env, ErlNifSInt64 i), 200) \
    X(numbers, ERL_NIF_TERM, enif_make_uint64, (ErlNifEnv *env, ErlNifUInt64 i), 200)

/*
 * Binaries and vectors of them.
 *
 * Two kinds of ErlNifBinary. One that was *inspected* shows a term's bytes: read only, good as long
 * as the term, never released. One that was *allocated* (enif_alloc_binary, enif_term_to_binary,
 * enif_realloc_binary of such) is the caller's to write; it ends in either enif_release_binary() or
 * enif_make_binary(), which hands the memory to a term and leaves the bytes readable until the call
 * returns. enif_make_new_binary() returns the bytes of a new term, to be written before the term is
 * shown to anybody. enif_realloc_binary() keeps the old binary when it fails. A sub-binary's range
 * must lie inside its binary. enif_inspect_iovec() with env NULL gives vectors that outlive the
 * call, ended by enif_free_iovec(); with *iovec given, that structure is filled instead, if it has
 * room, and belongs to the caller. At least one binary of the list is taken, and at most
 * max_length; those that are empty count and are not shown; the rest of the list goes to *tail.
 *
 * On failure: 0, or NULL; enif_make_sub_binary() raises badarg.
 */
#define TH_NIF_BINARIES(X) \
    X(binaries, int, enif_is_binary, (ErlNifEnv *env, ERL_NIF_TERM term), 200) \
    X(binaries, int, enif_inspect_binary, \
      (ErlNifEnv *env, ERL_NIF_TERM bin_term, ErlNifBinary *bin), 200) \
    X(binaries, int, enif_alloc_binary, (size_t size, ErlNifBinary *bin), 200) \
    X(binaries, int, enif_realloc_binary, (ErlNifBinary *bin, size_t size), 200) \
    X(binaries, void, enif_release_binary, (ErlNifBinary *bin), 200) \
    X(binaries, ERL_NIF_TERM, enif_make_binary, (ErlNifEnv *env, ErlNifBinary *bin), 200) \
    X(binaries, int, enif_inspect_iolist_as_binary, \
      (ErlNifEnv *env, ERL_NIF_TERM term, ErlNifBinary *bin), 200) \
    X(binaries, ERL_NIF_TERM, enif_make_sub_binary, \
      (ErlNifEnv *env, ERL_NIF_TERM bin_term, size_t pos, size_t size), 200) \
    X(binaries, unsigned char *, enif_make_new_binary, \
      (ErlNifEnv *env, size_t size, ERL_NIF_TERM *termp), 200) \
    X(binaries, int, enif_inspect_iovec, \
      (ErlNifEnv *env, size_t max_length, ERL_NIF_TERM iovec_term, ERL_NIF_TERM *tail, \
       ErlNifIOVec **iovec), 213) \
    X(binaries, void, enif_free_iovec, (ErlNifIOVec *iov), 213)

/*
 * Lists, and strings, which are lists of characters.
 *
 * enif_make_list() takes `cnt` terms, each a whole ERL_NIF_TERM; enif_make_list1() to 9 check that.
 * enif_get_list_cell() fails for [] as for any other term that is no cell; enif_is_list() is true
 * of [] and of every cell, proper or not; enif_get_list_length() fails for improper lists.
 * enif_get_string() returns the bytes written with the terminating 0, or minus that number when it had
 * to cut (it writes whole characters, and the 0), or 0 when the list holds no string.
 *
 * On failure: 0, minus the bytes written for a string that was cut; enif_make_string() and
 * enif_make_string_len() raise badarg.
 */
#define TH_NIF_LISTS(X) \
    X(lists, int, enif_get_list_cell, \
      (ErlNifEnv *env, ERL_NIF_TERM term, ERL_NIF_TERM *head, ERL_NIF_TERM *tail), 200) \
    X(lists, ERL_NIF_TERM, enif_make_list, (ErlNifEnv *env, unsigned cnt, ...), 200) \
    X(lists, ERL_NIF_TERM, enif_make_list_cell, \
      (ErlNifEnv *env, ERL_NIF_TERM car, ERL_NIF_TERM cdr), 200) \
    X(lists, ERL_NIF_TERM, enif_make_string, \
      (ErlNifEnv *env, const char *string, ErlNifCharEncoding encoding), 200) \
    X(lists, int, enif_get_string, \
      (ErlNifEnv *env, ERL_NIF_TERM list, char *buf, unsigned len, \
       ErlNifCharEncoding encoding), 200) \
    X(lists, ERL_NIF_TERM, enif_make_list_from_array, \
      (ErlNifEnv *env, const ERL_NIF_TERM arr[], unsigned cnt), 200) \
    X(lists, int, enif_is_empty_list, (ErlNifEnv *env, ERL_NIF_TERM term), 200) \
    X(lists, int, enif_is_list, (ErlNifEnv *env, ERL_NIF_TERM term), 200) \
    X(lists, int, enif_get_list_length, (ErlNifEnv *env, ERL_NIF_TERM term, unsigned *len), 200) \
    X(lists, ERL_NIF_TERM, enif_make_string_len, \
      (ErlNifEnv *env, const char *string, size_t len, ErlNifCharEncoding encoding), 200) \
    X(lists, int, enif_make_reverse_list, \
      (ErlNifEnv *env, ERL_NIF_TERM term, ERL_NIF_TERM *list), 203) \
    X(lists, int, enif_get_string_length, \
      (ErlNifEnv *env, ERL_NIF_TERM list, unsigned *len, ErlNifCharEncoding encoding), 217)

/*
 * Tuples.
 *
 * enif_get_tuple() points into the term: read only, and good as long as the term. Of an empty tuple
 * the array is not to be read. enif_make_tuple() takes `cnt` terms as enif_make_list() does.
 *
 * On failure: 0.
 */
#define TH_NIF_TUPLES(X) \
    X(tuples, int, enif_get_tuple, \
      (ErlNifEnv *env, ERL_NIF_TERM tpl, int *arity, const ERL_NIF_TERM **array), 200) \
    X(tuples, ERL_NIF_TERM, enif_make_tuple, (ErlNifEnv *env, unsigned cnt, ...), 200) \
    X(tuples, ERL_NIF_TERM, enif_make_tuple_from_array, \
      (ErlNifEnv *env, const ERL_NIF_TERM arr[], unsigned cnt), 200) \
    X(tuples, int, enif_is_tuple, (ErlNifEnv *env, ERL_NIF_TERM term), 200)

/*
 * Maps.
 *
 * Maps are values: put, update and remove make a new one and leave the old. put and remove fail
 * only for terms that are no map; update also when the key is absent; enif_make_map_from_arrays()
 * when two keys are equal. An iterator stands on a pair, before the first (head) or behind the last
 * (tail); next and prev say whether it stands on a pair afterwards. Each created iterator is
 * destroyed, in the same call, while the map lives. The order of pairs is not specified.
 *
 * On failure: 0.
 */
#define TH_NIF_MAPS(X) \
    X(maps, int, enif_is_map, (ErlNifEnv *env, ERL_NIF_TERM term), 206) \
    X(maps, int, enif_get_map_size, (ErlNifEnv *env, ERL_NIF_TERM term, size_t *size), 206) \
    X(maps, ERL_NIF_TERM, enif_make_new_map, (ErlNifEnv *env), 206) \
    X(maps, int, enif_make_map_put, \
      (ErlNifEnv *env, ERL_NIF_TERM map_in, ERL_NIF_TERM key, ERL_NIF_TERM value, \
       ERL_NIF_TERM *map_out), 206) \
    X(maps, int, enif_get_map_value, \
      (ErlNifEnv *env, ERL_NIF_TERM map, ERL_NIF_TERM key, ERL_NIF_TERM *value), 206) \
    X(maps, int, enif_make_map_update, \
      (ErlNifEnv *env, ERL_NIF_TERM map_in, ERL_NIF_TERM key, ERL_NIF_TERM value, \
       ERL_NIF_TERM *map_out), 206) \
    X(maps, int, enif_make_map_remove, \
      (ErlNifEnv *env, ERL_NIF_TERM map_in, ERL_NIF_TERM key, ERL_NIF_TERM *map_out), 206) \
    X(maps, int, enif_map_iterator_create, \
      (ErlNifEnv *env, ERL_NIF_TERM map, ErlNifMapIterator *iter, \
       ErlNifMapIteratorEntry entry), 206) \
    X(maps, void, enif_map_iterator_destroy, (ErlNifEnv *env, ErlNifMapIterator *iter), 206) \
    X(maps, int, enif_map_iterator_is_head, (ErlNifEnv *env, ErlNifMapIterator *iter), 206) \
    X(maps, int, enif_map_iterator_is_tail, (ErlNifEnv *env, ErlNifMapIterator *iter), 206) \
    X(maps, int, enif_map_iterator_next, (ErlNifEnv *env, ErlNifMapIterator *iter), 206) \
    X(maps, int, enif_map_iterator_prev, (ErlNifEnv *env, ErlNifMapIterator *iter), 206) \
    X(maps, int, enif_map_iterator_get_pair, \
      (ErlNifEnv *env, ErlNifMapIterator *iter, ERL_NIF_TERM *key, ERL_NIF_TERM *value), 206) \
    X(maps, int, enif_make_map_from_arrays, \
      (ErlNifEnv *env, ERL_NIF_TERM keys[], ERL_NIF_TERM values[], size_t cnt, \
       ERL_NIF_TERM *map_out), 214)

/*
 * The external term format.
 *
 * The binary that enif_term_to_binary() fills is the caller's, to release or to make a term of.
 * enif_binary_to_term() returns how many bytes it read, 0 for bytes that are no term; with
 * ERL_NIF_BIN2TERM_SAFE also 0 for a term that would make new atoms.
 *
 * On failure: 0.
 */
#define TH_NIF_EXTERNAL(X) \
    X(external, int, enif_term_to_binary, \
      (ErlNifEnv *env, ERL_NIF_TERM term, ErlNifBinary *bin), 211) \
    X(external, size_t, enif_binary_to_term, \
      (ErlNifEnv *env, const unsigned char *data, size_t sz, ERL_NIF_TERM *term, \
       unsigned int opts), 211)

/*
 * Processes, ports and sending.
 *
 * ErlNifPid and ErlNifPort are values: copy and keep them freely; to be alive is another question.
 * enif_self() is NULL where no process runs: in destructors, and in tracer callbacks other than
 * those that erl_tracer.h names. enif_send() and enif_port_command() take the environment that the
 * message lives in: a `msg_env` of enif_alloc_env() is emptied by a success and can be used for the
 * next message; NULL means that msg lives in `env` and is copied. They return 0 for a receiver that
 * is not alive. With `env` NULL, msg_env is not. A tracer must not send to its tracee, nor command
 * it.
 *
 * On failure: 0, or NULL.
 */
#define TH_NIF_PIDS(X) \
    X(pids, int, enif_is_pid, (ErlNifEnv *env, ERL_NIF_TERM term), 200) \
    X(pids, int, enif_is_port, (ErlNifEnv *env, ERL_NIF_TERM term), 200) \
    X(pids, int, enif_send, \
      (ErlNifEnv *env, const ErlNifPid *to_pid, ErlNifEnv *msg_env, ERL_NIF_TERM msg), 200) \
    X(pids, ErlNifPid *, enif_self, (ErlNifEnv *caller_env, ErlNifPid *pid), 200) \
    X(pids, int, enif_get_local_pid, (ErlNifEnv *env, ERL_NIF_TERM term, ErlNifPid *pid), 200) \
    X(pids, int, enif_is_current_process_alive, (ErlNifEnv *env), 211) \
    X(pids, int, enif_is_process_alive, (ErlNifEnv *env, ErlNifPid *pid), 211) \
    X(pids, int, enif_is_port_alive, (ErlNifEnv *env, ErlNifPort *port_id), 211) \
    X(pids, int, enif_get_local_port, \
      (ErlNifEnv *env, ERL_NIF_TERM term, ErlNifPort *port_id), 211) \
    X(pids, int, enif_port_command, \
      (ErlNifEnv *env, const ErlNifPort *to_port, ErlNifEnv *msg_env, ERL_NIF_TERM msg), 211) \
    X(pids, int, enif_whereis_pid, (ErlNifEnv *env, ERL_NIF_TERM name, ErlNifPid *pid), 212) \
    X(pids, int, enif_whereis_port, (ErlNifEnv *env, ERL_NIF_TERM name, ErlNifPort *port), 212) \
    X(pids, void, enif_set_pid_undefined, (ErlNifPid *pid), 215) \
    X(pids, int, enif_is_pid_undefined, (const ErlNifPid *pid), 215)

/*
 * Exceptions.
 *
 * enif_make_badarg() and enif_raise_exception() mark the environment; what they return is not a
 * term to build with, only to be returned. After that only enif_is_exception(),
 * enif_has_pending_exception() and releasing of what was allocated make sense.
 * enif_has_pending_exception() may be asked with reason NULL.
 *
 * On failure: nothing fails; 0 is no.
 */
#define TH_NIF_EXCEPTIONS(X) \
    X(exceptions, ERL_NIF_TERM, enif_make_badarg, (ErlNifEnv *env), 200) \
    X(exceptions, int, enif_is_exception, (ErlNifEnv *env, ERL_NIF_TERM term), 202) \
    X(exceptions, int, enif_has_pending_exception, (ErlNifEnv *env, ERL_NIF_TERM *reason), 208) \
    X(exceptions, ERL_NIF_TERM, enif_raise_exception, (ErlNifEnv *env, ERL_NIF_TERM reason), 208)

/*
 * Memory.
 *
 * Aligned for any C type, freed by any thread, NULL when there is none. Not exchangeable with
 * malloc and free: compilers that know how are told so, and warn.
 *
 * On failure: NULL.
 */
#define TH_NIF_MEMORY(X) \
    X(memory, void *, enif_alloc, (size_t size), 200) \
    X(memory, void, enif_free, (void *ptr), 200) \
    X(memory, void *, enif_realloc, (void *ptr, size_t size), 200)

/*
 * Resources, monitors and file events.
 *
 * A resource is memory of a named type with a destructor, counted: enif_alloc_resource() gives the
 * caller one reference, enif_keep_resource() one more, enif_release_resource() takes one back, and
 * each term of enif_make_resource() holds one while it lives. The destructor runs after the last is
 * gone, on any thread. Types are opened in `load` and `upgrade` only; takeover gives a new library
 * the living resources of the old. A monitor calls the type's `down` once, unless
 * enif_demonitor_process() returned 0 before (monitor functions return 0 for success, positive for
 * a dead process or a monitor that has fired, negative for a type without `down`).
 *
 * enif_select() asks for one message per event to pid (NULL: the caller) and returns a set of the
 * ERL_NIF_SELECT_ bits, negative on error. A file descriptor that was ever selected is closed in
 * the type's `stop`, after ERL_NIF_SELECT_STOP, nowhere else.
 *
 * On failure: NULL, or 0; non-zero for monitors and calls of other libraries; negative for file
 * events.
 */
#define TH_NIF_RESOURCES(X) \
    X(resources, ErlNifResourceType *, enif_open_resource_type, \
      (ErlNifEnv *env, const char *module_str, const char *name_str, \
       void (*dtor)(ErlNifEnv *, void *), ErlNifResourceFlags flags, \
       ErlNifResourceFlags *tried), 200) \
    X(resources, void *, enif_alloc_resource, (ErlNifResourceType *type, size_t size), 200) \
    X(resources, void, enif_release_resource, (void *obj), 200) \
    X(resources, ERL_NIF_TERM, enif_make_resource, (ErlNifEnv *env, void *obj), 200) \
    X(resources, int, enif_get_resource, \
      (ErlNifEnv *env, ERL_NIF_TERM term, ErlNifResourceType *type, void **objp), 200) \
    X(resources, size_t, enif_sizeof_resource, (void *obj), 200) \
    X(resources, void, enif_keep_resource, (void *obj), 200) \
    X(resources, ERL_NIF_TERM, enif_make_resource_binary, \
      (ErlNifEnv *env, void *obj, const void *data, size_t size), 200) \
    X(resources, int, enif_select, \
      (ErlNifEnv *env, ErlNifEvent e, enum ErlNifSelectFlags flags, void *obj, \
       const ErlNifPid *pid, ERL_NIF_TERM ref), 212) \
    X(resources, ErlNifResourceType *, enif_open_resource_type_x, \
      (ErlNifEnv *env, const char *name_str, const ErlNifResourceTypeInit *init, \
       ErlNifResourceFlags flags, ErlNifResourceFlags *tried), 212) \
    X(resources, int, enif_monitor_process, \
      (ErlNifEnv *env, void *obj, const ErlNifPid *pid, ErlNifMonitor *monitor), 212) \
    X(resources, int, enif_demonitor_process, \
      (ErlNifEnv *env, void *obj, const ErlNifMonitor *monitor), 212) \
    X(resources, int, enif_compare_monitors, \
      (const ErlNifMonitor *monitor1, const ErlNifMonitor *monitor2), 212) \
    X(resources, int, enif_select_x, \
      (ErlNifEnv *env, ErlNifEvent e, enum ErlNifSelectFlags flags, void *obj, \
       const ErlNifPid *pid, ERL_NIF_TERM msg, ErlNifEnv *msg_env), 215) \
    X(resources, ERL_NIF_TERM, enif_make_monitor_term, \
      (ErlNifEnv *env, const ErlNifMonitor *monitor), 215) \
    X(resources, ErlNifResourceType *, enif_init_resource_type, \
      (ErlNifEnv *env, const char *name_str, const ErlNifResourceTypeInit *init, \
       ErlNifResourceFlags flags, ErlNifResourceFlags *tried), 216) \
    X(resources, int, enif_dynamic_resource_call, \
      (ErlNifEnv *env, ERL_NIF_TERM mod, ERL_NIF_TERM name, ERL_NIF_TERM rsrc, \
       void *call_data), 216)

/*
 * I/O queues: bytes waiting for a file descriptor that is not ready.
 *
 * A queue belongs to the caller and has no lock of its own. Enqueueing a binary gives it away,
 * also where it fails; vectors are shared and stay the caller's to free. Peeked vectors are good
 * until the queue changes.
 *
 * On failure: 0, or NULL.
 */
#define TH_NIF_IOQ(X) \
    X(ioq, ErlNifIOQueue *, enif_ioq_create, (ErlNifIOQueueOpts opts), 213) \
    X(ioq, void, enif_ioq_destroy, (ErlNifIOQueue *q), 213) \
    X(ioq, int, enif_ioq_enq_binary, (ErlNifIOQueue *q, ErlNifBinary *bin, size_t skip), 213) \
    X(ioq, int, enif_ioq_enqv, (ErlNifIOQueue *q, ErlNifIOVec *iov, size_t skip), 213) \
    X(ioq, size_t, enif_ioq_size, (ErlNifIOQueue *q), 213) \
    X(ioq, int, enif_ioq_deq, (ErlNifIOQueue *q, size_t count, size_t *size), 213) \
    X(ioq, SysIOVec *, enif_ioq_peek, (ErlNifIOQueue *q, int *iovlen), 213) \
    X(ioq, int, enif_ioq_peek_head, \
      (ErlNifEnv *env, ErlNifIOQueue *q, size_t *size, ERL_NIF_TERM *head), 214)

/*
 * Scheduling.
 *
 * enif_consume_timeslice() tells how much of a turn (1 to 100 percent) was used since it was last
 * told, and answers 1 when it is time to give way; enif_schedule_nif() is how: its result is
 * returned, and `fp` is called later with `argv`, on a dirty scheduler if `flags` is a dirty job
 * kind. enif_thread_type() is an ERL_NIF_THR_ value; negative ones are other threads of the host.
 *
 * On failure: enif_schedule_nif() raises badarg.
 */
#define TH_NIF_SCHEDULING(X) \
    X(scheduling, int, enif_consume_timeslice, (ErlNifEnv *env, int percent), 204) \
    X(scheduling, ERL_NIF_TERM, enif_schedule_nif, \
      (ErlNifEnv *env, const char *fun_name, int flags, \
       ERL_NIF_TERM (*fp)(ErlNifEnv *, int, const ERL_NIF_TERM[]), int argc, \
       const ERL_NIF_TERM argv[]), 207) \
    X(scheduling, int, enif_thread_type, (void), 211)

/*
 * Threads, locks and thread-specific data.
 *
 * The POSIX things under portable names, not recursive, names copied and used for diagnosis only.
 * Create functions of locks return NULL on failure; functions that return int return 0 for success
 * or an errno value (the try functions EBUSY), except enif_equal_tids(), which answers yes or no.
 * Every thread is joined before its library is unloaded. Nothing is waited for inside a tracer
 * callback.
 *
 * On failure: NULL, or an errno value.
 */
#define TH_NIF_THREADS(X) \
    X(threads, ErlNifMutex *, enif_mutex_create, (char *name), 200) \
    X(threads, void, enif_mutex_destroy, (ErlNifMutex *mtx), 200) \
    X(threads, int, enif_mutex_trylock, (ErlNifMutex *mtx), 200) \
    X(threads, void, enif_mutex_lock, (ErlNifMutex *mtx), 200) \
    X(threads, void, enif_mutex_unlock, (ErlNifMutex *mtx), 200) \
    X(threads, ErlNifCond *, enif_cond_create, (char *name), 200) \
    X(threads, void, enif_cond_destroy, (ErlNifCond *cnd), 200) \
    X(threads, void, enif_cond_signal, (ErlNifCond *cnd), 200) \
    X(threads, void, enif_cond_broadcast, (ErlNifCond *cnd), 200) \
    X(threads, void, enif_cond_wait, (ErlNifCond *cnd, ErlNifMutex *mtx), 200) \
    X(threads, ErlNifRWLock *, enif_rwlock_create, (char *name), 200) \
    X(threads, void, enif_rwlock_destroy, (ErlNifRWLock *rwlck), 200) \
    X(threads, int, enif_rwlock_tryrlock, (ErlNifRWLock *rwlck), 200) \
    X(threads, void, enif_rwlock_rlock, (ErlNifRWLock *rwlck), 200) \
    X(threads, void, enif_rwlock_runlock, (ErlNifRWLock *rwlck), 200) \
    X(threads, int, enif_rwlock_tryrwlock, (ErlNifRWLock *rwlck), 200) \
    X(threads, void, enif_rwlock_rwlock, (ErlNifRWLock *rwlck), 200) \
    X(threads, void, enif_rwlock_rwunlock, (ErlNifRWLock *rwlck), 200) \
    X(threads, int, enif_tsd_key_create, (char *name, ErlNifTSDKey *key), 200) \
    X(threads, void, enif_tsd_key_destroy, (ErlNifTSDKey key), 200) \
    X(threads, void, enif_tsd_set, (ErlNifTSDKey key, void *data), 200) \
    X(threads, void *, enif_tsd_get, (ErlNifTSDKey key), 200) \
    X(threads, ErlNifThreadOpts *, enif_thread_opts_create, (char *name), 200) \
    X(threads, void, enif_thread_opts_destroy, (ErlNifThreadOpts *opts), 200) \
    X(threads, int, enif_thread_create, \
      (char *name, ErlNifTid *tid, void *(*func)(void *), void *args, \
       ErlNifThreadOpts *opts), 200) \
    X(threads, ErlNifTid, enif_thread_self, (void), 200) \
    X(threads, int, enif_equal_tids, (ErlNifTid tid1, ErlNifTid tid2), 200) \
    X(threads, void, enif_thread_exit, (void *resp), 200) \
    X(threads, int, enif_thread_join, (ErlNifTid tid, void **respp), 200) \
    X(threads, char *, enif_mutex_name, (ErlNifMutex *mtx), 214) \
    X(threads, char *, enif_cond_name, (ErlNifCond *cnd), 214) \
    X(threads, char *, enif_rwlock_name, (ErlNifRWLock *rwlck), 214) \
    X(threads, char *, enif_thread_name, (ErlNifTid tid), 214)

/*
 * Time.
 *
 * Monotonic time plus time offset is system time. ERL_NIF_TIME_ERROR for an unknown unit; the BEAM
 * says it on threads that are no schedulers, too. enif_now_time() is the {MegaSecs, Secs,
 * MicroSecs} of erlang:now(); enif_cpu_time() the same shape for the process' CPU time. Inside a
 * callback for a replayed event these read the recorded clock.
 *
 * On failure: ERL_NIF_TIME_ERROR.
 */
#define TH_NIF_TIME(X) \
    X(time, ErlNifTime, enif_monotonic_time, (ErlNifTimeUnit unit), 210) \
    X(time, ErlNifTime, enif_time_offset, (ErlNifTimeUnit unit), 210) \
    X(time, ErlNifTime, enif_convert_time_unit, \
      (ErlNifTime val, ErlNifTimeUnit from, ErlNifTimeUnit to), 210) \
    X(time, ERL_NIF_TERM, enif_now_time, (ErlNifEnv *env), 211) \
    X(time, ERL_NIF_TERM, enif_cpu_time, (ErlNifEnv *env), 211)

/*
 * References, unique integers, hashes.
 *
 * ERL_NIF_PHASH2 is erlang:phash2/1, the same on every node and release, and ignores the salt;
 * ERL_NIF_INTERNAL_HASH is salted, quicker, and good only within this run.
 *
 * On failure: 0 for an unknown hash.
 */
#define TH_NIF_UNIQUE(X) \
    X(unique, ERL_NIF_TERM, enif_make_ref, (ErlNifEnv *env), 200) \
    X(unique, ERL_NIF_TERM, enif_make_unique_integer, \
      (ErlNifEnv *env, ErlNifUniqueInteger properties), 211) \
    X(unique, ErlNifUInt64, enif_hash, \
      (ErlNifHash type, ERL_NIF_TERM term, ErlNifUInt64 salt), 212)

/*
 * The system around.
 *
 * enif_system_info() fills the first `si_size` bytes at most, so that older libraries get the
 * shorter structure that they know. enif_dlopen() adds ".so" to the name, whatever it ends in; it
 * and enif_dlsym() hand error text to the handler, unless that is NULL.
 * enif_getenv() returns 0 for success, positive with the needed size if the buffer is too small,
 * negative if the variable is not set. enif_set_option() is for `load` and `upgrade`, each option
 * once, 0 for success: on_halt is called at the program's end, functions that then run are waited
 * for with DELAY_HALT, on_unload_thread is called by each scheduler before `unload`.
 *
 * On failure: NULL, or non-zero.
 */
#define TH_NIF_SYSTEM(X) \
    X(system, void, enif_system_info, (ErlNifSysInfo *sip, size_t si_size), 200) \
    X(system, void *, enif_dlopen, \
      (const char *lib, void (*err_handler)(void *, const char *), void *err_arg), 204) \
    X(system, void *, enif_dlsym, \
      (void *handle, const char *symbol, void (*err_handler)(void *, const char *), \
       void *err_arg), 204) \
    X(system, int, enif_getenv, (const char *key, char *value, size_t *value_size), 209) \
    X(system, int, enif_set_option, (ErlNifEnv *env, ErlNifOption opt, ...), 217)

/*
 * Printing.
 *
 * As the C functions without enif_, plus %T, which takes an ERL_NIF_TERM and prints it as a BEAM's
 * %T does; %#T prints it as io:format("~0p") does, which a BEAM takes for %T. The v functions take the arguments as a va_list. Because of %T no declaration carries the
 * printf attribute: a compiler that checked these formats would refuse the good ones.
 *
 * On failure: negative.
 */
#define TH_NIF_PRINTF(X) \
    X(printf, int, enif_fprintf, (FILE *filep, const char *format, ...), 200) \
    X(printf, int, enif_snprintf, (char *buffer, size_t size, const char *format, ...), 211) \
    X(printf, int, enif_vfprintf, (FILE *filep, const char *format, va_list ap), 214) \
    X(printf, int, enif_vsnprintf, \
      (char *buffer, size_t size, const char *format, va_list ap), 214)

/* clang-format on */

#endif
