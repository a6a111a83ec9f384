/*
 * words.js — what the page says in words and in tables. It stands within report.js, whose data and small functions it uses.
 */
function words() {
    const mean = summary.mean_of_a_rank, list = byId('answer');
    byId('about').textContent = `${summary.command || 'a program'} — ${summary.ranks} ranks, ${summary.calls.toLocaleString('en')} calls of collectives, ${time(1000 * summary.run_s)}`;
    element(list, 'li', `Waiting for late ranks in collectives took ${percent(mean.waiting_share_of_run)} of the run: ${time(1000 * mean.waiting_s)} of ${time(1000 * summary.run_s)}, the mean over ${summary.ranks_with_files} ranks.`);
    for (const p of places.slice(0, 3).filter(p => p.waited_for.length)) {
        const late = p.waited_for[0], all = p.waits;
        element(list, 'li', `${nameOf(p)}, ${p.call}: ${time(1000 * p.wait_s)} of all ranks together; ${Math.round(100 * late.calls / all)} % of waits are for ${rankName(late.rank)}, ${time(1000 * late.wait_s / late.calls)} each.`);
    }
    if (mean.moving_s > 0)
        element(list, 'li', `Moving data took another ${time(1000 * mean.moving_s)} of a rank; early data, which moves before the last rank comes, could spare at most about ${time(1000 * mean.early_at_most_s)} of that.`);
    const worth = 0.01 * 1000 * summary.run_s; /* of the run, as in the text */
    const spared = places.filter(p => p.model && p.model.spared_ms_of_a_rank > worth).sort((a, b) => b.model.spared_ms_of_a_rank - a.model.spared_ms_of_a_rank)[0];
    if (spared) {
        const best = spared.model.algorithms[0];
        element(list, 'li', `By the model, ${best.setting}=${best.algorithm} would take ${time(best.mean_ms)} in place of ${time(spared.model.recorded_mean_ms)} at ${nameOf(spared)}: about ${time(spared.model.spared_ms_of_a_rank)} less of the run.`);
    }
    if (mean.messages_s > 0)
        element(list, 'li', `Messages between two ranks, and waiting for them, took another ${time(1000 * mean.messages_s)} of a rank.`);
    if (mean.unknown_s > 0)
        element(list, 'li', `Of calls that took another ${time(1000 * mean.unknown_s)} it is not known how long they waited.`);
    const lines = summary.warnings.split('\n').filter(l => l);
    if (lines.length) {
        byId('warnings').hidden = false;
        byId('warnings').firstElementChild.textContent = `${lines.length} thing${lines.length > 1 ? 's are' : ' is'} missing or wrong in these files`;
        lines.forEach(l => element(byId('warnings').lastElementChild, 'li', l));
    }
    byId('made').textContent = `PAT ${summary.pat}, ${summary.mpi_library}`;
    document.querySelectorAll('.hint').forEach(h => { h.textContent = 'Wheel, drag or + - and arrow keys to look closer, 0 for all; click to choose a rank.'; });
    const pop = byId('pop').tBodies[0], e = summary.pop;
    if (!e) element(element(pop.insertRow(), 'td'), 'span', 'Not known: too much is missing, or too many calls could not be held against those of other ranks.');
    if (e) for (const [name, value, what] of [
        ['Parallel efficiency', e.parallel_efficiency, 'the share of the run in which ranks compute: load balance x communication'],
        ['Load balance', e.load_balance, 'what ranks compute, the mean over the most'],
        ['Communication', e.communication_efficiency, 'what the busiest rank computes, over the run: serialisation x transfer'],
        ['Serialisation', e.serialisation_efficiency, 'on a network that takes no time: what is lost by waiting all the same'],
        ['Transfer', e.transfer_efficiency, 'what is lost by moving data']]) {
        const row = pop.insertRow();
        element(row, 'th', name).scope = 'row';
        element(row, 'td', value === null ? 'not known' : percent(value), 'n');
        element(row, 'td', what, 'wide');
    }
}

