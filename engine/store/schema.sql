-- schema.sql - the tables of a results database, made for being queried by hand.
--
-- All times are integer nanoseconds since the start of the run, in profile time (live: measured
-- × speed), unless the name says otherwise (_ms, _s). "Sum" in a column's comment means: over
-- stages and replicas.
-- Iterations, stages, replicas and microbatches count from 0. Link i joins stages i and i + 1.
-- NULL means: there is none, or it was not measured.
--
-- Start with the views:  SELECT * FROM run_summary;  SELECT * FROM iteration_ms WHERE run = 1;
--
-- To remove run 7 and give its space back:
--   PRAGMA foreign_keys = ON; DELETE FROM op WHERE run = 7;
--   DELETE FROM message WHERE run = 7; DELETE FROM run WHERE run = 7; VACUUM;

PRAGMA page_size = 16384;           -- store.c says why
PRAGMA application_id = 1097089637; -- "AdBe": tells this file from other SQLite databases
PRAGMA user_version = 9;            -- of this schema; older.c says how another comes about

-- Runs of one scenario that were made together.
CREATE TABLE comparison (
	comparison           INTEGER PRIMARY KEY,
	created              TEXT NOT NULL,  -- UTC, ISO 8601
	scenario_title       TEXT NOT NULL,
	scenario_path        TEXT NOT NULL,  -- '' when not from a file
	scenario_digest      TEXT NOT NULL,  -- of the script and its options
	workload_fingerprint TEXT NOT NULL,  -- 16 hex digits; runs are comparable when theirs agree
	note                 TEXT NOT NULL,  -- what the scenario says below its comparison; ''
	-- of a live one: the same in virtual time; NULL: none
	simulated            INTEGER REFERENCES comparison ON DELETE SET NULL
) STRICT;

-- One scenario under one schedule, once. Every independent variable is a column.
CREATE TABLE run (
	run                   INTEGER PRIMARY KEY,
	comparison            INTEGER REFERENCES comparison, -- NULL: it was made alone
	created               TEXT NOT NULL,    -- UTC, ISO 8601
	-- the same; NULL: still running, or its process was killed
	ended                 TEXT,
	-- 'running' with nobody writing means: its process was killed
	status                TEXT NOT NULL
		CHECK (status IN ('running', 'done', 'interrupted', 'failed')),
	reason                TEXT NOT NULL,    -- one sentence when not done, else ''

	-- What was asked:
	scenario_title        TEXT NOT NULL,
	scenario_path         TEXT NOT NULL,
	scenario_digest       TEXT NOT NULL,
	workload_fingerprint  TEXT NOT NULL,    -- 16 hex digits
	schedule              TEXT NOT NULL,
	plane                 TEXT NOT NULL,    -- 'stream' or 'delegate', at the start
	-- 1: adaptation was told the truth, not what a detector saw
	is_oracle             INTEGER NOT NULL,
	seed                  INTEGER NOT NULL, -- seeds from 2^63 on show as negative numbers
	repeat                INTEGER NOT NULL, -- number of the repeat, from 0
	n_iterations          INTEGER NOT NULL, -- asked for
	n_warmup              INTEGER NOT NULL, -- the first ones, left out of medians
	speed                 REAL NOT NULL,    -- of a live run: profile time per real time

	-- How it was made:
	-- 'imported': made by another program, and read from its files
	mode                  TEXT NOT NULL CHECK (mode IN ('sim', 'live', 'imported')),
	timer                 TEXT NOT NULL,    -- 'virtual', 'host' or 'cuda_event'
	device                TEXT NOT NULL,
	transport             TEXT NOT NULL,
	injector              TEXT NOT NULL,
	host                  TEXT NOT NULL,    -- name of the machine
	version               TEXT NOT NULL,    -- of adaptra-bench
	keeps_ops             INTEGER NOT NULL, -- 0: made with --no-ops

	-- The pipeline:
	n_stages              INTEGER NOT NULL CHECK (n_stages > 0),
	n_replicas            INTEGER NOT NULL CHECK (n_replicas > 0),
	n_hosts               INTEGER NOT NULL,
	n_rails               INTEGER NOT NULL,
	link_delay_ns         INTEGER NOT NULL, -- of a healthy link, one way
	link_rate_bits_per_s  INTEGER NOT NULL, -- 0: not limited

	-- The workload:
	profile               TEXT NOT NULL,
	-- per iteration and replica
	n_microbatches        INTEGER NOT NULL CHECK (n_microbatches > 0),
	samples_per_iteration INTEGER NOT NULL,
	message_bytes         INTEGER NOT NULL, -- between two stages; 0: not known
	-- per stage; 0: what the memory and the schedule allow
	activation_limit      INTEGER NOT NULL,

	-- The data plane:
	n_queues              INTEGER NOT NULL, -- of the delegate plane, per direction
	window_bytes          INTEGER NOT NULL, -- of the stream plane
	delegate_cost_ns      INTEGER NOT NULL, -- per delegated message, on either end

	-- Failure and detection:
	checkpoint_every      INTEGER NOT NULL, -- iterations; 0: never
	restart_ns            INTEGER NOT NULL,
	failover_ns           INTEGER NOT NULL,
	threshold_ns          INTEGER NOT NULL, -- 0: a tenth of the mean time of F and B together
	confirm_iterations    INTEGER NOT NULL,
	clear_iterations      INTEGER NOT NULL,
	settings_json         TEXT NOT NULL,    -- all effective settings, one JSON object
	-- of a live run, one JSON object: what its workers were like and how late ops were seen
	facts_json            TEXT NOT NULL DEFAULT '{}',

	-- Its place among the runs of its comparison:
	place                 INTEGER NOT NULL CHECK (place >= 0), -- in the order of running, from 0
	repeat_seed           INTEGER NOT NULL, -- what this repeat drew from, of seed and repeat
	-- 1: its schedule once more in the same repeat, to see how far apart equal things are
	is_control            INTEGER NOT NULL
) STRICT;

