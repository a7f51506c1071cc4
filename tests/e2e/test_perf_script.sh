#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# perf names the levels of memory differently by machine and version. perf_script.awk, which test-hardware uses, must
# understand all these names.
set -eu

# expect JSON: expects this result for the lines of perf on standard input
expect() {
	local found
	found=$(awk -f tests/hardware/perf_script.awk)
	if [ "$found" != "$1" ]; then
		printf 'expected %s\nfound    %s\n' "$1" "$found"
		exit 1
	fi
}

# one LEVEL WEIGHT: prints a line of perf
one() {
	printf '     11868100242 |OP LOAD|LVL %s|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A  %12s\n' "$1" "$2"
}

expect '{"samples":0,"mean":null,"hitm":0,"sources":{}}' </dev/null
one 'L1 or L1 hit' 5 | expect '{"samples":1,"mean":5.0,"hitm":0,"sources":{"l1":1}}'
# perf 6.1 prints the values of both the old field and the new one.
one 'LFB/MAB or LFB/MAB hit' 96 | expect '{"samples":1,"mean":96.0,"hitm":0,"sources":{"lfb":1}}'
one 'L2 MHB hit' 40 | expect '{"samples":1,"mean":40.0,"hitm":0,"sources":{"l2_mhb":1}}'
one 'L2 or L2 hit' 14 | expect '{"samples":1,"mean":14.0,"hitm":0,"sources":{"l2":1}}'
one 'L3 or L3 hit' 60 | expect '{"samples":1,"mean":60.0,"hitm":0,"sources":{"l3":1}}'
one 'L3 miss' 300 | expect '{"samples":1,"mean":300.0,"hitm":0,"sources":{"unknown":1}}'
one 'Local RAM or RAM hit' 250 | expect '{"samples":1,"mean":250.0,"hitm":0,"sources":{"local_dram":1}}'
one 'Remote RAM (1 hop) or Remote RAM hit' 400 | expect '{"samples":1,"mean":400.0,"hitm":0,"sources":{"remote_dram":1}}'
one 'Remote Cache (1 hop) or Remote Any cache hit' 380 |
	expect '{"samples":1,"mean":380.0,"hitm":0,"sources":{"remote_cache":1}}'
printf '  |OP LOAD|LVL L3 hit|SNP HitM|TLB L1 or L2 hit|LCK No|BLK  N/A  90\n' |
	expect '{"samples":1,"mean":90.0,"hitm":1,"sources":{"l3":1}}'
one 'N/A' 0 | expect '{"samples":1,"mean":null,"hitm":0,"sources":{"unknown":1}}'
# IBS leaves the weight 0 if the load hit L1. That means no latency, not a latency of 0.
{
	one 'L1 hit' 0
	one 'L1 hit' 0
	one 'RAM hit' 300
} | sort | expect '{"samples":3,"mean":300.0,"hitm":0,"sources":{"l1":2,"local_dram":1}}'
