/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_mountinfo - any line as one of /proc/PID/mountinfo
 *
 * The kernel writes the lines, but mount points, sources and types in them are other people's
 * bytes. Whatever is accepted must be strings within the line.
 */
#include "fuzz.h"

#include "mount/table/mountinfo.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void check_within(const char *field, const char *line, size_t size)
{
	assert(field >= line && field <= line + size);
	assert(field + strlen(field) <= line + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mountinfo_line parsed;
	char *line = malloc(size + 1);

	if (!line)
		return 0;
	if (size > 0)
		memcpy(line, data, size);
	line[size] = '\0';
	if (mountinfo_parse(line, &parsed) == 0) {
		check_within(parsed.root, line, size);
		check_within(parsed.mount_point, line, size);
		check_within(parsed.options, line, size);
		check_within(parsed.type, line, size);
		check_within(parsed.source, line, size);
		check_within(parsed.super_options, line, size);
		assert(*parsed.mount_point != '\0' && *parsed.type != '\0');
	}
	free(line);
	return 0;
}
