/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key - which operations exclude each other, and when a failed one may be tried again; pure
 *
 * kubelet's nested pending operations (spec: volume manager, 5; cases 294 to 307). A key is
 * (volume, pod, node); an empty pod or node is a wildcard in both directions; an empty volume never
 * conflicts. A record exists while its operation runs, and after a failure until a later success or
 * until it is dropped. Unlike kubelet's, an operation of a pod may be alone at its volume without
 * being the whole volume's: its failure and back-off are the pod's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct operation_key {
	const char *volume, *pod, *node; /* "" for none; never NULL */
	bool alone; /* no other operation of the volume runs meanwhile, of whatever pod */
};

struct back_off {
	uint64_t first_usec, max_usec; /* doubled in between */
};

/* Read only for everybody but key.c, apart from @owner, which is the caller's own. */
struct key_record {
	struct operation_key key; /* copied */
	const char *name;         /* borrowed: a constant */
	bool pending;             /* its operation runs */
	unsigned int failures;    /* in a row, under this name */
	uint64_t failing_usec;    /* monotonic: the first of these; 0 before it */
	uint64_t delay_usec;      /* after the last failure; 0 before the first */
	uint64_t retry_usec;      /* monotonic; not before then */
	void *owner;
	struct key_record *prev, *next; /* of the same volume */
	struct key_volume *of;
};

struct key_table;

/* Return: 0 or -ENOMEM. */
int key_table_new(const struct back_off *back_off, struct key_table **ret);
/* Frees the records, not their owners. Return: NULL. */
struct key_table *key_table_free(struct key_table *table);

/**
 * key_may_begin - would this operation be admitted; changes nothing
 *
 * Return: 0; -EBUSY AlreadyExists; -EAGAIN ExponentialBackoff.
 */
int key_may_begin(const struct key_table *table, const struct operation_key *key, const char *name,
		  uint64_t now_usec);

/**
 * key_begin - admit an operation
 * @key:      copied
 * @name:     its identity for the back-off, a constant; another name than that of the failed
 *            operation clears its back-off
 * @now_usec: monotonic
 * @ret:      the pending record. It may be the one of a failed operation whose key matches, with
 * its owner: the caller replaces that.
 *
 * Return: 0 admitted and pending; what key_may_begin() says; -ENOMEM.
 */
int key_begin(struct key_table *table, const struct operation_key *key, const char *name,
	      uint64_t now_usec, struct key_record **ret);

/* It ended: success frees the record, failure starts or doubles the delay.
 * Return: when it may be tried again (monotonic), 0 after success. */
uint64_t key_end(struct key_table *table, struct key_record *record, bool succeeded,
		 uint64_t now_usec);

/* Of a failed one: it may be tried again from now on, and when that fails the delay is what it was.
 */
void key_retry_now(struct key_record *record, uint64_t now_usec);

/* Of a failed one: it may not be tried again before key_retry_now(). */
void key_wait(struct key_record *record);

/* Frees the record of an operation that is not pending: it is not retried. */
void key_drop(struct key_table *table, struct key_record *record);

/* The records of one volume: walk with ->next; NULL: none. */
struct key_record *key_records(const struct key_table *table, const char *volume);

/* All records: key_next(table, NULL) is the first; NULL after the last. @record must still exist.
 */
struct key_record *key_next(const struct key_table *table, const struct key_record *record);
