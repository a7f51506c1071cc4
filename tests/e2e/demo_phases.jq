
# The alerts that fire, with the times that they may fire and resolve at, in seconds since the cycle began. A window is
# 10 s long, and a rule waits for 5 s.
def phases: {"database-latency model:database": [[55, 75], [107, 125]], "cores-lost model:backup": [[55, 75], [107, 125]],
	"shared-lines model:shop": [[142, 160], [182, 200]], "cores-lost model:batch": [[202, 220], [237, 255]]};
