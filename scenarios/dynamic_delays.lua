-- dynamic_delays.lua - does adapting pay when delays change faster than iterations?
--
-- GPT 7B on 4 stages; from the third second on, all three links change their delay every 50 to
-- 400 ms for 18 seconds (7.9 to 59 ms each), as in the artefact's dynamic experiment.
--
-- Picture: 1F1B and zb take three times as long while the delays last. adaptra plans for what
-- it saw in the last iteration, which is already gone, but is far ahead all the same: what
-- helps most is that no message holds the device.
--
-- Measured medians (summary.csv, 100-200): 1F1B 1375 ms, ZB 1263, ZB-CPU 845, ReSchedule 550;
-- healthy 425, 372. The artefact read its trace every 0.1 s; here a change counts at once.
local ab = require "adaptra"

local interval = ab.option("interval", "100-200", "ms between changes: 50-100, 100-200 or 200-400")
local delay_model = ab.option("delay_model", "occupancy", "occupancy, latency or rate")

return ab.scenario {
   title      = "Delays that change all the time",
   topology   = ab.pipeline { stages = 4, link = { delay = "5us" } },
   workload   = ab.profile "gpt-7b-h800" { microbatches = 12 },
   schedules  = { "1f1b", "zb", "zb-cpu", "adaptra" },
   live       = { speed = 10 },
   iterations = 40, warmup = 3, seed = 42,
   faults = {
      ab.trace {
         file = "traces/dynamic_" .. interval .. ".trace", at = ab.time "3s", model = delay_model,
      },
   },
   checks = {
      ["adaptra beats 1F1B"] = function(r) return r.adaptra.total_s < r["1f1b"].total_s end,
      ["adaptra beats ZB"]   = function(r) return r.adaptra.total_s < r.zb.total_s end,
   },
}
