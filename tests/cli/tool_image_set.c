/*
 * Image data sets out of given pixels, for tests in Python that want any they can think of:
 *
 *   tool DIR SIZE REJECTED < images
 *
 * An image is a line "width height decoded name", decoded in 16 hexadecimal digits, and SIZE x SIZE
 * x 3 bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/image_set/image_set.h"

enum { LINE_BYTES = LEAT_IMAGE_NAME_BYTES + 64 };

static leat_code append_all(leat_image_writer *writer, int32_t size, uint8_t *pixels,
                            leat_error *err) {
    char line[LINE_BYTES];
    while (fgets(line, sizeof line, stdin) != NULL) {
        leat_image_entry entry = {0};
        unsigned long long decoded = 0;
        int name_at = 0;
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "%d %d %llx %n", &entry.width, &entry.height, &decoded, &name_at) < 3 ||
            name_at == 0 ||
            fread(pixels, 1, (size_t)leat_image_bytes(size), stdin) !=
                (size_t)leat_image_bytes(size))
            return leat_fail(err, LEAT_ERR_INPUT, "not an image: %s", line);
        entry.decoded = decoded;
        entry.name = line + name_at;
        LEAT_TRY(leat_image_writer_append(writer, &entry, pixels, err));
    }
    return LEAT_OK;
}

int main(int argc, char **argv) {
    leat_image_writer *writer = NULL;
    const leat_image_set *set = NULL;
    leat_error err = {0};
    if (argc != 4) return 2;
    int32_t size = (int32_t)strtol(argv[2], NULL, 10);
    uint8_t *pixels = malloc((size_t)leat_image_bytes(size));
    leat_code code = leat_image_writer_create(&writer, argv[1], size, false, &err);
    if (code == LEAT_OK) code = append_all(writer, size, pixels, &err);
    if (code == LEAT_OK)
        code = leat_image_writer_finish(writer, strtol(argv[3], NULL, 10), &set, &err);
    if (code != LEAT_OK) fprintf(stderr, "%s\n", err.message);
    leat_image_writer_destroy(writer);
    free(pixels);
    return code == LEAT_OK ? 0 : 1;
}
