#!/usr/bin/env bash
# three_pairs.sh - makes three pairs of RDMA devices for the test programs after it; is one itself.
# shellcheck source=tests/vm/rxe.sh
. "$(dirname "$0")/rxe.sh"

rxe_pairs 3 4200 || echo -n 'not '
echo 'ok 1 - there are three pairs of RDMA devices'
echo '1..1'
