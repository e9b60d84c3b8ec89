"""Spawn, wait and read, with what openapi-python-client makes of openapi.yaml. clients.test.ts runs it."""

import json
import os

from generated.api.sessions import claim_inbox
from generated.api.subtasks import create_subtask, get_subtask
from generated.client import AuthenticatedClient
from generated.models.claimed_inbox import ClaimedInbox
from generated.models.inbox_claim_request import InboxClaimRequest
from generated.models.new_subtask import NewSubtask
from generated.models.subtask import Subtask
from generated.models.subtask_status import SubtaskStatus

SESSION = os.environ["SESSION"]
ENDED = (SubtaskStatus.COMPLETED, SubtaskStatus.FAILED, SubtaskStatus.CANCELLED)
client = AuthenticatedClient(base_url=os.environ["MUSTER_URL"], token=os.environ["MUSTER_KEY"])


def claim() -> list[str]:
    claimed = claim_inbox.sync(SESSION, client=client, body=InboxClaimRequest())
    assert isinstance(claimed, ClaimedInbox), claimed
    return [str(item.subtask_id) for item in claimed.items]


subtask = create_subtask.sync(client=client, body=NewSubtask(task="Hold.", runner="hold", parent_session_id=SESSION), idempotency_key=SESSION)
assert isinstance(subtask, Subtask), subtask
print(f"holding {subtask.id}", flush=True)
while subtask.status not in ENDED:
    read = get_subtask.sync(subtask.id, client=client, wait_seconds=5)
    assert isinstance(read, Subtask), read
    subtask = read
print(json.dumps({"id": str(subtask.id), "status": subtask.status.value, "attempt": subtask.attempt, "result": subtask.result, "inbox": [*claim(), *claim()]}))
