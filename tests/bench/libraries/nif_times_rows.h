#ifndef NIF_TIMES_ROWS_H
#define NIF_TIMES_ROWS_H

/*
 * Lists the measurements: X(identifier, name, calls, expression). The expression is evaluated CALLS
 * times, with `i` from 0; `c` is the struct call, `a` the struct answer. The terms that one
 * measurement creates fit the processor's first-level cache.
 */
#define KEY(keys) in.keys[i * 7 % MANY]
#define ROWS(X)                                                                                    \
    /* The ten functions that tracers use most. */                                                 \
    X(make_atom, "enif_make_atom", 1000, enif_make_atom(c->env, names[i % NAMES]))                 \
    X(send, "enif_send, of a term of the call", 500,                                               \
      enif_send(c->env, &c->receiver, NULL, c->message))                                           \
    X(send_own, "enif_send, with enif_make_tuple, of an environment of its own", 500, send_own(c)) \
    X(local_pid, "enif_get_local_pid", 1000, enif_get_local_pid(c->env, c->live_term, &a.pid))     \
    X(map_few, "enif_get_map_value, of 4 keys", 1000,                                              \
      enif_get_map_value(c->env, in.few, in.atoms[i % FEW], &a.term))                              \
    X(map_none, "enif_get_map_value, of 4 keys, for one that is not there", 1000,                  \
      enif_get_map_value(c->env, in.few, in.atoms[FEW + i % FEW], &a.term))                        \
    X(map_atoms, "enif_get_map_value, of 1024 atoms", 1024,                                        \
      enif_get_map_value(c->env, in.many_atoms, KEY(atom_keys), &a.term))                          \
    X(map_integers, "enif_get_map_value, of 1024 integers", 1024,                                  \
      enif_get_map_value(c->env, in.many_integers, KEY(integer_keys), &a.term))                    \
    X(same_atom, "enif_is_identical, the same atom", 1000,                                         \
      enif_is_identical(in.atoms[0], in.atoms[0]))                                                 \
    X(other_atom, "enif_is_identical, two atoms", 1000,                                            \
      enif_is_identical(in.atoms[0], in.atoms[1]))                                                 \
    X(same_tuple, "enif_is_identical, equal tuples", 1000,                                         \
      enif_is_identical(in.event, in.same_event))                                                  \
    X(tuple2, "enif_make_tuple, of 2", 1000, enif_make_tuple2(c->env, in.atoms[0], in.atoms[1]))   \
    X(tuple3, "enif_make_tuple, of 3", 1000,                                                       \
      enif_make_tuple3(c->env, in.atoms[0], in.atoms[1], in.atoms[2]))                             \
    X(tuple5, "enif_make_tuple, of 5", 1000,                                                       \
      enif_make_tuple5(c->env, in.atoms[0], in.atoms[1], in.atoms[2], in.atoms[3], in.atoms[4]))   \
    X(alive, "enif_is_process_alive, of a live one", 1000,                                         \
      enif_is_process_alive(c->env, &c->live))                                                     \
    X(dead, "enif_is_process_alive, of a dead one", 1000, enif_is_process_alive(c->env, &c->dead)) \
    X(make_int, "enif_make_int", 1000, enif_make_int(c->env, (int)i))                              \
    X(monotonic, "enif_monotonic_time", 1000, enif_monotonic_time(ERL_NIF_NSEC))                   \
    X(monotonic_us, "enif_monotonic_time, in microseconds", 1000,                                  \
      enif_monotonic_time(ERL_NIF_USEC))                                                           \
    X(get_tuple, "enif_get_tuple", 1000, enif_get_tuple(c->env, in.event, &a.arity, &a.elements))  \
    /* Others: atoms and numbers. */                                                               \
    X(is_atom, "enif_is_atom", 1000, enif_is_atom(c->env, in.atoms[0]))                            \
    X(get_atom, "enif_get_atom", 1000,                                                             \
      enif_get_atom(c->env, in.atoms[i % NAMES], text, sizeof text, ERL_NIF_LATIN1))               \
    X(atom_length, "enif_get_atom_length", 1000,                                                   \
      enif_get_atom_length(c->env, in.atoms[i % NAMES], &a.length, ERL_NIF_LATIN1))                \
    X(existing, "enif_make_existing_atom", 1000,                                                   \
      enif_make_existing_atom(c->env, names[i % NAMES], &a.term, ERL_NIF_LATIN1))                  \
    X(get_int, "enif_get_int", 1000, enif_get_int(c->env, in.integer_keys[0], &a.i))               \
    X(get_uint, "enif_get_uint", 1000, enif_get_uint(c->env, in.integer_keys[0], &a.length))       \
    X(get_long, "enif_get_long", 1000, enif_get_long(c->env, in.integer_keys[0], &a.l))            \
    X(get_big, "enif_get_long, a bignum", 1000, enif_get_long(c->env, in.big, &a.l))               \
    X(get_ulong, "enif_get_ulong", 1000, enif_get_ulong(c->env, in.integer_keys[0], &a.ul))        \
    X(get_double, "enif_get_double", 1000, enif_get_double(c->env, in.fraction, &a.d))             \
    X(make_uint, "enif_make_uint", 1000, enif_make_uint(c->env, i))                                \
    X(make_long, "enif_make_long", 1000, enif_make_long(c->env, i))                                \
    X(make_big, "enif_make_long, a bignum", 1000, enif_make_long(c->env, INT64_MIN))               \
    X(make_ulong, "enif_make_ulong", 1000, enif_make_ulong(c->env, i))                             \
    X(make_double, "enif_make_double", 1000, enif_make_double(c->env, 1.5))                        \
    /* Binaries. */                                                                                \
    X(inspect, "enif_inspect_binary, in the heap", 1000,                                           \
      enif_inspect_binary(c->env, in.bytes, &a.binary))                                            \
    X(inspect_shared, "enif_inspect_binary, shared", 1000,                                         \
      enif_inspect_binary(c->env, in.shared_bytes, &a.binary))                                     \
    X(iolist, "enif_inspect_iolist_as_binary", 500,                                                \
      enif_inspect_iolist_as_binary(c->env, in.iolist, &a.binary))                                 \
    X(new_binary, "enif_make_new_binary, of 20", 500, enif_make_new_binary(c->env, 20, &a.term))   \
    X(make_binary, "enif_make_binary, with enif_alloc_binary of 100", 200, make_binary(c->env))    \
    X(sub_binary, "enif_make_sub_binary", 500,                                                     \
      enif_make_sub_binary(c->env, in.shared_bytes, 10, 100))                                      \
    X(to_external, "enif_term_to_binary, with enif_release_binary", 200, to_external(c->env))      \
    X(from_external, "enif_binary_to_term", 200,                                                   \
      enif_binary_to_term(c->env, in.external.data, in.external.size, &a.term, 0))                 \
    /* Lists and tuples. */                                                                        \
    X(cons, "enif_make_list_cell", 1000, enif_make_list_cell(c->env, in.atoms[0], in.list))        \
    X(uncons, "enif_get_list_cell", 1000,                                                          \
      enif_get_list_cell(c->env, in.list, &a.term, &a.terms[0]))                                   \
    X(list3, "enif_make_list, of 3", 500,                                                          \
      enif_make_list3(c->env, in.atoms[0], in.atoms[1], in.atoms[2]))                              \
    X(list_array, "enif_make_list_from_array, of 8", 300,                                          \
      enif_make_list_from_array(c->env, in.atoms, NAMES))                                          \
    X(reverse, "enif_make_reverse_list, of 8", 300,                                                \
      enif_make_reverse_list(c->env, in.list, &a.term))                                            \
    X(list_length, "enif_get_list_length, of 8", 1000,                                             \
      enif_get_list_length(c->env, in.list, &a.length))                                            \
    X(make_string, "enif_make_string, of 10", 200,                                                 \
      enif_make_string(c->env, "characters", ERL_NIF_LATIN1))                                      \
    X(get_string, "enif_get_string, of 10", 500,                                                   \
      enif_get_string(c->env, in.string, text, sizeof text, ERL_NIF_LATIN1))                       \
    X(tuple_array, "enif_make_tuple_from_array, of 8", 500,                                        \
      enif_make_tuple_from_array(c->env, in.atoms, NAMES))                                         \
    /* Maps. */                                                                                    \
    X(map_binaries, "enif_get_map_value, of 1024 binaries", 1024,                                  \
      enif_get_map_value(c->env, in.many_binaries, KEY(binary_keys), &a.term))                     \
    X(map_size, "enif_get_map_size", 1000, enif_get_map_size(c->env, in.few, &a.size))             \
    X(new_map, "enif_make_new_map", 1000, enif_make_new_map(c->env))                               \
    X(put_few, "enif_make_map_put, to 4 keys", 200,                                                \
      enif_make_map_put(c->env, in.few, in.atoms[FEW], in.atoms[0], &a.term))                      \
    X(update_few, "enif_make_map_update, of 4 keys", 200,                                          \
      enif_make_map_update(c->env, in.few, in.atoms[0], in.atoms[0], &a.term))                     \
    X(remove_few, "enif_make_map_remove, of 4 keys", 200,                                          \
      enif_make_map_remove(c->env, in.few, in.atoms[0], &a.term))                                  \
    X(put_many, "enif_make_map_put, to 1024 keys", 2,                                              \
      enif_make_map_put(c->env, in.many_atoms, in.atoms[0], in.atoms[0], &a.term))                 \
    X(put_all, "enif_make_map_put, each of 1024 keys into one map", 1, put_all(c->env, MANY))      \
    X(put_some, "enif_make_map_put, each of 100 keys into one map", 1, put_all(c->env, 100))       \
    X(from_arrays, "enif_make_map_from_arrays, of 4", 200,                                         \
      enif_make_map_from_arrays(c->env, in.atoms, in.atoms, FEW, &a.term))                         \
    X(from_arrays_many, "enif_make_map_from_arrays, of 1024", 1,                                   \
      enif_make_map_from_arrays(c->env, in.atom_keys, in.atom_keys, MANY, &a.term))                \
    X(iterate_few, "enif_map_iterator_next, over 4 keys", 200, iterate(c->env, in.few))            \
    X(iterate_many, "enif_map_iterator_next, over 1024 keys", 1, iterate(c->env, in.many_atoms))   \
    /* Any term. */                                                                                \
    X(term_type, "enif_term_type", 1000, enif_term_type(c->env, in.event))                         \
    X(compare_atoms, "enif_compare, two atoms", 1000, enif_compare(in.atoms[0], in.atoms[1]))      \
    X(compare_tuples, "enif_compare, two tuples", 1000, enif_compare(in.event, in.other_event))    \
    X(internal_hash, "enif_hash, ERL_NIF_INTERNAL_HASH", 500,                                      \
      enif_hash(ERL_NIF_INTERNAL_HASH, in.event, 1))                                               \
    X(phash2, "enif_hash, ERL_NIF_PHASH2", 500, enif_hash(ERL_NIF_PHASH2, in.event, 0))            \
    X(copy, "enif_make_copy", 200, enif_make_copy(c->env, in.event))                               \
    X(print, "enif_snprintf, with %T", 200, enif_snprintf(text, sizeof text, "%T", in.event))      \
    /* Processes, time. */                                                                         \
    X(self, "enif_self", 1000, enif_self(c->env, &a.pid))                                          \
    X(self_alive, "enif_is_current_process_alive", 1000, enif_is_current_process_alive(c->env))    \
    X(time_offset, "enif_time_offset", 1000, enif_time_offset(ERL_NIF_NSEC))                       \
    X(convert, "enif_convert_time_unit", 1000,                                                     \
      enif_convert_time_unit(i, ERL_NIF_NSEC, ERL_NIF_USEC))                                       \
    X(now, "enif_now_time", 500, enif_now_time(c->env))                                            \
    X(cpu, "enif_cpu_time", 300, enif_cpu_time(c->env))                                            \
    X(unique, "enif_make_unique_integer", 300,                                                     \
      enif_make_unique_integer(c->env, ERL_NIF_UNIQUE_POSITIVE))                                   \
    X(reference, "enif_make_ref", 500, enif_make_ref(c->env))                                      \
    /* Environments, memory, resources. */                                                         \
    X(env, "enif_alloc_env, with enif_free_env", 200, enif_free_env(enif_alloc_env()))             \
    X(clear_env, "enif_clear_env", 1000, enif_clear_env(c->message_env))                           \
    X(priv_data, "enif_priv_data", 1000, enif_priv_data(c->env))                                   \
    X(alloc, "enif_alloc, with enif_free, of 100", 500, enif_free(enif_alloc(100)))                \
    X(mutex, "enif_mutex_lock, with enif_mutex_unlock", 500, lock_and_unlock())                    \
    X(rwlock, "enif_rwlock_rlock, with enif_rwlock_runlock", 500, read_lock_and_unlock())          \
    X(tsd, "enif_tsd_get", 1000, enif_tsd_get(in.tsd))                                             \
    X(thread_self, "enif_thread_self", 1000, enif_thread_self())                                   \
    X(thread_type, "enif_thread_type", 1000, enif_thread_type())                                   \
    X(timeslice, "enif_consume_timeslice", 1000, enif_consume_timeslice(c->env, 1))                \
    X(whereis, "enif_whereis_pid", 500, enif_whereis_pid(c->env, in.atoms[0], &a.pid))             \
    X(system_info, "enif_system_info", 200, enif_system_info(&a.info, sizeof a.info))              \
    X(monitor, "enif_monitor_process, with enif_demonitor_process", 100, watch(c))                 \
    X(exception, "enif_has_pending_exception", 1000, enif_has_pending_exception(c->env, &a.term))  \
    X(get_resource, "enif_get_resource", 1000,                                                     \
      enif_get_resource(c->env, in.resource, in.type, &a.object))                                  \
    X(make_resource, "enif_make_resource", 300, enif_make_resource(c->env, in.object))             \
    X(alloc_resource, "enif_make_resource, with enif_alloc_resource of 64", 200,                   \
      make_object(c->env))

#endif
