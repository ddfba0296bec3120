-- several_slow_links.lua - do slow links add up?
--
-- GPT 14B on 8 stages, 30 ms: first link 6-7 alone, then 0-1 with it, then 3-4 as well, each
-- for 30 iterations with a healthy stretch between.
--
-- Picture: the first slow link is the expensive one for 1F1B and zb; each further one adds
-- little, because the stages wait for the same messages one after the other. adaptra pays some
-- ms a link, the time that the first and last message of an iteration need.
local ab = require "adaptra"

local delay = ab.option("delay", "30ms", "how much slower the links get")
local delay_model = ab.option("delay_model", "occupancy", "occupancy, latency or rate")

-- Steady medians in ms at 30 ms (summary.csv, 14B, experiments increasing-delay and multiple):
-- 1F1B, ZB, ZB-CPU, ReSchedule.
local phases = {
   { 20, { "6-7" },               { 1580.8, 1814.45, 1189, 877.1 } },
   { 70, { "0-1", "6-7" },        { 1626.25, 1994.65, 1207.05, 839.8 } },
   { 120, { "0-1", "3-4", "6-7" }, { 1687.35, 2101.15, 1256.4, 925.5 } },
}

local faults = {}
for _, phase in ipairs(phases) do
   local first, links, ms = table.unpack(phase)
   local published
   if delay == "30ms" and delay_model == "occupancy" then
      published = {
         ["1f1b"] = ms[1] .. "ms", zb = ms[2] .. "ms", ["zb-cpu"] = ms[3] .. "ms",
         adaptra = ms[4] .. "ms",
      }
   end
   faults[#faults + 1] = ab.delay {
      at = ab.iter(first), lasts = ab.iter(30),
      link = links, delay = delay, model = delay_model, published = published,
   }
end

return ab.scenario {
   title      = "One, two and three slow links",
   topology   = ab.pipeline { stages = 8, hosts = 2, link = { delay = "5us" } },
   workload   = ab.profile "gpt-14b-h800" { microbatches = 24 },
   schedules  = { "1f1b", "zb", "zb-cpu", "adaptra" },
   live       = { speed = 10 },
   iterations = 170, warmup = 10, seed = 42,
   faults     = faults,
   checks = {
      ["adaptra beats 1F1B"] = function(r) return r.adaptra.total_s < r["1f1b"].total_s end,
      ["adaptra beats ZB"]   = function(r) return r.adaptra.total_s < r.zb.total_s end,
   },
   note = "Published adaptra is the re-scheduled run (adaptra-search's rule).",
}
