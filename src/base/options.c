/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with an option, in our words: those of getopt_long go to the
 * terminal as they are.
 */
#include "base/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

/* How many long options may be meant by "--NAME" or "--NAME=value"? */
static size_t count_meant(const char *word, const struct option *options)
{
	size_t n = strcspn(word += 2, "="), found = 0;

	for (; options->name; options++)
		found += !strncmp(options->name, word, n);
	return found;
}

void options_judge(int c, char **argv, const struct option *options, char *what,
                   size_t size)
{
	const char *word = argv[optind - 1];

	if (c == ':') {
		snprintf(what, size, "%s needs a value", word);
		return;
	}
	for (const struct option *o = options; optopt && o->name; o++)
		if (o->val == optopt) {
			snprintf(what, size, "--%s takes no value", o->name);
			return;
		}
	if (optopt)
		snprintf(what, size, "there is no option -%c", optopt);
	else if (count_meant(word, options) > 1)
		snprintf(what, size, "%s may mean more than one option", word);
	else
		snprintf(what, size, "there is no option %s", word);
}
