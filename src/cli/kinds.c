/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds - see kinds.h: aggregated discovery of /api and /apis as rows
 */
#include "cli/kinds.h"

#include "cli/output/screen.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "object/json/json.h"
#include "object/kind.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#define DISCOVERY "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

enum { PATHS = 2, SHORT_NAMES_MAX = 4 };

/* Plural, singular, are its rows of pods?, may it be watched?, has a row a name?, short names. */
#define VIEW(plural_, singular_, of_pods_, watched_, named_, ...)                                  \
	{                                                                                          \
		.name = "", .plural = plural_, .singular = singular_, .prefix = "/podvol/v1",      \
		.short_names = (const char *const[]){ __VA_ARGS__, NULL },                         \
		.rows_are_of_pods = of_pods_, .is_watched = watched_, .has_names = named_,         \
	}

static const struct kind views[] = {
	VIEW("volumes", "volume", true, true, true, "vol"),
	VIEW("operations", "operation", true, false, false, "op"),
	VIEW("steps", "step", true, false, false, NULL),
	VIEW("manifests", "manifest", true, false, false, NULL),
	VIEW("drivers", "driver", false, false, true, NULL),
	VIEW("statistics", "statistic", true, false, false, "stats"),
	VIEW("holds", "hold", true, false, false, NULL),
};

struct found_kind {
	struct kind kind;
	char prefix[128];
	const char *short_names[SHORT_NAMES_MAX + 1];
};

struct kinds {
	struct cJSON *trees[PATHS]; /* what the rows point into */
	struct found_kind *found;
	size_t count, allocated;
};

/* ---- discovery ---- */

static int add_kind(struct kinds *kinds, const char *group, const char *version,
		    const struct cJSON *resource)
{
	const struct cJSON *word;
	struct found_kind *found;
	size_t words = 0;

	if (ARRAY_ROOM(kinds->found, kinds->count, kinds->allocated, 32) < 0)
		return -ENOMEM;
	found = &kinds->found[kinds->count++];
	*found = (struct found_kind){ 0 };
	(void) snprintf(found->prefix, sizeof(found->prefix), "%s%s/%s", *group ? "/apis/" : "/api",
			group, version);
	word = json_first(json_get(resource, "shortNames"));
	for (; word && words < SHORT_NAMES_MAX; word = json_next(word))
		found->short_names[words++] = json_string(word, "");
	found->kind.name = json_text(json_get(resource, "responseKind"), "kind");
	found->kind.plural = json_text(resource, "resource");
	found->kind.singular = json_text(resource, "singularResource");
	found->kind.namespaced = json_text_is(resource, "scope", "Namespaced");
	return 0;
}

static int add_group(struct kinds *kinds, const struct cJSON *group)
{
	const char *name = json_text(json_get(group, "metadata"), "name");
	const struct cJSON *version = json_first(json_get(group, "versions"));
	const struct cJSON *resource;
	int r = 0;

	/* The first version is the preferred one. */
	resource = json_first(json_get(version, "resources"));
	for (; r == 0 && resource; resource = json_next(resource))
		r = add_kind(kinds, name, json_text(version, "version"), resource);
	return r;
}

static int get_list(struct cli *cli, const char *path, struct cJSON **ret)
{
	const struct podvol_request request = {
		.method = "GET", .path = path, .accept = DISCOVERY, .timeout_msec = cli->hurry_msec
	};

	return cli_request_tree(cli, &request, ret);
}

/* Rows move while they are added: pointers into them are set when all are there. */
static void finish(struct kinds *kinds)
{
	for (size_t i = 0; i < kinds->count; i++) {
		kinds->found[i].kind.prefix = kinds->found[i].prefix;
		kinds->found[i].kind.short_names = kinds->found[i].short_names;
	}
}

int kinds_load(struct cli *cli)
{
	static const char *const paths[PATHS] = { "/api", "/apis" };
	const struct cJSON *group;
	struct kinds *kinds;
	int r = 0;

	assert(cli);
	if (cli->kinds)
		return EXIT_DONE;
	kinds = calloc(1, sizeof(*kinds));
	if (!kinds)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < PATHS; i++) {
		r = get_list(cli, paths[i], &kinds->trees[i]);
		group = json_first(json_get(kinds->trees[i], "items"));
		for (; r == 0 && group; group = json_next(group))
			r = add_group(kinds, group);
	}
	if (r < 0) {
		kinds_free(kinds);
		return cli_failed(cli, r);
	}
	finish(kinds);
	cli->kinds = kinds;
	return EXIT_DONE;
}

void kinds_free(struct kinds *kinds)
{
	if (!kinds)
		return;
	for (size_t i = 0; i < PATHS; i++)
		json_free(kinds->trees[i]);
	free(kinds->found);
	free(kinds);
}

/* ---- looking up ---- */

const struct kind *kinds_at(const struct cli *cli, size_t index)
{
	size_t count = cli->kinds ? cli->kinds->count : 0;

	if (index < count)
		return &cli->kinds->found[index].kind;
	return index - count < ARRAY_SIZE(views) ? &views[index - count] : NULL;
}

