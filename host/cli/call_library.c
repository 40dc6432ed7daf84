#include "call_library.h"

static enum th_status load(struct th_library *library, th_term info)
{
    struct th_prepared *prepared = th_code_prepare(library);
    struct th_finish finish = {.prepared = &prepared, .count = 1, .info = info};
    enum th_status status = th_code_finish(&finish);

    if (status != TH_OK)
        th_code_prepared_drop(prepared);
    return status;
}

static enum th_status open_copy(const struct th_search *search, const char *name,
                                struct th_library **library)
{
    char *path;
    enum th_status status = th_library_search_find(search, name, &path);

    if (status != TH_OK)
        return status;
    status = th_library_open_copy(path, library);
    th_free(path);
    return status;
}

static bool is_same_file(const struct th_library *a, const struct th_library *b)
{
    const struct th_examination *one = th_library_examination(a),
                                *other = th_library_examination(b);

    return one->device == other->device && one->inode == other->inode;
}

enum th_status th_cli_call_library_add(const struct th_search *search, const char *name,
                                       th_term info, bool copy)
{
    struct th_library *library;
    struct th_library *there;
    enum th_status status =
        copy ? open_copy(search, name, &library) : th_library_find(search, name, &library);

    if (status != TH_OK)
        return status;
    there = th_code_module_find(th_library_name(library));
    if (!there)
        return load(library, info);
    if (!is_same_file(there, library)) /* the same file once more is as good as once */
        status = th_error_raise(TH_USAGE, "%s and %s are both module %s; one at a time, please",
                                th_library_path(there), th_library_path(library),
                                th_atom_name(th_library_name(library))->text);
    th_library_release(library);
    return status;
}
