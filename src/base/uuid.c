/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uuid - UUIDs as text; see uuid.h
 */
#include "base/uuid.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <systemd/sd-id128.h>
#include <unistd.h>

enum { DRAWN_BYTES = 256 /* the most that the kernel gives in one piece */ };

/* Random bytes of this thread that no UUID has yet: one system call for sixteen of them. The
 * children that podvold forks make none. */
static _Thread_local struct {
	unsigned char bytes[DRAWN_BYTES];
	size_t left;
} drawn;

_Static_assert(DRAWN_BYTES % sizeof(sd_id128_t) == 0, "whole UUIDs");
_Static_assert(UUID_BYTES == SD_ID128_UUID_STRING_MAX, "a UUID and its end");

int uuid_make(char ret[UUID_BYTES])
{
	sd_id128_t id;

	if (drawn.left == 0) {
		if (getentropy(drawn.bytes, sizeof(drawn.bytes)) < 0)
			return -errno;
		drawn.left = sizeof(drawn.bytes);
	}
	drawn.left -= sizeof(id);
	memcpy(&id, drawn.bytes + drawn.left, sizeof(id));
	id.bytes[6] = (id.bytes[6] & 0x0f) | 0x40; /* version 4 */
	id.bytes[8] = (id.bytes[8] & 0x3f) | 0x80; /* of RFC 9562's variant */
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
