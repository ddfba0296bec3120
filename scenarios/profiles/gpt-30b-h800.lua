-- gpt-30b-h800.lua - GPT 30B on H800 GPUs, 8 stages: 38 layers, hidden size 8192, 1024 tokens
-- a sample.
--
-- Times are the medians over 4 runs of what the published artefact's re-scheduler measured,
-- rounded there to whole milliseconds (profiles_median.csv). A message is one activation or
-- gradient of one sample in 16-bit floating point: 1024 tokens x 8192 x 2 bytes. delegate_cost
-- is fitted: with it the model meets the clean median of the fault-free delegated run (ALL-
-- CPU).
local ab = require "adaptra"

return ab.workload {
   name          = "gpt-30b-h800",
   source        = "PipeMorph artefact, H800 30B: profiles_median.csv, "
      .. "delegate cost fitted on ALL-CPU",
   forward       = { "9ms", "10ms", "10ms", "10ms", "10ms", "11ms", "10ms", "13ms" },
   backward      = { "15ms", "13ms", "13ms", "12ms", "12ms", "12ms", "11ms", "10ms" },
   weight        = { "5ms", "7ms", "7ms", "7ms", "7ms", "7ms", "7ms", "6ms" },
   message       = "16MiB",
   delegate_cost = "1700us",
   microbatches  = 24,
   samples_per_microbatch = 1,
}
