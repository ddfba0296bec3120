/* format_vocabulary.c - the letter B means what the program it is from means by it. */
#include "engine/format/vocabulary.h"

#include <errno.h>
#include <string.h>

#include "engine/format/action_name.h"
#include "engine/format/name_pattern.h"
#include "tests/tap.h"

/* The table of FORMATS.md 1.2; OBSERVED_OTHER: no such word. */
static const struct {
	const char *word;
	enum observed_kind kinds[VOCABULARIES]; /* PyTorch, zero-bubble, Adaptra, Megatron */
} words[] = {
	{"F", {OBSERVED_FORWARD, OBSERVED_FORWARD, OBSERVED_FORWARD, OBSERVED_OTHER}},
	{"B", {OBSERVED_BACKWARD, OBSERVED_BACKWARD_INPUT, OBSERVED_OTHER, OBSERVED_OTHER}},
	{"I", {OBSERVED_BACKWARD_INPUT, OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_OTHER}},
	{"W", {OBSERVED_BACKWARD_WEIGHT, OBSERVED_BACKWARD_WEIGHT, OBSERVED_OTHER, OBSERVED_OTHER}},
	{"BW", {OBSERVED_OTHER, OBSERVED_BACKWARD, OBSERVED_OTHER, OBSERVED_OTHER}},
	{"Bw", {OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_BACKWARD_WEIGHT, OBSERVED_OTHER}},
	{"Bi", {OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_BACKWARD_INPUT, OBSERVED_OTHER}},
	{"BI", {OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_OTHER}},
	{"bw", {OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_OTHER}},
	{"f", {OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_OTHER}},
	{"", {OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_OTHER}},
	{"SEND_F", {OBSERVED_SEND_FORWARD, OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_OTHER}},
	{"RECV_BACKWARD",
         {OBSERVED_OTHER, OBSERVED_RECEIVE_BACKWARD, OBSERVED_OTHER, OBSERVED_OTHER}},
	{"forward-compute", {OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_FORWARD}},
	{"backward-compute", {OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_BACKWARD}},
	{"backward-recv",
         {OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_RECEIVE_BACKWARD}},
	/* What the zero-bubble runtime has besides is nothing that is known here. */
	{"R", {OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_OTHER}},
	{"POST_VALIDATION", {OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_OTHER}},
	{"OFFLOAD_SEND_START", {OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_OTHER, OBSERVED_OTHER}},
};

static void check_words(void)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		for (int v = 0; v < VOCABULARIES; v++) {
			enum observed_kind kind = OBSERVED_OTHER;
			bool is_found = vocabulary_find((enum vocabulary)v, words[i].word,
			                                strlen(words[i].word), &kind);

			tap_is_str(observed_kind_name(kind), observed_kind_name(words[i].kinds[v]),
			           "'%s' in vocabulary %d", words[i].word, v);
			tap_is_int(is_found, words[i].kinds[v] != OBSERVED_OTHER, "which is said");
		}
	}
	for (int v = 0; v < VOCABULARIES; v++) {
		for (int kind = 0; kind < OBSERVED_KINDS; kind++) {
			const char *word =
				vocabulary_word((enum vocabulary)v, (enum observed_kind)kind);
			enum observed_kind back = OBSERVED_OTHER;

			if (word != NULL)
				vocabulary_find((enum vocabulary)v, word, strlen(word), &back);
			tap_is_int(back, word ? kind : OBSERVED_OTHER,
			           "a word of vocabulary %d means one kind only", v);
		}
	}
}

static void check_names(void)
{
	enum vocabulary vocabulary = VOCABULARY_MEGATRON;
	struct err err = {0};

	tap_is_int(vocabulary_parse("zero-bubble", &vocabulary, &err), 0,
	           "a vocabulary has a name");
	tap_is_int(vocabulary, VOCABULARY_ZERO_BUBBLE, "and is found by it");
	tap_is_int(vocabulary_parse("zerobubble", &vocabulary, &err), -EINVAL,
	           "another name is refused");
	tap_contains(err.text, "did you mean 'zero-bubble'?", "with the nearest");
	tap_is_int(vocabulary_parse("klingon", &vocabulary, &err), -EINVAL, "or with all");
	tap_contains(err.text, "wanted pytorch, zero-bubble", "where none is near");
}

