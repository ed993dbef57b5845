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
		if (strcmp(*names, name) == 0)
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

static int check_spelling(const struct cJSON *source, const struct volume_source_names *names,
			  const struct field *field, struct violations *found)
{
	char detail[80];

	for (const struct schema_field *known = names->schema->fields; known->name; known++) {
		if (known->type != SCHEMA_OBJECT || is_listed(names->others, known->name) ||
		    strcasecmp(known->name, json_key(source)) != 0 ||
		    strcmp(known->name, json_key(source)) == 0)
			continue;
		(void) snprintf(detail, sizeof(detail), "unknown field; did you mean \"%s\"?",
				known->name);
		return field_invalid(field, json_key(source), detail, found);
	}
	return 0;
}

int volume_source_validate(const struct cJSON *volume, const struct volume_source_names *names,
			   const struct field *field, struct violations *found)
{
	const struct cJSON *first = volume_source_first(volume, names), *second;

	if (!first)
		return field_required(field, "must specify a volume type", found);
	second = source_from(json_next(first), names);
	if (second)
		return field_forbidden(FIELD(field, json_key(second)),
				       "may not specify more than 1 volume type", found);
	return check_spelling(first, names, field, found);
}

int host_path_set_defaults(struct cJSON *source)
{
	if (json_get(source, "type"))
		return 0;
	return json_set_string(source, "type", "");
}

int host_path_validate(const struct cJSON *source, const struct field *field,
		       struct violations *found)
{
	static const char *const types[] = {
		"",     "BlockDevice",  "CharDevice", "Directory", "DirectoryOrCreate",
		"File", "FileOrCreate", "Socket",     NULL
	};
	const char *path = json_text(source, "path");
	int r;

	if (*path == '\0')
		return field_required(FIELD(field, "path"), "", found);
	r = field_check_no_backsteps(FIELD(field, "path"), path, found);
	if (r == 0)
		r = field_check_one_of(FIELD(field, "type"), json_text(source, "type"), types, true,
				       found);
	return r;
}

int nfs_validate(const struct cJSON *source, const struct field *field, struct violations *found)
{
	const char *path = json_text(source, "path");

	if (*json_text(source, "server") == '\0')
		return field_required(FIELD(field, "server"), "", found);
	if (*path == '\0')
		return field_required(FIELD(field, "path"), "", found);
	if (*path != '/')
		return field_invalid(FIELD(field, "path"), path, "must be an absolute path", found);
	return 0;
}
