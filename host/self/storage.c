/*
 * The variable th_self. In programs it fills a page of its own, which can be moved into the region
 * that the supervisor sees (th_self_share()); TH_SELF_PAGE is defined there. In libtracehost.so it
 * is small: a library that is opened at run time has little room for thread-local variables.
 */
#include "self_internal.h"

#include "host/base/shared.h"

/* The symbol is defined with another type than self.h declares, so the header's name is another. */
#define th_self th_self_declared
#include "self.h"
_Static_assert(sizeof(struct th_self) <= TH_SHARED_PAGE, "a page is enough");
enum { STRUCT_BYTES = sizeof(struct th_self), STRUCT_ALIGNMENT = _Alignof(struct th_self) };
#undef th_self

#ifdef TH_SELF_PAGE
#define STORAGE char th_self[TH_SHARED_PAGE] __attribute__((aligned(TH_SHARED_PAGE)))
const bool th_self_is_page = true;
#else
#define STORAGE char th_self[STRUCT_BYTES] __attribute__((aligned(STRUCT_ALIGNMENT)))
const bool th_self_is_page = false;
#endif

extern _Thread_local STORAGE __attribute__((tls_model("initial-exec"), visibility("hidden")));
_Thread_local STORAGE;
