/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registration - one request at a time, around the lease; see own_node.h
 *
 * Begins, and begins again after each failure, with a look: is it the same cluster, is there a
 * Node, who renews its lease? Then the lease is replaced by its resourceVersion, without another
 * look, until the server refuses that: a conflict means that another agent has written it.
 */
#include "cluster/own_node.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timer.h"
#include "cluster/cluster_internal.h"
#include "object/json/json.h"
#include "object/timestamp.h"

#include <sys/random.h>

enum {
	SOON_MSEC = 1000,
	RENEW_MSEC = NODE_LEASE_SECONDS * 1000 / 4,
	RENEW_JITTER_MSEC = RENEW_MSEC / 25, /* kubelet's */
	REPORT_SECONDS = 300,                /* kubelet's nodeStatusReportFrequency */
	ADDRESS_BYTES = 64,
	SIGN_BYTES = 512,
};

#define LEASE_NAMESPACE "kube-node-lease"

struct registration {
	struct cluster *cluster;
	sd_event_source *timer; /* the next look, or renewal */
	struct request *request;
	struct identity_check *check;
	void (*answered)(struct registration *registration, const struct http_answer *answer);
	char node_uid[64];
	char lease_version[SERVER_VERSION_BYTES]; /* to be replaced; "": there is none */
	char renewed[TIMESTAMP_BYTES];            /* that podvold sent last */
	char stored[TIMESTAMP_BYTES];             /* of those the last that the server has stored */
	char heartbeat[NODE_HEARTBEAT_BYTES];     /* of another agent, in the Node */
	char sign[SIGN_BYTES];                    /* that and its lease */
	uint64_t sign_usec;                       /* monotonic: it is the same since then */
	uint64_t reported_usec;                   /* monotonic; 0: not yet */
	char address[ADDRESS_BYTES];
	bool has_met;                 /* a Node was there once */
	bool is_held;                 /* the lease is podvold's, as far as it knows */
	bool is_foreign;              /* another agent was seen to renew it, which was reported */
	char why[FAILURE_TEXT_BYTES]; /* the Node is not kept Ready */
};

/* ---- requests and pauses ---- */

static void check_identity(struct registration *registration);
static void renew(struct registration *registration);

static void later(struct registration *registration, uint64_t msec)
{
	timer_set_in(registration->timer, msec * 1000);
}

static uint64_t renewal_msec(void)
{
	uint32_t random = 0;

	(void) getrandom(&random, sizeof(random), GRND_NONBLOCK);
	return RENEW_MSEC + random % RENEW_JITTER_MSEC;
}

/* What is not as it should be is looked at from the beginning. */
static void give_up(struct registration *registration, const char *why)
{
	if (strcmp(registration->why, why) != 0)
		log_message(LOG_WARNING, "the Node is not kept Ready: %s", why);
	(void) snprintf(registration->why, sizeof(registration->why), "%s", why);
	registration->is_held = false;
	later(registration, renewal_msec());
}

static void on_answer(void *userdata, const struct http_answer *answer)
{
	struct registration *registration = userdata;
	const char *address = answer->local_address ?: "";

	registration->request = NULL;
	contact_note(registration->cluster, answer);
	if (answer->error == 0 && strncmp(address, "127.", 4) != 0 && strcmp(address, "::1") != 0)
		(void) snprintf(registration->address, ADDRESS_BYTES, "%s", address);
	registration->answered(registration, answer);
}

/* @body: NULL is a lack of memory, but for GET. */
static void
ask(struct registration *registration, const char *method, const char *path, const char *body,
    void (*answered)(struct registration *registration, const struct http_answer *answer))
{
	bool patches_status = strcmp(method, "PATCH") == 0 && strstr(path, "/status");
	const struct http_request request = {
		.method = method,
		.path = path,
		.body = body,
		.content_type = !body            ? NULL
				: patches_status ? "application/strategic-merge-patch+json"
				: strcmp(method, "PATCH") == 0 ? "application/merge-patch+json"
							       : "application/json",
		.done = on_answer,
		.userdata = registration,
	};

	registration->answered = answered;
	if ((!body && strcmp(method, "GET") != 0) ||
	    requests_send(registration->cluster->requests, &request, &registration->request) < 0)
		give_up(registration, "out of memory");
}

