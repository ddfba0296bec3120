#!/usr/bin/perl
# symbols.t - the code of CUDA, cuBLAS and NCCL stays in the folders that stand on them.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use lint;

my $symbol = qr/\b(?:cuda|cublas|nccl|cu)[A-Z]\w*/;
my $may_name = qr{^(?:engine/device|engine/transport|tests/cuda_double|tests/double|tests/gpu)/};

sub symbols {
	my ($root) = @_;
	my @complaints;

	for my $path (grep { /\.(?:c|h|cu)$/ && $_ !~ $may_name } files_of($root)) {
		my $line = 0;
		for (split /\n/, code_of(text_of("$root/$path"))) {
			$line++;
			push @complaints, "$path:$line: $1 is named outside its folders" if /($symbol)/;
		}
	}
	return @complaints;
}

holds('symbols of CUDA stay in their folders', symbols(source_root()));
fails('CUDA in model', qr{^engine/model/a\.c:1: cudaMalloc},
      symbols(tree_of('engine/model/a.c' => "cudaMalloc(&p, 1);\n")));
fails('NCCL in replay', qr{^engine/replay/a\.h:2: ncclComm_t},
      symbols(tree_of('engine/replay/a.h' => "\nncclComm_t comm;\n")));
fails('the driver in a unit test', qr{^tests/unit/a\.c:1: cuInit},
      symbols(tree_of('tests/unit/a.c' => "cuInit(0);\n")));
is_deeply([symbols(tree_of(
	'engine/device/a.c' => "cudaMalloc(&p, 1);\n",
	'engine/transport/a.c' => "ncclSend(p, 1);\n",
	'tests/double/a.c' => "cublasSgemm(h);\n",
	'engine/model/a.c' => qq(int cuda_open(void); /* cudaFree */\nint cut = f("ncclSend");\n),
))], [], 'a tree that keeps the rule passes');
done_testing();