CREATE INDEX run_comparison ON run (comparison);

-- One row for each time an iteration was run: after a restart some are repeated, with a higher
-- attempt.
CREATE TABLE iteration (
	run         INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
	attempt     INTEGER NOT NULL, -- 0, one more after every restart
	iteration   INTEGER NOT NULL,
	start_ns    INTEGER NOT NULL,
	duration_ns INTEGER NOT NULL, -- of one that did not complete: until the failure
	loss        REAL,             -- of the model; NULL in virtual time
	is_complete INTEGER NOT NULL, -- 0: a failure ended it
	plane       TEXT NOT NULL,    -- 'stream' or 'delegate'
	compute_ns  INTEGER NOT NULL, -- sum of the time in which an op ran
	wait_ns     INTEGER NOT NULL, -- sum of the time in which there was nothing to run
	-- sum of the time in which an op could run but a transfer was in front of it
	blocked_ns  INTEGER NOT NULL,
	-- its ops are op.id first_op … first_op + n_ops − 1; NULL: not kept
	first_op    INTEGER,
	n_ops       INTEGER NOT NULL,
	-- the same of its messages
	first_message INTEGER,
	n_messages    INTEGER NOT NULL,
	PRIMARY KEY (run, attempt, iteration)
) STRICT, WITHOUT ROWID;

