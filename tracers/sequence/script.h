/*
 * How the picture looks, and what it does: a participant that is clicked leaves only its messages
 * plain, a search marks those that have it. The script finds all it needs in the elements: <g
 * class="p" data-c=> is a participant's column, <g class="m" data-a= data-b=> a message from a to
 * b, and its <title> the message. Browsers that are a few years old will do; nothing is asked of
 * the network.
 */
#ifndef SEQUENCE_SCRIPT_H
#define SEQUENCE_SCRIPT_H

static const char style[] = "svg { background: #fff; font: 12px monospace }\n"
                            ".p { cursor: pointer; outline: none }\n"
                            ".p rect { fill: #e8eef7; stroke: #557 }\n"
                            ".p:focus rect, .p:hover rect { stroke-width: 2 }\n"
                            ".p.chosen rect { fill: #fc6 }\n"
                            ".l { stroke: #aab; stroke-dasharray: 3 3 }\n"
                            ".m path { fill: none; stroke: #224 }\n"
                            ".m.gone path { stroke: #b22; stroke-dasharray: 5 3 }\n"
                            ".m text { paint-order: stroke; stroke: #fff; stroke-width: 3 }\n"
                            ".m .t { fill: #667 }\n"
                            ".m.away { opacity: 0.15 }\n"
                            ".m.found .w { fill: #a0f; font-weight: bold }\n"
                            "input { font: 12px monospace }\n";

static const char script[] =
    "(function () {\n"
    "  'use strict';\n"
    "  var svg = document.documentElement, chosen = null;\n"
    "  var people = Array.from(svg.querySelectorAll('.p'));\n"
    "  var messages = Array.from(svg.querySelectorAll('.m'));\n"
    "  var told = document.getElementById('told'), field = document.getElementById('search');\n"
    "  function choose(p) {\n"
    "    var count = 0;\n"
    "    chosen = p === chosen ? null : p;\n"
    "    people.forEach(function (q) {\n"
    "      q.classList.toggle('chosen', q === chosen);\n"
    "      q.setAttribute('aria-pressed', q === chosen);\n"
    "    });\n"
    "    messages.forEach(function (m) {\n"
    "      var its = !chosen || m.dataset.a === chosen.dataset.c || m.dataset.b === "
    "chosen.dataset.c;\n"
    "      m.classList.toggle('away', !its);\n"
    "      count += its;\n"
    "    });\n"
    "    told.textContent = count + ' messages' +\n"
    "      (chosen ? ' of ' + chosen.querySelector('title').textContent : '');\n"
    "  }\n"
    "  function search(words) {\n"
    "    var count = 0;\n"
    "    words = words.toLowerCase();\n"
    "    messages.forEach(function (m) {\n"
    "      var text = m.querySelector('title').textContent.toLowerCase();\n"
    "      var found = words !== '' && text.indexOf(words) >= 0;\n"
    "      m.classList.toggle('found', found);\n"
    "      count += found;\n"
    "    });\n"
    "    told.textContent = words === '' ? '' : count + ' found';\n"
    "  }\n"
    "  svg.addEventListener('click', function (event) {\n"
    "    var p = event.target.closest('.p');\n"
    "    if (p) choose(p);\n"
    "  });\n"
    "  svg.addEventListener('keydown', function (event) {\n"
    "    var p = event.target.closest && event.target.closest('.p');\n"
    "    if (event.key === 'Escape') { field.value = ''; search(''); choose(null); }\n"
    "    else if (event.target === field) return;\n"
    "    else if (event.key === '/') field.focus();\n"
    "    else if (p && (event.key === 'Enter' || event.key === ' ')) choose(p);\n"
    "    else return;\n"
    "    event.preventDefault();\n"
    "  });\n"
    "  /* Who they are stays in sight. */\n"
    "  window.addEventListener('scroll', function () {\n"
    "    var down = Math.max(0, window.scrollY - 44);\n"
    "    people.forEach(function (p) { p.setAttribute('transform', 'translate(0,' + down + ')'); "
    "});\n"
    "  });\n"
    "  field.addEventListener('input', function () { search(field.value); });\n"
    "  choose(null);\n"
    "})();\n";

#endif
