/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_ring - keys in PEM, each below lines that say from when and until when; see key_ring.h
 */
#include "token/key_ring.h"

#include "base/clock.h"
#include "base/fnv1a.h"
#include "base/secret_file.h"
#include "object/timestamp.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define PRIVATE_BEGIN "-----BEGIN PRIVATE KEY-----"
#define PUBLIC_BEGIN  "-----BEGIN PUBLIC KEY-----"

static const char head[] =
	"# The first key signs the tokens of service accounts; older ones are published until the\n"
	"# last token that they signed has expired.\n";

void key_ring_done(struct key_ring *ring)
{
	for (size_t i = 0; i < ring->count; i++)
		(void) signing_key_free(ring->keys[i].key);
	ring->count = 0;
}

/* ---- writing ---- */

static int print_key(FILE *file, const struct ring_key *key)
{
	char *pem = signing_key_print(key->key, key->published_until_usec == 0);
	char created[TIMESTAMP_BYTES], until[TIMESTAMP_BYTES];
	int r;

	if (!pem)
		return -ENOMEM;
	timestamp_print(key->created_usec, created);
	timestamp_print(key->published_until_usec, until);
	r = fprintf(file, "created: %s\nlongest-token-seconds: %" PRId64 "\n", created,
		    key->longest_seconds);
	if (r >= 0 && key->published_until_usec)
		r = fprintf(file, "published-until: %s\n", until);
	if (r >= 0)
		r = fprintf(file, "text-sum: %016" PRIx64 "\n%s", fnv1a_add_text(FNV1A_FIRST, pem),
			    pem);
	(void) secret_text_free(pem);
	return r < 0 ? -ENOMEM : 0;
}

/* On a buffer of full size, so that no copy of a key is left behind by one that grew. */
static int print_ring(const struct key_ring *ring, char *text, size_t size)
{
	FILE *file = fmemopen(text, size, "w");
	int r = file ? 0 : -ENOMEM;

	if (!file)
		return r;
	(void) setvbuf(file, NULL, _IONBF, 0);
	if (fprintf(file, "%s", head) < 0)
		r = -ENOMEM;
	for (size_t i = 0; i < ring->count && r == 0; i++)
		r = print_key(file, &ring->keys[i]);
	return fclose(file) < 0 ? -ENOMEM : r;
}

static int write_ring(int directory_fd, const struct key_ring *ring, struct failure *reterr)
{
	char *text = calloc(1, SECRET_FILE_BYTES);
	int r = text ? print_ring(ring, text, SECRET_FILE_BYTES) : -ENOMEM;

	if (r < 0)
		r = failed(reterr, r, "cannot write '" KEY_RING_FILE "'");
	else
		r = secret_file_write(directory_fd, KEY_RING_FILE, text, reterr);
	if (text)
		explicit_bzero(text, SECRET_FILE_BYTES);
	free(text);
	return r;
}

/* ---- reading ---- */

/* "key: value", by its key; what is unknown is passed over. */
static void read_line(const char *line, struct ring_key *key)
{
	static const char created[] = "created: ", until[] = "published-until: ",
			  longest[] = "longest-token-seconds: ", sum[] = "text-sum: ";
	char time[TIMESTAMP_BYTES];

	if (sscanf(line, "created: %31[^\n]", time) == 1 && strncmp(line, created, 9) == 0)
		key->created_usec = timestamp_parse(time);
	else if (sscanf(line, "published-until: %31[^\n]", time) == 1 &&
		 strncmp(line, until, 17) == 0)
		key->published_until_usec = timestamp_parse(time);
	else if (strncmp(line, longest, strlen(longest)) == 0)
		key->longest_seconds = strtoll(line + strlen(longest), NULL, 10);
	else if (strncmp(line, sum, strlen(sum)) == 0)
		key->text_sum = strtoull(line + strlen(sum), NULL, 16);
}

static int read_text(const char *pem, bool is_private, struct ring_key *key, struct failure *reterr)
{
	if (key->text_sum == 0)
		return signing_key_parse(pem, is_private, &key->key, reterr);
	if (key->text_sum != fnv1a_add_text(FNV1A_FIRST, pem))
		return failed_plain(
			reterr, -EINVAL,
			"a key is damaged: its text-sum is another; put a copy back, or "
			"remove that line if the key was replaced on purpose");
	return signing_key_keep(pem, is_private, &key->key, reterr);
}

static int read_key(char **at, struct ring_key *key, struct failure *reterr)
{
	bool is_private = strncmp(*at, PRIVATE_BEGIN, strlen(PRIVATE_BEGIN)) == 0;
	char *end = strstr(*at, "-----END "), saved;
	int r;

	end = end ? strchr(end, '\n') : NULL;
	if (!end || is_private != (key->published_until_usec == 0) || key->longest_seconds <= 0)
		return failed_plain(reterr, -EINVAL, "a key in '" KEY_RING_FILE "' is incomplete");
	saved = end[1];
	end[1] = '\0';
	r = read_text(*at, is_private, key, reterr);
	end[1] = saved;
	*at = end + 1;
	return r < 0 ? failure_prefix(reterr, "'" KEY_RING_FILE "'"), r : 0;
}

