"""A chat server on loopback that runs a tiny model: what a real one tells, in three kinds.

``vllm`` has the tokenizer's endpoints and scores any token, as vLLM's server does. ``lists`` gives the
likeliest alternatives to each token of a reply. ``silent`` gives none, and ``strict`` refuses to be asked.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

import torch
from transformers.convert_slow_tokenizer import bytes_to_unicode

from judge.backends.transformers import TransformersBackend

BYTES = {character: byte for byte, character in bytes_to_unicode().items()}


class ChatModel:
    """The model's side: JSON in, JSON out. ``asked`` holds the paths and bodies of all requests."""

    def __init__(self, backend: TransformersBackend, kind: str, replies: Sequence[str] = ()):
        self.backend, self.kind = backend, kind
        self.replies = list(replies)
        self.logits = torch.float32  # number format of the head
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.lock = Lock()

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        with self.lock:
            self.asked.append((path, body))
            if path == "/v1/models":
                own = {"id": "tiny", "owned_by": "vllm", "max_model_len": self.backend.context_length}
                return 200, {"data": [own if self.kind == "vllm" else {"id": "tiny"}]}
            if path == "/v1/chat/completions":
                if self.kind == "strict" and "logprobs" in body:
                    return 400, {"error": {"message": "unknown field logprobs"}}
                return 200, self.complete(body)
            if path == "/tokenize" and self.kind == "vllm":
                return 200, {"tokens": self.ids(body["messages"])}
            if path == "/detokenize" and self.kind == "vllm":
                return 200, {"prompt": self.backend.loaded.tokenizer.decode(body["tokens"])}
            return 404, {"error": {"message": "Not Found"}}

    def ids(self, messages: list[dict[str, str]]) -> list[int]:
        renderer, begun = self.backend.renderer, ""
        if messages[-1]["role"] == "assistant":
            *messages, last = messages
            begun = last["content"]
        return renderer.encode(renderer.prompt_text(messages) + begun)

    def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        ids = self.ids(body["messages"])
        prompt, tokens = len(ids), []
        scripted = self.backend.renderer.encode(self.replies.pop(0)) if self.replies else []
        finish = "length"
        while len(ids) - prompt < body["max_tokens"]:
            with torch.inference_mode():
                logits = self.backend.model(torch.tensor([ids])).logits[0, -1]
            scores = logits.to(self.logits).float().log_softmax(-1)
            allowed = body.get("allowed_token_ids") or range(len(scores))
            token = scripted.pop(0) if scripted else max(allowed, key=lambda item: scores[item].item())
            if token in self.backend.renderer.stop_ids() and "allowed_token_ids" not in body:
                finish = "stop"
                break
            ids.append(token)
            wanted = (
                body.get("logprob_token_ids") or scores.topk(body.get("top_logprobs") or 1).indices.tolist()
            )
            named = body.get("return_tokens_as_token_ids", False)
            tokens.append(self.token(token, scores, named) | {
                "top_logprobs": [self.token(item, scores, named) for item in wanted]
            })  # fmt: skip
            if self.kind != "vllm" and not scripted and self.text(ids[prompt:]).endswith(("PASS", "FAIL")):
                finish = "stop"
                break
        message = {"role": "assistant", "content": self.text(ids[prompt:])}
        logprobs = {"content": tokens} if "logprobs" in body and self.kind != "silent" else None
        return {
            "choices": [{"message": message, "finish_reason": finish, "logprobs": logprobs}],
            "usage": {"prompt_tokens": prompt, "completion_tokens": len(ids) - prompt},
        }

    def text(self, ids: list[int]) -> str:
        return str(self.backend.loaded.tokenizer.decode(ids))

    def token(self, token: int, scores: torch.Tensor, named: bool) -> dict[str, Any]:
        piece = self.backend.loaded.tokenizer.convert_ids_to_tokens(token)
        return {
            "token": f"token_id:{token}" if named else self.text([token]),
            "bytes": [BYTES[character] for character in piece],
            "logprob": scores[token].item(),
        }


@contextmanager
def serving(model: ChatModel) -> Iterator[str]:
    """Serve it; gives the base URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            status, value = model.answer(self.path, json.loads(self.rfile.read(length) or b"{}"))
            content = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 64

    with Server(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()
