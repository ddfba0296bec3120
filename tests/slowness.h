/* slowness.h - how much longer a test waits, by the machine and by the build. */
#ifndef TESTS_SLOWNESS_H
#define TESTS_SLOWNESS_H

/* ADAPTRA_TEST_SLOW, how much slower than usual this machine is; at least 1. */
double slowness_of_machine(void);

/* How much slower the product is in this build: sanitizers cost. */
double slowness_of_build(void);

#endif
