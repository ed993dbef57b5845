/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sd-event - waits for a pod's volumes on a loop of sd-event, and gives up on SIGTERM
 *
 *   sd-event SECONDS NAMESPACE/NAME
 *
 * Build it with: cc sd-event.c -o sd-event $(pkg-config --cflags --libs podvol libsystemd)
 */
#include <podvol.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>

struct waiter {
	sd_event *event;
	struct podvol *podvol;
	struct podvol_call *call; /* NULL: it has ended */
};

static void mounted(void *userdata, int result, struct podvol_reply *reply)
{
	struct waiter *waiter = userdata;

	(void) reply;
	waiter->call = NULL;
	(void) puts(result == 0 ? "mounted" : podvol_error(waiter->podvol));
	(void) sd_event_exit(waiter->event, result < 0);
}

static int on_podvol(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	const struct waiter *waiter = userdata;
	int r = podvol_process(waiter->podvol);

	(void) source;
	(void) fd;
	(void) events;
	return r < 0 ? r : 0;
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	struct waiter *waiter = userdata;

	(void) source;
	(void) info;
	podvol_call_cancel(waiter->call);
	waiter->call = NULL;
	(void) puts("cancelled");
	return sd_event_exit(waiter->event, 1);
}

static int start(struct waiter *waiter, const char *pod, unsigned int timeout_msec)
{
	struct podvol_request *request = NULL;
	int r = podvol_pod_mount_request(waiter->podvol, pod, timeout_msec, &request);

	if (r == 0)
		r = podvol_call(waiter->podvol, request, mounted, waiter, &waiter->call);
	podvol_request_free(request);
	return r;
}

int main(int argc, char **argv)
{
	struct waiter waiter = { 0 };
	sigset_t signals;
	int r;

	if (argc != 3) {
		(void) fprintf(stderr, "usage: sd-event SECONDS NAMESPACE/NAME\n");
		return 2;
	}
	(void) sigemptyset(&signals);
	(void) sigaddset(&signals, SIGTERM);
	(void) sigprocmask(SIG_BLOCK, &signals, NULL);
	r = sd_event_new(&waiter.event);
	if (r >= 0)
		r = sd_event_add_signal(waiter.event, NULL, SIGTERM, on_signal, &waiter);
	if (r >= 0)
		r = podvol_connect(NULL, &waiter.podvol);
	if (r >= 0)
		r = start(&waiter, argv[2], (unsigned int) atoi(argv[1]) * 1000);
	if (r >= 0)
		r = sd_event_add_io(waiter.event, NULL, podvol_fd(waiter.podvol), EPOLLIN,
				    on_podvol, &waiter);
	if (r >= 0)
		r = sd_event_loop(waiter.event);
	if (r < 0)
		(void) fprintf(stderr, "%s\n", podvol_error(waiter.podvol));
	podvol_free(waiter.podvol);
	(void) sd_event_unref(waiter.event);
	return r != 0;
}