static bool is_success(const struct http_answer *answer)
{
	return answer->error == 0 && answer->status >= 200 && answer->status < 300;
}

static void fail(struct registration *registration, const char *what,
		 const struct http_answer *answer)
{
	struct failure why = { 0 };

	(void) contact_explain(what, answer, &why);
	give_up(registration, why.text);
}

static struct cJSON *read_answer(const struct http_answer *answer, const char *kind)
{
	const struct json_limits limits = { .bytes = answer->length + 1, .depth = 64 };
	struct cJSON *tree = NULL;
	struct failure why;

	if (json_parse(answer->body, answer->length, &limits, &tree, &why) < 0)
		return NULL;
	if (!json_text_is(tree, "kind", kind)) {
		json_free(tree);
		return NULL;
	}
	return tree;
}

static bool node_path(const struct registration *registration, bool is_collection,
		      const char *suffix, char ret[CLUSTER_PATH_BYTES])
{
	return cluster_path(kind_row(KIND_NODE), NULL,
			    is_collection ? NULL : registration->cluster->options.node_name, suffix,
			    ret);
}

static bool lease_path(const struct registration *registration, bool is_collection,
		       char ret[CLUSTER_PATH_BYTES])
{
	return cluster_path(kind_row(KIND_LEASE), LEASE_NAMESPACE,
			    is_collection ? NULL : registration->cluster->options.node_name, "",
			    ret);
}

/* ---- the status ---- */

static const struct object *own_node(const struct registration *registration)
{
	const struct cluster *cluster = registration->cluster;
	const struct object *node =
		store_get(cluster->options.store, KIND_NODE, "", cluster->options.node_name);

	return node && strcmp(node->meta.uid, registration->node_uid) == 0 ? node : NULL;
}

static void on_reported(struct registration *registration, const struct http_answer *answer)
{
	if (!is_success(answer)) {
		fail(registration, "Node", answer);
		return;
	}
	if (registration->reported_usec == 0)
		log_message(LOG_INFO, "the Node '%s' is registered and kept Ready",
			    registration->cluster->options.node_name);
	registration->reported_usec = monotonic_usec();
	registration->why[0] = '\0';
	later(registration, renewal_msec());
}

static void report(struct registration *registration, const struct object *node)
{
	cleanup_free char *body = node_status_patch(node, registration->address, realtime_usec());
	char path[CLUSTER_PATH_BYTES];

	if (node_path(registration, false, "/status", path))
		ask(registration, "PATCH", path, body, on_reported);
}

static void on_labelled(struct registration *registration, const struct http_answer *answer)
{
	const struct object *node = own_node(registration);

	if (!is_success(answer) || !node)
		fail(registration, "Node", answer);
	else
		report(registration, node);
}

/* Pods that the server has are known by then: what is bound here is mounted. */
static void report_if_due(struct registration *registration)
{
	const struct object *node = own_node(registration);
	cleanup_free char *patch = NULL;
	char path[CLUSTER_PATH_BYTES];

	if (!node ||
	    (registration->reported_usec == 0 && !pods_are_verified(registration->cluster->pods))) {
		later(registration, SOON_MSEC);
		return;
	}
	if (registration->reported_usec > 0 && node_is_reported(node, registration->address) &&
	    monotonic_usec() - registration->reported_usec < REPORT_SECONDS * USEC_PER_SEC) {
		later(registration, renewal_msec());
		return;
	}
	patch = node_labels_patch(node, registration->cluster->options.registered_labels);
	if (patch && *patch == '\0')
		report(registration, node);
	else if (node_path(registration, false, "", path))
		ask(registration, "PATCH", path, patch, on_labelled);
}

/* ---- the lease ---- */

