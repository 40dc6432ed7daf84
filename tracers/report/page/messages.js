/* Senders and receivers: the busiest processes as a matrix, all pairs as a table. */

function messagesSection(page) {
  const { report } = page;
  const from = (pair) => processName(report, pair.from, 'other processes');
  const to = (pair) => processName(report, pair.to, 'other processes');
  let matrix, table, chosen;

  function columns() {
    const latency = 'time from the send to the arrival in the mailbox';
    const who = (title, of) => ({ title, grow: true, value: of,
      cell: (pair) => link(of(pair), () => page.follow(of(pair), 'timeline'), { title: 'search all sections for the process' }) });
    return [who('from', from), who('to', to), countColumn('sent', (pair) => pair.sent),
      countColumn('matched', (pair) => pair.matched, 'messages whose arrival was recorded, too'),
      timeColumn('p50', (pair) => pair.p50, latency), timeColumn('p90', (pair) => pair.p90, latency),
      timeColumn('p99', (pair) => pair.p99, latency), timeColumn('max', (pair) => pair.max, latency)];
  }

  /* Shows only the pairs of CELL in the table, or all pairs if CELL is null. */
  function choose(cell) {
    chosen.hidden = cell === null;
    if (cell) chosen.firstChild.textContent = cell.title + ' ';
    table.filter(table.words, cell && ((pair) => cell.pairs.includes(pair)));
  }

  return {
    id: 'messages',
    title: 'Messages',
    empty: report.messages.length ? null : 'No messages were recorded: trace with the flags send and receive.',
    draw(body) {
      matrix = new Matrix(report, choose);
      table = new Table({ label: 'Pairs of processes', columns: columns(), rows: report.messages, sorted: 2,
        descending: true, found: (pair, words) => has(words, from(pair), to(pair)) });
      chosen = el('p', { class: 'chosen', hidden: true }, '',
        el('button', { type: 'button', onclick: () => choose(null) }, 'All pairs'));
      body.append(matrix.element, chosen, table.element);
    },
    search(words) {
      matrix.mark(words);
      return formatCount(table.filter(words)) + ' of ' + formatCount(report.messages.length);
    },
    escape() {
      const was = !chosen.hidden;
      choose(null);
      return was;
    },
  };
}
