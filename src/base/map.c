/*
 * Files mapped for reading that survive a bad disk.
 *
 * Reading a mapped page that the kernel cannot deliver raises SIGBUS, and no check beforehand
 * helps: the file may be truncated a moment later. So one handler, installed with the first
 * mapping, checks whether the address is in a mapping made by leat; if so, it counts a failure
 * there, maps a page of zeros at the address and returns, and the reader, who calls leat_map_check
 * (or compares leat_map_failures) after reading, finds out. Any other SIGBUS goes to the previous
 * handler.
 *
 * The handler may run at any instruction of any thread, so it finds mappings through a table of
 * atomic words that is never freed or locked. scripts/allowed-globals.txt lists it and the few
 * other variables of the library that outlive their function.
 */
#include "base/map.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/mem.h"

/* Linux permits 65,530 mappings per process unless configured otherwise (vm.max_map_count). */
#define MAP_SLOTS 65536

typedef struct map_slot {
    _Atomic uintptr_t base; /* 0: free */
    _Atomic uintptr_t size;
    _Atomic int64_t failures;
    _Atomic int64_t first_failed; /* byte of the file; valid once failures > 0 */
} map_slot;

static struct {
    map_slot slots[MAP_SLOTS];
    _Atomic int used; /* slots at and after this were never used */
    _Atomic uintptr_t page_bytes;
    pthread_mutex_t lock; /* for opening and closing; the handler never takes it */
    int free_hint;
    bool survives_fork; /* the lock is free in a forked child, whichever thread had it */
    struct sigaction previous;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct leat_map {
    uint8_t *data;
    int64_t size_bytes, file_bytes;
    int slot;
    char *path;
};

/* The slot of the mapping that holds this address, or NULL. Only atomic loads: signal-safe. */
static map_slot *find_slot(uintptr_t address, uintptr_t *base) {
    int used = atomic_load(&registry.used);
    for (int i = 0; i < used; i++) {
        map_slot *slot = &registry.slots[i];
        uintptr_t begin = atomic_load(&slot->base);
        if (begin == 0 || address < begin) continue;
        if (address - begin < atomic_load(&slot->size)) {
            *base = begin;
            return slot;
        }
    }
    return NULL;
}

/* The signal that this thread is forwarding: a handler that leat replaced may call leat's in turn.
 */
static _Thread_local const siginfo_t *passing __attribute__((tls_model("initial-exec")));

/* What would have happened without this handler. */
static void pass_on(int number, siginfo_t *info, void *context) {
    bool again = passing == info;
    passing = info;
    bool sent = info->si_code <= 0; /* sent by kill: no instruction runs again */
    if (!again && (registry.previous.sa_flags & SA_SIGINFO) != 0) {
        registry.previous.sa_sigaction(number, info, context);
    } else if (!again && registry.previous.sa_handler != SIG_DFL &&
               registry.previous.sa_handler != SIG_IGN) {
        registry.previous.sa_handler(number);
    } else if (again || !sent || registry.previous.sa_handler == SIG_DFL) {
        /* back to the default: the faulting instruction runs again and ends the process */
        signal(SIGBUS, SIG_DFL);
        if (sent) raise(SIGBUS);
    }
    passing = NULL;
}

static void on_sigbus(int number, siginfo_t *info, void *context) {
    int saved = errno;
    uintptr_t base = 0;
    uintptr_t address = (uintptr_t)info->si_addr;
    map_slot *slot = info->si_code > 0 ? find_slot(address, &base) : NULL;
    if (slot != NULL) {
        uintptr_t page_bytes = atomic_load(&registry.page_bytes);
        uintptr_t page = address & ~(page_bytes - 1);
        /* counted before the zeros appear: a thread that reads them without a signal sees the count
         */
        int64_t none = -1;
        atomic_compare_exchange_strong(&slot->first_failed, &none, (int64_t)(page - base));
        atomic_fetch_add(&slot->failures, 1);
        /* the system call itself: libc does not promise that its function is safe here, and the
         * thread sanitizer, which replaces that function, takes it for a write to the page */
        long zeros = syscall(SYS_mmap, page, page_bytes, PROT_READ,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (zeros == -1) slot = NULL;
    }
    if (slot == NULL) pass_on(number, info, context);
    errno = saved;
}

static void before_fork(void) { pthread_mutex_lock(&registry.lock); }
static void after_fork(void) { pthread_mutex_unlock(&registry.lock); }

/* Under the lock, with every mapping: the program may have replaced the handler. */
static leat_code install(leat_error *err) {
    struct sigaction action, current;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = on_sigbus;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    atomic_store(&registry.page_bytes, (uintptr_t)sysconf(_SC_PAGESIZE));
    if (!registry.survives_fork)
        registry.survives_fork = pthread_atfork(before_fork, after_fork, after_fork) == 0;
    int failed = sigaction(SIGBUS, NULL, &current);
    if (failed == 0 && (current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == on_sigbus) {
        return LEAT_OK;
    }
    if (failed == 0) {
        registry.previous = current;
        failed = sigaction(SIGBUS, &action, NULL);
    }
    if (failed == 0) return LEAT_OK;
    return leat_fail_errno(err, errno, "cannot install the handler of SIGBUS");
}

static leat_code register_map(leat_map *map, leat_error *err) {
    pthread_mutex_lock(&registry.lock);
    leat_code code = install(err);
    int used = atomic_load(&registry.used);
    int found = -1;
    if (code == LEAT_OK) {
        for (int i = registry.free_hint; i < used && found < 0; i++) {
            if (atomic_load(&registry.slots[i].base) == 0) found = i;
        }
        if (found < 0 && used < MAP_SLOTS) found = used;
        if (found < 0) {
            code = leat_fail(err, LEAT_ERR_LIMIT,
                             "cannot map \"%s\": %d files are mapped already; close data sets, or "
                             "ingest with fewer shards",
                             map->path, MAP_SLOTS);
        }
    }
    if (code == LEAT_OK) {
        map_slot *slot = &registry.slots[found];
        registry.free_hint = found + 1;
        atomic_store(&slot->failures, 0);
        atomic_store(&slot->first_failed, -1);
        atomic_store(&slot->size, (uintptr_t)map->size_bytes);
        atomic_store(&slot->base, (uintptr_t)map->data); /* last: now the slot counts */
        if (found == used) atomic_store(&registry.used, used + 1);
        map->slot = found;
    }
    pthread_mutex_unlock(&registry.lock);
    return code;
}

static void unregister_map(const leat_map *map) {
    pthread_mutex_lock(&registry.lock);
    atomic_store(&registry.slots[map->slot].base, 0);
    if (map->slot < registry.free_hint) registry.free_hint = map->slot;
    pthread_mutex_unlock(&registry.lock);
}

/* size_bytes of the file on top of the same number of zeros, which remain where it is shorter. */
static void *map_over_zeros(leat_file *file, int64_t size_bytes, int64_t file_bytes) {
    void *zeros = mmap(NULL, (size_t)size_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (zeros == MAP_FAILED || file_bytes == 0) return zeros;
    void *data = leat_file_mmap(file, zeros, file_bytes);
    if (data == MAP_FAILED) munmap(zeros, (size_t)size_bytes);
    return data;
}

/* Maps an open file; an empty one has no mapping, which is not an error. */
static leat_code map_file(leat_map *map, leat_file *file, int64_t size_bytes, leat_error *err) {
    LEAT_TRY(leat_file_size(file, &map->file_bytes, err));
    map->size_bytes = size_bytes < 0 ? map->file_bytes : size_bytes;
    if (map->size_bytes == 0) return LEAT_OK;
    void *data = MAP_FAILED;
    if (LEAT_FAULT(LEAT_FAULT_ALLOC)) errno = ENOMEM;
    else if (map->file_bytes < map->size_bytes)
        data = map_over_zeros(file, map->size_bytes, map->file_bytes);
    else data = leat_file_mmap(file, NULL, map->size_bytes);
    if (data == MAP_FAILED) {
        return leat_fail_errno(err, errno, "cannot map %lld bytes of \"%s\"",
                               (long long)map->size_bytes, map->path);
    }
    map->data = data;
    /* rows are read at random: reading ahead would fetch pages that are not needed */
    (void)madvise(data, (size_t)map->size_bytes, MADV_RANDOM);
    return register_map(map, err);
}

leat_code leat_map_create_empty(leat_map **out, const char *path, leat_error *err) {
    leat_map *map = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&map, 1, err));
    map->slot = -1;
    leat_code code = leat_strdup(&map->path, path, err);
    if (code != LEAT_OK) {
        leat_map_close(map);
        return code;
    }
    *out = map;
    return LEAT_OK;
}

/* size_bytes below 0: the size of the file. */
static leat_code open_map(leat_map **out, const char *path, int64_t size_bytes, leat_error *err) {
    leat_map *map = NULL;
    leat_file *file = NULL;
    *out = NULL;
    LEAT_TRY(leat_map_create_empty(&map, path, err));
    leat_code code = leat_file_open(&file, path, LEAT_FILE_READ, err);
    if (code == LEAT_OK) code = map_file(map, file, size_bytes, err);
    leat_file_close(file); /* the mapping keeps the file's bytes */
    if (code != LEAT_OK) {
        leat_map_close(map);
        return code;
    }
    *out = map;
    return LEAT_OK;
}

leat_code leat_map_open(leat_map **out, const char *path, leat_error *err) {
    return open_map(out, path, -1, err);
}

leat_code leat_map_open_sized(leat_map **out, const char *path, int64_t size_bytes,
                              leat_error *err) {
    LEAT_ASSERT(size_bytes > 0);
    return open_map(out, path, size_bytes, err);
}

void leat_map_close(leat_map *map) {
    if (map == NULL) return;
    if (map->slot >= 0) unregister_map(map);
    if (map->data != NULL) munmap(map->data, (size_t)map->size_bytes);
    leat_free(map->path);
    leat_free(map);
}

void leat_map_expect_all(const leat_map *map) {
#ifdef MADV_HUGEPAGE
    if (map->data != NULL) (void)madvise(map->data, (size_t)map->size_bytes, MADV_HUGEPAGE);
#else
    (void)map;
#endif
}

void leat_map_fetch(const leat_map *map, int64_t begin, int64_t end) {
    LEAT_ASSERT(begin >= 0 && begin <= end && end <= map->size_bytes);
    int64_t page = begin - begin % sysconf(_SC_PAGESIZE);
    if (end == begin) return;
    void *at = map->data + page;
    (void)madvise(at, (size_t)(end - page), MADV_WILLNEED);
#ifdef MADV_POPULATE_READ
    /* waits for them, and spares whoever reads them a fault for each page */
    (void)madvise(at, (size_t)(end - page), MADV_POPULATE_READ);
#endif
}

const uint8_t *leat_map_data(const leat_map *map) { return map->data; }
int64_t leat_map_size(const leat_map *map) { return map->size_bytes; }
int64_t leat_map_file_bytes(const leat_map *map) { return map->file_bytes; }
const char *leat_map_path(const leat_map *map) { return map->path; }

int64_t leat_map_failures(const leat_map *map) {
    return map->slot < 0 ? 0 : atomic_load(&registry.slots[map->slot].failures);
}

leat_code leat_map_check(const leat_map *map, leat_error *err) {
    if (leat_map_failures(map) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_IO,
                     "\"%s\" cannot be read at byte %lld: the disk failed, or the file was "
                     "truncated while it was open",
                     map->path, (long long)atomic_load(&registry.slots[map->slot].first_failed));
}
