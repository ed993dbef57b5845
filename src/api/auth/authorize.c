/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authorize - roles, the rights that an access needs, and what an object may hold; see authorize.h
 *
 * The first rule that fits decides. Reading needs RIGHT_READ, everything else RIGHT_WRITE, and what
 * the rule adds. What no rule names is not served, so it is allowed to no one.
 */
#include "api/auth/authorize.h"

#include "base/cleanup.h"
#include "object/json/json.h"
#include "object/kind.h"
#include "object/kinds/persistent_volume.h"

#include <assert.h>
#include <string.h>

/* ---- roles ---- */

const char role_names[] = "view, edit, operator or admin";

static const struct {
	const char *name;
	unsigned int rights;
} roles[] = {
	{ "view", RIGHT_READ },
	{ "edit", RIGHT_READ | RIGHT_WRITE },
	{ "operator", RIGHT_READ | RIGHT_WRITE | RIGHT_HOST },
	{ "admin", RIGHTS_ALL },
};

unsigned int role_rights(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		if (strcmp(roles[i].name, name) == 0)
			return roles[i].rights;
	return 0;
}

const char *role_name(unsigned int rights)
{
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		if (roles[i].rights == (rights & RIGHTS_ALL))
			return roles[i].name;
	return "none";
}

/* ---- rules ---- */

#define REVIEWS "authorization.k8s.io"
#define WHOAMI  "authentication.k8s.io"

enum { EVERYONE = 16 }; /* in place of rights: the access needs no right to write */

#define RESOURCE(verb_, group_, resource_, subresource_, needed_, why_)                            \
	{                                                                                          \
		.verb = verb_, .group = group_, .resource = resource_,                             \
		.subresource = subresource_, .needed = needed_, .why = why_                        \
	}
#define PATH(verb_, path_, needed_, why_)                                                          \
	{                                                                                          \
		.verb = verb_, .path = path_, .needed = needed_, .why = why_                       \
	}

static const struct rule {
	const char *verb;                           /* NULL: any; "write": all that does not read */
	const char *group, *resource, *subresource; /* NULL: any */
	const char *name_space, *name;              /* NULL: any */
	const char *path;                           /* "*" stands for one segment; NULL: any */
	unsigned int needed;
	const char *why;
} rules[] = {
	RESOURCE("create", REVIEWS, "selfsubjectaccessreviews", "", EVERYONE, NULL),
	RESOURCE("create", REVIEWS, "selfsubjectrulesreviews", "", EVERYONE, NULL),
	RESOURCE("create", WHOAMI, "selfsubjectreviews", "", EVERYONE, NULL),
	RESOURCE("create", WHOAMI, "tokenreviews", "", 0, NULL),
	RESOURCE("create", "", "serviceaccounts", "token", RIGHT_SECRETS,
		 "only root, or role admin, may create a token of a service account"),
	RESOURCE("write", "", "persistentvolumes", "status", RIGHT_HOST,
		 "role edit creates and changes volumes, nothing else of them"),
	RESOURCE("delete", "", "persistentvolumes", NULL, RIGHT_HOST,
		 "the data of a volume may go with it"),
	RESOURCE("deletecollection", "", "persistentvolumes", NULL, RIGHT_HOST,
		 "the data of a volume may go with it"),
	RESOURCE("write", "", "persistentvolumes", NULL, 0, NULL),
	{ .verb = "write",
	  .group = "",
	  .resource = "configmaps",
	  .name_space = NODE_MAP_NAMESPACE,
	  .name = NODE_MAP_NAME,
	  .needed = RIGHT_HOST,
	  .why = "role edit may not choose where root creates directories" },
	PATH(NULL, "podvol/v1/kubeconfig", RIGHT_SECRETS,
	     "only root, or role admin, may read the token of a kubeconfig"),
	PATH("write", "podvol/v1/keys", RIGHT_SECRETS,
	     "only root, or role admin, may renew the key that signs tokens"),
	PATH(NULL, "podvol/v1/tokens", RIGHT_SECRETS,
	     "only root, or role admin, may manage tokens"),
	PATH(NULL, "podvol/v1/certificates/*", RIGHT_SECRETS,
	     "only root, or role admin, may revoke certificates"),
	PATH(NULL, "podvol/v1/tokens/*", RIGHT_SECRETS,
	     "only root, or role admin, may manage tokens"),
	PATH(NULL, "podvol/v1/volumes/*/force", RIGHTS_ALL,
	     "only root, or role admin, may force an unstage"),
	PATH(NULL, "podvol/v1/drivers/*/call", RIGHT_SECRETS,
	     "only root, or role admin, may call a CSI driver"),
};

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static bool reads(const char *verb)
{
	return strcmp(verb, "get") == 0 || strcmp(verb, "list") == 0 || strcmp(verb, "watch") == 0;
}

