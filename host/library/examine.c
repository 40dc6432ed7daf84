#include "examine.h"

#include "library_internal.h"

#include "host/base/memory.h"
#include "host/base/shared.h"
#include "host/library/elf/elf_file.h"
#include "plugin_api/nif_module.h"

#include <stdlib.h>
#include <string.h>

/* --- Exported functions ---------------------------------------------------------------------- */

static bool is_exported(const GElf_Sym *symbol)
{
    unsigned bind = GELF_ST_BIND(symbol->st_info);
    unsigned visibility = GELF_ST_VISIBILITY(symbol->st_other);

    return symbol->st_shndx != SHN_UNDEF &&
           (bind == STB_GLOBAL || bind == STB_WEAK || bind == STB_GNU_UNIQUE) &&
           (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

static bool examine_begins_with(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

/* True if NAME, an exported function's and no callback's, looks like one's. Tracers have helpers
 * called trace_something, too, so only names of tags and typing errors count. */
static bool is_doubtful(const char *name)
{
#define NAME(tag, process, port, calls, term, extra) #tag,
    static const char *const tags[] = {TH_TRACER_TAGS(NAME)};
#undef NAME
    const char *rest = examine_begins_with(name, "trace_")     ? name + 6
                       : examine_begins_with(name, "enabled_") ? name + 8
                                                               : NULL;

    for (size_t i = 0; rest && i < sizeof tags / sizeof tags[0]; i++)
        if (strcmp(rest, tags[i]) == 0)
            return true;
    for (size_t i = 0; rest && i < TH_SLOTS; i++)
        if (th_library_suggest_distance(name, th_library_slot_name(i)) <= 2)
            return true;
    return false;
}

static void note_function(struct th_examination *e, const char *name)
{
    for (size_t i = 0; i < TH_SLOTS; i++) {
        if (strcmp(name, th_library_slot_name(i)) == 0) {
            e->plain[i] = true;
            return;
        }
    }
    if (strcmp(name, "nif_init") == 0)
        e->init = "nif_init";
    else if (strcmp(name, "_nif_init") == 0 && !e->init)
        e->init = "_nif_init";
    else if (strcmp(name, "load") == 0)
        e->load = true;
    else if (strcmp(name, "upgrade") == 0)
        e->upgrade = true;
    else if (strcmp(name, "unload") == 0)
        e->unload = true;
    else if (strcmp(name, "th_upgrade_check") == 0)
        e->upgrade_check = true;
    else if (strcmp(name, "save") == 0)
        e->save = true;
    else if (strcmp(name, "merge") == 0)
        e->merge = true;
    else if (strcmp(name, "past_calls") == 0)
        e->past_calls = true;
    else if (is_doubtful(name))
        th_library_names_add(&e->doubtful, name);
}

/* --- All symbols ----------------------------------------------------------------------------- */

static void note_symbol(struct th_examination *e, const GElf_Sym *symbol, const char *name,
                        bool overridable)
{
    if (symbol->st_shndx == SHN_UNDEF) {
        if (GELF_ST_BIND(symbol->st_info) != STB_LOCAL)
            th_elf_import_add(e, name, GELF_ST_BIND(symbol->st_info) == STB_WEAK);
        return;
    }
    if (!is_exported(symbol))
        return;
    if (GELF_ST_TYPE(symbol->st_info) == STT_FUNC || GELF_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
        note_function(e, name);
    if (GELF_ST_TYPE(symbol->st_info) == STT_OBJECT && strcmp(name, "th_tracer_settings") == 0)
        e->settings = symbol->st_size;
    if (GELF_ST_TYPE(symbol->st_info) == STT_OBJECT &&
        strcmp(name, "th_tracer_functions_only") == 0)
        e->functions_only = symbol->st_size == sizeof(char);
    if (GELF_ST_TYPE(symbol->st_info) == STT_OBJECT && strcmp(name, "th_tracer_gathers") == 0)
        e->gathers = symbol->st_size == sizeof(char);
    if (GELF_ST_TYPE(symbol->st_info) == STT_OBJECT && strcmp(name, "th_tracer_past") == 0)
        e->past = symbol->st_size == sizeof(char);
    if (GELF_ST_BIND(symbol->st_info) == STB_GNU_UNIQUE && !e->unique)
        e->unique = th_strdup(name);
    if (overridable && GELF_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT &&
        th_library_program_symbol(name))
        th_library_names_add(&e->overridden, name);
}

static int compare_imports(const void *a, const void *b)
{
    return strcmp(((const struct th_import *)a)->name, ((const struct th_import *)b)->name);
}

static void note_dynamic(struct th_examination *e, const struct th_elf *elf)
{
    uint64_t flags = th_elf_flags(elf, DT_FLAGS), value;
    const char *places;
    GElf_Dyn entry;

    e->static_tls = flags & DF_STATIC_TLS || elf->static_tls; /* no flag on arm64 */
    e->text_relocations = (flags & DF_TEXTREL) || th_elf_dynamic(elf, DT_TEXTREL, &value);
    e->no_delete = th_elf_flags(elf, DT_FLAGS_1) & DF_1_NODELETE;
    e->executable_stack = elf->executable_stack;
    if (th_elf_dynamic(elf, DT_INIT_ARRAYSZ, &value))
        e->constructors = value / sizeof(void *);
    for (size_t i = 0; i < elf->dynamic_count; i++)
        if (gelf_getdyn(elf->dynamic, (int)i, &entry) && entry.d_tag == DT_NEEDED)
            th_library_names_add(&e->needed, th_elf_string(elf, entry.d_un.d_val));
    /* The loader ignores DT_RPATH if there is a DT_RUNPATH. */
    e->inherited_places = !th_elf_dynamic(elf, DT_RUNPATH, &value);
    if (!e->inherited_places || th_elf_dynamic(elf, DT_RPATH, &value)) {
        places = th_elf_string(elf, value);
        e->places = places ? th_strdup(places) : NULL;
    }
}

static void note_sections(struct th_examination *e, const struct th_elf *elf, const char *name,
                          size_t element, struct th_extents *extents)
{
    enum th_elf_found found = th_elf_sections(elf, name, element, extents);

    if (found == TH_ELF_NAMELESS)
        e->nameless_sections = true;
    if (found == TH_ELF_WRONG) {
        extents->count = 0;
        th_library_names_add(&e->damaged, name);
    }
}

static enum th_status check_form(struct th_examination *e, const struct th_elf *elf)
{
    GElf_Sym symbol;
    const char *name;

    e->form = e->init ? TH_LIBRARY_ENTRY : TH_LIBRARY_PLAIN;
    if (e->init)
        return TH_OK;
    for (size_t i = 0; i < TH_SLOTS; i++)
        if (e->plain[i])
            return TH_OK;
    /* A library compiled for linking into a BEAM has MODULE_nif_init instead. */
    for (size_t i = 1; i < elf->symbol_count; i++) {
        size_t length;
        if (!th_elf_symbol(elf, i, &symbol, &name) || !is_exported(&symbol))
            continue;
        length = strlen(name);
        if (length > 9 && strcmp(name + length - 9, "_nif_init") == 0)
            return th_error_raise(TH_REFUSED,
                                  "the library exports %s() instead of nif_init(); compile it "
                                  "without STATIC_ERLANG_NIF",
                                  name);
    }
    return th_error_raise(TH_REFUSED,
                          "the library is neither a plugin nor a tracer: it exports neither "
                          "nif_init(), which ERL_NIF_INIT makes, nor enabled() and trace()");
}

static enum th_status examine(struct th_examination *e, struct th_elf *elf)
{
    static const char host[] = "libtracehost.so";
    uint64_t flags = th_elf_flags(elf, DT_FLAGS_1), value;
    bool to_itself =
        th_elf_dynamic(elf, DT_SYMBOLIC, &value) || (th_elf_flags(elf, DT_FLAGS) & DF_SYMBOLIC);
    GElf_Sym symbol;
    const char *name;

    note_dynamic(e, elf);
    for (size_t i = 1; i < elf->symbol_count; i++)
        if (th_elf_symbol(elf, i, &symbol, &name) && *name)
            note_symbol(e, &symbol, name, elf->referred[i] && !to_itself);
    if (e->import_count > 0)
        qsort(e->imports, e->import_count, sizeof *e->imports, compare_imports);
    th_elf_imports_note(e);
    note_sections(e, elf, TH_SECTION_PATCHABLE, sizeof(uint64_t), &e->patchable);
    note_sections(e, elf, TH_SECTION_LOCALS, sizeof(struct th_local_function), &e->locals);

    if (flags & DF_1_NOOPEN)
        return th_error_raise(TH_REFUSED, "the library was linked with -z nodlopen, which forbids "
                                          "to open it at run time; link it without");
    /* Such a library would load a second host into the process and call that host's functions. */
    for (size_t i = 0; i < e->needed.count; i++)
        if (strncmp(e->needed.items[i], host, strlen(host)) == 0)
            return th_error_raise(
                TH_REFUSED,
                "the library is linked with %s, which is for programs that embed a host; compile "
                "it with `pkg-config --cflags tracehost-plugin` and link it without -ltracehost",
                e->needed.items[i]);
    return check_form(e, elf) ? th_error_status() : th_elf_imports_check(e);
}

enum th_status th_library_examine_copy(const char *path, const char *copy,
                                       const struct stat *original, struct th_examination *result)
{
    struct th_elf elf;
    enum th_status status = th_elf_open(&elf, copy ? copy : path);

    if (!original)
        original = &elf.identity;
    *result = (struct th_examination){
        .path = th_shared_strdup(path),
        .copy = copy ? th_strdup(copy) : NULL,
        .device = original->st_dev,
        .inode = original->st_ino,
        .size = original->st_size,
        .changed = original->st_mtim,
    };
    if (!status) {
        status = examine(result, &elf);
        th_elf_close(&elf);
    }
    return status ? th_error_context("%s was refused", path) : TH_OK;
}

enum th_status th_library_examine(const char *path, struct th_examination *result)
{
    return th_library_examine_copy(path, NULL, NULL, result);
}

void th_library_examination_free(struct th_examination *e)
{
    for (size_t i = 0; i < e->import_count; i++)
        th_free(e->imports[i].name);
    th_free(e->imports);
    th_shared_free(e->path);
    th_free(e->copy);
    th_free(e->patchable.items);
    th_free(e->locals.items);
    th_free(e->places);
    th_free(e->unique);
    th_free(e->leaves);
    th_library_names_free(&e->damaged);
    th_library_names_free(&e->doubtful);
    th_library_names_free(&e->needed);
    th_library_names_free(&e->overridden);
    *e = (struct th_examination){0};
}

bool th_library_examination_is_of(const struct th_examination *e, const struct stat *file)
{
    return file->st_dev == e->device && file->st_ino == e->inode && file->st_size == e->size &&
           file->st_mtim.tv_sec == e->changed.tv_sec && file->st_mtim.tv_nsec == e->changed.tv_nsec;
}

bool th_library_examination_is_current(const struct th_examination *e)
{
    struct stat st;

    return stat(e->path, &st) == 0 && th_library_examination_is_of(e, &st);
}

void th_library_examination_remarks(const struct th_examination *e, struct th_names *remarks)
{
    if (e->unique)
        th_library_names_take(remarks,
                              th_printf("cannot be unloaded: %s is a unique symbol (compile C++ "
                                        "with -fno-gnu-unique)",
                                        e->unique));
    if (e->no_delete)
        th_library_names_add(remarks, "cannot be unloaded: it was linked with -z nodelete");
    if (e->static_tls)
        th_library_names_add(remarks,
                             "its thread-local variables need static memory, of which there is "
                             "little (compile with -fPIC, without -ftls-model=initial-exec)");
    if (e->executable_stack)
        th_library_names_add(remarks, "makes the stacks of the process executable (link with -z "
                                      "noexecstack)");
    if (e->text_relocations)
        th_library_names_add(remarks,
                             "its code is changed while it is loaded (compile with -fPIC)");
    if (e->nameless_sections)
        th_library_names_add(remarks, "its local functions and the places for breakpoints are "
                                      "unknown: the names of its sections were stripped");
    for (size_t i = 0; i < e->damaged.count; i++)
        th_library_names_take(
            remarks, th_printf("its section %s is damaged and ignored", e->damaged.items[i]));
    for (size_t i = 0; i < e->overridden.count; i++)
        th_library_names_take(remarks,
                              th_printf("its symbol %s is replaced by the program's symbol of that "
                                        "name (make it static, or link with -Bsymbolic)",
                                        e->overridden.items[i]));
    if (e->form != TH_LIBRARY_PLAIN)
        return;
    for (size_t i = 0; i < e->doubtful.count; i++)
        th_library_names_take(remarks, th_printf("%s is never called: there is no such callback",
                                                 e->doubtful.items[i]));
}
