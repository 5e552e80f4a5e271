/* The resources of this machine: processors, memory, open files, disk, power. */
#include "base/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

#include "base/error.h"
#include "base/file.h"
#include "base/thread.h"

/* The complete text of a small file of the kernel, read to its end: its reported size is 0. */
static bool read_small(const char *path, char *text, int64_t room) {
    leat_file *file = NULL;
    int64_t size = 0, got = 0;
    if (leat_file_open(&file, path, LEAT_FILE_READ, NULL) != LEAT_OK) return false;
    do {
        if (leat_file_read(file, text + size, room - 1 - size, &got, NULL) != LEAT_OK) break;
        size += got;
    } while (got > 0 && size < room - 1);
    leat_file_close(file);
    text[size] = 0;
    return size > 0;
}

/* "MemAvailable:   123456 kB" in bytes; -1 if it is missing. */
static int64_t meminfo_bytes(const char *text, const char *key) {
    const char *line = strstr(text, key);
    return line == NULL ? -1 : strtoll(line + strlen(key), NULL, 10) * 1024;
}

/* In a folder of control groups, of version 2 and of version 1. */
static const char limit_file[] = "memory.max", limit_file1[] = "memory.limit_in_bytes";

/* A container may allow less than the machine has; "max" and missing files mean no limit. */
static int64_t limit_in(const char *dir, const char *file) {
    char path[LEAT_PATH_BYTES], text[64];
    if (leat_path_join(path, sizeof path, dir, file, NULL) != LEAT_OK) return INT64_MAX;
    bool is_number = read_small(path, text, sizeof text) && text[0] >= '0' && text[0] <= '9';
    return is_number ? strtoll(text, NULL, 10) : INT64_MAX;
}

/* The least limit of a group and of those that it is in: `group` is its path below `root`. */
static int64_t group_bytes(const char *root, const char *file, const char *group) {
    char dir[LEAT_PATH_BYTES];
    int64_t least = limit_in(root, file);
    int size = snprintf(dir, sizeof dir, "%s%s", root, group);
    if (size < 0 || size >= (int)sizeof dir) return least;
    while (strlen(dir) > strlen(root)) {
        int64_t its = limit_in(dir, file);
        if (its < least) least = its;
        *strrchr(dir, '/') = 0;
    }
    return least;
}

/* Whether a list of controllers, "cpu,memory", has that of memory. */
static bool has_memory(const char *list) {
    static const char name[] = "memory";
    for (;;) {
        const size_t its = strcspn(list, ",");
        if (its == sizeof name - 1 && strncmp(list, name, its) == 0) return true;
        if (list[its] == 0) return false;
        list += its + 1;
    }
}

/* The limits of one line, "number:controllers:group"; those of version 2 have no controllers. */
static int64_t line_bytes(const char *line, size_t size, const char *root, const char *root1) {
    char text[LEAT_PATH_BYTES];
    if (size >= sizeof text) return INT64_MAX;
    memcpy(text, line, size);
    text[size] = 0;
    char *controllers = strchr(text, ':');
    char *group = controllers == NULL ? NULL : strchr(++controllers, ':');
    if (group == NULL || group[1] != '/') return INT64_MAX;
    *group++ = 0;
    if (controllers[0] == 0) return group_bytes(root, limit_file, group);
    return has_memory(controllers) ? group_bytes(root1, limit_file1, group) : INT64_MAX;
}

/* In a container the group is the root of what it sees; a batch system's job is in a group below
 * it. */
int64_t leat_machine_group_bytes(const char *groups, const char *root) {
    char root1[LEAT_PATH_BYTES];
    int64_t least = limit_in(root, limit_file);
    if (leat_path_join(root1, sizeof root1, root, "memory", NULL) != LEAT_OK) return least;
    int64_t old = limit_in(root1, limit_file1);
    if (old < least) least = old;
    while (*groups != 0) {
        const size_t size = strcspn(groups, "\n");
        int64_t its = line_bytes(groups, size, root, root1);
        if (its < least) least = its;
        groups += size + (groups[size] != 0);
    }
    return least;
}

static int64_t container_bytes(void) {
    char text[4096];
    if (!read_small("/proc/self/cgroup", text, sizeof text)) text[0] = 0;
    return leat_machine_group_bytes(text, LEAT_MACHINE_GROUPS);
}

void leat_machine_look(const char *path, leat_machine *out) {
    char text[4096];
    struct rlimit limit;
    struct sysinfo system;
    memset(out, 0, sizeof *out);
    out->cpus = leat_cpu_count();
    out->memory_bytes = out->available_bytes = out->open_files_max = -1;
    if (sysinfo(&system) == 0) out->memory_bytes = (int64_t)system.totalram * system.mem_unit;
    if (read_small("/proc/meminfo", text, sizeof text))
        out->available_bytes = meminfo_bytes(text, "MemAvailable:");
    int64_t allowed = container_bytes();
    if (out->memory_bytes > allowed) out->memory_bytes = allowed;
    if (out->available_bytes > allowed) out->available_bytes = allowed;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        out->open_files_max = limit.rlim_cur == RLIM_INFINITY ? INT64_MAX : (int64_t)limit.rlim_cur;
    out->disk_free_bytes = leat_path_free_bytes(path);
    static const char *const pythons[] = {"/usr/local/bin/python3", "/usr/bin/python3"};
    for (size_t i = 0; i < sizeof pythons / sizeof pythons[0] && out->python[0] == 0; i++) {
        leat_path_facts facts;
        if (leat_path_stat(pythons[i], &facts, NULL) == LEAT_OK && facts.kind == LEAT_PATH_FILE)
            snprintf(out->python, sizeof out->python, "%s", pythons[i]);
    }
}

/* ---- power ---------------------------------------------------------------------------------- */

/* Whether a file of a power supply has this word, alone in its only line. */
static bool has_word(const char *folder, const char *supply, const char *file, const char *word) {
    char dir[LEAT_PATH_BYTES], path[LEAT_PATH_BYTES], text[64];
    if (leat_path_join(dir, sizeof dir, folder, supply, NULL) != LEAT_OK ||
        leat_path_join(path, sizeof path, dir, file, NULL) != LEAT_OK ||
        !read_small(path, text, sizeof text))
        return false;
    text[strcspn(text, "\n")] = 0;
    return strcmp(text, word) == 0;
}

bool leat_machine_on_battery(const char *folder) {
    leat_path_list list = {0};
    bool discharging = false, mains = false;
    if (leat_path_list_dir(folder, &list, NULL) != LEAT_OK) return false;
    for (int64_t i = 0; i < list.count; i++) {
        const char *supply = list.paths[i];
        if (has_word(folder, supply, "scope", "Device")) continue;
        if (has_word(folder, supply, "type", "Battery"))
            discharging |= has_word(folder, supply, "status", "Discharging");
        else mains |= has_word(folder, supply, "online", "1");
    }
    leat_path_list_free(&list);
    return discharging && !mains;
}

bool leat_data_exceeds_memory(int64_t size_bytes, int64_t *memory_bytes) {
    leat_machine machine;
    leat_machine_look("/", &machine);
    *memory_bytes = machine.memory_bytes;
    return machine.memory_bytes >= 0 && size_bytes > machine.memory_bytes;
}
