/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_holder - an flock that goes with the process, even when one of its threads cannot go
 *
 * A thread that waits for a server inside the kernel may be killed and still stay, and with it the
 * process's table of descriptors: every lock in there would outlive the process for as long as the
 * server is silent, and keep the next one from starting. So a lock is held by a small thread with a
 * table of its own, which holds nothing else and ends at once.
 */
#pragma once

struct lock_holder;

/**
 * lock_holder_new - have a lock held
 * @fd: flock(2) succeeded on it; taken, and no descriptor of the caller's any more
 *
 * Return: 0; -EAGAIN no thread, -ENOMEM, -EMFILE: @fd is still the caller's.
 */
int lock_holder_new(int fd, struct lock_holder **ret);

/* Lets go of the lock, and waits for that. Accepts NULL. Return: NULL. */
struct lock_holder *lock_holder_free(struct lock_holder *holder);
