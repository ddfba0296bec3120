-- What every backend is asked: a link that is slow for two iterations, then an RNIC that goes down
-- inside one. 1F1B starts again, delegates go over to the second rail, and training is the same.
local ab = require "adaptra"
return ab.scenario {
   title = "A slow link, and an RNIC down",
   topology = ab.pipeline { stages = 4, hosts = 4, rails = 2 },
   workload = ab.profile "uniform-10ms" { microbatches = 2 },
   schedules = { "1f1b", "zb-cpu" },
   iterations = 5, warmup = 1, seed = 1,
   live = { speed = 1 },
   recovery = { checkpoint_every = 2, restart = "500ms", failover = "400ms" },
   faults = {
      ab.delay { at = ab.iter(1), lasts = ab.iter(2), link = "1->2", delay = "30ms", model = "latency" },
      ab.down { at = ab.op { iteration = 3, stage = 2, op = "F", microbatch = 1 }, lasts = ab.time "1s", stage = 2 },
   },
}
