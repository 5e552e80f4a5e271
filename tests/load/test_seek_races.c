/* Seeks while threads fill slots (seek_races.c). */
/* TSan: seeks while threads fill slots. */
#include "seek_races.h"

int main(void) { return seek_races_run(400); }
