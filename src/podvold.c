/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podvold - options, signals, ready notice; builds an agent and its API and runs the loop
 *
 * SIGHUP reloads the configuration. SIGTERM and SIGINT end it and leave every volume mounted: a
 * restart must not hurt running pods.
 * --drain is the way to have them unmounted, --hand-back to leave them to a kubelet. Exit status: 0
 * done, 1 failed, 2 usage.
 */
#include "agent.h"
#include "api/api.h"
#include "api/auth/authorize.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "config.h"
#include "controller/controller.h"
#include "object/json/json.h"
#include "object/kinds/root_ca.h"
#include "privileges.h"
#include "reload.h"
#include "store/embedded.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

enum { DESCRIPTORS_AT_ONCE = 4096 };

/* The kernel doubles the table of descriptors when it is full; with more than one thread that takes
 * ten milliseconds each time, for which every thread that opens something waits. */
static void grow_descriptor_table(void)
{
	int highest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, DESCRIPTORS_AT_ONCE - 1);

	if (highest >= 0)
		(void) close(highest);
}

/* Volumes on their way hold descriptors; the default soft limit is for programs that use select(2).
 */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void) setrlimit(RLIMIT_NOFILE, &limit); /* then the limit that was given holds */
	grow_descriptor_table();
}

/* Half of the descriptors is for what the connections are there for. */
static unsigned int connections_max(const struct config *config, size_t listeners)
{
	rlim_t wanted = (rlim_t) config->connections_max, most;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return (unsigned int) wanted;
	most = limit.rlim_cur / 2 / listeners;
	if (wanted <= most)
		return (unsigned int) wanted;
	log_message(LOG_NOTICE,
		    "connections-max: %ju instead of %ju: half of the limit of open files",
		    (uintmax_t) most, (uintmax_t) wanted);
	return (unsigned int) most;
}

/* Its memory holds Secrets: no core dump, whatever the limits and the collector. */
static void forbid_core_dumps(void)
{
	(void) prctl(PR_SET_DUMPABLE, 0); /* cannot fail with this value */
}

static int prepare_loop(sd_event **ret, struct failure *reterr)
{
	sd_event *event = NULL;
	sigset_t signals;
	int r;

	(void) sigemptyset(&signals);
	(void) sigaddset(&signals, SIGTERM);
	(void) sigaddset(&signals, SIGINT);
	if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
		return failed(reterr, -errno, "cannot block signals");
	(void) signal(SIGPIPE, SIG_IGN); /* a client that leaves is no reason to end */

	r = sd_event_default(&event);
	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGINT, NULL, NULL);
	if (r >= 0)
		r = sd_event_set_watchdog(event, true);
	if (r < 0) {
		sd_event_unref(event);
		return failed(reterr, r, "cannot create the event loop");
	}
	*ret = event;
	return 0;
}

/* ---- serving ---- */

static int open_sockets(const struct config *config, struct api_options *api_options,
			struct failure *reterr)
{
	cleanup_free char *path = NULL;
	struct api_listen_options options = {
		.tls_address = config->listen.tls,
		.plain_address = config->listen.plain,
		.docker_path = config->docker_plugin_socket,
		.others_may_read = config->others_may_read,
	};

	path = new_text("%s/podvol.sock", config->run_dir);
	if (!path)
		return failed(reterr, -ENOMEM, "cannot create the socket");
	options.socket_path = path;
	return api_listen(&options, api_options->listeners, &api_options->listener_count, reterr);
}

/* Only who serves TLS has a key and a token. */
static int prepare_tls(const struct config *config, struct api_options *api_options,
		       struct failure *reterr)
{
	struct api_credentials_options options = {
		.state_dir = config->state_dir,
		.token_file = config->token_file,
		.client_ca_file = config->listen.client_ca,
		.node_name = config->node_name,
		.names = config->listen.names,
	};

	for (size_t i = 0; i < api_options->listener_count; i++) {
		if (api_options->listeners[i].kind != API_TLS)
			continue;
		options.listen_fd = api_options->listeners[i].fd;
		return api_credentials_new(&options, &api_options->credentials, reterr);
	}
	return 0;
}

static int start_api(sd_event *event, struct agent *agent, const struct config *config,
		     struct api_options *options, struct api **ret, struct failure *reterr)
{
	int r = open_sockets(config, options, reterr);

