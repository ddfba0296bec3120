-- adaptra.lua - the words that scenarios are written in; README.md beside this is their contract.
--
-- A word only notes what it was given and on which line. Everything is checked when the scenario is
-- complete, so that all mistakes are listed at once.

local statement, declare_option, load_profile = ...

local function word(kind)
   return function(fields)
      return statement(kind, fields)
   end
end

local ab = {
   scenario  = word "scenario",
   pipeline  = word "pipeline",
   workload  = word "workload",
   recovery  = word "recovery",
   detection = word "detection",
   delay     = word "delay",
   rate      = word "rate",
   slow      = word "slow",
   down      = word "down",
   loss      = word "loss",
   variant   = word "variant",
   iter      = word "iter",
   time      = word "time",
   op        = word "op",
   option    = declare_option,
}

-- ab.profile "gpt-14b-h800" { microbatches = 24 }; the braces may be left out.
function ab.profile(name)
   return statement("profile", {}, load_profile(name))
end

-- ab.trace "file.trace" or ab.trace { file = "file.trace", … }
function ab.trace(fields)
   if type(fields) == "string" then
      fields = { file = fields }
   end
   return statement("trace", fields)
end

return ab
