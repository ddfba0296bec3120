-- overhead.lua - what do delegates cost while nothing is wrong?
--
-- ZB's order twice without a fault: over the device's own queue, and over delegates from the start.
--
-- Picture: the order is the same, and so is every op; delegates add the cost of handing each
-- message over, at both of its ends.
--
-- The cost is the profile's, fitted so that the measured fault-free delegated run (ALL-CPU) is
-- met: that both differ as they do is no prediction. It says what adaptra pays while it is on
-- delegates, and why it starts without them.
local ab = require "adaptra"

local model = ab.option("model", "14b", "7b, 14b, 30b or 60b")
local is_small = model == "7b"

return ab.scenario {
   title      = "Delegates without a fault",
   topology   = ab.pipeline { stages = is_small and 4 or 8, hosts = 2, link = { delay = "5us" } },
   workload   = ab.profile("gpt-" .. model .. "-h800") { microbatches = is_small and 12 or 24 },
   schedules  = { "zb", "adaptra-cpu" },
   planes     = { ["adaptra-cpu"] = "delegate" },
   live       = { speed = 10 },
   iterations = 20, warmup = 5, seed = 1,
   delegate   = { queues = 6 },
   checks = {
      ["delegates are not for free"] = function(r) return r["adaptra-cpu"].p50_ms >= r.zb.p50_ms end,
   },
}
