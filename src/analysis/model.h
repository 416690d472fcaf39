/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_MODEL_H
#define CAIRN_ANALYSIS_MODEL_H

#include <stddef.h>
#include <stdint.h>

struct path_count;
struct paths;

/* What remains of a range of numbers: low .. high - 1. */
struct model_range {
	uint64_t low, high;
};

/*
 * Narrows a range to the part of a symbol that has weight[symbol] of the sum
 * of all n weights: what an arithmetic coder does with each symbol.
 *
 * Requires: symbol < n, the sum of weights is not 0 and does not overflow.
 */
struct model_range model_narrow(struct model_range range,
                                const uint64_t *weight, size_t n,
                                size_t symbol);

/* Entropy in bits of n events with these weights; 0 if their sum is. */
double model_bits(const uint64_t *weight, size_t n);

/*
 * A probability model of the paths of a function: at each vertex of its DAG
 * the edges out of it have probabilities, weight / sum of the weights there.
 */
struct model {
	const struct paths *p; /* borrowed */
	uint64_t *weight;      /* per DAG edge */
};

/* All paths are alike: computeBLModel, figure 4.1. */
void model_init_uniform(struct model *m, const struct paths *p);
/* Each edge as often as it was measured on these n paths. */
void model_init_measured(struct model *m, const struct paths *p,
                         const struct path_count *items, size_t n);
void model_release(struct model *m);

/* The probability of a DAG edge at its source; 0 if that is never reached. */
double model_probability(const struct model *m, uint32_t edge);
/* Entropy in bits of the paths that the model induces. */
double model_entropy(const struct model *m);

/*
 * The code of a path: pathEncoder, figure 4.3, on 0 .. size - 1.  With the
 * uniform model and size = p->n it is the path's number.
 *
 * Requires: number < p->n.
 */
uint64_t model_encode(const struct model *m, uint64_t size, uint64_t number);

/* The compactness 2^entropy / n of n interesting paths: section 4.3. */
double model_gamma(double entropy, uint64_t n);

#endif /* CAIRN_ANALYSIS_MODEL_H */
