/* Formats of numbers, for all pictures and pages. Times are nanoseconds; null is an unknown value. */

const UNKNOWN = '–';
const COUNTS = new Intl.NumberFormat('en-US');
const MICRO = 1e3, MILLI = 1e6, SECOND = 1e9, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE;

function formatCount(count) {
  return count === null ? UNKNOWN : COUNTS.format(count);
}

/* "1 call", "2 calls" */
function formatCounted(count, one, many = one + 's') {
  return formatCount(count) + ' ' + (count === 1 ? one : many);
}

/* Three digits: "999", "1.23k", "12.3M". */
function formatShort(count) {
  if (count < 1000) return String(count);
  const [by, letter] = count < 999500 ? [1e3, 'k'] : count < 999500e3 ? [1e6, 'M'] : [1e9, 'G'];
  return digits(count / by) + letter;
}

function digits(value) {
  return value < 9.995 ? value.toFixed(2) : value < 99.95 ? value.toFixed(1) : value.toFixed(0);
}

function formatTime(ns) {
  if (ns === null) return UNKNOWN;
  if (ns < 0) return '-' + formatTime(-ns);
  if (ns < MICRO) return ns.toFixed(0) + ' ns';
  if (ns < 999.5 * MICRO) return digits(ns / MICRO) + ' µs';
  if (ns < 999.5 * MILLI) return digits(ns / MILLI) + ' ms';
  if (ns < 2 * MINUTE) return digits(ns / SECOND) + ' s';
  if (ns < 2 * HOUR) return Math.floor(ns / MINUTE) + ' min ' + Math.floor((ns % MINUTE) / SECOND) + ' s';
  return Math.floor(ns / HOUR) + ' h ' + Math.floor((ns % HOUR) / MINUTE) + ' min';
}

/* Formats all recorded digits, for the tip. */
function formatExactly(ns) {
  return ns === null ? 'unknown' : formatCount(ns) + ' ns';
}

/* Time of the first event since the recording's first record; set when the data are read. */
let firstAt = 0;

/* Formats the time NS after the first event as the time since the recording's first record, to the microsecond. */
function formatAt(ns) {
  return ns === null ? UNKNOWN : ((firstAt + ns) / SECOND).toFixed(6) + ' s';
}

function formatShare(part, whole) {
  const share = whole > 0 ? 100 * part / whole : 0;
  return (share > 0 && share < 0.01 ? '<0.01' : share.toFixed(share < 9.995 ? 2 : 1)) + ' %';
}

/* Formats the date, in UTC, of the time NS after the first event, if the system time of the first event is known. */
function formatDate(unix, ns) {
  if (unix === null) return null;
  const all = BigInt(unix) + BigInt(Math.round(ns));
  const date = new Date(Number(all / 1000000n));
  if (isNaN(date)) return null;
  const micro = String(all / 1000n % 1000000n).padStart(6, '0');
  return date.toISOString().slice(0, 19).replace('T', ' ') + '.' + micro + ' UTC';
}
