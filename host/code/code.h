/*
 * The face of code/: loads, replaces and removes modules and their functions while the functions
 * run. Its code modification permission guards changes of breakpoints, too.
 *
 *   loading.h        th_code_prepare(), th_code_finish(): a list of modules becomes callable at
 *                    one instant; purging. Begin here.
 *   export.h         struct th_export: module, function and arity, permanent; struct th_callee: the
 *                    function that a call reaches now
 *   instance.h       struct th_instance: the code of a module from one load, with a count of the
 *                    calls and continuations in it
 *   index.h          the three code indices, of which external calls read one
 *   permission.h     the code modification permission; struct th_modification: a change in steps,
 *                    with grace periods between them
 *
 * Thread: any thread prepares, calls, and requests the permission. Finishing, deleting and purging
 * wait for the permission and for a grace period; the thread must be allowed to wait
 * (th_code_permission_may_wait()). Callees and instances are found in a reader section (progress/)
 * and stay valid after the section only if the thread has entered the instance.
 */
#ifndef TH_CODE_H
#define TH_CODE_H

#include "export.h"
#include "instance.h"
#include "loading.h"
#include "permission.h"

#endif
