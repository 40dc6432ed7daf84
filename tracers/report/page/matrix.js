/* The matrix of messages: a row for each sender, a column for each receiver. The processes with the most
   messages have their own; the last row and column are for all other processes. */

const MOST_COLUMNS = 16;

class Matrix {
  constructor(report, chosen) {
    this.report = report;
    this.chosen = chosen;
    this.colour = 'sent';
    this.place();
    this.table = el('table', { class: 'matrix', role: 'grid', 'aria-label': 'Messages from rows to columns',
      onkeydown: (event) => this.key(event), onclick: (event) => this.click(event),
      onmouseover: (event) => this.point(event), onmouseleave: hideTip,
      onfocusin: (event) => this.focused(event.target), onfocusout: hideTip });
    const colours = choice('Colour:', [['sent', 'messages'], ['p50', 'latency p50'], ['p99', 'latency p99']],
      (value) => { this.colour = value; this.paint(); });
    this.element = el('div', {}, el('div', { class: 'controls' }, colours,
      el('span', { class: 'why' }, 'Rows are senders, columns receivers; Enter or a click on a cell selects its pairs below.')),
    el('div', { class: 'scroll' }, this.table));
    this.draw();
    this.paint();
  }

  /* Chooses the processes that have a row and a column, and adds each pair to its cell. */
  place() {
    const weights = new Map();
    for (const { from, to, sent } of this.report.messages)
      for (const index of new Set([from, to]))
        if (index !== REST) weights.set(index, (weights.get(index) || 0) + sent);
    const busiest = [...weights.keys()].sort((a, b) => weights.get(b) - weights.get(a));
    this.who = busiest.slice(0, MOST_COLUMNS);
    const placed = new Map(this.who.map((index, i) => [index, i]));
    this.merged = busiest.length - this.who.length;
    const others = this.report.messages.some(({ from, to }) => !placed.has(from) || !placed.has(to));
    if (others) this.who.push(REST);
    this.cells = this.who.map((a) => this.who.map((b) => ({ from: a, to: b, pairs: [] })));
    for (const pair of this.report.messages) {
      const at = (index) => placed.has(index) ? placed.get(index) : this.who.length - 1;
      this.cells[at(pair.from)][at(pair.to)].pairs.push(pair);
    }
    this.cells.flat().forEach((cell) => this.sum(cell));
  }

  name(index) {
    return processName(this.report, index, this.merged > 0 ? this.merged + ' others' : 'others');
  }

  /* Returns a short name for headings: the registered name alone. */
  shortName(index) {
    return (index !== REST && this.report.processes[index].name) || this.name(index);
  }

  /* Sums the pairs of CELL. For several pairs the mean is known, but no percentile. */
  sum(cell) {
    const { pairs } = cell;
    const add = (key) => pairs.reduce((sum, pair) => sum + pair[key], 0);
    cell.sent = add('sent');
    cell.matched = add('matched');
    cell.title = this.name(cell.from) + ' → ' + this.name(cell.to);
    cell.one = pairs.length === 1 ? pairs[0] : null;
    cell.mean = cell.matched ? add('total') / cell.matched : null;
    cell.max = cell.matched ? Math.max(...pairs.map((pair) => pair.max)) : null;
  }

  lines(cell) {
    const lines = [cell.title,
      formatCounted(cell.sent, 'message') + ', ' + formatCount(cell.matched) + ' arrivals recorded'];
    if (cell.pairs.length > 1) lines.push(formatCount(cell.pairs.length) + ' pairs');
    if (cell.one && cell.matched)
      lines.push(['p50', 'p90', 'p99'].map((key) => key + ' ' + formatTime(cell.one[key])).join(', '));
    if (cell.matched) lines.push('mean ' + formatTime(cell.mean) + ', max ' + formatTime(cell.max));
    return lines;
  }

  draw() {
    const top = el('tr', {}, el('td', { class: 'corner' }), ...this.who.map((index) =>
      el('th', { scope: 'col', title: this.name(index) }, el('span', {}, this.shortName(index)))));
    const rows = this.cells.map((row, i) => el('tr', {},
      el('th', { scope: 'row', title: this.name(this.who[i]) }, el('span', {}, this.shortName(this.who[i]))),
      ...row.map((cell) => {
        cell.element = el('td', { role: 'gridcell', tabindex: -1, 'aria-label': this.lines(cell).join(', ') });
        cell.element.cell = cell;
        return cell.element;
      })));
    this.table.append(el('thead', {}, top), el('tbody', {}, ...rows));
    this.cells[0][0].element.tabIndex = 0;
  }

  value(cell) {
    return this.colour === 'sent' ? cell.sent : cell.one && cell.one[this.colour];
  }

  /* Sets text and colour of a cell: the text is the value, the colour its logarithm. */
  paint() {
    const most = Math.max(1, ...this.cells.flat().map((cell) => this.value(cell) || 0));
    for (const cell of this.cells.flat()) {
      const value = cell.sent ? this.value(cell) : 0;
      const text = this.colour === 'sent' ? formatShort(cell.sent) : formatTime(value);
      cell.element.textContent = cell.sent ? text : '';
      const level = value ? 0.1 + 0.5 * Math.log1p(value) / Math.log1p(most) : 0;
      cell.element.style.setProperty('--level', level.toFixed(3));
    }
  }

  /* Fades the cells without WORDS, if at least one cell contains WORDS. */
  mark(words) {
    const found = this.who.map((index) => has(words, this.name(index)));
    const any = found.includes(true);
    this.cells.forEach((row, i) => row.forEach((cell, j) =>
      cell.element.classList.toggle('away', any && !found[i] && !found[j])));
  }

  point(event) {
    const at = event.target.closest('[role=gridcell]');
    if (at) showTip(this.lines(at.cell), event.clientX, event.clientY);
    else hideTip();
  }

  focused(element) {
    if (!element.cell) return;
    makeCurrent(this.cells.flat().map((cell) => cell.element), element);
    if (element.matches(':focus-visible')) showTipAt(this.lines(element.cell), element);
  }

  click(event) {
    const at = event.target.closest('[role=gridcell]');
    if (at && at.cell.sent) this.chosen(at.cell);
  }

  key(event) {
    const at = event.target.closest('[role=gridcell]');
    if (!at) return;
    const row = at.parentElement.sectionRowIndex, column = at.cellIndex - 1;
    const across = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const to = stepped(event.key, row, this.who.length);
    if (event.key === 'Enter' || event.key === ' ') this.click(event);
    else if (across) (this.cells[row][column + across] || this.cells[row][column]).element.focus();
    else if (to !== null) this.cells[to][column].element.focus();
    else return;
    event.preventDefault();
  }
}
