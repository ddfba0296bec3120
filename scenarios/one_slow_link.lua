-- one_slow_link.lua - how does the iteration time grow with the delay of one link?
--
-- GPT 14B on 8 stages, or another model; one link is slow from before the end of the warm-up to the last
-- iteration. Run it with --set delay=10ms to 60ms and compare. In a lab the link is one of packets
-- where each stage has a host of its own: --lab netns --set hosts=8 --set delay_model=latency.
--
-- Picture, per ms of delay on link 6-7: 1F1B grows by about 25 ms, zb by 45 (each message holds
-- the channel of both directions and the sender's queue), zb-cpu by 16 (six messages at a
-- time), adaptra by 1.
--
-- The default leaves the delegates' cost out (delegate_cost = "0us"); --set delegate_cost=fitted
-- takes the model's, fitted to its fault-free delegated run.
local ab = require "adaptra"

local delay = ab.option("delay", "30ms", "how much slower the link gets")
local link = ab.option("link", "6-7", "which link; \"6->7\" for one direction")
local delay_model = ab.option("delay_model", "occupancy", "occupancy, latency or rate")
local delegate_cost = ab.option("delegate_cost", "0us",
   "per delegated message, at either end: a time, or fitted (the model's)")
local model = ab.option("model", "14b", "14b, 30b or 60b on 8 stages, 7b on 4")
local hosts = ab.option("hosts", 2, "that the stages are on")

-- Steady medians in ms (summary.csv, increasing-delay, 14B, link 6_7): 1F1B, ZB, ZB-CPU,
-- ReSchedule.
local measured = {
   ["10ms"] = { 1081.6, 998.5, 887.85, 832.9 },
   ["20ms"] = { 1330.25, 1348.95, 1033.2, 853.7 },
   ["30ms"] = { 1580.8, 1814.45, 1189, 877.1 },
   ["40ms"] = { 1831.85, 2297.95, 1318.4, 890.75 },
   ["50ms"] = { 2108.2, 2821.65, 1477.9, 876.45 },
   ["60ms"] = { 2333.25, 3257.4, 1650.6, 894.65 },
}

local published
if model == "14b" and link == "6-7" and delay_model == "occupancy" and measured[delay] then
   local ms = measured[delay]
   published = {
      ["1f1b"] = ms[1] .. "ms", zb = ms[2] .. "ms", ["zb-cpu"] = ms[3] .. "ms",
      adaptra = ms[4] .. "ms",
   }
end

local delegate = { queues = 6 }
if delegate_cost ~= "fitted" then
   delegate.cost = delegate_cost
end
local is_small = model == "7b"

return ab.scenario {
   title      = "One slow link",
   topology   = ab.pipeline { stages = is_small and 4 or 8, hosts = hosts, link = { delay = "5us" } },
   workload   = ab.profile("gpt-" .. model .. "-h800") { microbatches = is_small and 12 or 24 },
   schedules  = { "1f1b", "zb", "zb-cpu", "adaptra" },
   live       = { speed = 10 },
   iterations = 100, warmup = 20, seed = 42,
   delegate   = delegate,
   faults = {
      ab.delay {
         at = ab.iter(10), link = link, delay = delay, model = delay_model,
         published = published,
      },
   },
   checks = {
      ["adaptra is not slower than 1F1B"] = function(r)
         return r.adaptra.p50_ms <= r["1f1b"].p50_ms
      end,
      ["adaptra is not slower than ZB"] = function(r) return r.adaptra.p50_ms <= r.zb.p50_ms end,
   },
   note = "Published adaptra is the re-scheduled run (adaptra-search's rule). Published times "
      .. "carry about 100 ms an iteration outside the operators.",
}
