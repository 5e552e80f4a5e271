/*
 * Libraries opened at run time: the first that can be loaded, none, one without a function that is
 * called, so too old. glibc's own libraries are at hand everywhere.
 */
#include "base/library.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "check.h"

#define ABSENT "libleat_absent.so.1"
#define MATH "libm.so.6"
#define RARE "libanl.so.1" /* of glibc, and rarely loaded */

typedef struct numbers {
    int before;
    double (*cosine)(double);
    double (*root)(double);
    int after;
} numbers;

static double own_cosine(double value) { return value + 1; }
static double own_root(double value) { return value / 7; }

#define LINK_COSINE 1
#define ROW(name, member, link, symbol)                                                            \
    { name, offsetof(numbers, member), LEAT_LINKED(link, symbol) }

static const leat_library_function known[] = {
    ROW("cos", cosine, 0, no_symbol), ROW("sqrt", root, 0, no_symbol), {0}};
static const leat_library_function unknown[] = {
    ROW("cos", cosine, 0, no_symbol), ROW("leat_absent", root, 0, no_symbol), {0}};
static const leat_library_function linked[] = {
    ROW("cos", cosine, LINK_COSINE, own_cosine), ROW("leat_absent", root, 1, own_root), {0}};
static const leat_library_function nothing[] = {{0}};

static const struct {
    leat_library library;
    const char *message; /* NULL: it is found */
} cases[] = {
    {{.name = "libm", .files = {MATH}, .functions = known}, NULL},
    {{.name = "libm", .files = {ABSENT, MATH}, .functions = known}, NULL},
    {{.name = "libm", .files = {MATH, ABSENT}, .functions = known}, NULL},
    {{.name = "libabsent",
      .least = "2",
      .files = {ABSENT, "libleat_absent.so.2"},
      .use = "cosines are computed with",
      .package = "absent2",
      .functions = known},
     "cosines are computed with libabsent, which is not installed here; install it (Debian: "
     "absent2)"},
    {{.name = "libabsent",
      .least = "2",
      .files = {ABSENT},
      .use = "cosines are computed with",
      .package = "absent2",
      .otherwise = ", or look them up in a table",
      .functions = known},
     "cosines are computed with libabsent, which is not installed here; install it (Debian: "
     "absent2), or look them up in a table"},
    {{.name = "libm", .least = "9.1", .files = {MATH}, .functions = unknown},
     "this libm does not have the function leat_absent; install libm 9.1 or newer"},
    /* one that is too old is not passed over for another: its message says what to do */
    {{.name = "libm", .least = "9.1", .files = {MATH, ABSENT}, .functions = unknown},
     "this libm does not have the function leat_absent; install libm 9.1 or newer"},
};

static double wrong(double value) { return value + 7; }

static void opens(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_error err = {0};
        numbers with = {1, wrong, wrong, 2};
        void *handle = &with;
        leat_code code = leat_library_open(&handle, &cases[i].library, &with, &err);
        assert_true(with.before == 1 && with.after == 2);
        if (cases[i].message == NULL) {
            assert_int_equal(code, LEAT_OK);
            assert_true(with.cosine(0) == 1 && with.root(49) == 7);
            assert_non_null(strstr(leat_library_path(handle), "/" MATH));
        } else {
            assert_int_equal(code, LEAT_ERR_UNSUPPORTED);
            assert_string_equal(err.message, cases[i].message);
            assert_null(handle);
            assert_true(with.cosine == NULL && with.root == NULL);
        }
        leat_library_close(handle);
    }
}

/* A library that the build links: no file is looked for, whatever is installed. */
static void is_linked(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        const leat_library library = {
            .name = "libm", .files = {i == 0 ? ABSENT : MATH}, .functions = linked};
        numbers with = {1, wrong, wrong, 2};
        void *handle = NULL;
        assert_int_equal(leat_library_open(&handle, &library, &with, NULL), LEAT_OK);
        assert_non_null(handle);
        assert_true(with.cosine(0) == 1 && with.cosine(3) == 4 && with.root(49) == 7);
        assert_true(with.before == 1 && with.after == 2);
        assert_string_equal(leat_library_path(handle), "linked");
        leat_library_close(handle);
    }
}

