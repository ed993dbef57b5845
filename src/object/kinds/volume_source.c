/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_source - see volume_source.h
 */
#include "object/kinds/volume_source.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static bool is_listed(const char *const *names, const char *name)
{
	for (; *names; names++) {
		if ((*names)[0] == name[0] && strcmp(*names, name) == 0)
			return true;
	}
	return false;
}

static const struct cJSON *source_from(const struct cJSON *item,
				       const struct volume_source_names *names)
{
	while (item && (!json_is_object(item) || is_listed(names->others, json_key(item))))
		item = json_next(item);
	return item;
}

const struct cJSON *volume_source_first(const struct cJSON *volume,
					const struct volume_source_names *names)
{
	assert(names->others && names->schema);
	return source_from(json_first(volume), names);
}

static bool check_spelling(const struct cJSON *source, const struct volume_source_names *names,
			   const struct field *volume)
{
	char detail[80];

	for (const struct schema_field *known = names->schema->fields; known->name; known++) {
		if (known->type != SCHEMA_OBJECT ||
		    strcasecmp(known->name, json_key(source)) != 0 ||
		    strcmp(known->name, json_key(source)) == 0 ||
		    is_listed(names->others, known->name))
			continue;
		(void) snprintf(detail, sizeof(detail), "unknown field; did you mean \"%s\"?",
				known->name);
		return field_invalid(volume, json_key(source), detail);
	}
	return true;
}

bool volume_source_validate(const struct field *volume, const struct volume_source_names *names)
{
	const struct cJSON *first = volume_source_first(volume->item, names), *second;

	if (!first)
		return field_required(volume, "must specify a volume type");
	second = source_from(json_next(first), names);
	if (second)
		return field_forbidden(FIELD(volume, json_key(second)),
				       "may not specify more than 1 volume type");
	return check_spelling(first, names, volume);
}

int host_path_set_defaults(struct cJSON *source)
{
	if (json_get(source, "type"))
		return 0;
	return json_set_string(source, "type", "");
}

bool host_path_validate(const struct field *source)
{
	static const char *const types[] = {
		"",     "BlockDevice",  "CharDevice", "Directory", "DirectoryOrCreate",
		"File", "FileOrCreate", "Socket",     NULL
	};
	const struct field *path = FIELD(source, "path");

	if (*field_text(path) == '\0')
		return field_required(path, "");
	return field_check_no_backsteps(path) &&
	       field_check_one_of(FIELD(source, "type"), types, true);
}

bool nfs_validate(const struct field *source)
{
	const struct field *server = FIELD(source, "server"), *path = FIELD(source, "path");

	if (*field_text(server) == '\0')
		return field_required(server, "");
	if (*field_text(path) == '\0')
		return field_required(path, "");
	return *field_text(path) == '/' ||
	       field_invalid(path, field_text(path), "must be an absolute path");
}
