/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uuid - UUIDs as text; see uuid.h
 */
#include "base/uuid.h"

#include <systemd/sd-id128.h>

_Static_assert(UUID_BYTES == SD_ID128_UUID_STRING_MAX, "a UUID and its end");

int uuid_make(char ret[UUID_BYTES])
{
	sd_id128_t id;
	int r = sd_id128_randomize(&id);

	if (r < 0)
		return r;
	(void) sd_id128_to_uuid_string(id, ret);
	return 0;
}

int uuid_of_boot(char ret[UUID_BYTES])
{
	sd_id128_t id;
	int r = sd_id128_get_boot(&id);

	if (r < 0)
		return r;
	(void) sd_id128_to_uuid_string(id, ret);
	return 0;
}
