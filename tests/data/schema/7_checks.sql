-- 7_checks.sql - the tables of version 7, as it came later, with checks and variants.
PRAGMA page_size = 16384;
PRAGMA application_id = 1097089637;
PRAGMA user_version = 7;
CREATE TABLE comparison (comparison INTEGER PRIMARY KEY, created TEXT NOT NULL, scenario_title TEXT
  NOT NULL, scenario_path TEXT NOT NULL, scenario_digest TEXT NOT NULL, workload_fingerprint TEXT
  NOT NULL, note TEXT NOT NULL, simulated INTEGER REFERENCES comparison ON DELETE SET NULL) STRICT;
CREATE TABLE run (run INTEGER PRIMARY KEY, comparison INTEGER REFERENCES comparison, created TEXT
  NOT NULL, ended TEXT, status TEXT NOT NULL CHECK (status IN ('running', 'done', 'interrupted',
  'failed')), reason TEXT NOT NULL, scenario_title TEXT NOT NULL, scenario_path TEXT NOT NULL,
  scenario_digest TEXT NOT NULL, workload_fingerprint TEXT NOT NULL, schedule TEXT NOT NULL, plane
  TEXT NOT NULL, is_oracle INTEGER NOT NULL, seed INTEGER NOT NULL, repeat INTEGER NOT NULL,
  n_iterations INTEGER NOT NULL, n_warmup INTEGER NOT NULL, speed REAL NOT NULL, mode TEXT NOT NULL
  CHECK (mode IN ('sim', 'live', 'imported')), timer TEXT NOT NULL, device TEXT NOT NULL, transport
  TEXT NOT NULL, injector TEXT NOT NULL, host TEXT NOT NULL, version TEXT NOT NULL, keeps_ops
  INTEGER NOT NULL, n_stages INTEGER NOT NULL CHECK (n_stages > 0), n_replicas INTEGER NOT NULL
  CHECK (n_replicas > 0), n_hosts INTEGER NOT NULL, n_rails INTEGER NOT NULL, link_delay_ns INTEGER
  NOT NULL, link_rate_bits_per_s INTEGER NOT NULL, profile TEXT NOT NULL, n_microbatches INTEGER NOT
  NULL CHECK (n_microbatches > 0), samples_per_iteration INTEGER NOT NULL, message_bytes INTEGER NOT
  NULL, activation_limit INTEGER NOT NULL, n_queues INTEGER NOT NULL, window_bytes INTEGER NOT NULL,
  delegate_cost_ns INTEGER NOT NULL, checkpoint_every INTEGER NOT NULL, restart_ns INTEGER NOT NULL,
  failover_ns INTEGER NOT NULL, threshold_ns INTEGER NOT NULL, confirm_iterations INTEGER NOT NULL,
  clear_iterations INTEGER NOT NULL, settings_json TEXT NOT NULL, facts_json TEXT NOT NULL DEFAULT
  '{}', place INTEGER NOT NULL CHECK (place >= 0), repeat_seed INTEGER NOT NULL, is_control INTEGER
  NOT NULL) STRICT;
CREATE INDEX run_comparison ON run (comparison);
CREATE TABLE iteration (run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, attempt INTEGER NOT
  NULL, iteration INTEGER NOT NULL, start_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL, loss
  REAL, is_complete INTEGER NOT NULL, plane TEXT NOT NULL, compute_ns INTEGER NOT NULL, wait_ns
  INTEGER NOT NULL, blocked_ns INTEGER NOT NULL, first_op INTEGER, n_ops INTEGER NOT NULL,
  first_message INTEGER, n_messages INTEGER NOT NULL, PRIMARY KEY (run, attempt, iteration)) STRICT,
  WITHOUT ROWID;
CREATE TABLE op (id INTEGER PRIMARY KEY, run INTEGER NOT NULL, attempt INTEGER NOT NULL, iteration
  INTEGER NOT NULL, stage INTEGER NOT NULL, replica INTEGER NOT NULL, kind TEXT NOT NULL, microbatch
  INTEGER NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, timer TEXT NOT NULL,
  message_request_ns INTEGER, message_start_ns INTEGER, message_end_ns INTEGER, message_arrive_ns
  INTEGER, late_ns INTEGER NOT NULL) STRICT;
