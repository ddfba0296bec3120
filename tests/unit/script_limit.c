/* script_limit.c - the wall-clock limit ends what nothing inside Lua could. */
#include <signal.h>

#include "engine/script/limit.h"
#include "tests/child.h"
#include "tests/unit/script_text.h"

#if defined(__SANITIZE_THREAD__)
enum { HAS_SIGNALS_ANYWHERE = 0 };
#else
enum { HAS_SIGNALS_ANYWHERE = 1 };
#endif

enum { LIMIT_NS = 50000000, EXPIRED = 2, LOADED = 7 };

static void expired(void)
{
	_exit(EXPIRED);
}

/* In a child, since the limit ends the process. */
static void expect_expiry(const char *text, const char *name)
{
	pid_t child = child_start();

	if (child == 0) {
		struct scenario_mistakes mistakes = {0};
		struct script *script = NULL;
		struct err err = {0};

		if (script_limit_start(LIMIT_NS, expired, &err))
			_exit(1);
		(void)script_load_bytes(text, strlen(text), NULL, 0, &script, &mistakes, &err);
		_exit(LOADED);
	}
	tap_is_int(child_wait(child), EXPIRED, "%s: the limit ends it", name);
}

static volatile sig_atomic_t n_fired;

static void count(void)
{
	n_fired++;
}

static void check_stop(void)
{
	struct err err = {0};

	tap_is_int(script_limit_start(1000000, count, &err), 0, "a limit can be started");
	script_limit_stop();
	usleep(5000);
	tap_is_int(n_fired, 0, "a limit that was stopped does not fire");
	tap_is_int(script_limit_start(INT64_C(3600000000000), count, &err), 0,
	           "a long limit starts");
	tap_is_int(script_limit_start(1000000, count, &err), 0, "a second start replaces it");
	for (int i = 0; i < 1000 && n_fired == 0; i++)
		usleep(1000);
	tap_is_int(n_fired, 1, "a limit fires, once");
	script_limit_stop();
}

int main(void)
{
	script_folder_open();
	expect_expiry("while true do end", "an endless loop");
	expect_expiry("local f = coroutine.wrap(function() while true do end end) f()",
	              "an endless coroutine");
	expect_expiry("while true do pcall(error) end", "a loop that catches errors");
	/* The thread sanitizer holds signals back until the program calls something it knows. */
	if (HAS_SIGNALS_ANYWHERE)
		expect_expiry("local s = string.rep('a', 1e6) s:find(('.-'):rep(30) .. 'b')",
		              "one call of string.find");
	else
		tap_skip("the thread sanitizer delivers no signal inside string.find");
	expect_expiry("local co = coroutine.create(function() local x <close> = nil while true do "
	              "coroutine.yield() end end) while true do coroutine.resume(co) end",
	              "coroutines that take turns");
	check_stop();
	script_folder_close();
	return tap_done();
}
