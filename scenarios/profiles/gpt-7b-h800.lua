-- gpt-7b-h800.lua - GPT 7B on H800 GPUs, 4 stages: 22 layers, hidden size 5120, 1024 tokens a
-- sample.
--
-- Times are the medians over 12 runs of what the published artefact's re-scheduler measured,
-- rounded there to whole milliseconds (profiles_median.csv). A message is one activation or
-- gradient of one sample in 16-bit floating point: 1024 tokens x 5120 x 2 bytes. delegate_cost
-- is fitted: with it the model meets the clean median of the fault-free delegated run (ALL-
-- CPU).
local ab = require "adaptra"

return ab.workload {
   name          = "gpt-7b-h800",
   source        = "PipeMorph artefact, H800 7B: profiles_median.csv, "
      .. "delegate cost fitted on ALL-CPU",
   forward       = { "8ms", "9ms", "9ms", "9ms" },
   backward      = { "10ms", "10ms", "10ms", "9ms" },
   weight        = { "5ms", "6ms", "6ms", "6ms" },
   message       = "10MiB",
   delegate_cost = "933us",
   microbatches  = 12,
   samples_per_microbatch = 1,
}
