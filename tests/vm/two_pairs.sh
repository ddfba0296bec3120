#!/usr/bin/env bash
# two_pairs.sh - makes two pairs of RDMA devices for the test programs after it; is one itself.
# shellcheck source=tests/vm/rxe.sh
. "$(dirname "$0")/rxe.sh"

rxe_pairs 2 4200 || echo -n 'not '
echo 'ok 1 - there are two pairs of RDMA devices'
echo '1..1'
