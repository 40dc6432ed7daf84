"""XRay: clang's own; its runtime is linked into the program."""

import bench

OWN_PLAIN = False
TITLE = 'XRay'
ROOM = ('-fxray-instrument', '-fxray-instruction-threshold=1')


def title():
    bench.need('clang', 'clang')
    return 'XRay, clang ' + bench.version('clang', '--version')


def rows(at):
    try:
        programs = [at.compile('xray_unpatched', *ROOM, compiler='clang'),
                    at.compile('xray_patched', *ROOM, compiler='clang',
                               sources=('program.c', 'answer.c', 'hit.c', 'xray.c'))]
    except bench.Missing as reason:
        raise bench.Missing('%s (Debian: libclang-rt-dev)' % reason)
    for title, program in zip(('not patched', 'patched, empty handler: entry and exit'), programs):
        yield bench.Row(title, at.start([program]), bench.OFTEN)
