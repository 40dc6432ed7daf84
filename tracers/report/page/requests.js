/* The slowest outermost calls, each as a tree of the calls that it made. */

const DEEPEST_INDENT = 16; /* levels; deeper calls show their level */

function requestsSection(page) {
  const { report } = page;
  const nameOf = (index) => functionName(report, index);
  const processOf = (call) => processName(report, call.process, 'other processes');
  let made = [];

  /* Returns the rows of CALL's nodes, depth first. */
  function rows(call) {
    const below = call.nodes.map(() => []), found = [];
    call.nodes.forEach(([parent], i) => { if (parent >= 0) below[parent].push(i); });
    const todo = [[0, 0]];
    while (todo.length) {
      const [i, depth] = todo.pop();
      found.push(row(call, call.nodes[i], depth));
      todo.push(...below[i].reverse().map((child) => [child, depth + 1]));
    }
    return found;
  }

  function row(call, [, name, count, took, untold, more], depth) {
    const known = untold < count;
    const time = el('span', { class: 'barred number', title: known ? formatExactly(took) : null }, el('span', { class: 'share' }),
      el('span', {}, known ? formatTime(took) + (untold ? ' + ?' : '') : UNKNOWN));
    time.firstChild.style.width = (100 * Math.min(took / Math.max(call.took, 1), 1)).toFixed(2) + '%';
    const called = el('span', { class: 'called' }, depth > DEEPEST_INDENT ? el('span', { class: 'why' }, depth + ': ') : null,
      ...breakable(nameOf(name)), count > 1 ? el('b', {}, ' × ' + formatCount(count)) : null,
      untold ? el('span', { class: 'why' }, ' ' + (count === 1 ? 'its time is' : formatCounted(untold, 'time') + (untold === 1 ? ' is' : ' are')) + ' not known') : null,
      more ? el('span', { class: 'why' }, ' and ' + formatCounted(more, 'call') + ' inside, left out') : null);
    called.style.paddingLeft = 10 * Math.min(depth, DEEPEST_INDENT) + 'px';
    return el('li', { class: 'node' }, called, time);
  }

  function one(call, open) {
    const list = el('ul', { class: 'nodes' });
    const details = el('details', { open, ontoggle: () => { if (details.open && !list.firstChild) list.append(...rows(call)); } },
      el('summary', {}, el('code', {}, ...breakable(nameOf(call.name))), ' ', el('b', {}, formatTime(call.took)), ' at ' + formatAt(call.at) + ', ',
        ...breakable(processOf(call)), call.error ? el('span', { class: 'error' }, ' ✗ ' + call.outcome) : null),
      call.args === null ? null : el('p', { class: 'why text' }, call.args + (call.outcome === null ? '' : ' → ' + call.outcome)), list);
    if (open) list.append(...rows(call));
    return details;
  }

  return {
    id: 'requests',
    title: 'Call trees',
    empty: report.requests.length ? null : 'No outermost call has a recorded beginning and end.',
    draw(body) {
      made = report.requests.map((call, i) => one(call, i === 0));
      body.append(el('p', { class: 'why' }, 'The slowest calls that no traced call made, with the calls inside them. A row is one call, or ' +
        'several of one function that follow each other, with their time in total.'), ...made);
    },
    search(words) {
      const found = report.requests.map((call) => has(words, processOf(call), call.args, call.outcome, ...call.nodes.map(([, name]) => nameOf(name))));
      found.forEach((hit, i) => { made[i].hidden = !hit; });
      return formatCount(found.filter((hit) => hit).length) + ' of ' + formatCount(found.length);
    },
  };
}
