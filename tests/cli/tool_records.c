/* Writes an ArrayRecord file of records of zeros: tool_records FILE COMPRESSION MIB COUNT. */
#include <stdio.h>
#include <stdlib.h>

#include "leat/format.h"

int main(int argc, char **argv) {
    leat_error err = {0};
    leat_ar_writer *writer = NULL;
    leat_ar_options options = leat_ar_options_default();
    if (argc != 5) return 2;
    int64_t size_bytes = strtoll(argv[3], NULL, 10) << 20, count = strtoll(argv[4], NULL, 10);
    char *zeros = calloc(1, (size_t)size_bytes);
    leat_code code = zeros == NULL ? LEAT_ERR_MEMORY : LEAT_OK;
    if (code == LEAT_OK) code = leat_ar_options_parse(argv[2], &options, &err);
    if (code == LEAT_OK) code = leat_ar_writer_create(&writer, argv[1], &options, true, &err);
    for (int64_t i = 0; i < count && code == LEAT_OK; i++)
        code = leat_ar_writer_append(writer, zeros, size_bytes, &err);
    if (code == LEAT_OK) code = leat_ar_writer_finish(writer, &err);
    leat_ar_writer_destroy(writer);
    free(zeros);
    if (code != LEAT_OK) fprintf(stderr, "%s\n", err.message);
    return code == LEAT_OK ? 0 : 1;
}
