/*
 * How much memory the control groups of a process allow: texts of /proc/self/cgroup over folders of
 * the test's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/machine.h"
#include "check.h"

#define MIB (INT64_C(1) << 20)
#define UNLIMITED INT64_MAX
/* What version 1 says where there is no limit: the largest number of whole pages. */
#define OLD_UNLIMITED INT64_C(9223372036854771712)

static char top[] = "/tmp/leat_machine_XXXXXX";

/* Writes a file, in folders that are created. */
static void put(const char *root, const char *name, const char *text) {
    char path[LEAT_PATH_BYTES];
    const int begin = snprintf(path, sizeof path, "%s/", root);
    assert_ok(leat_path_make_dir(root, err));
    snprintf(path + begin, sizeof path - (size_t)begin, "%s", name);
    for (char *at = path + begin; (at = strchr(at, '/')) != NULL; at++) {
        *at = 0;
        assert_ok(leat_path_make_dir(path, err));
        *at = '/';
    }
    assert_ok(leat_file_save(path, text, (int64_t)strlen(text), err));
}

typedef struct group_case {
    const char *what;
    const char *groups;
    const char *files[4][2]; /* below the root: name, text */
    int64_t bytes;
} group_case;

static const group_case cases[] = {
    {"no limit anywhere", "0::/\n", {{NULL}}, UNLIMITED},
    {"no groups", "", {{NULL}}, UNLIMITED},

    /* version 2 */
    {"a container: its group is the root", "0::/\n", {{"memory.max", "67108864\n"}}, 64 * MIB},
    {"max", "0::/\n", {{"memory.max", "max\n"}}, UNLIMITED},
    {"a job", "0::/job\n", {{"job/memory.max", "67108864\n"}}, 64 * MIB},
    {"without a line end", "0::/job", {{"job/memory.max", "67108864"}}, 64 * MIB},
    {"a job without the file", "0::/job\n", {{"job/pids.max", "7\n"}}, UNLIMITED},
    {"a job whose folder is hidden", "0::/other\n", {{"job/memory.max", "67108864\n"}}, UNLIMITED},
    {"the group above allows less",
     "0::/slice/job\n",
     {{"slice/job/memory.max", "134217728\n"}, {"slice/memory.max", "67108864\n"}},
     64 * MIB},
    {"the group above allows more",
     "0::/slice/job\n",
     {{"slice/job/memory.max", "67108864\n"}, {"slice/memory.max", "134217728\n"}},
     64 * MIB},
    {"max, in a group with a limit",
     "0::/a/b/c\n",
     {{"a/b/c/memory.max", "max\n"}, {"a/b/memory.max", "max\n"}, {"a/memory.max", "67108864\n"}},
     64 * MIB},
    {"a job with a limit, in a container with a lower one",
     "0::/job\n",
     {{"job/memory.max", "134217728\n"}, {"memory.max", "67108864\n"}},
     64 * MIB},
    {"another job's limit",
     "0::/job\n",
     {{"job2/memory.max", "1\n"}, {"job/memory.max", "67108864\n"}},
     64 * MIB},
    {"colons in a name", "0::/a:b:c\n", {{"a:b:c/memory.max", "67108864\n"}}, 64 * MIB},
    {"not a number", "0::/job\n", {{"job/memory.max", "-1\n"}}, UNLIMITED},
    {"an empty file", "0::/job\n", {{"job/memory.max", ""}}, UNLIMITED},

    /* version 1 */
    {"version 1, a container",
     "4:memory:/\n",
     {{"memory/memory.limit_in_bytes", "67108864\n"}},
     64 * MIB},
    {"version 1, a job",
     "5:cpu,cpuacct:/fast\n4:memory:/job\n1:name=systemd:/\n",
     {{"memory/job/memory.limit_in_bytes", "67108864\n"}, {"fast/memory.max", "1\n"}},
     64 * MIB},
    {"version 1, no limit",
     "4:memory:/job\n",
     {{"memory/job/memory.limit_in_bytes", "9223372036854771712\n"}},
     OLD_UNLIMITED},
    {"version 1, nested",
     "4:memory:/slice/job\n",
     {{"memory/slice/job/memory.limit_in_bytes", "9223372036854771712\n"},
      {"memory/slice/memory.limit_in_bytes", "67108864\n"}},
     64 * MIB},
    {"version 1, mounted with another controller",
     "4:hugetlb,memory,pids:/job\n",
     {{"memory/job/memory.limit_in_bytes", "67108864\n"}},
     64 * MIB},
    {"a controller whose name only contains it",
     "4:memory2,xmemory:/job\n",
     {{"memory/job/memory.limit_in_bytes", "67108864\n"}},
     UNLIMITED},
    {"a container whose groups are hidden",
     "",
     {{"memory/memory.limit_in_bytes", "67108864\n"}},
     64 * MIB},

    /* both: memory is limited by version 1, other things by version 2 */
    {"both versions",
     "4:memory:/job\n0::/session\n",
     {{"memory/job/memory.limit_in_bytes", "67108864\n"}, {"session/pids.max", "9\n"}},
     64 * MIB},
    {"both versions have limits",
     "4:memory:/job\n0::/session\n",
     {{"memory/job/memory.limit_in_bytes", "134217728\n"}, {"session/memory.max", "67108864\n"}},
     64 * MIB},

    /* lines that are not such lines */
    {"a line without groups", "0\n0:\n0::\n0::job\n", {{"job/memory.max", "1\n"}}, UNLIMITED},
    {"a line after an empty one", "\n0::/job\n", {{"job/memory.max", "67108864\n"}}, 64 * MIB},
};

static void limits(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const group_case *of = &cases[i];
        char root[LEAT_PATH_BYTES];
        snprintf(root, sizeof root, "%s/%zu", top, i);
        for (int f = 0; f < 4 && of->files[f][0] != NULL; f++)
            put(root, of->files[f][0], of->files[f][1]);
        const int64_t bytes = leat_machine_group_bytes(of->groups, root);
        if (bytes != of->bytes)
            fail_msg("%s: %lld, not %lld", of->what, (long long)bytes, (long long)of->bytes);
    }
}

/* A path that does not fit is left out, the other lines are not. */
static void a_long_name(void **state) {
    const size_t size = 2 * LEAT_PATH_BYTES;
    char root[LEAT_PATH_BYTES], *groups = malloc(size + 64);
    (void)state;
    assert_non_null(groups);
    snprintf(root, sizeof root, "%s/long", top);
    put(root, "job/memory.max", "67108864\n");
    memset(groups, 'x', size);
    memcpy(groups, "0::/", 4);
    strcpy(groups + size, "\n0::/job\n");
    assert_int_equal(leat_machine_group_bytes(groups, root), 64 * MIB);
    free(groups);
}

/* What this machine says: its groups are whatever they are. */
static void this_machine(void **state) {
    leat_machine machine;
    (void)state;
    leat_machine_look("/", &machine);
    assert_true(machine.cpus >= 1);
    assert_true(machine.memory_bytes > 0);
    assert_true(machine.available_bytes <= machine.memory_bytes);
}

static int set_up(void **state) {
    (void)state;
    return mkdtemp(top) == NULL;
}

static int tear_down(void **state) {
    (void)state;
    return leat_path_remove_tree(top, NULL) != LEAT_OK;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),
        cmocka_unit_test(a_long_name),
        cmocka_unit_test(this_machine),
    };
    return cmocka_run_group_tests_name("base/machine", tests, set_up, tear_down);
}
