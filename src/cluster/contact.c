/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contact - when the server answered last, and what failed last
 *
 * Every answer passes here. Knows no object; what a refusal of credentials leads to is
 * credentials.c's.
 */
#include "cluster/cluster_internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "object/json/json.h"
#include "object/timestamp.h"

struct contact {
	struct cluster *cluster;
	uint64_t last_usec;           /* real time of the last answer that was no failure; 0 */
	uint64_t failed_usec;         /* of the last failure, when nothing came since; 0 */
	char why[FAILURE_TEXT_BYTES]; /* of it */
};

int contact_new(struct cluster *cluster)
{
	struct contact *contact = calloc(1, sizeof(*contact));

	if (!contact)
		return -ENOMEM;
	contact->cluster = cluster;
	cluster->contact = contact;
	return 0;
}

struct contact *contact_free(struct contact *contact)
{
	free(contact);
	return NULL;
}

/* ---- what comes back ---- */

int contact_explain(const char *path, const struct http_answer *answer, struct failure *reterr)
{
	struct server_status status;

	if (answer->error)
		return failed_plain(reterr, answer->error, "%s",
				    answer->why ? answer->why->text : path);
	if (server_status_read(answer->body, answer->length, &status) < 0)
		status.message[0] = '\0';
	return failed_plain(reterr,
			    answer->status == 404   ? -ENOENT
			    : answer->status == 409 ? -ESTALE
			    : answer->status == 403 ? -EACCES
						    : -EPROTO,
			    "%s: HTTP status %d%s%s", path, answer->status,
			    *status.message ? ": " : "", status.message);
}

/* One line when it begins and one when it is over. */
static void note_failure(struct contact *contact, const char *why)
{
	if (contact->failed_usec == 0)
		log_message(LOG_WARNING,
			    "the kube-apiserver cannot be used now; every volume stays as it is: "
			    "%s",
			    why);
	contact->failed_usec = realtime_usec();
	(void) snprintf(contact->why, sizeof(contact->why), "%s", why);
}

static void note_success(struct contact *contact)
{
	if (contact->failed_usec > 0)
		log_message(LOG_NOTICE, "the kube-apiserver answers again");
	contact->failed_usec = 0;
	contact->last_usec = realtime_usec();
}

/* An answer to one request, whatever it says of that object, shows that the server is there. */
void contact_note(struct cluster *cluster, const struct http_answer *answer)
{
	struct contact *contact = cluster->contact;
	struct failure why = { 0 };

	if (answer->status == 401 || answer->error == -EKEYREJECTED)
		credentials_refused(cluster);
	if (answer->error == 0 && answer->status != 401 && answer->status < 500)
		note_success(contact);
	else if (contact_explain("", answer, &why) < 0)
		note_failure(contact, why.text);
}

void contact_note_failure(struct cluster *cluster, int status, const struct failure *why)
{
	if (status == 401 || why->error == -EKEYREJECTED)
		credentials_refused(cluster);
	/* 410 is the server's usual way to ask for a new list. */
	if (status != 410)
		note_failure(cluster->contact, why->text);
}

void contact_note_news(struct cluster *cluster)
{
	note_success(cluster->contact);
}

static void add_time(struct cJSON *view, const char *key, uint64_t usec)
{
	char text[TIMESTAMP_BYTES];

	if (usec == 0)
		return;
	timestamp_print(usec, text);
	(void) json_set_string(view, key, text);
}

void contact_view(const struct cluster *cluster, struct cJSON *view)
{
	const struct contact *contact = cluster->contact;

	(void) json_set_string(view, "server", cluster->kubeconfig.server);
	add_time(view, "lastContact", contact->last_usec);
	add_time(view, "lastFailureTime", contact->failed_usec);
	if (contact->failed_usec > 0)
		(void) json_set_string(view, "lastFailure", contact->why);
	requests_view(cluster->requests, view);
}
