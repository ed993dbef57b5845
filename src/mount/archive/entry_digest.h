/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry_digest - a SHA-256 of all that a backup keeps of an entry [worker]
 *
 * The same whether the entry is read from a file system or from an archive: extended attributes in
 * the order of their names, contents without regard to where holes are. Without its path, the time
 * it was read, and its other names. It detects damage, not forgery: the author of an archive can
 * compute it.
 */
#pragma once

#include "base/failure.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum { ENTRY_DIGEST_BYTES = 32, ENTRY_DIGEST_TEXT = 2 * ENTRY_DIGEST_BYTES + 1 };

struct attributes;
struct content_digest;

/* NULL: no memory. */
struct content_digest *content_digest_new(void);
void content_digest_freep(struct content_digest **digest);

/* A stretch of a file, each behind the one before; what lies between them is zeros.
 * Return: 0; -EINVAL it begins before the last one ended. */
int content_digest_add(struct content_digest *digest, uint64_t offset, const void *bytes,
		       size_t length);

/* All that a file is but its content. */
struct entry_facts {
	const struct attributes *attributes;
	uint64_t size;      /* of a file, else 0 */
	dev_t device;       /* of a device, else 0 */
	const char *target; /* of a symbolic link, else NULL */
};

/* @content: of a file, empty again afterwards; else NULL. Return: 0; -ENOMEM. */
int entry_digest(const struct entry_facts *facts, struct content_digest *content,
		 unsigned char ret[ENTRY_DIGEST_BYTES]);

/**
 * entry_digest_read - of an open entry, with the content that it has now
 * @fd:     O_PATH will do
 * @cancel: looked at between portions; may be NULL
 *
 * Return: 0; -ECANCELED; else as the calls.
 */
int entry_digest_read(int fd, const struct attributes *attributes, const atomic_bool *cancel,
		      unsigned char ret[ENTRY_DIGEST_BYTES], struct failure *reterr);

/* As sha256sum(1) writes it. */
void entry_digest_print(const unsigned char digest[ENTRY_DIGEST_BYTES],
			char ret[ENTRY_DIGEST_TEXT]);
