/* The functions, by their own time. */

function functionsSection(page) {
  const { report } = page;
  const [NAME, CALLS, ERRORS, OPEN, UNTOLD, TOTAL, OWN, P50, P90, P99, MAX, ON, OFF, OWN_ON] =
    Array.from({ length: 14 }, (_, i) => i);
  const timed = report.functions.some((row) => row[OWN] !== null);
  const scheduled = report.functions.some((row) => row.length > ON);
  const unended = report.functions.some((row) => row[OPEN] || row[UNTOLD]);
  const allOwn = report.functions.reduce((sum, row) => sum + row[OWN], 0);
  const allCalls = report.functions.reduce((sum, row) => sum + row[CALLS], 0);
  const nameOf = (row) => functionName(report, row[NAME]);

  function nameCell(row) {
    const name = nameOf(row), slow = report.slowOf.get(row[NAME]);
    if (row[NAME] === REST) return el('i', {}, name);
    return el('span', {}, link(name, () => page.follow(name, 'flame'), { title: 'mark the function in the flame graph' }),
      slow ? ' ' : null,
      slow ? link(slow + ' slow', () => page.follow(name, 'slowest'),
        { class: 'link chip', title: 'calls of the function among the slowest' }) : null);
  }

  function ownColumn() {
    return { ...timeColumn('own', (row) => row[OWN], 'time in the function itself, without its traced callees'),
      cell: (row) => row[OWN] === null ? UNKNOWN :
        barCell(formatTime(row[OWN]) + '  ' + formatShare(row[OWN], allOwn), row[OWN] / allOwn) };
  }

  function callsColumn() {
    const column = countColumn('calls', (row) => row[CALLS]);
    return timed ? column : { ...column, cell: (row) =>
      barCell(formatCount(row[CALLS]) + '  ' + formatShare(row[CALLS], allCalls), row[CALLS] / allCalls) };
  }

  function columns() {
    const of = (i) => (row) => row[i];
    return [
      { title: 'function', grow: true, value: (row) => nameOf(row), cell: nameCell },
      callsColumn(),
      countColumn('errors', of(ERRORS), 'calls that ended in an exception'),
      ...(unended ? [countColumn('unended', (row) => row[OPEN] + row[UNTOLD],
        'calls whose end was not recorded')] : []),
      ...(timed ? [ownColumn(),
        timeColumn('total', of(TOTAL), 'time from call to end, including waits; of recursive calls only the outermost'),
        ...(scheduled ? [timeColumn('own on', of(OWN_ON), 'the part of own that was on a scheduler'),
          timeColumn('on', of(ON), 'the part of total that was on a scheduler'),
          timeColumn('off', of(OFF), 'the part of total that was off a scheduler: waiting, or waiting for a scheduler; ' +
            'the rest of total is unknown')] : []),
        timeColumn('p50', of(P50), 'half of the calls took no longer'),
        timeColumn('p90', of(P90), '90 % of the calls took no longer'),
        timeColumn('p99', of(P99), '99 % of the calls took no longer'),
        timeColumn('max', of(MAX), 'the slowest call')] : []),
    ];
  }

  return {
    id: 'functions',
    title: 'Functions',
    empty: report.functions.length ? null : 'No calls were recorded: trace with the flag call, and with patterns.',
    draw(body) {
      if (!timed)
        body.append(el('p', { class: 'why' }, 'The durations of calls are unknown: trace with a time stamp, and with ' +
          'a match specification like [{\'_\',[],[{return_trace}]}].'));
      this.table = new Table({ label: 'Functions', columns: columns(), rows: report.functions,
        found: (row, words) => has(words, nameOf(row)), sorted: timed ? (unended ? 4 : 3) : 1, descending: true });
      body.append(this.table.element);
    },
    search(words) {
      return formatCount(this.table.filter(words)) + ' of ' + formatCount(report.functions.length);
    },
  };
}
