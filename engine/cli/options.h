/* options.h - what may stand behind a subcommand, read from one table. */
#ifndef ENGINE_CLI_OPTIONS_H
#define ENGINE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/base/strbuf.h"
#include "reports/style.h"

/* Borrowed from argv. */
struct text_list {
	const char **items;
	size_t n_items;
};

/* Which options a command takes, by what they are about. */
enum option_group {
	OPTIONS_COMMON = 1 << 0,   /* every command */
	OPTIONS_SCENARIO = 1 << 1, /* reads a scenario */
	OPTIONS_RUN = 1 << 2,      /* simulates it and stores it */
	OPTIONS_STORE = 1 << 3,    /* opens the database */
	OPTIONS_JSON = 1 << 4,
	OPTIONS_PLAN = 1 << 5,
	OPTIONS_FORCE = 1 << 6,
	OPTIONS_LIVE = 1 << 7,
	OPTIONS_TRACE = 1 << 8,
	OPTIONS_IMPORT = 1 << 9,
	OPTIONS_REPORT = 1 << 10,
	OPTIONS_NIGHTLY = 1 << 11,
	OPTIONS_DOCTOR = 1 << 12,
	OPTIONS_FIGURES = 1 << 13,
};

/* What the user asked for; the defaults of options_init() where nothing was said. */
struct options {
	int64_t iterations;   /* 0: the scenario's */
	int64_t seed;         /* -1: the scenario's */
	int64_t repeat;       /* 0: the scenario's */
	int64_t at;           /* -1: the initial plan */
	int64_t stage;        /* whose RNIC a trace loses */
	int64_t columns;      /* 0: the terminal's */
	int64_t microbatches; /* of an imported log's iterations; 0: not known */
	const char *store;    /* NULL: the default */
	const char *csv;      /* a file, or the name of a table; NULL: none */
	const char *html;     /* NULL: no page */
	const char *junit;    /* NULL: none is written */
	const char *metrics;  /* the same */
	const char *as;       /* what an import is made into */
	const char *out;      /* NULL: standard output */
	const char *names;    /* NULL: PyTorch's only */
	const char *words;    /* NULL: PyTorch's */
	const char *range;    /* "A-B", iterations of a stored run; NULL: none named */
	struct text_list assignments;
	struct text_list schedules;
	const char *speed, *device, *transport, *delegates, *injector, *lab; /* NULL: the default */
	const char *rdma_devices, *interfaces;                               /* the same */
	bool skips_ops;
	bool wants_messages;
	bool is_json;
	bool is_quiet;
	bool is_dry_run;
	bool is_oracle;
	bool has_control;
	bool is_virtual;
	bool is_forced;
	bool has_comms;
	bool wants_all;
	bool wants_undo;
	bool wants_help;
	struct text_list arguments; /* everything that is not an option */
};

/* Read argv[0 … n_args) for a command that takes these groups; command stands in sentences.
 * -EINVAL: err says which option is wrong and which was meant. options_fini() in any case. */
int options_parse(const char *command, unsigned groups, const char *const *args, int n_args,
                  struct options *out, struct err *err);
void options_fini(struct options *options);

/* Refuse text, an option that stands in front of no command and no script: with -EINVAL, and a
 * sentence that says where it belongs, or which one was meant. */
int options_refuse_alone(const char *text, struct err *err);

/* The options of these groups for a help text. */
void options_describe(unsigned groups, const struct report_style *style, struct strbuf *out);

#endif
