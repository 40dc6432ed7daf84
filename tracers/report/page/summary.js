/* The summary: counts of the recording, and everything in it that is incomplete. */

function summarySection(page) {
  const { report } = page;

  function tile(value, text, exactly = null) {
    return el('div', { class: 'tile', title: exactly }, el('dd', {}, value), el('dt', {}, text));
  }

  function tiles() {
    const { summary } = report;
    const counted = [['events', 'events'], ['calls', 'calls'], ['errors', 'exceptions'], ['functions', 'functions'],
      ['processes', 'processes'], ['ports', 'ports'], ['sent', 'messages sent'], ['received', 'received']];
    const { duration } = report;
    return el('dl', { class: 'tiles' },
      duration === null ? null : tile(formatTime(duration), 'from first to last', formatExactly(duration)),
      ...counted.filter(([key]) => summary[key] > 0 || key === 'events')
        .map(([key, text]) => tile(formatCount(summary[key]), text)));
  }

  function when() {
    const { kind, unix } = report.time;
    const date = unix === null ? null : formatDate(unix, 0);
    const clock = { none: 'No time was recorded', system: 'System time', cpu: 'CPU time', monotonic: 'Monotonic time',
      strict: 'Strictly monotonic time' }[kind] || kind;
    return el('p', { class: 'when' }, clock + (date ? ', from ' + date : '') +
      (kind === 'none' ? '; to see times, trace with a flag like monotonic_timestamp' : ''));
  }

  /* Returns [text, count, cure] of everything doubtful or limited: the host's counts of each stream, then the tracer's
   * repairs. The cure is null if nothing is doubtful. */
  function faults() {
    const found = [];
    for (const stream of report.streams)
      for (const [key, text, cure] of [['lost', 'events lost', 'trace less: fewer functions or processes'],
        ['gaps', 'gaps', 'keep all files of the recording'], ['damaged', 'damaged places', 'let the recording end before it is copied']])
        if (stream[key]) found.push([stream.name + ': ' + text, stream[key], cure]);
    return found.concat(report.repairs);
  }

  function warnings() {
    const found = faults().filter(([, , cure]) => cure !== null);
    if (found.length === 0)
      return el('p', { class: 'note good' }, el('b', {}, '✓ '), report.streams.length ?
        'Nothing was lost or damaged, and nothing is doubtful.' : 'Nothing is doubtful.');
    return el('section', { class: 'note bad', 'aria-label': 'Warnings' },
      el('h3', {}, '⚠ This page is not exact or not complete'),
      el('ul', {}, ...found.map(([text, count, cure]) => el('li', {}, ...breakable(text + ': '), el('b', {}, formatCount(count)),
        el('span', { class: 'cure' }, ' – ', ...breakable(cure))))));
  }

  /* Returns limits of the page, and reasons why sections are not here. */
  function quiet() {
    const limits = faults().filter(([, , cure]) => cure === null).map(([text, count]) => text + ': ' + formatCount(count));
    const absent = page.absent.map((section) => section.title + ': ' + section.empty);
    return limits.length + absent.length ? el('ul', { class: 'quiet' }, ...limits.concat(absent).map((text) => el('li', {}, text))) : null;
  }

  /* Warns that the page has only the first records, since the user interrupted `report`. */
  function interruption() {
    const records = report.streams.reduce((sum, stream) => sum + stream.records, 0);
    return el('p', { class: 'note bad', role: 'alert' },
      el('b', {}, '⚠ `report` was interrupted: this page shows only the first ' + formatCount(records) + ' records.'));
  }

  function tags() {
    const most = report.tags.length ? report.tags[0][1] : 0;
    return table('Events', ['tag', 'events'], report.tags.map(([tag, count]) =>
      [tag, barCell(formatCount(count), count / most)]));
  }

  function streams() {
    return table('Streams', ['stream', 'records', 'lost', 'gaps', 'damaged'], report.streams.map((stream) =>
      [el('span', {}, ...breakable(stream.name)), ...['records', 'lost', 'gaps', 'damaged'].map((key) => formatCount(stream[key]))]));
  }

  function table(label, titles, rows) {
    const cells = (tag, row, scope) => el('tr', {},
      ...row.map((cell, i) => el(tag, { scope, class: i ? 'number' : null }, cell)));
    return el('div', { class: 'scroll' }, el('table', { 'aria-label': label, class: 'small' },
      el('thead', {}, cells('th', titles, 'col')),
      el('tbody', {}, ...rows.map((row) => cells('td', row, null)))));
  }

  return {
    id: 'summary',
    title: 'Summary',
    draw(body) {
      if (report.interrupted) body.append(interruption());
      body.append(...[when(), tiles(), warnings(), quiet(), el('div', { class: 'beside' },
        report.streams.length ? streams() : null, report.tags.length ? tags() : null)].filter((part) => part !== null));
    },
  };
}
