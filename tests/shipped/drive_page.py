#!/usr/bin/env python3
"""Opens an HTML file in a headless browser and does what standard input says, with real keys and a real mouse.

    drive_page.py BROWSER FOLDER PAGE.html <steps

BROWSER is asked over a pipe, by the DevTools protocol; its profile is in FOLDER. A step is a line:

    say EXPRESSION      print what the JavaScript expression is
    run STATEMENT       run it
    script FILE         run a file
    wait EXPRESSION     until it is true
    key NAME            press it: Enter, ArrowDown, Shift+Tab, or a letter
    type TEXT           letter by letter
    click SELECTOR      in the middle of the first such element; likewise `point` without pressing
    drag SELECTOR A B   from A to B of its width, fractions of it
    print               how it looks on paper is asked for from here on
    window W H          make the window W by H pixels
    colours SCHEME      what the user prefers: light or dark
    open FILE           open another file in the same window, and wait until it is loaded
    picture FILE        write FILE, a PNG of the window

Whatever is said on the console, is thrown and not caught, or is asked of the network is printed, too, at the end.
"""
import base64
import json
import os
import subprocess
import sys
import time

FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
         '--disable-extensions', '--disable-background-networking', '--host-resolver-rules=MAP * ~NOTFOUND',
         '--window-size=1400,900', '--remote-debugging-pipe']
PATIENCE = 30  # seconds
KEYS = {'Enter': (13, '\r'), 'Escape': (27, ''), 'Backspace': (8, ''), 'Tab': (9, ''), 'Home': (36, ''), 'End': (35, ''),
        'ArrowLeft': (37, ''), 'ArrowUp': (38, ''), 'ArrowRight': (39, ''), 'ArrowDown': (40, '')}


