"""Checks an export of sequent (docs/export.md) against the hashes of its log (docs/format.md).

    python3 verify.py session.json...

prints for each file "intact" and the head, or the first entry that is not what was recorded.
It needs Python 3.8 or newer and nothing else.
"""
import datetime
import hashlib
import json
import struct
import sys

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
INTEGERS = {"after", "number", "seq", "supersedes", "total"}
TEXTS = {"branch": "branch", "note": "note", "text": "text", "requestKey": "request.key", "requestDigest": "request.digest"}


def integer(n):
    return struct.pack(">q", n)


def name(text):
    data = text.encode()
    return struct.pack(">I", len(data)) + data


def micros(stamp):
    """The microseconds of an RFC 3339 time in UTC, which may have any number of decimals."""
    main, _, fraction = stamp.rstrip("Z").partition(".")
    at = datetime.datetime.fromisoformat(main + "+00:00") - EPOCH
    return (at.days * 86400 + at.seconds) * 1000000 + int(fraction.ljust(6, "0")[:6])


def fields(e):
    """The fields that the hash of an entry covers, by name."""
    if "kind" in e:
        return dict(e.get("fields", {}))
    found = {f: e[f] for f in INTEGERS if e.get(f)}
    found.update({f: e[f] for f in ("from", "revises") if e.get(f) is not None})
    found.update({f: True for f in ("extend", "more", "revision") if e.get(f)})
    found.update({TEXTS[f]: e[f] for f in TEXTS if e.get(f)})
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


def merged(doc):
    """Thoughts and other entries in the order of their places; each keeps its own order."""
    thoughts, log = list(doc["thoughts"]), []
    for other in doc.get("entries", []):
        while thoughts and thoughts[0].get("place", 0) <= other.get("place", 0):
            log.append(thoughts.pop(0))
        log.append(other)
    return log + thoughts


def verify(doc):
    log, chain = merged(doc), doc.get("chain", {"length": 0, "head": "00" * 32})
    head, place, seq, said = bytes(32), 0, 0, {}
    for i, e in enumerate(log):
        thought = "kind" not in e
        if not e.get("place"):
            if place:
                return label(e, 0) + " has no proof, though earlier ones have"
            if e.get("seq") != seq + 1:
                return "thought %d is missing" % (seq + 1)
            seq += 1
            continue
        if e["place"] != place + 1:
            if e["place"] <= place or any(o.get("place") == place + 1 for o in log[i:]):
                return label(e) + " is not at its place"
            later = next((o["seq"] for o in log[i:] if "kind" not in o), 0)
            return ("thought %d" % (seq + 1) if later > seq + 1 else "entry %d" % (place + 1)) + " is missing"
        if digest(e, head).hex() != e.get("hash"):
            return label(e) + " was altered"
        if thought and e["seq"] != seq + 1:
            return "thought %d is missing" % (seq + 1)
        head, place, seq = bytes.fromhex(e["hash"]), place + 1, seq + thought
        if thought:
            said["state"] = "active" if e.get("more") else "completed"
        elif e["kind"] == "header":
            said.update(e.get("fields", {}))
            for f in e.get("masked", {}):
                said.pop(f, None)
    if place < chain["length"]:
        return "the log was cut off: entry %d and what followed it is missing" % (place + 1)
    if head.hex() != chain["head"]:
        return "the head of the session is not what the log says"
    have = {f: doc.get(f, "") for f in ("state", "title", "scope", "dialect", "conclusion")}
    have.update({"labels." + k: v for k, v in doc.get("labels", {}).items()})
    for f in sorted(said):
        if have.get(f, "") != said[f]:
            return "the %s of the session is not what the log says" % f
    return "intact " + head.hex()


if __name__ == "__main__":
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            print(verify(json.load(file)))
