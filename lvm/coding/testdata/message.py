"""Writes a message with bits back, from the doc comments of Stack, Table, Axis and
Mixture alone, in plain Python: see README.md."""
import bisect, math, struct, zlib

R = 24
SEED = 0x9E3779B9
WEIGHTS = [0.5, 0.3, 0.2]
MEANS = [(0, 0), (2, 1.5), (2, -1)]
COVS = [(1.5, 0.8, 1), (1, -0.6, 0.8), (0.3, 0.1, 1.2)]  # s11, s12, s22
GRID = [(-10, 0.5, 41), (-10, 0.25, 81)]  # first, width, bins


class Stack:
    def __init__(self, words):
        self.words = list(words)
        self.state = self.words.pop()
        if self.words:
            self.state = self.state << 32 | self.words.pop()

    def push(self, start, freq):
        if self.state >> (64 - R) >= freq:
            self.words.append(self.state & 0xFFFFFFFF)
            self.state >>= 32
        self.state = (self.state // freq << R) + self.state % freq + start

    def pop(self, find):
        slot = self.state % 2**R
        symbol, start, freq = find(slot)
        self.state = self.state // 2**R * freq + slot - start
        if self.state < 2**32 and self.words:
            self.state = self.state << 32 | self.words.pop()
        return symbol

    def all(self):
        high = self.state >> 32
        return self.words + [self.state & 0xFFFFFFFF] + ([high] if high else [])


class Table:
    def __init__(self, weights):
        free, total, below, self.starts = 2**R - len(weights), sum(weights), 0, []
        for i, w in enumerate(weights):
            self.starts.append(i + int(free * min(below / total, 1)))
            below += w
        self.starts.append(2**R)

    def slots(self, i):
        return self.starts[i], self.starts[i + 1] - self.starts[i]

    def find(self, slot):
        i = bisect.bisect_right(self.starts, slot) - 1
        return (i, *self.slots(i))


def start(axis, b, mean, sd):
    first, width, bins = axis
    if b in (0, bins):
        return 0 if b == 0 else 2**R
    z = (first + (b - 0.5) * width - mean) / sd
    return 2 * b + int((2**R - 2 * bins) * (0.5 * math.erfc(-z / math.sqrt(2)) if z > -40 else 0))


def conditionals(k, row):
    """Axis, mean and deviation of each column of a row of bins, given the one before."""
    (a, b, c), (m1, m2) = COVS[k], MEANS[k]
    l11 = math.sqrt(a)
    yield GRID[0], m1, l11
    eps = (GRID[0][0] + row[0] * GRID[0][1] - m1) / l11
    l21 = b / l11
    yield GRID[1], m2 + l21 * eps, math.sqrt(c - l21 * l21)


def slots(k, row):
    for b, (axis, mean, sd) in zip(row, conditionals(k, row)):
        s = start(axis, b, mean, sd)
        yield s, start(axis, b + 1, mean, sd) - s


def posterior(row):
    score = [math.log(w) + sum(math.log(f) for _, f in slots(k, row)) for k, w in enumerate(WEIGHTS)]
    return Table([math.exp(s - max(score)) for s in score])


def uvarint(v):
    out = b""
    while v > 127:
        out, v = out + bytes([v & 127 | 128]), v >> 7
    return out + bytes([v])


def encode(rows, bucket):
    padded = bucket + bytes(-len(bucket) % 4)
    stack, prior = Stack([*struct.unpack(f"<{len(padded)//4}I", padded), SEED]), Table(WEIGHTS)
    for row in reversed(rows):
        z = stack.pop(posterior(row).find)
        for s in reversed(list(slots(z, row))):
            stack.push(*s)
        stack.push(*prior.slots(z))
    words = stack.all()
    message = uvarint(len(rows)) + uvarint(len(bucket)) + struct.pack(f"<{len(words)}I", *words)
    return message + struct.pack("<I", zlib.crc32(message))


# Row i has the bins (15 + 7 i mod 13, 33 + 11 i mod 17): in and between the groups.
print(encode([(15 + 7 * i % 13, 33 + 11 * i % 17) for i in range(40)], b"lecture!").hex())
