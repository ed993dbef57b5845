/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_file - podvold.conf: one YAML mapping from key to scalar; see config.h
 */
#include "config.h"

#include "base/cleanup.h"
#include "object/json/json.h"
#include "object/json/yaml.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { CONFIG_FILE_BYTES_MAX = 65536, CONFIG_DEPTH_MAX = 8 };

/* Return: bytes read, or a negative errno. One byte more than allowed tells a file that is too
 * long. */
static ssize_t read_file(const char *path, char buffer[CONFIG_FILE_BYTES_MAX + 1],
			 struct failure *reterr)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t used = 0;
	ssize_t n;

	if (fd < 0)
		return failed(reterr, -errno, "cannot open the configuration '%s'", path);
	do {
		n = read(fd, buffer + used, CONFIG_FILE_BYTES_MAX + 1 - used);
		if (n < 0)
			return failed(reterr, -errno, "cannot read the configuration '%s'", path);
		used += (size_t) n;
	} while (n > 0 && used <= CONFIG_FILE_BYTES_MAX);
	if (used > CONFIG_FILE_BYTES_MAX)
		return failed_plain(reterr, -E2BIG,
				    "the configuration '%s' is longer than %d bytes", path,
				    CONFIG_FILE_BYTES_MAX);
	return (ssize_t) used;
}

static int set_item(const struct cJSON *item,
		    int (*set)(const char *key, const char *value, void *userdata,
			       struct failure *reterr),
		    void *userdata, struct failure *reterr)
{
	cleanup_free char *printed = NULL;

	if (json_is_string(item))
		return set(json_key(item), json_string(item, ""), userdata, reterr);
	if (json_is_object(item) || json_is_array(item) || json_is_null(item))
		return failed_plain(reterr, -EINVAL, "%s: one word, number or text is wanted",
				    json_key(item));
	printed = json_print(item);
	if (!printed)
		return failed(reterr, -ENOMEM, "%s", json_key(item));
	return set(json_key(item), printed, userdata, reterr);
}

/* Where a key of the file's one mapping stands, from 1; 0 when no line begins with it. */
static unsigned int line_of(const char *text, size_t length, const char *key)
{
	size_t key_length = strlen(key);
	unsigned int line = 1;

	for (const char *at = text, *end = text + length; at && at < end; line++) {
		size_t left = (size_t) (end - at);

		if (left > key_length && memcmp(at, key, key_length) == 0 && at[key_length] == ':')
			return line;
		at = memchr(at, '\n', left);
		at = at ? at + 1 : NULL;
	}
	return 0;
}

/* @ret_key: the last one that was looked at; borrowed from the tree. */
static int set_all(const struct cJSON *tree,
		   int (*set)(const char *key, const char *value, void *userdata,
			      struct failure *reterr),
		   void *userdata, const char **ret_key, struct failure *reterr)
{
	int r = 0;

	*ret_key = "";
	if (!json_is_object(tree))
		return failed_plain(reterr, -EINVAL, "a mapping 'key: value' is wanted");
	for (const struct cJSON *item = json_first(tree); item && r >= 0; item = json_next(item)) {
		*ret_key = json_key(item);
		r = set_item(item, set, userdata, reterr);
	}
	return r;
}

/* A second document would look as if it were in force. */
static int check_end(struct yaml_reader *reader, struct failure *reterr)
{
	struct yaml_document document;
	int r = yaml_reader_next(reader, &document);

	json_free(document.tree);
	if (r > 0)
		return failed_plain(reterr, -EINVAL,
				    "line %u: a second document begins; one is wanted",
				    document.line);
	if (r < 0)
		*reterr = document.failure;
	return r;
}

int config_file_read(const char *path,
		     int (*set)(const char *key, const char *value, void *userdata,
				struct failure *reterr),
		     void *userdata, struct failure *reterr)
{
	cleanup_free char *buffer = malloc(CONFIG_FILE_BYTES_MAX + 1);
	struct yaml_document document;
	struct yaml_reader *reader;
	const char *key;
	unsigned int line;
	ssize_t length;
	int r;

	assert(path && set && reterr);
	if (!buffer)
		return failed(reterr, -ENOMEM, "cannot read the configuration");
	length = read_file(path, buffer, reterr);
	if (length < 0)
		return (int) length;
	reader = yaml_reader_new(buffer, (size_t) length, CONFIG_DEPTH_MAX, 1);
	if (!reader)
		return failed(reterr, -ENOMEM, "cannot read the configuration");

	r = yaml_reader_next(reader, &document);
	if (r > 0 && document.failure.error == 0) {
		r = set_all(document.tree, set, userdata, &key, &document.failure);
		line = r < 0 ? line_of(buffer, (size_t) length, key) : 0;
		if (line > 0)
			(void) failure_prefix(&document.failure, "line %u", line);
		if (r >= 0)
			r = check_end(reader, &document.failure);
	} else if (r > 0) {
		r = document.failure.error;
	}
	json_free(document.tree);
	yaml_reader_free(reader);
	if (r < 0) {
		*reterr = document.failure;
		(void) failure_prefix(reterr, "configuration '%s'", path);
	}
	return r;
}
