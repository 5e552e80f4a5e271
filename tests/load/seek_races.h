/* Loaders moved about while their threads fill slots (seek_races.c). */
#ifndef TESTS_LOAD_SEEK_RACES_H
#define TESTS_LOAD_SEEK_RACES_H

/* A test program: its exit status. Each configuration makes that many moves. */
int seek_races_run(int moves_each);

#endif
