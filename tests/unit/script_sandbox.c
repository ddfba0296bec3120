/* script_sandbox.c - what a hostile script tries, and what comes of it. */
#include "tests/unit/script_text.h"

/* Each holds only when the attempt fails quietly: the script asserts it itself. */
static void check_missing(void)
{
	static const char *const names[] = {
		"os",           "io",     "debug",       "package",     "load",
		"loadstring",   "dofile", "loadfile",    "print",       "collectgarbage",
		"setmetatable", "warn",   "string.dump", "math.random", "math.randomseed",
	};
	char before[96], name[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(before, sizeof(before), "assert(%s == nil)", names[i]);
		snprintf(name, sizeof(name), "there is no %s", names[i]);
		script_expect_before(before, NULL, name);
	}
	script_expect_before("for name in pairs(_G) do assert(name ~= 'os' and name ~= 'io') end",
	                     NULL, "_G holds no hidden libraries");
	script_expect_before("assert((''):rep(3) == '' and ('').dump == nil)", NULL,
	                     "the string metatable leads to the safe functions only");
	script_expect_before("assert(getmetatable('') == false)", NULL,
	                     "the string metatable is locked");
	script_expect_before("getmetatable('').__index = nil",
	                     "x.lua:1: attempt to index a boolean value",
	                     "the string metatable cannot be changed");
	script_expect_before("assert(getmetatable(ab) == false and "
	                     "getmetatable(ab.iter(1)) == false)",
	                     NULL, "the vocabulary's metatables are locked");
	script_expect_before("string.rep = nil", NULL, "a script may spoil its own tables");
}

static void check_require(void)
{
	script_expect("local os = require 'os'",
	              "x.lua:1: there is no module \"os\"; a script can require \"adaptra\" only",
	              "require knows no other module");
	script_expect("\n\nreturn require('adaptra').dealy {}",
	              "x.lua:3: there is no ab.dealy; did you mean ab.delay?",
	              "an unknown word is told with its line and the nearest");
	script_expect_before("ab.profile(3)",
	                     "x.lua:1: ab.profile needs a name, as in ab.profile \"gpt-14b-h800\"",
	                     "a mistake inside the vocabulary names the script's line");
	script_expect("require {}",
	              "x.lua:1: bad argument #1 to 'require' (string expected, got table)",
	              "require of a table is an error");
}

static void check_bytecode(void)
{
	struct scenario_mistakes mistakes = {0};
	static const char bytes[] = "\x1bLua\x54\x00\x19\x93\r\n\x1a\n";
	struct script *script = NULL;
	struct err err = {0};
	int rc = script_load_bytes(bytes, sizeof(bytes), NULL, 0, &script, &mistakes, &err);

	tap_is_int(rc, -EINVAL, "bytecode is refused");
	tap_is_str(err.text, "x.lua: this is bytecode; only Lua text is read",
	           "bytecode is refused in a sentence");
	scenario_mistakes_fini(&mistakes);
	script_free(script);
}

static void check_memory(void)
{
	static const char *const bombs[][2] = {
		{"local s = ('x'):rep(1024 * 1024 * 1024)", "a string of 1 GB"},
		{"local s = 'x' while true do s = s .. s end", "a string that doubles"},
		{"local t = {} while true do t[#t + 1] = {} end", "a table that grows"},
		{"local t = {} for i = 1, 1e9 do t[i] = i end", "a table of numbers"},
		{"local t = {} while true do t[#t + 1] = coroutine.create(function() end) end",
	         "coroutines without end"},
		{"local s = ('x'):rep(1e6) s = s:gsub('x', s)", "gsub that multiplies"},
		{"local t = {} for i = 1, 1e6 do t[i] = ('x'):rep(100) end table.concat(t)",
	         "concat of a large table"},
	};

	for (size_t i = 0; i < sizeof(bombs) / sizeof(bombs[0]); i++)
		script_expect_before(bombs[i][0],
		                     "x.lua:1: the script needs more than 64 MiB of memory",
		                     bombs[i][1]);
	script_expect_before("local s = ('x'):rep(10 * 1024 * 1024 * 1024)",
	                     "x.lua:1: resulting string too large", "a string of 10 GB is refused");
	script_expect_before("for i = 1, 5 do assert(not pcall(string.rep, 'x', 1 << 40)) end\n"
	                     "assert(#('x'):rep(1 << 20) == 1 << 20)",
	                     NULL, "a memory error that was caught leaves a working script");
	script_expect_before("while true do pcall(string.rep, 'x', 1 << 30) error('enough') end",
	                     "x.lua:1: enough", "pcall does not hide what comes after it");
}

