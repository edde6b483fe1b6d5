"""`agentgym serve`: serves environments to other programs until it is interrupted."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from ipaddress import ip_address

from agentgym_envs import resolve_env_id
from agentgym_envs.errors import needs_extra
from agentgym_envs.machinery.secrets import keep_out
from trainers.options.parser import OptionParser
from trainers.options.values import kwargs_for, read_object

PORT = 8000
TOKEN_VARIABLE = "AGENTGYM_TOKEN"


def main(argv: Sequence[str] | None = None) -> int:
    """Serve environments until SIGINT or SIGTERM."""
    parser = _parser()
    options = parser.parse_args(argv)
    with needs_extra("serve", "agentgym serve"):
        import wsproto as _wsproto  # noqa: F401

        from wrappers.serving.app import make_app
        from wrappers.serving.environments import served
        from wrappers.serving.running import listen, run
    from wrappers.serving.limits import Limits

    try:
        env_ids = [resolve_env_id(name) for name in options.env]
        kwargs = read_object("env_kwargs", options.env_kwargs)
        environments = served(
            env_ids, {env_id: kwargs_for(kwargs, env_id, env_ids) for env_id in env_ids}
        )
        app = make_app(
            environments,
            protocols=_protocols(options.protocol, env_ids),
            limits=Limits(
                max_sessions=options.max_sessions,
                step_timeout=options.step_timeout,
                idle_timeout=options.idle_timeout,
            ),
            host=options.host,
            token=_token(options.host, options.token),
        )
        listener = listen(options.host, options.port)
    except (ValueError, TypeError) as error:
        parser.error(str(error))
    except (OSError, OverflowError) as error:
        parser.error(
            f"--port {options.port} of --host {options.host} cannot be listened on ({error}); "
            "--port 0 takes a free one"
        )
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(message)s",
        datefmt="%Y-%m-%d %H:%M:%S",
        stream=sys.stderr,
    )
    return run(app, listener, host=options.host, names=[e.name for e in environments])


def _protocols(text: str, env_ids: Sequence[str]) -> list[str]:
    from wrappers.serving.agentgym.routes import ORIGINALS
    from wrappers.serving.app import PROTOCOLS

    names = text.split(",")
    unknown = [name for name in names if name not in PROTOCOLS]
    if unknown:
        raise ValueError(f"unknown protocol {unknown[0]!r}; allowed: {', '.join(PROTOCOLS)}")
    strangers = [env_id for env_id in env_ids if env_id not in ORIGINALS]
    if names == ["agentgym"] and strangers:
        raise ValueError(
            f"{strangers[0]} is none of AgentGym's, whose protocol serves {', '.join(ORIGINALS)}; "
            "serve it by --protocol openenv"
        )
    return names


def _token(host: str, option: str | None) -> str | None:
    """Return the token, which a server needs that other machines can reach."""
    token = option or os.environ.get(TOKEN_VARIABLE) or None
    if token is None and not _is_loopback(host):
        raise ValueError(
            f"--host {host} lets other machines in, so a token is needed: pass --token, or set "
            f"{TOKEN_VARIABLE}"
        )
    return keep_out(token)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _parser() -> OptionParser:
    parser = OptionParser(
        prog="agentgym serve",
        description="Serve environments to other programs, each under /<name> and the only one at "
        "/ too: to OpenEnv's clients over WebSocket, HTTP and MCP, and to AgentGym's over HTTP.",
        epilog="example: agentgym serve --env TextCraft --env BabyAI --port 8000",
    )
    parser.add_argument(
        "--env",
        action="append",
        required=True,
        help="id, short name or module:id of an environment; repeat for several",
    )
    parser.add_argument(
        "--env_kwargs",
        help="further arguments, as JSON; those of one environment of several under its name",
    )
    parser.add_argument(
        "--protocol", default="openenv,agentgym", help="openenv, agentgym or both (the default)"
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument(
        "--port", type=int, default=PORT, help=f"port to listen on ({PORT}); 0 takes a free one"
    )
    parser.add_argument(
        "--token",
        help="token of every client; needed with a --host that other machines reach. Better in "
        f"the environment variable {TOKEN_VARIABLE}, which no list of processes shows",
    )
    parser.add_argument("--max_sessions", type=int, default=64, help="environments at once (64)")
    parser.add_argument(
        "--step_timeout", type=float, default=600.0, help="seconds that a step may take (600)"
    )
    parser.add_argument(
        "--idle_timeout",
        type=float,
        default=3600.0,
        help="seconds without a request after which a session is closed (3600)",
    )
    return parser
