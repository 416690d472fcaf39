/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work for CSparse: the stiffness matrix of a membrane, then a vibration by
 * explicit time steps, and static loads by Cholesky, LU and QR.
 *
 *     sparse SIDE STEPS
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cs.h"

static csi side;

static csi point(csi row, csi column)
{
	return row * side + column;
}

static void spring(cs *t, csi a, csi b, double k)
{
	cs_entry(t, a, a, k);
	cs_entry(t, b, b, k);
	cs_entry(t, a, b, -k);
	cs_entry(t, b, a, -k);
}

/* Springs to the neighbours and over one diagonal, every point held a bit. */
static cs *stiffness(void)
{
	cs *t = cs_spalloc(side * side, side * side, 1, 1, 1);

	for (csi i = 0; i < side; i++) {
		for (csi j = 0; j < side; j++) {
			csi p = point(i, j);
			double k = 1 + (double)((i * 3 + j * 5) % 7) / 8;
			cs_entry(t, p, p, 0.05);
			if (i + 1 < side)
				spring(t, p, point(i + 1, j), k);
			if (j + 1 < side)
				spring(t, p, point(i, j + 1), k);
			if (i + 1 < side && j + 1 < side)
				spring(t, p, point(i + 1, j + 1), k / 2);
		}
	}
	cs *a = cs_compress(t);
	cs_spfree(t);
	cs_dupl(a);
	return a;
}

/* Leapfrog: v -= dt * K x, x += dt * v. */
static double vibrate(const cs *a, long steps)
{
	csi n = a->n;
	double *x = calloc((size_t)n, sizeof(*x));
	double *v = calloc((size_t)n, sizeof(*v));
	double *force = calloc((size_t)n, sizeof(*force));
	double energy = 0;

	x[point(side / 2, side / 3)] = 1;
	for (long s = 0; s < steps; s++) {
		for (csi i = 0; i < n; i++)
			force[i] = 0;
		cs_gaxpy(a, x, force);
		for (csi i = 0; i < n; i++) {
			v[i] -= 0.1 * force[i];
			x[i] += 0.1 * v[i];
		}
	}
	for (csi i = 0; i < n; i++)
		energy += v[i] * v[i] / 2;
	free(force);
	free(v);
	free(x);
	return energy;
}

static double sum(const double *x, csi n)
{
	double total = 0;

	for (csi i = 0; i < n; i++)
		total += x[i];
	return total;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	side = strtol(argv[1], NULL, 10);
	long steps = strtol(argv[2], NULL, 10);
	cs *a = stiffness();
	csi n = a->n;
	double *load = calloc((size_t)n, sizeof(*load));

	printf("energy %.6e\n", vibrate(a, steps));
	for (int solver = 0; solver < 3; solver++) {
		for (csi i = 0; i < n; i++)
			load[i] = 1 + (double)(i % (solver + 2));
		csi ok = solver == 0   ? cs_cholsol(1, a, load)
		         : solver == 1 ? cs_lusol(2, a, load, 0.5)
		                       : cs_qrsol(3, a, load);
		printf("solver %d %d %.6e\n", solver, (int)ok, sum(load, n));
	}
	free(load);
	cs_spfree(a);
	return 0;
}
