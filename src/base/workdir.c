/*
 * Work folders: see workdir.h. Folders are walked by descriptor, without following links, and in
 * two passes: one that only looks, and may refuse, and one that removes what the first has found to
 * be leat's. The mark is removed last, so an interrupted removal is repeated by the next run.
 */
#include "base/workdir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/json.h"
#include "base/random.h"

#define MARK_FORMAT "leat work folder"
#define MARK_VERSION 1
#define MARK_BYTES_MAX (LEAT_PATH_BYTES + 512)
#define TEMP_PREFIX LEAT_WORKDIR_TEMP "/"
/* Work folders are three deep; a list of names that is deeper is a mistake. */
#define DEPTH_MAX 8
#define RUN_DIGITS 16

/* ---- names ---- */

static bool matches(const char *pattern, const char *name) {
    for (; *pattern != 0 && *pattern != '*'; pattern++, name++) {
        if (*pattern != *name) return false;
    }
    if (*pattern == 0) return *name == 0;
    for (;; name++) {
        if (matches(pattern + 1, name)) return true;
        if (*name == 0 || *name == '/') return false;
    }
}

/* The final name of a draft: "x" for the shard "x.tmp" that is being written, for any other file
 * the name that leat_path_draft was given. */
static bool draft_of(const char *name, char of[LEAT_PATH_BYTES]) {
    const char *slash = strrchr(name, '/'), *base = slash == NULL ? name : slash + 1;
    size_t folder = (size_t)(base - name), size = strlen(base);
    if (leat_path_is_draft(base)) {
        const size_t ends = sizeof "..leat-0123456789abcdef.tmp" - 1;
        snprintf(of, LEAT_PATH_BYTES, "%.*s%.*s", (int)folder, name, (int)(size - ends), base + 1);
        return true;
    }
    if (!leat_path_has_suffix(name, ".tmp")) return false;
    snprintf(of, LEAT_PATH_BYTES, "%.*s", (int)(folder + size - 4), name);
    return true;
}

bool leat_workdir_lists(leat_workdir_names names, const char *name) {
    for (; *names != NULL; names++) {
        if (matches(*names, name)) return true;
    }
    return false;
}

/* A name relative to the work folder; a draft counts by its final name. */
static bool is_known(leat_workdir_names names, const char *name) {
    char of[LEAT_PATH_BYTES];
    return leat_workdir_lists(names, name) || (draft_of(name, of) && leat_workdir_lists(names, of));
}

static bool is_mark(const char *name) {
    static const char *const mark[] = {LEAT_WORKDIR_MARK, NULL};
    return is_known(mark, name);
}

/* ---- walking ---- */

typedef struct walk {
    leat_workdir_names names;
    const char *path;   /* of the folder, for messages */
    const char *prefix; /* prefix of its names in the list: "" or "temp/" */
    const char *last;   /* not removed; NULL: no such file */
    bool remove;
    int64_t seen; /* entries besides the mark */
} walk;

static leat_code refuse(const walk *self, const char *name, const char *what, leat_error *err) {
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "\"%s/%s\" %s; %smove it away, then run the command again", self->path, name,
                     what, self->remove ? "" : "nothing was removed; ");
}

static leat_code unlink_at(const walk *self, int fd, const char *name, const char *relative,
                           int flags, leat_error *err) {
    if (LEAT_FAULT(LEAT_FAULT_PATH)) errno = EIO;
    else if (unlinkat(fd, name, flags) == 0 || errno == ENOENT) return LEAT_OK;
    return leat_fail_errno(err, errno, "cannot remove \"%s/%s\"", self->path, relative);
}

/* Opens the folder `name` in `fd`, not following a link; *out is -1 if it does not exist. */
static leat_code open_folder(int fd, const char *name, const char *path, int *out,
                             leat_error *err) {
    *out = -1;
    if (LEAT_FAULT(LEAT_FAULT_PATH)) errno = EIO;
    else *out = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*out >= 0 || errno == ENOENT) return LEAT_OK;
    if (errno == ELOOP || errno == ENOTDIR)
        return leat_fail(err, LEAT_ERR_EXISTS,
                         "\"%s\" is not a folder, or is a link, which leat neither follows nor "
                         "replaces; move it away, then run the command again",
                         path);
    return leat_fail_errno(err, errno, "cannot open folder \"%s\"", path);
}

static leat_code walk_folder(walk *self, int fd, const char *folder, int depth, leat_error *err);

