/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mountinfo - one line of /proc/PID/mountinfo; see mountinfo.h
 *
 *   36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
 *   id parent major:minor root mount-point options optional... - type source super-options
 */
#include "mount/table/mountinfo.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/sysmacros.h>

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* NUL is none of them: it would end a field early, or leave it empty. */
void mountinfo_unescape(char *text)
{
	char *to = text;

	while (*text) {
		if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && is_octal(text[2]) &&
		    is_octal(text[3]) && strncmp(text + 1, "000", 3) != 0) {
			*to++ = (char) ((text[1] - '0') << 6 | (text[2] - '0') << 3 |
					(text[3] - '0'));
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

/* Digits only; stops at the first other character. False when there is none or it overflows. */
static bool parse_number(const char **text, uint64_t maximum, uint64_t *ret)
{
	uint64_t value = 0;
	const char *at = *text;

	while (*at >= '0' && *at <= '9') {
		unsigned int digit = (unsigned int) (*at++ - '0');

		if (value > (maximum - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (at == *text)
		return false;
	*text = at;
	*ret = value;
	return true;
}

static bool parse_id(const char *text, uint64_t *ret)
{
	return text && parse_number(&text, INT32_MAX, ret) && *text == '\0';
}

static bool parse_device(const char *text, dev_t *ret)
{
	uint64_t device_major, device_minor;

	if (!text || !parse_number(&text, 0xfff, &device_major) || *text++ != ':' ||
	    !parse_number(&text, 0xfffff, &device_minor) || *text != '\0')
		return false;
	*ret = makedev((unsigned int) device_major, (unsigned int) device_minor);
	return true;
}

/* One of the optional fields; those that are not known are passed over. */
static bool parse_propagation(const char *field, struct mountinfo_line *line)
{
	if (strncmp(field, "shared:", 7) == 0)
		return parse_id(field + 7, &line->peer_group);
	if (strncmp(field, "master:", 7) == 0)
		return parse_id(field + 7, &line->master_group);
	return true;
}

int mountinfo_parse(char *line, struct mountinfo_line *ret)
{
	struct mountinfo_line parsed = { 0 };
	char *rest = line;
	char *field;

	assert(line && ret);
	if (!parse_id(strsep(&rest, " "), &parsed.mount_id) ||
	    !parse_id(strsep(&rest, " "), &parsed.parent_id) ||
	    !parse_device(strsep(&rest, " "), &parsed.device))
		return -EINVAL;
	parsed.root = strsep(&rest, " ");
	parsed.mount_point = strsep(&rest, " ");
	parsed.options = strsep(&rest, " ");

	while ((field = strsep(&rest, " ")) && strcmp(field, "-") != 0)
		if (!parse_propagation(field, &parsed))
			return -EINVAL;

	parsed.type = strsep(&rest, " ");
	parsed.source = strsep(&rest, " ");
	parsed.super_options = strsep(&rest, " ");
	if (!parsed.super_options || *parsed.mount_point == '\0' || *parsed.type == '\0')
		return -EINVAL;

	mountinfo_unescape(parsed.root);
	mountinfo_unescape(parsed.mount_point);
	mountinfo_unescape(parsed.type);
	mountinfo_unescape(parsed.source);
	*ret = parsed;
	return 0;
}