static bool is_called(const struct kind *kind, const char *word)
{
	if (strcasecmp(kind->plural, word) == 0 || strcasecmp(kind->singular, word) == 0)
		return true;
	for (size_t i = 0; kind->short_names[i]; i++)
		if (strcasecmp(kind->short_names[i], word) == 0)
			return true;
	return false;
}

int kinds_find(struct cli *cli, const char *word, const struct kind **ret)
{
	int status;

	assert(cli && word && ret);
	for (size_t i = 0; i < ARRAY_SIZE(views); i++) {
		if (is_called(&views[i], word)) {
			*ret = &views[i];
			return EXIT_DONE;
		}
	}
	status = kinds_load(cli);
	if (status != EXIT_DONE)
		return status;
	for (size_t i = 0; (*ret = kinds_at(cli, i)); i++)
		if (is_called(*ret, word))
			return EXIT_DONE;
	return cli_end(cli, EXIT_USAGE, "unknown kind '%s': see 'podvolctl kinds'", word);
}

int kinds_find_name(struct cli *cli, const char *name, const struct kind **ret)
{
	int status = kinds_load(cli);

	if (status != EXIT_DONE)
		return status;
	for (size_t i = 0; *name && (*ret = kinds_at(cli, i)); i++)
		if (strcmp((*ret)->name, name) == 0)
			return EXIT_DONE;
	return cli_end(cli, EXIT_FAILED, "unknown kind '%s': see 'podvolctl kinds'", name);
}

bool kind_is_view(const struct kind *kind)
{
	return *kind->name == '\0';
}

char *kinds_path(const struct kind *kind, const char *name_space, const char *name,
		 const char *query)
{
	bool in_namespace = kind->namespaced && name_space;
	cleanup_free char *escaped_space = podvol_escape(in_namespace ? name_space : "");
	cleanup_free char *escaped = podvol_escape(name ? name : "");
	char *path;

	if (!escaped_space || !escaped ||
	    asprintf(&path, "%s%s%s/%s%s%s%s%s", kind->prefix, in_namespace ? "/namespaces/" : "",
		     escaped_space, kind->plural, name ? "/" : "", escaped,
		     query && *query ? "?" : "", query ? query : "") < 0)
		return NULL;
	return path;
}

/* ---- the verb ---- */

int verb_kinds(struct cli *cli)
{
	struct sheet *sheet;
	int status = kinds_load(cli);

	if (status != EXIT_DONE)
		return status;
	sheet = sheet_new((const char *const[]){ "Name", "Short Names", "Namespaced", "Kind" }, 4);
	for (size_t i = 0; kinds_at(cli, i); i++) {
		const struct kind *kind = kinds_at(cli, i);
		const char *const *words = kind->short_names;
		char short_names[128];

		(void) snprintf(short_names, sizeof(short_names), "%s%s%s",
				words[0] ? words[0] : "", words[0] && words[1] ? "," : "",
				words[0] && words[1] ? words[1] : "");
		sheet_add(sheet,
			  (const char *const[]){ kind->plural, short_names,
						 kind->namespaced ? "true" : "false", kind->name });
	}
	sheet_print(cli, sheet);
	sheet_free(sheet);
	return EXIT_DONE;
}

/* ---- KIND/NAME without a daemon ---- */

/* As this podvolctl was built; a view, too. False: no kind is called so. */
static bool find_built_in(const char *word, struct kind *ret)
{
	static const char *const none[] = { NULL };

	for (size_t i = 0; i < ARRAY_SIZE(views); i++)
		if (is_called(&views[i], word)) {
			*ret = views[i];
			return true;
		}
	for (enum object_kind i = 0; i < KIND_COUNT; i++) {
		const struct kind_row *row = kind_row(i);
		const struct kind kind = { .name = row->name,
					   .plural = row->plural,
					   .singular = row->singular,
					   .short_names = row->short_names ?: none,
					   .namespaced = row->namespaced };

		if (!is_called(&kind, word))
			continue;
		*ret = kind;
		return true;
	}
	return false;
}

const char *kind_of_word(const char *word, struct kind *ret)
{
	const char *slash = strchr(word, '/');
	cleanup_free char *before = slash ? strndup(word, (size_t) (slash - word)) : NULL;

	assert(ret);
	return before && slash[1] && find_built_in(before, ret) ? slash + 1 : NULL;
}

const char *named_volume(const char *word)
{
	struct kind kind;
	const char *name = kind_of_word(word, &kind);

	return name && (strcmp(kind.singular, "volume") == 0 ||
			strcmp(kind.singular, "persistentvolume") == 0)
		       ? name
		       : NULL;
}

const char *named_claim(const char *word)
{
	struct kind kind;
	const char *name = kind_of_word(word, &kind);

	return name && strcmp(kind.singular, "persistentvolumeclaim") == 0 ? name : NULL;
}
