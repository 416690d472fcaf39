/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work for FANN: learn to tell three kinds of stripes in small noisy images,
 * then classify a stream of them.
 *
 *     neural EPOCHS SEED
 */
#include <stdio.h>
#include <stdlib.h>

#include "fann.h"

enum { SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 3, SAMPLES = 240 };

static unsigned long seed;

/* A number in 0 .. 1 (minimal standard generator). */
static float uniform(void)
{
	seed = seed * 48271 % 2147483647;
	return (float)(seed % 10000) / 10000.0f;
}

static void draw(fann_type *image, int class)
{
	int phase = (int)(uniform() * 3);

	for (int y = 0; y < SIDE; y++) {
		for (int x = 0; x < SIDE; x++) {
			int along = class == 0 ? x : class == 1 ? y : x + y;
			float ink = (along + phase) % 3 == 0 ? 0.7f : 0.1f;
			image[y * SIDE + x] = ink + 0.4f * uniform();
		}
	}
}

static int strongest(const fann_type *out)
{
	int best = 0;

	for (int i = 1; i < CLASSES; i++)
		if (out[i] > out[best])
			best = i;
	return best;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	int epochs = (int)strtol(argv[1], NULL, 10);
	seed = strtoul(argv[2], NULL, 10);
	struct fann *net = fann_create_standard(4, PIXELS, 20, 10, CLASSES);
	struct fann_train_data *data =
	        fann_create_train(SAMPLES, PIXELS, CLASSES);

	fann_set_activation_function_hidden(net, FANN_SIGMOID_SYMMETRIC);
	fann_set_activation_function_output(net, FANN_SIGMOID);
	fann_set_training_algorithm(net, FANN_TRAIN_RPROP);
	for (unsigned i = 0; i < fann_get_total_connections(net); i++)
		net->weights[i] = 0.4f * uniform() - 0.2f;
	for (int i = 0; i < SAMPLES; i++) {
		draw(data->input[i], i % CLASSES);
		for (int c = 0; c < CLASSES; c++)
			data->output[i][c] = c == i % CLASSES;
	}
	for (int i = 0; i < epochs; i++)
		fann_train_epoch(net, data);
	int right = 0, shown = epochs * 40;
	for (int i = 0; i < shown; i++) {
		fann_type image[PIXELS];
		draw(image, i % CLASSES);
		right += strongest(fann_run(net, image)) == i % CLASSES;
	}
	printf("right %d of %d\n", right, shown);
	fann_destroy_train(data);
	fann_destroy(net);
	return 0;
}
