#!/usr/bin/env python3
"""Makes keys and claims of NATS, as its own tool nsc does: an operator, an account with JetStream, that of the system, two users.

  nats_credentials.py FOLDER     writes server.conf, writer.creds, and forbidden.creds, whose user may not publish records
"""

import base64
import hashlib
import json
import os
import subprocess
import sys
import time

OPERATOR, ACCOUNT, USER, SEED = 14 << 3, 0, 20 << 3, 18 << 3  # the first bytes of keys; the letters O, A, U, S


def openssl(*words, data=None):
    return subprocess.run(['openssl', *words], input=data, stdout=subprocess.PIPE, check=True).stdout


def checked(data):
    """DATA and its CRC-16 (XMODEM), in base32."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return base64.b32encode(data + crc.to_bytes(2, 'little')).decode().rstrip('=')


class Key:
    def __init__(self, folder, kind):
        self.file = os.path.join(folder, 'key%d.pem' % len(os.listdir(folder)))
        openssl('genpkey', '-algorithm', 'ed25519', '-out', self.file)
        private = openssl('pkey', '-in', self.file, '-outform', 'DER')[-32:]
        self.public = checked(bytes([kind]) + openssl('pkey', '-in', self.file, '-pubout', '-outform', 'DER')[-32:])
        self.seed = checked(bytes([SEED | kind >> 5, (kind & 31) << 3]) + private)

    def sign(self, text):
        data = self.file + '.text'
        with open(data, 'w', encoding='ascii') as out:
            out.write(text)
        return openssl('pkeyutl', '-sign', '-rawin', '-inkey', self.file, '-in', data)


def encoded(data):
    return base64.urlsafe_b64encode(data).decode().rstrip('=')


def claims(issuer, subject, name, **nats):
    """A token by which the key ISSUER says what SUBJECT may do."""
    said = {'iat': int(time.time()), 'iss': issuer.public, 'sub': subject.public, 'name': name,
            'nats': dict(nats, version=2)}
    said['jti'] = base64.b32encode(hashlib.sha256(json.dumps(said).encode()).digest()).decode().rstrip('=')
    text = '.'.join(encoded(json.dumps(part).encode()) for part in ({'typ': 'JWT', 'alg': 'ed25519-nkey'}, said))
    return text + '.' + encoded(issuer.sign(text))


def write_user(folder, account, name, deny):
    user = Key(folder, USER)
    token = claims(account, user, name, type='user', pub={'deny': deny}, sub={}, subs=-1, data=-1, payload=-1)
    with open(os.path.join(folder, name + '.creds'), 'w', encoding='ascii') as out:
        out.write('-----BEGIN NATS USER JWT-----\n%s\n------END NATS USER JWT------\n\n'
                  '-----BEGIN USER NKEY SEED-----\n%s\n------END USER NKEY SEED------\n' % (token, user.seed))


def main(folder):
    operator, account, system = Key(folder, OPERATOR), Key(folder, ACCOUNT), Key(folder, ACCOUNT)
    limits = dict.fromkeys(('subs', 'data', 'payload', 'imports', 'exports', 'conn', 'leaf', 'mem_storage', 'disk_storage',
                            'streams', 'consumer'), -1)
    lines = ['operator: ' + claims(operator, operator, 'operator', type='operator'),
             'system_account: ' + system.public,
             'resolver: MEMORY',
             'resolver_preload: {%s: %s, %s: %s}' % (
                 account.public, claims(operator, account, 'account', type='account', limits=dict(limits, wildcards=True)),
                 system.public, claims(operator, system, 'system', type='account'))]
    with open(os.path.join(folder, 'server.conf'), 'w', encoding='ascii') as out:
        out.write('\n'.join(lines) + '\n')
    write_user(folder, account, 'writer', [])
    write_user(folder, account, 'forbidden', ['tracehost.>'])


main(*sys.argv[1:])
