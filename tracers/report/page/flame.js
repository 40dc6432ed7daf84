/* The flame graph: callers above their callees; the width of a frame is its share of the time. */

const FRAME_HEIGHT = 19, NARROWEST = 1.5; /* pixels */

class Flame {
  constructor(report, tree) {
    Object.assign(this, { report, tree, zoomed: 0, words: '', marked: new Uint8Array(tree.count) });
    this.graph = el('div', { class: 'flame', role: 'tree', 'aria-label': 'Flame graph',
      onclick: (event) => this.click(event), onkeydown: (event) => this.key(event),
      onmouseover: (event) => this.point(event), onmouseleave: hideTip,
      onfocusin: (event) => this.focused(event.target), onfocusout: hideTip });
    this.element = el('div', { class: 'flames' }, this.graph);
    new ResizeObserver(() => { if (this.element.clientWidth !== this.width) this.draw(); }).observe(this.element);
  }

  name(node) {
    const name = this.tree.name[node];
    if (node === 0) return 'all';
    if (name === REST) return this.tree.parent[node] === 0 ? 'all other processes' : 'others';
    return name < REST ? this.report.processNames[-2 - name] : this.report.names[name];
  }

  amount(value) {
    return this.report.flame.unit === 'calls' ? formatCounted(value, 'call') : formatTime(value);
  }

  lines(node) {
    const { tree } = this, parent = tree.parent[node];
    const lines = [this.name(node),
      this.amount(tree.total[node]) + ', ' + formatShare(tree.total[node], tree.total[0]) + ' of all'];
    if (parent !== 0) lines.push(formatShare(tree.total[node], tree.total[parent]) + ' of ' + this.name(parent));
    lines.push('own: ' + this.amount(tree.own[node]) + ', ' + formatShare(tree.own[node], tree.total[0]));
    return lines;
  }

  /* Draws the frames that are wide enough: the callers of the zoomed frame, the frame, its callees. */
  draw() {
    const { tree } = this, focused = this.graph.contains(document.activeElement);
    this.width = this.element.clientWidth;
    if (this.width === 0) return;
    this.frames = new Map();
    this.narrow = 0;
    let deepest = 0;
    for (let node = tree.parent[this.zoomed], below = this.zoomed; below !== 0; below = node, node = tree.parent[node])
      this.frames.set(node, this.frame(node, 0, 1, true));
    const todo = [[this.zoomed, 0]], whole = tree.total[this.zoomed] || 1;
    while (todo.length) {
      const [node, from] = todo.pop(), part = node === this.zoomed ? 1 : tree.total[node] / whole;
      if (part * this.width < NARROWEST) {
        this.narrow++;
        continue;
      }
      this.frames.set(node, this.frame(node, from, part, false));
      deepest = Math.max(deepest, tree.depth[node]);
      let at = from;
      for (const called of tree.called[node]) {
        todo.push([called, at]);
        at += tree.total[called] / whole;
      }
    }
    this.graph.style.height = (deepest + 1) * FRAME_HEIGHT + 'px';
    this.graph.replaceChildren(...this.frames.values());
    makeCurrent([], this.frames.get(this.zoomed));
    if (focused) this.frames.get(this.zoomed).focus();
  }

  frame(node, from, part, around) {
    const name = this.name(node), [hue, full, light] = this.colour(node);
    const frame = el('div', { class: 'frame' + (around ? ' around' : '') + (this.marked[node] ? ' found' : ''),
      role: 'treeitem', 'aria-level': this.tree.depth[node] + 1, 'aria-label': this.lines(node).join(', '),
      tabindex: -1 },
    cutName(name, Math.floor((part * this.width - 7) / 7.3)));
    frame.node = node;
    frame.style.cssText = `left:${100 * from}%;width:${100 * part}%;top:${this.tree.depth[node] * FRAME_HEIGHT}px;` +
      `--h:${hue};--s:${full}%;--l:${light}%`;
    return frame;
  }

  /* Returns a warm colour, as in functionColour(); grey for processes. */
  colour(node) {
    const name = this.tree.name[node];
    if (name < 0) return [0, 0, 78];
    this.colours = this.colours || new Map();
    if (!this.colours.has(name)) this.colours.set(name, functionColour(this.report.names[name]));
    return this.colours.get(name);
  }

