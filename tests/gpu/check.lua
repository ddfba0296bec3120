-- check.lua - what check.sh runs on a GPU: a short pipeline, with a slow link or a dead RNIC if asked for.
local ab = require "adaptra"

local stages = tonumber(ab.option("stages", "4", "how many stages, in two workers"))
local delay = ab.option("delay", "none", "how much slower the middle link gets from iteration 1 on")
local model = ab.option("model", "latency", "what that means: latency, rate or occupancy")
local dead = ab.option("dead", "no", "yes: the first RNIC of stage 1 dies in iteration 2")

local faults = {}
if delay ~= "none" then
   local link = string.format("%d-%d", stages / 2 - 1, stages / 2)
   faults[1] = ab.delay { at = ab.iter(1), lasts = ab.iter(100), link = link, delay = delay, model = model }
end
if dead == "yes" then
   faults[#faults + 1] = ab.down { at = ab.iter(2), stage = 1, rail = 0, permanent = true }
end

return ab.scenario {
   title      = "Check on a GPU",
   topology   = ab.pipeline { stages = stages, hosts = 2, rails = 2 },
   workload   = ab.profile "uniform-10ms" { microbatches = 8 },
   schedules  = { "1f1b", "zb", "adaptra" },
   recovery   = { checkpoint_every = 2, restart = "100ms", failover = "100ms" },
   iterations = 8, warmup = 0, seed = 1,
   faults     = faults,
}
