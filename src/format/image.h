/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_IMAGE_H
#define CAIRN_FORMAT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an executable or shared object has in memory when it starts, as far as
 * its file says so. */
struct image;

/*
 * Requires: elf_parse was content with the bytes.  Nothing is believed beyond
 * that: what makes no sense is not in the image.
 * Memory: nothing of data is kept; image_free.
 */
struct image *image_new(const unsigned char *data, size_t size);
void image_free(struct image *im);

/*
 * Copies n bytes at an address, of the module loaded with this bias.  False if
 * one of them is outside, or only the loader of the system knows it; with
 * `is_constant`, also if the program may write there.
 */
bool image_read(const struct image *im, uint64_t bias, bool is_constant,
                uint64_t address, void *to, size_t n);

#endif /* CAIRN_FORMAT_IMAGE_H */
