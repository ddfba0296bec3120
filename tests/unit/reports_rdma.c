/* reports_rdma.c - the report says what outages RNICs outlast, beside the scenario's. */
#include "engine/base/strbuf.h"
#include "reports/report_internal.h"
#include "tests/tap.h"

static void check(const char *settings, const char *want, const char *name)
{
	struct strbuf text = {0};

	report_rdma_add(settings, 10, &text);
	tap_is_str(strbuf_text(&text), want, "%s", name);
	strbuf_fini(&text);
}

#define RETRIES "\"recovery.rdma_timeout\": 14, \"recovery.rdma_retries\": 6"
#define BUDGET                                                                                    \
	"RNICs try for 469.8 ms (timeout 14, 6 retries) before they give a connection up: where " \
	"packets are lost for less, it stalls, for more, the rail is lost"

int main(void)
{
	check("{" RETRIES "}", BUDGET, "the outage that is outlasted");
	check("{" RETRIES ", \"faults\": [\"slow 3->3 start iteration 30 end never slowdown 1.5\", "
	      "\"down 2->2 start iteration 47 end 100000000 ns rail 1\"]}",
	      BUDGET "; stage 2, rail 1 is down for 100 ms, here 10 ms",
	      "beside it how long a RNIC is down, in profile and in real time");
	check("{" RETRIES
	      ", \"faults\": [\"down 1->1 start 2000000000 ns end 7000000000 ns rail 0\", "
	      "\"down 2->2 start iteration 1 F3 of stage 1 end never rail 0 permanent\"]}",
	      BUDGET "; stage 1, rail 0 is down for 5 s, here 500 ms; stage 2, rail 0 is down for "
	             "whole iterations",
	      "from a time to a time, or for good");
	check("{}", "", "of a run that was stored without them nothing is said");
	check("{\"recovery.rdma_timeout\": 99, \"recovery.rdma_retries\": 6}", "",
	      "nor where they cannot be");
	return tap_done();
}
