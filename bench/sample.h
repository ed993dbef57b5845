/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample - what the benchmarks in C print for bench/run, which makes figures of it
 *
 * A sample is what podvol took in one round, and what could not be done without in the same round.
 * No benchmark keeps or compares them.
 */
#ifndef PODVOL_BENCH_SAMPLE_H
#define PODVOL_BENCH_SAMPLE_H

#define NO_FLOOR (-1.0)

/* @name: with its unit, as "mounted_ms"; @size, @what: the case, as 1000 "pods" */
void print_sample(const char *name, unsigned long size, const char *what, double podvol,
		  double floor);

#endif
