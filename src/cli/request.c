/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request - paths of the API with names in them, whatever bytes these have, and what is answered as
 * a tree
 *
 * Whether there is such a path is the daemon's to say.
 */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "object/json/json.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

enum { ANSWER_DEPTH_MAX = 80 };

/* False: no memory, or the text is NULL. */
static bool put_next(FILE *out, char conversion, va_list *arguments)
{
	cleanup_free char *escaped = NULL;

	switch (conversion) {
	case 's':
		escaped = podvol_escape(va_arg(*arguments, const char *));
		return escaped && fputs(escaped, out) >= 0;
	case 'u':
		return fprintf(out, "%u", va_arg(*arguments, unsigned int)) > 0;
	default:
		assert(conversion == '%');
		return fputc('%', out) != EOF;
	}
}

char *cli_path(const char *format, ...)
{
	char *path = NULL;
	size_t length;
	FILE *out = open_memstream(&path, &length);
	bool is_whole = out;
	va_list arguments;

	va_start(arguments, format);
	for (; is_whole && *format; format++)
		is_whole = *format == '%' ? put_next(out, *++format, &arguments)
					  : fputc(*format, out) != EOF;
	va_end(arguments);
	if (out && fclose(out) != 0)
		is_whole = false;
	if (!is_whole)
		free(TAKE_PTR(path));
	return path;
}

char *cli_pod_path(const char *pod, const char *tail)
{
	const char *slash = strchr(pod, '/');
	cleanup_free char *space = slash ? strndup(pod, (size_t) (slash - pod)) : NULL;
	cleanup_free char *base = slash ? cli_path("/podvol/v1/pods/%s/%s", space, slash + 1)
					: cli_path("/podvol/v1/pods/%s", pod);

	return base ? new_text("%s%s", base, tail) : NULL;
}

int cli_request_tree(struct cli *cli, const struct podvol_request *request, struct cJSON **ret)
{
	struct podvol_reply reply = { 0 };
	int r = request->path ? podvol_request(cli->podvol, request, &reply) : -ENOMEM;

	if (r == 0) {
		const struct json_limits limits = { .bytes = reply.length + 1,
						    .depth = ANSWER_DEPTH_MAX };

		r = json_parse(reply.body, reply.length, &limits, ret, NULL);
		if (r < 0 && r != -ENOMEM)
			r = -EILSEQ;
	}
	podvol_reply_done(&reply);
	return r;
}

int cli_send_patch(struct cli *cli, const char *path, const char *type, const char *patch)
{
	const struct podvol_request request = { .method = "PATCH",
						.path = path,
						.content_type = type,
						.body = patch,
						.body_length = patch ? strlen(patch) : 0 };
	int r = path && patch ? podvol_request(cli->podvol, &request, NULL) : -ENOMEM;

	return r < 0 ? cli_failed(cli, r) : EXIT_DONE;
}
