/* The pointer on the timeline: the tip describes the process under the pointer, dragging selects a
   time, the wheel zooms. */

const LEAST_DRAG = 5; /* pixels */

function listenToPointer(timeline) {
  const { element, scale, cursor, picked } = timeline;
  let began = null;

  const inside = (event) => {
    const box = scale.getBoundingClientRect();
    return event.clientX >= box.left && event.clientX <= box.right;
  };
  const place = (bar, left, right) => {
    const box = element.getBoundingClientRect();
    bar.style.left = left - box.left + 'px';
    bar.style.width = Math.max(right - left, 1) + 'px';
    bar.hidden = false;
  };

  /* Returns the lines of the tip: the process under the pointer, and its state at that time. */
  function lines(event) {
    const lane = event.target.closest('.lane');
    if (!lane || lane.process === undefined) return null;
    if (!inside(event)) return processLines(timeline.report, lane.process);
    const at = timeline.timeAt(event.clientX), process = timeline.report.processes[lane.process];
    const unborn = process.born !== null && at < process.born, dead = process.died !== null && at > process.died;
    const slow = (timeline.slow.get(lane.process) || []).filter((call) => call.at <= at && call.at + call.took >= at);
    return [timeline.report.processNames[lane.process], formatAt(at) + ': ' + (unborn ? 'not born' : dead ? 'dead' :
      levelText(timeline, levelAt(timeline, lane.process, at))),
    ...slow.slice(0, 5).map((call) => functionName(timeline.report, call.name) + ', ' + formatTime(call.took))];
  }

  function move(event) {
    if (began !== null) {
      const box = scale.getBoundingClientRect(), to = Math.min(Math.max(event.clientX, box.left), box.right);
      place(picked, Math.min(began, to), Math.max(began, to));
      showTip([formatTime(Math.abs(timeline.timeAt(to) - timeline.timeAt(began)))], event.clientX, event.clientY);
      return;
    }
    const told = lines(event);
    if (told) showTip(told, event.clientX, event.clientY);
    else hideTip();
    if (inside(event)) place(cursor, event.clientX, event.clientX);
    else cursor.hidden = true;
  }

  function leave() {
    cursor.hidden = true;
    hideTip();
  }

  function up(event) {
    if (began === null) return;
    const from = Math.min(began, event.clientX), to = Math.max(began, event.clientX);
    began = null;
    picked.hidden = true;
    if (to - from >= LEAST_DRAG) timeline.zoom(timeline.timeAt(from), timeline.timeAt(to));
  }

  element.addEventListener('pointermove', move);
  element.addEventListener('pointerleave', leave);
  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || event.pointerType === 'touch' || !inside(event)) return;
    began = event.clientX;
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener('pointerup', up);
  element.addEventListener('pointercancel', () => { began = null; picked.hidden = true; });
  element.addEventListener('dblclick', (event) => { if (inside(event)) timeline.zoom(0, timeline.whole); });
  element.addEventListener('wheel', (event) => {
    if (!inside(event) || !(event.ctrlKey || scale.contains(event.target))) return;
    event.preventDefault();
    timeline.scaleBy(event.deltaY > 0 ? 1.25 : 0.8, timeline.timeAt(event.clientX));
  }, { passive: false });
}
