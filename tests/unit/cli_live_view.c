/* cli_live_view.c - the view of a run that goes on, as a person at a terminal sees it. */
#include "engine/cli/live_view.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utmp.h>

#include "engine/cli/command.h"
#include "engine/cli/options.h"
#include "engine/cli/progress.h"
#include "engine/cli/session.h"
#include "tests/child.h"
#include "tests/folder.h"
#include "tests/tap.h"
#include "tests/terminal.h"

enum { COLUMNS = 80, ROWS = 24, WAIT_MS = 120000, ENDLESS = 20000, FEW = 3, SHORT = 400 };

static void must(bool has_held, const char *what)
{
	if (has_held)
		return;
	printf("Bail out! %s\n", what);
	exit(1);
}

static void set_size(int fd, int columns, int rows)
{
	const struct winsize size = {.ws_col = (unsigned short)columns,
	                             .ws_row = (unsigned short)rows};

	must(ioctl(fd, TIOCSWINSZ, &size) == 0, "a terminal has no size");
}

/* The two ends of a terminal of COLUMNS x ROWS. */
struct pair {
	int master, slave;
};

static struct pair open_pair(void)
{
	struct pair pair;

	must(openpty(&pair.master, &pair.slave, NULL, NULL, NULL) == 0, "no terminal");
	set_size(pair.slave, COLUMNS, ROWS);
	return pair;
}

/* What stands to be read, into the terminal; 0: nobody writes any more. */
static ssize_t feed(int master, struct terminal *terminal)
{
	char bytes[4096];
	ssize_t n = read(master, bytes, sizeof(bytes));

	if (n > 0)
		terminal_feed(terminal, bytes, (size_t)n);
	return n > 0 ? n : 0;
}

static void feed_rest(int master, struct terminal *terminal)
{
	struct pollfd end = {.fd = master, .events = POLLIN};

	while (poll(&end, 1, 0) == 1 && (end.revents & POLLIN))
		(void)feed(master, terminal);
}

static void draw(struct live_view *view, const char *text)
{
	struct strbuf lines = {0};
	struct live_view_size size;

	must(live_view_size(&size), "the terminal has no size");
	strbuf_add(&lines, text);
	live_view_draw(view, &lines, size.columns);
	strbuf_fini(&lines);
}

/* stderr is the terminal until the caller puts back what is returned. */
static int take_stderr(int slave)
{
	int kept = dup(STDERR_FILENO);

	must(kept >= 0 && dup2(slave, STDERR_FILENO) >= 0, "stderr cannot be another");
	return kept;
}

static void check_text(struct terminal *terminal, const struct pair *pair, const char *want,
                       const char *name)
{
	feed_rest(pair->master, terminal);
	tap_is_str(terminal_text(terminal), want, "%s", name);
}

static void test_draw(void)
{
	struct pair pair = open_pair();
	struct terminal *terminal = terminal_new(COLUMNS, ROWS);
	struct live_view view = {0};
	int kept = take_stderr(pair.slave);

	(void)dprintf(STDERR_FILENO, "before\n");
	draw(&view, "one\n\033[1mtwo\033[0m\nthree\n");
	check_text(terminal, &pair, "before\none\ntwo\nthree\n", "a view stands below what was");
	draw(&view, "a longer line\nII\n");
	check_text(terminal, &pair, "before\na longer line\nII\n", "another takes its place");
	draw(&view, "█▊·\nII\nIII\n");
	check_text(terminal, &pair, "before\n█▊·\nII\nIII\n", "so does one with more lines");

	live_view_end(&view);
	check_text(terminal, &pair, "before\n", "nothing of it is left at the end");
	(void)dup2(kept, STDERR_FILENO);
	(void)close(kept);
	terminal_free(terminal);
	(void)close(pair.slave);
	(void)close(pair.master);
}

/* The size changes between two frames; what stood there is broken, or joined, by the terminal. */
static void test_resize(void)
{
	struct pair pair = open_pair();
	struct terminal *terminal = terminal_new(COLUMNS, ROWS);
	struct live_view view = {0};
	int kept = take_stderr(pair.slave);

	(void)dprintf(STDERR_FILENO, "before\n");
	draw(&view, "a line of twenty-six bytes\n\033[1mshort\033[0m\nand ····· █████ again\n");
	feed_rest(pair.master, terminal);
	set_size(pair.slave, 10, ROWS);
	terminal_resize(terminal, 10, ROWS);
	draw(&view, "narrow\nview\n");
	check_text(terminal, &pair, "before\nnarrow\nview\n", "a terminal that became narrower");
	set_size(pair.slave, 120, 40);
	terminal_resize(terminal, 120, 40);
	draw(&view, "a line that is wide again\n");
	check_text(terminal, &pair, "before\na line that is wide again\n",
	           "and one that became wider");
	live_view_end(&view);
	check_text(terminal, &pair, "before\n", "are left as they were");
	tap_is_int(terminal_n_strange(terminal), 0, "the cursor and the screen are left alone");
	(void)dup2(kept, STDERR_FILENO);
	(void)close(kept);
	terminal_free(terminal);
	(void)close(pair.slave);
	(void)close(pair.master);
}

