/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key - which operations exclude each other, and when a failed one may be tried again; pure
 *
 * kubelet's nested pending operations (spec: volume manager, 5, cases 294 to 307). A key is
 * (volume, pod, node); an empty pod or node is a wildcard in both directions; an empty volume never
 * conflicts.
 */
#ifndef PODVOL_OPERATION_KEY_H
#define PODVOL_OPERATION_KEY_H

#include <stdbool.h>
#include <stdint.h>

struct operation_key {
	const char *volume, *pod, *node; /* "" for none; never NULL */
};

struct back_off {
	uint64_t first_usec, max_usec;
};

struct key_table;

int key_table_new(const struct back_off *back_off, struct key_table **ret);
struct key_table *key_table_free(struct key_table *table);

/**
 * key_begin - admit an operation
 * @name: its identity for the back-off
 *
 * Return: 0 admitted and pending; -EBUSY AlreadyExists; -EAGAIN ExponentialBackoff; -ENOMEM.
 */
int key_begin(struct key_table *table, const struct operation_key *key, const char *name,
	      uint64_t now_usec);

/* It ended: success forgets the record, failure starts or doubles the delay.
 * Return: when it may be tried again (monotonic), 0 after success. */
uint64_t key_end(struct key_table *table, const struct operation_key *key, bool succeeded,
		 uint64_t now_usec);

/* Forget every back-off of a volume. */
void key_forget_back_off(struct key_table *table, const char *volume);

#endif
