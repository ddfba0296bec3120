/* change_points.h - where the level of a metric changed, night after night.
 *
 * Levels are found by E-divisive (Matteson and James, J. Am. Stat. Assoc. 109, 2014): a stretch of
 * nights is split where the distributions left and right of the split are farthest apart, then its
 * parts are. A split counts when Student's t tells its sides apart and the means are far enough
 * apart to matter. A lone spike is no level: it is set aside first. */
#ifndef REPORTS_CHANGE_POINTS_H
#define REPORTS_CHANGE_POINTS_H

#include <stdbool.h>
#include <stddef.h>

struct change_settings {
	double p;            /* chance of a t as large where nothing changed */
	size_t least_nights; /* of a level, 2 at least */
	double least_ratio;  /* of the larger over the smaller level, less 1 */
};

/* p 0.001, three nights, and 2 % or the width of an A/A control where that is larger; NaN: none. */
struct change_settings change_settings_of(double control_width_ratio);

struct change {
	size_t night;         /* the first of the new level */
	double before, after; /* mean levels */
	double p;
};

/* values: one a night, above 0; NaN: the night has none. is_outlier [n] is set for those that are
 * set aside. out [n / least_nights] gets the changes, oldest first. Returns how many. -ENOMEM. */
int change_points_find(const double *values, size_t n, const struct change_settings *settings,
                       bool *is_outlier, struct change *out);

/* Is it for the worse, of a metric of which less is better? */
bool change_is_regression(const struct change *change);

/* Does a fresh run say the same? It has to be nearer the new level than the old one, and far
 * enough from the old one to matter. */
bool change_is_confirmed(const struct change *change, double fresh,
                         const struct change_settings *settings);

#endif
