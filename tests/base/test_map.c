/* Mapped files: bytes, and what happens when the file is cut while it is mapped. */
/* TSan: files mapped, read and cut by several threads at once. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/map.h"
#include "base/mem.h"
#include "threads.h"

enum { PAGES = 64, PAGE = 4096 };

static char dir[] = "/tmp/leat_map_XXXXXX";

static void make_file(const char *name, char path[64], int pages) {
    snprintf(path, 64, "%s/%s", dir, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int i = 0; i < pages * PAGE; i++) fputc(1 + (i / PAGE) % 200, file);
    fclose(file);
}

static void bytes(void **state) {
    (void)state;
    char path[64];
    leat_map *map = NULL;
    make_file("bytes", path, PAGES);
    assert_int_equal(leat_map_open(&map, path, NULL), LEAT_OK);
    assert_int_equal(leat_map_size(map), PAGES * PAGE);
    assert_string_equal(leat_map_path(map), path);
    for (int i = 0; i < PAGES * PAGE; i++) assert_int_equal(leat_map_data(map)[i], 1 + i / PAGE);
    assert_int_equal(leat_map_check(map, NULL), LEAT_OK);
    assert_int_equal(leat_map_failures(map), 0);
    leat_map_close(map);
    leat_map_close(NULL);
    make_file("empty", path, 0);
    assert_int_equal(leat_map_open(&map, path, NULL), LEAT_OK);
    assert_int_equal(leat_map_size(map), 0);
    assert_int_equal(leat_map_check(map, NULL), LEAT_OK);
    leat_map_close(map);
    leat_error err = {0};
    snprintf(path, sizeof(path), "%s/none", dir);
    assert_int_equal(leat_map_open(&map, path, &err), LEAT_ERR_NOT_FOUND);
    assert_null(map);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(leat_map_open(&map, dir, NULL) == LEAT_OK, 0);
}

/* A map of more bytes than the file has, and of fewer: zeros past its end, and no failure. */
static void sized(void **state) {
    (void)state;
    static const int sizes[] = {1, 3 * PAGE, 5 * PAGE, 7 * PAGE + 5, 70 * PAGE};
    char path[64];
    for (int pages = 0; pages <= 5; pages += 5) {
        make_file("sized", path, pages);
        for (int s = 0; s < 5; s++) {
            leat_map *map = NULL;
            assert_int_equal(leat_map_open_sized(&map, path, sizes[s], NULL), LEAT_OK);
            assert_int_equal(leat_map_size(map), sizes[s]);
            assert_int_equal(leat_map_file_bytes(map), pages * PAGE);
            for (int i = 0; i < sizes[s]; i++) {
                int want = i < pages * PAGE ? 1 + i / PAGE : 0;
                if (leat_map_data(map)[i] != want) fail_msg("byte %d of %d", i, sizes[s]);
            }
            assert_int_equal(leat_map_failures(map), 0);
            leat_map_close(map);
        }
    }
    leat_map *map = NULL;
    assert_int_equal(leat_map_create_empty(&map, "somewhere", NULL), LEAT_OK);
    assert_string_equal(leat_map_path(map), "somewhere");
    assert_int_equal(leat_map_size(map), 0);
    assert_int_equal(leat_map_check(map, NULL), LEAT_OK);
    leat_map_close(map);
}

/* ---- fork ---------------------------------------------------------------------------------------
 */

/* A child forked from a process with threads can open a map of its own. */
static void expect_child_maps(const char *path) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        leat_map *map = NULL;
        alarm(120); /* no hang */
        if (leat_map_open(&map, path, NULL) != LEAT_OK) _exit(1);
        leat_map_close(map);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0) fail_msg("the child ended with %x", (unsigned)status);
}

static atomic_bool forks_over;

static void *open_and_close(void *path) {
    while (!atomic_load(&forks_over)) {
        leat_map *map = NULL;
        assert_int_equal(leat_map_open(&map, path, NULL), LEAT_OK);
        leat_map_close(map);
    }
    return NULL;
}

/* While another thread is anywhere in opening and closing maps. */
static void forked(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* it may be in their heap, whose locks do not survive a fork */
#endif
    static char path[64]; /* of the thread, too, if this fails */
    pthread_t thread;
    make_file("forked", path, 1);
    assert_int_equal(pthread_create(&thread, NULL, open_and_close, path), 0);
    for (int i = 0; i < 300; i++) expect_child_maps(path);
    atomic_store(&forks_over, true);
    pthread_join(thread, NULL);
}

/* The same with a thread that stops where it holds the lock of maps: leat asks for the size of a
 * page there, and is answered here. Afterwards it touches nothing until the fork is over. */
enum { STOPPED = 1, LEFT, RESTS };
static _Thread_local bool is_to_stop;
static atomic_int holder;                  /* where that thread is */
static atomic_bool fork_begun, fork_ended; /* while that thread is there */