static leat_code visit_folder(walk *self, int fd, const char *name, const char *relative, int depth,
                              leat_error *err) {
    char listed[LEAT_PATH_BYTES];
    int inside = -1;
    int length = snprintf(listed, sizeof listed, "%s%s/", self->prefix, relative);
    if (depth > DEPTH_MAX || length >= (int)sizeof listed ||
        !leat_workdir_lists(self->names, listed))
        return refuse(self, relative, "is a folder that leat did not create", err);
    LEAT_TRY(open_folder(fd, name, relative, &inside, err));
    if (inside < 0) return LEAT_OK;
    LEAT_TRY(walk_folder(self, inside, listed + strlen(self->prefix), depth + 1, err));
    return self->remove ? unlink_at(self, fd, name, relative, AT_REMOVEDIR, err) : LEAT_OK;
}

static leat_code visit(walk *self, int fd, const char *folder, const char *name, int depth,
                       leat_error *err) {
    char relative[LEAT_PATH_BYTES], listed[LEAT_PATH_BYTES];
    struct stat found;
    if (snprintf(relative, sizeof relative, "%s%s", folder, name) >= (int)sizeof relative ||
        snprintf(listed, sizeof listed, "%s%s", self->prefix, relative) >= (int)sizeof listed)
        return leat_fail(err, LEAT_ERR_LIMIT, "path \"%.64s/%.64s...\" is too long", self->path,
                         folder);
    if (LEAT_FAULT(LEAT_FAULT_PATH)) errno = EIO;
    else if (fstatat(fd, name, &found, AT_SYMLINK_NOFOLLOW) == 0) errno = 0;
    if (errno == ENOENT) return LEAT_OK;
    if (errno != 0)
        return leat_fail_errno(err, errno, "cannot look at \"%s/%s\"", self->path, relative);
    if (S_ISDIR(found.st_mode)) {
        self->seen++;
        return visit_folder(self, fd, name, relative, depth, err);
    }
    if (S_ISLNK(found.st_mode)) return refuse(self, relative, "is a link", err);
    if (!S_ISREG(found.st_mode)) return refuse(self, relative, "is not a regular file", err);
    bool of_mark = depth == 0 && is_mark(name);
    if (!of_mark) self->seen++;
    if (!of_mark && !is_known(self->names, listed))
        return refuse(self, relative, "is a file that leat did not write", err);
    bool stays = strcmp(relative, LEAT_WORKDIR_MARK) == 0 ||
                 (self->last != NULL && strcmp(relative, self->last) == 0);
    return stays || !self->remove ? LEAT_OK : unlink_at(self, fd, name, relative, 0, err);
}

/* Closes fd. */
static leat_code walk_folder(walk *self, int fd, const char *folder, int depth, leat_error *err) {
    leat_path_list names = {0};
    int again = fcntl(fd, F_DUPFD_CLOEXEC, 0); /* listing closes the descriptor */
    leat_code code = again >= 0
                         ? leat_path_list_open(again, self->path, &names, err)
                         : leat_fail_errno(err, errno, "cannot list folder \"%s\"", self->path);
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
        code = visit(self, fd, folder, names.paths[i], depth, err);
    }
    leat_path_list_free(&names);
    close(fd);
    return code;
}

/* *there: whether a folder of that path exists. */
static leat_code walk_path(walk *self, bool *there, leat_error *err) {
    int fd = -1;
    self->seen = 0;
    LEAT_TRY(open_folder(AT_FDCWD, self->path, self->path, &fd, err));
    *there = fd >= 0;
    return *there ? walk_folder(self, fd, "", 0, err) : LEAT_OK;
}

/* ---- the mark ---- */

typedef struct mark {
    uint64_t run;
    char temp[LEAT_PATH_BYTES]; /* "": inside */
    char note[sizeof((leat_workdir *)0)->note];
} mark;

static bool parse_run(const char *text, uint64_t *run) {
    if (strlen(text) != RUN_DIGITS || strspn(text, "0123456789abcdef") != RUN_DIGITS) return false;
    *run = strtoull(text, NULL, 16);
    return *run != 0;
}

/* "<dir>/leat-<run>" */
static leat_code temp_path(const char *dir, uint64_t run, char path[LEAT_PATH_BYTES],
                           leat_error *err) {
    char name[32];
    snprintf(name, sizeof name, "leat-%016" PRIx64, run);
    return leat_path_join(path, LEAT_PATH_BYTES, dir, name, err);
}

