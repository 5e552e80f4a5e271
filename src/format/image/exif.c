/*
 * The orientation of a picture: one number of the first directory of its EXIF data. Only that
 * number is read, and every offset is checked, because EXIF data in the wild is often damaged: then
 * the picture is taken as it is stored, as all viewers do. Programs that write XMP alone have the
 * number there; it is found as Pillow finds it, by its name.
 */
#include <string.h>

#include "format/image/parts.h"

#define TAG_ORIENTATION 0x0112
enum { TYPE_SHORT = 3, TYPE_LONG = 4, ENTRY_BYTES = 12 };

/* Numbers of a TIFF, in its byte order. */
static uint32_t number_at(const uint8_t *at, int count, bool big_endian) {
    uint32_t value = 0;
    for (int i = 0; i < count; i++) value = value << 8 | at[big_endian ? i : count - 1 - i];
    return value;
}

/* The value of an entry; 0 if it is not a single whole number. */
static uint32_t value_of(const uint8_t *entry, bool big_endian) {
    uint32_t type = number_at(entry + 2, 2, big_endian);
    if (number_at(entry + 4, 4, big_endian) != 1) return 0;
    if (type == TYPE_SHORT) return number_at(entry + 8, 2, big_endian);
    return type == TYPE_LONG ? number_at(entry + 8, 4, big_endian) : 0;
}

int64_t leat_tiff_number(const uint8_t *tiff, int64_t size_bytes, int tag) {
    if (size_bytes < 8) return -1;
    bool big_endian = memcmp(tiff, "MM\0*", 4) == 0;
    if (!big_endian && memcmp(tiff, "II*\0", 4) != 0) return -1;
    int64_t at = number_at(tiff + 4, 4, big_endian);
    if (at > size_bytes - 2) return -1;
    int64_t entries = number_at(tiff + at, 2, big_endian);
    at += 2;
    for (; entries > 0 && at <= size_bytes - ENTRY_BYTES; entries--, at += ENTRY_BYTES) {
        if (number_at(tiff + at, 2, big_endian) != (uint32_t)tag) continue;
        return value_of(tiff + at, big_endian);
    }
    return -1;
}

void leat_orientation_exif(leat_orientation *found, const uint8_t *tiff, int64_t size_bytes) {
    if (found->has_exif) return;
    found->has_exif = true;
    const int64_t value = leat_tiff_number(tiff, size_bytes, TAG_ORIENTATION);
    if (value >= 0) found->exif = value >= 1 && value <= 8 ? (int)value : 1;
}

void leat_orientation_xmp(leat_orientation *found, const uint8_t *text, int64_t size_bytes) {
    static const char name[] = "tiff:Orientation";
    const uint8_t *end = text + size_bytes, *at = text;
    found->xmp = 0;
    while (found->xmp == 0 && end - at > 0) {
        at = memmem(at, (size_t)(end - at), name, sizeof name - 1);
        if (at == NULL) return;
        at += sizeof name - 1;
        const int skipped = end - at > 2 && memcmp(at, "=\"", 2) == 0 ? 2
                            : end - at > 1 && *at == '>'              ? 1
                                                                      : 0;
        if (skipped > 0 && at[skipped] >= '0' && at[skipped] <= '9') {
            const int value = at[skipped] - '0';
            found->xmp = value >= 1 && value <= 8 ? value : 1;
        }
    }
}

int leat_orientation_of(const leat_orientation *found) {
    if (found->exif != 0) return found->exif;
    return found->xmp != 0 ? found->xmp : 1;
}
