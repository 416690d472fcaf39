/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_BASE_REAL_H
#define CAIRN_BASE_REAL_H

/* Functions of reals without libm; to the last bits of a double. */
double real_sqrt(double x); /* x >= 0 */
double real_log(double x);  /* natural; x > 0 */

#endif /* CAIRN_BASE_REAL_H */
