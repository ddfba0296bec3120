# pairs.awk - what one of two things costs, of pairs of measurements on a line: with it, without it.
# name: of what is measured; with, without, cost: what stands in the rows; limit: percent. Exit 1: the
# mean ratio is above the limit, or the 95 % interval is wider than a percent and cannot tell.

# Student's t for 95 % and n - 1 degrees of freedom.
BEGIN { split("12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26 2.23 2.20 2.18 2.16 2.14 2.13", t) }

NF == 2 && $1 > 0 && $2 > 0 {
	n++
	sum_with += $1; sum_without += $2
	log_ratio = log($1 / $2)
	sum += log_ratio; squares += log_ratio * log_ratio
}

END {
	if (n < 2) {
		print "fewer than two pairs were measured"
		exit 1
	}
	mean = sum / n
	variance = (squares - n * mean * mean) / (n - 1)
	half = (n - 1 in t ? t[n - 1] : 2) * sqrt((variance > 0 ? variance : 0) / n)
	percent = 100 * (exp(mean) - 1)
	printf "%-58s %-18s %.2f ms\n", with, "", sum_with / n
	printf "%-58s %-18s %.2f ms\n", without, "", sum_without / n
	printf "%-58s %-18s %+.2f %% (%+.2f to %+.2f, 95 %% of %d pairs)\n", cost,
		"< " limit " %", percent, 100 * (exp(mean - half) - 1), 100 * (exp(mean + half) - 1), n
	if (100 * half > 1)
		print "the spread is wider than a percent: are two cores free?"
	exit !(percent < limit && 100 * half <= 1)
}