static void loads_and_binds(void **state) {
    (void)state;
    char path[] = "/tmp/leat-library-XXXXXX";
    const char *problem = "before";
    numbers with = {1, wrong, wrong, 2};
    assert_null(leat_library_load(ABSENT, false, &problem));
    assert_null(problem); /* there is no such file */
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, "text", 4) == 4 && close(file) == 0);
    assert_null(leat_library_load(path, false, &problem));
    assert_non_null(problem);
    assert_non_null(strstr(problem, path));
    unlink(path);
    void *handle = leat_library_load(MATH, false, &problem);
    assert_true(handle != NULL && problem == NULL);
    assert_string_equal(leat_library_bind(handle, unknown, &with), "leat_absent");
    assert_true(with.cosine(0) == 1 && with.root == NULL);
    assert_null(leat_library_bind(handle, known, &with));
    assert_true(with.root(49) == 7 && with.before == 1 && with.after == 2);
    leat_library_close(handle);
}

static bool is_loaded(const char *name) {
    void *handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (handle != NULL) dlclose(handle);
    return handle != NULL;
}

static void stays_or_goes(void **state) {
    void *there = dlopen(RARE, RTLD_NOW);
    (void)state;
    if (there != NULL) dlclose(there);
    if (there == NULL || is_loaded(RARE)) skip(); /* not here, or somebody keeps it */
    for (int stays = 0; stays < 2; stays++) {
        const leat_library rare = {
            .name = "libanl", .files = {RARE}, .stays = stays, .functions = nothing};
        void *handle = NULL;
        assert_int_equal(leat_library_open(&handle, &rare, NULL, NULL), LEAT_OK);
        assert_true(is_loaded(RARE));
        leat_library_close(handle);
        assert_int_equal(is_loaded(RARE), stays);
    }
    leat_library_close(NULL);
}

/* One in the program's folder goes before the system's, where it is said to be there. */
static void is_beside(void **state) {
    char self[LEAT_PATH_BYTES], name[40], path[LEAT_PATH_BYTES + 40];
    (void)state;
    leat_library_find_self(self);
    *strrchr(self, '/') = 0;
    snprintf(name, sizeof name, "libleat_beside_%d.so", (int)getpid());
    snprintf(path, sizeof path, "%s/%s", self, name);
    void *there = dlopen(RARE, RTLD_NOW);
    assert_non_null(there);
    assert_int_equal(symlink(leat_library_path(there), path), 0);
    for (int beside = 0; beside < 2; beside++) {
        const leat_library library = {
            .name = "libanl", .files = {name, MATH}, .beside = beside, .functions = nothing};
        void *handle = NULL;
        assert_int_equal(leat_library_open(&handle, &library, NULL, NULL), LEAT_OK);
        assert_int_equal(strstr(leat_library_path(handle), MATH) == NULL, beside);
        leat_library_close(handle);
    }
    unlink(path);
    dlclose(there);
}

/* What is wrong with the one beside the program is said, though the system has none. */
static void is_damaged(void **state) {
    char self[LEAT_PATH_BYTES], name[40], path[LEAT_PATH_BYTES + 40];
    (void)state;
    leat_library_find_self(self);
    *strrchr(self, '/') = 0;
    snprintf(name, sizeof name, "libleat_damaged_%d.so", (int)getpid());
    snprintf(path, sizeof path, "%s/%s", self, name);
    FILE *file = fopen(path, "w");
    assert_true(file != NULL && fputs("text", file) >= 0 && fclose(file) == 0);
    const leat_library library = {.name = "libdamaged",
                                  .files = {name, ABSENT},
                                  .beside = true,
                                  .use = "cosines are computed with",
                                  .package = "damaged2",
                                  .functions = nothing};
    leat_error err = {0};
    void *handle = NULL;
    const leat_code code = leat_library_open(&handle, &library, NULL, &err);
    unlink(path);
    assert_int_equal(code, LEAT_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "libdamaged, which cannot be loaded: "));
    assert_non_null(strstr(err.message, name));
    assert_non_null(strstr(err.message, "install it anew (Debian: damaged2)"));
}

static void finds_itself(void **state) {
    (void)state;
    char self[LEAT_PATH_BYTES], program[LEAT_PATH_BYTES];
    leat_library_find_self(self);
    assert_true(leat_path_resolve("/proc/self/exe", program));
    assert_string_equal(self, program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens),           cmocka_unit_test(is_linked),
        cmocka_unit_test(loads_and_binds), cmocka_unit_test(stays_or_goes),
        cmocka_unit_test(is_beside),       cmocka_unit_test(is_damaged),
        cmocka_unit_test(finds_itself)};
    return cmocka_run_group_tests_name("libraries", tests, NULL, NULL);
}