-- One operator and the message that left after it; of a live run those of every replica, in virtual
-- time, where replicas do not differ, those of replica 0. It has neither an index nor a foreign key:
-- either would double the cost of storing it (store.c). The ops of one iteration are found by
-- their ids:
--   SELECT op.* FROM iteration i JOIN op ON op.id BETWEEN i.first_op AND i.first_op + i.n_ops - 1
--   WHERE i.run = 1 AND i.attempt = 0 AND i.iteration = 15;
CREATE TABLE op (
	id                 INTEGER PRIMARY KEY, -- ascending in the order of storing
	run                INTEGER NOT NULL,
	attempt            INTEGER NOT NULL,
	iteration          INTEGER NOT NULL,
	stage              INTEGER NOT NULL,
	replica            INTEGER NOT NULL,
	-- 'F' forward, 'B' backward for the input, 'W' for the weights
	kind               TEXT NOT NULL,
	microbatch         INTEGER NOT NULL,
	start_ns           INTEGER NOT NULL,
	end_ns             INTEGER NOT NULL,
	timer              TEXT NOT NULL,    -- what timed it: 'virtual', 'host' or 'cuda_event'
	message_request_ns INTEGER,          -- handed to the data plane; NULL: it sends no message
	message_start_ns   INTEGER,          -- entered its channel or queue
	message_end_ns     INTEGER,          -- the sender was rid of it
	message_arrive_ns  INTEGER,          -- the last byte was there
	late_ns            INTEGER NOT NULL  -- seen that long after end_ns; 0 in virtual time
) STRICT;

-- One message that a stage handed to its data plane, with the way it went: of live runs with ops,
-- and of those in virtual time that were made with --messages. It has no index either; the messages
-- of one iteration are found by their ids, first_message … first_message + n_messages − 1. A time is
-- NULL where a failure kept that from happening.
CREATE TABLE message (
	id         INTEGER PRIMARY KEY, -- ascending in the order of storing
	run        INTEGER NOT NULL,
	attempt    INTEGER NOT NULL,
	iteration  INTEGER NOT NULL,
	replica    INTEGER NOT NULL,
	from_stage INTEGER NOT NULL,
	to_stage   INTEGER NOT NULL,
	kind       TEXT NOT NULL,    -- 'F' an activation, 'B' a gradient
	microbatch INTEGER NOT NULL,
	rail       INTEGER,          -- over which it left last; NULL: it did not leave
	queue      INTEGER,          -- of the delegates; NULL: a channel of the stream plane
	bytes      INTEGER,          -- NULL: not known
	n_resends  INTEGER NOT NULL, -- how often it left again, since a rail had died
	request_ns INTEGER NOT NULL, -- handed to the data plane
	start_ns   INTEGER,          -- entered its channel or queue
	end_ns     INTEGER,          -- the sender was rid of it
	arrive_ns  INTEGER           -- the last byte was there
) STRICT;

-- A statement of the scenario, as a person thinks of it: one event may be faults on several
-- links.
CREATE TABLE event (
	run             INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
	event           INTEGER NOT NULL, -- from 0, in the order of the scenario
	label           TEXT NOT NULL,
	links           TEXT NOT NULL,    -- '2-3 3-4'; '' when it is not about links
	first_iteration INTEGER,          -- NULL: it starts at a time
	last_iteration  INTEGER,          -- inclusive; NULL: it ends at a time, or never
	PRIMARY KEY (run, event)
) STRICT, WITHOUT ROWID;

