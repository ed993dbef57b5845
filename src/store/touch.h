/* SPDX-License-Identifier: Apache-2.0 */
/*
 * touch - changes of what this node knows of an object and does not store in it
 *
 * Those who show objects together with such facts have their watches see a STORE_MODIFIED, in order
 * with the writes and with a version of its own, so that a list and a watch from its version miss
 * none and see none twice. Nothing is written: the object and its own resourceVersion stay as they
 * are, and a full disk stops no touch. The loop thread only.
 */
#pragma once

#include "store/store.h"

/* Queued like a write; of an object that is gone by then, or another with the same name, there is
 * none. Return: 0; as store_update(). */
int store_touch(struct store *store, const struct store_key *key, const char *uid);
