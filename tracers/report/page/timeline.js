/*
 * The timeline: a row for each process, from its birth to its death, with its activity. This file has
 * the rows, the range of time that is shown, and the controls that move it; lane.js draws a row's content.
 */

const FIRST_LANES = 40, MORE_LANES = 200, DEEPEST_ZOOM = 100; /* ns */

class Timeline {
  constructor(report) {
    this.report = report;
    this.whole = Math.max(report.duration, 1);
    this.from = 0;
    this.to = this.whole;
    this.levels = new Map(report.timeline.rows.map(([process, first, text]) => [process, readLevels(first, text)]));
    this.slow = new Map();
    for (const call of report.slowest)
      this.slow.set(call.process, [...(this.slow.get(call.process) || []), call]);
    this.order = 'first';
    this.words = '';
    this.call = null;
    this.scale = el('div', { class: 'scale', 'aria-hidden': 'true' });
    this.lanes = el('div', { class: 'lanes', role: 'list', 'aria-label': 'Timeline of processes' });
    this.cursor = el('div', { class: 'cursor', hidden: true });
    this.picked = el('div', { class: 'picked', hidden: true });
    this.element = el('div', { class: 'timeline', onkeydown: (event) => this.key(event),
      onfocusin: (event) => this.focused(event.target), onfocusout: hideTip },
    el('div', { class: 'lane head' }, el('span', { class: 'who' }, 'process'), this.scale,
      el('span', { class: 'amount' }, this.amountTitle())), this.lanes, this.cursor, this.picked);
    listenToPointer(this);
    new ResizeObserver(() => { if (this.scale.clientWidth !== this.width) this.draw(); }).observe(this.scale);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  }

  amountTitle() {
    return { running: 'running', calls: 'in calls', events: 'events' }[this.report.timeline.unit];
  }

  /* Returns the number at the right end of a row. */
  amount(index) {
    const process = this.report.processes[index];
    return { running: process.running, calls: process.own, events: process.events }[this.report.timeline.unit];
  }

  amountText(index) {
    const amount = this.amount(index);
    if (this.report.timeline.unit === 'events') return formatShort(amount);
    return amount === null ? UNKNOWN : formatTime(amount);
  }

  /* Shows the processes that match the search, in order, or all if none matches. Returns the number of matches. */
  filter(words) {
    const { processes, processNames } = this.report;
    const all = processes.map((_, i) => i);
    const found = all.filter((i) => has(words, processNames[i], processes[i].entry));
    this.words = words;
    this.found = found.length ? found : all;
    if (this.order === 'busiest') this.found.sort((a, b) => (this.amount(b) || 0) - (this.amount(a) || 0));
    if (this.order === 'name') {
      const { compare } = new Intl.Collator('en', { numeric: true });
      this.found.sort((a, b) => compare(processNames[a], processNames[b]));
    }
    this.lanes.replaceChildren();
    this.show(FIRST_LANES);
    return found.length;
  }

  /* Adds COUNT rows. */
  show(count) {
    const from = this.lanes.children.length;
    this.lanes.append(...this.found.slice(from, from + count).map((index) => this.lane(index)));
    if (from === 0) makeCurrent([], this.lanes.firstChild);
    this.left = this.found.length - this.lanes.children.length;
    this.changed();
    this.draw();
  }

  lane(index) {
    const lines = processLines(this.report, index);
    const lane = el('div', { class: 'lane', role: 'listitem', tabindex: -1, 'aria-label': lines.join(', ') },
      el('span', { class: 'who' }, this.report.processNames[index]), el('canvas', {}),
      el('span', { class: 'amount' }, this.amountText(index)));
    lane.process = index;
    return lane;
  }

  draw() {
    this.width = this.scale.clientWidth;
    if (this.width === 0) return;
    const style = getComputedStyle(this.element);
    const colours = Object.fromEntries(['life', 'busy', 'edge', 'slow', 'grid', 'chosen'].map((name) =>
      [name, style.getPropertyValue('--' + name)]));
    this.ticks = ticks(this.from, this.to, this.width);
    this.scale.replaceChildren(...this.ticks.map(({ at, text }) => {
      const part = (at - this.from) / (this.to - this.from);
      const tick = el('span', {}, (1 - part) * this.width > 9 * text.length ? text : '');
      tick.style.left = 100 * part + '%';
      return tick;
    }));
    for (const lane of this.lanes.children) drawLane(this, lane, colours);
  }

  /* Shows the time from FROM to TO, within the recording. */
  zoom(from, to) {
    const span = Math.min(Math.max(to - from, Math.min(DEEPEST_ZOOM, this.whole)), this.whole);
    this.from = Math.min(Math.max(from, 0), this.whole - span);
    this.to = this.from + span;
    this.draw();
    this.changed();
  }

