/*
 * report.js — draws the page from its data: words and tables (words.js, which stands within this), and pictures in frames of Chart.js, which makes axes, bars and lines. What is chosen stands in the address
 * (#place=2&rank=5), so that it can be passed on. Must never fetch anything.
 */
'use strict';
(() => {
function page() {
const data = JSON.parse(document.getElementById('data').textContent);
const { summary, maps, timeline, whom } = data;
const places = summary.places, ranks = summary.by_rank, P = ranks.length;
const chosen = { place: 0, rank: -1 };
const MANY_ROWS = 40;

/* ---- Small things ---- */

const byId = id => document.getElementById(id);
function element(parent, tag, text, className) {
    const e = parent.appendChild(document.createElement(tag));
    if (text !== undefined) e.textContent = text;
    if (className) e.className = className;
    return e;
}
/* Three digits. */
function number(x) {
    if (!isFinite(x)) return '-';
    if (x === 0) return '0';
    const digits = Math.max(0, Math.min(20, 2 - Math.floor(Math.log10(Math.abs(x)))));
    return x.toLocaleString('en', { maximumFractionDigits: digits });
}
function time(ms) {
    return ms >= 1000 ? `${number(ms / 1000)} s` : ms >= 1 || ms === 0 ? `${number(ms)} ms` : `${number(ms * 1000)} µs`;
}
const percent = x => `${(100 * x).toFixed(1)} %`;
const nameOf = p => p.source || p.at;
const rankName = r => `rank ${r}${ranks[r] && ranks[r].host ? ` on ${ranks[r].host}` : ''}`;
function bytes(base64) {
    const text = atob(base64), to = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) to[i] = text.charCodeAt(i);
    return to;
}
const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
function numbers(base64, Type) {
    const raw = bytes(base64), size = Type.BYTES_PER_ELEMENT;
    if (!littleEndian)
        for (let i = 0; i < raw.length; i += size) raw.subarray(i, i + size).reverse();
    return new Type(raw.buffer);
}
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/* Dark to light in evenly seen steps, in any colour vision: points of the scale cividis (Nunez, Anderton and Renslow, 2018). */
const SCALE = [[0, 34, 78], [18, 53, 112], [59, 73, 108], [87, 93, 109], [112, 113, 115], [138, 134, 120], [165, 156, 116], [195, 179, 105], [225, 204, 85], [254, 232, 56]];
function shade(part) {
    const at = Math.max(0, Math.min(1, part)) * (SCALE.length - 1), low = Math.min(SCALE.length - 2, Math.floor(at));
    return SCALE[low].map((c, i) => Math.round(c + (at - low) * (SCALE[low + 1][i] - c)));
}

@words.js@
/* ---- Frames: axes by Chart.js, and in them what we draw ---- */

const frames = [];
let ready = false; /* until then frames are made, and nothing is drawn in them */
function axis(title, more) {
    return Object.assign({ type: 'linear', title: { display: true, text: title }, grid: { display: false } }, more);
}
/* draw(context, area, x, y, scales): the picture, clipped to the area; x and y turn a value into a pixel. */
function frame(id, scales, draw, more) {
    const chart = new Chart(byId(id), Object.assign({
        type: 'scatter',
        data: { datasets: [] },
        options: { animation: false, maintainAspectRatio: false, events: [], scales, plugins: { legend: { display: false }, tooltip: { enabled: false } } },
        plugins: [{
            id: 'picture',
            beforeDatasetsDraw(c) {
                if (!ready) return;
                const { ctx, chartArea: a } = c;
                ctx.save();
                ctx.beginPath();
                ctx.rect(a.left, a.top, a.width, a.height);
                ctx.clip();
                draw(ctx, a, v => c.scales.x.getPixelForValue(v), v => c.scales.y.getPixelForValue(v), c.scales);
                ctx.restore();
            }
        }]
    }, more));
    frames.push(chart);
    return chart;
}
function bars(id, labels, sets, x, y, more) {
    const chart = new Chart(byId(id), {
        type: 'bar',
        data: { labels, datasets: sets.map(s => Object.assign({ barPercentage: 1, categoryPercentage: labels.length > 60 ? 1 : .9 }, s)) },
        options: { animation: false, maintainAspectRatio: false, scales: { x: Object.assign({ title: { display: true, text: x }, grid: { display: false } }, more && more.x), y: Object.assign({ title: { display: true, text: y } }, more && more.y) }, plugins: { legend: { display: sets.length > 1 } } }
    });
    frames.push(chart);
    return chart;
}

/* Looking closer: x between low and high, y too; tell(x, y) says what is there, choose(x, y) takes it. */
function closer(chart, limits, tell, choose) {
    const canvas = chart.canvas, s = () => chart.options.scales;
    function view(axisName, from, to) {
        const [low, high] = limits()[axisName], width = Math.min(high - low, Math.max(to - from, (high - low) / 1e6, axisName === 'y' ? Math.min(1, high - low) : 0));
        from = Math.max(low, Math.min(from, high - width));
        s()[axisName].min = from;
        s()[axisName].max = from + width;
    }
    function zoom(factor, x, both) {
        view('x', x - (x - s().x.min) * factor, x + (s().x.max - x) * factor);
        if (both) {
            const y = (s().y.min + s().y.max) / 2;
            view('y', y - (y - s().y.min) * factor, y + (s().y.max - y) * factor);
        }
        chart.update();
    }
    function move(x, y) {
        view('x', s().x.min + x, s().x.max + x);
        view('y', s().y.min + y, s().y.max + y);
        chart.update();
    }
    function all() {
        for (const name of ['x', 'y']) view(name, ...limits()[name]);
        chart.update();
    }
    function at(event) {
        const box = canvas.getBoundingClientRect();
        return [chart.scales.x.getValueForPixel(event.clientX - box.left), chart.scales.y.getValueForPixel(event.clientY - box.top)];
    }
    let from = null;
    canvas.style.touchAction = 'none';
    canvas.addEventListener('wheel', event => {
        event.preventDefault();
        if (event.deltaY !== 0) zoom(event.deltaY > 0 ? 1.25 : .8, at(event)[0], event.shiftKey);
        else if (event.deltaX !== 0) move(Math.sign(event.deltaX) * (s().x.max - s().x.min) / 10, 0);
    }, { passive: false });
    canvas.addEventListener('pointerdown', event => {
        if (event.button !== 0) return;
        from = { at: at(event), x: event.clientX, y: event.clientY, moved: false };
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', event => {
        const [x, y] = at(event);
        if (from && (from.moved || Math.hypot(event.clientX - from.x, event.clientY - from.y) > 4)) {
            from.moved = true;
            move(from.at[0] - x, from.at[1] - y);
        }
        tell(x, y);
    });
    canvas.addEventListener('pointerup', event => {
        if (from && !from.moved) choose(...at(event));
        from = null;
    });
    for (const name of ['pointercancel', 'lostpointercapture']) canvas.addEventListener(name, () => { from = null; });
    canvas.addEventListener('keydown', event => {
        const wide = (s().x.max - s().x.min) / 5, high = (s().y.max - s().y.min) / 5, middle = (s().x.min + s().x.max) / 2;
        const keys = { '+': () => zoom(.7, middle, true), '=': () => zoom(.7, middle, true), '-': () => zoom(1.4, middle, true), 0: all, ArrowLeft: () => move(-wide, 0), ArrowRight: () => move(wide, 0), ArrowUp: () => move(0, -high), ArrowDown: () => move(0, high) };
        if (!keys[event.key]) return;
        event.preventDefault();
        keys[event.key]();
        tell((s().x.min + s().x.max) / 2, (s().y.min + s().y.max) / 2);
    });
    return { all };
}

/* A colour as a pixel has it in memory. */
const pixel = ([r, g, b], opaque = 255) => new Uint32Array(new Uint8Array([r, g, b, opaque]).buffer)[0];
/* A picture of so many rows and columns; pixelOf(i) is a field's pixel, 0 for none. */
function picture(rows, columns, pixelOf) {
    const canvas = document.createElement('canvas');
    canvas.width = columns;
    canvas.height = rows;
    const context = canvas.getContext('2d'), image = context.createImageData(columns, rows), pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < pixels.length; i++) pixels[i] = pixelOf(i);
    context.putImageData(image, 0, 0);
    return canvas;
}
/* Row k of a picture is of the ranks from ceil(k P / rows) on. */
function put(context, what, x0, x1, y) {
    context.imageSmoothingEnabled = false;
    if (P % what.height === 0) {
        context.drawImage(what, x0, y(-.5), x1 - x0, y(P - .5) - y(-.5));
        return;
    }
    for (let k = 0; k < what.height; k++) {
        const y0 = y(Math.ceil(k * P / what.height) - .5), y1 = y(Math.ceil((k + 1) * P / what.height) - .5);
        context.drawImage(what, 0, k, what.width, 1, x0, y0, x1 - x0, y1 - y0);
    }
}
function outline(context, area, y0, y1) {
    context.strokeStyle = colour('late');
    context.lineWidth = 1.5;
    context.strokeRect(area.left, y0, area.width, y1 - y0);
}
/* A rank's row is from half before its number to half behind it. */
const rankAxis = (title, ranks, reverse) => axis(title, { reverse, min: -.5, max: ranks - .5, ticks: { precision: 0, includeBounds: false, callback: v => Number.isInteger(v) ? v : '' } });
const rowAxis = (title, rows) => rankAxis(title, rows, true);

/* ---- One place ---- */

let map, heat, series, waits;
/* A field is a number of 0 (not known) to 255, the logarithm of a time; of each number the time in ms. */
function decode(m) {
    if (!m || m.parts) return m;
    m.parts = bytes(m.fields);
    m.ms = Float64Array.from({ length: 256 }, (_, f) => f ? Math.expm1((f - 1) / 254 * Math.log1p(m.most_us)) / 1000 : NaN);
    m.worst = numbers(m.worst_ms, Float32Array);
    return m;
}
function paint(m) {
    const most = m.most_us / 1000 || 1, log = byId('log').checked, of = Uint32Array.from(m.ms, (ms, f) => f ? pixel(shade(log ? (f - 1) / 254 : ms / most)) : 0);
    m.image = picture(m.rows, m.columns, i => of[m.parts[i]]);
}
const heatLimits = () => ({ x: [0, map ? map.calls : 1], y: [-.5, P - .5] });
function drawHeat(context, area, x, y) {
    if (!map) return;
    put(context, map.image, x(0), x(map.calls), y);
    if (chosen.rank >= 0) outline(context, area, y(chosen.rank - .5), y(chosen.rank + .5));
}
function tellHeat(x, y) {
    const r = Math.round(y);
    if (!map || !(x >= 0 && x < map.calls && r >= 0 && r < P)) return;
    const row = Math.floor(r * map.rows / P), column = Math.floor(x * map.columns / map.calls), value = map.ms[map.parts[row * map.columns + column]];
    const first = Math.ceil(column * map.calls / map.columns), last = Math.ceil((column + 1) * map.calls / map.columns) - 1;
    byId('heat-says').textContent = `${rankName(r)}, call${first < last ? `s ${first} to ${last}` : ` ${first}`}: ${isNaN(value) ? 'not known' : `about ${time(value)} after the first${first < last ? ', in the mean' : ''}`}`;
}
function showPlace(i) {
    chosen.place = i;
    const p = places[i];
    map = maps[i] && decode(maps[i].map);
    byId('place-title').textContent = p ? `One place: ${nameOf(p)}, ${p.call}` : 'One place';
    const late = p && p.waited_for.map(l => `${rankName(l.rank)}: ${time(1000 * l.wait_s)} in ${l.calls.toLocaleString('en')} waits`);
    byId('place-says').textContent = !p ? 'There is no call.' : late.length ? `Others have waited, all together, for ${late.join('; ')}.` : 'Nobody waited here for a late rank, or it is not known.';
    if (p) models(p);
    byId('heat').dataset.rows = map ? map.rows : 0;
    byId('heat').dataset.columns = map ? map.columns : 0;
    byId('heat-says').textContent = map ? '' : 'Pictures are made of the places with most waiting alone.';
    byId('scale-low').textContent = map ? '0' : '';
    byId('scale-high').textContent = map ? time(map.most_us / 1000) : '';
    if (map) paint(map);
    closeHeat.all();
    series.data.labels = map ? Array.from(map.worst, (_, c) => Math.ceil(c * map.calls / map.columns)) : [];
    series.data.datasets[0].data = map ? Array.from(map.worst, w => w < 0 ? NaN : w) : [];
    series.update();
    waits.data.datasets[0].data = maps[i] ? maps[i].waits : [];
    waits.update();
    lines.update();
    mark();
}

/* ---- Timeline ---- */

const events = timeline.events, first = numbers(events.first, Int32Array), start = numbers(events.start_ms, Float64Array), took = numbers(events.time_ms, Float32Array),
      waited = numbers(events.wait_ms, Float32Array), placeOf = numbers(events.place, Uint16Array), lateRank = numbers(events.late, Int32Array), known = numbers(timeline.known_ms, Float32Array);
let dense;
function makeDense() {
    const d = timeline.density;
    if (!d) return;
    const part = c => c.match(/[0-9a-f]{2}/gi).map(h => parseInt(h, 16)), kinds = [['waits', 'wait'], ['moves', 'move'], ['unknown', 'unknown']].map(([of, name]) => ({ shares: bytes(d[of]), part: part(colour(name)) }));
    dense = picture(d.rows, d.columns, i => {
        let all = 0, r = 0, g = 0, b = 0;
        for (const k of kinds) {
            const share = k.shares[i];
            all += share;
            r += share * k.part[0];
            g += share * k.part[1];
            b += share * k.part[2];
        }
        if (!all) return 0;
        r = r / all & 255, g = g / all & 255, b = b / all & 255, all = Math.min(255, all);
        return littleEndian ? (all << 24 | b << 16 | g << 8 | r) >>> 0 : (r << 24 | g << 16 | b << 8 | all) >>> 0;
    });
}
/* The first event of a rank that begins at or after a time. */
function seek(rank, at) {
    let low = first[rank], high = first[rank + 1];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (start[middle] < at) low = middle + 1; else high = middle;
    }
    return low;
}
/* Are rows so thin that calls are no longer told apart? */
const isBlur = y => !!dense && y(1) - y(0) < 2;
function drawTime(context, area, x, y, scales) {
    const fade = byId('fade').checked, from = scales.x.min, to = scales.x.max, perPixel = (to - from) / area.width, zero = x(0), wide = (x(to) - x(from)) / (to - from), at = ms => zero + wide * ms;
    const blur = isBlur(y);
    byId('fade').disabled = blur;
    byId('time-note').textContent = !dense ? '' : blur ? 'So many ranks are a blur: of each stretch of time, what part of it they wait and move data. Look closer to see calls.' : `Calls of ${time(events.least_ms)} and more are drawn one by one; of all others what part of the time they take.`;
    if (dense) context.globalAlpha = fade && !blur ? .35 : 1;
    if (dense) put(context, dense, x(0), x(timeline.end_ms), y);
    const colours = { wait: colour('wait'), move: colour('move'), unknown: colour('unknown') };
    context.globalAlpha = 1;
    for (let r = Math.max(0, Math.round(scales.y.min)); !blur && r < P && r < scales.y.max + .5; r++) {
        const top = y(r - .5), height = y(r + .5) - top, gap = height > 6 ? 1 : 0;
        let drawn = -1;
        for (let i = Math.max(first[r], seek(r, from) - 1); i < first[r + 1] && start[i] < to; i++) {
            const x0 = at(start[i]), x1 = at(start[i] + took[i]);
            if (x1 < drawn && took[i] < perPixel) continue;
            const came = waited[i] > 0 ? at(start[i] + waited[i]) : x0;
            context.globalAlpha = placeOf[i] === chosen.place || !fade ? 1 : .35;
            context.fillStyle = waited[i] < 0 ? colours.unknown : colours.move;
            context.fillRect(came, top + gap, Math.max(x1 - came, waited[i] > 0 ? 0 : .5), height - gap);
            context.fillStyle = colours.wait;
            if (came > x0) context.fillRect(x0, top + gap, came - x0, height - gap);
            drawn = Math.max(drawn, x0 + .5);
        }
    }
    context.globalAlpha = .35;
    context.fillStyle = colours.unknown;
    for (let r = Math.max(0, Math.round(scales.y.min)); r < P && r < scales.y.max + .5; r++)
        if (known[r] < timeline.end_ms * .999999) context.fillRect(at(known[r]), y(r - .5), at(timeline.end_ms) - at(known[r]), y(r + .5) - y(r - .5));
    context.globalAlpha = 1;
    if (chosen.rank >= 0) outline(context, area, y(chosen.rank - .5), y(chosen.rank + .5));
}
function tellTime(x, y) {
    const r = Math.round(y);
    if (!(r >= 0 && r < P)) return;
    let i = seek(r, x) - 1;
    const says = [rankName(r), time(x)];
    if (i >= first[r] && x <= start[i] + took[i]) {
        const p = places[placeOf[i]];
        says.push(`${p ? `${nameOf(p)} ${p.call}` : 'a call'} from ${time(start[i])}, ${time(took[i])}`);
        if (lateRank[i] >= 0) says.push(`waits ${time(waited[i])} for ${rankName(lateRank[i])}`);
        else says.push(waited[i] < 0 ? 'it is not known how long it waits' : 'waits for nobody');
    } else {
        says.push(x > known[r] ? 'not known' : timeline.density ? 'no long call' : 'computes, or is in other functions of MPI');
    }
    byId('time-says').textContent = says.join(', ');
}

