/* The name that was meant: see leat/base.h. */
#include <string.h>

#include "leat/base.h"

/* Of a name that is compared. */
enum { NAME_BYTES = 60 };

static int min_of(int a, int b) { return a < b ? a : b; }

/* Edit distance: letters to insert, remove, replace or swap with their neighbour. */
static int edit_distance(const char *a, const char *b) {
    int rows[3][NAME_BYTES + 1];
    int a_size = (int)strnlen(a, NAME_BYTES), b_size = (int)strnlen(b, NAME_BYTES);
    for (int j = 0; j <= b_size; j++) rows[0][j] = j;
    for (int i = 1; i <= a_size; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= b_size; j++) {
            int change = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = min_of(min_of(above[j], row[j - 1]) + 1, change);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = min_of(row[j], above2[j - 2] + 1);
        }
    }
    return rows[a_size % 3][b_size];
}

leat_nearest leat_nearest_start(const char *word) {
    /* Up to a third of the letters may be wrong; with more it is a different word. */
    int size = (int)strnlen(word, NAME_BYTES);
    return (leat_nearest){.word = word, .best_distance = (size + 2) / 3 + 1};
}

void leat_nearest_add(leat_nearest *nearest, const char *name) {
    size_t size = strlen(nearest->word);
    int distance = edit_distance(nearest->word, name);
    /* "--thr" is a prefix of a name, however much is missing */
    if (size >= 2 && strncmp(nearest->word, name, size) == 0) distance = min_of(distance, 1);
    if (distance >= nearest->best_distance) return;
    nearest->best = name;
    nearest->best_distance = distance;
}
