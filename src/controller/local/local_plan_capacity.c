/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_plan_capacity - how a class wants the sizes of its volumes enforced
 *
 * Parameters capacity and fsType of podvol/local. What can never be made is refused here, where the
 * claim is; what a base path cannot do is found out on a look at it.
 */
#include "controller/local/local_flavour.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)

/* What an image may hold, and how small its mkfs can make that. */
static const struct {
	const char *type;
	uint64_t bytes;
} types[] = { { "ext4", 4 * MIB }, { "xfs", 300 * MIB } };

static int check_image(const struct local_plan *plan, struct failure *reterr)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (strcmp(types[i].type, plan->fs_type) != 0)
			continue;
		if (plan->bytes >= types[i].bytes)
			return 0;
		return failed_plain(reterr, -EINVAL,
				    "an image with %s has at least %" PRIu64 "Mi, and %" PRIu64
				    " bytes are asked for",
				    plan->fs_type, types[i].bytes / MIB, plan->bytes);
	}
	return failed_plain(reterr, -EINVAL, "parameter fsType: '%s' is not one of ext4, xfs",
			    plan->fs_type);
}

int local_set_capacity(struct local_plan *plan, const char *word, struct failure *reterr)
{
	static const char *const words[] = { "none", "quota", "image", "auto" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(word, words[i]) != 0)
			continue;
		(void) snprintf(plan->capacity, sizeof(plan->capacity), "%s", word);
		return i < 2 ? 0 : check_image(plan, reterr);
	}
	return failed_plain(reterr, -EINVAL,
			    "parameter capacity: '%s' is not one of none, quota, image, auto",
			    word);
}

int local_read_capacity(const struct local_sources *sources, struct local_plan *plan,
			struct failure *reterr)
{
	const char *word = local_parameter(sources, "capacity");
	const char *type = local_parameter(sources, "fsType");

	if (strlen(type) >= sizeof(plan->fs_type))
		return failed_plain(reterr, -EINVAL, "parameter fsType: '%s' is too long", type);
	(void) snprintf(plan->fs_type, sizeof(plan->fs_type), "%s", type[0] ? type : "ext4");
	return word[0] ? local_set_capacity(plan, word, reterr) : 0;
}