static void on_renewed(struct registration *registration, const struct http_answer *answer)
{
	cleanup_json struct cJSON *tree = NULL;

	/* It was written or deleted: by which agent, is looked up at once. */
	if (answer->error == 0 && (answer->status == 409 || answer->status == 404)) {
		registration->is_held = false;
		check_identity(registration);
		return;
	}
	tree = is_success(answer) ? read_answer(answer, "Lease") : NULL;
	if (!tree) {
		fail(registration, "Lease", answer);
		return;
	}
	(void) snprintf(registration->lease_version, SERVER_VERSION_BYTES, "%s",
			json_text_at(tree, "metadata.resourceVersion"));
	memcpy(registration->stored, registration->renewed, TIMESTAMP_BYTES);
	registration->is_held = true;
	report_if_due(registration);
}

static void renew(struct registration *registration)
{
	bool is_new = registration->lease_version[0] == '\0';
	cleanup_free char *body = NULL;
	char path[CLUSTER_PATH_BYTES];

	timestamp_print_micro(realtime_usec(), registration->renewed);
	body = node_lease_text(registration->cluster->options.node_name, registration->node_uid,
			       registration->lease_version, registration->renewed);
	if (lease_path(registration, is_new, path))
		ask(registration, is_new ? "POST" : "PUT", path, body, on_renewed);
}

/* ---- is there another agent? ---- */

/* What it has said last; "": nothing, or podvold has itself. */
static void read_sign(struct registration *registration, const struct cJSON *lease)
{
	const struct cJSON *spec = json_get(lease, "spec");
	const char *holder = json_text(spec, "holderIdentity");
	const char *time = json_text(spec, "renewTime");
	char own[NODE_HOLDER_BYTES];
	size_t length = strlen(registration->sign);

	node_holder(own);
	/* kubelet leaves the holder as it is: then the time is not podvold's. A renewal without an
	 * answer may be stored, or not. */
	if (strcmp(holder, own) == 0 &&
	    (registration->renewed[0] == '\0' || strcmp(time, registration->renewed) == 0 ||
	     strcmp(time, registration->stored) == 0)) {
		registration->sign[0] = '\0';
		(void) snprintf(registration->stored, TIMESTAMP_BYTES, "%s", time);
	} else if (lease)
		(void) snprintf(registration->sign + length, SIGN_BYTES - length,
				"'%s' renewed its lease at %s", holder, time);
}

static void refuse(struct registration *registration, bool is_alive)
{
	struct failure why = { 0 };

	(void) failed_plain(&why, -EBUSY,
			    is_alive ? "another agent keeps it: %s; end that one, or start podvold "
				       "without --register-node"
				     : "another agent may keep it: %s; waiting until that is old",
			    registration->sign);
	if (is_alive && !registration->is_foreign)
		log_message(LOG_ERR, "the Node is not registered: %s", why.text);
	registration->is_foreign = registration->is_foreign || is_alive;
	(void) snprintf(registration->why, sizeof(registration->why), "%s", why.text);
	later(registration, is_alive ? renewal_msec() : SOON_MSEC);
}

/* Clocks of two machines differ: what counts is that nothing changes, by this one's. */
static void judge(struct registration *registration, const char *before, int64_t seconds)
{
	bool is_same = strcmp(registration->sign, before) == 0;
	uint64_t now_usec = monotonic_usec();

	if (!is_same)
		registration->sign_usec = now_usec;
	if (registration->sign[0] == '\0' ||
	    now_usec - registration->sign_usec >= (uint64_t) seconds * USEC_PER_SEC) {
		registration->is_foreign = false;
		renew(registration);
	} else
		refuse(registration, registration->is_foreign || (*before && !is_same));
}

static void on_lease(struct registration *registration, const struct http_answer *answer)
{
	cleanup_json struct cJSON *tree = is_success(answer) ? read_answer(answer, "Lease") : NULL;
	int64_t seconds = NODE_LEASE_SECONDS;
	char before[SIGN_BYTES];

	if (!tree && answer->status != 404) {
		fail(registration, "Lease", answer);
		return;
	}
	memcpy(before, registration->sign, SIGN_BYTES);
	(void) json_int64(json_get_path(tree, "spec.leaseDurationSeconds"), &seconds);
	(void) snprintf(registration->lease_version, SERVER_VERSION_BYTES, "%s",
			json_text_at(tree, "metadata.resourceVersion"));
	(void) snprintf(registration->sign, SIGN_BYTES, "%s", registration->heartbeat);
	read_sign(registration, tree);
	judge(registration, before, seconds > 0 ? seconds : NODE_LEASE_SECONDS);
}

