/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact - see report.h: texts of objects and drivers on their way out of the node
 *
 * The report asks for no object that holds a secret; drivers, mount options and people put them
 * into other texts. What is known as a value of a Secret is found wherever it stands, the rest by
 * the words before it: a secret that looks like any other word and is stored nowhere stays.
 */
#include "cli/report/report.h"

#include "cli/output/screen.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "object/json/base64.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char left_out[] = "[left out]";

struct redactor {
	char **values;
	size_t count, allocated;
};

/* ---- what is known ---- */

/* Takes @value; NULL: no memory. */
static int add_value(struct redactor *redactor, char *value)
{
	if (!value)
		return -ENOMEM;
	if (strlen(value) < REDACT_BYTES_MIN) {
		free(value);
		return 0;
	}
	if (ARRAY_ROOM(redactor->values, redactor->count, redactor->allocated, 32) < 0) {
		free(value);
		return -ENOMEM;
	}
	redactor->values[redactor->count++] = value;
	return 0;
}

static int add_markup(struct redactor *redactor, const char *value)
{
	cleanup_free char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	if (!file)
		return -ENOMEM;
	text_print_markup(file, value);
	if (fclose(file) != 0)
		return -ENOMEM;
	return strcmp(text, value) == 0 ? 0 : add_value(redactor, TAKE_PTR(text));
}

/* A key file is known line by line: whatever prints it may indent. Bytes that are no text are known
 * as base64 only. */
static int add_encoded(struct redactor *redactor, const char *encoded)
{
	cleanup_free char *bytes = NULL;
	char *rest, *line;
	size_t length;
	int r = add_value(redactor, strdup(encoded));

	if (r < 0 || base64_decode(encoded, &bytes, &length) < 0 || memchr(bytes, 0, length))
		return r;
	rest = strndup(bytes, length);
	if (!rest)
		return -ENOMEM;
	free(bytes);
	bytes = rest;
	while (r == 0 && (line = strsep(&rest, "\r\n"))) {
		r = add_value(redactor, strdup(line));
		if (r == 0)
			r = add_markup(redactor, line);
	}
	return r;
}

static int add_secrets(struct redactor *redactor, const struct cJSON *list)
{
	const struct cJSON *secret = json_first(json_get(list, "items")), *value;
	int r = 0;

	for (; secret; secret = json_next(secret))
		for (value = json_first(json_get(secret, "data")); r == 0 && value;
		     value = json_next(value))
			r = add_encoded(redactor, json_string(value, ""));
	return r;
}

int redactor_new(struct cli *cli, struct redactor **ret, char *ret_why, size_t size)
{
	const struct podvol_request request = { .method = "GET",
						.path = "/api/v1/secrets",
						.accept = "application/json" };
	struct redactor *redactor = calloc(1, sizeof(*redactor));
	cleanup_json struct cJSON *list = NULL;
	int r;

	if (!redactor)
		return -ENOMEM;
	*ret_why = '\0';
	r = cli_request_tree(cli, &request, &list);
	if (r < 0)
		(void) snprintf(ret_why, size, "%s",
				r == -EILSEQ ? "the answer is not valid JSON"
					     : podvol_error(cli->podvol));
	else
		r = add_secrets(redactor, list);
	if (r == -ENOMEM) {
		redactor_free(redactor);
		return -ENOMEM;
	}
	*ret = redactor;
	return 0;
}

void redactor_free(struct redactor *redactor)
{
	if (!redactor)
		return;
	for (size_t i = 0; i < redactor->count; i++) {
		explicit_bzero(redactor->values[i], strlen(redactor->values[i]));
		free(redactor->values[i]);
	}
	free(redactor->values);
	free(redactor);
}

/* ---- what is found: each returns the bytes of it that are secret at @text, and in @ret_shown the
 * ones before them that are not; 0: nothing ---- */

static size_t known_value(const struct redactor *redactor, const char *text)
{
	size_t longest = 0;

	for (size_t i = 0; i < redactor->count; i++) {
		size_t length = strlen(redactor->values[i]);

		if (length > longest && *text == *redactor->values[i] &&
		    strncmp(text, redactor->values[i], length) == 0)
			longest = length;
	}
	return longest;
}

static size_t named_value(const char *text, size_t *ret_shown)
{
	static const struct {
		const char *name, *separators;
	} rows[] = {
		{ "password", "=:" }, { "passwd", "=:" }, { "pass", "=" },        { "pwd", "=" },
		{ "token", "=" },     { "secret", "=" },  { "credentials", "=" }, { "key", "=" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t at = strlen(rows[i].name), length;

		if (strncasecmp(text, rows[i].name, at) != 0)
			continue;
		at += text[at] == '"';
		if (!text[at] || !strchr(rows[i].separators, text[at]))
			continue;
		at++;
		at += strspn(text + at, " ");
		at += text[at] == '"' || text[at] == '\'';
		length = strcspn(text + at, " \t\r\n,;&\"'");
		if (length == 0)
			continue;
		*ret_shown = at;
		return length;
	}
	return 0;
}

/* "://user:password@host" */
static size_t url_password(const char *text, size_t *ret_shown)
{
	static const char begin[] = "://";
	size_t length, colon;

	if (strncmp(text, begin, strlen(begin)) != 0)
		return 0;
	length = strcspn(text + strlen(begin), "@/ \t\r\n");
	if (text[strlen(begin) + length] != '@')
		return 0;
	colon = strcspn(text + strlen(begin), ":") + 1;
	if (colon >= length)
		return 0;
	*ret_shown = strlen(begin) + colon;
	return length - colon;
}

/* Three parts of base64url, the first of them a JSON object. */
static size_t web_token(const char *text)
{
	static const char begin[] = "eyJ";
	size_t length = 0, dots = 0;

	if (strncmp(text, begin, strlen(begin)) != 0)
		return 0;
	for (; isalnum((unsigned char) text[length]) || strchr("-_.", text[length]); length++) {
		if (text[length] == '\0')
			break;
		dots += text[length] == '.';
	}
	return dots >= 2 ? length : 0;
}

char *redact(const struct redactor *redactor, const char *text)
{
	char *result = NULL;
	size_t size;
	FILE *out = open_memstream(&result, &size);

	while (out && *text) {
		size_t shown = 0, secret = known_value(redactor, text);

		if (secret == 0)
			secret = web_token(text);
		if (secret == 0)
			secret = named_value(text, &shown);
		if (secret == 0)
			secret = url_password(text, &shown);
		if (secret == 0) {
			(void) fputc(*text++, out);
			continue;
		}
		(void) fwrite(text, 1, shown, out);
		(void) fputs(left_out, out);
		text += shown + secret;
	}
	if (!out || fclose(out) != 0) {
		free(result);
		return NULL;
	}
	return result;
}
