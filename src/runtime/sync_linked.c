/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Programs that are linked with --cairn=trace only, by the name of the first.)
 * Says that the functions in which threads wait were wrapped (sync.c).
 */
#define HIDDEN __attribute__((visibility("hidden")))

extern HIDDEN const char __cairn_waits_member, __cairn_waits;
HIDDEN const char __cairn_waits_member = 1;
HIDDEN const char __cairn_waits = 1;
