"""A policy for `tests.helpers.CountingEnv` that needs no model."""

from trainers.rollout.policy import Policy, Reply, Stop


class Adds(Policy):
    """Adds what the task and the counter say; notes who was asked together."""

    name = "adds"

    def __init__(self):
        self.asked = []
        self.known = set()
        self.left = []

    def act(self, episodes):
        self.known |= {episode.key for episode in episodes}
        self.asked.append([episode.trajectory.task_id for episode in episodes])
        return [self.answer(episode) for episode in episodes]

    def answer(self, episode):
        counter = int(episode.observation.rstrip(".").rpartition(" ")[2])
        if counter >= 27:
            return Stop("no_action")
        return Reply(f"add {1 + (episode.key + counter) % 9}")

    def leave(self, episode):
        self.left.append(episode.key)
