'use strict';
var data = JSON.parse(document.getElementById('data').textContent);
document.title = data.title;
document.getElementById('text').textContent = JSON.stringify(data.summary, null, 2);
