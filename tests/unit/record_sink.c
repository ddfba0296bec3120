/* record_sink.c - tests the names of a record and the sink that keeps nothing. */
#include "engine/record/record.h"
#include "tests/tap.h"

static void test_names(void)
{
	static const char *const timers[] = {"virtual", "host", "cuda_event"};
	static const char *const decisions[] = {"replan", "switch_plane", "restart", "failover",
	                                        "recover"};

	for (int i = 0; i < 3; i++)
		tap_is_str(record_timer_name((enum record_timer)i), timers[i],
		           "timer %d is called %s", i, timers[i]);
	for (int i = 0; i < 5; i++)
		tap_is_str(decision_kind_name((enum decision_kind)i), decisions[i],
		           "decision %d is called %s", i, decisions[i]);
	tap_is_str(record_timer_name((enum record_timer)99), "unknown",
	           "a timer that does not exist is called unknown");
	tap_is_str(decision_kind_name((enum decision_kind)99), "unknown",
	           "a decision that does not exist is called unknown");
}

static void test_null_sink(void)
{
	struct record_sink sink = record_null_sink();
	struct record_iteration iteration = {0};
	struct record_fault fault = {0};
	struct record_decision decision = {.warmups = "", .clamped = "", .reason = ""};
	struct err err = {0};

	tap_ok(!sink.wants_ops, "the null sink wants no ops");
	tap_is_int(record_put_iteration(&sink, &iteration, &err), 0, "it takes an iteration");
	tap_is_int(record_put_fault(&sink, &fault, &err), 0, "it takes a fault");
	tap_is_int(record_put_decision(&sink, &decision, &err), 0, "it takes a decision");
	tap_is_str(err.text, "", "it has nothing to complain about");
}

int main(void)
{
	test_names();
	test_null_sink();
	return tap_done();
}
