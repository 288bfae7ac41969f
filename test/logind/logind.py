"""Stands for systemd-logind, and for systemd's manager, on a message bus of its own (stand-in.ts).
usage: logind.py SOCKET DIRECTORY OVERRIDE [stranger]

What it is asked it writes into DIRECTORY/calls, a line each. SIGUSR1 begins a shutdown, SIGUSR2 takes it back. It waits for those that hold
locks as many seconds as DIRECTORY/delay says (5), after KillUnit as many as the last file beside OVERRIDE says, unless there is a DIRECTORY/deaf. Where
there is a DIRECTORY/refuses it gives no lock. A stranger has no name on the bus: its signals go to whoever asked the other last."""
import array, glob, json, os, re, select, signal, socket, struct, sys

path, directory, override = sys.argv[1:4]
is_stranger = sys.argv[4:] == ['stranger']
has = lambda name: os.path.exists(os.path.join(directory, name))
text = lambda name: open(os.path.join(directory, name)).read()
usual = (int(text('delay')) if has('delay') else 5) * 1_000_000
delay = usual
inhibitors = []  # (what, who, why, mode, uid, pid), the end that is read

def align(buf, n):
    while len(buf) % n: buf.append(0)

def put(buf, sig, value):
    c = sig[0]
    if c in 'sog':
        raw = value.encode()
        if c == 'g': buf.append(len(raw))
        else: align(buf, 4); buf += struct.pack('<I', len(raw))
        buf += raw + b'\0'
    elif c in 'uh': align(buf, 4); buf += struct.pack('<I', value)
    elif c == 'b': align(buf, 4); buf += struct.pack('<I', int(value))
    elif c == 't': align(buf, 8); buf += struct.pack('<Q', value)
    elif c == 'v':
        put(buf, 'g', value[0]); put(buf, value[0], value[1])
    elif sig == 'a(ssssuu)':
        align(buf, 4); at = len(buf); buf += b'\0\0\0\0'; align(buf, 8); start = len(buf)
        for row in value:
            align(buf, 8)
            for s, v in zip('ssssuu', row): put(buf, s, v)
        buf[at:at + 4] = struct.pack('<I', len(buf) - start)
    else: raise ValueError(sig)

def get(data, at, c):
    if c in 'so':
        at = (at + 3) & ~3; n = struct.unpack_from('<I', data, at)[0]; at += 4
        return data[at:at + n].decode(), at + n + 1
    if c == 'g': n = data[at]; return data[at + 1:at + 1 + n].decode(), at + n + 2
    if c in 'uhbi': at = (at + 3) & ~3; return struct.unpack_from('<i' if c == 'i' else '<I', data, at)[0], at + 4
    raise ValueError(c)

serial = 0
def message(kind, fields, signature='', values=(), fds=()):
    global serial
    serial += 1
    body = bytearray()
    for s, v in zip(re.findall(r'a\([a-z]*\)|[a-z]', signature), values): put(body, s, v)
    fields = dict(fields)
    if signature: fields[8] = ('g', signature)
    if fds: fields[9] = ('u', len(fds))
    head = bytearray(struct.pack('<cBBBII', b'l', kind, 0, 1, len(body), serial))
    head += b'\0\0\0\0'; start = len(head)
    for code, (s, v) in fields.items():
        align(head, 8); head.append(code); put(head, 'g', s); put(head, s, v)
    head[12:16] = struct.pack('<I', len(head) - start)
    align(head, 8)
    data = bytes(head + body)
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', fds))] if fds else []
    sent = bus.sendmsg([data], ancillary)
    bus.sendall(data[sent:])
    return serial

pending = b''
def receive():
    global pending
    while True:
        if len(pending) >= 16:
            n, _, m = struct.unpack_from('<III', pending, 4)
            total = 16 + ((m + 7) & ~7) + n
            if len(pending) >= total:
                data, pending = pending[:total], pending[total:]
                fields, at, end = {}, 16, 16 + m
                while at < end:
                    at = (at + 7) & ~7; code = data[at]; sig, at = get(data, at + 1, 'g')
                    fields[code], at = get(data, at, sig)
                body, at, args = data[total - n:], 0, []
                for c in fields.get(8, ''):
                    value, at = get(body, at, c); args.append(value)
                return data[1], struct.unpack_from('<I', data, 8)[0], fields, args
        chunk = bus.recv(65536)
        if not chunk: sys.exit(0)
        pending += chunk