  /* Marks the frames whose names contain WORDS. Returns their share of the whole, as text. */
  mark(words) {
    const known = new Map(), { tree } = this;
    let count = 0;
    for (let node = 1; node < tree.count; node++) {
      const name = tree.name[node];
      if (!known.has(name)) known.set(name, words !== '' && has(words, this.name(node)) ? 1 : 0);
      this.marked[node] = known.get(name);
      count += this.marked[node];
    }
    for (const [node, frame] of this.frames || []) frame.classList.toggle('found', this.marked[node] === 1);
    this.graph.classList.toggle('searched', words !== '');
    return formatCounted(count, 'frame') + ', ' + formatShare(markedTotal(tree, this.marked), tree.total[0]);
  }

  zoom(node) {
    this.zoomed = node;
    this.draw();
    this.changed(node);
    tell(this.lines(node).join(', '));
  }

  point(event) {
    const frame = event.target.closest('.frame');
    if (frame) showTip(this.lines(frame.node), event.clientX, event.clientY);
    else hideTip();
  }

  focused(frame) {
    makeCurrent(this.frames.values(), frame);
    if (frame.matches(':focus-visible')) showTipAt(this.lines(frame.node), frame);
  }

  click(event) {
    const frame = event.target.closest('.frame');
    if (!frame) return;
    hideTip();
    this.zoom(frame.node);
  }

  /* Returns the drawn frame next to NODE: below, above, or beside it on the same level. */
  beside(node, key) {
    const { tree } = this, drawn = (i) => this.frames.has(i);
    if (key === 'ArrowUp') return node === 0 ? undefined : tree.parent[node];
    if (key === 'ArrowDown') return tree.called[node].find(drawn);
    if (key === 'Home') return this.zoomed;
    const level = [...this.frames.keys()].filter((i) => tree.depth[i] === tree.depth[node]);
    const left = (i) => parseFloat(this.frames.get(i).style.left);
    level.sort((a, b) => left(a) - left(b));
    return level[level.indexOf(node) + (key === 'ArrowLeft' ? -1 : 1)];
  }

  key(event) {
    const frame = event.target.closest('.frame');
    if (!frame || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter' || event.key === ' ') this.zoom(frame.node);
    else if (event.key === 'Backspace') this.zoom(this.tree.parent[this.zoomed]);
    else if (event.key.startsWith('Arrow') || event.key === 'Home') {
      const to = this.beside(frame.node, event.key);
      if (to !== undefined) this.frames.get(to).focus();
    } else return;
    event.preventDefault();
  }
}

function flameSection(page) {
  const { report } = page;
  const tree = flameTree(report.flame.nodes);
  let flame, path, place, words = '', merged = false, folded = false;

  /* Shows the path to the zoomed frame, as buttons that zoom out. */
  function zoomed(node) {
    const steps = [];
    for (let at = node; at !== 0; at = flame.tree.parent[at]) steps.unshift(at);
    steps.unshift(0);
    path.replaceChildren(...steps.map((at) => el('li', {}, at === node ? el('b', {}, flame.name(at)) :
      el('button', { type: 'button', class: 'link', onclick: () => flame.zoom(at) }, flame.name(at)))));
  }

  function use() {
    const { nodes } = report.flame;
    flame = new Flame(report, merged || folded ? flameTree(mergedNodes(nodes, merged, folded)) : tree);
    flame.changed = zoomed;
    place.replaceChildren(flame.element);
    flame.draw();
    zoomed(0);
    flame.mark(words);
  }

  return {
    id: 'flame',
    title: 'Flame graph',
    empty: tree.total[0] > 0 ? null : 'No call has a known duration: trace with the flags call and monotonic_timestamp.',
    draw(body) {
      path = el('ol', { class: 'path', 'aria-label': 'Zoomed to' });
      place = el('div');
      const how = choice('Show:', [['each', 'each process'], ['merged', 'all processes merged']], (value) => {
        merged = value === 'merged';
        use();
        page.searched();
      });
      const fold = el('label', { class: 'choice' }, el('input', { type: 'checkbox', onchange: (event) => {
        folded = event.target.checked;
        use();
        page.searched();
      } }), ' direct recursion as one frame');
      body.append(el('div', { class: 'controls' }, tree.called[0].length > 1 ? how : null, fold,
        el('span', { class: 'why' }, (report.flame.unit === 'calls' ? 'Calls' : 'Own time') +
          ' by stack, the greatest on the left; a hue for each module.' + (report.flame.narrow === 0 ? '' :
          ' Too narrow to be drawn: ' + formatCounted(report.flame.narrow, 'stack') + ', part of the callers above.'))),
      path, place);
      use();
    },
    search(text) {
      words = text;
      return flame.mark(text);
    },
    escape() {
      if (flame.zoomed === 0) return false;
      flame.zoom(0);
      return true;
    },
  };
}
