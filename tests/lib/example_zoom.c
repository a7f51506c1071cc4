// SPDX-License-Identifier: GPL-2.0
#include "example_zoom.h"

#define STATE                                                                                              \
	"{\"zoom\":17,\"cgroup\":\"" EXAMPLE_ZOOM_CGROUP                                                   \
	"\",\"state\":\"done\",\"began\":\"2026-11-21T06:00:00Z\",\"seconds\":30.0,\"ran_s\":30.0,"        \
	"\"reason\":\"asked for by uid 0\",\"note\":\"the always-on event loads of cpu is paused for it: " \
	"one counter has to do for both\",\"rate\":1000,\"events\":[\"loads\"],\"latency\":true,"          \
	"\"period\":10007,\"samples\":{\"taken\":29412,\"seen\":41230,\"limited\":11806,\"lost\":12,"      \
	"\"dropped\":0,\"malformed\":0},\"throttles\":2,\"running_ratio\":0.982,\"latency_sum\":7310000,"  \
	"\"stacks\":{\"by\":\"frame pointers\",\"user\":28900,\"early\":5120},\"memory\":9437184}"

const char example_zoom_state[] = STATE;

const char example_zoom_report[] =
	"{\"version\":1,\"origin\":\"perf\",\"zoom\":" STATE ",\"functions\":["
	"{\"name\":\"heap_hot_search_buffer\",\"module\":\"/usr/lib/postgresql/15/bin/postgres\","
	"\"file\":\"src/backend/access/heap/heapam.c\",\"line\":1812,\"samples\":9120,\"latency\":3012000,"
	"\"total_samples\":9900,\"total_latency\":3200100,\"sources\":{\"l1\":1200,\"l3\":3000,"
	"\"local_dram\":3420,\"remote_dram\":1500}},"
	"{\"name\":\"_bt_compare\",\"module\":\"/usr/lib/postgresql/15/bin/"
	"postgres\",\"file\":\"nbtsearch.c\","
	"\"line\":702,\"samples\":5200,\"latency\":1214000,\"total_samples\":5200,\"total_latency\":1214000,"
	"\"sources\":{\"l1\":2600,\"lfb\":1300,\"l2\":1300}},"
	"{\"name\":\"std::_Rb_tree<std::pair<long const, Row>, std::less<long> >::_M_insert_unique(long&&)\","
	"\"module\":\"/opt/plugin/lib/libplugin-with-a-rather-long-name.so.3.1\",\"samples\":1210,"
	"\"latency\":303000,\"total_samples\":1210,\"total_latency\":303000,\"sources\":{\"l3\":1210}},"
	"{\"name\":\"clear_page_erms\",\"samples\":330,\"latency\":101000,\"total_samples\":330,"
	"\"total_latency\":101000,\"sources\":{\"l1\":330}},"
	"{\"name\":\"[unknown] "
	"libz.so.1.2.13+0x41f0\",\"module\":\"/usr/lib/x86_64-linux-gnu/libz.so.1.2.13\","
	"\"samples\":2,\"latency\":80,\"total_samples\":2,\"total_latency\":80,\"sources\":{\"l1\":2}},"
	"{\"name\":\"evil\\u001b[31m\",\"module\":\"/caf\xc3\xa9\",\"samples\":0,\"latency\":0,"
	"\"total_samples\":14000,\"total_latency\":4400000,\"sources\":{}}],"
	"\"objects\":["
	"{\"name\":\"/dev/zero\",\"region\":\"shared\",\"samples\":14100,\"latency\":4100000,\"hitm\":812,"
	"\"sources\":{\"l3\":3000,\"local_dram\":6000,\"remote_dram\":5100}},"
	"{\"name\":\"[heap]\",\"region\":\"heap\",\"samples\":6100,\"latency\":900000,\"hitm\":0,"
	"\"sources\":{\"l1\":6100}},"
	"{\"name\":\"counters (in "
	"/usr/lib/postgresql/15/bin/postgres)\",\"region\":\"file\",\"samples\":1400,"
	"\"latency\":700000,\"hitm\":1390,\"sources\":{\"local_cache\":1400}}],"
	"\"lines\":["
	"{\"address\":\"0x5621d0c41040\",\"pid\":812,\"object\":\"counters+0x40 (in "
	"/usr/lib/postgresql/15/bin/postgres)\",\"samples\":1400,\"latency\":700000,\"hitm\":1390,\"cpus\":8,"
	"\"hitm_cpus\":6,\"sharing\":\"false\",\"accesses\":["
	"{\"offset\":8,\"function\":\"count_hit\",\"file\":\"stats.c\",\"line\":41,\"samples\":800,"
	"\"stores\":400,"
	"\"hitm\":790,\"latency\":400000,\"cpus\":4},"
	"{\"offset\":48,\"function\":\"count_miss\",\"file\":\"stats.c\",\"line\":57,\"samples\":600,"
	"\"stores\":100,"
	"\"hitm\":600,\"latency\":300000,\"cpus\":4}]},"
	"{\"address\":\"0x7f31c8000080\",\"object\":\"/dev/zero+0x80\",\"samples\":700,\"latency\":310000,"
	"\"hitm\":500,\"cpus\":8,\"hitm_cpus\":8,\"sharing\":\"true\",\"accesses\":["
	"{\"offset\":0,\"function\":\"LWLockAttemptLock\",\"file\":\"lwlock.c\",\"line\":812,\"samples\":700,"
	"\"stores\":350,\"hitm\":500,\"latency\":310000,\"cpus\":8}]},"
	"{\"address\":\"0x7f31c8fff000\",\"object\":\"[heap]+0x40\",\"samples\":7,\"latency\":3100,\"hitm\":"
	"0,"
	"\"cpus\":1,\"hitm_cpus\":0,\"accesses\":[]}],"
	"\"nodes\":[{\"node\":0,\"samples\":20000,\"latency\":4000000,\"remote\":1200,\"pages\":51200},"
	"{\"node\":1,\"samples\":9000,\"latency\":3310000,\"remote\":8100,\"pages\":20480}],"
	"\"unnamed\":3}";

