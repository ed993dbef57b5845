/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_mount_options - any text as the mount options of a volume
 *
 * The author of a PersistentVolume writes them. Joining is stable: what was joined once joins to
 * itself. What is split leaves no attribute both set and cleared, but for the access times.
 */
#include "fuzz.h"

#include "mount/mount.h"

#include "mount/bind/options.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>

static void check_join(const char *text)
{
	char *once = mount_options_join(&text, 1, "ro");
	char *twice = once ? mount_options_join((const char *const *) &once, 1, "") : NULL;

	assert(!twice || strlen(twice) == strlen(once));
	free(twice);
	free(once);
}

static void check_split(const char *text)
{
	struct mount_attributes attributes;
	struct failure failure = { 0 };
	char *split = NULL;

	if (mount_options_split(text, &attributes, &split, &failure) < 0) {
		assert(failure.text[0] != '\0' && !split);
		return;
	}
	assert(!(attributes.set & attributes.clear & ~(uint64_t) MOUNT_ATTR__ATIME));
	assert(strlen(split) <= strlen(text));
	free(split);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	check_join(text);
	check_split(text);
	free(text);
	return 0;
}