static void check_errors(void)
{
	script_expect_before("error('no')", "x.lua:1: no", "an error names the script's line");
	script_expect_before("error({ code = 1 })",
	                     "x.lua:1: error() was given a table; give it a sentence",
	                     "an error that is a table becomes a sentence");
	script_expect_before("error()", "x.lua:1: error() was given a nil; give it a sentence",
	                     "an error that is nil becomes a sentence");
	script_expect_before("error('no', 0)", "x.lua:1: no",
	                     "an error without a place is given one");
	script_expect_before(
		"\nlocal function f(x)\n   return x.y.z\nend\nlocal a = f({})",
		"x.lua:3: attempt to index a nil value (field 'y'), called from line 5",
		"an error says where the call came from");
	script_expect_before("local x = = 3", "x.lua:1: unexpected symbol near '='",
	                     "a syntax error names its line");
	script_expect(
		"", "x.lua: the script returns nothing; it must end with return ab.scenario { … }",
		"an empty script is told what it lacks");
	script_expect(
		"return 3",
		"x.lua: the script returns the number 3; it must end with return ab.scenario { … }",
		"a script that returns something else is told so");
	script_expect("coroutine.yield(1)", "x.lua:1: attempt to yield from outside a coroutine",
	              "a script cannot yield");
	script_expect_before("local t = {} for i = 1, 300 do t = { t } end assert(xpcall(error, "
	                     "function() error() end) == false)",
	                     NULL, "an error in an error handler ends");
}

static void check_recursion(void)
{
	struct scenario_mistakes mistakes = {0};
	const char *text = "local function f(a, b, c, d) return 1 + f(1, 2, 3, 4) end f()";
	struct script *script = NULL;
	struct err err = {0};
	int rc = script_load_bytes(text, strlen(text), NULL, 0, &script, &mistakes, &err);

	tap_is_int(rc, -EINVAL, "endless recursion ends");
	tap_contains(err.text, "x.lua:1: stack overflow",
	             "endless recursion is told as what it is");
	text = "local s = string.rep('(', 1000) string.find(s, s)";
	rc = script_load_bytes(text, strlen(text), NULL, 0, &script, &mistakes, &err);
	tap_is_int(rc, -EINVAL, "a pattern that nests too deep ends");
	text = "local function f(...) return select('#', ...) end f(table.unpack({}, 1, 1e7))";
	rc = script_load_bytes(text, strlen(text), NULL, 0, &script, &mistakes, &err);
	tap_is_int(rc, -EINVAL, "too many values on the stack end");
	scenario_mistakes_fini(&mistakes);
}

/* Statements are tables; a script can put anything into them. */
static void check_forged(void)
{
	char *text;

	script_expect_fields(
		"faults = { { kind = 'delay', value = {}, line = 3 } }",
		"x.lua:4: faults[1] is a table; a fault is ab.delay, ab.rate, ab.loss, ab.slow, "
		"ab.down or ab.trace",
		"a table that looks like a statement is none");
	text = script_around(
		"local d = ab.pipeline { stages = 4 } d.value = nil d.file = {} d.line = 'x'",
		"topology = d");
	script_expect(text, "x.lua: ab.pipeline was given nothing; write ab.pipeline { … }",
	              "a statement that was taken apart is told so");
	free(text);
	text = script_around("local d = ab.pipeline { stages = 4 } d.value = d", "topology = d");
	script_expect(text, "x.lua:1: ab.pipeline was given ab.pipeline; write ab.pipeline { … }",
	              "a statement inside itself ends");
	free(text);
	script_expect_before("ab.delay { link = '1-2', delay = '1ms' } {}",
	                     "x.lua:1: ab.delay { … } is complete; nothing follows it",
	                     "braces after a statement are an error");
}

int main(void)
{
	script_folder_open();
	check_missing();
	check_require();
	check_bytecode();
	check_memory();
	check_errors();
	check_recursion();
	check_forged();
	script_folder_close();
	return tap_done();
}
