-- slackness.lua - when does a late message start a cascade?
--
-- Two stages, 30 microbatches, every operator 10 ms: small enough to work out by hand. The link gets 5 to 50 ms
-- slower in seven phases; a message is late and nothing else (latency, and delegates from the start, so that no
-- message waits for another). Memory for seven activations makes the initial plan start with x = 7 and 1 forwards.
--
-- Picture: adaptra-static, the order B before F before W made for no delay, costs its delay up to 10 ms and then
-- cascades: at 15 ms it loses 100 ms an iteration, because it spends the lead of its warm-up on the first
-- backwards and is left with a slackness of 2. hold keeps that lead by running B and F in turn: it costs the delay and
-- no more, up to 50 ms. adaptra knows the delay and orders for it.
--
-- The line "N = 2S" is the same with 4 microbatches: there the published cap N - 2S leaves Algorithm 2 no
-- warm-up at all, and adaptra-published is slower than all others.
local ab = require "adaptra"

local microbatches = ab.option("microbatches", 30, "N; 4 is N = 2S")

local faults, extra_s = {}, 0
for i, ms in ipairs { 5, 10, 15, 20, 30, 40, 50 } do
   faults[i] = ab.delay {
      at = ab.iter(40 * i - 30), lasts = ab.iter(30),
      link = "0-1", delay = ms .. "ms", model = "latency",
   }
   extra_s = extra_s + 30 * ms / 1000
end

local checks = {
   ["hold is never slower than the order made for no delay"] = function(r)
      return r.hold.total_s <= r["adaptra-static"].total_s
   end,
}
if microbatches == 30 then
   checks["hold costs exactly its delays"] = function(r)
      return math.abs(r.hold.total_s - (290 * 0.910 + extra_s)) < 1e-6
   end
end

return ab.scenario {
   title      = "Slackness and cascades",
   topology   = ab.pipeline { stages = 2, link = { delay = "0us" } },
   workload   = ab.profile "uniform-10ms" {
      microbatches = microbatches, activation = "1GiB", memory = "7GiB",
   },
   schedules  = { "adaptra-static", "hold", "adaptra", "adaptra-published" },
   planes     = { hold = "delegate", adaptra = "delegate", ["adaptra-published"] = "delegate" },
   live       = { speed = 10 },
   iterations = 290, warmup = 5, seed = 1,
   detection  = { threshold = "1ms", confirm = 1, clear = 2 },
   faults     = faults,
   variants   = { ab.variant { label = "N = 2S: 4 microbatches", set = { microbatches = 4 } } },
   checks     = checks,
}
