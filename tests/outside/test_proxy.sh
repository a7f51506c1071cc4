#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# TLS and a password through a proxy: the nginx configuration in pebsd(8), over TCP and over a UNIX socket.
set -u
fail() {
	printf '%s\n' "$*" >&2
	[ ! -s "$work/log" ] || sed 's/^/pebsd: /' "$work/log" >&2
	[ ! -s "$work/nginx.log" ] || sed 's/^/nginx: /' "$work/nginx.log" >&2
	exit 1
}
for program in nginx openssl curl; do
	command -v "$program" >/dev/null || {
		echo "skipped: $program is not here (Debian: nginx-light, openssl, curl)"
		exit 77
	}
done

work=$(mktemp -d)
daemon='' proxy=''
trap 'kill $daemon $proxy 2>/dev/null; wait; rm -rf "$work"' EXIT
# No other test of the same run gets these ports (tests/run.sh).
ports=()
for candidate in $(shuf -i 20000-29999 -n 50); do
	[ ${#ports[@]} -lt 2 ] || break
	mkdir "${TEST_PORTS:-$work}/port-$candidate" 2>/dev/null || continue
	(exec 3<>"/dev/tcp/127.0.0.1/$candidate") 2>/dev/null || ports+=("$candidate")
done
port=${ports[0]} tls=${ports[1]}
openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext 'subjectAltName=DNS:localhost' \
	-keyout "$work/pebsd.key" -out "$work/pebsd.crt" 2>"$work/said" || fail "no certificate: $(<"$work/said")"
printf 'prometheus:%s\n' "$(openssl passwd -apr1 secret)" >"$work/pebsd.htpasswd"

# The example from the manual, with this test's paths and ports.
sed -n '/^server {$/,/^}$/p' daemon/man/pebsd.8 | sed 's/\\-/-/g' >"$work/example"
grep -q auth_basic_user_file "$work/example" || fail "the manual has no such example: $(<"$work/example")"

# serve LISTEN PROXY_PASS
serve() {
	"$PEBSD" --origin model --socket "$work/control.sock" --listen "$1" >"$work/log" 2>&1 &
	daemon=$!
	{
		echo 'daemon off; error_log stderr; user root;'
		echo "pid $work/nginx.pid; events {} http { access_log off;"
		for kind in client_body proxy fastcgi uwsgi scgi; do
			echo "${kind}_temp_path $work/$kind;"
		done
		sed "s,/etc/nginx/,$work/,; s,listen 9755,listen 127.0.0.1:$tls,; s,http://127.0.0.1:9754,$2," "$work/example"
		echo '}'
	} >"$work/nginx.conf"
	nginx -c "$work/nginx.conf" 2>"$work/nginx.log" &
	proxy=$!
	for _ in $(seq 600); do
		[ "$(get --user prometheus:secret /healthz)" != 200 ] || return 0
		sleep 0.1
	done
	fail 'nothing is served through the proxy'
}

stop() {
	kill "$daemon" "$proxy"
	wait
	daemon='' proxy=''
}

# get [CURL_OPTION...] PATH: prints the HTTP status
get() {
	curl --silent --max-time 60 --cacert "$work/pebsd.crt" --output "$work/answer" --write-out '%{http_code}' "${@:1:$#-1}" \
		"https://localhost:$tls${!#}"
}

for listen in "127.0.0.1:$port" "unix:$work/metrics.sock"; do
	case $listen in
	unix:*) pass=http://$listen: ;;
	*) pass=http://$listen ;;
	esac
	serve "$listen" "$pass"
	[ "$(get /metrics)" = 401 ] || fail "$listen: without a password: $(<"$work/answer")"
	[ "$(get --user prometheus:wrong /metrics)" = 401 ] || fail "$listen: with a wrong password: $(<"$work/answer")"
	[ "$(get --user prometheus:secret /metrics)" = 200 ] || fail "$listen: with the password: $(<"$work/answer")"
	grep -q '^pebsd_build_info' "$work/answer" || fail "$listen: no metrics: $(head "$work/answer")"
	stop
done
