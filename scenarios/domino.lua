-- domino.lua - how far does one late message fall through the pipeline?
--
-- Four stages, 12 microbatches, every operator 10 ms: small enough to follow op by op. In iteration
-- 6 a single message, the activation of microbatch 5 from stage 1 to 2, arrives late; before it
-- and after it the link is healthy.
--
-- Picture: 1F1B hands the delay on from stage to stage until the end, and the iteration takes
-- longer by all of it. The zero-bubble orders have W to do meanwhile: 30 ms vanish in them, and
-- only what is beyond that comes out at the end.
local ab = require "adaptra"

local delay = ab.option("delay", "40ms", "how late the message is")

return ab.scenario {
   title      = "One late message",
   topology   = ab.pipeline { stages = 4, link = { delay = "0us" } },
   workload   = ab.profile "uniform-10ms" { microbatches = 12 },
   schedules  = { "1f1b", "zb", "adaptra-static", "hold" },
   live       = { speed = 10 },
   iterations = 12, warmup = 2, seed = 1,
   faults = {
      ab.delay {
         at = ab.op { iteration = 6, stage = 1, op = "F", microbatch = 5 },
         lasts = ab.op { iteration = 6, stage = 1, op = "F", microbatch = 6 },
         link = "1->2", delay = delay, model = "latency",
         label = "one late message",
      },
   },
   checks = {
      ["1F1B is slowed at least as much as zero-bubble"] = function(r)
         return r["1f1b"].total_s >= r.zb.total_s
      end,
   },
}
