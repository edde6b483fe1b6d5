"""AgentGym's own HTTP, environment by environment, over `compat="agentgym"`.

Follows AgentGym 3ef9235d: the same requests, answers and habits of refusing, so that the clients of
AgentGym and AgentGym-RL play unchanged.
"""
