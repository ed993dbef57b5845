/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credentials - what this node shows to the server, made new before or when it is refused
 *
 * Files of certificates and tokens are rotated. They are read again when the server or TLS refused
 * what was shown, at most once in some seconds, and once a minute while the file of a token is in
 * use, as client-go does. Reading is of small files of root and is done on the loop. A plugin is
 * run when podvold starts, shortly before what it gave expires, and when that was refused; until it
 * has answered once, nothing is asked. While it fails, what it gave before stays. What has expired
 * by this machine's clock when it is given may be valid by the server's, which is not asked for the
 * time: it is used until it is refused, and the plugin is run again less and less often.
 */
#include "cluster/cluster_internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timer.h"
#include "store/remote/exec_plugin.h"

enum {
	REREAD_LEAST_SECONDS = 5,
	REREAD_SECONDS = 60,
	RUN_MAX_SECONDS = 300,    /* between two runs that fail, or give what is out of date */
	RUN_EARLIER_SECONDS = 30, /* before it expires */
};

struct credentials {
	struct cluster *cluster;
	struct client_credentials given; /* to the client, last */
	struct exec_credential of_plugin;
	struct exec_plugin *plugin; /* that runs */
	sd_event_source *timer, *plugin_timer;
	unsigned int pause_seconds; /* until a run after such a one */
	uint64_t read_usec;         /* monotonic */
};

/* ---- to the client ---- */

static int copy(const struct client_credentials *from, struct client_credentials *ret)
{
	char *const texts[] = { from->authority, from->certificate, from->key, from->token };
	char **const copies[] = { &ret->authority, &ret->certificate, &ret->key, &ret->token };

	*ret = (struct client_credentials){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		*copies[i] = texts[i] ? strdup(texts[i]) : NULL;
		if (texts[i] && !*copies[i]) {
			client_credentials_done(ret);
			return -ENOMEM;
		}
	}
	return 0;
}

/* What is in files, and of the plugin what it gave. */
static int read_all(const struct credentials *credentials, struct client_credentials *ret,
		    struct failure *reterr)
{
	struct client_credentials of_plugin;
	int r = client_credentials_read(&credentials->cluster->kubeconfig, ret, reterr);

	if (r < 0 || !credentials->cluster->kubeconfig.exec.command)
		return r;
	if (copy(&credentials->of_plugin.credentials, &of_plugin) < 0) {
		client_credentials_done(ret);
		return failed(reterr, -ENOMEM, "cannot keep credentials");
	}
	if (of_plugin.token) {
		free(ret->token);
		ret->token = TAKE_PTR(of_plugin.token);
	}
	if (of_plugin.certificate) {
		free(ret->certificate);
		free(ret->key);
		ret->certificate = TAKE_PTR(of_plugin.certificate);
		ret->key = TAKE_PTR(of_plugin.key);
	}
	client_credentials_done(&of_plugin);
	return 0;
}

/* Return: 1: they are others than before. */
static int give(struct credentials *credentials, struct failure *reterr)
{
	struct client_credentials fresh = { 0 }, given;
	int r;

	credentials->read_usec = monotonic_usec();
	r = read_all(credentials, &fresh, reterr);
	if (r < 0)
		return r;
	if (client_credentials_equal(&fresh, &credentials->given)) {
		client_credentials_done(&fresh);
		return 0;
	}
	if (copy(&fresh, &given) < 0) {
		client_credentials_done(&fresh);
		return failed(reterr, -ENOMEM, "cannot keep credentials");
	}
	http_client_set_credentials(credentials->cluster->client, &given);
	client_credentials_done(&credentials->given);
	credentials->given = fresh;
	return 1;
}

static void give_again(struct credentials *credentials)
{
	struct failure why = { 0 };
	int r = give(credentials, &why);

	if (r < 0)
		log_message(LOG_WARNING, "keeping the credentials read before: %s", why.text);
	else if (r > 0)
		log_message(LOG_INFO, "the credentials for the kube-apiserver were replaced");
}

/* ---- the plugin ---- */

static void run_later(struct credentials *credentials)
{
	timer_set_in(credentials->plugin_timer, credentials->pause_seconds * USEC_PER_SEC);
	credentials->pause_seconds = credentials->pause_seconds * 2 < RUN_MAX_SECONDS
					     ? credentials->pause_seconds * 2
					     : RUN_MAX_SECONDS;
}

