/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity - is the server still that of the cluster whose objects the store keeps?
 *
 * The uid of the namespace kube-system names a cluster and is compared where it may be read (one
 * rule of examples/cluster/rbac.yaml); else the uid of the own Node, which a restored etcd still
 * has and another cluster never. What was seen is kept in the store, as a ConfigMap of a name that
 * is never mirrored, in the same group of writes as the pods that it goes with.
 */
#include "cluster/cluster_internal.h"

#include "base/log.h"
#include "object/json/json.h"

#include <assert.h>
#include <inttypes.h>

enum { UID_BYTES = 64 };

struct identity {
	struct cluster *cluster;
	char node_name[254], node_uid[UID_BYTES], cluster_uid[UID_BYTES]; /* "": not known */
	char *kept;
	uint64_t newest;
	bool is_other, is_forbidden; /* to read the namespace */
};

struct identity_check {
	struct cluster *cluster;
	struct request *request;
	void (*done)(void *userdata, enum identity_verdict verdict);
	void *userdata;
	char node_uid[UID_BYTES], cluster_uid[UID_BYTES];
	bool asks_namespace;
	char path[CLUSTER_PATH_BYTES];
};

/* ---- what the store has kept ---- */

static void take(const struct cJSON *data, const char *key, char *to, size_t size)
{
	(void) snprintf(to, size, "%s", json_text(data, key));
}

static void recall(struct identity *identity)
{
	const struct object *object = store_get(identity->cluster->options.store, KIND_CONFIG_MAP,
						IDENTITY_NAMESPACE, IDENTITY_NAME);
	cleanup_json struct cJSON *tree = object ? object_tree(object) : NULL;
	const struct cJSON *data = json_get(tree, "data");

	take(data, "node", identity->node_name, sizeof(identity->node_name));
	take(data, "nodeUID", identity->node_uid, sizeof(identity->node_uid));
	take(data, "clusterUID", identity->cluster_uid, sizeof(identity->cluster_uid));
	identity->newest = strtoull(json_string(json_get(data, "newest"), "0"), NULL, 10);
	identity->kept = strdup(json_text(data, "kept"));
}

static void write_kept(struct cluster *cluster)
{
	const struct identity *identity = cluster->identity;
	cleanup_object const struct object *object = NULL;
	cleanup_json struct cJSON *tree = json_new_object();
	struct cJSON *metadata, *data;
	struct failure why = { 0 };
	char newest[24];
	int r;

	(void) json_set_string(tree, "apiVersion", "v1");
	(void) json_set_string(tree, "kind", "ConfigMap");
	metadata = json_add_object(tree, "metadata");
	(void) json_set_string(metadata, "namespace", IDENTITY_NAMESPACE);
	(void) json_set_string(metadata, "name", IDENTITY_NAME);
	data = json_add_object(tree, "data");
	(void) snprintf(newest, sizeof(newest), "%" PRIu64, identity->newest);
	(void) json_set_string(data, "node", identity->node_name);
	(void) json_set_string(data, "nodeUID", identity->node_uid);
	(void) json_set_string(data, "clusterUID", identity->cluster_uid);
	(void) json_set_string(data, "newest", newest);
	(void) json_set_string(data, "kept", identity->kept);
	r = object_from_json(tree, &object, &why);
	if (r == 0)
		r = store_mirror(cluster->options.store, object, NULL, NULL);
	if (r < 0)
		log_message(LOG_WARNING, "the identity of the cluster is not stored: %s",
			    *why.text ? why.text : strerror(-r));
}

uint64_t identity_newest(const struct identity *identity)
{
	return identity->newest;
}

const char *identity_kept(const struct identity *identity)
{
	return identity->kept;
}

void identity_keep(struct cluster *cluster, uint64_t newest, const char *kept)
{
	struct identity *identity = cluster->identity;
	char *copy = strdup(kept);

	if (!copy || (newest == identity->newest && strcmp(kept, identity->kept) == 0)) {
		free(copy);
		return;
	}
	free(identity->kept);
	identity->kept = copy;
	identity->newest = newest;
	write_kept(cluster);
}

/* ---- what was seen ---- */

/* False: it is known, or the server did not say. */
static bool take_uid(char *known, const char *uid)
{
	if (uid[0] == '\0' || strcmp(known, uid) == 0)
		return false;
	memcpy(known, uid, UID_BYTES);
	return true;
}

static void adopt(struct cluster *cluster, const struct identity_check *check)
{
	struct identity *identity = cluster->identity;
	bool is_new_node = take_uid(identity->node_uid, check->node_uid);

	if (!take_uid(identity->cluster_uid, check->cluster_uid) && !is_new_node)
		return;
	(void) snprintf(identity->node_name, sizeof(identity->node_name), "%s",
			cluster->options.node_name);
	write_kept(cluster);
}

/* Of an identity that is renamed the Node's uid says nothing. */
static enum identity_verdict compare(const struct identity *identity,
				     const struct identity_check *check)
{
	if (identity->cluster_uid[0] && check->cluster_uid[0])
		return strcmp(identity->cluster_uid, check->cluster_uid) == 0 ? IDENTITY_SAME
									      : IDENTITY_OTHER;
	if (check->node_uid[0] == '\0')
		return IDENTITY_UNKNOWN;
	if (identity->node_uid[0] == '\0' && identity->cluster_uid[0] == '\0')
		return IDENTITY_SAME; /* the first one */
	return strcmp(identity->node_uid, check->node_uid) == 0 ? IDENTITY_SAME : IDENTITY_OTHER;
}

