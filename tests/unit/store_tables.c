/* store_tables.c - tables are read as they are: every column, the run's own rows, in order. */
#include "engine/store/table.h"

#include "engine/base/strbuf.h"
#include "tests/unit/store_fixture.h"

static size_t find_table(const char *name)
{
	size_t i = 0;

	while (i < store_n_tables() && strcmp(store_table_name(i), name) != 0)
		i++;
	must(i < store_n_tables(), name);
	return i;
}

/* All cells of run's rows as fixture_query() shows them. */
static const char *rows_of(struct store *store, const char *name, int64_t run, char out[CELL_BYTES])
{
	struct store_table *table;
	struct strbuf text = {0};
	struct err err = {0};

	must(!store_table_open(store, find_table(name), run, &table, &err), "cannot open a table");
	while (store_table_next(table, &err) > 0)
		for (int i = 0; i < store_table_n_columns(table); i++) {
			const struct stored_cell cell = store_table_cell(table, i);

			strbuf_add(&text, i ? "|" : text.length ? " " : "");
			switch (cell.type) {
			case STORED_NULL:
				strbuf_add(&text, "NULL");
				break;
			case STORED_INT:
				strbuf_addf(&text, "%lld", (long long)cell.integer);
				break;
			case STORED_REAL:
				strbuf_add_number(&text, cell.real);
				break;
			case STORED_TEXT:
				strbuf_add(&text, cell.text);
				break;
			}
		}
	store_table_close(table);
	must(snprintf(out, CELL_BYTES, "%s", strbuf_text(&text)) < CELL_BYTES, "rows are long");
	strbuf_fini(&text);
	return out;
}

/* Two runs under way side by side, so that their ops lie between each other's. */
static void fill(struct store *store, int64_t runs[2])
{
	struct record_op ops[24];
	struct record_sink *sinks[2];
	struct err err = {0};

	for (int i = 0; i < 2; i++)
		runs[i] = fixture_begin(store, true, &sinks[i]);
	for (int iteration = 0; iteration < 2; iteration++)
		for (int i = 0; i < 2; i++) {
			struct record_iteration row = fixture_iteration(iteration, ops);

			row.n_ops = 3; /* few, so that a row of the test is one that can be read */
			row.loss = iteration ? 2.5 : NAN;
			must(!record_put_iteration(sinks[i], &row, &err), err.text);
		}
	for (int i = 0; i < 2; i++)
		must(!store_end_run(store, runs[i], "done", "", &err), err.text);
}

static void check_table(struct store *store, const char *path, const char *name, const char *order,
                        int64_t run)
{
	char sql[CELL_BYTES], wanted[CELL_BYTES], found[CELL_BYTES];

	snprintf(sql, sizeof(sql), "SELECT * FROM %s WHERE run = %lld ORDER BY %s", name,
	         (long long)run, order);
	tap_is_str(rows_of(store, name, run, found), fixture_query(path, sql, wanted),
	           "%s of run %lld is what SQLite says", name, (long long)run);
}

/* As many columns as the table has, with their names. */
static void check_columns(struct store *store, const char *path, size_t i)
{
	char sql[CELL_BYTES], wanted[CELL_BYTES];
	struct strbuf found = {0};
	struct store_table *table;
	struct err err = {0};

	must(!store_table_open(store, i, 1, &table, &err), err.text);
	for (int c = 0; c < store_table_n_columns(table); c++)
		strbuf_addf(&found, "%s%s", c ? " " : "", store_table_column(table, c));
	store_table_close(table);
	snprintf(sql, sizeof(sql), "SELECT name FROM pragma_table_info('%s')", store_table_name(i));
	tap_is_str(strbuf_text(&found), fixture_query(path, sql, wanted), "%s has all its columns",
	           store_table_name(i));
	strbuf_fini(&found);
}

int main(void)
{
	char path[PATH_BYTES], found[CELL_BYTES];
	struct store *store;
	struct err err = {0};
	int64_t runs[2];

	fixture_make_folder();
	store = fixture_open(fixture_path("tables.db", path), STORE_WRITE);
	fill(store, runs);
	for (int i = 0; i < 2; i++) {
		check_table(store, path, "run", "run", runs[i]);
		check_table(store, path, "iteration", "attempt, iteration", runs[i]);
		check_table(store, path, "op", "id", runs[i]);
		check_table(store, path, "message", "id", runs[i]);
	}
	for (size_t i = 0; i < store_n_tables(); i++)
		check_columns(store, path, i);
	tap_is_str(rows_of(store, "op", 99, found), "", "a run that is not there has no rows");
	must(!store_close(store, &err), err.text);
	fixture_remove_folder();
	return tap_done();
}
