"""Checks sessions of sequent against their hashes and seals (docs/reference/format.md).

    python3 verify.py FILE...

prints for each session "intact" and the head, or what is not as it was recorded. FILE is an
export in JSON, a SQLite file of sequent, or the rows of a PostgreSQL database as JSON, of which
the documentation has the query; before the sessions of the last two stand their names.
It needs Python 3.8 or newer and nothing else.
"""
import datetime
import hashlib
import json
import re
import sqlite3
import struct
import sys

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
COUNTS = ("branches", "bytes", "created", "entries", "epoch", "expires", "len", "notes", "revisions", "updated", "version")
INTEGERS = {"after", "number", "seq", "supersedes", "total"}
TEXTS = {"branch", "note", "text"}


def integer(n):
    return struct.pack(">q", n)


def name(text):
    data = text.encode()
    return struct.pack(">I", len(data)) + data


def micros(stamp):
    """The microseconds of an RFC 3339 time in UTC, which may have any number of decimals."""
    if isinstance(stamp, int):
        return stamp
    main, _, fraction = stamp.rstrip("Z").partition(".")
    at = datetime.datetime.fromisoformat(main + "+00:00") - EPOCH
    return (at.days * 86400 + at.seconds) * 1000000 + int(fraction.ljust(6, "0")[:6])


def fields(e):
    """The fields that the hash of an entry covers, by name."""
    if "kind" in e:
        return dict(e.get("fields", {}))
    found = {f: e[f] for f in INTEGERS if e.get(f)}
    found.update({f: e[f] for f in ("from", "revises") if e.get(f) is not None})
    found.update({f: True for f in ("extend", "final", "revision") if e.get(f)})
    found.update({f: e[f] for f in TEXTS if e.get(f)})
    found.update({"request." + k: v for k, v in (e.get("request") or {}).items()})
    found.update({"labels." + k: v for k, v in (e.get("labels") or {}).items()})
    for f in e.get("masked", {}):
        found.setdefault(f, "")
    return found


def digest(e, previous):
    b = b"sequent entry 1\n" + previous + integer(e["place"]) + name(e.get("kind", "thought")) + integer(micros(e["at"]))
    salt, masked = bytes.fromhex(e.get("salt", "00" * 16)), e.get("masked", {})
    for f, v in sorted(fields(e).items(), key=lambda item: item[0].encode()):
        if isinstance(v, bool):
            b += name(f) + b"b" + bytes([v])
        elif isinstance(v, int):
            b += name(f) + b"i" + integer(v)
        elif f in masked:
            b += name(f) + b"t" + bytes.fromhex(masked[f])
        else:
            b += name(f) + b"t" + hashlib.sha256(salt + name(f) + v.encode()).digest()
    return hashlib.sha256(b).digest()


def label(e, place=None):
    return "thought %d" % e["seq"] if "kind" not in e else "entry %d" % (place or e["place"])


def sealed(h):
    """The digest of a header: of its head, its texts by name, and its integers in the order of their names."""
    b = b"sequent header 1\n" + h["head"]
    for f, v in sorted(h["texts"].items(), key=lambda item: item[0].encode()):
        if v:
            b += name(f) + b"t" + name(v)
    for n in COUNTS:
        b += integer(h[n])
    return hashlib.sha256(b).digest()


def exported(doc):
    """The header and the log of an export."""
    h = doc["session"]
    texts = {f: h.get(f, "") for f in ("id", "owner", "state", "title", "scope", "dialect", "conclusion")}
    texts.update({"origin." + k: v for k, v in h.get("origin", {}).items()})
    texts.update({"labels." + k: v for k, v in h.get("labels", {}).items()})
    counts = {n: h.get(n, 0) for n in COUNTS}  # an export does not have all of them
    counts.update({n: micros(h[n]) for n in ("created", "updated", "expires") if n in h}, len=h["thoughts"])
    head, seal = (bytes.fromhex(h.get(f, "00" * 32)) for f in ("head", "seal"))
    return dict(counts, head=head, seal=seal, texts=texts), [unfolded(e) for e in doc["log"]]


def unfolded(e):
    """An entry of an export; a thought without its kind, and with its fields beside the proof."""
    if e["kind"] != "thought":
        return e
    return dict(e["thought"], **{f: e[f] for f in ("place", "at", "salt", "hash", "masked") if f in e}, own=e["thought"]["at"])


