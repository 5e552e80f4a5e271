/* Dividing the memory limit: see job.h. The figures are measured, with a margin; the tests of the
 * ingest compare peak resident sets with the limit. */
#include "ingest/images/job.h"

#define MIB (INT64_C(1) << 20)
/* Uncounted memory: heap arenas, fragmentation, page tables, the JSON being written. */
#define SLACK_BYTES (6 * MIB)
/* Of a thread: its stack, its arena, and what the heap keeps of freed blocks. */
#define THREAD_BYTES (3 * MIB / 2)
/* Enough for a picture of a few megapixels that is decoded row by row; with less for each thread,
 * fewer threads read. */
#define PICTURE_BYTES (MIB)
/* Of an entry of the data set and its name's NUL, apart from the name, and of the hashes that are
 * sorted at the end. */
enum { ENTRY_BYTES = 40 };
#define PART_BYTES (INT64_C(192) << 10)
enum { PART_MAX = 16 };
/* The process, where the system does not tell. */
#define PROCESS_BYTES (24 * MIB)

int leat_images_part(int32_t size) {
    int64_t count = PART_BYTES / leat_image_bytes(size);
    return count < 1 ? 1 : count > PART_MAX ? PART_MAX : (int)count;
}

static int64_t thread_bytes(int32_t size) {
    /* the parts of a resizer are as large as the largest picture's, each */
    return THREAD_BYTES + LEAT_IMAGE_KEPT_FILE_BYTES + 2 * LEAT_IMAGE_KEPT_RESIZE_BYTES +
           leat_images_part(size) * leat_image_bytes(size);
}

/* What is left for pictures; negative: it does not fit. */
static int64_t budget_of(const leat_images_memory *plan) {
    const int64_t archive = leat_zip_memory(plan->files, plan->names_bytes);
    int64_t fixed = plan->resident_bytes + SLACK_BYTES + plan->files * ENTRY_BYTES +
                    plan->names_bytes + plan->threads * thread_bytes(plan->size);
    if (plan->is_zip) fixed += (plan->archives - 1) * archive;
    return plan->limit_bytes - fixed;
}

/* As many threads as have memory for a picture each; then as many archives as are open at no cost
 * for them: each is read by one thread at a time. */
static void divide(leat_images_memory *plan, int64_t limit_bytes) {
    plan->limit_bytes = limit_bytes;
    plan->threads = plan->threads_wanted;
    plan->archives = 1;
    while (plan->threads > 1 && budget_of(plan) < plan->threads * PICTURE_BYTES) plan->threads--;
    while (plan->is_zip && plan->archives < plan->threads) {
        plan->archives++;
        if (budget_of(plan) >= 4 * plan->threads * PICTURE_BYTES) continue;
        plan->archives--;
        break;
    }
    plan->budget_bytes = budget_of(plan);
}

leat_code leat_images_memory_plan(const leat_image_list *list, int32_t size, int threads,
                                  int64_t limit_bytes, leat_images_memory *plan, leat_error *err) {
    int64_t resident = leat_rss_bytes();
    *plan = (leat_images_memory){
        .threads_wanted = threads,
        .size = size,
        .is_zip = list->is_zip,
        .files = list->count,
        .names_bytes = list->names.size,
        .resident_bytes = resident < 0 ? PROCESS_BYTES : resident,
    };
    divide(plan, limit_bytes);
    if (plan->budget_bytes >= PICTURE_BYTES) return LEAT_OK;
    return leat_fail(
        err, LEAT_ERR_LIMIT,
        "the memory limit of %lld MiB is too low: these %lld files require at least %lld MiB",
        (long long)(limit_bytes / MIB), (long long)list->count,
        (long long)leat_images_memory_for(plan, PICTURE_BYTES));
}

/* A higher limit may be divided among more threads, which leaves less for a picture; and the
 * process is not of the same size in every run. */
int64_t leat_images_memory_for(const leat_images_memory *plan, int64_t need_bytes) {
    leat_images_memory other = *plan;
    other.resident_bytes += MIB;
    int64_t mib = (plan->limit_bytes - plan->budget_bytes + need_bytes) / MIB;
    do divide(&other, ++mib * MIB);
    while (other.budget_bytes < need_bytes);
    return mib;
}