static int parse_ring(char *text, struct key_ring *ret, struct failure *reterr)
{
	struct ring_key key = { .key = NULL };
	int r = 0;

	for (char *at = text; r == 0 && at && *at;) {
		if (strncmp(at, PRIVATE_BEGIN, strlen(PRIVATE_BEGIN)) != 0 &&
		    strncmp(at, PUBLIC_BEGIN, strlen(PUBLIC_BEGIN)) != 0) {
			read_line(at, &key);
			at = strchr(at, '\n');
			at = at ? at + 1 : NULL;
			continue;
		}
		if (ret->count == KEY_RING_MAX)
			return failed_plain(reterr, -EINVAL, "'%s' holds more than %d keys",
					    KEY_RING_FILE, KEY_RING_MAX);
		r = read_key(&at, &key, reterr);
		if (r == 0)
			ret->keys[ret->count++] = key;
		key = (struct ring_key){ .key = NULL };
	}
	if (r == 0 && (ret->count == 0 || ret->keys[0].published_until_usec != 0))
		r = failed_plain(reterr, -EINVAL,
				 "'" KEY_RING_FILE
				 "' does not begin with a private key: move it away, then a new "
				 "one is made, which invalidates issued tokens");
	for (size_t i = 1; i < ret->count && r == 0; i++)
		if (ret->keys[i].published_until_usec == 0)
			r = failed_plain(reterr, -EINVAL,
					 "'" KEY_RING_FILE "' holds several private keys");
	return r;
}

/* A key whose tokens may live longer from now on has to be remembered for longer: that is on the
 * disk before the first of them is signed. */
static int take_up(int directory_fd, int64_t longest_seconds, struct key_ring *ring,
		   struct failure *reterr)
{
	if (ring->keys[0].longest_seconds >= longest_seconds)
		return 0;
	ring->keys[0].longest_seconds = longest_seconds;
	return write_ring(directory_fd, ring, reterr);
}

static int read_ring(int directory_fd, struct key_ring *ret, struct failure *reterr)
{
	char *text = NULL;
	int r = secret_file_read(directory_fd, KEY_RING_FILE, &text, reterr);

	if (r < 0)
		return r;
	r = parse_ring(text, ret, reterr);
	(void) secret_text_free(text);
	return r;
}

int key_ring_load(int directory_fd, int64_t longest_seconds, struct key_ring *ret,
		  struct failure *reterr)
{
	struct key_ring ring = { .count = 0 }, empty = { .count = 0 };
	int r = read_ring(directory_fd, &ring, reterr);

	assert(directory_fd >= 0 && longest_seconds > 0 && ret);
	if (r == -ENOENT)
		r = key_ring_renew(directory_fd, &empty, longest_seconds, &ring, reterr);
	else if (r == 0)
		r = take_up(directory_fd, longest_seconds, &ring, reterr);
	if (r < 0)
		key_ring_done(&ring);
	else
		*ret = ring;
	return r;
}

/* ---- a new key ---- */

/* The public half of @old alone, of a key that signs until now or that signed before. */
static int retire(const struct ring_key *old, uint64_t now, struct ring_key *ret)
{
	char *pem = signing_key_print(old->key, false);
	int r = pem ? signing_key_parse(pem, false, &ret->key, NULL) : -ENOMEM;

	(void) secret_text_free(pem);
	ret->created_usec = old->created_usec;
	ret->longest_seconds = old->longest_seconds;
	ret->published_until_usec = old->published_until_usec;
	if (ret->published_until_usec == 0)
		ret->published_until_usec =
			now + (uint64_t) old->longest_seconds * USEC_PER_SEC + USEC_PER_SEC;
	return r;
}

static int fill(const struct key_ring *old, int64_t longest_seconds, struct key_ring *ret,
		struct failure *reterr)
{
	uint64_t now = realtime_usec();
	int r = signing_key_generate(&ret->keys[0].key, reterr);

	if (r < 0)
		return r;
	ret->keys[0].created_usec = now;
	ret->keys[0].longest_seconds = longest_seconds;
	ret->count = 1;
	for (size_t i = 0; i < old->count; i++) {
		const struct ring_key *key = &old->keys[i];

		if (key->published_until_usec != 0 && key->published_until_usec <= now)
			continue;
		if (ret->count == KEY_RING_MAX)
			return failed_plain(reterr, -EDQUOT,
					    "%d older keys are still published, because tokens "
					    "that they signed may live: wait until one expires",
					    KEY_RING_MAX - 1);
		if (retire(key, now, &ret->keys[ret->count]) < 0)
			return failed(reterr, -ENOMEM, "cannot keep a key");
		ret->count++;
	}
	return 0;
}

int key_ring_renew(int directory_fd, const struct key_ring *ring, int64_t longest_seconds,
		   struct key_ring *ret, struct failure *reterr)
{
	struct key_ring fresh = { .count = 0 };
	int r = fill(ring, longest_seconds, &fresh, reterr);

	assert(directory_fd >= 0 && ret);
	if (r == 0)
		r = write_ring(directory_fd, &fresh, reterr);
	if (r < 0)
		key_ring_done(&fresh);
	else
		*ret = fresh;
	return r;
}
