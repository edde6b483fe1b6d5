// Where the data come from: the server's answers, or the parts that an exported file holds.
// Both give the same values; nothing else knows which it is.

import { narrowed } from "./metrics.js";

async function ask(question) {
  const response = await fetch(`api/${question}`);
  const body = await response.json();
  if (!response.ok) throw new Error(body.error);
  return body;
}

function fromServer() {
  return {
    isLive: true,
    hasScenes: true,
    hasTokens: true,
    index: (epoch, from) => ask(`index?epoch=${epoch}&from=${from}`),
    curve: (run, names) => ask(`curve?run=${run}&names=${encodeURIComponent(JSON.stringify(names))}`),
    options: (run) => ask(`options?run=${run}`),
    gain: (run, vs) => ask(`gain?run=${run}&vs=${vs}`),
    episode: (id) => ask(`trajectory?id=${id}`),
    scene: (id) => ask(`scene?id=${id}`),
    tokens: (id) => ask(`tokens?id=${id}`),
    credits: (ids) => ask(`credits?ids=${ids}`),
    search: async (text) => new Set(await ask(`search?q=${encodeURIComponent(text)}`)),
  };
}

async function unpack(element) {
  const bytes = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(plain).json();
}

function textsOf(episode) {
  const { goal, task_id, subtask, policy, final_observation, error, verdict, turns } = episode;
  const own = [goal, task_id, subtask, policy, final_observation, error, verdict];
  return own.concat(turns.flatMap((turn) => [turn.observation, turn.completion]));
}

// A gain as seen from the other run.
function turned(gain) {
  if (!gain) return null;
  const { low, high, better, worse, of } = gain;
  const [own, other] = of;
  return {
    ...gain,
    gain: -gain.gain,
    low: -high,
    high: -low,
    better: worse,
    worse: better,
    of: [other, own],
  };
}

async function fromPage(element) {
  const data = await unpack(element);
  const size = data.episodes_a_part;
  const parts = new Map();
  const part = (name, number) => {
    const id = `data-${name}-${number}`;
    if (!parts.has(id)) parts.set(id, unpack(document.getElementById(id)));
    return parts.get(id);
  };
  const one = async (name, id) => (await part(name, Math.floor(id / size)))[id % size];
  return {
    isLive: false,
    hasScenes: data.with_scenes,
    hasTokens: data.with_tokens,
    index: async () => data,
    curve: async (run, names) => narrowed(data.curves[run], names),
    options: async (run) => data.options[run],
    gain: async (run, vs) => data.gains[`${run},${vs}`] ?? turned(data.gains[`${vs},${run}`]),
    episode: (id) => one("episodes", id),
    scene: (id) => one("scenes", id),
    tokens: (id) => one("tokens", id),
    credits: (ids) => Promise.all(ids.map((id) => one("credits", id))),
    search: async (text) => {
      const wanted = text.toLowerCase();
      const found = new Set();
      for (let number = 0; number * size < data.rows.length; number += 1) {
        const episodes = await part("episodes", number);
        episodes.forEach((episode, place) => {
          if (textsOf(episode).some((own) => (own ?? "").toLowerCase().includes(wanted))) {
            found.add(number * size + place);
          }
        });
      }
      return found;
    },
  };
}

export async function openSource() {
  const element = document.getElementById("data-index");
  return element ? fromPage(element) : fromServer();
}
