-- gpt-140b-h800.lua - GPT 140B on H800 GPUs, 8 stages: 78 layers, hidden size 12288, 256
-- tokens a sample.
--
-- Times are the medians over 1 run of what the published artefact's re-scheduler measured,
-- rounded there to whole milliseconds (profiles_median.csv). A message is one activation or
-- gradient of one sample in 16-bit floating point: 256 tokens x 12288 x 2 bytes. Sequence
-- length 256 is what the zero-bubble and re-scheduled runs used; the 1F1B run of the same
-- experiment used 1024. These times come from one run and no prediction with them was
-- validated. delegate_cost is the 60B model's: there is no fault-free delegated run of this
-- one to fit it to.
local ab = require "adaptra"

return ab.workload {
   name          = "gpt-140b-h800",
   source        = "PipeMorph artefact, H800 140B: profiles_median.csv, "
      .. "delegate cost fitted on ALL-CPU of 60B",
   forward       = { "11ms", "11ms", "11ms", "12ms", "11ms", "12ms", "11ms", "11ms" },
   backward      = { "11ms", "10ms", "10ms", "9ms", "9ms", "9ms", "9ms", "10ms" },
   weight        = { "4ms", "4ms", "4ms", "4ms", "4ms", "4ms", "4ms", "4ms" },
   message       = "6MiB",
   delegate_cost = "2635us",
   microbatches  = 24,
   samples_per_microbatch = 1,
}