extern long __sysconf(int name);
long sysconf(int name) {
    if (is_to_stop) {
        is_to_stop = false;
        atomic_store(&holder, STOPPED);
        while (!atomic_load(&fork_begun)) usleep(100);
        /* a fork that waits for the lock waits for this; another finds the lock held */
        for (int i = 0; i < 100 && !atomic_load(&fork_ended); i++) usleep(1000);
        atomic_store(&holder, LEFT);
    }
    return __sysconf(name);
}

static void *hold_lock(void *path) {
    leat_map *map = NULL;
    is_to_stop = true;
    leat_code code = leat_map_open(&map, path, NULL);
    atomic_store(&holder, RESTS);
    while (!atomic_load(&fork_ended)) usleep(100);
    leat_map_close(map);
    return code == LEAT_OK ? path : NULL;
}

/* What fork calls first, and at last: then the lock is this thread's, or nobody has asked for it */
static void fork_begins(void) { atomic_store(&fork_begun, true); }
static void fork_comes(void) {
    while (atomic_load(&holder) == LEFT) usleep(100);
}

static void forked_with_lock(void **state) {
    (void)state;
    static char path[64];
    make_file("locked", path, 1);
    assert_int_equal(pthread_atfork(fork_begins, NULL, NULL), 0);
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        void *opened = NULL;
        atomic_store(&holder, 0);
        atomic_store(&fork_begun, false);
        atomic_store(&fork_ended, false);
        assert_int_equal(pthread_create(&thread, NULL, hold_lock, path), 0);
        while (atomic_load(&holder) != STOPPED) {
            if (atomic_load(&holder) == RESTS) fail_msg("no size of a page was asked for");
            usleep(100);
        }
        expect_child_maps(path);
        atomic_store(&fork_ended, true);
        pthread_join(thread, &opened);
        assert_non_null(opened);
    }
}

static void cut(void **state) {
    (void)state;
    char path[64], other[64];
    leat_map *map = NULL, *neighbour = NULL;
    leat_error err = {0};
    make_file("cut", path, PAGES);
    make_file("whole", other, PAGES);
    assert_int_equal(leat_map_open(&map, path, NULL), LEAT_OK);
    assert_int_equal(leat_map_open(&neighbour, other, NULL), LEAT_OK);
    assert_int_equal(truncate(path, 10 * PAGE), 0);
    const volatile uint8_t *data = leat_map_data(map);
    assert_int_equal(data[9 * PAGE], 10);
    assert_int_equal(leat_map_check(map, NULL), LEAT_OK);
    assert_int_equal(data[20 * PAGE + 5], 0);
    assert_int_equal(leat_map_check(map, &err), LEAT_ERR_IO);
    assert_non_null(strstr(err.message, path));
    assert_non_null(strstr(err.message, "byte 81920"));
    assert_int_equal(leat_map_failures(map), 1);
    assert_int_equal(data[20 * PAGE + 7], 0); /* the zeros are there now */
    assert_int_equal(leat_map_failures(map), 1);
    assert_int_equal(data[11 * PAGE], 0);
    assert_int_equal(leat_map_failures(map), 2);
    assert_int_equal(leat_map_check(neighbour, NULL), LEAT_OK);
    leat_map_close(map);
    leat_map_close(neighbour);
    /* a map in the same slot begins without failures */
    assert_int_equal(leat_map_open(&map, other, NULL), LEAT_OK);
    assert_int_equal(leat_map_check(map, NULL), LEAT_OK);
    leat_map_close(map);
}

/* The same in large pages, where the system has them for files: read from the disk, then cut. */
static void large_pages(void **state) {
    (void)state;
    enum { MANY = 4 * 512 + 3 };
    char path[64];
    leat_map *map = NULL;
    make_file("large", path, MANY);
    int fd = open(path, O_RDONLY);
    assert_int_equal(fsync(fd), 0);
    assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    close(fd);
    assert_int_equal(leat_map_open(&map, path, NULL), LEAT_OK);
    leat_map_expect_all(map);
    const volatile uint8_t *data = leat_map_data(map);
    for (int i = MANY - 1; i >= 0; i--) assert_int_equal(data[i * PAGE + i % PAGE], 1 + i % 200);
    assert_int_equal(leat_map_check(map, NULL), LEAT_OK);
    assert_int_equal(truncate(path, 700 * PAGE), 0);
    assert_int_equal(data[699 * PAGE], 1 + 699 % 200);
    assert_int_equal(leat_map_check(map, NULL), LEAT_OK);
    assert_int_equal(data[900 * PAGE], 0);
    assert_int_equal(leat_map_check(map, NULL), LEAT_ERR_IO);
    assert_int_equal(data[5 * PAGE], 6);
    leat_map_close(map);
    make_file("none", path, 0);
    assert_int_equal(leat_map_open(&map, path, NULL), LEAT_OK);
    leat_map_expect_all(map);
    leat_map_close(map);
}

