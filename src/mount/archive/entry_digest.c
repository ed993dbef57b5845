/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry_digest - a SHA-256 of all that a backup keeps of an entry; see entry_digest.h
 *
 * A content is hashed chunk by chunk: offset, length and bytes of each chunk up to its last byte
 * that is not zero. Chunks of nothing but zeros, and holes, add nothing.
 */
#include "mount/archive/entry_digest.h"

#include "base/cleanup.h"
#include "base/gnutls_begin.h"
#include "base/text.h"
#include "mount/archive/file_copy.h"
#include "mount/bind/attributes.h"
#include "mount/ownership/ownership.h"
#include "mount/path/safe_path.h"

#include <assert.h>
#include <endian.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <linux/posix_acl_xattr.h>
#include <string.h>

enum { CHUNK_BYTES = 64 * 1024, READ_BYTES = 256 * 1024 };

struct content_digest {
	gnutls_hash_hd_t hash;
	uint64_t chunk; /* which one is being filled */
	size_t filled;  /* of it, bytes; zeros behind that up to the last one are there */
	unsigned char bytes[CHUNK_BYTES];
};

struct content_digest *content_digest_new(void)
{
	struct content_digest *digest = calloc(1, sizeof(*digest));

	if (digest &&
	    (gnutls_begin() < 0 || gnutls_hash_init(&digest->hash, GNUTLS_DIG_SHA256) < 0)) {
		free(digest);
		return NULL;
	}
	return digest;
}

void content_digest_freep(struct content_digest **digest)
{
	if (!*digest)
		return;
	gnutls_hash_deinit((*digest)->hash, NULL);
	free(*digest);
	*digest = NULL;
}

static int add_number(gnutls_hash_hd_t hash, uint64_t number)
{
	const uint64_t fixed = htole64(number);

	return gnutls_hash(hash, &fixed, sizeof(fixed)) < 0 ? -ENOMEM : 0;
}

static int add_bytes(gnutls_hash_hd_t hash, const void *bytes, size_t length)
{
	int r = add_number(hash, length);

	if (r == 0 && length > 0 && gnutls_hash(hash, bytes, length) < 0)
		r = -ENOMEM;
	return r;
}

/* ---- contents ---- */

static int end_chunk(struct content_digest *digest)
{
	size_t length = digest->filled;
	int r = 0;

	while (length > 0 && digest->bytes[length - 1] == 0)
		length--;
	if (length > 0) {
		r = add_number(digest->hash, digest->chunk);
		if (r == 0)
			r = add_bytes(digest->hash, digest->bytes, length);
	}
	digest->filled = 0;
	return r;
}

int content_digest_add(struct content_digest *digest, uint64_t offset, const void *bytes,
		       size_t length)
{
	const unsigned char *from = bytes;
	int r = 0;

	assert(digest && (bytes || length == 0));
	if (offset < digest->chunk * CHUNK_BYTES + digest->filled)
		return -EINVAL;
	while (r == 0 && length > 0) {
		size_t at = (size_t) (offset % CHUNK_BYTES), take = CHUNK_BYTES - at;

		if (take > length)
			take = length;
		if (offset / CHUNK_BYTES != digest->chunk) {
			r = end_chunk(digest);
			digest->chunk = offset / CHUNK_BYTES;
		}
		memset(digest->bytes + digest->filled, 0, at - digest->filled);
		memcpy(digest->bytes + at, from, take);
		digest->filled = at + take;
		from += take;
		offset += take;
		length -= take;
	}
	return r;
}

static int content_digest_end(struct content_digest *digest, unsigned char ret[ENTRY_DIGEST_BYTES])
{
	int r = end_chunk(digest);

	digest->chunk = 0;
	gnutls_hash_output(digest->hash, ret); /* and begins again */
	return r;
}

/* ---- entries ---- */

static int by_name(const void *left, const void *right)
{
	const struct extended_attribute *const *a = left, *const *b = right;

	return strcmp((*a)->name, (*b)->name);
}

static int by_acl_entry(const void *left, const void *right)
{
	return memcmp(left, right, sizeof(struct posix_acl_xattr_entry));
}

static bool is_same(const struct extended_attribute *a, const struct extended_attribute *b)
{
	return strcmp(a->name, b->name) == 0 && a->size == b->size &&
	       memcmp(a->value, b->value, a->size) == 0;
}

/* An access list means the same in any order of its entries. */
static int add_value(gnutls_hash_hd_t hash, const struct extended_attribute *one)
{
	const size_t head = sizeof(struct posix_acl_xattr_header);
	cleanup_free unsigned char *copy = NULL;

	if ((strcmp(one->name, POSIX_ACL_ACCESS) != 0 &&
	     strcmp(one->name, POSIX_ACL_DEFAULT) != 0) ||
	    one->size < head)
		return add_bytes(hash, one->value, one->size);
	copy = malloc(one->size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, one->value, one->size);
	qsort(copy + head, (one->size - head) / sizeof(struct posix_acl_xattr_entry),
	      sizeof(struct posix_acl_xattr_entry), by_acl_entry);
	return add_bytes(hash, copy, one->size);
}