/* The folder of a run's temporary files has its number in its name; the path is absolute. */
static bool is_temp_of(const char *path, uint64_t run) {
    char expected[LEAT_PATH_BYTES];
    const char *name = strrchr(path, '/');
    return path[0] == '/' && temp_path("", run, expected, NULL) == LEAT_OK &&
           strcmp(name, expected) == 0;
}

static leat_code parse_mark(const char *text, int64_t size_bytes, const char *path, mark *out,
                            leat_error *err) {
    json_t *root = NULL;
    const char *run = NULL, *temp = NULL, *note = NULL;
    int64_t version = 0;
    LEAT_TRY(leat_json_parse(text, size_bytes, path, &root, err));
    leat_code code = leat_json_expect_string(root, "format", MARK_FORMAT, path, err);
    if (code == LEAT_OK)
        code = leat_json_get_int(root, "version", MARK_VERSION, MARK_VERSION, &version, path, err);
    if (code == LEAT_OK) code = leat_json_get_string(root, "run", &run, path, err);
    if (code == LEAT_OK) code = leat_json_get_string(root, "temp", &temp, path, err);
    if (code == LEAT_OK) code = leat_json_get_string(root, "note", &note, path, err);
    if (code == LEAT_OK &&
        (!parse_run(run, &out->run) || strlen(note) >= sizeof out->note ||
         strlen(temp) >= sizeof out->temp || (temp[0] != 0 && !is_temp_of(temp, out->run))))
        code = leat_fail(err, LEAT_ERR_CORRUPT, "\"%s\" is not the number of a run", path);
    if (code == LEAT_OK) {
        memcpy(out->temp, temp, strlen(temp) + 1);
        memcpy(out->note, note, strlen(note) + 1);
    }
    json_decref(root);
    return code;
}

/* out->run is 0 if the folder has no mark. An invalid mark is LEAT_ERR_EXISTS. */
static leat_code read_mark(const char *dir, mark *out, leat_error *err) {
    char path[LEAT_PATH_BYTES], text[MARK_BYTES_MAX];
    leat_file *file = NULL;
    int64_t size_bytes = 0;
    *out = (mark){0};
    LEAT_TRY(leat_path_join(path, sizeof path, dir, LEAT_WORKDIR_MARK, err));
    leat_error why = {0};
    leat_code code = leat_file_open(&file, path, LEAT_FILE_OWN, &why);
    if (code == LEAT_ERR_NOT_FOUND) return LEAT_OK;
    if (code == LEAT_OK) code = leat_file_size(file, &size_bytes, &why);
    if (code == LEAT_OK && size_bytes > MARK_BYTES_MAX) code = LEAT_ERR_LIMIT;
    if (code == LEAT_OK) code = leat_file_pread(file, text, size_bytes, 0, &why);
    leat_file_close(file);
    if (code == LEAT_OK) code = parse_mark(text, size_bytes, path, out, &why);
    if (code == LEAT_OK) return LEAT_OK;
    *out = (mark){0};
    if (code == LEAT_ERR_MEMORY || code == LEAT_ERR_IO) return leat_error_copy(err, &why);
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "\"%s\" does not mark a work folder of this version of leat; move \"%s\" "
                     "away, or remove it, then run the command again",
                     path, dir);
}

static leat_code save_mark(const char *dir, uint64_t run, const char *temp, const char *note,
                           leat_error *err) {
    char path[LEAT_PATH_BYTES], number[RUN_DIGITS + 1];
    leat_json *json = NULL;
    snprintf(number, sizeof number, "%016" PRIx64, run);
    LEAT_TRY(leat_path_join(path, sizeof path, dir, LEAT_WORKDIR_MARK, err));
    LEAT_TRY(leat_json_create(&json, false, err));
    leat_json_begin_object(json);
    leat_json_member_string(json, "format", MARK_FORMAT);
    leat_json_member_int(json, "version", MARK_VERSION);
    leat_json_member_string(json, "run", number);
    leat_json_member_string(json, "temp", temp);
    leat_json_member_string(json, "note", note);
    leat_json_end_object(json);
    return leat_json_save(json, path, err);
}

/* ---- looking ---- */

