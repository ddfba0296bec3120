local ab = require "adaptra"
return ab.scenario {
   title     = "One slow link",
   topology  = ab.pipeline { stages = 8, hosts = 2, link = { delay = "5us", rate = "200Gbit" } },
   workload  = ab.profile "gpt-14b-h800" { microbatches = 24 },
   schedules = { "1f1b", "zb", "adaptra" },
   iterations = 300, warmup = 20, repeats = 3, seed = 42,
   faults = {
      ab.delay { at = ab.iter(15), lasts = ab.iter(70), link = "2-3", delay = "30ms", jitter = "5ms", distribution = "normal" },
      ab.down  { at = ab.iter(230), lasts = ab.time "2s", rnic = "host1/mlx5_0" },
   },
   checks = { ["adaptra beats 1F1B"] = function(r) return r.adaptra.p50_ms < r["1f1b"].p50_ms end },
}
