/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_version - see csi_version.h
 *
 * As Kubernetes reads generic versions: numbers between dots, at least two of them, whatever
 * follows is passed over; only the first may not have a leading zero.
 */
#include "csi/csi_version.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Return: what follows the digits; NULL: none there, or too many. */
static const char *read_number(const char *text, uint64_t *ret)
{
	uint64_t value = 0;

	if (!isdigit((unsigned char) *text))
		return NULL;
	for (; isdigit((unsigned char) *text); text++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t) (*text - '0'), &value))
			return NULL;
	*ret = value;
	return text;
}

int csi_version_parse(const char *text, struct csi_version *ret)
{
	struct csi_version version = { .count = 0 };

	assert(text && ret);
	text += strspn(text, " \t\n\r\f");
	text += *text == 'v';
	if (text[0] == '0' && isdigit((unsigned char) text[1]))
		return -EINVAL;
	for (;;) {
		if (version.count == CSI_VERSION_PARTS)
			return -EINVAL;
		text = read_number(text, &version.parts[version.count++]);
		if (!text)
			return -EINVAL;
		if (text[0] != '.' || !isdigit((unsigned char) text[1]))
			break;
		text++;
	}
	if (version.count < 2)
		return -EINVAL;
	*ret = version;
	return 0;
}

int csi_version_compare(const struct csi_version *a, const struct csi_version *b)
{
	assert(a && b);
	for (size_t i = 0; i < CSI_VERSION_PARTS; i++)
		if (a->parts[i] != b->parts[i])
			return a->parts[i] < b->parts[i] ? -1 : 1;
	return 0;
}

void csi_version_print(const struct csi_version *version, char text[CSI_VERSION_BYTES])
{
	size_t used = 0;

	assert(version && text);
	text[0] = '\0';
	for (unsigned int i = 0; i < version->count; i++)
		used += (size_t) snprintf(text + used, CSI_VERSION_BYTES - used, "%s%" PRIu64,
					  i > 0 ? "." : "", version->parts[i]);
}

/* For people, cut where it becomes long. */
static void list_offered(const char *const *offered, size_t count, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < count && used + 1 < size; i++)
		used += (size_t) snprintf(text + used, size - used, "%s%.40s", i > 0 ? ", " : "",
					  offered[i]);
}

int csi_version_choose(const char *const *offered, size_t count, struct csi_version *ret,
		       struct failure *reterr)
{
	struct csi_version best = { .count = 0 }, version;
	char list[128];

	assert((offered || count == 0) && ret);
	for (size_t i = 0; i < count; i++)
		if (csi_version_parse(offered[i], &version) == 0 && version.parts[0] <= 1 &&
		    (best.count == 0 || csi_version_compare(&version, &best) > 0))
			best = version;
	if (best.count > 0 && best.parts[0] == 1) {
		*ret = best;
		return 0;
	}
	list_offered(offered, count, list, sizeof(list));
	return count == 0 ? failed_plain(reterr, -EPROTO, "the driver offers no version")
			  : failed_plain(reterr, -EPROTO,
					 "the driver offers no version 1.x but '%s'", list);
}
