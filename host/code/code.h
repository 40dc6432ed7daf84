/*
 * The face of code/: modules and their functions, which are loaded, replaced and removed while they
 * run; and the permission, which also changes of breakpoints take.
 *
 *   loading.h        th_code_prepare(), th_code_finish(): a list of modules becomes callable at
 *                    one instant; purging. Begin here.
 *   export.h         struct th_export: module, function and arity, for ever; struct th_callee: the
 *                    function that a call reaches now
 *   instance.h       struct th_instance: the code of a module from one load, and who is in it
 *   index.h          the three code indices, of which external calls read one
 *   permission.h     the code modification permission; struct th_modification: a change in steps,
 *   with
 *                    grace periods between them
 *
 * Thread: any thread prepares, calls, and asks for the permission. Finishing, deleting and purging
 * wait for the permission and for a grace period, in a thread that may do so
 * (th_code_permission_may_wait()). Callees and instances are found in a reader section (progress/),
 * and stay after that only if the instance was entered.
 */
#ifndef TH_CODE_H
#define TH_CODE_H

#include "export.h"
#include "instance.h"
#include "loading.h"
#include "permission.h"

#endif