/* ---- What is chosen ---- */

function showRank(r) {
    chosen.rank = r >= 0 && r < P && r !== chosen.rank ? r : -1;
    heat.update();
    lines.update();
    mark();
}
const choosePoint = (x, y) => showRank(Math.round(y));
function mark() {
    [...byId('places').tBodies[0].rows].forEach((row, i) => row.setAttribute('aria-current', i === chosen.place));
    [...byId('rank-table').tBodies[0].rows].forEach((row, i) => row.setAttribute('aria-current', rankOrder[i] === chosen.rank));
    try { history.replaceState(null, '', `#place=${chosen.place}${chosen.rank >= 0 ? `&rank=${chosen.rank}` : ''}`); } catch (error) { /* not of a file in some browsers */ }
}

/* ---- All of it ---- */

function theme() {
    Chart.defaults.color = colour('soft');
    Chart.defaults.borderColor = colour('line');
    for (const c of frames)
        for (const s of Object.values(c.options.scales)) {
            s.ticks = Object.assign(s.ticks || {}, { color: colour('soft') });
            s.title.color = colour('soft');
            if (s.grid) s.grid.color = colour('line');
        }
    for (const [chart, names] of [[series, ['late']], [waits, ['wait']], [rankBars, ['wait', 'move', 'unknown', 'late']]])
        names.forEach((name, i) => { chart.data.datasets[i].backgroundColor = chart.data.datasets[i].borderColor = colour(name); });
    rankBars.options.plugins.legend.labels = { color: colour('soft') };
    makeDense();
    if (ready) frames.forEach(c => c.update());
}
let whomMs, whomMost, rankBars, lines, closeHeat;
function main() {
    words();
    table('places', 'all-places', places.length, 'places', placeRow, showPlace);
    byId('messages-part').hidden = summary.messages.length === 0;
    table('messages', 'all-messages', summary.messages.length, 'places', messageRow, () => {});
    table('rank-table', 'all-ranks', P, 'ranks', rankRow, i => showRank(rankOrder[i]));
    heat = frame('heat', { x: axis('call', { min: 0, max: 1, ticks: { precision: 0, includeBounds: false } }), y: rowAxis('rank', P) }, drawHeat);
    closeHeat = closer(heat, heatLimits, tellHeat, choosePoint);
    series = new Chart(byId('series'), { type: 'line', data: { labels: [], datasets: [{ data: [], pointRadius: 0, borderWidth: 1 }] }, options: { animation: false, maintainAspectRatio: false, scales: { x: { title: { display: true, text: 'call' }, grid: { display: false } }, y: { title: { display: true, text: 'ms' }, beginAtZero: true } }, plugins: { legend: { display: false } } } });
    frames.push(series);
    const edges = ['< 1 µs', ...Array.from({ length: 32 }, (_, i) => time(10 ** (i / 4 - 3)))];
    waits = bars('waits', edges, [{ data: [] }], 'waits at least', 'calls');
    lines = frame('time', { x: axis('ms since the first call', { min: 0, max: timeline.end_ms, ticks: { includeBounds: false } }), y: rowAxis('rank', P) }, drawTime);
    closer(lines, () => ({ x: [0, timeline.end_ms], y: [-.5, P - .5] }), tellTime, choosePoint).all();
    rankBars = bars('ranks', ranks.map((_, r) => r), [{ label: 'waits', data: ranks.map(r => r.wait_s), stack: 'own' }, { label: 'moves data', data: ranks.map(r => r.time_s - r.wait_s - r.unknown_s), stack: 'own' }, { label: 'not known', data: ranks.map(r => r.unknown_s), stack: 'own' }, { label: 'each other rank waits for it', data: ranks.map(r => r.waited_for_s / Math.max(1, P - 1)), stack: 'others' }], 'rank', 's', { x: { stacked: true }, y: { stacked: true } });
    whomMs = numbers(whom.ms, Float32Array);
    whomMost = whomMs.reduce((a, b) => Math.max(a, b), 0);
    const G = whom.groups, whomImage = picture(G, G, i => whomMs[i] > 0 ? pixel(shade(whomMs[i] / whomMost)) : 0), group = v => Math.floor(v * G / P);
    const whomChart = frame('whom', { x: rankAxis('late rank', P, false), y: rowAxis('rank that waits', P) }, (context, area, x, y) => put(context, whomImage, x(-.5), x(P - .5), y));
    closer(whomChart, () => ({ x: [-.5, P - .5], y: [-.5, P - .5] }), (x, y) => {
        const who = Math.round(y), late = Math.round(x);
        if (late >= 0 && late < P && who >= 0 && who < P) byId('whom-says').textContent = `${rankName(who)} waits for ${rankName(late)}${G < P ? ' (and their neighbours)' : ''}: ${time(whomMs[group(who) * G + group(late)])}`;
    }, (x, y) => showRank(Math.round(y)));
    byId('whom-says').textContent = `The lightest field is ${time(whomMost)}.`;
    const scale = byId('scale').getContext('2d');
    for (let i = 0; i < 256; i++) {
        scale.fillStyle = `rgb(${shade(i / 255).join(',')})`;
        scale.fillRect(i, 0, 1, 1);
    }
    const wanted = new URLSearchParams(location.hash.slice(1)), place = Number(wanted.get('place')), rank = Number(wanted.get('rank') || -1);
    theme();
    showPlace(Number.isInteger(place) && place >= 0 && place < places.length ? place : 0);
    if (Number.isInteger(rank) && rank >= 0) showRank(rank);
    ready = true;
    frames.forEach(c => c.update());
    byId('log').onchange = () => { if (map) paint(map); heat.update(); };
    byId('fade').onchange = () => lines.update();
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', theme);
    for (const [name, dark] of [['beforeprint', true], ['afterprint', false]])
        window.addEventListener(name, () => { document.documentElement.classList.toggle('print', dark); theme(); });
    document.body.dataset.ready = 'yes';
    document.body.dataset.drawnMs = Math.round(performance.now());
}
main();
}
try {
    page();
} catch (error) {
    document.body.dataset.error = String(error.stack || error);
    document.getElementById('about').textContent = `This page cannot be drawn: ${error}`;
}
})();
