/* nights.c - histories: the numbers that nightly comparisons gave, and what was announced. */
#include "engine/store/nights.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/store/row_internal.h"
#include "engine/store/select_internal.h"

int store_put_night(struct store *store, uint64_t environment, const struct night_value *values,
                    size_t n_values, struct err *err)
{
	sqlite3_stmt *kept = NULL;
	int rc = batch_begin_alone(store, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < n_values && rc == 0; i++) {
		struct row row = {0};

		if (!isfinite(values[i].value))
			continue;
		row_int(&row, "environment", (int64_t)environment);
		row_int(&row, "comparison", values[i].comparison);
		row_text(&row, "schedule", values[i].schedule);
		row_text(&row, "metric", values[i].metric);
		row_int(&row, "is_fresh", values[i].is_fresh);
		row_real(&row, "value", values[i].value);
		rc = row_insert(&row, store, "night_value", &kept, err);
	}
	sqlite3_finalize(kept);
	return batch_end_alone(store, rc, err);
}

static int read_value(sqlite3_stmt *stmt, void *item)
{
	struct night_value *value = item;

	*value = (struct night_value){
		.comparison = sqlite3_column_int64(stmt, 0),
		.schedule = column_text(stmt, 1),
		.metric = column_text(stmt, 2),
		.is_fresh = sqlite3_column_int(stmt, 3) != 0,
		.value = sqlite3_column_double(stmt, 4),
		.created = column_text(stmt, 5),
		.version = column_text(stmt, 6),
		.digest = column_text(stmt, 7),
	};
	return value->schedule && value->metric && value->created && value->version && value->digest
	               ? 0
	               : -ENOMEM;
}

static void value_fini(void *item)
{
	struct night_value *value = item;

	free(value->schedule);
	free(value->metric);
	free(value->created);
	free(value->version);
	free(value->digest);
}

static const struct row_kind value_rows = {
	.table = "night_value",
	.item_bytes = sizeof(struct night_value),
	.read = read_value,
	.fini = value_fini,
};

void stored_nights_fini(struct night_value *values, size_t n_values)
{
	rows_fini(&value_rows, values, n_values);
}

int store_read_nights(struct store *store, uint64_t environment, struct night_value **out,
                      size_t *n_out, struct err *err)
{
	const int64_t id = (int64_t)environment;
	const struct select select = {
		"SELECT comparison, schedule, metric, is_fresh, value, created, coalesce("
		"(SELECT version FROM run r WHERE r.comparison = v.comparison LIMIT 1), ''),"
		" scenario_digest"
		" FROM night_value v JOIN comparison USING (comparison)"
		" WHERE environment = ?1 ORDER BY comparison, schedule, metric",
		&id,
		1,
	};
	struct rows rows;
	int rc = select_rows(store, &select, &value_rows, &rows, err);

	if (rc)
		return rc;
	*out = rows.items;
	*n_out = rows.n_items;
	return 0;
}

static int read_environment(sqlite3_stmt *stmt, void *item)
{
	struct night_environment *environment = item;

	*environment = (struct night_environment){
		.environment = (uint64_t)sqlite3_column_int64(stmt, 0),
		.n_nights = sqlite3_column_int(stmt, 1),
		.last = sqlite3_column_int64(stmt, 2),
		.first_created = column_text(stmt, 3),
		.last_created = column_text(stmt, 4),
	};
	return environment->first_created && environment->last_created ? 0 : -ENOMEM;
}

static void environment_fini(void *item)
{
	free(((struct night_environment *)item)->first_created);
	free(((struct night_environment *)item)->last_created);
}

static const struct row_kind environment_rows = {
	.table = "night_value",
	.item_bytes = sizeof(struct night_environment),
	.read = read_environment,
	.fini = environment_fini,
};

void stored_environments_fini(struct night_environment *environments, size_t n_environments)
{
	rows_fini(&environment_rows, environments, n_environments);
}