static void check_actions(void)
{
	static const struct {
		const char *text;
		enum observed_kind kind; /* OBSERVED_OTHER: no action */
		int stage;
		int microbatch;
	} actions[] = {
		{"1F3", OBSERVED_FORWARD, 1, 3},
		{"0B12", OBSERVED_BACKWARD, 0, 12},
		{"7I0", OBSERVED_BACKWARD_INPUT, 7, 0},
		{" 0RECV_F2 ", OBSERVED_RECEIVE_FORWARD, 0, 2},
		{"1023SEND_B65535", OBSERVED_SEND_BACKWARD, 1023, 65535},
		{"1BW3", OBSERVED_OTHER, 0, 0},
		{"1Bw3", OBSERVED_OTHER, 0, 0},
		{"1f3", OBSERVED_OTHER, 0, 0},
		{"F3", OBSERVED_OTHER, 0, 0},
		{"1F", OBSERVED_OTHER, 0, 0},
		{"1F3x", OBSERVED_OTHER, 0, 0},
		{"1UNSHARD", OBSERVED_OTHER, 0, 0},
		{"(2F4;5B1)OVERLAP_F_B", OBSERVED_OTHER, 0, 0},
		{"1024F0", OBSERVED_OTHER, 0, 0},
		{"1F65536", OBSERVED_OTHER, 0, 0},
		{"", OBSERVED_OTHER, 0, 0},
	};

	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++) {
		struct action_name action = {OBSERVED_OTHER, 0, 0};
		struct strbuf text = {0};
		bool is_action =
			action_name_parse(actions[i].text, strlen(actions[i].text), &action);

		tap_is_int(is_action, actions[i].kind != OBSERVED_OTHER, "'%s' is %san action",
		           actions[i].text, actions[i].kind != OBSERVED_OTHER ? "" : "not ");
		if (!is_action)
			continue;
		tap_ok(action.kind == actions[i].kind && action.stage == actions[i].stage &&
		               action.microbatch == actions[i].microbatch,
		       "of that kind, stage and microbatch");
		action_name_add(action.kind, action.stage, action.microbatch, &text);
		tap_contains(actions[i].text, strbuf_text(&text), "and is written the same");
		strbuf_fini(&text);
	}
}

static void check_pattern(void)
{
	static const char expression[] =
		"^s(?<stage>[[:digit:](]+)([.]x)? (?<kind>[^]([]+)\\(mb(?<mb>[0-9]+)\\)$";
	struct name_pattern *pattern = NULL;
	struct action_name action = {OBSERVED_OTHER, 0, 0};
	struct err err = {0};

	tap_is_int(name_pattern_new(expression, VOCABULARY_ZERO_BUBBLE, &pattern, &err), 0,
	           "named groups stand among others, classes and escapes");
	if (pattern == NULL)
		return;
	tap_is_int(name_pattern_match(pattern, "s12 BW(mb7)", &action), NAME_ACTION,
	           "a name that matches is an action");
	tap_ok(action.kind == OBSERVED_BACKWARD && action.stage == 12 && action.microbatch == 7,
	       "by the words of its vocabulary");
	tap_is_int(name_pattern_match(pattern, "s1.x B(mb0)", &action), NAME_ACTION, "another too");
	tap_is_int(action.kind, OBSERVED_BACKWARD_INPUT, "whose B is the half");
	tap_is_int(name_pattern_match(pattern, "s1 R(mb0)", &action), NAME_UNKNOWN,
	           "a word that is not known is told");
	tap_is_int(name_pattern_match(pattern, "s99999 F(mb0)", &action), NAME_UNKNOWN,
	           "as is a number too large");
	tap_is_int(name_pattern_match(pattern, "s( F(mb0)", &action), NAME_UNKNOWN,
	           "or none at all");
	tap_is_int(name_pattern_match(pattern, "s1 F(mb0", &action), NAME_OTHER,
	           "a name that does not match is another's");
	name_pattern_free(pattern);
}

static void check_bad_patterns(void)
{
	static const char *const cases[][2] = {
		{"F", "names: no group (?<kind>…)"},
		{"(?<kind>F)", "names: no group (?<mb>…)"},
		{"(?<kind>F)(?<mb>1)(?<kind>B)", "names: the group kind is there twice"},
		{"(?<what>F)", "names: '(?<what>F)'; wanted (?<kind>…)"},
		{"(?<kind", "names: '(?<kind'; wanted"},
		{"[(?<kind>F)(?<mb>1)", "names: no group (?<kind>…)"},
		{"(?<kind>F)(?<mb>1", "names: "},
		{"(?<kind>F)(?<mb>1)((((((((((((((((((((((((((((((x",
	         "names: 32 groups; at most 31"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct name_pattern *pattern = NULL;
		struct err err = {0};

		tap_is_int(name_pattern_new(cases[i][0], VOCABULARY_PYTORCH, &pattern, &err),
		           -EINVAL, "%s is refused", cases[i][0]);
		tap_contains(err.text, cases[i][1], "because: %s", cases[i][1]);
		tap_ok(pattern == NULL, "and nothing is made");
	}
}

int main(void)
{
	check_words();
	check_names();
	check_actions();
	check_pattern();
	check_bad_patterns();
	return tap_done();
}
