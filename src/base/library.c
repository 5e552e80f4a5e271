/*
 * Opens libraries at run time, the only file that does: see library.h. A version is judged by the
 * functions that it has, because not every library can be asked for its version, and what counts is
 * that all calls lead somewhere.
 */
#include "base/library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PROBLEM_BYTES = 256 };

/* Whether the loader's message is that there is no such file, and not that there is none of those
 * that it needs (glibc names that one alone, musl says what needed it). */
static bool is_absent(const char *path, const char *why) {
    return strstr(why, "No such file") != NULL && strstr(why, path) != NULL &&
           strstr(why, "needed by") == NULL;
}

void *leat_library_load(const char *path, bool stays, const char **problem) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | (stays ? RTLD_NODELETE : 0));
    *problem = NULL;
    if (handle != NULL) return handle;
    const char *why = dlerror();
    if (why != NULL && !is_absent(path, why)) *problem = why;
    return NULL;
}

static const char linked_in = 0; /* its address is the handle of what no file was opened for */

static void set_pointer(void *into, size_t offset, void *symbol) {
    memcpy((char *)into + offset, &symbol, sizeof symbol);
}

const char *leat_library_bind(void *handle, const leat_library_function *functions, void *into) {
    const char *missing = NULL;
    for (int i = 0; functions[i].name != NULL; i++) {
        void *symbol = dlsym(handle, functions[i].name);
        set_pointer(into, functions[i].offset, symbol);
        if (symbol == NULL) missing = functions[i].name;
    }
    return missing;
}

/* Where this code is, which whoever can write there has in his hands anyway. */
static void *load_beside(const char *file, bool stays, const char **problem) {
    char self[LEAT_PATH_BYTES], path[2 * LEAT_PATH_BYTES];
    leat_library_find_self(self);
    char *slash = strrchr(self, '/');
    if (slash == NULL) return NULL;
    *slash = 0;
    snprintf(path, sizeof path, "%s/%s", self, file);
    return leat_library_load(path, stays, problem);
}

/* The first problem of a file beside, if none can be loaded: that is the one which came with leat,
 * so it should have been. The text is the loader's until the next call, so it is copied. */
static void *load(const leat_library *library, char problem[PROBLEM_BYTES]) {
    problem[0] = 0;
    for (int beside = library->beside ? 1 : 0; beside >= 0; beside--) {
        for (int i = 0; library->files[i] != NULL; i++) {
            const char *why = NULL, *file = library->files[i];
            void *found = beside ? load_beside(file, library->stays, &why)
                                 : leat_library_load(file, library->stays, &why);
            if (found != NULL) return found;
            if (why != NULL && beside && problem[0] == 0)
                snprintf(problem, PROBLEM_BYTES, "%s", why);
        }
    }
    return NULL;
}

static leat_code fail_to_load(const leat_library *library, const char *problem, leat_error *err) {
    const char *otherwise = library->otherwise != NULL ? library->otherwise : "";
    if (problem[0] == 0)
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "%s %s, which is not installed here; install it (Debian: %s)%s",
                         library->use, library->name, library->package, otherwise);
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "%s %s, which cannot be loaded: %s; replace what is damaged or missing, or "
                     "install it anew (Debian: %s)%s",
                     library->use, library->name, problem, library->package, otherwise);
}

static void clear(const leat_library_function *functions, void *into) {
    for (int i = 0; functions[i].name != NULL; i++) set_pointer(into, functions[i].offset, NULL);
}

static bool is_linked(const leat_library_function *functions) {
    return functions[0].name != NULL && functions[0].linked != NULL;
}

static void bind_linked(const leat_library_function *functions, void *into) {
    for (int i = 0; functions[i].name != NULL; i++) {
        void (*const function)(void) = functions[i].linked;
        LEAT_ASSERT(function != NULL);
        memcpy((char *)into + functions[i].offset, &function, sizeof function);
    }
}

leat_code leat_library_open(void **handle, const leat_library *library, void *into,
                            leat_error *err) {
    char problem[PROBLEM_BYTES];
    *handle = NULL;
    if (is_linked(library->functions)) {
        bind_linked(library->functions, into);
        *handle = (void *)(uintptr_t)&linked_in;
        return LEAT_OK;
    }
    clear(library->functions, into);
    void *found = load(library, problem);
    if (found == NULL) return fail_to_load(library, problem, err);
    const char *missing = leat_library_bind(found, library->functions, into);
    if (missing == NULL) {
        *handle = found;
        return LEAT_OK;
    }
    clear(library->functions, into);
    leat_library_close(found);
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "this %s does not have the function %s; install %s %s or newer", library->name,
                     missing, library->name, library->least);
}

void leat_library_close(void *handle) {
    if (handle != NULL && handle != &linked_in) dlclose(handle);
}

const char *leat_library_path(void *handle) {
    struct link_map *map = NULL;
    if (handle == &linked_in) return "linked";
    return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != NULL ? map->l_name : "?";
}

void leat_library_find_self(char self[LEAT_PATH_BYTES]) {
    static const char here = 0; /* an address in that file */
    char folder[2 * LEAT_PATH_BYTES], path[3 * LEAT_PATH_BYTES];
    struct link_map *map = NULL;
    Dl_info info;
    self[0] = 0;
    if (dladdr1(&here, &info, (void **)&map, RTLD_DL_LINKMAP) == 0) return;
    if (map->l_name[0] == 0) { /* the program itself */
        leat_path_resolve("/proc/self/exe", self);
        return;
    }
    /* its name may be relative to the working directory at load time; its origin is not */
    void *handle = dlopen(map->l_name, RTLD_NOW | RTLD_NOLOAD);
    if (handle == NULL) return;
    if (dlinfo(handle, RTLD_DI_ORIGIN, folder) == 0) {
        const char *name = strrchr(map->l_name, '/');
        snprintf(path, sizeof path, "%s/%s", folder, name != NULL ? name + 1 : map->l_name);
        leat_path_resolve(path, self);
    }
    dlclose(handle);
}
