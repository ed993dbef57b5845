/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_path_races - no path leads out, however often its directories change meanwhile
 *
 * A moment for each kind; `make check-race` gives a number of attempts over all of them as the
 * argument, and prints how many there were.
 */
#include "tests/root/race_kinds.h"

#include "base/cleanup.h"

#include <inttypes.h>

static const struct race *const races[] = {
	&race_subpath_bind,
	&race_subpath_make,
	&race_ownership,
	&race_ownership_by_name,
	&race_ownership_opened,
	&race_remove,
	&race_empty_dir,
	&race_memory,
	&race_local,
	&race_host_path,
	/* and what must be caught */
	&race_naive_bind,
	&race_naive_make,
	&race_naive_ownership,
	&race_naive_mode,
	&race_naive_remove,
};

int main(int argc, char **argv)
{
	struct CMUnitTest tests[ARRAY_SIZE(races)];
	unsigned int shares = 0;
	int result;

	for (size_t i = 0; i < ARRAY_SIZE(races); i++) {
		tests[i] = (struct CMUnitTest){ .name = races[i]->name,
						.test_func = race_test,
						.setup_func = race_setup,
						.teardown_func = race_teardown,
						.initial_state = (void *) races[i] };
		shares += races[i]->share;
	}
	if (argc > 1)
		race_set_attempts(strtoull(argv[1], NULL, 10) / shares + 1);
	result = sandbox_run("path_races", tests, ARRAY_SIZE(races));
	printf("# %" PRIu64 " attempts in all\n", race_total());
	return result;
}