int store_read_environments(struct store *store, int64_t comparison, struct night_environment **out,
                            size_t *n_out, struct err *err)
{
	const struct select select = {
		"SELECT environment, count(DISTINCT comparison), max(comparison), min(created),"
		" max(created) FROM night_value JOIN comparison USING (comparison)"
		" WHERE NOT is_fresh AND scenario_title ="
		" (SELECT scenario_title FROM comparison WHERE comparison = ?1)"
		" GROUP BY environment ORDER BY min(comparison)",
		&comparison,
		1,
	};
	struct rows rows;
	int rc = select_rows(store, &select, &environment_rows, &rows, err);

	if (rc)
		return rc;
	*out = rows.items;
	*n_out = rows.n_items;
	return 0;
}

int store_put_alarm(struct store *store, uint64_t environment, const struct night_alarm *alarm,
                    struct err *err)
{
	struct row row = {0};
	int rc = batch_begin_alone(store, err);

	if (rc)
		return rc;
	row_int(&row, "environment", (int64_t)environment);
	row_int(&row, "comparison", alarm->comparison);
	row_text(&row, "schedule", alarm->schedule);
	row_text(&row, "metric", alarm->metric);
	row_int(&row, "since", alarm->since);
	row_real(&row, "before_value", alarm->before);
	row_real(&row, "after_value", alarm->after);
	row_real(&row, "p", alarm->p);
	return batch_end_alone(store, row_insert(&row, store, "alarm", NULL, err), err);
}

static int read_alarm(sqlite3_stmt *stmt, void *item)
{
	struct night_alarm *alarm = item;

	*alarm = (struct night_alarm){
		.comparison = sqlite3_column_int64(stmt, 0),
		.schedule = column_text(stmt, 1),
		.metric = column_text(stmt, 2),
		.since = sqlite3_column_int64(stmt, 3),
		.before = sqlite3_column_double(stmt, 4),
		.after = sqlite3_column_double(stmt, 5),
		.p = sqlite3_column_double(stmt, 6),
	};
	return alarm->schedule && alarm->metric ? 0 : -ENOMEM;
}

static void alarm_fini(void *item)
{
	free(((struct night_alarm *)item)->schedule);
	free(((struct night_alarm *)item)->metric);
}

static const struct row_kind alarm_rows = {
	.table = "alarm",
	.item_bytes = sizeof(struct night_alarm),
	.read = read_alarm,
	.fini = alarm_fini,
};

void stored_alarms_fini(struct night_alarm *alarms, size_t n_alarms)
{
	rows_fini(&alarm_rows, alarms, n_alarms);
}

int store_read_alarms(struct store *store, uint64_t environment, struct night_alarm **out,
                      size_t *n_out, struct err *err)
{
	const int64_t id = (int64_t)environment;
	const struct select select = {
		"SELECT comparison, schedule, metric, since, before_value, after_value, p FROM "
		"alarm"
		" WHERE environment = ?1 ORDER BY comparison, schedule, metric",
		&id,
		1,
	};
	struct rows rows;
	int rc = select_rows(store, &select, &alarm_rows, &rows, err);

	if (rc)
		return rc;
	*out = rows.items;
	*n_out = rows.n_items;
	return 0;
}

static int read_number(sqlite3_stmt *stmt, void *item)
{
	*(double *)item =
		sqlite3_column_type(stmt, 0) == SQLITE_NULL ? NAN : sqlite3_column_double(stmt, 0);
	return 0;
}

static const struct row_kind number_rows = {
	.table = "op",
	.item_bytes = sizeof(double),
	.read = read_number,
};

int store_read_transfer_ns(struct store *store, int64_t run, double *out, struct err *err)
{
	const struct select select = {
		"SELECT avg(message_arrive_ns - message_request_ns) FROM iteration i"
		" JOIN op ON op.id BETWEEN i.first_op AND i.first_op + i.n_ops - 1"
		" WHERE i.run = ?1 AND i.iteration >= (SELECT n_warmup FROM run WHERE run = ?1)",
		&run,
		1,
	};
	double mean = NAN;
	int rc = select_first(store, &select, &number_rows, &mean, err);

	if (rc < 0)
		return rc;
	*out = mean;
	return 0;
}
