/* Tables of Delta Lake and Apache Iceberg: folders of Parquet files, whose log says which of the
 * files, and which of their rows, are part of the table. */
#ifndef LEAT_INGEST_TABLES_H
#define LEAT_INGEST_TABLES_H

#include "base/error.h"

/* LEAT_ERR_INPUT if the folder holds such a table: its files also hold rows that were deleted or
 * replaced. The message has the line that exports the others. */
LEAT_MUST_CHECK leat_code leat_tables_refuse(const char *folder, leat_error *err);
/* The same for the folders that contain `path`, as far as it names them: partitions are folders in
 * that of the table. */
LEAT_MUST_CHECK leat_code leat_tables_refuse_around(const char *path, leat_error *err);

#endif
