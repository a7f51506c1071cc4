# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For tests: runs a headless Chromium in $work/ and controls it over pipes (DevTools protocol: JSON followed by a
# NUL). The browser's events, such as requests and exceptions, go to $work/events, one per line.

browser='' to='' from='' session='' calls=0 answer=''

# shellcheck disable=SC2154 # $work is the test's
browser_start() {
	mkfifo "$work/to" "$work/from"
	# Chromium's sandbox does not work for root. No connections to other hosts, no updates.
	chromium --headless --no-sandbox --disable-gpu --remote-debugging-pipe --user-data-dir="$work/browser" --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync --disable-extensions \
		--force-color-profile=srgb --hide-scrollbars --lang=en-US about:blank \
		3<"$work/to" 4>"$work/from" >"$work/browser.log" 2>&1 &
	browser=$!
	exec {to}>"$work/to" {from}<"$work/from"
	ask Target.createTarget '{"url":"about:blank"}'
	ask Target.attachToTarget "{\"targetId\":$(jq .result.targetId <<<"$answer"),\"flatten\":true}"
	session=$(jq -r .result.sessionId <<<"$answer")
	local domain
	for domain in Page Network Log Runtime; do
		ask "$domain.enable" '{}'
	done
	local listen='window.violations = []; addEventListener("securitypolicyviolation",
		event => violations.push(event.violatedDirective + " " + event.blockedURI));'
	ask Page.addScriptToEvaluateOnNewDocument "$(jq -cn --arg source "$listen" '{source: $source}')"
}

browser_end() {
	[ -z "$browser" ] || kill "$browser" 2>/dev/null || :
	[ -z "$browser" ] || wait "$browser" 2>/dev/null || :
}

# ask METHOD PARAMETERS: $answer has the result
ask() {
	local message
	calls=$((calls + 1))
	printf '{"id":%d,"method":"%s","params":%s%s}\0' "$calls" "$1" "${2//$'\n'/ }" "${session:+,\"sessionId\":\"$session\"}" >&"$to"
	while IFS= read -r -t 120 -d '' message <&"$from"; do
		case $message in
		"{\"id\":$calls,"*)
			answer=$message
			[[ $message != *'"error":{'* || $message == *'"result":'* ]] || fail "the browser on $1: $message"
			return ;;
		*) printf '%s\n' "$message" >>"$work/events" ;;
		esac
	done
	fail "the browser does not answer $1: $(tail -n 5 "$work/browser.log")"
}

# evaluate EXPRESSION: prints the value of the expression as JSON
evaluate() {
	ask Runtime.evaluate "$(jq -cn --arg expression "$1" '{expression: $expression, returnByValue: true, awaitPromise: true}')"
	[ "$(jq 'has("result") and (.result | has("exceptionDetails"))' <<<"$answer")" = false ] || fail "in the page, $1: $answer"
	jq -c .result.result.value <<<"$answer"
}

# becomes WHAT EXPECTED EXPRESSION: waits up to a minute until the expression has the value EXPECTED
becomes() {
	local found=''
	for _ in $(seq 120); do
		found=$(evaluate "$3")
		[ "$found" != "$2" ] || return 0
		sleep 0.5
	done
	fail "$1: expected $2, found $found"
}

# key KEY [TEXT]
key() {
	local text=${2:-}
	ask Input.dispatchKeyEvent "{\"type\":\"keyDown\",\"key\":\"$1\"${text:+,\"text\":\"$text\"}}"
	ask Input.dispatchKeyEvent "{\"type\":\"keyUp\",\"key\":\"$1\"}"
}

# screen WIDTH HEIGHT [light|dark]
screen() {
	ask Emulation.setDeviceMetricsOverride "{\"width\":$1,\"height\":$2,\"deviceScaleFactor\":1,\"mobile\":false}"
	ask Emulation.setEmulatedMedia "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"${3:-light}\"}]}"
}

# picture FILE: saves the whole page as it is now
picture() {
	ask Page.captureScreenshot '{"format":"png","captureBeyondViewport":true}'
	jq -r .result.data <<<"$answer" | base64 -d >"$1"
}
