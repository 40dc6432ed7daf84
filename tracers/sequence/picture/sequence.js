/*
 * The sequence diagram. All data are in the elements: <g class="p" data-c=> is a participant's
 * column, <g class="m" data-a= data-b=> a message from a to b, <path class="b" data-c=> a time that a
 * process was active. Their <title> has the whole text, if they do not show it. The columns fit the
 * window.
 */

const LETTER = 7.3, EDGE = 10, LOOP = 30, NARROW = 90, FIRST_ROW = 26; /* pixels */

class Sequence {
  constructor() {
    const all = (selector) => Array.from(document.querySelectorAll(selector));
    this.svg = document.documentElement;
    Object.assign(this, { people: all('.p'), lines: all('.l'), bars: all('.b'), gaps: all('.gap'), chosen: null });
    this.messages = all('.m').map((g) => this.message(g));
    for (const id of ['body', 'heads', 'cover', 'all']) this[id] = document.getElementById(id);
    this.top = this.messages.length ? this.messages[0].y : FIRST_ROW;
    this.bottom = +this.svg.getAttribute('height');
    this.search = new Search(this);
    this.all.addEventListener('click', () => this.choose(null));
    this.svg.addEventListener('click', (event) => this.at(event, '.p', (p) => this.choose(p)));
    this.svg.addEventListener('mouseover', (event) => this.at(event, '.p, .m, .b, .gap', (g) => this.tell(g)));
    this.svg.addEventListener('keydown', (event) => this.key(event));
    window.addEventListener('resize', () => this.fit());
    this.choose(null);
    this.fit();
  }

  message(g) {
    const path = g.querySelector('path'), words = g.querySelector('.w');
    const a = +g.dataset.a, b = +g.dataset.b, y = +path.getAttribute('d').match(/,(\d+)/)[1] + (a === b ? 8 : 0);
    const title = g.querySelector('title') || g.appendChild(document.createElementNS(this.svg.namespaceURI, 'title'));
    if (!title.textContent) title.textContent = words.textContent;
    const text = title.textContent;
    if (g.classList.contains('gone')) title.textContent += ' (the receiver does not exist)';
    return { g, a, b, y, path, words, title: text };
  }

  fit() {
    const { svg, search, people } = this, wide = svg.clientWidth;
    const times = Array.from(document.querySelectorAll('.t'), (text) => text.textContent.length);
    this.left = times.length ? Math.ceil(Math.max(...times) * LETTER) + EDGE + 6 : EDGE;
    this.wide = wide;
    this.column = (wide - this.left - EDGE) / Math.max(people.length, 1);
    this.upright = this.column < NARROW; /* names go from the bottom to the top */
    search.bar.setAttribute('width', wide);
    search.bar.setAttribute('height', search.height);
    this.headHeight = this.upright ? 150 : 28;
    this.covered = people.length ? this.headHeight + 12 : 0;
    this.shift = search.height + this.covered + FIRST_ROW - this.top;
    const height = this.bottom + this.shift;
    svg.setAttribute('viewBox', `0 0 ${wide} ${height}`);
    svg.setAttribute('width', wide);
    svg.setAttribute('height', height);
    this.body.setAttribute('transform', `translate(0,${this.shift})`);
    this.place();
    if (svg.clientWidth !== wide) this.fit(); /* a scroll bar has come */
    search.scrolled();
  }

  middle(column) {
    return this.left + this.column * (column + 0.5);
  }

  place() {
    this.people.forEach((p, i) => this.placeHead(p, i));
    this.lines.forEach((line, i) => {
      line.setAttribute('x1', this.middle(i));
      line.setAttribute('x2', this.middle(i));
      line.setAttribute('y1', this.top - FIRST_ROW - 6);
    });
    for (const bar of this.bars) this.moveTo(bar, this.middle(+bar.dataset.c));
    for (const time of document.querySelectorAll('.t')) time.setAttribute('x', this.left - 6);
    for (const gap of this.gaps) {
      const path = gap.querySelector('path');
      this.moveTo(path, this.left);
      path.setAttribute('d', path.getAttribute('d').replace(/H.*/, 'H' + (this.wide - EDGE)));
    }
    for (const message of this.messages) this.placeMessage(message);
    for (const [name, value] of [['width', this.wide], ['height', this.covered]]) this.cover.setAttribute(name, value);
    this.heads.setAttribute('transform', `translate(0,${window.scrollY + this.search.height})`);
  }

  moveTo(path, x) {
    path.setAttribute('d', path.getAttribute('d').replace(/^M[^,]*/, 'M' + x.toFixed(1)));
  }