static int add_extended(gnutls_hash_hd_t hash, const struct attributes *attributes)
{
	size_t count = attributes->extended_count;
	cleanup_free const struct extended_attribute **sorted =
		calloc(count + 1, sizeof(const struct extended_attribute *));
	int r = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		sorted[i] = &attributes->extended[i];
	qsort(sorted, count, sizeof(const struct extended_attribute *), by_name);
	for (size_t i = 0; r == 0 && i < count; i++) {
		/* GNU tar writes an access list twice: as one, and as an attribute. */
		if (i > 0 && is_same(sorted[i - 1], sorted[i]))
			continue;
		r = add_bytes(hash, sorted[i]->name, strlen(sorted[i]->name));
		if (r == 0)
			r = add_value(hash, sorted[i]);
	}
	return r < 0 ? r : add_number(hash, UINT64_MAX);
}

static int add_facts(gnutls_hash_hd_t hash, const struct entry_facts *facts)
{
	const struct attributes *attributes = facts->attributes;
	const uint64_t numbers[] = {
		attributes->mode,
		attributes->uid,
		attributes->gid,
		(uint64_t) attributes->change_time.tv_sec,
		(uint64_t) attributes->change_time.tv_nsec,
		facts->size,
		facts->device,
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(numbers); i++)
		r = add_number(hash, numbers[i]);
	if (r == 0)
		r = add_bytes(hash, facts->target, facts->target ? strlen(facts->target) : 0);
	return r < 0 ? r : add_extended(hash, attributes);
}

int entry_digest(const struct entry_facts *facts, struct content_digest *content,
		 unsigned char ret[ENTRY_DIGEST_BYTES])
{
	unsigned char of_content[ENTRY_DIGEST_BYTES] = { 0 };
	gnutls_hash_hd_t hash;
	int r = content ? content_digest_end(content, of_content) : 0;

	assert(facts && facts->attributes && ret);
	if (r < 0 || gnutls_begin() < 0 || gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) < 0)
		return -ENOMEM;
	r = add_facts(hash, facts);
	if (r == 0)
		r = add_bytes(hash, of_content, sizeof(of_content));
	gnutls_hash_deinit(hash, ret);
	return r;
}

/* ---- of a file system ---- */

static int read_stretch(int fd, struct file_extent stretch, struct content_digest *digest,
			char *buffer, const atomic_bool *cancel)
{
	while (stretch.length > 0) {
		size_t want = stretch.length < READ_BYTES ? (size_t) stretch.length : READ_BYTES;
		ssize_t n = pread(fd, buffer, want, (off_t) stretch.start);
		int r;

		if (cancel && atomic_load(cancel))
			return -ECANCELED;
		if (n <= 0)
			return n < 0 ? -errno : 0; /* it was cut off: as it is found */
		r = content_digest_add(digest, stretch.start, buffer, (size_t) n);
		if (r < 0)
			return r;
		stretch.start += (uint64_t) n;
		stretch.length -= (uint64_t) n;
	}
	return 0;
}

static int read_content(int path_fd, uint64_t size, struct content_digest *digest,
			const atomic_bool *cancel)
{
	const struct fd_path by_name = fd_path(path_fd);
	cleanup_close int fd = open(by_name.text, O_RDONLY | O_NOATIME | O_NONBLOCK | O_CLOEXEC);
	cleanup_free char *buffer = malloc(READ_BYTES);
	uint64_t at = 0;

	if (fd < 0)
		return -errno;
	if (!buffer)
		return -ENOMEM;
	while (at < size) {
		struct file_extent extent;
		int r = file_next_extent(fd, at, size, &extent);

		if (r == 0)
			r = read_stretch(fd, extent, digest, buffer, cancel);
		if (r < 0)
			return r;
		at = extent.start + extent.length;
	}
	return 0;
}

static int read_target(int fd, size_t size, char **ret)
{
	cleanup_free char *target = calloc(1, size + 2);
	ssize_t length = target ? readlinkat(fd, "", target, size + 1) : -1;

	if (length < 0)
		return target ? -errno : -ENOMEM;
	*ret = TAKE_PTR(target);
	return 0;
}

int entry_digest_read(int fd, const struct attributes *attributes, const atomic_bool *cancel,
		      unsigned char ret[ENTRY_DIGEST_BYTES], struct failure *reterr)
{
	cleanup(content_digest_freep) struct content_digest *content = NULL;
	struct entry_facts facts = { .attributes = attributes };
	cleanup_free char *target = NULL;
	struct stat status;
	int r = 0;

	assert(fd >= 0 && attributes && ret && reterr);
	if (fstat(fd, &status) < 0)
		return failed(reterr, -errno, "cannot inspect it");
	if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode))
		facts.device = status.st_rdev;
	if (S_ISLNK(status.st_mode))
		r = read_target(fd, (size_t) status.st_size, &target);
	facts.target = target;
	if (S_ISREG(status.st_mode)) {
		facts.size = (uint64_t) status.st_size;
		content = content_digest_new();
		r = content ? read_content(fd, facts.size, content, cancel) : -ENOMEM;
	}
	if (r == 0)
		r = entry_digest(&facts, content, ret);
	if (r == -ECANCELED)
		return failed_plain(reterr, r, "reading was interrupted");
	return r < 0 ? failed(reterr, r, "cannot read it") : 0;
}

void entry_digest_print(const unsigned char digest[ENTRY_DIGEST_BYTES], char ret[ENTRY_DIGEST_TEXT])
{
	print_hex(digest, ENTRY_DIGEST_BYTES, ret);
}
