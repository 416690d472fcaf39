# SPDX-License-Identifier: Apache-2.0
# Four threads that are there at the same time, and no word about threads where
# nobody knows: in a sum.
cat >threads.c <<'END'
#include <pthread.h>
static pthread_barrier_t all;
static void *meet(void *p)
{
	pthread_barrier_wait(&all);
	return p;
}
int main(void)
{
	pthread_t t[3];

	pthread_barrier_init(&all, 0, 4);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, meet, 0);
	meet(0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}
END
cairn-cc -O1 -pthread threads.c -o threads || exit
CAIRN_OUT=threads.cairn ./threads || exit
cairn pack -o packed.cairn threads.cairn || exit
CAIRN_OUT=other.cairn ./threads || exit
cairn merge -o merged.cairn threads.cairn other.cairn || exit
for file in threads packed merged; do
	cairn report --stable $file.cairn | grep '^file'
	cairn report --stable --json $file.cairn | grep thread
done
