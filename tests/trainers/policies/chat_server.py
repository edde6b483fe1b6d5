"""What a server answers in OpenAI's protocol (and vLLM's additions for token ids).

The answers are prepared, or a transformers model's; `tests.serving` gives them over real HTTP.
"""

from __future__ import annotations

import threading
from typing import Any

from tests.serving import Answer
from trainers.tokens.generation import Sampling


def message(
    text: Any,
    *,
    prompt_tokens: int = 5,
    cached_tokens: int = 0,
    tokens: int = 2,
    finish_reason: str = "stop",
    **fields: Any,
) -> dict[str, Any]:
    """A chat completion; `fields` are further ones of its message."""
    said = {"role": "assistant", "content": text, **fields}
    return {
        "choices": [{"message": said, "finish_reason": finish_reason}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "prompt_tokens_details": {"cached_tokens": cached_tokens},
            "completion_tokens": tokens,
            "total_tokens": prompt_tokens + tokens,
        },
    }


def models(*names: str, max_model_len: int | None = None) -> Answer:
    found = [{"id": name, "max_model_len": max_model_len} for name in names]
    return lambda body: {"data": found}


def chat_of(model: Any, tokenizer: Any) -> Answer:
    """Chat completions by a model, as a server that renders and encodes the messages itself."""
    from trainers.backends.hf import HFBackend  # other servers here need no torch

    backend, lock = HFBackend(model), threading.Lock()

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        ids = tokenizer.apply_chat_template(
            body["messages"], add_generation_prompt=True, tokenize=True, return_dict=False
        )
        stop = tokenizer.eos_token_id
        sampling = Sampling(body["max_tokens"], body["temperature"], (stop,))
        with lock:
            backend.generator.manual_seed(body["seed"])
            (turn,) = backend.generate([list(ids)], sampling)
        text = tokenizer.decode(turn.ids[: -1 if turn.stopped else None])
        return message(text, prompt_tokens=len(ids), tokens=len(turn.ids))

    return answer


def scores_of(model: Any) -> Answer:
    """The log-probabilities of a prompt's ids, as vLLM's completions give them."""
    import torch

    lock = threading.Lock()

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        assert body["prompt_logprobs"] == 0
        ids = body["prompt"]
        with lock, torch.no_grad():
            logps = model(torch.tensor([ids])).logits[0].float().log_softmax(-1)
        pairs = zip(logps, ids[1:], strict=False)
        scored = [{str(id_): {"logprob": float(own[id_]), "rank": 1}} for own, id_ in pairs]
        return {"choices": [{"prompt_logprobs": [None, *scored]}]}

    return answer


def completions_of(model: Any, *, tempers: bool = True) -> Answer:
    """vLLM's completions by token ids; `tempers` as with its `processed_logprobs`."""
    import torch  # other servers here need none

    from trainers.backends.hf import HFBackend

    backend, lock = HFBackend(model), threading.Lock()

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        stops = tuple(body["stop_token_ids"])
        sampling = Sampling(body["max_tokens"], body["temperature"], stops)
        with lock:
            backend.generator.manual_seed(body["seed"])
            (turn,) = backend.generate([body["prompt"]], sampling)
            with torch.no_grad():
                logits = model(torch.tensor([body["prompt"]])).logits[0, -1].float()
        temperature = (body["temperature"] or 1.0) if tempers else 1.0
        top = torch.log_softmax(logits / temperature, -1).topk(max(body["logprobs"], 1)).values
        likeliest = {f"token_id:{place}": float(value) for place, value in enumerate(top)}
        logprobs = {"token_logprobs": turn.logprobs, "top_logprobs": [likeliest]}
        return {"choices": [{"token_ids": turn.ids, "logprobs": logprobs}]}

    return answer
