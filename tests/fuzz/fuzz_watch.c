/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_watch - what a server sends to a watch of the client library: a list, lines, a refusal
 *
 * The first byte says which, the second in how many pieces it arrives; a third and fourth are the
 * status of a refusal. Whatever it is, what is reported has its form, a version is a number, and a
 * watch that is over says why. The watch's own file is part of this one, since what it parses
 * arrives through curl alone.
 */
#include "fuzz.h"

#include "client/watch.c" /* NOLINT(bugprone-suspicious-include) */

const struct server *handle_server(const struct podvol *podvol)
{
	static const struct server nowhere = { .address = "/nowhere/podvol.sock" };

	return &nowhere;
}

struct told {
	bool listed;
	unsigned int count;
};

static void on_changed(void *userdata, const struct podvol_event *event)
{
	struct told *told = userdata;

	told->count++;
	HOLDS(event->length == strlen(event->object) && event->version && event->error);
	HOLDS(strspn(event->version, "0123456789") == strlen(event->version));
	if (event->type == PODVOL_LISTED)
		told->listed = true;
	HOLDS((event->type == PODVOL_INTERRUPTED) == (event->length == 0));
	HOLDS(event->type != PODVOL_INTERRUPTED || told->listed);
}

/* Return: false it does not fit, as curl learns. */
static bool bring(struct podvol_watch *watch, const uint8_t *data, size_t size)
{
	return receive((char *) data, 1, size, watch) == size;
}

static void check_end(const struct podvol_watch *watch, int r)
{
	if (watch->phase != PHASE_OVER)
		return;
	HOLDS(watch->result < 0 && r < 0 && watch->error[0] != '\0');
}

/* A list as a whole, once its transfer has ended. */
static void check_list(struct podvol_watch *watch, const uint8_t *data, size_t size)
{
	watch->phase = PHASE_LIST;
	if (bring(watch, data, size))
		check_end(watch, take_end(watch, CURLE_OK));
}

/* Lines as they come, whole or not. */
static void check_lines(struct podvol_watch *watch, const uint8_t *data, size_t size, size_t piece)
{
	int r = 0;

	memcpy(watch->version, "7", 2);
	watch->phase = PHASE_STREAM;
	for (size_t at = 0; at < size && r == 0 && watch->phase == PHASE_STREAM; at += piece) {
		if (!bring(watch, data + at, size - at < piece ? size - at : piece))
			return;
		r = take_lines(watch);
		if (r == 0)
			HOLDS(watch->received.length == 0 ||
			      !memchr(watch->received.bytes, '\n', watch->received.length));
	}
	if (r != 0)
		leave_transfer(watch);
	check_end(watch, r);
	if (watch->phase == PHASE_STREAM)
		check_end(watch, take_end(watch, CURLE_OK));
}

static void check_refusal(struct podvol_watch *watch, const uint8_t *data, size_t size)
{
	int status = size < 2 ? 400 : 400 + (data[0] << 8 | data[1]) % 200;

	if (size >= 2 && bring(watch, data + 2, size - 2)) {
		leave_transfer(watch);
		check_end(watch, take_refusal(watch, status));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct told told = { .listed = false };
	struct podvol_watch *watch = NULL;
	struct podvol *podvol = (struct podvol *) &told; /* only its socket is asked for, above */
	const struct podvol_watch_request request = { .path = "/api/v1/pods",
						      .changed = on_changed,
						      .userdata = &told };

	if (size < 2)
		return 0;
	HOLDS(podvol_watch_open(podvol, &request, &watch) == 0);
	told.listed = watch->was_listed = data[0] & 4;
	switch (data[0] % 4) {
	case 0:
		check_list(watch, data + 2, size - 2);
		break;
	case 1:
		check_refusal(watch, data + 2, size - 2);
		break;
	default:
		check_lines(watch, data + 2, size - 2, (size_t) data[1] + 1);
	}
	podvol_watch_free(watch);
	return 0;
}