CREATE TABLE message (id INTEGER PRIMARY KEY, run INTEGER NOT NULL, attempt INTEGER NOT NULL,
  iteration INTEGER NOT NULL, replica INTEGER NOT NULL, from_stage INTEGER NOT NULL, to_stage
  INTEGER NOT NULL, kind TEXT NOT NULL, microbatch INTEGER NOT NULL, rail INTEGER, queue INTEGER,
  bytes INTEGER, n_resends INTEGER NOT NULL, request_ns INTEGER NOT NULL, start_ns INTEGER, end_ns
  INTEGER, arrive_ns INTEGER) STRICT;
CREATE TABLE event (run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, event INTEGER NOT NULL,
  label TEXT NOT NULL, links TEXT NOT NULL, first_iteration INTEGER, last_iteration INTEGER, PRIMARY
  KEY (run, event)) STRICT, WITHOUT ROWID;
CREATE TABLE event_published (run INTEGER NOT NULL, event INTEGER NOT NULL, schedule TEXT NOT NULL,
  p50_ns INTEGER NOT NULL, PRIMARY KEY (run, event, schedule), FOREIGN KEY (run, event) REFERENCES
  event ON DELETE CASCADE) STRICT, WITHOUT ROWID;
CREATE TABLE fault (run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, fault INTEGER NOT NULL,
  event INTEGER NOT NULL, kind TEXT NOT NULL, script_line INTEGER, start_iteration INTEGER, start_ns
  INTEGER, end_iteration INTEGER, end_ns INTEGER, from_stage INTEGER NOT NULL, to_stage INTEGER NOT
  NULL, delay_model TEXT, delay_ns INTEGER, jitter_ns INTEGER, distribution TEXT, rate_bits_per_s
  INTEGER, slowdown REAL, rail INTEGER, is_permanent INTEGER, loss_ratio REAL,
  loss_correlation_ratio REAL, allows_reordering INTEGER, start_stage INTEGER, start_op TEXT,
  start_microbatch INTEGER, end_stage INTEGER, end_op TEXT, end_microbatch INTEGER, PRIMARY KEY
  (run, fault)) STRICT, WITHOUT ROWID;
CREATE TABLE fault_applied (id INTEGER PRIMARY KEY, run INTEGER NOT NULL, fault INTEGER NOT NULL,
  attempt INTEGER NOT NULL, asked_ns INTEGER, applied_ns INTEGER, cleared_ns INTEGER, measured_ns
  INTEGER, n_messages INTEGER NOT NULL, detected_ns INTEGER, recovered_ns INTEGER, FOREIGN KEY (run,
  fault) REFERENCES fault ON DELETE CASCADE) STRICT;
CREATE INDEX fault_applied_fault ON fault_applied (run, fault);
CREATE TABLE decision (id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run ON DELETE
  CASCADE, attempt INTEGER NOT NULL, iteration INTEGER NOT NULL, at_ns INTEGER NOT NULL, kind TEXT
  NOT NULL, link INTEGER, seen_ns INTEGER, since_iteration INTEGER, plane TEXT NOT NULL, warmups
  TEXT NOT NULL, clamped TEXT NOT NULL, reason TEXT NOT NULL) STRICT;
CREATE INDEX decision_run ON decision (run);
CREATE TABLE check_result (comparison INTEGER NOT NULL REFERENCES comparison ON DELETE CASCADE,
  number INTEGER NOT NULL, name TEXT NOT NULL, has_held INTEGER NOT NULL, detail TEXT NOT NULL,
  PRIMARY KEY (comparison, number)) STRICT, WITHOUT ROWID;
CREATE TABLE variant_total (comparison INTEGER NOT NULL REFERENCES comparison ON DELETE CASCADE,
  number INTEGER NOT NULL, label TEXT NOT NULL, schedule TEXT NOT NULL, total_s REAL, PRIMARY KEY
  (comparison, number, schedule)) STRICT, WITHOUT ROWID;
CREATE TABLE night_value (environment INTEGER NOT NULL, comparison INTEGER NOT NULL REFERENCES
  comparison ON DELETE CASCADE, schedule TEXT NOT NULL, metric TEXT NOT NULL, is_fresh INTEGER NOT
  NULL, value REAL NOT NULL, PRIMARY KEY (environment, comparison, schedule, metric)) STRICT,
  WITHOUT ROWID;