static bool is_watched(bool is_quiet, const char *term)
{
	const struct options options = {.is_quiet = is_quiet};
	const struct progress_beside beside = {0};
	struct progress progress;

	setenv("TERM", term, 1);
	progress_init(&progress, &options, 1);
	return progress_watch(&progress, &beside) != NULL;
}

static void test_who_watches(void)
{
	struct pair pair = open_pair();
	int kept = take_stderr(pair.slave);

	tap_ok(is_watched(false, "xterm"), "a run on a terminal is watched");
	tap_ok(!is_watched(true, "xterm"), "a quiet one is not");
	tap_ok(!is_watched(false, "dumb"), "nor is one on a terminal that cannot be redrawn");
	set_size(pair.slave, 0, 0);
	tap_ok(!is_watched(false, "xterm"), "or that has no size");
	(void)dup2(kept, STDERR_FILENO);
	(void)close(kept);
	(void)close(pair.slave);
	(void)close(pair.master);
	setenv("TERM", "xterm", 1);
}

/* In the child, whose standard streams and controlling terminal are the pair's. */
static _Noreturn void run_session(const struct pair *pair, int n_iterations)
{
	const char *store = folder_path("view.db");
	char number[32];
	const char *args[] = {"--iterations", number,       "--device", "cpu",     "--store",
	                      store,          "--schedule", "zb",       "--no-ops"};
	struct options options;
	struct err err = {0};

	(void)close(pair->master);
	if (login_tty(pair->slave))
		_exit(99);
	setenv("TERM", "xterm", 1);
	setenv("NO_COLOR", "1", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	(void)setlocale(LC_CTYPE, "");
	snprintf(number, sizeof(number), "%d", n_iterations);
	if (options_parse("run", OPTIONS_SCENARIO | OPTIONS_RUN | OPTIONS_STORE | OPTIONS_LIVE,
	                  args, sizeof(args) / sizeof(args[0]), &options, &err))
		_exit(98);
	_exit(session_run(&options, "scenarios/smoke.lua", SESSION_LIVE));
}

static pid_t start_session(struct pair *pair, int n_iterations)
{
	pid_t child;

	*pair = open_pair();
	child = child_start();
	if (child == 0)
		run_session(pair, n_iterations);
	(void)close(pair->slave);
	return child;
}

static bool feed_more(int master, struct terminal *terminal)
{
	struct pollfd more = {.fd = master, .events = POLLIN};

	return poll(&more, 1, WAIT_MS) == 1 && feed(master, terminal) > 0;
}

static int count(const char *text, const char *part)
{
	int n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

/* Until a view with every stage stands there. */
static bool await_view(int master, struct terminal *terminal)
{
	while (!strstr(terminal_text(terminal), "\n    3  "))
		if (!feed_more(master, terminal))
			return false;
	return true;
}

static void test_interrupt(void)
{
	struct terminal *terminal = terminal_new(COLUMNS, ROWS);
	struct pair pair;
	pid_t child = start_session(&pair, ENDLESS);
	const char *text;

	tap_ok(await_view(pair.master, terminal), "a run in real time shows its stages");
	for (int i = 0; i < FEW; i++)
		(void)feed_more(pair.master, terminal);
	text = terminal_text(terminal);
	tap_contains(text, "zb: iteration ", "with the schedule and the iteration");
	tap_contains(text, " of 20,000", "of how many");
	tap_is_int(count(text, "stage  op"), 1, "frames stand in one place");
	must(write(pair.master, "\003", 1) == 1, "nobody reads the keyboard");
	while (feed_more(pair.master, terminal))
		;
	tap_is_int(child_wait(child), EXIT_INTERRUPTED, "Ctrl-C ends it");
	text = terminal_text(terminal);
	tap_ok(!strstr(text, "stage  op") && !strstr(text, "gone"), "nothing of the view is left");
	tap_contains(text, "adaptra-bench: interrupted; what was recorded is comparison ",
	             "what comes then stands by itself");
	tap_is_int(terminal_n_strange(terminal), 0, "the cursor and the screen were left alone");
	terminal_free(terminal);
	(void)close(pair.master);
}

static void test_end(void)
{
	struct terminal *terminal = terminal_new(COLUMNS, ROWS);
	struct pair pair;
	pid_t child = start_session(&pair, SHORT);
	const char *text;

	while (feed_more(pair.master, terminal))
		;
	tap_is_int(child_wait(child), EXIT_DONE, "a run comes to its end");
	text = terminal_text(terminal);
	tap_ok(!strstr(text, "stage  op") && !strstr(text, "gone"), "nothing of its view is left");
	tap_contains(text, "\nnext: adaptra-bench report", "below the report");
	terminal_free(terminal);
	(void)close(pair.master);
}

int main(void)
{
	(void)folder_open(); /* this process's, not its children's */
	setenv("TERM", "xterm", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	(void)setlocale(LC_CTYPE, "");
	test_draw();
	test_resize();
	test_who_watches();
	test_interrupt();
	test_end();
	return tap_done();
}
