/* qdisc_messages.c - the bytes of every message about queueing disciplines, and reading them. */
#include "injectors/qdisc_messages.h"

#include <errno.h>
#include <string.h>

#include "engine/base/units.h"
#include "injectors/sorter_messages.h"
#include "tests/net/golden_fixture.h"

static const struct qdisc_place root = {
	.interface_index = 3, .parent = QDISC_AT_ROOT, .handle = 0xadab0000};

static const struct netem everything = {
	.delay_ns = 30 * NS_PER_MS,
	.jitter_ns = 5 * NS_PER_MS,
	.distribution = DISTRIBUTION_NORMAL,
	.delay_correlation_ratio = 0.25,
	.loss_correlation_ratio = 0.5,
	.burst_enter_ratio = 0.001,
	.burst_leave_ratio = 0.75,
	.rate_bits_per_s = 100000000000,
	.limit_packets = 5000,
};

static const struct tbf gigabit = {
	.rate_bits_per_s = 1000000000, .burst_bytes = 125000, .limit_bytes = 4000000};

static void test_golden(void)
{
	struct qdisc_settings settings = {
		.kind = QDISC_NETEM, .netem = {.delay_ns = 30 * NS_PER_MS, .limit_packets = 1000}};
	struct strbuf text = {0};

	golden_add(&text, "netem, delay 30 ms", qdisc_put_message(&root, &settings, true));
	golden_add(&text, "netem, changed", qdisc_put_message(&root, &settings, false));
	settings.netem.loss_ratio = 0.001;
	settings.netem.rate_bits_per_s = 1000000000;
	golden_add(&text, "netem, loss 0.1 %, 1 Gbit/s", qdisc_put_message(&root, &settings, true));
	settings.netem = everything;
	golden_add(&text, "netem, everything", qdisc_put_message(&root, &settings, true));
	settings = (struct qdisc_settings){.kind = QDISC_TBF, .tbf = gigabit};
	golden_add(&text, "tbf, 1 Gbit/s", qdisc_put_message(&root, &settings, true));
	settings.tbf.rate_bits_per_s = 100000000000;
	golden_add(&text, "tbf, 100 Gbit/s", qdisc_put_message(&root, &settings, true));
	settings.kind = QDISC_SORTER;
	golden_add(&text, "sorter", qdisc_put_message(&root, &settings, true));
	golden_add(&text, "its class 2", sorter_class_message(&root, 2));
	golden_add(&text, "packets for 10.1.2.3 to class 2",
	           sorter_filter_message(&root, 2, 0x0a010203));
	golden_add(&text, "packets for 10.1.2.3 to interface 9",
	           sorter_redirect_message(&root, 2, 0x0a010203, 9));
	golden_add(&text, "no filter 2", sorter_unfilter_message(&root, 2));
	golden_add(&text, "get", qdisc_get_message(&root));
	golden_add(&text, "delete", qdisc_delete_message(&root, QDISC_NETEM));
	golden_check(&text, "tests/golden/injectors/qdisc.txt",
	             "messages about queueing disciplines are, byte by byte, what they were");
}

/* What is written can be read: kernels tell netem in the form that it is given in. */
static void test_round_trip(void)
{
	const struct qdisc_settings settings = {.kind = QDISC_NETEM, .netem = everything};
	struct nl_msg *message = qdisc_put_message(&root, &settings, true);
	struct qdisc found;

	tap_is_int(qdisc_parse(nlmsg_hdr(message), 64, &found), 0, "a message is read");
	nlmsg_free(message);
	tap_is_str(found.kind, "netem", "its kind");
	tap_is_int(found.settings.netem.delay_ns, everything.delay_ns, "its delay");
	tap_is_int(found.settings.netem.jitter_ns, everything.jitter_ns, "its jitter");
	tap_is_int(found.settings.netem.rate_bits_per_s, everything.rate_bits_per_s,
	           "a rate above 32 bits");
	tap_is_int(found.settings.netem.limit_packets, 5000, "its limit");
	tap_is_number(found.settings.netem.burst_enter_ratio, 0.001, 1e-9, "bursts of loss");
	tap_is_number(found.settings.netem.burst_leave_ratio, 0.75, 1e-9, "and their end");
	tap_is_number(found.settings.netem.delay_correlation_ratio, 0.25, 1e-9, "correlation");
	message = qdisc_get_message(&root);
	tap_is_int(qdisc_parse(nlmsg_hdr(message), 64, &found), -EPROTO,
	           "a message of another type is refused");
	nlmsg_free(message);
}

/* Options shorter than their struct, and attributes cut in two, are read as far as they go. */
static void test_torn(void)
{
	const struct qdisc_settings settings = {.kind = QDISC_NETEM, .netem = everything};
	int n_wrong = 0;

	for (uint32_t n_bytes = NLMSG_HDRLEN; n_bytes < 300; n_bytes++) {
		struct nl_msg *message = qdisc_put_message(&root, &settings, true);
		struct nlmsghdr *torn = malloc(n_bytes);
		struct qdisc found;
		int rc;

		memcpy(torn, nlmsg_hdr(message), n_bytes);
		torn->nlmsg_len = n_bytes;
		rc = qdisc_parse(torn, 64, &found);
		n_wrong += rc != 0 && rc != -EPROTO;
		free(torn);
		nlmsg_free(message);
	}
	tap_is_int(n_wrong, 0, "a message that ends anywhere is read or refused");
}

static void test_numbers(void)
{
	tap_is_int(qdisc_probability(0), 0, "no loss is 0");
	tap_is_int(qdisc_probability(0.001), 4294967, "a thousandth is 2^32 / 1000");
	tap_is_int(qdisc_probability(1), UINT32_MAX, "all is the largest number");
	tap_is_int(netem_limit_packets(0, 0, 1500), 1000, "a limit is at least the kernel's");
	tap_is_int(netem_limit_packets(1000000000, 30 * NS_PER_MS, 1500), 3750,
	           "1 Gbit/s and 30 ms are 2500 packets, and half as many");
	tap_is_int(netem_limit_packets(0, 30 * NS_PER_MS, 1500), 375000,
	           "without a rate it is enough for 100 Gbit/s");
	tap_is_int(netem_limit_packets(INT64_C(1) << 60, INT64_C(1) << 60, 1), UINT32_MAX,
	           "and at most what the kernel can be told");
	tap_is_int(tbf_burst_bytes(1000000000, 1514), 125000, "1 ms at 1 Gbit/s");
	tap_is_int(tbf_burst_bytes(1000, 1514), 3028, "but two packets");
}

int main(void)
{
	test_golden();
	test_round_trip();
	test_torn();
	test_numbers();
	return tap_done();
}
