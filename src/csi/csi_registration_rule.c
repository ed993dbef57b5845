/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_registration_rule - see csi_registration_rule.h
 */
#include "csi/csi_registration_rule.h"

#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#define DELAY_FIRST_USEC (500 * USEC_PER_MSEC)
#define DELAY_MAX_USEC   (122 * USEC_PER_SEC)
#define DIAL_FIRST_USEC  (10 * USEC_PER_MSEC)
#define DIAL_MAX_USEC    USEC_PER_SEC
#define DIAL_LIMIT_USEC  (10 * USEC_PER_SEC)

enum { DRIVER_NAME_MAX = 63, ENDPOINT_MAX = PATH_MAX - 1 };

/* ---- the machine ---- */

bool registration_is_ready(enum registration_stage stage)
{
	return stage == REGISTRATION_TELLS || stage == REGISTRATION_DONE;
}

/* The socket went: what was written is taken back, what runs ends first. */
static enum registration_stage leave(enum registration_stage stage)
{
	switch (stage) {
	case REGISTRATION_TELLS:
	case REGISTRATION_DONE:
		return REGISTRATION_TAKES_BACK;
	case REGISTRATION_WRITES:
	case REGISTRATION_TAKES_BACK:
		return stage;
	default:
		return REGISTRATION_OVER;
	}
}

static enum registration_stage succeed(enum registration_stage stage, bool left)
{
	switch (stage) {
	case REGISTRATION_WAITS:
		return REGISTRATION_ASKS;
	case REGISTRATION_ASKS:
		return REGISTRATION_ASKS_NODE;
	case REGISTRATION_ASKS_NODE:
		return REGISTRATION_WRITES;
	case REGISTRATION_WRITES:
		return left ? REGISTRATION_TAKES_BACK : REGISTRATION_TELLS;
	case REGISTRATION_TELLS:
		return REGISTRATION_DONE;
	case REGISTRATION_TAKES_BACK:
		return left ? REGISTRATION_OVER : REGISTRATION_REFUSES;
	case REGISTRATION_REFUSES:
		return REGISTRATION_WAITS;
	default:
		assert(!"a stage that ends by itself");
		return REGISTRATION_OVER;
	}
}

/* A registrar that hears nothing of its success is registered all the same. */
static enum registration_stage fall(enum registration_stage stage, bool refused)
{
	switch (stage) {
	case REGISTRATION_ASKS:
		return refused ? REGISTRATION_REFUSES : REGISTRATION_WAITS;
	case REGISTRATION_ASKS_NODE:
		return REGISTRATION_REFUSES;
	case REGISTRATION_WRITES:
		return REGISTRATION_TAKES_BACK;
	default:
		return REGISTRATION_OVER;
	}
}

enum registration_stage registration_next(enum registration_stage stage,
					  enum registration_event event, bool left)
{
	assert(stage < REGISTRATION_OVER && event < REGISTRATION_EVENT_COUNT);
	if (event == REGISTRATION_LEFT)
		return leave(stage);
	if (event == REGISTRATION_REPLACED) {
		assert(registration_is_ready(stage));
		return REGISTRATION_WAITS;
	}
	if (event == REGISTRATION_SUCCEEDED || stage == REGISTRATION_TELLS ||
	    stage == REGISTRATION_TAKES_BACK || stage == REGISTRATION_REFUSES)
		return succeed(stage, left);
	assert(stage != REGISTRATION_WAITS && stage != REGISTRATION_DONE);
	return fall(stage, event == REGISTRATION_REFUSED);
}

/* ---- times ---- */

uint64_t registration_delay_usec(unsigned int attempts)
{
	uint64_t delay_usec = DELAY_FIRST_USEC;

	assert(attempts > 0);
	for (unsigned int i = 1; i < attempts && delay_usec < DELAY_MAX_USEC; i++)
		delay_usec *= 2;
	return delay_usec < DELAY_MAX_USEC ? delay_usec : DELAY_MAX_USEC;
}

uint64_t registration_dial_usec(unsigned int tries)
{
	uint64_t delay_usec = DIAL_FIRST_USEC, passed_usec = DIAL_FIRST_USEC;

	assert(tries > 0);
	for (unsigned int i = 1; i < tries && passed_usec <= DIAL_LIMIT_USEC; i++) {
		delay_usec = delay_usec * 2 < DIAL_MAX_USEC ? delay_usec * 2 : DIAL_MAX_USEC;
		passed_usec += delay_usec;
	}
	return passed_usec <= DIAL_LIMIT_USEC ? delay_usec : 0;
}

/* ---- what a registrar reports ---- */

static bool is_letter_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* A DNS name: it becomes part of paths and of objects. */
static bool is_driver_name(const char *name)
{
	size_t length = strlen(name);

	if (length == 0 || length > DRIVER_NAME_MAX)
		return false;
	for (size_t i = 0; i < length; i++) {
		bool is_edge =
			i == 0 || i == length - 1 || name[i - 1] == '.' || name[i + 1] == '.';

		if (!is_letter_or_digit(name[i]) && (is_edge || (name[i] != '-' && name[i] != '.')))
			return false;
	}
	return true;
}

static int check_endpoint(const char *given, const char *socket, const char **ret,
			  struct failure *reterr)
{
	const char *endpoint = *given ? given : socket;

	if (endpoint[0] != '/')
		return failed_plain(reterr, -EINVAL,
				    "the endpoint '%.100s' is not an absolute path of a socket",
				    endpoint);
	if (strlen(endpoint) > ENDPOINT_MAX)
		return failed_plain(reterr, -EINVAL, "the path of the endpoint is too long");
	*ret = endpoint;
	return 0;
}

static int check_owner(const struct registration_info *info, const struct csi_version *version,
		       const struct registration_owner *owner, struct failure *reterr)
{
	char text[CSI_VERSION_BYTES];

	if (!owner->version)
		return 0;
	csi_version_print(owner->version, text);
	if (csi_version_compare(version, owner->version) <= 0)
		return failed_plain(reterr, -EEXIST,
				    "another driver '%s' is registered already, with version %s",
				    info->name, text);
	return owner->is_ready ? 0
			       : failed_plain(reterr, -EBUSY,
					      "version %s of driver '%s' is being registered", text,
					      info->name);
}

int registration_check(const struct registration_info *info, const char *socket,
		       const struct registration_owner *owner, struct csi_version *ret_version,
		       const char **ret_endpoint, struct failure *reterr)
{
	const char *endpoint = NULL;
	struct csi_version version;
	int r;

	assert(info && socket && socket[0] == '/' && owner && ret_version && ret_endpoint);
	if (strcmp(info->type, "CSIPlugin") != 0)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "plugins of type '%.60s' are not supported, only CSIPlugin",
				    info->type);
	if (!is_driver_name(info->name))
		return failed_plain(reterr, -EINVAL, "'%.80s' is not a name of a CSI driver",
				    info->name);
	r = csi_version_choose(info->versions, info->version_count, &version, reterr);
	if (r == 0)
		r = check_endpoint(info->endpoint, socket, &endpoint, reterr);
	if (r == 0)
		r = check_owner(info, &version, owner, reterr);
	if (r < 0)
		return r;
	*ret_version = version;
	*ret_endpoint = endpoint;
	return 0;
}