def verify(h, log):
    head, place, seq, said = bytes(32), 0, 0, {}
    for i, e in enumerate(log):
        thought = "kind" not in e
        if not e.get("place"):
            return label(e, place + 1) + " has no proof"
        if e["place"] != place + 1:
            if e["place"] <= place or any(o.get("place") == place + 1 for o in log[i:]):
                return label(e) + " is not at its place"
            later = next((o["seq"] for o in log[i:] if "kind" not in o), 0)
            return ("thought %d" % (seq + 1) if later > seq + 1 else "entry %d" % (place + 1)) + " is missing"
        if digest(e, head).hex() != e.get("hash") or micros(e.get("own", e["at"])) != micros(e["at"]):
            return label(e) + " was altered"
        if thought and e["seq"] != seq + 1:
            return "thought %d is missing" % (seq + 1)
        head, place, seq = bytes.fromhex(e["hash"]), place + 1, seq + thought
        if thought:
            said["state"] = "completed" if e.get("final") else "active"
        elif e["kind"] == "header":
            said.update(e.get("fields", {}))
            for f in e.get("masked", {}):
                said.pop(f, None)
    if place < h["entries"]:
        return "the log was cut off: entry %d and what followed it is missing" % (place + 1)
    if head != h["head"]:
        return "the head of the session is not what the log says"
    if seq != h["len"]:
        return "the len of the session is not what the log says"
    for f in sorted(said):
        if h["texts"].get(f, "") != said[f]:
            return "the %s of the session is not what the log says" % f
    if sealed(h) != h["seal"]:
        return "the header of the session was altered"
    return "intact " + head.hex()


def unpacked(row):
    """A row of PostgreSQL, whose texts have U+0001 and a digit in the place of U+0000 and U+0001."""
    text = lambda v: re.sub("\x01([01])", lambda m: "\0\1"[int(m[1])], v) if isinstance(v, str) else v
    return {f: text(v) for f, v in row.items()}


def raw(v):
    """The bytes of a column; PostgreSQL has them as text in JSON."""
    return v if isinstance(v, bytes) else bytes.fromhex(v[2:])


def entry(row):
    """An entry as an export has it."""
    rest = json.loads(row["rest"])
    e = {"place": row["n"], "at": row["at"], "salt": raw(row["salt"]).hex(), "hash": raw(row["hash"]).hex(), "masked": rest.get("masked", {})}
    if row["kind"] != "thought":
        return dict(e, kind=row["kind"], fields=rest.get("body", {}))
    e.update({f: row[f] for f in ("seq", "number", "total", "after", "supersedes", "final", "text", "note")})
    e.update({f: rest.get(f) for f in ("branch", "from", "revises", "revision", "extend", "labels", "request")})
    return e


def stored(row, log):
    """The header and the log in the rows of a store."""
    row = dict(json.loads(row["header"]), **row)
    texts = {f: row.get(f, "") for f in ("id", "owner", "state", "title", "scope", "dialect", "conclusion")}
    texts.update({"request.key": row["request_key"], "request.digest": row["request_digest"]})
    texts.update({"origin." + k: v for k, v in row.get("origin", {}).items()})
    texts.update({"labels." + k: v for k, v in row.get("labels", {}).items()})
    texts["origin.project"] = row["project"]
    h = {f: row.get(f, 0) for f in COUNTS}
    return dict(h, head=raw(row["head"]), seal=raw(row["seal"]), texts=texts), [entry(e) for e in log]


def sessions(path):
    """The names, headers and logs of the sessions of a file."""
    with open(path, "rb") as file:
        data = file.read()
    if data.startswith(b"SQLite format 3\0"):
        db = sqlite3.connect(path)
        db.row_factory = sqlite3.Row
        for row in db.execute("SELECT * FROM tool_sessions ORDER BY key"):
            log = db.execute("SELECT * FROM tool_log WHERE session = ? ORDER BY n", (row["key"],))
            yield row["owner"] + "/" + row["id"] + ": ", stored(row, log)
        db.close()
        return
    text, at, decoder = data.decode(), 0, json.JSONDecoder()
    while text[at:].strip():
        doc, n = decoder.raw_decode(text[at:].lstrip())
        at = len(text) - len(text[at:].lstrip()) + n
        if "format" not in doc:
            row, log = unpacked(doc["session"]), [unpacked(e) for e in doc["log"] or []]
            yield row["owner"] + "/" + row["id"] + ": ", stored(row, log)
        else:
            yield "", exported(doc)


if __name__ == "__main__":
    for path in sys.argv[1:]:
        for named, session in sessions(path):
            print(named + verify(*session))
