/* SPDX-License-Identifier: Apache-2.0 */
/*
 * await - follow a collection until an event ends the wait; see pod_wait.h
 *
 * Polls the descriptor of the watch, in parts of a second where progress is shown.
 */
#include "cli/pod_wait.h"

#include "cli/output/screen.h"

#include "base/clock.h"

#include <assert.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

enum { PROGRESS_MSEC = 1000 };

struct follower {
	const struct cli_awaited *awaited;
	bool is_over;
};

static void on_changed(void *userdata, const struct podvol_event *event)
{
	struct follower *follower = userdata;

	follower->is_over =
		follower->is_over || follower->awaited->is_over(follower->awaited->userdata, event);
}

static void show(struct cli *cli, const struct cli_awaited *awaited)
{
	if (!awaited->show)
		progress_show(cli, awaited->what);
	else if (progress_is_seen(cli))
		awaited->show(awaited->userdata);
}

static int poll_msec(const struct cli *cli, uint64_t left_usec)
{
	const uint64_t most_msec = progress_is_seen(cli) ? PROGRESS_MSEC : INT_MAX;
	const uint64_t left_msec = left_usec / USEC_PER_MSEC + 1;

	return (int) (left_msec < most_msec ? left_msec : most_msec);
}

int cli_await(struct cli *cli, const struct cli_awaited *awaited)
{
	struct follower follower = { .awaited = awaited };
	const struct podvol_watch_request request = { .path = awaited->path,
						      .changed = on_changed,
						      .userdata = &follower };
	struct podvol_watch *watch = NULL;
	int r;

	assert(awaited->is_over && awaited->what);
	r = podvol_watch_open(cli->podvol, &request, &watch);
	while (r == 0 && !follower.is_over) {
		struct pollfd polled = { .fd = podvol_watch_fd(watch), .events = POLLIN };
		uint64_t now = monotonic_usec();

		if (now >= awaited->end_usec) {
			r = -ETIMEDOUT;
			break;
		}
		show(cli, awaited);
		(void) poll(&polled, 1, poll_msec(cli, awaited->end_usec - now));
		r = podvol_watch_process(watch);
	}
	progress_end(cli);
	if (r < 0 && r != -ETIMEDOUT)
		cli_complain(cli, "%s: %s", awaited->what,
			     watch ? podvol_watch_error(watch) : strerror(-r));
	podvol_watch_free(watch);
	return r;
}
