/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_config - a configuration file of any origin, read as podvold reads it at its start
 *
 * It is taken whole, and then every number is within its limits and every text is there; or it is
 * refused with a sentence that names the file.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "config.h"

#include <string.h>
#include <sys/mman.h>

static void check_row(const struct config *config, const struct config_row *row)
{
	const void *member = (const char *) config + row->offset;
	const char *text;
	int64_t number;

	switch (row->kind) {
	case CONFIG_STRING:
		memcpy(&text, member, sizeof(text));
		HOLDS(text);
		return;
	case CONFIG_INTEGER:
		memcpy(&number, member, sizeof(number));
		HOLDS(number >= row->minimum && number <= row->maximum);
		return;
	case CONFIG_FLAG:
		HOLDS(*(const unsigned char *) member <= 1);
		return;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_close int fd = memfd_create("podvold.conf", MFD_CLOEXEC);
	char program[] = "podvold", option[64], path[32];
	char *arguments[] = { program, option, NULL };
	struct config config = { 0 };
	struct failure why = { 0 };
	int r;

	HOLDS(fd >= 0 && write(fd, data, size) == (ssize_t) size);
	(void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void) snprintf(option, sizeof(option), "--config=%s", path);
	r = config_load(2, arguments, &config, &why);
	HOLDS(r == CONFIG_RUN || r < 0);
	if (r < 0)
		HOLDS(why.text[0] != '\0');
	for (size_t i = 0; i < config_row_count && r == CONFIG_RUN; i++)
		check_row(&config, &config_rows[i]);
	config_done(&config);
	return 0;
}