class Browser:
    def __init__(self, browser, folder):
        there, self.writes = os.pipe()
        self.reads, back = os.pipe()
        # The protocol's are 3, where it listens, and 4, where it answers.
        for end in (there, back):
            os.set_inheritable(end, True)
        redirected = 'exec "$0" "$@" 3<&%d 4>&%d' % (there, back)
        self.process = subprocess.Popen(
            ['bash', '-c', redirected, browser, '--user-data-dir=' + folder] + FLAGS, pass_fds=(there, back),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there)
        os.close(back)
        self.asked, self.session, self.events, self.rest = 0, None, [], b''

    def message(self):
        while b'\0' not in self.rest:
            more = os.read(self.reads, 1 << 20)
            if not more:
                raise SystemExit('the browser ended')
            self.rest += more
        text, self.rest = self.rest.split(b'\0', 1)
        return json.loads(text)

    def ask(self, method, **params):
        self.asked += 1
        question = {'id': self.asked, 'method': method, 'params': params}
        if self.session:
            question['sessionId'] = self.session
        os.write(self.writes, json.dumps(question).encode() + b'\0')
        while True:
            answer = self.message()
            if answer.get('id') == self.asked:
                if 'error' in answer:
                    raise SystemExit('%s: %s' % (method, answer['error']['message']))
                return answer['result']
            self.events.append(answer)

    def open(self, path):
        target = self.ask('Target.createTarget', url='about:blank')['targetId']
        self.session = self.ask('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Network', 'Log'):
            self.ask(domain + '.enable')
        self.navigate(path)

    def navigate(self, path):
        self.ask('Page.navigate', url='file://' + os.path.abspath(path))

    def value(self, expression):
        answer = self.ask('Runtime.evaluate', expression=expression, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in answer:
            thrown = answer['exceptionDetails']
            return 'thrown: ' + thrown.get('exception', {}).get('description', thrown['text']).split('\n')[0]
        return answer['result'].get('value')

    def wait(self, expression):
        for _ in range(PATIENCE * 20):
            if self.value(expression) is True:
                return
            time.sleep(0.05)
        raise SystemExit('never true: ' + expression)

    def key(self, name):
        *with_, name = name.split('+') if len(name) > 1 else [name]
        code, text = KEYS.get(name, (ord(name.upper()) if name.isalnum() and len(name) == 1 else 0, name))
        params = {'key': name, 'windowsVirtualKeyCode': code, 'modifiers': 8 if with_ == ['Shift'] else 0}
        self.ask('Input.dispatchKeyEvent', type='keyDown', text=text, **params)
        self.ask('Input.dispatchKeyEvent', type='keyUp', **params)

    def box(self, selector):
        box = self.value('(async () => { const e = document.querySelector(%s); e.scrollIntoView({block: "center"});'
                         'for (const _ of "ab") await new Promise(requestAnimationFrame);'  # who listens has heard of it
                         'const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()' % json.dumps(selector))
        if not isinstance(box, list):
            raise SystemExit('no %s: %s' % (selector, box))
        return box

    def mouse(self, kind, x, y, pressed):
        button = {} if kind == 'mouseMoved' and not pressed else {'button': 'left', 'clickCount': 1}
        self.ask('Input.dispatchMouseEvent', type=kind, x=x, y=y, buttons=int(pressed), **button)

    def drag(self, selector, *fractions):
        x, y, width, height = self.box(selector)
        at = [x + width * float(fraction) for fraction in fractions]
        self.mouse('mouseMoved', at[0], y + height / 2, False)
        if len(at) > 1:
            self.mouse('mousePressed', at[0], y + height / 2, True)
            self.mouse('mouseMoved', at[-1], y + height / 2, True)
            self.mouse('mouseReleased', at[-1], y + height / 2, False)

    def picture(self, file):
        image = self.ask('Page.captureScreenshot')
        with open(file, 'wb') as out:
            out.write(base64.b64decode(image['data']))

    def step(self, line):
        what, _, rest = line.partition(' ')
        if what == 'say':
            value = self.value(rest)
            print(value if isinstance(value, str) else json.dumps(value))
        elif what == 'run':
            thrown = self.value('{%s; undefined}' % rest)
            if thrown:
                print(thrown)
        elif what == 'script':
            with open(rest, encoding='utf-8') as file:
                self.value(file.read())
        elif what == 'wait':
            self.wait(rest)
        elif what == 'key':
            self.key(rest)
        elif what == 'type':
            for letter in rest:
                self.key(letter)
        elif what == 'point':
            self.drag(rest, 0.5)
        elif what == 'click':
            self.drag(rest, 0.5, 0.5)
        elif what == 'drag':
            self.drag(*rest.rsplit(' ', 2))
        elif what == 'print':
            self.ask('Emulation.setEmulatedMedia', media='print')
        elif what == 'window':
            width, height = map(int, rest.split())
            self.ask('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)
        elif what == 'colours':
            self.ask('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': rest}])
        elif what == 'open':
            self.navigate(rest)
            self.wait('document.readyState === "complete"')
        elif what == 'picture':
            self.picture(rest)
        else:
            raise SystemExit('what is "%s"?' % line)

    def happened(self):
        """What the page said, and what it asked for besides itself."""
        for event in self.events:
            method, params = event.get('method'), event.get('params', {})
            if method == 'Runtime.consoleAPICalled':
                yield 'console: ' + ' '.join(str(value.get('value')) for value in params['args'])
            elif method == 'Runtime.exceptionThrown':
                thrown = params['exceptionDetails']
                yield 'thrown: ' + thrown.get('exception', {}).get('description', thrown['text'])
            elif method == 'Log.entryAdded':
                yield 'log: ' + params['entry']['text']
            elif method == 'Network.requestWillBeSent' and params.get('type') != 'Document':
                yield 'request: ' + params['request']['url']

    def close(self):
        self.ask('Runtime.evaluate', expression='0')  # what was said until here has come
        self.session = None
        self.ask('Browser.close')
        self.process.wait()


def main():
    browser = Browser(*sys.argv[1:3])
    try:
        browser.open(sys.argv[3])
        for line in sys.stdin:
            if line.strip():
                browser.step(line.strip())
        browser.close()
    finally:
        browser.process.kill()
        browser.process.wait()
    for line in browser.happened():
        print(line)


if __name__ == '__main__':
    main()
