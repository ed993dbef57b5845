/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podvold - options, signals, ready notice; builds an agent and its API and runs the loop
 *
 * SIGTERM and SIGINT end it and leave every volume mounted: a restart must not hurt running pods.
 * --drain is the way to have them unmounted. Exit status: 0 done, 1 failed, 2 usage.
 */
#include "agent.h"
#include "api/api.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "config.h"
#include "privileges.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>

/* Volumes on their way hold descriptors; the default soft limit is for programs that use select(2).
 */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void) setrlimit(RLIMIT_NOFILE, &limit); /* then the limit that was given holds */
}

/* Half of the descriptors is for what the connections are there for. */
static unsigned int connections_max(const struct config *config)
{
	rlim_t wanted = (rlim_t) config->connections_max;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || wanted <= limit.rlim_cur / 2)
		return (unsigned int) wanted;
	log_message(LOG_NOTICE,
		    "connections-max: %ju instead of %ju: half of the limit of open files",
		    (uintmax_t) limit.rlim_cur / 2, (uintmax_t) wanted);
	return (unsigned int) (limit.rlim_cur / 2);
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
		return failed(reterr, r, "cannot make the event loop");
	}
	*ret = event;
	return 0;
}

/* ---- serving ---- */

static int open_socket(const struct config *config, struct failure *reterr)
{
	cleanup_free char *path = NULL;
	int count = sd_listen_fds(1);

	if (count > 1)
		return failed_plain(reterr, -EINVAL,
				    "the service manager passed %d sockets; one is wanted", count);
	if (count == 1)
		return SD_LISTEN_FDS_START;
	if (asprintf(&path, "%s/podvol.sock", config->run_dir) < 0) {
		path = NULL;
		return failed(reterr, -ENOMEM, "cannot make the socket");
	}
	return api_listen(path, reterr);
}

static int serve(sd_event *event, struct agent *agent, const struct config *config,
		 struct failure *reterr)
{
	struct api_options options = {
		.event = event,
		.agent = agent,
		.connections_max = connections_max(config),
		.request_bytes_max = (size_t) config->request_bytes_max,
	};
	struct api *api;
	int r;

	options.listen_fd = open_socket(config, reterr);
	if (options.listen_fd < 0)
		return options.listen_fd;
	r = api_new(&options, &api, reterr);
	if (r < 0)
		return r;
	(void) sd_notify(false, "READY=1\nSTATUS=Keeping volumes mounted");
	log_message(LOG_INFO, "ready: root '%s', manifests '%s'", config->root_dir,
		    config->manifest_dir);
	r = sd_event_loop(event);
	(void) sd_notify(false, "STOPPING=1\nSTATUS=Stopping; volumes stay mounted");
	log_message(LOG_INFO, "stopping; volumes stay mounted");
	api_free(api);
	return r < 0 ? failed(reterr, r, "the event loop broke") : 0;
}

/* ---- draining ---- */

struct drain {
	sd_event *event;
	size_t left;
};

static void on_drained(void *userdata, size_t left)
{
	struct drain *drain = userdata;

	drain->left = left;
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
	if (state.left > 0)
		return failed_plain(reterr, -EBUSY, "%zu volumes could not be unmounted; see above",
				    state.left);
	log_message(LOG_INFO, "every volume was unmounted");
	return 0;
}

static int run(const struct config *config, struct failure *reterr)
{
	struct agent *agent = NULL;
	sd_event *event = NULL;
	int r;

	log_open(config->log_priority);
	raise_descriptor_limit();
	r = privileges_check_and_cut(reterr);
	if (r >= 0)
		r = prepare_loop(&event, reterr);
	if (r >= 0)
		r = agent_new(event, config, &agent, reterr);
	if (r >= 0)
		r = config->drain ? drain(event, agent, reterr)
				  : serve(event, agent, config, reterr);
	agent_free(agent);
	sd_event_unref(event);
	return r;
}

int main(int argc, char **argv)
{
	struct failure failure = { .error = 0 };
	struct config config;
	int r = config_load(argc, argv, &config, &failure);
	int status = EXIT_SUCCESS;

	if (r < 0) {
		(void) fprintf(stderr, "podvold: %s\n", failure.text);
		status = 2;
	} else if (r == CONFIG_RUN) {
		r = run(&config, &failure);
		if (r < 0) {
			log_message(LOG_ERR, "%s", failure.text);
			status = EXIT_FAILURE;
		}
	}
	config_done(&config);
	return status;
}
