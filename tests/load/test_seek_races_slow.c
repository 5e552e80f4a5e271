/* test_seek_races with many more moves. */
#include "seek_races.h"

int main(void) { return seek_races_run(10000); }
