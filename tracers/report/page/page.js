/* The page: its sections, the search, the keys. */

/*
 * A section is {id, title, empty: the reason why the section is empty, or null, draw(body),
 * search(words) => the text of the result, escape() => true if the key Esc had an effect}.
 * The summary has the reasons of empty sections, which have no place of their own.
 */
const SECTIONS = [summarySection, functionsSection, flameSection, timelineSection, messagesSection, slowestSection, requestsSection];

function startPage() {
  const page = { report: readReport(), searched, follow, showCall };
  const all = SECTIONS.map((make) => make(page)), sections = all.filter((section) => !section.empty);
  page.absent = all.filter((section) => section.empty);
  const field = byId('search');

  function show(section, number) {
    section.found = el('span', { class: 'found-count' });
    section.body = el('div', { class: 'body' });
    section.element = el('section', { id: section.id, tabindex: -1, 'aria-labelledby': section.id + '-title' },
      el('h2', { id: section.id + '-title' }, section.title, ' ', section.found), section.body);
    byId('main').append(section.element);
    byId('nav').append(el('a', { href: '#' + section.id, 'aria-keyshortcuts': number + 1,
      onclick: (event) => visit(event, section.id) },
    section.title));
  }

  /* Draws a section. If it fails, the other sections remain as they are. */
  function draw(section) {
    try {
      section.draw(section.body);
    } catch (error) {
      section.empty = 'This section cannot be shown: ' + error.message;
      section.body.replaceChildren();
      console.error(error);
    }
    if (section.empty) section.body.append(el('p', { class: 'why' }, section.empty));
  }

  function visit(event, id) {
    event.preventDefault();
    history.replaceState(null, '', '#' + id);
    jump(id);
  }

  function jump(id) {
    const section = byId(id);
    if (!section) return;
    section.scrollIntoView();
    section.focus({ preventScroll: true });
  }

  function searched() {
    const words = field.value.trim().toLowerCase(), told = [];
    for (const section of sections) {
      if (!section.search || section.empty || !section.body.firstChild) continue;
      const found = section.search(words);
      section.found.textContent = words ? found : '';
      told.push(section.title + ': ' + found);
    }
    if (words) tell(told.join('; '));
  }

  /* Goes to the first section with a result. */
  function goToFound() {
    const first = sections.find((section) => /^[1-9]/.test(section.found.textContent));
    if (first) jump(first.id);
  }

  /* Searches for TEXT and goes to section ID. */
  function follow(text, id) {
    field.value = text;
    searched();
    jump(id);
  }

  function showCall(call) {
    sections.find((section) => section.id === 'timeline').showCall(call);
  }

  function escape() {
    const here = sections.find((section) => section.element.contains(document.activeElement));
    hideTip();
    if (here && here.escape && !here.empty && here.escape()) return;
    if (field.value) {
      field.value = '';
      searched();
    } else {
      field.blur();
      sections.forEach((section) => section.escape && !section.empty && section.escape());
    }
  }

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || byId('help').open) return;
    if (event.key === 'Escape') escape();
    else if (event.key === 'Enter' && event.target === field) goToFound();
    else if (event.target === field) return;
    else if (event.key === '/') field.select();
    else if (event.key === '?') byId('help').showModal();
    else if (sections[event.key - 1] && event.key >= '1') jump(sections[event.key - 1].id);
    else return;
    event.preventDefault();
  }

  /* Prints in light colours. */
  function printing(on) {
    document.documentElement.classList.toggle('printing', on);
    sections.forEach((section) => section.redraw && !section.empty && section.redraw());
  }

  /* Draws section by section, so that the first appear before the last are drawn. */
  function drawNext(left) {
    if (left.length === 0) {
      const took = performance.now();
      document.documentElement.dataset.drawn = took.toFixed(0);
      if (location.hash && byId(location.hash.slice(1))) jump(location.hash.slice(1));
      byId('footer').textContent = 'tracehost report, drawn in ' + formatTime(took * MILLI);
      return;
    }
    draw(left[0]);
    setTimeout(drawNext, 0, left.slice(1));
  }

  document.title = byId('title').textContent = page.report.title;
  sections.forEach(show);
  field.addEventListener('input', searched);
  byId('keys').addEventListener('click', () => byId('help').showModal());
  document.addEventListener('keydown', key);
  window.addEventListener('scroll', hideTip, { passive: true });
  window.addEventListener('beforeprint', () => printing(true));
  window.addEventListener('afterprint', () => printing(false));
  drawNext(sections);
}

/* If the file of the page is cut off, the page shows an error. */
document.addEventListener('DOMContentLoaded', () => {
  try {
    startPage();
  } catch (error) {
    byId('main').append(el('p', { class: 'note bad' }, 'The data of this page cannot be shown: ' + error.message));
    throw error;
  }
});