/* Without a mark, the folder must be empty or contain only a draft of the mark. */
static leat_code look_unmarked(leat_workdir *dir, leat_error *err) {
    static const char *const nothing[] = {NULL};
    walk looking = {.names = nothing, .path = dir->path, .prefix = ""};
    bool there = false;
    leat_error why = {0};
    leat_code code = walk_path(&looking, &there, &why);
    if (code != LEAT_OK && looking.seen > 0)
        leat_error_context(&why, code, "\"%s\" does not have leat's mark (%s)", dir->path,
                           LEAT_WORKDIR_MARK);
    return code == LEAT_OK ? LEAT_OK : leat_error_copy(err, &why);
}

leat_code leat_workdir_is_marked(const char *dir, const char *name, bool *marked, leat_error *err) {
    char work[LEAT_PATH_BYTES], mark[LEAT_PATH_BYTES];
    leat_path_facts facts;
    *marked = false;
    LEAT_TRY(leat_path_join(work, sizeof work, dir, name, err));
    LEAT_TRY(leat_path_join(mark, sizeof mark, work, LEAT_WORKDIR_MARK, err));
    LEAT_TRY(leat_path_stat(mark, &facts, err));
    *marked = facts.kind == LEAT_PATH_FILE;
    return LEAT_OK;
}

leat_code leat_workdir_look(leat_workdir *dir, const char *path, leat_workdir_names names,
                            leat_error *err) {
    mark found;
    bool there = false;
    int fd = -1;
    *dir = (leat_workdir){.names = names};
    if (snprintf(dir->path, sizeof dir->path, "%s", path) >= (int)sizeof dir->path)
        return leat_fail(err, LEAT_ERR_LIMIT, "path \"%.64s...\" is too long", path);
    LEAT_TRY(open_folder(AT_FDCWD, path, path, &fd, err));
    if (fd < 0) return LEAT_OK;
    close(fd);
    LEAT_TRY(read_mark(path, &found, err));
    if (found.run == 0) return look_unmarked(dir, err);
    walk looking = {.names = names, .path = path, .prefix = ""};
    LEAT_TRY(walk_path(&looking, &there, err));
    dir->run = found.run;
    dir->used = looking.seen > 0;
    dir->temp_elsewhere = found.temp[0] != 0;
    memcpy(dir->note, found.note, sizeof dir->note);
    if (!dir->temp_elsewhere)
        return leat_path_join(dir->temp, sizeof dir->temp, path, LEAT_WORKDIR_TEMP, err);
    memcpy(dir->temp, found.temp, sizeof dir->temp);
    return LEAT_OK;
}

/* ---- beginning ---- */

static leat_code make_temp(const leat_workdir *dir, leat_error *err) {
    if (!dir->temp_elsewhere) return leat_path_make_dir(dir->temp, err);
    if (LEAT_FAULT(LEAT_FAULT_PATH)) errno = EIO;
    else if (mkdir(dir->temp, 0777) == 0) return save_mark(dir->temp, dir->run, "", "", err);
    return leat_fail_errno(err, errno, "cannot make folder \"%s\" for temporary files", dir->temp);
}

leat_code leat_workdir_check_temp_dir(const char *temp_dir, leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(temp_dir, &facts, err));
    if (facts.kind == LEAT_PATH_DIR) return LEAT_OK;
    bool missing = facts.kind == LEAT_PATH_NONE;
    return leat_fail(err, LEAT_ERR_NOT_FOUND,
                     "\"%s\", the folder for temporary files (--temp), %s: %s", temp_dir,
                     missing ? "does not exist" : "is not a folder",
                     missing ? "create it, or give another folder" : "give another folder");
}

static leat_code name_temp(leat_workdir *dir, const char *temp_dir, leat_error *err) {
    char real[LEAT_PATH_BYTES];
    dir->temp_elsewhere = temp_dir != NULL;
    if (temp_dir == NULL)
        return leat_path_join(dir->temp, sizeof dir->temp, dir->path, LEAT_WORKDIR_TEMP, err);
    LEAT_TRY(leat_workdir_check_temp_dir(temp_dir, err));
    LEAT_TRY(leat_path_real(temp_dir, real, err));
    if (!leat_json_is_utf8(real, (int64_t)strlen(real)))
        return leat_fail(err, LEAT_ERR_OPTION,
                         "\"%s\" cannot be the folder for temporary files: its path is not UTF-8; "
                         "give another folder",
                         real);
    return temp_path(real, dir->run, dir->temp, err);
}