static void conclude(struct identity_check *check)
{
	struct cluster *cluster = check->cluster;
	struct identity *identity = cluster->identity;
	enum identity_verdict verdict = compare(identity, check);
	bool was_other = identity->is_other;

	if (verdict != IDENTITY_UNKNOWN)
		identity->is_other = verdict == IDENTITY_OTHER;
	if (verdict == IDENTITY_SAME)
		adopt(cluster, check);
	if (identity->is_other && !was_other)
		log_message(LOG_ERR,
			    "another cluster answers at '%s', or the Node '%s' was made again: "
			    "nothing is taken from it, and every volume stays as it is; start "
			    "podvold with --new-cluster if this is wanted",
			    cluster->kubeconfig.server, cluster->options.node_name);
	check->done(check->userdata, verdict);
	free(check);
}

/* ---- asking ---- */

static int send_request(struct identity_check *check);

static void read_uid(const struct http_answer *answer, const char *kind, char ret[UID_BYTES])
{
	const struct json_limits limits = { .bytes = answer->length + 1, .depth = 64 };
	cleanup_json struct cJSON *tree = NULL;
	struct failure why;

	if (json_parse(answer->body, answer->length, &limits, &tree, &why) == 0 &&
	    json_text_is(tree, "kind", kind))
		take(json_get(tree, "metadata"), "uid", ret, UID_BYTES);
}

static void on_answer(void *userdata, const struct http_answer *answer)
{
	struct identity_check *check = userdata;
	struct cluster *cluster = check->cluster;
	struct identity *identity = cluster->identity;

	check->request = NULL;
	contact_note(cluster, answer);
	if (answer->error == 0 && answer->status == 200)
		read_uid(answer, check->asks_namespace ? "Namespace" : "Node",
			 check->asks_namespace ? check->cluster_uid : check->node_uid);
	if (check->asks_namespace) {
		identity->is_forbidden = answer->status == 403;
		/* Half the answer is none: what could be read before may differ now. */
		if (answer->status != 403 && check->cluster_uid[0] == '\0')
			check->node_uid[0] = '\0';
	} else if (!identity->is_forbidden) {
		check->asks_namespace = true;
		if (send_request(check) == 0)
			return;
		check->node_uid[0] = '\0';
	}
	conclude(check);
}

static int send_request(struct identity_check *check)
{
	struct cluster *cluster = check->cluster;
	const struct http_request request = {
		.method = "GET", .path = check->path, .done = on_answer, .userdata = check
	};
	bool fits = check->asks_namespace
			    ? cluster_path(kind_row(KIND_NAMESPACE), NULL, "kube-system", "",
					   check->path)
			    : cluster_path(kind_row(KIND_NODE), NULL, cluster->options.node_name,
					   "", check->path);

	return fits ? requests_send(cluster->requests, &request, &check->request) : -EINVAL;
}

int identity_check_start(struct cluster *cluster,
			 void (*done)(void *userdata, enum identity_verdict), void *userdata,
			 struct identity_check **ret)
{
	struct identity_check *check = calloc(1, sizeof(*check));
	int r;

	assert(cluster && done && ret);
	if (!check)
		return -ENOMEM;
	check->cluster = cluster;
	check->done = done;
	check->userdata = userdata;
	r = send_request(check);
	if (r < 0) {
		free(check);
		return r;
	}
	*ret = check;
	return 0;
}

struct identity_check *identity_cancel(struct identity_check *check)
{
	if (!check)
		return NULL;
	(void) request_cancel(check->request);
	free(check);
	return NULL;
}

/* ---- life ---- */

int identity_new(struct cluster *cluster)
{
	struct identity *identity = calloc(1, sizeof(*identity));

	if (!identity)
		return -ENOMEM;
	identity->cluster = cluster;
	cluster->identity = identity;
	recall(identity);
	if (!identity->kept)
		return -ENOMEM;
	if (cluster->options.is_new_cluster ||
	    (identity->node_name[0] &&
	     strcmp(identity->node_name, cluster->options.node_name) != 0))
		identity->node_uid[0] = '\0';
	if (cluster->options.is_new_cluster) {
		identity->cluster_uid[0] = identity->kept[0] = '\0';
		identity->newest = 0;
	}
	return 0;
}

struct identity *identity_free(struct identity *identity)
{
	if (!identity)
		return NULL;
	free(identity->kept);
	free(identity);
	return NULL;
}

bool identity_is_blank(const struct identity *identity)
{
	return identity->cluster_uid[0] == '\0' && identity->node_uid[0] == '\0';
}

bool identity_is_other(const struct identity *identity)
{
	return identity->is_other;
}

void identity_view(const struct cluster *cluster, struct cJSON *view)
{
	const struct identity *identity = cluster->identity;

	(void) json_set_string(view, "clusterUID", identity->cluster_uid);
	(void) json_set_string(view, "nodeUID", identity->node_uid);
	(void) json_set_bool(view, "otherCluster", identity->is_other);
}
