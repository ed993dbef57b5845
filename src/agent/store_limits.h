/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_limits - how much all objects may have, from the configuration
 *
 * The messages of the store name the options, so that whoever is refused knows what to raise.
 */
#pragma once

struct config;
struct store;

/* Return: the store, which must be open, with its limits. */
struct store *store_with_limits(struct store *store, const struct config *config);
