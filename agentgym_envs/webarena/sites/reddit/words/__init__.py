"""The forum's word lists, by what its communities talk about."""

from __future__ import annotations

from agentgym_envs.webarena.sites.reddit.words.culture import CULTURE
from agentgym_envs.webarena.sites.reddit.words.devices import DEVICES
from agentgym_envs.webarena.sites.reddit.words.home import HOME
from agentgym_envs.webarena.sites.reddit.words.outdoors import OUTDOORS
from agentgym_envs.webarena.sites.reddit.words.topic import Topic
from agentgym_envs.webarena.sites.reddit.words.towns import TOWN_TOPICS

TOPICS: tuple[Topic, ...] = (*HOME, *OUTDOORS, *DEVICES, *CULTURE, *TOWN_TOPICS)
"""Every community, in the order of their ids."""

__all__ = ["TOPICS", "Topic"]
