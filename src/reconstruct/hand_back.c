/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hand_back - podvold gives its volumes up as they are, to a kubelet; see reconstruct.h
 *
 * What kubelet finds is its own layout, so no volume and no mount is touched: the ledger
 * forgets them, and the next podvold finds foreign volumes. Refused while a step is half done: a
 * kubelet takes a mount for a volume that is whole, and would not go on with its owners.
 *
 * The mark is written before the ledger forgets: after a kill between the two nothing is mounted or
 * unmounted either, until it is decided who has the volumes.
 */
#include "reconstruct/reconstruct.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/secret_file.h"
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define MARK "handed-back"

static size_t report_unfinished(const struct log_subject *subject, const char *name,
				enum unfinished left)
{
	if (left == UNFINISHED_NOTHING)
		return 0;
	log_about(LOG_ERR, subject, "volume '%s': %s", name, unfinished_text(left));
	return 1;
}

static size_t count_unfinished(const struct actual_volume *volume)
{
	struct log_subject subject = { .volume = volume->unique_name,
				       .plugin = volume->plugin_name };
	size_t count = report_unfinished(&subject, volume->spec_name, volume->device_left);

	for (const struct actual_pod *pod = volume->pods; pod; pod = pod->hh.next) {
		subject.pod = pod->pod_key;
		subject.pod_uid = pod->pod_uid;
		count += report_unfinished(&subject, pod->outer_name, pod->left);
	}
	return count;
}

static int forget(struct ledger *ledger, const struct actual_volume *volume)
{
	int r = ledger_forget(ledger, volume->unique_name, NULL);

	for (const struct actual_pod *pod = volume->pods; pod && r >= 0; pod = pod->hh.next)
		r = ledger_forget(ledger, volume->unique_name, pod->pod_uid);
	return r;
}

static int open_state(const char *state_dir, struct failure *reterr)
{
	int fd = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? failed(reterr, -errno, "cannot open '%s'", state_dir) : fd;
}

static int write_mark(const char *state_dir, struct failure *reterr)
{
	cleanup_close int fd = open_state(state_dir, reterr);

	return fd < 0 ? fd : secret_file_write(fd, MARK, "", reterr);
}

int reconstruct_hand_back(const struct actual *actual, struct ledger *ledger, const char *state_dir,
			  struct failure *reterr)
{
	const struct actual_volume *volume;
	size_t unfinished = 0, pods = 0;
	int r = 0;

	assert(actual && ledger);
	for (volume = actual_first(actual); volume; volume = volume->hh.next)
		unfinished += count_unfinished(volume);
	if (unfinished > 0)
		return failed_plain(reterr, -EBUSY,
				    "%zu steps are half done; see above. Start podvold, wait until "
				    "'podvolctl get operations' lists none, stop it, and hand "
				    "back again",
				    unfinished);
	r = write_mark(state_dir, reterr);
	if (r < 0)
		return r;
	for (volume = actual_first(actual); volume && r >= 0; volume = volume->hh.next) {
		pods += HASH_COUNT(volume->pods);
		r = forget(ledger, volume);
	}
	if (r < 0)
		return failed(reterr, r, "cannot hand the volumes back");
	r = ledger_commit(ledger, reterr);
	if (r >= 0)
		log_message(LOG_INFO,
			    "handed back: %zu volumes of pods stay mounted and are no longer "
			    "podvold's",
			    pods);
	return r;
}

static bool takes_over(const struct config *config)
{
	return config->takeover.how != CONFIG_TAKEOVER_NONE;
}

static bool decides(const struct config *config)
{
	return !config->hand_back && !config->drain;
}

int reconstruct_check_mark(const struct config *config, struct failure *reterr)
{
	cleanup_close int fd = open_state(config->state_dir, reterr);

	if (fd < 0)
		return fd;
	if (!decides(config) || takes_over(config))
		return 0;
	if (faccessat(fd, MARK, F_OK, 0) == 0)
		return failed_plain(reterr, -EBUSY,
				    "this node's volumes were handed back to a kubelet; start "
				    "podvold with --takeover to have them again");
	return errno == ENOENT ? 0 : failed(reterr, -errno, "cannot look for '" MARK "'");
}

int reconstruct_remove_mark(const struct config *config, struct ledger *ledger,
			    struct failure *reterr)
{
	cleanup_close int fd = open_state(config->state_dir, reterr);
	int r;

	if (fd < 0)
		return fd;
	if (!decides(config) || !takes_over(config))
		return 0;
	r = ledger_commit(ledger, reterr);
	if (r < 0)
		return r;
	if (unlinkat(fd, MARK, 0) < 0 && errno != ENOENT)
		return failed(reterr, -errno, "cannot remove '" MARK "'");
	return 0;
}
