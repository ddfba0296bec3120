#!/usr/bin/perl
# usage.t - help, and what is said to who types something that is not there.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my @commands = qw(compare sim run plan report list trace import validate doctor help);
my $help = run_bench('--help');

ends_with_code($help, 0, '--help is not a mistake');
like($help->{out}, qr/^  \Q$_\E +\S/m, "--help lists $_") for @commands;
is(run_bench('help')->{out}, $help->{out}, 'help and --help say the same');
like(run_bench('--version')->{out}, qr/^adaptra-bench \d+\.\d+\.\d+(?:\+\w+(?:-dirty)?)?\n$/, '--version is one line');

for my $command (@commands) {
	my $call = run_bench('help', $command);
	is($call->{code}, 0, "help $command ends with 0");
	like($call->{out}, qr/^adaptra-bench \Q$command\E .*Options:\n  --/s,
	     "help $command shows how it is called and its options");
	is(run_bench($command, '--help')->{out}, $call->{out}, "$command --help says the same");
}
SKIP: {
	my $cpu = do { local (@ARGV, $/) = '/proc/cpuinfo'; <> };
	skip 'this processor has no AVX2', 2 if $cpu !~ /^flags.*\bavx2\b/m;
	unlike(run_shell('env -u OPENBLAS_CORETYPE $BENCH doctor')->{out}, qr/kernels for Prescott/,
	       'OpenBLAS is not left with the kernels that it has for what it does not know');
	like(run_shell('OPENBLAS_CORETYPE=Prescott $BENCH doctor')->{out}, qr/kernels for Prescott/,
	     'a user who wants them gets them');
}
unlike(run_bench('help', 'doctor')->{out}, qr/--iterations/, 'a command lists only what it takes');

like(run_bench('sim', 'one_slow_link', '--help')->{out},
     qr/Options of '.*one_slow_link\.lua':\n.*--set delay=30ms  \S/s,
     'help about a scenario shows the options that it declares');
like(run_bench('list', 'scenarios')->{out}, qr/one_slow_link\.lua.*--set link=6-7  \S/s,
     'list scenarios, too');

says(run_bench(), 2, qr/no command was given.*Commands:/s, 'nothing at all is a mistake');
says(run_bench('simm', 'x'), 2, qr/no command 'simm'; did you mean 'sim'\?/,
     'a command that is near one');
says(run_bench('zzzz'), 2, qr/no command 'zzzz'; adaptra-bench help lists them/,
     'a command that is near none');
says(run_bench('help', 'reprot'), 2, qr/did you mean 'report'/,
     'help for a command that is not there');
says(run_bench('sim', smoke(), '--itrations', 3), 2,
     qr/unknown option --itrations; did you mean --iterations\?/,
     'an option that is near one');
says(run_bench('sim', smoke(), '-x'), 2, qr/unknown option -x;.*two dashes/,
     'an option with one dash');
says(run_bench('sim', smoke(), '--at', 3), 2, qr/sim does not take --at/,
     "another command's option");
says(run_bench('sim', smoke(), '--iterations'), 2,
     qr/--iterations needs a value; write --iterations K/,
     'an option without its value');
says(run_bench('sim', smoke(), "--iterations=$_"), 2, qr/--iterations: .*wanted 1 to 10000000/,
     "--iterations=$_") for qw(0 -1 x 1.5 10000001 99999999999999999999);
says(run_bench('sim', smoke(), '--json=yes'), 2, qr/--json takes no value; 'yes' was given/,
     'a value for an option that takes none');
says(run_bench('sim', smoke(), '--store', ''), 2, qr/--store is empty/, 'an empty path');
says(run_bench('--json', 'sim', smoke()), 2, qr/'sim' is not a run's number/,
     'an option before the command makes it the short form of compare');
says(run_bench("--$_"), 2, qr/--\Q$_\E stands before any command/, "--$_ alone") for qw(json speed=3);
says(run_bench('--versoin'), 2, qr/unknown option --versoin; did you mean --version\?/,
     'an option alone that is near one');
says(run_bench('-q'), 2, qr/unknown option -q; adaptra-bench help COMMAND lists/,
     'an option alone that is near none');
says(run_bench('sim'), 2, qr/sim needs something to work on; write adaptra-bench sim SCENARIO/,
     'a command without its argument');
says(run_bench('sim', 'a', 'b'), 2, qr/sim does not take 2 arguments/, 'a command with too many');
says(run_bench('doctor', 'x'), 2, qr/doctor takes no arguments/, 'a command that takes none');