  /* Shows BY times as much of the time, around AT. */
  scaleBy(by, at = (this.from + this.to) / 2) {
    this.zoom(at - (at - this.from) * by, at + (this.to - at) * by);
  }

  isWhole() {
    return this.from === 0 && this.to === this.whole;
  }

  /* Returns the time at the horizontal position X of the page. */
  timeAt(x) {
    const box = this.scale.getBoundingClientRect();
    return this.from + (this.to - this.from) * Math.min(Math.max((x - box.left) / box.width, 0), 1);
  }

  laneOf(index) {
    return Array.from(this.lanes.children).find((lane) => lane.process === index);
  }

  /* Marks CALL, and shows some time around it. */
  showCall(call) {
    const around = Math.max(call.took * 2, this.whole / 1e4);
    if (!this.found.includes(call.process)) this.filter('');
    while (!this.laneOf(call.process) && this.left) this.show(MORE_LANES);
    this.call = call;
    this.zoom(call.at - around, call.at + call.took + around);
    const lane = this.laneOf(call.process);
    if (lane) {
      lane.focus({ preventScroll: true });
      lane.scrollIntoView({ block: 'center' });
    }
  }

  focused(lane) {
    if (!lane.matches('.lane')) return;
    makeCurrent(this.lanes.children, lane);
    if (lane.matches(':focus-visible')) showTipAt(processLines(this.report, lane.process), lane);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const lanes = Array.from(this.lanes.children), at = lanes.indexOf(event.target.closest('.lane'));
    const to = stepped(event.key, at, lanes.length), span = this.to - this.from;
    if (at < 0) return;
    if (to !== null) lanes[to].focus();
    else if (event.key === '+' || event.key === '=') this.scaleBy(0.5);
    else if (event.key === '-') this.scaleBy(2);
    else if (event.key === 'ArrowLeft') this.zoom(this.from - span / 4, this.to - span / 4);
    else if (event.key === 'ArrowRight') this.zoom(this.from + span / 4, this.to + span / 4);
    else if (event.key === '0') this.zoom(0, this.whole);
    else if (event.key === 'Enter') this.follow(this.report.processes[lanes[at].process].id);
    else return;
    event.preventDefault();
  }
}

function timelineSection(page) {
  const { report } = page;
  const LEGEND = {
    running: 'Bars: the share of the time on a scheduler.',
    calls: 'Bars: the share of the time in traced calls (on a scheduler: trace with the flag running).',
    events: 'Bars: events, relative to the largest count of one process (on a scheduler: trace with the flag running).',
  };
  let timeline;

  function status(shown, more, reset) {
    const { from, to, left } = timeline;
    shown.textContent = timeline.isWhole() ? 'All ' + formatTime(timeline.whole) :
      formatTime(to - from) + ' from ' + formatAt(from);
    reset.disabled = timeline.isWhole();
    more.hidden = left === 0;
    more.textContent = moreText(left, MORE_LANES);
  }

  return {
    id: 'timeline',
    title: 'Timeline',
    empty: report.duration === null ? 'No time was recorded: trace with a flag like monotonic_timestamp.' :
      report.processes.length === 0 ? 'No process has an event.' : null,
    draw(body) {
      timeline = new Timeline(report);
      timeline.follow = (id) => page.follow(id, 'timeline');
      const shown = el('span', { class: 'shown' });
      const button = (text, title, clicked) =>
        el('button', { type: 'button', title, 'aria-label': title, onclick: clicked }, text);
      const more = button('', null, () => timeline.show(MORE_LANES));
      const reset = button('All', 'the whole time: 0', () => timeline.zoom(0, timeline.whole));
      timeline.changed = () => status(shown, more, reset);
      const order = choice('Order:', [['first', 'first event'], ['busiest', 'busiest'], ['name', 'name']], (value) => {
        timeline.order = value;
        timeline.filter(timeline.words);
      });
      body.append(el('div', { class: 'controls' }, order,
        el('span', { class: 'buttons' }, button('+', 'nearer: +', () => timeline.scaleBy(0.5)),
          button('−', 'farther: -', () => timeline.scaleBy(2)), reset), shown,
        el('span', { class: 'why' }, LEGEND[report.timeline.unit] + ' ', el('span', { class: 'lifemark' }),
          ' life of the process, ', el('span', { class: 'slowmark' }), ' one of the slowest calls.')),
      timeline.element, el('p', { class: 'more' }, more));
      timeline.filter('');
    },
    search(words) {
      return formatCount(timeline.filter(words)) + ' of ' + formatCount(report.processes.length);
    },
    escape() {
      const was = !timeline.isWhole();
      timeline.call = null;
      timeline.zoom(0, timeline.whole);
      return was;
    },
    showCall(call) { timeline.showCall(call); },
    redraw() { timeline.draw(); },
  };
}
