// What each key does on the list and on a trajectory. Knows the viewer by its methods.

import { byId } from "./dom.js";

export function shortcuts(viewer) {
  const { list, episode } = viewer;
  const open = () => list.entries[list.cursor] && list.onOpen(list.entries[list.cursor]);
  const down = () => list.moveTo(list.cursor + 1);
  const up = () => list.moveTo(list.cursor - 1);
  const search = () => {
    if (viewer.route.screen !== "list") viewer.back();
    requestAnimationFrame(() => viewer.filterBar.search.focus());
  };
  return {
    both: { "?": () => byId("help").showModal(), "/": search },
    list: {
      j: down,
      k: up,
      ArrowDown: down,
      ArrowUp: up,
      g: () => list.moveTo(0),
      G: () => list.moveTo(list.entries.length - 1),
      Enter: open,
      o: open,
    },
    episode: {
      j: () => viewer.moveTurn(episode.turnInSight() + 1),
      k: () => viewer.moveTurn(episode.turnInSight() - 1),
      g: () => viewer.moveTurn(0),
      G: () => viewer.moveTurn(episode.length),
      l: () => viewer.openNeighbour(1),
      h: () => viewer.openNeighbour(-1),
      ArrowRight: () => viewer.openNeighbour(1),
      ArrowLeft: () => viewer.openNeighbour(-1),
      t: () => viewer.turnTokens(),
      c: () => byId("compare")?.focus(),
      n: () => episode.goToMatch(1),
      N: () => episode.goToMatch(-1),
      Escape: () => viewer.back(),
    },
  };
}