	if (r == 0)
		r = prepare_tls(config, options, reterr);
	if (r < 0)
		return r;
	options->event = event;
	options->agent = agent;
	options->group_rights = role_rights(config->group_role);
	options->local_is_bounded = *config->volume_paths != '\0';
	options->others_may_read = config->others_may_read;
	options->connections_max = connections_max(config, options->listener_count);
	options->request_bytes_max = (size_t) config->input_max.request_bytes;
	options->watches_max = (size_t) config->watches_max;
	options->idle_seconds = (unsigned int) config->seconds.idle;
	options->request_seconds = (unsigned int) config->seconds.request;
	return api_new(options, ret, reterr);
}

/* Exported pods mount the certificate, whether or not TLS is served. Without one they wait for it,
 * and nothing else does. */
static void publish_root_certificate(sd_event *event, struct agent *agent,
				     const struct config *config, struct root_ca_publisher **ret)
{
	struct root_ca_publisher_options options = { .common = { .event = event,
								 .store = agent_store(agent) } };
	struct failure why = { .error = 0 };
	cleanup_free char *certificate = NULL;
	const struct object *published =
		store_get(agent_store(agent), KIND_CONFIG_MAP, "default", ROOT_CA_CONFIG_MAP);
	int r = api_root_certificate(config->state_dir, config->node_name, published, &certificate,
				     &why);

	options.certificate = certificate;
	if (r == 0 && root_ca_publisher_new(&options, ret) < 0)
		r = failed(&why, -ENOMEM, "cannot watch namespaces");
	if (r < 0)
		log_message(LOG_WARNING, "ConfigMap kube-root-ca.crt is not published: %s",
			    why.text);
}

/* Services started after podvold are to find the volumes of the manifests: READY=1 is sent when
 * each was tried. A directory or a volume that does not answer delays it no longer than this. */
#define READY_AT_THE_LATEST_USEC (5 * USEC_PER_SEC)

struct ready_notice {
	const struct agent *agent;
	const struct config *config;
	sd_event_source *timer; /* NULL: it was given */
};

static void report_ready(void *userdata)
{
	struct ready_notice *notice = userdata;

	if (!notice->timer)
		return;
	notice->timer = sd_event_source_disable_unref(notice->timer);
	(void) sd_notify(false, "READY=1\nSTATUS=Keeping volumes mounted");
	log_message(LOG_INFO, "ready: root '%s', manifests '%s'", notice->config->root_dir,
		    notice->config->manifest_dir);
}

static int on_ready_late(sd_event_source *source, uint64_t usec, void *userdata)
{
	const struct ready_notice *notice = userdata;
	struct failure why = { .text = "the sync loop has not reached them yet" };

	if (!agent_is_ready(notice->agent)) {
		log_message(LOG_WARNING,
			    "the manifests cannot be read yet: their pods are unknown");
	} else {
		(void) agent_explain_ready(notice->agent, &why);
		log_message(LOG_WARNING, "not every volume of the manifests could be tried yet: %s",
			    why.text);
	}
	report_ready(userdata);
	return 0;
}

static int serve(sd_event *event, struct agent *agent, const struct config *config,
		 struct failure *reterr)
{
	struct api_options options = { .listener_count = 0 };
	struct ready_notice notice = { .agent = agent, .config = config };
	struct root_ca_publisher *publisher = NULL;
	struct api *api = NULL;
	int r = start_api(event, agent, config, &options, &api, reterr);

	if (r == 0 && *config->kubeconfig == '\0')
		publish_root_certificate(event, agent, config, &publisher);
	if (r == 0)
		r = sd_event_add_time(event, &notice.timer, CLOCK_MONOTONIC,
				      monotonic_usec() + READY_AT_THE_LATEST_USEC, 0, on_ready_late,
				      &notice);
	if (r >= 0) {
		agent_report_ready(agent, report_ready, &notice);
		r = sd_event_loop(event);
		(void) sd_notify(false, "STOPPING=1\nSTATUS=Stopping; volumes stay mounted");
		log_message(LOG_INFO, "stopping; volumes stay mounted");
		if (r < 0)
			(void) failed(reterr, r, "the event loop broke");
	}
	(void) sd_event_source_disable_unref(notice.timer);
	(void) root_ca_publisher_free(publisher);
	(void) api_free(api);
	(void) api_credentials_free(options.credentials);
	return r < 0 ? r : 0;
}

