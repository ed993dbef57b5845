/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi - the OpenAPI documents: made when first asked for, kept, and sent
 *
 * /openapi/v2 is one document of everything, as JSON and as protocol buffers; /openapi/v3 names a
 * document for each group, with a hash of its text in the address, so that clients fetch it again
 * only when it changed; podvol/v1 is podvol's own API. Version 3 has no form in protocol buffers: a
 * client that asks for it gets 406 and takes JSON.
 *
 * A document follows from tables that never change, so there is one for the whole process and it
 * lives as long. The loop thread only.
 */
#include "api/openapi/openapi.h"

#include "api/exchange.h"
#include "base/fnv1a.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct openapi_text {
	char *bytes; /* NULL: not made yet */
	size_t length;
};

/* One of each: what clients can make us keep is bounded by the table of kinds. */
static struct {
	struct openapi_text v2, v2_packed, v3_index;
	struct openapi_text v3[KIND_COUNT]; /* at the first kind of each group */
	struct openapi_text podvol;
} documents;

/* ---- making ---- */

static bool is_of_group(const struct kind_row *row, const struct kind_row *group)
{
	return !group ||
	       (strcmp(row->group, group->group) == 0 && strcmp(row->version, group->version) == 0);
}

static struct cJSON *new_head(enum openapi_version version, struct cJSON **ret_paths,
			      struct cJSON **ret_definitions)
{
	struct cJSON *tree = json_new_object(), *info;

	(void) json_set_string(tree, version == OPENAPI_V2 ? "swagger" : "openapi",
			       version == OPENAPI_V2 ? "2.0" : "3.0.0");
	info = json_add_object(tree, "info");
	(void) json_set_string(info, "title", "podvol");
	(void) json_set_string(info, "version", "v1.32.0");
	*ret_paths = json_add_object(tree, "paths");
	*ret_definitions =
		version == OPENAPI_V2
			? json_add_object(tree, "definitions")
			: json_add_object(json_add_object(tree, "components"), "schemas");
	return tree;
}

/* @group: any kind of it; NULL: of all. */
static struct cJSON *new_document(enum openapi_version version, const struct kind_row *group)
{
	struct cJSON *paths, *definitions;
	struct cJSON *tree = new_head(version, &paths, &definitions);

	openapi_add_meta(definitions, version);
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct kind_row *row = kind_row((enum object_kind) kind);

		if (!is_of_group(row, group))
			continue;
		openapi_add_paths(paths, row, version);
		openapi_add_kind(definitions, row, version);
	}
	return tree;
}

static int keep_text(struct openapi_text *document, const struct cJSON *tree)
{
	free(document->bytes);
	document->bytes = tree ? json_print(tree) : NULL;
	if (!document->bytes)
		return -ENOMEM;
	document->length = strlen(document->bytes);
	return 0;
}

/* Both forms of one tree. Printing comes first: it fails when a part of the tree found no memory.
 */
static int make_v2(void)
{
	cleanup_json struct cJSON *tree = NULL;
	int r;

	if (documents.v2_packed.bytes)
		return 0;
	tree = new_document(OPENAPI_V2, NULL);
	r = keep_text(&documents.v2, tree);
	if (r < 0)
		return r;
	return openapi_pack(tree, &documents.v2_packed.bytes, &documents.v2_packed.length);
}

/* The first kind of each group stands for it; -1: no such group. */
static int find_group(const char *group, const char *version)
{
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct kind_row *row = kind_row((enum object_kind) kind);

		if (strcmp(row->group, group) == 0 && strcmp(row->version, version) == 0)
			return kind;
	}
	return -1;
}

static int make_v3(int group)
{
	cleanup_json struct cJSON *tree = NULL;

	if (documents.v3[group].bytes)
		return 0;
	tree = new_document(OPENAPI_V3, kind_row((enum object_kind) group));
	return keep_text(&documents.v3[group], tree);
}

static int make_podvol(void)
{
	cleanup_json struct cJSON *tree = NULL;
	struct cJSON *paths, *definitions;

	if (documents.podvol.bytes)
		return 0;
	tree = new_head(OPENAPI_V3, &paths, &definitions);
	openapi_add_podvol(paths, definitions);
	openapi_add_security(tree);
	return keep_text(&documents.podvol, tree);
}

static void add_to_index(struct cJSON *paths, const char *path, const struct openapi_text *document)
{
	char url[2 * OPENAPI_NAME_BYTES];

	(void) snprintf(url, sizeof(url), "/openapi/v3/%s?hash=%016" PRIX64, path,
			fnv1a_add_bytes(FNV1A_FIRST, document->bytes, document->length));
	(void) json_set_string(json_add_object(paths, path), "serverRelativeURL", url);
}

static int make_v3_index(void)
{
	cleanup_json struct cJSON *tree = NULL;
	struct cJSON *paths;
	int r;

	if (documents.v3_index.bytes)
		return 0;
	r = make_podvol();
	if (r < 0)
		return r;
	tree = json_new_object();
	paths = json_add_object(tree, "paths");
	add_to_index(paths, "podvol/v1", &documents.podvol);
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct kind_row *row = kind_row((enum object_kind) kind);
		char path[OPENAPI_NAME_BYTES];

		if (find_group(row->group, row->version) != kind)
			continue;
		r = make_v3(kind);
		if (r < 0)
			return r;
		(void) snprintf(path, sizeof(path), "%s%s/%s", *row->group ? "apis/" : "api",
				row->group, row->version);
		add_to_index(paths, path, &documents.v3[kind]);
	}
	return keep_text(&documents.v3_index, tree);
}

/* ---- sending ---- */

/* @r: what making it gave. */
static void reply_document(struct exchange *exchange, int r, const struct openapi_text *document)
{
	char *copy = NULL;

	if (r == 0)
		copy = malloc(document->length + 1);
	if (copy) {
		memcpy(copy, document->bytes, document->length);
		copy[document->length] = '\0';
	}
	reply_bytes(exchange, 200, api_form_type(exchange->form), copy,
		    copy ? document->length : 0);
}

void openapi_v2(struct exchange *exchange)
{
	reply_document(exchange, make_v2(),
		       exchange->form == FORM_OPENAPI ? &documents.v2_packed : &documents.v2);
}

void openapi_v3(struct exchange *exchange)
{
	reply_document(exchange, make_v3_index(), &documents.v3_index);
}

/* openapi/v3/api/VERSION and openapi/v3/apis/GROUP/VERSION. */
void openapi_v3_group(struct exchange *exchange)
{
	const struct api_path *path = &exchange->path;
	int group;

	assert(path->segment_count == 4 || path->segment_count == 5);
	group = find_group(path->segment_count == 5 ? path->segments[3] : "",
			   path->segments[path->segment_count - 1]);
	if (group < 0)
		reply_refusal(exchange, API_NOT_FOUND,
			      "the server could not find the requested resource");
	else
		reply_document(exchange, make_v3(group), &documents.v3[group]);
}

void openapi_v3_podvol(struct exchange *exchange)
{
	reply_document(exchange, make_podvol(), &documents.podvol);
}
