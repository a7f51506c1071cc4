// SPDX-License-Identifier: GPL-2.0
// For test_page.sh: replies to the requests of the page, always the same ones, in place of a server's. The browser
// evaluates this before the page. `fixture.mode` chooses what is special: paused (without figures of a range), stopped,
// no-history, no-zoom, no-zoom-yet, unknown, twice (an alert that fired before; `fixture.ended`: both are over), lost
// (an alert without an end), several (alerts), many (200 cgroups), counts (an event without a latency), stalls (an event
// without a latency and sources), no-stores (to contended lines), parts (answers of five bins; refuses the third part
// twice), empty (histograms without samples, all of them if `fixture.blank`), names (short names differ between the
// replies). While `fixture.hold` is a promise, no reply comes; while `fixture.holdExplain` is one, no explanation. While
// `fixture.busy` is true, no figures of a range.
// The story, on 2026-01-15: from 11:53 to 11:56 a backup runs on the other node, and the loads of a database become
// remote. At 11:57 a deploy of the shop brings a contended line, which is still there at 12:00, the time of the page.
'use strict';
window.fixture = {mode: '', asked: [], hold: null};
(() => {
	const END = Date.parse('2026-01-15T12:00:00Z') / 1000;
	const at = time => Date.parse('2026-01-15T' + time + 'Z') / 1000;
	const text = s => new Date(1000 * s).toISOString().replace('.000', '');
	const latencies = {l1: 38, lfb: 100, l2: 52, l3: 78, local_dram: 290, remote_dram: 520, remote_cache: 400};
	const services = [
		{cgroup: '/system.slice/postgresql@15-main.service', name: 'postgresql@15-main', labels: {unit: 'postgresql@15-main.service'}, load: 100,
			sources: {l1: 20, lfb: 10, l2: 15, l3: 60, local_dram: 40, remote_dram: 2}},
		{cgroup: '/kubepods.slice/pod7/cri-6d4f.scope', name: 'shop/checkout-6d4f \u00b7 app',
			labels: {namespace: 'shop', pod: 'checkout-6d4f', container: 'app', team: 'payments'}, load: 60,
			sources: {l1: 40, lfb: 5, l2: 25, l3: 40, local_dram: 8}},
		{cgroup: '/batch.slice/nightly-7f.service', name: 'nightly-7f', load: 4, sources: {l1: 5, lfb: 60, local_dram: 20, remote_dram: 10}},
		{cgroup: '/system.slice/nginx.service', name: 'nginx', load: 25, sources: {l1: 60, l2: 20, l3: 30, local_dram: 3}},
		{cgroup: '/user.slice/<img src=x onerror=alert(1)>', name: '<script>alert(1)</script>\u202e', load: 6, sources: {l1: 30, l2: 10, l3: 12}},
		{cgroup: '/user.slice/user-1000.slice/session-3.scope', load: 3, sources: {l1: 30, l3: 12, local_dram: 2}},
	];

	// The samples of a service by source in a range, at 10 s each.
	const phase = t => t >= at('11:53:00') && t < at('11:56:00') ? 'backup' : t >= at('11:57:00') ? 'deploy' : '';
	function samplesOf(service, since, until) {
		const all = {};
		for (let t = since; t < until; t += 10) {
			const wave = 1 + 0.06 * Math.sin(t / 17 + service.load), now = phase(t);
			for (const [source, n] of Object.entries(service.sources)) {
				let factor = service.load / 20;
				if (now === 'backup' && service.name === 'nightly-7f')
					factor *= 30;
				if (now === 'backup' && service.name === 'postgresql@15-main' && source === 'local_dram')
					factor *= 0.4;
				if (now === 'backup' && service.name === 'postgresql@15-main' && source === 'remote_dram')
					factor *= 45;
				all[source] = (all[source] || 0) + Math.round(n * factor * wave);
			}
			if (now === 'deploy' && (service.name || '').startsWith('shop/'))
				all.remote_cache = (all.remote_cache || 0) + Math.round(90 * wave);
		}
		return all;
	}

	const edges = [];
	for (let power = 5; power < 13; power++)
		for (let k = 1; k <= 8; k++)
			edges.push(2 ** power + k * 2 ** (power - 3));
	// The parts of the buckets below a bell around the latency of the source.
	const bells = Object.fromEntries(Object.entries(latencies).map(([source, mean]) => {
		const parts = edges.map(le => Math.exp(-((Math.log2(le / mean) / 0.35) ** 2)) + 0.01 * Math.exp(-((Math.log2(le / mean / 3) / 0.8) ** 2)));
		const whole = parts.reduce((a, b) => a + b, 0);
		return [source, parts.map(part => part / whole)];
	}));

	function eventOf(samples, histograms) {
		const fine = new Map(), sources = {};
		for (const [source, n] of Object.entries(samples)) {
			const coarse = new Map();
			bells[source].forEach((part, i) => {
				const here = Math.round(part * n), power = 2 ** Math.ceil(Math.log2(edges[i]));
				if (!here)
					return;
				fine.set(edges[i], (fine.get(edges[i]) || 0) + here);
				coarse.set(power, (coarse.get(power) || 0) + here);
			});
			const list = [...coarse].map(([le, k]) => ({le, samples: k})), count = list.reduce((a, b) => a + b.samples, 0);
			if (count)
				sources[source] = {samples: count, latency_sum: count * latencies[source], ...histograms ? {histogram: list} : {}};
		}
		const histogram = [...fine].sort((a, b) => a[0] - b[0]).map(([le, k]) => ({le, samples: k}));
		const count = histogram.reduce((a, b) => a + b.samples, 0), sum = Object.values(sources).reduce((a, b) => a + b.latency_sum, 0);
		const quantile = q => {
			let seen = 0;
			const b = histogram.find(one => (seen += one.samples) >= q * count) || {le: 32};
			const low = edges[edges.indexOf(b.le) - 1] || 32;
			return {value: (low + b.le) / 2, low, high: b.le, ...count < 100 && q > 0.9 ? {few: true} : {}};
		};
		if (fixture.mode === 'stalls')
			return {pmu: 'cpu', samples: count, weighted: {samples: 10000 * count}};
		if (fixture.mode === 'counts')
			return {pmu: 'cpu', samples: count, weighted: {samples: 10000 * count},
				sources: Object.fromEntries(Object.entries(sources).map(([source, {samples: n}]) => [source, {samples: n}]))};
		return {pmu: 'cpu', ldlat: 30, latency_kind: 'use', samples: count, weighted: {samples: 10000 * count, latency_sum: 10000 * sum},
			latency: {sum, mean: sum / Math.max(1, count), p50: quantile(0.5), p90: quantile(0.9), p95: quantile(0.95), p99: quantile(0.99), p999: quantile(0.999)},
			...histograms ? {histogram} : {}, sources, snoop: {none: count - (sources.remote_cache ? sources.remote_cache.samples : 0),
				...sources.remote_cache ? {hitm: sources.remote_cache.samples} : {}}, tlb: {hit: count}, locked: 0, blocked: 0};
	}

	const together = list => list.reduce((all, samples) => {
		for (const [source, n] of Object.entries(samples))
			all[source] = (all[source] || 0) + n;
		return all;
	}, {});
	const waitsOf = (event, length) => {
		const lost = (event.weighted.latency_sum || event.weighted.samples) / length / 4e8;
		return {wait: {value: 0.4, low: 0.35, high: 0.45}, cores_used: {value: 2.5 * lost}, cores_lost: {value: lost, low: 0.9 * lost, high: 1.1 * lost}};
	};
	const trendOf = service => ({bin_s: 60, samples: Array(60).fill(1000), mean: Array.from({length: 60}, (_, i) =>
		i === 10 || ['counts', 'stalls'].includes(fixture.mode) ? null : eventOf(samplesOf(service, END - 3600 + 60 * i, END - 3540 + 60 * i)).latency.mean)});

	// Names are the shortest ones in a reply, as if one more cgroup of this name were in a range.
	const nameOf = (s, live) => fixture.mode !== 'names' ? s.name : s === services[0] ? live ? 'worker' : 'a/worker' :
		s === services[3] ? live ? 'nginx' : 'worker' : s.name;
	function figures(since, until, live) {
		const host = eventOf(together(services.map(s => samplesOf(s, since, until))));
		const cgroups = services.map(s => {
			const loads = eventOf(samplesOf(s, since, until), true);
			if (live)
				loads.trend = trendOf(s);
			return {cgroup: s.cgroup, ...s.name ? {name: nameOf(s, live)} : {}, ...s.labels ? {labels: s.labels} : {}, events: {loads}, waits: waitsOf(loads, until - since)};
		});
		return {version: 1, origin: 'kernel', since: text(since), window_s: until - since, samples: {seen: host.samples, lost: {}, unsampled_seconds: {}},
			total: {events: {loads: host}}, waits: waitsOf(host, until - since), taken: text(END), cgroups};
	}

	let hundreds = null;
	function many() {
		const one = figures(END - 10, END, true);
		hundreds = hundreds || Array.from({length: 200}, (_, i) => ({...one.cgroups[i % services.length], cgroup: '/kubepods.slice/pod' + i + '/cri-' + i + '.scope',
			name: 'shop-' + i % 40 + '/api-' + String(i).padStart(5, '0') + ' \u00b7 app', labels: {namespace: 'shop-' + i % 40}}));
		return {...one, cgroups: hundreds};
	}

	function top() {
		const reply = fixture.mode === 'many' ? many() : figures(END - 10, END, true);
		reply.interval_s = 1;
		return reply;
	}

	function timeline(query) {
		const since = Date.parse(query.get('since')) / 1000, until = Date.parse(query.get('until')) / 1000, n = Number(query.get('bins'));
		const step = (until - since) / n, of = services.filter(s => !query.has('cgroup') || s.cgroup === query.get('cgroup'));
		const bins = [];
		for (let i = 0; i < n; i++) {
			const from = since + i * step, to = from + step;
			if (from >= at('11:51:00') && to <= at('11:51:40') || to > END || !of.length)
				continue;
			const loads = eventOf(together(of.map(s => samplesOf(s, from, to))), query.has('histograms'));
			if (fixture.mode === 'empty' && query.has('histograms') && (query.has('cgroup') || fixture.blank || i % 2))
				loads.histogram = query.has('cgroup') ? [{le: 64, samples: 0}] : [];
			bins.push({since: text(from), until: text(to), covered_s: step, events: {loads}, waits: waitsOf(loads, step)});
		}
		const first = Number(query.get('offset')), next = first + 5;
		return {version: 1, origin: 'kernel', since: text(since), until: text(until), bin_s: step, taken: text(END),
			...fixture.mode === 'parts' ? {bins: bins.slice(first, next), ...next < bins.length ? {next} : {}} : {bins},
			gaps: [{since: '2026-01-15T11:51:00Z', until: '2026-01-15T11:51:40Z'},
				...fixture.mode === 'lost' ? [{since: '2026-01-15T11:58:20Z', until: '2026-01-15T11:58:50Z'}] : []], notes: []};
	}

	const shop = services[1], database = services[0];
	const shared = () => ({rule: 'shared-lines', cgroup: shop.cgroup, name: shop.name, severity: 'warning', state: 'firing', since: '2026-01-15T11:57:20Z'});
	const ended = (resolved, worst) => fixture.mode === 'twice' && (fixture.ended || resolved < '2026-01-15T11:59') ? {state: 'inactive', resolved, worst, end: 'clear'} : {};
	// Eight alerts that are over, and one that fires if `fixture.fresh`.
	const several = () => fixture.mode === 'several' ? Array.from({length: 8}, (_, i) => ({rule: 'brief-' + i, cgroup: services[3].cgroup, name: 'nginx', severity: 'page',
		state: 'inactive', since: '2026-01-15T11:5' + i + ':10Z', breached: '2026-01-15T11:5' + i + ':10Z', fired: '2026-01-15T11:5' + i + ':20Z',
		resolved: '2026-01-15T11:5' + i + ':50Z', end: 'clear'})) : [];
	const current = () => [
		...fixture.fresh ? [{rule: 'fresh', cgroup: database.cgroup, severity: 'page', state: 'firing', since: '2026-01-15T11:59:50Z', breached: '2026-01-15T11:59:50Z'}] : [],
		...fixture.ended || fixture.mode === 'lost' ? [] : [shared()],
		{rule: 'slow-pages', cgroup: services[3].cgroup, name: 'nginx', severity: 'page', state: 'pending', since: '2026-01-15T11:59:00Z',
			...fixture.mode === 'unknown' ? {held: 'pending', state: 'unknown'} : {}},
		...fixture.mode === 'names' ? [{rule: 'slow-pages', cgroup: '/c.slice/worker.service', name: 'worker', state: 'firing', since: '2026-01-15T11:59:20Z'}] : [],
	];
	const old = () => [
		...several(),
		{rule: 'remote-loads', cgroup: database.cgroup, name: database.name, severity: 'critical', state: 'inactive', metric: 'share:remote', unit: 'share',
			value: 0.021, worst: 0.43, above: 0.3, since: '2026-01-15T11:53:10Z', breached: '2026-01-15T11:53:10Z', fired: '2026-01-15T11:53:20Z',
			resolved: '2026-01-15T11:56:10Z', end: 'clear'},
		{...shared(), metric: 'share:hitm', unit: 'share', value: 0.43, above: 0.2, breached: '2026-01-15T11:57:10Z', fired: '2026-01-15T11:57:20Z',
			...ended('2026-01-15T11:59:50Z', 0.44)},
		...fixture.mode === 'twice' ? [{...shared(), metric: 'share:hitm', unit: 'share', value: 0.1, above: 0.2, since: '2026-01-15T11:50:30Z',
			breached: '2026-01-15T11:50:30Z', fired: '2026-01-15T11:50:40Z', ...ended('2026-01-15T11:52:10Z', 0.21)}] : [],
		{...current().at(-1), metric: 'p99', unit: 'cycles', value: 540, above: 512, breached: '2026-01-15T11:59:00Z',
			...fixture.mode === 'unknown' ? {unknown: 'samples'} : {}},
	];
	const explain = query => ({version: 1, rule: {rule: query.get('rule')}, judged: old().filter(a => a.rule === query.get('rule') && a.cgroup === query.get('cgroup'))
		.map(a => ({...a, ...query.has('since') ? {state: 'firing', resolved: undefined} : {}}))
		.map(a => ({...a, sentences: ['the share is ' + Math.round(100 * (query.has('since') && a.worst || a.value)) + ' %', 'the rule fires when the share is proven to be above its limit for 10 s', 'the alert has been firing since 2026-01-15T11:57:20Z', 'pebsctl neighbours shows possible causes']}))});

	// The parts are those of the latency. Most samples are of L1.
	const parts = (sources, whole) => Object.fromEntries(Object.entries(sources).map(([source, n]) => [source, Math.round(n * whole / 10)]));
	const node = (name, latency, sources, children, more) => ({name, samples: Math.round(latency / 100), children: children || [], ...more,
		...fixture.mode === 'counts' ? {sources: parts(sources, latency / 100)} :
			{latency, source_latencies: parts(sources, latency), sources: {l1: Math.round(latency / 100)}}});
	function zoom(query) {
		const accesses = [0, 1, 2, 3].map(cpu => ({cpu, offset: 16 * cpu, size: 8, samples: 120 - 9 * cpu, stores: cpu % 2 || fixture.mode === 'no-stores' ? 0 : 40, 'function': cpu % 2 ? 'read_stats' : 'count_order'}));
		return {version: 1, origin: 'kernel', cgroup: query.get('cgroup'), until: text(END), seconds: 10, samples: 1000, latency: 100000,
			flame: node('checkout', 100000, {l3: 6, remote_cache: 4}, [
				node('main', 100000, {l3: 6, remote_cache: 4}, [
					node('handle_order', 70000, {remote_cache: 7, l3: 3}, [
						node('count_order', 48000, {remote_cache: 9, l3: 1}, [], {file: 'src/stats.c', line: 118}),
						node('<b>parse</b>', 22000, {l1: 4, l3: 6})]),
					node('reload_prices', 30000, {local_dram: 8, l3: 2}, [node('hash_lookup', 26000, {local_dram: 1}, [], {file: 'src/prices.c', line: 40})])])]),
			lines: [...fixture.mode === 'parts' ? Array(20).fill({object: 'queue', samples: 900, hitm: 800, share: 0.01, accesses}) : [],
				{line: '0x7f12a4c0', object: 'stats+64', samples: 426, hitm: 410, share: 0.34, accesses},
				{line: '0x7f12b000', samples: 31, hitm: 20, share: 0.02, accesses: accesses.slice(0, 2)}]};
	}

	let refused = 0;
	const off = 'No history is stored: keep = no in [history]. `keep = yes` in [history] stores one, see pebsd.conf(5).\n';
	// The status and the reply to a request.
	function reply(path, query) {
		if (path === '/readyz')
			return fixture.mode === 'paused' ? [503, 'paused until 2026-01-15T12:10:00Z\n'] : [200, 'ok\n'];
		if (path === '/top.json')
			return [200, top()];
		if (path === '/alerts.json' && !query.has('since'))
			return [200, {version: 1, alerts: current(), unlisted: 0}];
		if (path === '/zoom.json')
			return fixture.mode === 'no-zoom' ? [403, 'Zooms are not served. Set "profiles = yes" in [export].\n'] :
				fixture.mode === 'no-zoom-yet' && !query.has('seconds') ? [404, 'No zoom.\n'] : [200, zoom(query)];
		if (fixture.mode === 'parts' && refused < 2 && query.get('offset') === '10' || fixture.busy && path === '/range.json')
			return refused++, [503, 'Too many requests.\n'];
		if (fixture.mode === 'no-history' && path !== '/explain.json')
			return [404, off];
		if (fixture.mode === 'paused' && path === '/range.json')
			return [404, 'Nothing is stored for this time. The history reaches from 2026-01-15T11:58:00Z to 2026-01-15T12:00:00Z.\n'];
		return [200, {'/timeline.json': timeline, '/explain.json': explain, '/alerts.json': () => ({version: 1, alerts: old(), taken: text(END)}),
			'/range.json': () => figures(Date.parse(query.get('since')) / 1000, Date.parse(query.get('until')) / 1000)}[path](query)];
	}

	window.fetch = async address => {
		const url = new URL(address, location.href);
		fixture.asked.push(url.pathname + url.search);
		if (fixture.mode === 'stopped')
			throw new TypeError('Failed to fetch');
		await fixture.hold;
		if (url.pathname === '/explain.json')
			await fixture.holdExplain;
		const [status, body] = reply(url.pathname, url.searchParams);
		return new Response(typeof body === 'string' ? body : JSON.stringify(body), {status, headers: {Date: new Date(1000 * END).toUTCString()}});
	};
})();