/* ---- draining ---- */

struct drain {
	sd_event *event;
	size_t left;
	bool is_over;
};

static void on_drained(void *userdata, size_t left)
{
	struct drain *drain = userdata;

	drain->left = left;
	drain->is_over = true;
	(void) sd_event_exit(drain->event, 0);
}

static int drain(sd_event *event, struct agent *agent, struct failure *reterr)
{
	struct drain state = { .event = event };
	int r;

	(void) sd_notify(false, "READY=1\nSTATUS=Unmounting every volume");
	agent_drain(agent, on_drained, &state);
	r = sd_event_loop(event);
	if (r < 0)
		return failed(reterr, r, "the event loop broke");
	if (!state.is_over) {
		agent_report_left(agent);
		return failed_plain(reterr, -EINTR,
				    "ended by a signal before everything was unmounted");
	}
	if (state.left > 0)
		return failed_plain(reterr, -EBUSY, "%zu volumes could not be unmounted; see above",
				    state.left);
	log_message(LOG_INFO, "every volume was unmounted");
	return 0;
}

static void log_cut_failure(const char *whole)
{
	log_whole(LOG_NOTICE, "the whole text of an error", whole);
}

static int run(int argc, char **argv, struct config *config, struct failure *reterr)
{
	struct reload *reload = NULL;
	struct agent *agent = NULL;
	sd_event *event = NULL;
	int r;

	log_open(config->log_priority);
	failure_on_cut(log_cut_failure);
	raise_descriptor_limit();
	r = privileges_check_and_cut(config->idmapped_fs_group, reterr);
	if (r >= 0)
		r = prepare_loop(&event, reterr);
	if (r >= 0)
		r = agent_new(event, config, &agent, reterr);
	if (r >= 0 && reload_new(event, argc, argv, config, &reload) < 0)
		r = failed(reterr, -ENOMEM, "cannot watch for SIGHUP");
	if (r >= 0 && config->hand_back)
		r = agent_hand_back(agent, reterr);
	else if (r >= 0)
		r = config->drain ? drain(event, agent, reterr)
				  : serve(event, agent, config, reterr);
	(void) reload_free(reload);
	agent_free(agent);
	sd_event_unref(event);
	return r;
}

/* glibc gives each thread that allocates an arena of its own, up to eight a processor, and returns
 * less and less memory the larger the pieces are that it saw; most of what podvold's threads do is
 * system calls, and large is what comes once, such as a manifest of thousands of pods. The loop's
 * arena, and one each for the threads that read manifests, write the store and mount: with fewer
 * the loop waits for their locks. */
static void spare_memory(void)
{
	(void) mallopt(M_ARENA_MAX, 4);
	(void) mallopt(M_TRIM_THRESHOLD, 512 * 1024); /* bytes */
	/* The block of a list comes from the heap: fresh pages cost more than what is sent. */
	(void) mallopt(M_MMAP_THRESHOLD, 256 * 1024);
	json_memory_begin();
	store_memory_begin();
}

static void set_documents_max(const struct config *config)
{
	int64_t chosen = config->input_max.manifest_objects;
	struct sysinfo info;
	uint64_t memory = sysinfo(&info) < 0 ? 0 : (uint64_t) info.totalram * info.mem_unit;

	documents_set_max(chosen > 0 ? (size_t) chosen : documents_max_for(memory));
}

int main(int argc, char **argv)
{
	struct failure failure = { .error = 0 };
	struct config config;
	int status = EXIT_SUCCESS, r;

	reload_hold_back();
	forbid_core_dumps();
	spare_memory();
	r = config_load(argc, argv, &config, &failure);
	if (r < 0) {
		(void) fprintf(stderr, "podvold: %s\n", failure.text);
		status = 2;
	} else if (r == CONFIG_RUN) {
		set_documents_max(&config);
		r = run(argc, argv, &config, &failure);
		if (r < 0) {
			log_message(LOG_ERR, "%s", failure.text);
			status = EXIT_FAILURE;
		}
	}
	config_done(&config);
	return status;
}