leat_code leat_workdir_begin(leat_workdir *dir, const char *temp_dir, const char *note,
                             leat_error *err) {
    LEAT_ASSERT(dir->run == 0 && strlen(note) < sizeof dir->note);
    LEAT_TRY(leat_path_make_dir(dir->path, err));
    leat_code code = LEAT_OK;
    while (dir->run == 0 && code == LEAT_OK) code = leat_random_u64(&dir->run, err);
    if (code == LEAT_OK) code = name_temp(dir, temp_dir, err);
    /* Marked before it is created: whatever ends the run, the next one knows what to remove. */
    if (code == LEAT_OK)
        code = save_mark(dir->path, dir->run, dir->temp_elsewhere ? dir->temp : "", note, err);
    if (code == LEAT_OK) code = make_temp(dir, err);
    if (code == LEAT_OK) return LEAT_OK;
    if (leat_workdir_remove(dir, NULL, NULL) != LEAT_OK) {
        /* the rest has its mark: the next run removes it */
    }
    dir->run = 0;
    return code;
}

leat_code leat_workdir_is_temp(const leat_workdir *dir, const char *temp_dir, bool *same,
                               leat_error *err) {
    char real[LEAT_PATH_BYTES], path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    *same = temp_dir == NULL && !dir->temp_elsewhere;
    if (temp_dir == NULL || !dir->temp_elsewhere) return LEAT_OK;
    LEAT_TRY(leat_path_stat(temp_dir, &facts, err));
    if (facts.kind != LEAT_PATH_DIR) return LEAT_OK;
    LEAT_TRY(leat_path_real(temp_dir, real, err));
    LEAT_TRY(temp_path(real, dir->run, path, err));
    *same = strcmp(path, dir->temp) == 0;
    return LEAT_OK;
}

leat_code leat_workdir_check_temp(const leat_workdir *dir, leat_error *err) {
    mark found;
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(dir->temp, &facts, err));
    bool there = facts.kind == LEAT_PATH_DIR;
    if (there && dir->temp_elsewhere) {
        LEAT_TRY(read_mark(dir->temp, &found, err));
        there = found.run == dir->run;
    }
    if (there) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_NOT_FOUND,
                     "temporary files of the interrupted run are no longer in \"%s\"", dir->temp);
}

/* ---- removing ---- */

/* The folder of temporary files elsewhere: examined, or removed. If it is not marked as belonging
 * to this run, it is not touched, unless it is empty: then the run was killed before it could mark
 * it. */
static leat_code walk_temp(const leat_workdir *dir, bool remove, leat_error *err) {
    static const char *const nothing[] = {NULL};
    mark found;
    bool there = false;
    char path[LEAT_PATH_BYTES];
    walk self = {.names = dir->names, .path = dir->temp, .prefix = TEMP_PREFIX};
    if (!dir->temp_elsewhere) return LEAT_OK;
    LEAT_TRY(read_mark(dir->temp, &found, err));
    if (found.run != dir->run) self.names = nothing;
    LEAT_TRY(walk_path(&self, &there, err));
    if (!there || !remove) return LEAT_OK;
    self.remove = true;
    LEAT_TRY(walk_path(&self, &there, err));
    LEAT_TRY(leat_path_join(path, sizeof path, dir->temp, LEAT_WORKDIR_MARK, err));
    LEAT_TRY(leat_path_remove(path, err));
    return leat_path_remove_dir(dir->temp, err);
}

static leat_code remove_named(const leat_workdir *dir, const char *name, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_join(path, sizeof path, dir->path, name, err));
    return leat_path_remove(path, err);
}

leat_code leat_workdir_remove(leat_workdir *dir, const char *last, leat_error *err) {
    static const char *const nothing[] = {NULL};
    bool there = false;
    walk self = {.names = dir->run != 0 ? dir->names : nothing, .path = dir->path, .prefix = ""};
    LEAT_TRY(walk_path(&self, &there, err));
    LEAT_TRY(walk_temp(dir, false, err));
    LEAT_TRY(walk_temp(dir, true, err));
    if (!there) return LEAT_OK;
    self.remove = true;
    self.last = last;
    LEAT_TRY(walk_path(&self, &there, err));
    if (last != NULL) LEAT_TRY(remove_named(dir, last, err));
    LEAT_TRY(remove_named(dir, LEAT_WORKDIR_MARK, err));
    LEAT_TRY(leat_path_remove_dir(dir->path, err));
    dir->run = 0;
    dir->used = false;
    return LEAT_OK;
}
