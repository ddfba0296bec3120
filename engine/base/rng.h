/* rng.h - random numbers that depend on what they are for, not on who asked before.
 *
 * A draw is a hash of a seed and a key (link, iteration, microbatch, …), so two schedules that send
 * the same message see the same jitter, whatever order they send in. That is what makes runs
 * comparable pair by pair and a scenario give the same bytes twice. */
#ifndef ENGINE_BASE_RNG_H
#define ENGINE_BASE_RNG_H

#include <stdint.h>

/* Uniform over all 64-bit values; a well-mixed function of both (splitmix64's finaliser). */
uint64_t rng_mix(uint64_t seed, uint64_t key);

/* In [0, 1), 53 bits. */
double rng_uniform(uint64_t bits);

/* Standard normal, by the inverse of its distribution function (relative error below 1.2e-9). */
double rng_normal(uint64_t bits);

/* Heavy tail like netem's pareto table: Pareto with shape 3, shifted and scaled to mean 0,
 * variance 1. */
double rng_pareto(uint64_t bits);

/* 0.25 normal + 0.75 pareto of two independent parts of bits, netem's mixture, scaled to mean 0,
 * variance 1. */
double rng_paretonormal(uint64_t bits);

#endif
