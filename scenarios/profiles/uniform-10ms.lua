-- uniform-10ms.lua - every operator takes 10 ms on every stage, for any number of stages.
--
-- Not measured: the workload on which rules about schedules can be worked out by hand. Messages
-- have no size, so that a link costs its delay and nothing else.
local ab = require "adaptra"

return ab.workload {
   name         = "uniform-10ms",
   source       = "made up: F = B = W = 10 ms",
   forward      = "10ms",
   backward     = "10ms",
   weight       = "10ms",
   microbatches = 8,
}