-- What others measured for that event.
CREATE TABLE event_published (
	run      INTEGER NOT NULL,
	event    INTEGER NOT NULL,
	schedule TEXT NOT NULL,
	p50_ns   INTEGER NOT NULL, -- median of the iteration time
	PRIMARY KEY (run, event, schedule),
	FOREIGN KEY (run, event) REFERENCES event ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- A fault as the scenario asks for it. It is in force from its start until just before its end.
CREATE TABLE fault (
	run             INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
	fault           INTEGER NOT NULL, -- from 0, in the order of the scenario
	event           INTEGER NOT NULL, -- faults of one event share it
	kind            TEXT NOT NULL,    -- 'delay', 'rate', 'slow', 'down', 'loss'
	script_line     INTEGER,          -- of the scenario; NULL: not from a script
	start_iteration INTEGER,          -- it starts at an iteration, or at an op of it, see below
	start_ns        INTEGER,          -- or at a time
	-- the first that is healthy again, or, where end_op is given, becomes healthy at that
	end_iteration   INTEGER,
	-- or a time; so long after, where it does not start at a time
	end_ns          INTEGER,
	-- messages from_stage -> to_stage; both are the stage if it is about one
	from_stage      INTEGER NOT NULL,
	to_stage        INTEGER NOT NULL,
	delay_model     TEXT,             -- of a delay: 'latency', 'rate' or 'occupancy'
	delay_ns        INTEGER,          -- of a delay: added to what the healthy link takes
	jitter_ns       INTEGER,          -- of a delay: standard deviation; half width when uniform
	distribution    TEXT,             -- of a delay with jitter
	rate_bits_per_s INTEGER,          -- of a rate: the link carries no more
	slowdown        REAL,             -- of a slow stage: op times are multiplied by it
	rail            INTEGER,          -- of a down: number of the RNIC
	is_permanent    INTEGER,          -- of a down: 1: a restart does not bring the RNIC back
	loss_ratio      REAL,             -- of a loss: of packets, 0 to 1
	-- of a loss: how much of each draw is the one before, so that losses come in rows
	loss_correlation_ratio REAL,
	allows_reordering INTEGER,        -- of a delay with jitter: 1: packets may overtake
	-- the op of start_iteration at whose start it starts; NULL: at the iteration's own
	start_stage      INTEGER,
	start_op         TEXT,            -- 'F', 'B' or 'W'
	start_microbatch INTEGER,
	-- the same of its end
	end_stage        INTEGER,
	end_op           TEXT,
	end_microbatch   INTEGER,
	PRIMARY KEY (run, fault)
) STRICT, WITHOUT ROWID;

-- A fault as it was in force: one row for each time it was put into the world.
CREATE TABLE fault_applied (
	id          INTEGER PRIMARY KEY,
	run         INTEGER NOT NULL,
	fault       INTEGER NOT NULL,
	attempt     INTEGER NOT NULL,
	asked_ns    INTEGER, -- when the scenario wanted it; NULL: that was never reached
	applied_ns  INTEGER, -- when it was in force
	cleared_ns  INTEGER, -- NULL: it was in force until the end of the run
	-- mean extra transfer time of the messages it hit; NULL: not measured
	measured_ns INTEGER,
	n_messages  INTEGER NOT NULL, -- hit by it, of all replicas
	-- of an RNIC that really went down: when a worker noticed, and when messages went over
	-- another rail, what was lost had arrived, or the job had started again
	detected_ns  INTEGER,
	recovered_ns INTEGER,
	-- Of a fault of a link in a live run, NULL where nobody could tell:
	-- half, and 95 of 100, of the messages that it hit took no more extra time
	measured_p50_ns INTEGER,
	measured_p95_ns INTEGER,
	payload_bytes   INTEGER, -- of those messages, all together
	busy_ns         INTEGER, -- one of them or more was under way, sum over replicas
	-- packets of its way in the iterations in which it was in force
	n_packets       INTEGER,
	n_lost          INTEGER, -- as it was asked for
	packet_delay_ns INTEGER, -- how long they were held, in the mean
	n_resent        INTEGER, -- segments that TCP sent again
	FOREIGN KEY (run, fault) REFERENCES fault ON DELETE CASCADE
) STRICT;

CREATE INDEX fault_applied_fault ON fault_applied (run, fault);

-- What the engine decided at the edge before an iteration.
CREATE TABLE decision (
	id              INTEGER PRIMARY KEY,
	run             INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
	attempt         INTEGER NOT NULL,
	iteration       INTEGER NOT NULL, -- the first that runs under it
	at_ns           INTEGER NOT NULL,
	-- 'replan', 'switch_plane', 'restart', 'failover', 'recover'
	kind            TEXT NOT NULL,
	link            INTEGER,          -- NULL: none in particular
	seen_ns         INTEGER,          -- transfer time that the detector saw on it
	since_iteration INTEGER,          -- where the detector puts the change
	plane           TEXT NOT NULL,    -- from now on
	warmups         TEXT NOT NULL,    -- '13 11 9 …', of the plan from now on, one per stage
	-- what the planner asked for and did not get; '' when nothing
	clamped         TEXT NOT NULL,
	reason          TEXT NOT NULL     -- one sentence
) STRICT;

CREATE INDEX decision_run ON decision (run);

-- A check of the scenario on the comparison of its schedules.
CREATE TABLE check_result (
	comparison INTEGER NOT NULL REFERENCES comparison ON DELETE CASCADE,
	number     INTEGER NOT NULL, -- from 0, in the order of the scenario
	name       TEXT NOT NULL,
	has_held   INTEGER NOT NULL,
	detail     TEXT NOT NULL,    -- why it could not be told; ''
	PRIMARY KEY (comparison, number)
) STRICT, WITHOUT ROWID;

-- The comparison once more in virtual time, with other options of the scenario; nothing else of it
-- is kept.
CREATE TABLE variant_total (
	comparison INTEGER NOT NULL REFERENCES comparison ON DELETE CASCADE,
	number     INTEGER NOT NULL, -- of the variant, from 0, in the order of the scenario
	label      TEXT NOT NULL,
	schedule   TEXT NOT NULL,
	total_s    REAL,             -- NULL: it did not finish
	PRIMARY KEY (comparison, number, schedule)
) STRICT, WITHOUT ROWID;

-- A number that the comparison of a night gave, so that a history is read without its iterations.
CREATE TABLE night_value (
	environment INTEGER NOT NULL, -- a hash of what nights must share to be alike
	comparison  INTEGER NOT NULL REFERENCES comparison ON DELETE CASCADE,
	schedule    TEXT NOT NULL,
	metric      TEXT NOT NULL,    -- with its unit
	is_fresh    INTEGER NOT NULL, -- 1: of a run that was to confirm what the night showed
	value       REAL NOT NULL,
	PRIMARY KEY (environment, comparison, schedule, metric)
) STRICT, WITHOUT ROWID;

-- A regression that a fresh run confirmed; it is announced once.
CREATE TABLE alarm (
	environment  INTEGER NOT NULL,
	comparison   INTEGER NOT NULL REFERENCES comparison ON DELETE CASCADE, -- of that night
	schedule     TEXT NOT NULL,
	metric       TEXT NOT NULL,
	since        INTEGER NOT NULL, -- comparison of the first night of the level it is about
	before_value REAL NOT NULL,    -- mean of the level before that
	after_value  REAL NOT NULL,
	p            REAL NOT NULL,    -- chance of such a step where nothing changed
	PRIMARY KEY (environment, comparison, schedule, metric)
) STRICT, WITHOUT ROWID;

-- Iterations in milliseconds. The three shares are means over stages and replicas and add up to
-- duration_ms.
CREATE VIEW iteration_ms AS
SELECT run, schedule, attempt, iteration, iteration < n_warmup AS is_warmup, is_complete,
	i.plane AS plane,
	start_ns / 1e6 AS start_ms, duration_ns / 1e6 AS duration_ms, loss,
	compute_ns / 1e6 / (n_stages * n_replicas) AS compute_ms,
	wait_ns / 1e6 / (n_stages * n_replicas) AS wait_ms,
	blocked_ns / 1e6 / (n_stages * n_replicas) AS blocked_ms
FROM iteration i JOIN run USING (run);

-- One row per run. p50 and p95 are over the last attempt of each iteration after warm-up,
-- interpolated between neighbours as in R's type 7; total_s has everything in it, restarts and
-- repeats too.
CREATE VIEW run_summary AS
WITH last_attempt AS (
	SELECT run, iteration, duration_ns, attempt,
		max(attempt) OVER (PARTITION BY run, iteration) AS last
	FROM iteration
), ranked AS (
	SELECT run, duration_ns / 1e6 AS ms,
		row_number() OVER (PARTITION BY run ORDER BY duration_ns) - 1 AS place,
		count(*) OVER (PARTITION BY run) - 1 AS last_place
	FROM last_attempt JOIN run USING (run)
	WHERE attempt = last AND iteration >= n_warmup
), quantile AS (
	SELECT run,
		sum(ms * max(0, 1 - abs(place - 0.50 * last_place))) AS p50_ms,
		sum(ms * max(0, 1 - abs(place - 0.95 * last_place))) AS p95_ms
	FROM ranked GROUP BY run
), total AS (
	SELECT run, count(*) AS iterations, max(attempt) AS restarts,
		(max(start_ns + duration_ns) - min(start_ns)) / 1e9 AS total_s
	FROM iteration GROUP BY run
)
SELECT run, comparison, created, status, scenario_title, schedule, mode, total_s, p50_ms, p95_ms,
	iterations, restarts, host, version
FROM run LEFT JOIN total USING (run) LEFT JOIN quantile USING (run)
ORDER BY run;

-- Ops in milliseconds since the start of their iteration. Name a run and an iteration, or it is
-- the whole table.
CREATE VIEW op_ms AS
SELECT i.run AS run, i.attempt AS attempt, i.iteration AS iteration,
	stage, replica, kind, microbatch,
	(op.start_ns - i.start_ns) / 1e6 AS start_ms, (end_ns - i.start_ns) / 1e6 AS end_ms,
	(message_request_ns - i.start_ns) / 1e6 AS message_request_ms,
	(message_start_ns - i.start_ns) / 1e6 AS message_start_ms,
	(message_end_ns - i.start_ns) / 1e6 AS message_end_ms,
	(message_arrive_ns - i.start_ns) / 1e6 AS message_arrive_ms, late_ns / 1e6 AS late_ms
FROM iteration i JOIN op ON op.id BETWEEN i.first_op AND i.first_op + i.n_ops - 1;

-- Messages in milliseconds since the start of their iteration; transfer_ms is what the detector
-- looks at. Name a run and an iteration, or it is the whole table.
CREATE VIEW message_ms AS
SELECT i.run AS run, i.attempt AS attempt, i.iteration AS iteration,
	replica, from_stage, to_stage, kind, microbatch, rail, queue, bytes, n_resends,
	(request_ns - i.start_ns) / 1e6 AS request_ms,
	(message.start_ns - i.start_ns) / 1e6 AS start_ms,
	(end_ns - i.start_ns) / 1e6 AS end_ms, (arrive_ns - i.start_ns) / 1e6 AS arrive_ms,
	(arrive_ns - message.start_ns) / 1e6 AS transfer_ms
FROM iteration i
JOIN message ON message.id BETWEEN i.first_message AND i.first_message + i.n_messages - 1;

-- What was asked beside what was in force, one row for each time.
CREATE VIEW fault_ms AS
SELECT run, fault, f.event AS event, label, kind, from_stage, to_stage,
	start_iteration, start_op || start_microbatch || ' of stage ' || start_stage AS start_at,
	end_iteration, end_op || end_microbatch || ' of stage ' || end_stage AS end_at,
	delay_model, delay_ns / 1e6 AS delay_ms, jitter_ns / 1e6 AS jitter_ms, attempt,
	asked_ns / 1e6 AS asked_ms, applied_ns / 1e6 AS applied_ms, cleared_ns / 1e6 AS cleared_ms,
	measured_ns / 1e6 AS measured_ms, n_messages,
	measured_p50_ns / 1e6 AS measured_p50_ms, measured_p95_ns / 1e6 AS measured_p95_ms,
	8e3 * payload_bytes / busy_ns AS goodput_mbit_per_s, rate_bits_per_s / 1e6 AS rate_mbit_per_s,
	n_packets, loss_ratio, n_lost * 1.0 / (n_packets + n_lost) AS lost_ratio,
	packet_delay_ns / 1e6 AS packet_delay_ms, n_resent
FROM fault f LEFT JOIN fault_applied USING (run, fault) LEFT JOIN event e USING (run, event);
