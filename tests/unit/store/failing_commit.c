/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing_commit - see failing_commit.h
 */
#include "tests/unit/store/failing_commit.h"

#include "store/database.h"

atomic_int next_error;
atomic_uint commits;

int __real_database_commit(struct database *database, const struct database_write *writes,
			   size_t count, uint64_t resource_version, struct failure *reterr);
int __wrap_database_commit(struct database *database, const struct database_write *writes,
			   size_t count, uint64_t resource_version, struct failure *reterr);

int __wrap_database_commit(struct database *database, const struct database_write *writes,
			   size_t count, uint64_t resource_version, struct failure *reterr)
{
	int error = atomic_exchange(&next_error, 0);

	atomic_fetch_add(&commits, 1);
	if (error < 0)
		return failed(reterr, error, "the store");
	return __real_database_commit(database, writes, count, resource_version, reterr);
}
