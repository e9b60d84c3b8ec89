# Generated from _async/brief.py by scripts/check/python-client.ts. Do not edit.
"""What a session of an agent receives: its brief first, then each change, guides, and the results of its subtasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .._text import latest_texts
from ..errors import MusterError
from ..generated import models as m
from .nouns import Sessions

T = TypeVar("T")


class SessionBrief:
    def __init__(self, session: str, sessions: Sessions) -> None:
        self.session = session
        self._sessions = sessions
        #: What failed after a model had answered: an acknowledgement, or a message that was not stored. The answer must not be lost for it.
        self.errors: list[MusterError] = []

    def inject(self, messages: list[Any]) -> m.Injection:
        """Call it before each request to a model: adds what the session has not received to the end of ``messages``, as a message of the user.

        Each item is delivered once, so keep the message in the history.
        """
        injection = self._sessions.inject(self.session, messages=latest_texts(messages))
        if injection.text != "":
            messages.append({"role": "user", "content": injection.text})
        return injection

    def around(self, messages: list[Any], request: Callable[[], T]) -> T:
        """The same around a request to a model: what was added counts as delivered only if the request succeeds.

        Otherwise it is removed from ``messages``, and delivered again after a minute.
        """
        injection = self._sessions.inject(self.session, ack="manual", messages=latest_texts(messages))
        message = {"role": "user", "content": injection.text}
        if injection.text != "":
            messages.append(message)
        try:
            answer = request()
        except BaseException:
            if injection.text != "":
                messages.remove(message)
            raise
        if injection.claim_id is not None:
            try:
                self._sessions.acknowledge(self.session, injection.claim_id)
            except MusterError as error:
                self.errors.append(error)
        return answer

    def store(self, content: str, *, role: str = "assistant", **fields: Any) -> None:
        """Stores a message of the session, such as the answer of a model."""
        if content == "":
            return
        try:
            self._sessions.post(self.session, role=role, content=content, **fields)
        except MusterError as error:
            self.errors.append(error)
