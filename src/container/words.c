/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words - see words.h
 */
#include "container/words.h"

#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

int words_add(struct words *words, struct failure *reterr, const char *format, ...)
{
	cleanup_free char *word = NULL;
	char *grown;
	size_t length;
	va_list arguments;
	int r;

	assert(words && format);
	va_start(arguments, format);
	r = vasprintf(&word, format, arguments);
	va_end(arguments);
	if (r < 0) {
		word = NULL;
		return failed(reterr, -ENOMEM, "cannot write an argument");
	}
	if (strchr(word, '\n'))
		return failed_plain(reterr, -EOPNOTSUPP,
				    "a path with a line break cannot be an argument on a line of "
				    "its own: use format json");
	length = strlen(word);
	grown = realloc(words->text, words->length + length + 2);
	if (!grown)
		return failed(reterr, -ENOMEM, "cannot write an argument");
	memcpy(grown + words->length, word, length);
	memcpy(grown + words->length + length, "\n", 2);
	words->text = grown;
	words->length += length + 1;
	return 0;
}

const char *path_with_colon(const char *host_path, const char *container_path)
{
	if (strchr(host_path, ':'))
		return host_path;
	return strchr(container_path, ':') ? container_path : NULL;
}

static int words_add_devices(struct words *words, const char *runtime,
			     const struct planned_container *container, struct failure *reterr)
{
	int r = 0;

	for (size_t i = 0; i < container->device_count && r == 0; i++) {
		const struct planned_device *device = &container->devices[i];
		const char *colon = path_with_colon(device->host_path, device->container_path);

		if (colon)
			return failed_plain(reterr, -EOPNOTSUPP,
					    "%s cannot express a device whose path has a colon: "
					    "'%s'",
					    runtime, colon);
		r = words_add(words, reterr, "--device=%s:%s:%s", device->host_path,
			      device->container_path, device->read_only ? "r" : "rwm");
	}
	return r;
}

static int words_add_groups(struct words *words, const struct container_plan *plan,
			    struct failure *reterr)
{
	int r = 0;

	for (size_t i = 0; i < plan->group_count && r == 0; i++)
		r = words_add(words, reterr, "--group-add=%u", plan->groups[i]);
	return r;
}

int words_add_plan(struct words *words, const char *runtime, const struct container_plan *plan,
		   const struct planned_container *container, words_mount_fn *add_mount,
		   struct failure *reterr)
{
	int r = 0;

	assert(words && plan && container);
	for (size_t i = 0; i < container->mount_count && r == 0; i++)
		r = add_mount(&container->mounts[i], words, reterr);
	if (r == 0)
		r = words_add_devices(words, runtime, container, reterr);
	return r < 0 ? r : words_add_groups(words, plan, reterr);
}

void words_done(struct words *words)
{
	free(words->text);
	*words = (struct words){ 0 };
}

/* RFC 4180, and what Go's encoding/csv reads: a field that begins with a quote ends with one. */
char *word_field(const char *key, const char *value)
{
	size_t length = strlen(key) + strlen(value) * 2 + strlen("=\"\"");
	bool quoted = strpbrk(value, ",\"\r\n") != NULL;
	char *word = malloc(length + 1), *to = word;

	assert(key && value);
	if (!word)
		return NULL;
	if (quoted)
		*to++ = '"';
	to = mempcpy(to, key, strlen(key));
	*to++ = '=';
	for (; *value; value++) {
		if (*value == '"')
			*to++ = '"';
		*to++ = *value;
	}
	if (quoted)
		*to++ = '"';
	*to = '\0';
	return word;
}

char *word_escaped(const char *text, const char *special)
{
	char *word, *to;

	assert(text && special);
	word = to = malloc(strlen(text) * 2 + 1);
	if (!word)
		return NULL;
	for (; *text; text++) {
		if (*text == '\\' || strchr(special, *text))
			*to++ = '\\';
		*to++ = *text;
	}
	*to = '\0';
	return word;
}