/* One that objects are served with, or a method's on a path. */
static bool is_verb(const char *verb)
{
	static const char *const known[] = { "create", "update", "patch", "delete",
					     "deletecollection" };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(known[i], verb) == 0)
			return true;
	return reads(verb);
}

static bool path_fits(const char *path, const char *pattern)
{
	while (*path && *pattern) {
		size_t length = strcspn(path, "/"), expected = strcspn(pattern, "/");
		bool any = expected == 1 && *pattern == '*';

		if (!any && (length != expected || strncmp(path, pattern, length) != 0))
			return false;
		path += length + (path[length] == '/');
		pattern += expected + (pattern[expected] == '/');
	}
	return *path == *pattern;
}

static bool text_fits(const char *expected, const char *text)
{
	return !expected || strcmp(expected, or_empty(text)) == 0;
}

static bool rule_fits(const struct rule *rule, const struct access *access)
{
	if (rule->verb && strcmp(rule->verb, access->verb) != 0 &&
	    (strcmp(rule->verb, "write") != 0 || reads(access->verb)))
		return false;
	if (access->path)
		return rule->path && path_fits(access->path, rule->path);
	return !rule->path && text_fits(rule->group, access->group) &&
	       text_fits(rule->resource, access->resource) &&
	       text_fits(rule->subresource, access->subresource) &&
	       text_fits(rule->name_space, access->name_space) &&
	       text_fits(rule->name, access->name);
}

static const struct rule *find_rule(const struct access *access)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rule_fits(&rules[i], access))
			return &rules[i];
	return NULL;
}

static const struct kind_row *find_kind(const struct access *access)
{
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct kind_row *row = kind_row((enum object_kind) kind);

		if (strcmp(row->plural, access->resource) == 0 &&
		    strcmp(row->group, or_empty(access->group)) == 0)
			return row;
	}
	return NULL;
}

/* By the table of kinds, where no rule names the resource. 0: not served. */
static unsigned int kind_needs(const struct access *access, const char **ret_why)
{
	const struct kind_row *row = find_kind(access);
	const char *subresource = or_empty(access->subresource);

	if (!row || !is_verb(access->verb) ||
	    (*subresource && (!row->has_status || strcmp(subresource, "status") != 0))) {
		*ret_why = "podvold does not serve that";
		return 0;
	}
	if (row->secret) {
		*ret_why = "only root, or role admin, may read its contents";
		return RIGHT_SECRETS;
	}
	if (!reads(access->verb) && !row->namespaced) {
		*ret_why = "role edit writes what is in a namespace, and volumes";
		return RIGHT_HOST;
	}
	*ret_why = "";
	return RIGHT_READ;
}

bool authorize(unsigned int rights, const struct access *access, const char **ret_why)
{
	const struct rule *rule = find_rule(access);
	unsigned int needed;

	assert(access && access->verb && (access->path || access->resource) && ret_why);
	*ret_why = rule && rule->why ? rule->why : "";
	if (strcmp(access->verb, "*") == 0 ||
	    (access->resource && strcmp(access->resource, "*") == 0))
		return (rights & RIGHTS_ALL) == RIGHTS_ALL;
	if (rule)
		needed = rule->needed;
	else if (access->path)
		needed = RIGHT_READ;
	else
		needed = kind_needs(access, ret_why);
	if (needed == EVERYONE)
		return rights != 0;
	if (!rule && needed == 0)
		return false;
	if (!reads(access->verb))
		needed = (needed & ~(unsigned int) RIGHT_READ) | RIGHT_WRITE;
	else
		needed |= RIGHT_READ;
	return (rights & needed) == needed;
}

/* ---- what an object holds ---- */

/* A source that reaches what podvold, and not its writer, may reach. */
static int refuse_source(const struct cJSON *spec, const char *field, const char *source,
			 struct failure *reterr)
{
	if (!json_get(spec, source))
		return 0;
	return failed_plain(reterr, -EACCES, "%s.%s: Forbidden: role edit may not write it", field,
			    source);
}

/* Root would make a directory where it says. */
static int check_move(const char *to, const char *metadata, struct failure *reterr)
{
	if (to[0] != '/')
		return 0;
	return failed_plain(reterr, -EACCES,
			    "%s.annotations." ANNOTATION_MOVE_TO
			    ": Forbidden: role edit may name a class, and no path",
			    metadata);
}

