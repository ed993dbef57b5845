/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contact - when the server answered last, what failed last, and credentials that are read again
 *
 * Files of certificates and tokens are rotated. They are read again when the server or TLS refused
 * what was shown, at most once in some seconds, and once a minute while the file of a token is in
 * use, as client-go does. Reading is of small files of root and is done on the loop.
 */
#include "cluster/cluster_internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "object/json/json.h"
#include "object/timestamp.h"

#include <assert.h>

enum { REREAD_LEAST_SECONDS = 5, REREAD_SECONDS = 60 };

struct contact {
	struct cluster *cluster;
	struct client_credentials credentials; /* as they were read last */
	sd_event_source *timer;
	uint64_t read_usec;           /* monotonic */
	uint64_t last_usec;           /* real time of the last answer that was no failure; 0 */
	uint64_t failed_usec;         /* of the last failure, when nothing came since; 0 */
	char why[FAILURE_TEXT_BYTES]; /* of it */
};

/* ---- credentials ---- */

static int read_credentials(struct contact *contact, struct failure *reterr)
{
	struct cluster *cluster = contact->cluster;
	struct client_credentials fresh = { 0 }, given = { 0 };
	int r;

	contact->read_usec = monotonic_usec();
	r = client_credentials_read(&cluster->kubeconfig, &fresh, reterr);
	if (r < 0)
		return r;
	if (client_credentials_equal(&fresh, &contact->credentials)) {
		client_credentials_done(&fresh);
		return 0;
	}
	r = client_credentials_read(&cluster->kubeconfig, &given, reterr);
	if (r < 0) {
		client_credentials_done(&fresh);
		return r;
	}
	http_client_set_credentials(cluster->client, &given);
	client_credentials_done(&contact->credentials);
	contact->credentials = fresh;
	return 1;
}

static void read_again(struct contact *contact)
{
	struct failure why = { 0 };
	int r;

	if (monotonic_usec() < contact->read_usec + REREAD_LEAST_SECONDS * USEC_PER_SEC)
		return;
	r = read_credentials(contact, &why);
	if (r < 0)
		log_message(LOG_WARNING, "keeping the credentials read before: %s", why.text);
	else if (r > 0)
		log_message(LOG_INFO, "the credentials for the kube-apiserver were replaced");
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct contact *contact = userdata;

	(void) usec;
	read_again(contact);
	(void) sd_event_source_set_time_relative(source, REREAD_SECONDS * USEC_PER_SEC);
	(void) sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

static bool has_files(const struct kubeconfig *kubeconfig)
{
	return kubeconfig->token_file || kubeconfig->certificate.file;
}

int contact_new(struct cluster *cluster, struct failure *reterr)
{
	struct contact *contact = calloc(1, sizeof(*contact));
	int r;

	if (!contact)
		return failed(reterr, -ENOMEM, "cannot talk to the kube-apiserver");
	contact->cluster = cluster;
	cluster->contact = contact;
	r = read_credentials(contact, reterr);
	if (r < 0 || !has_files(&cluster->kubeconfig))
		return r < 0 ? r : 0;
	r = sd_event_add_time_relative(cluster->options.event, &contact->timer, CLOCK_MONOTONIC,
				       REREAD_SECONDS * USEC_PER_SEC, USEC_PER_SEC, on_timer,
				       contact);
	return r < 0 ? failed(reterr, r, "cannot wait for new credentials") : 0;
}

struct contact *contact_free(struct contact *contact)
{
	if (!contact)
		return NULL;
	(void) sd_event_source_disable_unref(contact->timer);
	client_credentials_done(&contact->credentials);
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
		read_again(contact);
	if (answer->error == 0 && answer->status != 401 && answer->status < 500)
		note_success(contact);
	else if (contact_explain("", answer, &why) < 0)
		note_failure(contact, why.text);
}

void contact_note_failure(struct cluster *cluster, int status, const struct failure *why)
{
	if (status == 401 || why->error == -EKEYREJECTED)
		read_again(cluster->contact);
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
	size_t queued, running;

	requests_count(cluster->requests, &queued, &running);
	(void) json_set_string(view, "server", cluster->kubeconfig.server);
	add_time(view, "lastContact", contact->last_usec);
	add_time(view, "lastFailureTime", contact->failed_usec);
	if (contact->failed_usec > 0)
		(void) json_set_string(view, "lastFailure", contact->why);
	(void) json_set_int(view, "requestsQueued", (int64_t) queued);
	(void) json_set_int(view, "requestsRunning", (int64_t) running);
}
