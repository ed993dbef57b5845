/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_api_path - what an untrusted client can write into a request's line and headers
 *
 * The input is the line's target, the Accept header and the Content-Type header, one per line. What
 * was taken apart keeps its promises: clean text inside the buffer, within the limits.
 */
#include "fuzz.h"

#include "api/exchange.h"
#include "api/path.h"

#include <stdlib.h>
#include <string.h>

static void check_text(const struct api_path *path, const char *text)
{
	HOLDS(text >= path->text && text < path->text + sizeof(path->text));
	for (; *text; text++)
		HOLDS((unsigned char) *text >= 0x20 && *text != 0x7f);
}

static void check_path(const char *uri)
{
	struct api_path path;
	struct failure why = { 0 };

	if (api_path_parse(uri, &path, &why) < 0) {
		HOLDS(why.text[0] != '\0');
		return;
	}
	HOLDS(path.segment_count <= API_SEGMENTS_MAX);
	HOLDS(path.parameter_count <= API_PARAMETERS_MAX);
	for (size_t i = 0; i < path.segment_count; i++) {
		check_text(&path, path.segments[i]);
		HOLDS(*path.segments[i] != '\0' && strcmp(path.segments[i], "..") != 0 &&
		      strcmp(path.segments[i], ".") != 0);
	}
	for (size_t i = 0; i < path.parameter_count; i++) {
		const char *first;

		check_text(&path, path.parameters[i].name);
		if (*path.parameters[i].value)
			check_text(&path, path.parameters[i].value);
		first = api_path_parameter(&path, path.parameters[i].name);
		HOLDS(first != NULL);
	}
	HOLDS(api_path_matches(&path, "*") == (path.segment_count == 1));
	(void) api_path_matches(&path, "podvol/v1/pods/{namespace}/{pod}/mount");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *rest = text;
	const char *line;
	enum api_form form = FORM_JSON;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	line = strsep(&rest, "\n");
	check_path(line);
	line = rest ? strsep(&rest, "\n") : NULL;
	HOLDS(api_form_parse(line, FORMS_COMMON, &form) < 0 || (FORM_BIT(form) & FORMS_COMMON));
	HOLDS(api_content_parse(rest) <= CONTENT_OTHER);
	free(text);
	return 0;
}
