/* Folders with all that is in them. */
#ifndef LEAT_TESTS_TREES_H
#define LEAT_TESTS_TREES_H

/* Copies a file, or a folder with all that is in it, to a name that is free; failures fail the
 * test.
 */
void tree_copy(const char *from, const char *to);

#endif
