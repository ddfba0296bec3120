/* report_json_internal.h - parts of the JSON document. */
#ifndef REPORTS_REPORT_JSON_INTERNAL_H
#define REPORTS_REPORT_JSON_INTERNAL_H

#include "engine/base/json_write.h"
#include "reports/report.h"

/* {schedule: number} */
void json_by_schedule(struct json_write *json, const char *key, const struct comparison *comparison,
                      const double *values);

/* "links": "2-3 3-4" becomes ["2-3", "3-4"]. */
void json_links(struct json_write *json, const char *links);

/* null for −1. */
void json_iteration(struct json_write *json, const char *key, int iteration);

/* "facts" of a schedule: null without. */
void json_facts(struct json_write *json, const struct comparison_schedule *schedule);

/* "links": what faults of links asked for, and what passed; none but of live runs. */
void json_passed(struct json_write *json, const struct comparison *comparison);

/* "loss": null where there are no losses. */
void json_losses(struct json_write *json, const struct comparison *comparison);

/* "simulated": null without. */
void json_simulated(struct json_write *json, const struct comparison *comparison,
                    const struct comparison *simulated);

#endif
