# SPDX-License-Identifier: GPL-2.0
# Adds up the samples in the output of `perf script -F weight,data_src`, as JSON: {"samples", "mean", "hitm",
# "sources"}, with the sources in pebsd's words. A line is "… |OP LOAD|LVL L3 or L3 hit|SNP None|…   WEIGHT".
{
	split($0, part, "[|]LVL "); level = part[2]; sub(/\|.*/, "", level)
	source = "unknown"
	if (level ~ /Remote.*(RAM|DRAM)/) source = "remote_dram"
	else if (level ~ /PMEM/) source = "pmem"
	else if (level ~ /CXL/) source = "cxl"
	else if (level ~ /RAM/) source = "local_dram"
	else if (level ~ /Remote/) source = "remote_cache"
	else if (level ~ /LFB|MAB|MHB/) source = level ~ /L2 MHB/ ? "l2_mhb" : "lfb"
	else if (level ~ /L3/) source = level ~ /miss/ && level !~ /hit/ ? "unknown" : "l3"
	else if (level ~ /L2/) source = "l2"
	else if (level ~ /L1/) source = "l1"
	n++; weight += $NF; weighed += $NF > 0; sources[source]++
	hitm += /[|]SNP HitM[|]/
}
END {
	printf "{\"samples\":%d,\"mean\":%s,\"hitm\":%d,\"sources\":{", n, weighed ? sprintf("%.1f", weight / weighed) : "null", hitm
	for (source in sources) { printf "%s\"%s\":%d", separator, source, sources[source]; separator = "," }
	printf "}}\n"
}
