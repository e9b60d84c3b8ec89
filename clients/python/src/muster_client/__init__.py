"""The client of Muster, the control plane for sub-agents: ``Muster`` blocks, ``AsyncMuster`` is for asyncio."""

from . import models
from ._async.brief import AsyncSessionBrief
from ._async.client import AsyncMuster
from ._async.subtask import AsyncSubtaskHandle
from ._async.worker import PermanentError, Run, RunStopped, Suspended, Worker
from ._sync.brief import SessionBrief
from ._sync.client import Muster
from ._sync.subtask import SubtaskHandle
from .errors import MusterError

__all__ = [
    "AsyncMuster",
    "AsyncSessionBrief",
    "AsyncSubtaskHandle",
    "Muster",
    "MusterError",
    "PermanentError",
    "Run",
    "RunStopped",
    "SessionBrief",
    "SubtaskHandle",
    "Suspended",
    "Worker",
    "models",
]
