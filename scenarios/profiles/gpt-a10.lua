-- gpt-a10.lua - the model of the A10 runs on A10 GPUs, 4 stages: 14 layers, hidden size 4096,
-- 1024 tokens a sample.
--
-- Times are the medians over 12 runs of what the published artefact's re-scheduler measured,
-- rounded there to whole milliseconds (profiles_median.csv). A message is one activation or
-- gradient of one sample in 16-bit floating point: 1024 tokens x 4096 x 2 bytes. The cost of a
-- delegated message was not fitted for this model: it is 0 here.
local ab = require "adaptra"

return ab.workload {
   name          = "gpt-a10",
   source        = "PipeMorph artefact, A10 A10 runs: profiles_median.csv",
   forward       = { "28ms", "36ms", "36ms", "33ms" },
   backward      = { "34ms", "45ms", "46ms", "39ms" },
   weight        = { "16ms", "23ms", "23ms", "20ms" },
   message       = "8MiB",
   microbatches  = 12,
   samples_per_microbatch = 1,
}