/* A table of which a part is shown at first. fill(row, i) fills a row; choose(i): it has been chosen. */
function table(id, buttonId, count, what, fill, choose) {
    const body = byId(id).tBodies[0], button = byId(buttonId);
    function add(from, to) {
        for (let i = from; i < to; i++) {
            const row = body.insertRow();
            row.className = 'choice';
            row.tabIndex = 0;
            row.onclick = () => choose(i);
            row.onkeydown = event => {
                if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); choose(i); }
            };
            fill(row, i);
        }
    }
    const first = count > MANY_ROWS * 1.25 ? MANY_ROWS : count;
    add(0, first);
    button.hidden = first === count;
    button.textContent = `Show all ${count} ${what}`;
    button.onclick = () => { add(first, count); button.hidden = true; mark(); };
}

const mostTime = places.reduce((most, p) => Math.max(most, p.time_s), 0) || 1;
function placeRow(row, i) {
    const p = places[i];
    element(row, 'td', nameOf(p), 'wide');
    element(row, 'td', p.call);
    element(row, 'td', p.calls.toLocaleString('en'), 'n');
    element(row, 'td', number(p.mean_bytes), 'n');
    element(row, 'td', number(1000 * p.time_s / p.calls), 'n');
    element(row, 'td', p.known_calls ? number(1000 * p.wait_s / p.known_calls) : '-', 'n');
    const bar = element(element(row, 'td'), 'div', undefined, 'bar');
    for (const [kind, share] of [['wait', p.wait_s], ['move', p.known_calls ? p.time_s - p.wait_s - p.unknown_s : 0], ['unknown', p.unknown_s]])
        element(bar, 'i', undefined, kind).style.width = `${100 * share / mostTime}%`;
    const late = p.waited_for[0];
    element(row, 'td', late ? `${rankName(late.rank)}, ${Math.round(100 * late.calls / p.waits)} % of waits` : '-');
}

function messageRow(row, i) {
    const m = summary.messages[i];
    row.className = '';
    row.tabIndex = -1;
    element(row, 'td', nameOf(m), 'wide');
    element(row, 'td', m.call);
    element(row, 'td', m.calls.toLocaleString('en'), 'n');
    element(row, 'td', number(m.mean_bytes), 'n');
    element(row, 'td', number(1000 * m.time_s / m.calls), 'n');
}

/* Of the chosen place. */
function models(p) {
    const body = byId('model').tBodies[0], m = p.model;
    byId('model-part').hidden = !m;
    body.replaceChildren();
    if (!m) return;
    const by = Object.entries(p.run_by).map(([name, calls]) => `${calls} by ${name}`).join(', ');
    byId('model-says').textContent = `By the model, under the arrivals of ${m.calls} of these calls, which took ${time(m.recorded_mean_ms)} in the mean (${by ? `of all calls ${by}` : 'run by the MPI library'}). The model knows one link, as it was measured at the end, and no processor: about.`;
    const most = Math.max(m.recorded_mean_ms, ...m.algorithms.map(a => a.mean_ms)) || 1;
    for (const a of m.algorithms) {
        const row = body.insertRow();
        element(row, 'td', a.algorithm);
        element(row, 'td', `${a.setting}=${a.algorithm}`, 'wide');
        element(row, 'td', number(a.mean_ms), 'n');
        element(element(element(row, 'td'), 'div', undefined, 'bar'), 'i', undefined, 'move').style.width = `${100 * a.mean_ms / most}%`;
    }
}

/* Of many those that others wait for most are first. */
const rankOrder = ranks.map((_, r) => r);
if (P > MANY_ROWS) rankOrder.sort((a, b) => ranks[b].waited_for_s - ranks[a].waited_for_s || a - b);
function rankRow(row, i) {
    const r = ranks[rankOrder[i]];
    element(row, 'td', String(rankOrder[i]), 'n');
    element(row, 'td', r.has_file ? r.host : '(no file)');
    element(row, 'td', r.calls.toLocaleString('en'), 'n');
    for (const s of [r.time_s, r.wait_s, r.waited_for_s, r.messages_s]) element(row, 'td', number(s), 'n');
}