def call(member, signature='', *values):
    return message(1, {1: ('o', '/org/freedesktop/DBus'), 2: ('s', 'org.freedesktop.DBus'), 3: ('s', member), 6: ('s', 'org.freedesktop.DBus')}, signature, values)

heard = []  # while an answer was waited for

def pid_of(sender):
    number = call('GetConnectionUnixProcessID', 's', sender)
    while True:
        kind, _, fields, args = came = receive()
        if kind == 2 and fields.get(5) == number: return args[0]
        heard.append(came)

def note(*what):
    with open(os.path.join(directory, 'calls'), 'a') as f: f.write(json.dumps(what) + '\n')

def announce(begins):
    note('PrepareForShutdown', begins)
    fields = {1: ('o', '/org/freedesktop/login1'), 2: ('s', 'org.freedesktop.login1.Manager'), 3: ('s', 'PrepareForShutdown')}
    if is_stranger: fields[6] = ('s', text('client'))
    message(4, fields, 'b', [begins])

def reply(to, sender, signature='', values=(), fds=()):
    message(2, {5: ('u', to), 6: ('s', sender)}, signature, values, fds)

def handle(kind, number, fields, args):
    global delay
    if kind != 1: return
    member, sender = fields[3], fields.get(7)
    note(fields.get(6), fields.get(1), fields.get(2), member, *args)
    with open(os.path.join(directory, 'client'), 'w') as f: f.write(sender)
    if member == 'Inhibit' and has('refuses'):
        message(3, {4: ('s', 'org.freedesktop.DBus.Error.AccessDenied'), 5: ('u', number), 6: ('s', sender)}, 's', ['Permission denied'])
    elif member == 'Inhibit':
        ours, theirs = os.pipe2(os.O_CLOEXEC)
        pid = pid_of(sender)
        reply(number, sender, 'h', [0], [theirs]); os.close(theirs)
        inhibitors.append(((args[0], args[1], args[2], args[3], 0, pid), ours))
    elif member == 'ListInhibitors': reply(number, sender, 'a(ssssuu)', [[row for row, _ in inhibitors]])
    elif member == 'Get': reply(number, sender, 'v', [('t', delay)])
    elif member == 'KillUnit':
        if not has('deaf'):
            delay = usual
            for file in sorted(glob.glob(os.path.join(os.path.dirname(override), '*.conf'))):
                found = re.search(r'^InhibitDelayMaxSec=(\d+)', open(file).read(), re.M)
                if found: delay = int(found[1]) * 1_000_000
        reply(number, sender)
    else: message(3, {4: ('s', 'org.freedesktop.DBus.Error.UnknownMethod'), 5: ('u', number), 6: ('s', sender)}, 's', ['no ' + member])

bus = socket.socket(socket.AF_UNIX)
bus.connect(path)
bus.sendall(b'\0AUTH EXTERNAL ' + str(os.getuid()).encode().hex().encode() + b'\r\n')
assert bus.recv(4096).startswith(b'OK')
bus.sendall(b'NEGOTIATE_UNIX_FD\r\n')
assert bus.recv(4096).startswith(b'AGREE')
bus.sendall(b'BEGIN\r\n')
wake, waker = os.pipe2(os.O_NONBLOCK)
signal.set_wakeup_fd(waker)
for number in (signal.SIGUSR1, signal.SIGUSR2): signal.signal(number, lambda *_: None)
call('Hello')
for name in () if is_stranger else ('org.freedesktop.login1', 'org.freedesktop.systemd1'): call('RequestName', 'su', name, 0)
note('ready')
while True:
    ready, _, _ = select.select([bus, wake] + [end for _, end in inhibitors], [], [], 0 if pending else None)
    if wake in ready:
        for number in os.read(wake, 64): announce(number == signal.SIGUSR1)
    for entry in [one for one in inhibitors if one[1] in ready]:
        inhibitors.remove(entry); os.close(entry[1]); note('released', entry[0][1])
    if bus in ready or pending:
        handle(*receive())
    while heard: handle(*heard.pop(0))
