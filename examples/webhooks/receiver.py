"""Receives deliveries of Muster and verifies them by Standard Webhooks, with the standard library alone. The secret is in WEBHOOK_SECRET.

--once: ends after the first delivery that verifies.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
TOLERANCE_SECONDS = 300
seen: set[str] = set()


def verifies(headers, body: bytes) -> bool:
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    expected = hmac.new(KEY, f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    signature = f"v1,{base64.b64encode(expected).decode()}"
    return any(hmac.compare_digest(each, signature) for each in headers.get("webhook-signature", "").split(" "))


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        is_valid = verifies(self.headers, body)
        self.send_response(204 if is_valid else 400)
        self.end_headers()
        # The same id is the same delivery, sent again.
        if is_valid and self.headers["webhook-id"] not in seen:
            seen.add(self.headers["webhook-id"])
            event = json.loads(body)
            print(f"received {event['type']}: {json.dumps(event['data'])}", flush=True)

    def log_message(self, *_args) -> None:
        pass


server = HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8099"))), Receiver)
if "--once" in sys.argv:
    while not seen:
        server.handle_request()
else:
    server.serve_forever()