static leat_map *shared_map;
static atomic_int wrong;

/* Reads everything again and again; whatever is no zero must be right, and zeros must be told. */
static leat_code reader(void *context, int index, leat_error *err) {
    (void)err;
    if (index == 0) {
        if (truncate(context, 3 * PAGE) != 0) atomic_fetch_add(&wrong, 1);
        return LEAT_OK;
    }
    for (int round = 0; round < 50; round++) {
        for (int page = 0; page < PAGES; page++) {
            uint8_t byte = ((const volatile uint8_t *)leat_map_data(shared_map))[page * PAGE + 1];
            leat_code code = leat_map_check(shared_map, NULL);
            if (byte != 1 + page && !(byte == 0 && code == LEAT_ERR_IO))
                atomic_fetch_add(&wrong, 1);
        }
    }
    return LEAT_OK;
}

static void threads(void **state) {
    (void)state;
    for (int round = 0; round < 20; round++) {
        char path[64];
        make_file("threads", path, PAGES);
        assert_int_equal(leat_map_open(&shared_map, path, NULL), LEAT_OK);
        assert_int_equal(run_threads(4, reader, path, NULL), LEAT_OK);
        assert_int_equal(atomic_load(&wrong), 0);
        /* the file is cut by now, wherever the readers were */
        const volatile uint8_t *data = leat_map_data(shared_map);
        assert_int_equal(data[(PAGES - 1) * PAGE], 0);
        assert_int_equal(leat_map_check(shared_map, NULL), LEAT_ERR_IO);
        leat_map_close(shared_map);
    }
}

/* Opening and closing others while one is being read. */
static leat_code opener(void *context, int index, leat_error *err) {
    for (int i = 0; i < 200; i++) {
        leat_map *map = NULL;
        LEAT_TRY(leat_map_open(&map, context, err));
        if (leat_map_data(map)[PAGE * (index + 1)] != index + 2) atomic_fetch_add(&wrong, 1);
        leat_map_close(map);
    }
    return LEAT_OK;
}

static void open_close(void **state) {
    (void)state;
    char path[64];
    make_file("open", path, PAGES);
    assert_int_equal(run_threads(3, opener, path, NULL), LEAT_OK);
    assert_int_equal(atomic_load(&wrong), 0);
}

static sigjmp_buf back;
static void own_handler(int number) { siglongjmp(back, number); }

/* A fault in a mapping that is not ours goes to the handler that was there before. */
static int foreign_fault(bool with_handler) {
    char path[64], ours[64];
    leat_map *map = NULL;
    make_file("foreign", path, 2);
    make_file("ours", ours, 2);
    if (with_handler) signal(SIGBUS, own_handler);
    if (leat_map_open(&map, ours, NULL) != LEAT_OK) return 42;
    FILE *file = fopen(path, "rb");
    void *data = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fileno(file), 0);
    if (truncate(path, 0) != 0 || data == MAP_FAILED) return 43;
    if (sigsetjmp(back, 1) != 0) return 0;
    return ((volatile uint8_t *)data)[PAGE] == 77 ? 44 : 45;
}

static void chained(void **state) {
    (void)state;
    for (int with_handler = 0; with_handler < 2; with_handler++) {
        pid_t child = fork();
        if (child == 0) {
            /* the parent's handler is inherited: begin as a program that has none */
            execl("/proc/self/exe", "test_map", with_handler ? "--handler" : "--default", dir,
                  (char *)NULL);
            _exit(9);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (with_handler) {
            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), 0);
        } else {
            /* a sanitizer turns the signal into an exit of its own; never a success */
            int exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
            assert_true(exit_code != 0 && (exit_code < 42 || exit_code > 45));
        }
    }
}

int main(int argc, char **argv) {
    if (argc == 3) { /* the child of `chained` */
        snprintf(dir, sizeof(dir), "%s", argv[2]);
        alarm(120); /* a handler that passes nothing on would fault for ever */
        _exit(foreign_fault(strcmp(argv[1], "--handler") == 0));
    }
    /* before leat's own, which comes with the first map: so it is called after that */
    if (pthread_atfork(fork_comes, NULL, NULL) != 0 || mkdtemp(dir) == NULL) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes),   cmocka_unit_test(sized),
        cmocka_unit_test(forked),  cmocka_unit_test(forked_with_lock),
        cmocka_unit_test(cut),     cmocka_unit_test(large_pages),
        cmocka_unit_test(threads), cmocka_unit_test(open_close),
        cmocka_unit_test(chained),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (leat_path_remove_tree(dir, NULL) != LEAT_OK) return 1;
    return failed;
}
