-- smoke.lua - does everything work? Four stages, a slow link, a slow stage and a dead RNIC in
-- 60 short iterations.
--
-- Picture: 1F1B and ZB pay for the slow link on every message and repeat iterations after the
-- RNIC's death; adaptra hides most of the delay and never restarts.
local ab = require "adaptra"

return ab.scenario {
   title      = "Smoke test",
   topology   = ab.pipeline { stages = 4, hosts = 2, rails = 2, link = { delay = "5us" } },
   workload   = ab.profile "uniform-10ms" { microbatches = 8 },
   schedules  = { "1f1b", "zb", "adaptra" },
   live       = { speed = 10 },
   iterations = 60, warmup = 5, seed = 1,
   recovery   = { checkpoint_every = 10, restart = "2s", failover = "500ms" },
   faults = {
      ab.delay {
         at = ab.iter(10), lasts = ab.iter(15),
         link = "1-2", delay = "25ms", model = "occupancy",
      },
      ab.slow  { at = ab.iter(30), lasts = ab.iter(10), stage = 3, factor = 1.5 },
      ab.down  { at = ab.iter(47), stage = 2 },
   },
   checks = {
      ["adaptra never restarts"] = function(r) return r.adaptra.restarts == 0 end,
      ["1F1B restarts once"]     = function(r) return r["1f1b"].restarts == 1 end,
      ["adaptra beats 1F1B"]     = function(r) return r.adaptra.total_s < r["1f1b"].total_s end,
   },
}