const char example_hot[] =
	"{\"version\":1,\"origin\":\"perf\",\"cgroup\":\"" EXAMPLE_ZOOM_CGROUP
	"\",\"id\":4321,\"chosen\":{\"by\":\"request\",\"since\":\"2026-11-21T06:00:00Z\",\"for_s\":12.0,"
	"\"until\":\"2026-11-21T06:10:00Z\"},\"events\":{\"loads\":{\"weight\":\"latency\",\"latency\":"
	"4100000,"
	"\"samples\":15230,\"code\":["
	"{\"name\":\"heap_hot_search_buffer\",\"module\":\"/usr/lib/postgresql/15/bin/"
	"postgres\",\"offset\":312,"
	"\"file\":\"heapam.c\",\"line\":1812,\"address\":\"0x5621d09f1138\",\"pid\":812,\"latency\":{\"low\":"
	"1262800,"
	"\"high\":1279200},\"share\":{\"low\":0.308,\"high\":0.312},\"samples\":{\"low\":4600,\"high\":4712}}"
	","
	"{\"name\":\"_bt_compare\",\"module\":\"/usr/lib/postgresql/15/bin/postgres\",\"offset\":96,"
	"\"file\":\"nbtsearch.c\",\"line\":702,\"latency\":{\"low\":500000,\"high\":500000},\"share\":{"
	"\"low\":"
	"0.122,\"high\":0.122},\"samples\":{\"low\":1200,\"high\":1200}},"
	"{\"name\":\"[kernel]\",\"latency\":{\"low\":0,\"high\":90000},\"share\":{\"low\":0.0,\"high\":0.022}"
	","
	"\"samples\":{\"low\":0,\"high\":300}}],"
	"\"lines\":["
	"{\"address\":\"0x5621d0c41040\",\"object\":\"counters+0x40 (in "
	"/usr/lib/postgresql/15/bin/postgres)\","
	"\"pid\":812,\"latency\":{\"low\":800000,\"high\":812000},\"share\":{\"low\":0.195,\"high\":0.198},"
	"\"samples\":{\"low\":1380,\"high\":1400},\"hitm\":1390,\"hitm_cpus\":6,\"cpus\":8},"
	"{\"address\":\"0x7f31c8000080\",\"latency\":{\"low\":1000,\"high\":92000},\"share\":{\"low\":0.0002,"
	"\"high\":0.0224},\"samples\":{\"low\":3,\"high\":310},\"hitm\":0,\"hitm_cpus\":0,\"cpus\":1}],"
	"\"absent\":{\"code\":{\"latency\":12000,\"samples\":44},\"lines\":{\"latency\":90000,\"samples\":"
	"300}}}},"
	"\"unnamed\":1}";
