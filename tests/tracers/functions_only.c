/* As echo.c, with the promise to look at functions only. */
#include "echo.c"

const char th_tracer_functions_only = 1;
