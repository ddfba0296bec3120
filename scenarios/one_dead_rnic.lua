-- one_dead_rnic.lua - what does a dead RNIC cost, with and without somewhere else to send?
--
-- GPT 14B on 8 stages. The RNIC of the last stage on host 0 dies at iteration 55 and does not
-- come back by itself. With --lab netns --set hosts=8 every stage has an interface of its own, and
-- that one really goes down.
--
-- Picture: 1F1B, zb and gpipe stop, restart from the checkpoint of iteration 40 and repeat 15
-- iterations: 20 s and more are gone. adaptra needs about a second more in that one iteration,
-- then goes on over the second rail and keeps every iteration.
--
-- The costs are measured on 8 GPUs (README of the artefact's measurements, "RNIC failure"):
-- first iteration after a restart 19 to 20 s; the iteration of the failure 1847 ms where those
-- after it take 909 ms.
local ab = require "adaptra"

local hosts = ab.option("hosts", 2, "that the stages are on")
local permanent = ab.option("permanent", false, "a restart does not bring the RNIC back")

return ab.scenario {
   title      = "One dead RNIC",
   topology   = ab.pipeline { stages = 8, hosts = hosts, rails = 2, link = { delay = "5us" } },
   workload   = ab.profile "gpt-14b-h800" { microbatches = 24 },
   schedules  = { "gpipe", "1f1b", "zb", "adaptra" },
   live       = { speed = 10 },
   iterations = 100, warmup = 5, seed = 42,
   recovery   = { checkpoint_every = 20, restart = "20s", failover = "938ms" },
   faults     = { ab.down { at = ab.iter(55), stage = 3, permanent = permanent } },
   checks = {
      ["1F1B and ZB restart once"] = function(r)
         return r["1f1b"].restarts == 1 and r.zb.restarts == 1
      end,
      ["adaptra never restarts"] = function(r) return r.adaptra.restarts == 0 end,
      ["adaptra loses less than a restart"] = function(r)
         return r["1f1b"].total_s - r.adaptra.total_s > 20
      end,
   },
}
