/*
 * The flame graph. All data are in the elements: a frame is <g class="f" data-p= data-w= data-o=
 * data-n=>, with the index of its parent, its whole and its own amount, and its calls; its <title>
 * is its name. The frames that are drawn are those of a view: one for each frame, or one for all
 * calls of a function that lie inside one of its own.
 */

const MARGIN = 10, ROW = 18, LETTER = 7.3, NARROWEST = 0.1; /* pixels */

class FlameGraph {
  constructor() {
    this.svg = document.documentElement;
    const { unit, order, recursion } = this.svg.dataset;
    Object.assign(this, { unit, icicle: order === 'icicle', merged: false, view: [], covered: 0 });
    this.frames = Array.from(this.svg.querySelectorAll('.f'), (g) => ({ g, name: g.firstElementChild.textContent,
      parent: +g.dataset.p, whole: +g.dataset.w, own: +g.dataset.o, calls: +g.dataset.n, before: g.dataset.b }));
    this.search = new Search(this);
    for (const id of ['all', 'recursion', 'hue']) this[id] = document.getElementById(id);
    this.all.addEventListener('click', () => this.zoom(this.view[0]));
    this.recursion.addEventListener('click', () => this.merge(!this.merged));
    this.hue.addEventListener('click', () => this.colour(!this.svg.classList.contains('own')));
    this.svg.addEventListener('click', (event) => this.at(event, (node) => this.zoom(node)));
    this.svg.addEventListener('mouseover', (event) => this.at(event, (node) => this.tell(node)));
    this.svg.addEventListener('keydown', (event) => this.key(event));
    window.addEventListener('resize', () => this.fit());
    this.colour(this.svg.classList.contains('own'));
    this.merge(false);
    this.recursion.hidden = recursion === 'one' || !this.view.some((node) => node.depth > 2 && this.around(node.above, node.name));
    this.fit();
    this.atRoot();
  }

  /* Makes the view. MERGED: a call of a function inside another call of the same one, directly or not, is a part
   * of the outer one's frame. */
  merge(merged) {
    const made = [];
    this.merged = merged;
    this.recursion.setAttribute('aria-pressed', merged);
    this.view = [];
    this.frames.forEach((frame, i) => {
      const above = i ? made[frame.parent] : null;
      let node = merged && above ? this.around(above, frame.name) || above.named.get(frame.name) : null;
      if (!node) {
        node = { ...frame, above, depth: above ? above.depth + 1 : 0, below: [], named: new Map(), own: 0, calls: 0, rest: 0 };
        this.view.push(node);
        if (above) above.below.push(node);
        if (above && merged) above.named.set(frame.name, node);
      }
      made[i] = node;
      node.own += frame.own;
      node.calls += frame.calls;
      node.rest += frame.whole - frame.own; /* what the frames below it leave of that is too narrow to be here */
      if (above) above.rest -= frame.whole;
      frame.g.node = node;
      frame.g.classList.add('away');
    });
    for (const node of [...this.view].reverse())
      node.whole = node.own + node.rest + node.below.reduce((sum, below) => sum + below.whole, 0);
    this.view.forEach((node) => {
      let x = node.x = node.x || 0;
      for (const below of node.below) {
        below.x = x;
        x += below.whole;
      }
    });
    this.zoomed = this.view[0];
    this.fit();
    this.search.find();
  }

  /* Returns the frame of function NAME at NODE or above NODE. */
  around(node, name) {
    for (; node.depth > 1; node = node.above) if (node.name === name) return node;
    return null;
  }

  /* Fits the picture to the width of the window, and the zoomed frame to the picture. */
  fit() {
    const { svg, search } = this, wide = svg.clientWidth;
    search.bar.setAttribute('width', wide);
    this.head = search.height + 8;
    search.bar.setAttribute('height', this.head);
    this.width = wide - 2 * MARGIN;
    this.path = this.pathTo(this.zoomed);
    const shown = this.view.filter((node) => this.isShown(node));
    this.deepest = shown.reduce((most, node) => Math.max(most, node.depth), 0);
    const height = this.head + (this.deepest + 1) * ROW + MARGIN;
    svg.setAttribute('viewBox', `0 0 ${wide} ${height}`);
    svg.setAttribute('width', wide);
    svg.setAttribute('height', height);
    for (const node of this.view) node.g.classList.add('away');
    shown.forEach((node) => this.place(node));
    if (svg.clientWidth !== wide) this.fit(); /* a scroll bar has come */
    search.scrolled();
  }

  isShown(node) {
    const { zoomed } = this;
    if (node === zoomed || this.path.has(node)) return true;
    return node.depth > zoomed.depth && node.x >= zoomed.x && node.x + node.whole <= zoomed.x + zoomed.whole &&
      node.whole * this.width / Math.max(zoomed.whole, 1) >= NARROWEST;
  }

  /* Returns the frames around NODE. */
  pathTo(node) {
    const path = new Set();
    for (let at = node.above; at; at = at.above) path.add(at);
    return path;
  }

