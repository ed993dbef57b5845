/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vol_data - vol_data.json as kubelet writes it; see vol_data.h
 *
 * One table of members says where each is kept and in which places it must stand.
 */
#include "object/kinds/vol_data.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

enum { DEPTH_MAX = 2 /* the object and its strings */, DRIVER_NAME_BYTES_MAX = 63 };

/* In the order in which Go prints a map. */
static const struct {
	const char *key;
	size_t offset;
	unsigned int required, written; /* a bit for each place */
} members[] = {
#define MEMBER(name) offsetof(struct vol_data, name)
#define IN(place)    (1U << (place))
#define POD_OR_BLOCK (IN(VOL_DATA_POD) | IN(VOL_DATA_BLOCK))
#define ANYWHERE     (POD_OR_BLOCK | IN(VOL_DATA_STAGING))
	{ "attachmentID", MEMBER(attachment_id), 0, POD_OR_BLOCK },
	{ "driverName", MEMBER(driver_name), ANYWHERE, ANYWHERE },
	{ "nodeName", MEMBER(node_name), 0, POD_OR_BLOCK },
	{ "seLinuxMountContext", MEMBER(selinux_mount_context), 0, 0 },
	{ "specVolID", MEMBER(spec_name), POD_OR_BLOCK, POD_OR_BLOCK },
	{ "volumeHandle", MEMBER(volume_handle), ANYWHERE, ANYWHERE },
	{ "volumeLifecycleMode", MEMBER(lifecycle_mode), 0, IN(VOL_DATA_POD) },
};

static char **text_of(struct vol_data *data, size_t member)
{
	return (char **) ((char *) data + members[member].offset);
}

void vol_data_done(struct vol_data *data)
{
	assert(data);

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		free(*text_of(data, i));
	*data = (struct vol_data){ .driver_name = NULL };
}

static int check_strings(const struct cJSON *object, struct failure *reterr)
{
	if (!json_is_object(object))
		return failed_plain(reterr, -EINVAL, "%s holds no object", VOL_DATA_FILE);
	JSON_FOREACH (member, object) {
		if (!json_is_string(member))
			return failed_plain(reterr, -EINVAL, "%s: '%s' is not a string",
					    VOL_DATA_FILE, json_key(member));
		if (strlen(json_string(member, "")) > VOL_DATA_VALUE_BYTES_MAX)
			return failed_plain(reterr, -E2BIG, "%s: '%s' is longer than %d bytes",
					    VOL_DATA_FILE, json_key(member),
					    VOL_DATA_VALUE_BYTES_MAX);
	}
	return 0;
}

static int copy_members(const struct cJSON *object, enum vol_data_place place, struct vol_data *ret,
			struct failure *reterr)
{
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const char *value = json_text(object, members[i].key);

		if (*value == '\0' && members[i].required & IN(place))
			return failed_plain(reterr, -EINVAL, "%s: '%s' is missing", VOL_DATA_FILE,
					    members[i].key);
		*text_of(ret, i) = strdup(value);
		if (!*text_of(ret, i))
			return failed(reterr, -ENOMEM, "cannot read %s", VOL_DATA_FILE);
	}
	return 0;
}

/* It names directories and sockets. */
static bool is_driver_name(const char *name)
{
	if (strlen(name) > DRIVER_NAME_BYTES_MAX || !isalnum((unsigned char) *name))
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char) *name) && *name != '.' && *name != '-')
			return false;
	return true;
}

static bool is_directory_name(const char *name)
{
	return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strchr(name, '/');
}

static int check_values(const struct vol_data *data, struct failure *reterr)
{
	const char *mode = data->lifecycle_mode;

	if (!is_driver_name(data->driver_name))
		return failed_plain(reterr, -EINVAL, "%s: '%s' is not a driver name", VOL_DATA_FILE,
				    data->driver_name);
	if (!is_directory_name(data->spec_name))
		return failed_plain(reterr, -EINVAL, "%s: '%s' is not a volume name", VOL_DATA_FILE,
				    data->spec_name);
	if (*mode && strcmp(mode, "Persistent") != 0 && strcmp(mode, "Ephemeral") != 0)
		return failed_plain(reterr, -EINVAL, "%s: '%s' is not a lifecycle mode",
				    VOL_DATA_FILE, mode);
	return 0;
}

int vol_data_parse(const char *text, size_t length, enum vol_data_place place, struct vol_data *ret,
		   struct failure *reterr)
{
	static const struct json_limits limits = { .bytes = VOL_DATA_BYTES_MAX,
						   .depth = DEPTH_MAX };
	struct vol_data data = { .driver_name = NULL };
	cleanup_json struct cJSON *object = NULL;
	int r;

	assert((text || length == 0) && place < VOL_DATA_PLACE_COUNT && ret);

	r = json_parse(text, length, &limits, &object, reterr);
	if (r < 0) {
		(void) failure_prefix(reterr, "%s", VOL_DATA_FILE);
		return r;
	}
	r = check_strings(object, reterr);
	if (r == 0)
		r = copy_members(object, place, &data, reterr);
	if (r == 0)
		r = check_values(&data, reterr);
	if (r < 0) {
		vol_data_done(&data);
		return r;
	}
	*ret = data;
	return 0;
}

/* The SELinux label is there only when the volume was mounted with one. */
char *vol_data_print(const struct vol_data *data, enum vol_data_place place)
{
	cleanup_json struct cJSON *object = json_new_object();
	cleanup_free char *text = NULL;
	char *line = NULL;

	assert(data && place < VOL_DATA_PLACE_COUNT);
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const char *value = *text_of((struct vol_data *) data, i);

		if (members[i].written & IN(place) || (value && *value))
			(void) json_set_string(object, members[i].key, value ? value : "");
	}
	text = object ? json_print(object) : NULL;
	return text && asprintf(&line, "%s\n", text) >= 0 ? line : NULL;
}