static int check_template(const struct cJSON *volume, const char *field, struct failure *reterr)
{
	static const char path[] = "ephemeral.volumeClaimTemplate.metadata";
	const struct cJSON *metadata = json_get_path(volume, path);
	char name[128];

	(void) snprintf(name, sizeof(name), "%s.%s", field, path);
	return check_move(json_text(json_get(metadata, "annotations"), ANNOTATION_MOVE_TO), name,
			  reterr);
}

static int check_pod(unsigned int rights, const struct cJSON *spec, struct failure *reterr)
{
	const struct cJSON *volumes = json_get(spec, "volumes");
	size_t index = 0;
	int r = 0;

	if (!(rights & RIGHT_SECRETS))
		r = secret_paths_check(spec, reterr);
	if (rights & RIGHT_HOST)
		return r;
	for (const struct cJSON *at = json_first(volumes); at && r == 0; at = json_next(at)) {
		char field[64];

		(void) snprintf(field, sizeof(field), "spec.volumes[%zu]", index++);
		r = refuse_source(at, field, "hostPath", reterr);
		if (r == 0)
			r = refuse_source(at, field, "nfs", reterr);
		if (r == 0)
			r = refuse_source(at, field, "flexVolume", reterr);
		if (r == 0)
			r = check_template(at, field, reterr);
	}
	return r;
}

/* Secrets of any namespace: kubelet and podvold read them for the driver. */
static int check_csi(const struct cJSON *csi, struct failure *reterr)
{
	static const char suffix[] = "SecretRef";

	JSON_FOREACH (at, csi) {
		size_t length = strlen(json_key(at));

		if (length >= strlen(suffix) &&
		    strcmp(json_key(at) + length - strlen(suffix), suffix) == 0)
			return refuse_source(csi, "spec.csi", json_key(at), reterr);
	}
	return 0;
}

/* The Secret that the driver gets with the deletion. */
static int check_annotations(const struct cJSON *annotations, struct failure *reterr)
{
	static const char prefix[] = "volume.kubernetes.io/provisioner-deletion-secret-";

	JSON_FOREACH (at, annotations)
		if (strncmp(json_key(at), prefix, strlen(prefix)) == 0)
			return refuse_source(annotations, "metadata.annotations", json_key(at),
					     reterr);
	return 0;
}

static int check_volume(unsigned int rights, const struct cJSON *tree, struct failure *reterr)
{
	static const char *const sources[] = { "hostPath", "nfs", "flexVolume" };
	const struct cJSON *spec = json_get(tree, "spec");
	int r = check_annotations(json_get(json_get(tree, "metadata"), "annotations"), reterr);

	if (r == 0 && !(rights & RIGHT_BOUNDED_LOCAL))
		r = refuse_source(spec, "spec", "local", reterr);

	for (size_t i = 0; i < ARRAY_SIZE(sources) && r == 0; i++)
		r = refuse_source(spec, "spec", sources[i], reterr);
	return r < 0 ? r : check_csi(json_get(spec, "csi"), reterr);
}

int authorize_name(unsigned int rights, const char *verb, const struct object *object,
		   struct failure *reterr)
{
	const struct kind_row *row = kind_row(object->kind);
	const struct access access = { .verb = verb,
				       .group = row->group,
				       .resource = row->plural,
				       .name_space = object->meta.name_space,
				       .name = object->meta.name };
	const char *why;

	if (authorize(rights, &access, &why))
		return 0;
	return failed_plain(reterr, -EACCES, "%s '%s%s%s': %s", row->singular,
			    object->meta.name_space, *object->meta.name_space ? "/" : "",
			    object->meta.name, why);
}

int authorize_object(unsigned int rights, const struct object *object, struct failure *reterr)
{
	cleanup_json struct cJSON *tree = NULL;
	int r;

	assert(object);
	r = authorize_name(rights, "update", object, reterr);
	if (r < 0)
		return r;
	if (object->kind == KIND_PERSISTENT_VOLUME_CLAIM && !(rights & RIGHT_HOST))
		return check_move(object->claim->move_to, "metadata", reterr);
	if ((rights & RIGHTS_ALL) == RIGHTS_ALL ||
	    (object->kind != KIND_POD && object->kind != KIND_PERSISTENT_VOLUME))
		return 0;
	tree = object_tree(object);
	if (!tree)
		return failed(reterr, -ENOMEM, "cannot inspect an object");
	if (object->kind == KIND_POD)
		return check_pod(rights, json_get(tree, "spec"), reterr);
	return rights & RIGHT_HOST ? 0 : check_volume(rights, tree, reterr);
}
