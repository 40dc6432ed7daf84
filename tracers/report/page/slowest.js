/* The slowest calls, one by one. */

function slowestSection(page) {
  const { report } = page;
  const nameOf = (call) => functionName(report, call.name);
  const processOf = (call) => processName(report, call.process, 'other processes');
  const outcomeOf = (call) => (call.error ? '✗ ' : '') + (call.outcome === null ? '' : call.outcome);

  function columns() {
    const date = (call) => report.time.unix && formatDate(report.time.unix, call.at);
    const atColumn = { title: 'at', help: 'time of the call, since the first record', number: true,
      value: (call) => call.at, text: (call) => formatAt(call.at),
      exactly: (call) => date(call) || formatExactly(call.at) };
    return [
      { title: 'function', value: nameOf, cell: (call) => link(nameOf(call), () => page.showCall(call),
        { title: 'show the call on the timeline' }) },
      timeColumn('took', (call) => call.took, 'time from call to end, including waits'),
      timeColumn('own', (call) => call.own, 'time in the function itself, without its traced callees'),
      atColumn,
      { title: 'process', value: processOf, text: processOf },
      { title: 'arguments', cell: (call) => el('code', { title: call.args }, call.args === null ? UNKNOWN : call.args),
        grow: true },
      { title: 'outcome', value: outcomeOf, help: '✗: an exception',
        cell: (call) => el('code', { class: call.error ? 'error' : null, title: call.outcome },
          outcomeOf(call) || UNKNOWN), grow: true },
    ];
  }

  return {
    id: 'slowest',
    title: 'Slowest calls',
    empty: report.slowest.length ? null : 'No call has a recorded beginning and end: trace with the flags ' +
      'call and monotonic_timestamp, and with a match specification like [{\'_\',[],[{return_trace}]}].',
    draw(body) {
      this.table = new Table({ label: 'Slowest calls', columns: columns(), rows: report.slowest, sorted: 1,
        descending: true,
        found: (call, words) => has(words, nameOf(call), processOf(call), call.args, outcomeOf(call)) });
      body.append(this.table.element);
    },
    search(words) {
      return formatCount(this.table.filter(words)) + ' of ' + formatCount(report.slowest.length);
    },
  };
}
