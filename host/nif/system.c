/* The system around. */
#include "nif.h"

#include "host/runtime/runtime.h"

/*
 * The versions are those of the OTP release that has the same NIF version, as libraries draw
 * conclusions from them.
 */
void enif_system_info(ErlNifSysInfo *sip, size_t si_size)
{
    static char erts_version[] = "17.0";
    static char otp_release[] = "29";
    ErlNifSysInfo info;

    memset(&info, 0, sizeof info);
    info.driver_major_version = 3;
    info.driver_minor_version = 3;
    info.erts_version = erts_version;
    info.otp_release = otp_release;
    info.thread_support = 1;
    info.smp_support = 1;
    info.async_threads = 1;
    info.scheduler_threads = (int)th_runtime_threads().schedulers;
    info.nif_major_version = ERL_NIF_MAJOR_VERSION;
    info.nif_minor_version = ERL_NIF_MINOR_VERSION;
    info.dirty_scheduler_support = 1;
    memcpy(sip, &info, si_size < sizeof info ? si_size : sizeof info);
}