  place(node) {
    const { g } = node, around = this.path.has(node), scale = this.width / Math.max(this.zoomed.whole, 1);
    const x = MARGIN + (around ? 0 : (node.x - this.zoomed.x) * scale);
    const wide = around || node === this.zoomed ? this.width : node.whole * scale;
    const y = this.y(node, true), rect = g.querySelector('rect');
    const label = cutName(node.name, Math.floor((wide - 6) / LETTER));
    let text = g.querySelector('text');
    rect.setAttribute('x', x.toFixed(1));
    rect.setAttribute('y', y);
    rect.setAttribute('width', Math.max(wide - 0.4, 0.2).toFixed(1));
    if (label && !text) text = g.appendChild(document.createElementNS(this.svg.namespaceURI, 'text'));
    if (text) {
      text.setAttribute('x', (x + 3).toFixed(1));
      text.setAttribute('y', y + 13);
      text.textContent = label;
    }
    g.classList.remove('away');
    g.classList.toggle('around', around);
    g.classList.toggle('slim', wide < 8);
    g.setAttribute('role', 'button');
    g.setAttribute('tabindex', node === this.zoomed ? 0 : -1);
    g.firstElementChild.textContent = this.lines(node).join('\n');
  }

  amount(value) {
    return this.unit === 'calls' ? formatCounted(value, 'call') : formatTime(value);
  }

  lines(node) {
    const { view } = this, lines = [node.name, this.amount(node.whole) + ', ' + formatShare(node.whole, view[0].whole) + ' of all'];
    if (node.before) lines[1] += ', before ' + this.amount(+node.before);
    if (node.depth > 1) lines.push(this.amount(node.own) + ' own' + (this.unit === 'calls' ? '' : ', ' + formatCounted(node.calls, 'call')));
    if (node.g.classList.contains('doubtful')) lines.push('the recording does not show when this call ended, and what it called after that');
    return lines;
  }

  tell(node) {
    this.search.told.textContent = this.search.told.title = this.lines(node).join('  ');
  }

  zoom(node) {
    this.zoomed = node;
    this.all.disabled = node === this.view[0];
    this.fit();
    this.tell(node);
  }

  /* Scrolls to the root, which is at the bottom of a flame, and at the top of an icicle. */
  atRoot() {
    window.scrollTo(0, this.icicle ? 0 : this.svg.scrollHeight);
  }

  colour(own) {
    this.svg.classList.toggle('own', own);
    this.hue.textContent = own ? 'hue: own ' + (this.unit === 'calls' ? 'calls' : 'time') : 'hue: module';
  }

  /* Calls F with the frame of EVENT. */
  at(event, f) {
    const g = event.target.closest && event.target.closest('.f');
    if (g) f(g.node);
  }

  focus(node) {
    for (const other of this.svg.querySelectorAll('.f[tabindex="0"]')) other.setAttribute('tabindex', -1);
    node.g.setAttribute('tabindex', 0);
    node.g.focus();
    this.tell(node);
  }

  /* Returns the frame beside NODE in the direction of KEY. */
  beside(node, key) {
    const shown = (other) => !other.g.classList.contains('away');
    if (key === (this.icicle ? 'ArrowUp' : 'ArrowDown')) return node.above;
    if (key === 'ArrowUp' || key === 'ArrowDown')
      return node.below.filter(shown).sort((a, b) => b.whole - a.whole)[0];
    const row = this.view.filter((other) => other.depth === node.depth && shown(other)).sort((a, b) => a.x - b.x);
    return row[row.indexOf(node) + (key === 'ArrowLeft' ? -1 : 1)];
  }

  key(event) {
    const g = event.target.closest && event.target.closest('.f');
    if (event.key === 'Escape') {
      this.search.reset();
      this.zoom(this.view[0]);
    } else if (g && (event.key === 'Enter' || event.key === ' ')) {
      this.zoom(g.node);
      this.focus(g.node);
    } else if (g && event.key.startsWith('Arrow')) {
      const to = this.beside(g.node, event.key);
      if (to) this.focus(to);
    } else if (!this.search.key(event)) return;
    event.preventDefault();
  }

  /* --- for Search --- */

  items() {
    return this.view.slice(1);
  }

  text(node) {
    return node.name;
  }

  y(node, placed = false) {
    if (!placed && node.g.classList.contains('away')) return null;
    return this.head + (this.icicle ? node.depth : this.deepest - node.depth) * ROW;
  }

  mark(node, hit, current) {
    node.g.classList.toggle('hit', hit);
    node.g.classList.toggle('current', current);
    this.svg.classList.toggle('searched', this.search.search.value !== '');
  }

  /* Shows NODE, if it is outside of the zoomed frame, or too narrow. */
  reveal(node) {
    if (node.g.classList.contains('away') || this.path.has(node)) {
      this.zoomed = node.whole * this.width / Math.max(this.view[0].whole, 1) >= 3 ? this.view[0] : node;
      this.all.disabled = this.zoomed === this.view[0];
      this.fit();
    }
  }

  scrolled() {}

  /* Returns the share of all that is in HITS, each moment counted once. */
  share(hits) {
    const hit = new Set(hits), within = (node) => node.above && (hit.has(node.above) || within(node.above));
    const sum = hits.reduce((all, node) => all + (within(node) ? 0 : node.whole), 0);
    return hits.length ? formatShare(sum, this.view[0].whole) + ' of all' : '';
  }
}

new FlameGraph();