says(run_bench('sim', 'smok'), 2, qr/no scenario 'smok'; did you mean 'smoke'\?/,
     'a scenario that is near one');
says(run_bench('sim', '/nowhere/x.lua'), 2, qr/no scenario '\/nowhere\/x\.lua'/,
     'a file that is not there');
says(run_bench('sim', home()), 2, qr/\Q${\home()}\E/, 'a folder is no scenario');
says(run_bench('sim', smoke(), '--schedule', 'zbb'), 2, qr/no schedule 'zbb'; did you mean 'zb'\?/,
     'a schedule that is near one');
says(run_bench('sim', smoke(), '--schedule=zb', '--schedule=zb'), 2,
     qr/--schedule zb is given twice/,
     'a schedule twice');
says(run_bench('plan', smoke()), 2, qr/write --schedule NAME/, 'plan without a schedule');
says(run_bench('plan', smoke(), '--schedule=zb', '--at=60'), 2,
     qr/--at 60 is past.*last iteration, 59/,
     'a plan after the last iteration');
says(run_bench('list', 'runns'), 2, qr/did you mean 'runs'/, 'a list that is near one');
says(run_bench('compare', 1, 'x'), 2, qr/'x' is not a run's number/,
     'compare of a run and something else');
says(run_bench('trace', 'improt', 'x'), 2, qr/trace cannot 'improt'/,
     'trace does what it can only');

says(run_bench('run', smoke(), '--speed', 'fast'), 2, qr/--speed is 'fast'; wanted a number/,
     'a speed that is no number');
says(run_bench('run', smoke(), '--device', 'cdua'), 2, qr/'cdua'/, 'a device that there is not');
says(run_bench('run', smoke(), '--transport', 'tpc'), 2, qr/'tpc'.*tcp/s,
     'a transport that there is not');
says(run_bench('run', smoke(), '--transport', 'loopback'), 2, qr/stays inside one worker/,
     'a transport that cannot reach other hosts');
says(run_bench('run', smoke(), '--transport', 'tcp,loopback'), 2, qr/stays inside one worker/,
     'nor for any of its rails');
says(run_bench('run', smoke(), '--transport', 'tcp,tpc'), 2, qr/'tpc'.*tcp/s, 'one of a list that there is not');
says(run_bench('run', smoke(), '--transport', 'tcp,'), 2, qr/'tcp,' names no transports; write one for each rail/,
     'a list with nothing in it');
says(run_bench('run', smoke(), '--transport', 'tcp,tcp,tcp'), 2, qr/names 3 transports, and the topology has \d rails?$/m,
     'more transports than rails');
says(run_bench('run', smoke(), '--transport', 'verbs', '--rdma-device', 'nowhere,nowhere'), 3,
     qr/no RDMA device is called nowhere|transport verbs is not in this build/,
     'a transport without its devices');
says(run_bench('run', smoke(), '--rdma-device', 'mlx5_0'), 2, qr/--rdma-device is for --transport verbs/,
     'devices of a transport that is not used');
says(run_bench('compare', smoke(), '--injector', 'netme'), 2,
     qr/no injector 'netme'; did you mean 'netem'\?.* shaped, stream and auto/, 'an injector that there is not');
says(run_bench('compare', smoke(), '--injector', 'dry_run'), 3, qr/hosts of a lab; add --lab netns/,
     'an injector without the hosts that it acts on');
says(run_bench('compare', smoke(), '--lab', 'nets'), 2, qr/no lab 'nets'; there are none, netns/,
     'a lab that there is not');
says(run_bench('run', smoke(), '--allow-interface', 'eth0', '--lab=netns'), 2, qr/use one of the two/,
     'interfaces of the machine for hosts that have their own');
says(run_bench('run', smoke(), '--lab', 'machine'), 2, qr/named by --allow-interface/, 'they are no lab');
says(run_bench('run', smoke(), '--allow-interface', 'lo'), 3, qr/the loopback interface carries|not in this build/,
     'one that is never taken down');
says(run_bench('run', smoke(), '--allow-interface', 'nowhere0'), 3, qr/no interface 'nowhere0'|not in this build/,
     'one that is not there');
is(run_bench('sim', '--iterations=3', '--quiet', '--no-ops', '--', smoke())->{err}, '',
   '-- ends the options, and --quiet leaves stderr empty');
done_testing();