CREATE TABLE alarm (environment INTEGER NOT NULL, comparison INTEGER NOT NULL REFERENCES comparison
  ON DELETE CASCADE, schedule TEXT NOT NULL, metric TEXT NOT NULL, since INTEGER NOT NULL,
  before_value REAL NOT NULL, after_value REAL NOT NULL, p REAL NOT NULL, PRIMARY KEY (environment,
  comparison, schedule, metric)) STRICT, WITHOUT ROWID;
CREATE VIEW iteration_ms AS SELECT run, schedule, attempt, iteration, iteration < n_warmup AS
  is_warmup, is_complete, i.plane AS plane, start_ns / 1e6 AS start_ms, duration_ns / 1e6 AS
  duration_ms, loss, compute_ns / 1e6 / (n_stages * n_replicas) AS compute_ms, wait_ns / 1e6 /
  (n_stages * n_replicas) AS wait_ms, blocked_ns / 1e6 / (n_stages * n_replicas) AS blocked_ms FROM
  iteration i JOIN run USING (run);
CREATE VIEW run_summary AS WITH last_attempt AS (SELECT run, iteration, duration_ns, attempt,
  max(attempt) OVER (PARTITION BY run, iteration) AS last FROM iteration), ranked AS (SELECT run,
  duration_ns / 1e6 AS ms, row_number() OVER (PARTITION BY run ORDER BY duration_ns) - 1 AS place,
  count(*) OVER (PARTITION BY run) - 1 AS last_place FROM last_attempt JOIN run USING (run) WHERE
  attempt = last AND iteration >= n_warmup), quantile AS (SELECT run, sum(ms * max(0, 1 - abs(place
  - 0.50 * last_place))) AS p50_ms, sum(ms * max(0, 1 - abs(place - 0.95 * last_place))) AS p95_ms
  FROM ranked GROUP BY run), total AS (SELECT run, count(*) AS iterations, max(attempt) AS restarts,
  (max(start_ns + duration_ns) - min(start_ns)) / 1e9 AS total_s FROM iteration GROUP BY run) SELECT
  run, comparison, created, status, scenario_title, schedule, mode, total_s, p50_ms, p95_ms,
  iterations, restarts, host, version FROM run LEFT JOIN total USING (run) LEFT JOIN quantile USING
  (run) ORDER BY run;
CREATE VIEW op_ms AS SELECT i.run AS run, i.attempt AS attempt, i.iteration AS iteration, stage,
  replica, kind, microbatch, (op.start_ns - i.start_ns) / 1e6 AS start_ms, (end_ns - i.start_ns) /
  1e6 AS end_ms, (message_request_ns - i.start_ns) / 1e6 AS message_request_ms, (message_start_ns -
  i.start_ns) / 1e6 AS message_start_ms, (message_end_ns - i.start_ns) / 1e6 AS message_end_ms,
  (message_arrive_ns - i.start_ns) / 1e6 AS message_arrive_ms, late_ns / 1e6 AS late_ms FROM
  iteration i JOIN op ON op.id BETWEEN i.first_op AND i.first_op + i.n_ops - 1;
CREATE VIEW message_ms AS SELECT i.run AS run, i.attempt AS attempt, i.iteration AS iteration,
  replica, from_stage, to_stage, kind, microbatch, rail, queue, bytes, n_resends, (request_ns -
  i.start_ns) / 1e6 AS request_ms, (message.start_ns - i.start_ns) / 1e6 AS start_ms, (end_ns -
  i.start_ns) / 1e6 AS end_ms, (arrive_ns - i.start_ns) / 1e6 AS arrive_ms, (arrive_ns -
  message.start_ns) / 1e6 AS transfer_ms FROM iteration i JOIN message ON message.id BETWEEN
  i.first_message AND i.first_message + i.n_messages - 1;
CREATE VIEW fault_ms AS SELECT run, fault, f.event AS event, label, kind, from_stage, to_stage,
  start_iteration, start_op || start_microbatch || ' of stage ' || start_stage AS start_at,
  end_iteration, end_op || end_microbatch || ' of stage ' || end_stage AS end_at, delay_model,
  delay_ns / 1e6 AS delay_ms, jitter_ns / 1e6 AS jitter_ms, attempt, asked_ns / 1e6 AS asked_ms,
  applied_ns / 1e6 AS applied_ms, cleared_ns / 1e6 AS cleared_ms, measured_ns / 1e6 AS measured_ms,
  n_messages FROM fault f LEFT JOIN fault_applied USING (run, fault) LEFT JOIN event e USING (run,
  event);
