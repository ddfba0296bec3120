/* change_point.h - has the level of a noisy quantity changed, when, and to what?
 *
 * Bayesian online change-point detection (Adams and MacKay, arXiv 0710.3742): a run is a stretch of
 * observations around one level, and a posterior over the start of the present run is kept. Level
 * and noise of a run have a normal-inverse-gamma prior, so what a run predicts is a Student t, and
 * an observation that is far off is no proof by itself. Every observation comes with the variance
 * that it is said to have; the gamma part learns by how much that is wrong.
 *
 * One level is home: where the quantity is when nothing is wrong. From home it may jump anywhere;
 * from elsewhere it goes home every second time. Without this, a return home would be believed only
 * once the level had been measured as exactly as the difference asks for. */
#ifndef ENGINE_MONITOR_CHANGE_POINT_H
#define ENGINE_MONITOR_CHANGE_POINT_H

#include <stdbool.h>

/* The window: starts that are kept. The least probable one makes room. */
enum { CHANGE_POINT_RUNS = 24 };

struct change_point_settings {
	double hazard;      /* probability, in (0, 1), that the next observation leaves home */
	double away_hazard; /* and that another level changes */
	double home;        /* the level when nothing is wrong */
	double first_sd;    /* how well home is known at first; large: the first run tells */
	double home_sd;     /* how exactly a return meets home */
	double spread_sd;   /* how far from home other levels are */
};

struct change_point_run {
	int start; /* iteration of its first observation */
	bool is_home;
	double probability;
	double level; /* weighted mean of the observations since start, without the prior */
	/* Normal-inverse-gamma: level ~ t(2 shape), mean, variance scale / shape / precision. */
	double mean, precision, shape, scale;
	double weight; /* of the observations in level */
};

/* Storage is the caller's; read it with the functions below. */
struct change_point {
	struct change_point_settings settings;
	struct change_point_run runs[CHANGE_POINT_RUNS];
	int n_runs;
	bool has_begun;
};

void change_point_init(struct change_point *detector, const struct change_point_settings *settings);

/* One observation, finite, of a variance above 0. Time is that of the window at most. */
void change_point_add(struct change_point *detector, int iteration, double value, double variance);

/* The most probable run; valid until the next observation. Without one yet, its level is home. */
const struct change_point_run *change_point_best(const struct change_point *detector);

/* Posterior probability that the level is above that. */
double change_point_above(const struct change_point *detector, double level);

#endif
