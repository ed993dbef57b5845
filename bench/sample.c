/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample - the lines that bench/run reads
 *
 * Not flushed: a benchmark that measures microseconds does not wake its reader meanwhile.
 */
#include "bench/sample.h"

#include <stdio.h>

void print_sample(const char *name, unsigned long size, const char *what, double podvol,
		  double floor)
{
	(void) printf("%s\t%lu %s\t%.6g\t", name, size, what, podvol);
	if (floor >= 0)
		(void) printf("%.6g\n", floor);
	else
		(void) printf("-\n");
}
