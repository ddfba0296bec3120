/* read_target.c - what a fault is on: links, stages, an RNIC. */
#include <stdio.h>
#include <string.h>

#include "engine/script/reader.h"

enum { TARGETS_MAX = 1 << 20 };

static void add_target(struct script *script, int from_stage, int to_stage)
{
	if (!keep_room(script, (void **)&script->targets, &script->target_capacity,
	               script->n_targets + 1, sizeof(*script->targets)))
		return;
	script->targets[script->n_targets++] = (struct target){from_stage, to_stage};
}

/* Digits only, at most six of them: no sign, no blanks. */
static bool scan_stage(const char **at, int *out)
{
	size_t n = strspn(*at, "0123456789");

	if (n == 0 || n > 6)
		return false;
	*out = 0;
	for (; n > 0; n--)
		*out = *out * 10 + *(*at)++ - '0';
	return true;
}

/* "2-3" or "2->3". */
static bool scan_link(const char *text, int *a, int *b, bool *is_one_way)
{
	if (!scan_stage(&text, a) || *text++ != '-')
		return false;
	*is_one_way = *text == '>';
	text += *is_one_way;
	return scan_stage(&text, b) && *text == '\0';
}

static void complain_link(struct script *script, const struct part *part, const char *text)
{
	int n = script->scenario.topology.n_stages;

	if (n == 1)
		complain_field(script, part, "link",
		               "link \"%.40s\": a pipeline of one stage has no links", text);
	else
		complain_field(
			script, part, "link",
			"link \"%.40s\" does not join neighbours in a pipeline of %d stages; links "
			"are \"0-1\" to \"%d-%d\"",
			text, n, n - 2, n - 1);
}

static void read_link(struct script *script, const struct part *part)
{
	lua_State *lua = script->lua;
	const char *text = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : "";
	int n_stages = script->scenario.topology.n_stages, a, b;
	char found[DESCRIBED_BYTES];
	bool is_one_way;

	if (!scan_link(text, &a, &b, &is_one_way)) {
		complain_field(script, part, "link",
		               "link is %s; write \"2-3\" for both directions, \"2->3\" for one",
		               describe_value(lua, -1, found));
		return;
	}
	if (script->has_topology &&
	    (a >= n_stages || b >= n_stages || (a - b != 1 && b - a != 1))) {
		complain_link(script, part, text);
		return;
	}
	add_target(script, a, b);
	if (!is_one_way)
		add_target(script, b, a);
}

static void read_stage(struct script *script, const struct part *part)
{
	lua_State *lua = script->lua;
	int n_stages = script->scenario.topology.n_stages;
	char found[DESCRIBED_BYTES];
	int is_integer = 0;
	lua_Integer stage = 0;

	if (lua_type(lua, -1) == LUA_TNUMBER)
		stage = lua_tointegerx(lua, -1, &is_integer);
	if (!is_integer)
		complain_field(script, part, "stage", "stage is %s; write a number, such as 3",
		               describe_value(lua, -1, found));
	else if (script->has_topology && (stage < 0 || stage >= n_stages))
		complain_field(script, part, "stage",
		               "stage %lld is not in a pipeline of %d stages; stages are 0 to %d",
		               (long long)stage, n_stages, n_stages - 1);
	else
		add_target(script, (int)stage, (int)stage);
}

/* One value or a list of them. */
static void read_each(struct script *script, const struct part *part, const struct field *field,
                      void (*read_one)(struct script *script, const struct part *part))
{
	lua_State *lua = script->lua;
	size_t n;

	if (lua_type(lua, -1) != LUA_TTABLE || statement_kind(lua, -1)) {
		read_one(script, part);
		return;
	}
	if (!read_list(script, part, field, &n))
		return;
	if (n == 0)
		complain_field(script, part, field->name,
		               "%s is an empty list; such a fault has no effect", field->name);
	for (size_t i = 1; i <= n && i <= TARGETS_MAX; i++) {
		lua_rawgeti(lua, -1, (lua_Integer)i);
		read_one(script, part);
		lua_pop(lua, 1);
	}
}

void read_links(struct script *script, const struct part *part, const struct field *field,
                void *target)
{
	(void)target;
	read_each(script, part, field, read_link);
}

void read_stages(struct script *script, const struct part *part, const struct field *field,
                 void *target)
{
	(void)target;
	read_each(script, part, field, read_stage);
}

/* "host1/mlx5_0": as sysadmins name it. RNIC J of a host belongs to its J-th stage. */
void read_rnic(struct script *script, const struct part *part, const struct field *field,
               void *target)
{
	const struct topology *topology = &script->scenario.topology;
	lua_State *lua = script->lua;
	const char *text = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : "";
	char found[DESCRIBED_BYTES];
	int host = 0, rnic = 0, end = 0, n_stages;

	(void)target;
	if (strlen(text) > 24 || sscanf(text, "host%6d/mlx5_%6d%n", &host, &rnic, &end) != 2 ||
	    text[end] != '\0' || host < 0 || rnic < 0) {
		complain_field(script, part, field->name, "rnic is %s; write \"host1/mlx5_0\"",
		               describe_value(lua, -1, found));
		return;
	}
	if (!script->has_hosts)
		return;
	if (host >= topology->n_hosts) {
		complain_field(
			script, part, field->name,
			"rnic \"%s\": there is no host %d in a topology of %d; hosts are host0 to "
			"host%d",
			text, host, topology->n_hosts, topology->n_hosts - 1);
		return;
	}
	n_stages = topology_stages_on_host(topology, host);
	if (rnic >= n_stages) {
		complain_field(
			script, part, field->name,
			"rnic \"%s\": host %d has one RNIC for each of its %d stages, mlx5_0 to "
			"mlx5_%d",
			text, host, n_stages, n_stages - 1);
		return;
	}
	add_target(script, topology_first_stage(topology, host) + rnic,
	           topology_first_stage(topology, host) + rnic);
}
