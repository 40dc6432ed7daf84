/*
 * erl_errno_id(): the driver API's names of errno values, which NIF libraries use as well.
 *
 * They are the C names in lower case. A BEAM has no name for a few late ones (and says "unknown"
 * there); the names here are what it would call them.
 */
#include "nif.h"

#include "host/base/base.h"

char *erl_errno_id(int error)
{
    return (char *)th_errno_name(error); /* nobody is to write there */
}
