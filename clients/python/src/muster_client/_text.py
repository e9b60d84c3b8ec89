"""The text of a message of any SDK."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

#: Guides are matched against so many of the latest messages.
SCANNED = 3
#: More of a message does not help to find a guide. Its end is kept, where a failure stands.
LONGEST = 20_000
#: Fields that hold what was said, in the messages of OpenAI and Anthropic.
FIELDS = ("text", "content", "output", "value", "result")
DEEPEST = 6


def latest_texts(messages: Iterable[Any]) -> list[str]:
    texts = ["\n".join(texts_in(message, 0))[-LONGEST:] for message in list(messages)[-SCANNED:]]
    return [text for text in texts if text != ""]


def texts_in(value: Any, depth: int) -> list[str]:
    if isinstance(value, str):
        return [value] if value else []
    if value is None or depth > DEEPEST:
        return []
    if isinstance(value, (list, tuple)):
        return [text for each in value for text in texts_in(each, depth + 1)]
    fields = value if isinstance(value, Mapping) else {name: getattr(value, name, None) for name in FIELDS}
    return [text for name in FIELDS for text in texts_in(fields.get(name), depth + 1)]