static void check_lease(struct registration *registration, const struct cJSON *node)
{
	char path[CLUSTER_PATH_BYTES];

	(void) snprintf(registration->node_uid, sizeof(registration->node_uid), "%s",
			json_text_at(node, "metadata.uid"));
	node_read_heartbeat(node, registration->heartbeat);
	registration->has_met = true;
	if (lease_path(registration, false, path))
		ask(registration, "GET", path, NULL, on_lease);
}

/* ---- the Node ---- */

static void on_created(struct registration *registration, const struct http_answer *answer)
{
	cleanup_json struct cJSON *tree = is_success(answer) ? read_answer(answer, "Node") : NULL;

	if (tree)
		check_lease(registration, tree);
	else
		fail(registration, "Node", answer);
}

static void create(struct registration *registration)
{
	const struct cluster_options *options = &registration->cluster->options;
	cleanup_free char *body = node_text(options->node_name, options->registered_labels);
	char path[CLUSTER_PATH_BYTES];

	if (node_path(registration, true, "", path))
		ask(registration, "POST", path, body, on_created);
}

static void on_node(struct registration *registration, const struct http_answer *answer)
{
	cleanup_json struct cJSON *tree = is_success(answer) ? read_answer(answer, "Node") : NULL;

	if (tree)
		check_lease(registration, tree);
	else if (answer->error || answer->status != 404)
		fail(registration, "Node", answer);
	else if (registration->has_met)
		give_up(registration, "it was deleted; start podvold again to register it");
	else
		create(registration);
}

/* ---- a look ---- */

static void on_identity(void *userdata, enum identity_verdict verdict)
{
	struct registration *registration = userdata;
	char path[CLUSTER_PATH_BYTES];

	registration->check = NULL;
	if (verdict == IDENTITY_OTHER)
		give_up(registration, "another cluster answers; see --new-cluster");
	else if (verdict != IDENTITY_SAME && !identity_is_blank(registration->cluster->identity))
		give_up(registration,
			"it cannot be seen which cluster answers: there is no Node, or no answer, "
			"and kube-system may not be read; see --new-cluster");
	else if (node_path(registration, false, "", path))
		ask(registration, "GET", path, NULL, on_node);
}

static void check_identity(struct registration *registration)
{
	if (identity_check_start(registration->cluster, on_identity, registration,
				 &registration->check) < 0)
		give_up(registration, "out of memory");
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct registration *registration = userdata;

	if (registration->is_held && !identity_is_other(registration->cluster->identity))
		renew(registration);
	else
		check_identity(registration);
	return 0;
}

/* ---- life ---- */

int registration_new(struct cluster *cluster)
{
	struct registration *registration;
	int r;

	if (!cluster->options.registered_labels)
		return 0;
	registration = calloc(1, sizeof(*registration));
	if (!registration)
		return -ENOMEM;
	registration->cluster = cluster;
	cluster->registration = registration;
	(void) snprintf(registration->why, sizeof(registration->why), "not yet");
	r = sd_event_add_time_relative(cluster->options.event, &registration->timer,
				       CLOCK_MONOTONIC, 0, 100000, on_timer, registration);
	return r < 0 ? r : 0;
}

struct registration *registration_free(struct registration *registration)
{
	if (!registration)
		return NULL;
	(void) request_cancel(registration->request);
	(void) identity_cancel(registration->check);
	(void) sd_event_source_disable_unref(registration->timer);
	free(registration);
	return NULL;
}

void registration_view(const struct cluster *cluster, struct cJSON *view)
{
	const struct registration *registration = cluster->registration;

	if (registration)
		(void) json_set_string(view, "nodeNotReady", registration->why);
}
