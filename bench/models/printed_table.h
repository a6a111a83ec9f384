/*
 * printed_table.h — what follows from printed parameters (model_printed.h), beside what is printed of it: predicted times, and choices.
 */
#ifndef PRINTED_TABLE_H
#define PRINTED_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Is there a machine of that name? If not, `names` says which there are, "grisou, gros, ...". */
bool printed_table_knows(const char *machine, char *names, size_t size);

/* Print a table for each operation and number of ranks that is printed of the machine. */
void printed_table(const char *machine);

#endif
