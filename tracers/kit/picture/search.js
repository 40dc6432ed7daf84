/*
 * The bar of a picture: a field that searches by a regular expression, jumps from hit to hit, and
 * counts of the hits above and below the window. The bar stays at the top while the picture scrolls.
 * The elements of the bar are those of ../picture.h.
 */

/* PICTURE has items() => everything that can be found, in reading order, text(item), y(item) => its
 * place, or null if it is not drawn, mark(item, hit, current), reveal(item), share(hits) => text,
 * covered: height below the bar that is covered, too, scrolled(): the window was scrolled. */
class Search {
  constructor(picture) {
    Object.assign(this, { picture, hits: [], at: -1 });
    for (const id of ['bar', 'search', 'up', 'down', 'clear', 'told']) this[id] = document.getElementById(id);
    this.search.addEventListener('input', () => this.find());
    this.search.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.jump(event.shiftKey ? -1 : 1);
    });
    this.up.addEventListener('click', () => this.jumpBeyond(-1));
    this.down.addEventListener('click', () => this.jumpBeyond(1));
    this.clear.addEventListener('click', () => this.reset());
    window.addEventListener('scroll', () => this.scrolled());
  }

  get height() {
    return Math.ceil(this.bar.firstElementChild.getBoundingClientRect().height);
  }

  /* Returns the first height that can be seen. */
  get begin() {
    return window.scrollY + this.height + this.picture.covered;
  }

  /* Keeps the bar in view, and counts the hits that are not. */
  scrolled() {
    const { scrollY, innerHeight } = window;
    this.bar.setAttribute('transform', `translate(0,${scrollY})`);
    this.picture.scrolled();
    const places = this.hits.map((hit) => this.picture.y(hit)).filter((y) => y !== null);
    this.show(this.up, '▲', places.filter((y) => y < this.begin).length);
    this.show(this.down, '▼', places.filter((y) => y > scrollY + innerHeight - 20).length);
  }

  show(button, mark, count) {
    button.hidden = count === 0;
    button.textContent = mark + ' ' + formatCount(count);
    button.title = formatCounted(count, 'hit') + (mark === '▲' ? ' above the window' : ' below the window');
  }

  /* Marks all items that match the field's regular expression. */
  find() {
    const words = this.search.value;
    let pattern = null;
    try {
      pattern = words && new RegExp(words, 'i');
      this.search.removeAttribute('aria-invalid');
    } catch (error) {
      this.search.setAttribute('aria-invalid', 'true');
    }
    this.at = -1;
    this.hits = [];
    for (const item of this.picture.items()) {
      const hit = Boolean(pattern && pattern.test(this.picture.text(item)));
      if (hit) this.hits.push(item);
      this.picture.mark(item, hit, false);
    }
    this.clear.disabled = words === '';
    this.told.textContent = pattern === null ? 'not a regular expression' : words === '' ? '' : this.found();
    this.scrolled();
  }

  found() {
    const count = formatCount(this.hits.length), share = this.picture.share(this.hits);
    return (this.at < 0 ? count : formatCount(this.at + 1) + ' of ' + count) + ' found' + (share ? ', ' + share : '');
  }

  /* Goes on by STEP hits. */
  jump(step) {
    const count = this.hits.length;
    if (count === 0) return;
    this.goTo(this.at < 0 ? (step > 0 ? 0 : count - 1) : (this.at + step + count) % count);
  }

  /* Goes to the nearest hit above (-1) or below (1) the window. */
  jumpBeyond(step) {
    const { scrollY, innerHeight } = window, y = (i) => this.picture.y(this.hits[i]);
    const beyond = [...this.hits.keys()].filter((i) => y(i) !== null &&
      (step < 0 ? y(i) < this.begin : y(i) > scrollY + innerHeight - 20));
    beyond.sort((a, b) => step * (y(a) - y(b)));
    if (beyond.length) this.goTo(beyond[0]);
  }

  goTo(at) {
    if (this.at >= 0) this.picture.mark(this.hits[this.at], true, false);
    this.at = at;
    const hit = this.hits[at];
    this.picture.reveal(hit);
    this.picture.mark(hit, true, true);
    const y = this.picture.y(hit), { scrollY, innerHeight } = window;
    if (y < this.begin + 20 || y > scrollY + innerHeight - 40)
      window.scrollTo(0, y - (innerHeight + this.begin - scrollY) / 2);
    this.told.textContent = this.found() + ': ' + this.picture.text(hit);
    this.scrolled();
  }

  reset() {
    this.search.value = '';
    this.find();
  }

  /* Handles the keys of the search; false for other keys. */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === this.search) return false;
    if (event.key === '/') this.search.focus();
    else if (event.key === 'n' || event.key === 'N') this.jump(event.key === 'n' ? 1 : -1);
    else return false;
    return true;
  }
}
