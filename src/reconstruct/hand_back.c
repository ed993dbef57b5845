/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hand_back - podvold gives its volumes up as they are, to a kubelet; see reconstruct.h
 *
 * What kubelet finds is its own layout, so nothing on disk and no mount is touched: the ledger
 * forgets them, and the next podvold finds foreign volumes. Refused while a step is half done: a
 * kubelet takes a mount for a volume that is whole, and would not go on with its owners.
 */
#include "reconstruct/reconstruct.h"

#include "base/log.h"

#include <assert.h>

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

int reconstruct_hand_back(const struct actual *actual, struct ledger *ledger,
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