  placeHead(p, i) {
    const x = this.middle(i), wide = this.column - Math.min(8, this.column / 4), high = this.headHeight;
    const rect = p.querySelector('rect'), text = p.querySelector('text');
    for (const [name, value] of [['x', x - wide / 2], ['y', 6], ['width', wide], ['height', high]]) rect.setAttribute(name, value);
    const room = wide < 14 ? 0 : (this.upright ? high : wide) - 8; /* a line of text is 14 pixels high */
    const [, label, pid] = /^(.*?)( <[\d.]+>)?$/s.exec(p.firstElementChild.textContent);
    text.textContent = cutText(label, Math.floor(room / LETTER) - (pid || '').length) + (pid || '');
    text.setAttribute('x', x);
    text.setAttribute('y', 6 + high / 2 + 4);
    if (this.upright) text.setAttribute('transform', `rotate(-90 ${x} ${6 + high / 2}) `);
    else text.removeAttribute('transform');
  }

  /* The text of a message is above its arrow, and goes beyond it if it is longer, but not beyond the window. */
  placeMessage({ a, b, y, title, path, words }) {
    const from = this.middle(a), to = this.middle(b), back = to > from ? -6 : 6, end = this.wide - EDGE;
    const text = title.replace(/#Ref<[\d.]+>/g, '#Ref');
    let x = (from + to) / 2, room = Math.max(60, Math.floor(Math.abs(to - from) / LETTER) - 4);
    if (a !== b) {
      path.setAttribute('d', `M${from},${y}H${to}m${back},-4l${-back},4l${back},4`);
      words.textContent = cutText(text, Math.min(room, Math.floor((end - this.left) / LETTER)));
      const half = words.textContent.length * LETTER / 2;
      x = Math.min(Math.max(x, this.left + half), end - half);
    } else {
      const left = from - this.left > end - from - LOOP, loop = left ? -LOOP : LOOP;
      path.setAttribute('d', `M${from},${y - 8}h${loop}v10h${-loop}m${left ? -6 : 6},-4l${left ? 6 : -6},4l${left ? -6 : 6},4`);
      x = from + loop + (left ? -4 : 4);
      words.classList.toggle('left', left);
      words.textContent = cutText(text, Math.min(60, Math.floor((left ? x - this.left : end - x) / LETTER)));
    }
    words.setAttribute('x', x);
  }

  choose(p) {
    this.chosen = p === this.chosen ? null : p;
    for (const q of this.people) {
      q.classList.toggle('chosen', q === this.chosen);
      q.setAttribute('aria-pressed', q === this.chosen);
    }
    const its = this.messages.filter(({ a, b }) => this.chosen === null || a === +this.chosen.dataset.c || b === +this.chosen.dataset.c);
    for (const message of this.messages) message.g.classList.toggle('away', !its.includes(message));
    this.all.disabled = this.chosen === null;
    this.search.told.textContent = this.messages.length === 0 ? 'no messages were recorded: trace with the flag send' :
      formatCounted(its.length, 'message') + (this.chosen ? ' of ' + this.chosen.firstElementChild.textContent : '');
  }

  /* Calls F with the element of EVENT that SELECTOR selects. */
  at(event, selector, f) {
    const g = event.target.closest && event.target.closest(selector);
    if (g) f(g);
  }

  tell(g) {
    const name = g.dataset.c === undefined ? '' : this.people[g.dataset.c].firstElementChild.textContent + '  ';
    this.search.told.textContent = this.search.told.title =
      (g.classList.contains('b') ? name : '') + g.querySelector('title').textContent;
  }

  key(event) {
    const p = event.target.closest && event.target.closest('.p');
    if (event.key === 'Escape') {
      this.search.reset();
      this.choose(null);
    } else if (p && (event.key === 'Enter' || event.key === ' ')) this.choose(p);
    else if (!this.search.key(event)) return;
    event.preventDefault();
  }

  /* --- for Search --- */

  items() {
    return this.messages;
  }

  text(message) {
    return message.title;
  }

  y(message) {
    return message.y + this.shift;
  }

  mark({ g }, hit, current) {
    g.classList.toggle('hit', hit);
    g.classList.toggle('current', current);
  }

  reveal(message) {
    if (message.g.classList.contains('away')) this.choose(null);
  }

  share() {
    return '';
  }

  scrolled() {
    this.heads.setAttribute('transform', `translate(0,${window.scrollY + this.search.height})`);
  }
}

new Sequence();