static void plan_run(struct credentials *credentials)
{
	const uint64_t expires_usec = credentials->of_plugin.expires_usec;
	const uint64_t earlier_usec = RUN_EARLIER_SECONDS * USEC_PER_SEC;
	uint64_t now_usec = realtime_usec();

	if (expires_usec > 0 &&
	    expires_usec <= now_usec + earlier_usec + REREAD_LEAST_SECONDS * USEC_PER_SEC) {
		run_later(credentials);
		return;
	}
	credentials->pause_seconds = REREAD_LEAST_SECONDS;
	if (expires_usec > 0)
		timer_set_in(credentials->plugin_timer, expires_usec - earlier_usec - now_usec);
}

static void on_credential(void *userdata, int error, struct exec_credential *credential,
			  const struct failure *why)
{
	struct credentials *credentials = userdata;

	credentials->plugin = NULL;
	if (error < 0) {
		log_message(LOG_WARNING, "no new credentials for the kube-apiserver: %s",
			    why->text);
		run_later(credentials);
		return;
	}
	client_credentials_done(&credentials->of_plugin.credentials);
	credentials->of_plugin = *credential;
	*credential = (struct exec_credential){ 0 };
	give_again(credentials);
	plan_run(credentials);
}

static int run(struct credentials *credentials, struct failure *reterr)
{
	const struct exec_plugin_order order = {
		.event = credentials->cluster->options.event,
		.kubeconfig = &credentials->cluster->kubeconfig,
		.authority = credentials->given.authority,
		.done = on_credential,
		.userdata = credentials,
	};

	(void) sd_event_source_set_enabled(credentials->plugin_timer, SD_EVENT_OFF);
	return exec_plugin_run(&order, &credentials->plugin, reterr);
}

static void run_again(struct credentials *credentials)
{
	struct failure why = { 0 };

	if (credentials->plugin)
		return;
	if (run(credentials, &why) < 0)
		on_credential(credentials, why.error, NULL, &why);
}

static int on_plugin_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	run_again(userdata);
	return 0;
}

static int begin_plugin(struct credentials *credentials, struct failure *reterr)
{
	struct cluster *cluster = credentials->cluster;
	int r = timer_new(cluster->options.event, USEC_PER_SEC, on_plugin_timer, credentials,
			  &credentials->plugin_timer);

	if (r < 0)
		return failed(reterr, r, "cannot run a credential plugin");
	http_client_await_credentials(cluster->client);
	return run(credentials, reterr);
}

/* ---- refused, and a minute later ---- */

void credentials_refused(struct cluster *cluster)
{
	struct credentials *credentials = cluster->credentials;

	if (monotonic_usec() < credentials->read_usec + REREAD_LEAST_SECONDS * USEC_PER_SEC)
		return;
	give_again(credentials);
	if (cluster->kubeconfig.exec.command)
		run_again(credentials);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct credentials *credentials = userdata;

	if (monotonic_usec() >= credentials->read_usec + REREAD_LEAST_SECONDS * USEC_PER_SEC)
		give_again(credentials);
	timer_set_in(source, REREAD_SECONDS * USEC_PER_SEC);
	return 0;
}

static bool has_files(const struct kubeconfig *kubeconfig)
{
	return kubeconfig->token_file || kubeconfig->certificate.file;
}

int credentials_new(struct cluster *cluster, struct failure *reterr)
{
	struct credentials *credentials = calloc(1, sizeof(*credentials));
	int r;

	if (!credentials)
		return failed(reterr, -ENOMEM, "cannot talk to the kube-apiserver");
	credentials->cluster = cluster;
	credentials->pause_seconds = REREAD_LEAST_SECONDS;
	cluster->credentials = credentials;
	r = give(credentials, reterr);
	if (r >= 0 && cluster->kubeconfig.exec.command)
		r = begin_plugin(credentials, reterr);
	if (r < 0 || !has_files(&cluster->kubeconfig))
		return r < 0 ? r : 0;
	r = sd_event_add_time_relative(cluster->options.event, &credentials->timer, CLOCK_MONOTONIC,
				       REREAD_SECONDS * USEC_PER_SEC, USEC_PER_SEC, on_timer,
				       credentials);
	return r < 0 ? failed(reterr, r, "cannot wait for new credentials") : 0;
}

struct credentials *credentials_free(struct credentials *credentials)
{
	if (!credentials)
		return NULL;
	(void) exec_plugin_cancel(credentials->plugin);
	(void) sd_event_source_disable_unref(credentials->timer);
	(void) sd_event_source_disable_unref(credentials->plugin_timer);
	client_credentials_done(&credentials->given);
	client_credentials_done(&credentials->of_plugin.credentials);
	free(credentials);
	return NULL;
}
