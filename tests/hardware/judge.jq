# SPDX-License-Identifier: GPL-2.0
# Concludes from the values of one chase (figures.jq): [{result, what, why}]. The result is "passed", "failed" or
# "undecided". The latter means too few samples in the measured time.
#   jq --argjson expected '["l3", ...]' --argjson least N -f judge.jq
# least: the number of samples needed for a conclusion.
def points: . * 100 | round;
. as $f
| ("\($f.samples) samples of it in \($f.seconds) s, of \($f.all) in all") as $came
| if $f.samples >= $least then
	([$expected[] as $source | $f.sources[$source] // 0] | add / $f.samples) as $share
	| [{result: "passed", what: "pebsd sees the chase"},
		{result: (if $share >= 0.6 then "passed" else "failed" end), what: "served by \($expected | join(" "))",
		why: "\($share | points) % of its samples are, most are \($f.main)"}]
elif $f.samples == 0 and $f.all >= 10 * $least then
	[{result: "failed", what: "pebsd sees the chase", why: $came}]
else
	[{result: "undecided", what: "pebsd sees the chase", why: "\($came), and \($least) are needed"}]
end
+ (($f.malformed + $f.unexplained) as $lost
	| ("\($lost) of \($f.expected) samples were lost") as $why
	| if $lost <= 0.02 * $f.expected then [{result: "passed", what: "what was counted was seen"}]
	# Each CPU's last sample may still be on its way at the end of the measurement, which is a large share of few
	# samples.
	elif $f.expected < $least then [{result: "undecided", what: "what was counted was seen", $why}]
	else [{result: "failed", what: "what was counted was seen", $why}] end)
| map(.why //= "")
