/* reader.h - reads the fields of a statement by a table of rows, and complains about everything
 * that is wrong with them. */
#ifndef ENGINE_SCRIPT_READER_H
#define ENGINE_SCRIPT_READER_H

#include "engine/script/script_internal.h"

/* A table of fields on the Lua stack and how to speak of it. */
struct part {
	struct place place;
	const char *word;   /* "ab.delay", "link" */
	const char *prefix; /* in front of field names: "link." or "" */
	int table;          /* stack index */
};

enum field_kind {
	FIELD_TEXT,     /* char *, heap; freed before it is replaced */
	FIELD_DURATION, /* int64_t, ns */
	FIELD_RATE,     /* int64_t, bit/s */
	FIELD_SIZE,     /* int64_t, bytes */
	FIELD_COUNT,    /* int */
	FIELD_SEED,     /* uint64_t */
	FIELD_FACTOR,   /* double; low and high are whole */
	FIELD_RATIO,    /* double, 0 to 1: "0.1%" or 0.001 */
	FIELD_BOOL,     /* bool */
	FIELD_CHOICE,   /* enum: the place of the text in choices */
	FIELD_OTHER,    /* read() does it */
};

struct field {
	const char *name;
	enum field_kind kind;
	size_t offset;       /* in the target */
	int64_t low, high;   /* both 0: any */
	const char *example; /* of the value, as it is written */
	bool is_required;
	const char *const *choices; /* NULL-terminated */

	/* FIELD_OTHER: the value is on top of the stack and stays there; target is the whole
	 * struct. */
	void (*read)(struct script *script, const struct part *part, const struct field *field,
	             void *target);
};

/* Read all rows into target and complain about unknown, missing and wrong fields. Fields that are
 * absent or wrong leave target as it was. True: no complaint. */
bool read_fields(struct script *script, const struct part *part, const struct field *fields,
                 size_t n_fields, void *target);

/* The value on top of the stack as a statement of one kind; pushes its fields. A plain table is
 * taken as well when outer is given a plain prefix ("link."). False: complained, nothing pushed. */
bool part_open(struct script *script, const struct part *outer, const char *field, const char *kind,
               struct part *out);
bool part_open_plain(struct script *script, const struct part *outer, const char *field,
                     const char *prefix, struct part *out);

/* The kind of the statement at index ("delay"), NULL when it is none; the script's string. */
const char *statement_kind(lua_State *lua, int index);
struct place statement_place(lua_State *lua, int index);

/* Push a member of the statement at index: "value", "base". */
void statement_push(lua_State *lua, int index, const char *member);

/* Complain about a field, at its own line. */
void complain_field(struct script *script, const struct part *part, const char *field,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Where a field is written; the statement's place when that is not found. */
struct place field_place(const struct script *script, const struct part *part, const char *field);

/* A value for a sentence: `"30"`, `the number 30`, `a table`. Returns out. */
enum { DESCRIBED_BYTES = 80 };
char *describe_value(lua_State *lua, int index, char *out);

/* A quantity with its unit, or a complaint. kind: duration, rate or size. */
bool read_quantity(struct script *script, const struct part *part, const struct field *field,
                   const char *name, int64_t *out);

/* A text, or a complaint; *value is freed before it is replaced. */
void read_text(struct script *script, const struct part *part, const struct field *field,
               char **value);

/* The length of the list on top of the stack; false, with a complaint, when it is no list: items 1
 * to n and nothing else. */
bool read_list(struct script *script, const struct part *part, const struct field *field,
               size_t *n_out);

/* strdup that remembers when memory ran out. */
char *keep_text(struct script *script, const char *text);

/* array_grow that remembers it too; false: out of memory. */
bool keep_room(struct script *script, void **items, size_t *capacity, size_t n_wanted,
               size_t item_bytes);

/* A statement of one kind or a plain table; the rest as part_open(). */
bool part_open_either(struct script *script, const struct part *outer, const char *field,
                      const char *kind, const char *prefix, struct part *out);

/* FIELD_OTHER readers of ab.scenario's fields; target is the scenario. */
void read_workload(struct script *script, const struct part *part, const struct field *field,
                   void *target);
void read_faults(struct script *script, const struct part *part, const struct field *field,
                 void *target);

/* read_choices.c; the same. planes comes after schedules. */
void read_variants(struct script *script, const struct part *part, const struct field *field,
                   void *target);
void read_stream(struct script *script, const struct part *part, const struct field *field,
                 void *target);
void read_live(struct script *script, const struct part *part, const struct field *field,
               void *target);
void read_planes(struct script *script, const struct part *part, const struct field *field,
                 void *target);

/* read_moment.c: ab.iter(15), ab.time "2s" or ab.op { … }; FIELD_OTHER, offset is that of a struct
 * moment. */
void read_moment(struct script *script, const struct part *part, const struct field *field,
                 void *target);

/* read_target.c: FIELD_OTHER; each adds to script->targets. */
void read_links(struct script *script, const struct part *part, const struct field *field,
                void *target);
void read_stages(struct script *script, const struct part *part, const struct field *field,
                 void *target);
void read_rnic(struct script *script, const struct part *part, const struct field *field,
               void *target);

struct flap;

/* fault_label.c: what a person calls the event of these targets; flap NULL: none. Heap, NULL: out
 * of memory. */
char *fault_label(const struct fault *fault, const struct flap *flap, const struct target *targets,
                  size_t n_targets);

/* read_fault.c: room for one more. NULL or false: out of memory, noted. */
struct event *event_add(struct script *script);
bool fault_add(struct script *script, const struct fault *fault);

/* read_trace.c: an ab.trace statement on top of the stack. */
void read_trace(struct script *script, const struct part *part);

#endif
