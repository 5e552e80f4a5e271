/* Verification of a CAN cache: sizes, page hashes and header of a split's files. */
#include "load/can/verify.h"

/* Tensors of this shape have exactly one valid header, and it ends where the first of them begins.
 */
static leat_code check_header(leat_can_verify *job, const leat_can_meta_split *split,
                              const leat_checks_file *file, leat_error *err) {
    const leat_can_shape shape = {split->graphs, split->nodes, split->edges, job->meta.window,
                                  job->meta.frames};
    const char *const metadata[] = {"format", LEAT_CAN_CACHE_FORMAT};
    leat_tensor tensors[LEAT_CAN_TENSORS];
    leat_buf header = {0};
    leat_error cause = {0};
    int64_t file_bytes = 0, before = job->checks.findings.problems;
    leat_code code = leat_safetensors_plan(tensors, leat_can_tensors(&shape, tensors), metadata, 1,
                                           &header, &file_bytes, &cause);
    if (code != LEAT_OK)
        return leat_checks_tell(&job->checks.findings, file->name, -1, &cause, err);
    bool same = file_bytes == split->file_bytes;
    if (same) code = leat_checks_header(&job->checks, file, header.data, header.size, &same, err);
    if (code == LEAT_OK && !same && job->checks.findings.problems == before)
        LEAT_PROBLEM(&job->checks.findings, file->name, -1,
                     "its header is not that of %lld graphs, %lld nodes and %lld edges",
                     (long long)shape.graphs, (long long)shape.nodes, (long long)shape.edges);
    leat_buf_free(&header);
    return code;
}

leat_code leat_can_verify_bytes(leat_can_verify *job, const leat_can_meta_split *split,
                                leat_error *err) {
    const leat_can_file_name name = leat_can_tensors_name(split);
    const leat_can_file_name pages_name = leat_can_pages_name(split);
    const leat_checks_file file = {job->dir, name.text, pages_name.text,
                                   leat_can_split_file(split)};
    bool intact = false;
    LEAT_TRY(leat_checks_tensor_file(&job->checks, &file, &job->report->file_bytes, &intact, err));
    return intact ? check_header(job, split, &file, err) : LEAT_OK;
}
