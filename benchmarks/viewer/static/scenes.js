// Draws what stands beside a turn: its scene, by the kind of environment, and its tokens.
// The values are those that the package `scenes` describes. Each drawing replaces the last one.

import { el } from "./dom.js";
import { drawHouse } from "./scene_alfworld.js";
import { drawGrid } from "./scene_babyai.js";
import { drawMaze } from "./scene_maze.js";
import { drawResult } from "./scene_sql.js";
import { drawCrafting } from "./scene_textcraft.js";
import { drawDocuments, drawPage, drawScore } from "./scene_texts.js";
import { tokensOfTurn } from "./scene_tokens.js";
import { drawShop } from "./scene_webshop.js";
import { drawGuesses } from "./scene_wordle.js";

const KINDS = {
  alfworld: drawHouse,
  babyai: drawGrid,
  maze: drawMaze,
  textcraft: drawCrafting,
  sciworld: drawScore,
  searchqa: drawDocuments,
  sql: drawResult,
  webarena: drawPage,
  webshop: drawShop,
  wordle: drawGuesses,
};

// Scrolls what was acted on into its box, and nothing else of the page.
function centreTarget(container) {
  const box = container.querySelector(".scene-page");
  const target = box?.querySelector(".target");
  if (!target) return;
  const above = target.getBoundingClientRect().top - box.getBoundingClientRect().top;
  box.scrollTop += above - (box.clientHeight - target.offsetHeight) / 2;
}

// `turn` counts from 0; the one after the last is how the episode was left. The scene itself says
// of which kind it is. Returns whether there is anything to see.
export function drawScene(container, envId, scene, turn) {
  container.replaceChildren();
  if (!scene?.turns?.[turn]) return false;
  const draw = KINDS[scene.kind];
  if (!draw) return false;
  container.append(...draw(scene, turn).filter(Boolean));
  centreTarget(container);
  return container.childNodes.length > 0;
}

// Returns whether the turn has tokens.
export function drawTokens(container, tokens, turn, most) {
  container.replaceChildren();
  if (!tokens) {
    container.append(el("p", { class: "scene-reason" }, "This policy's tokens were not recorded."));
    return false;
  }
  container.append(...tokensOfTurn(tokens, turn, most));
  return true;
}
