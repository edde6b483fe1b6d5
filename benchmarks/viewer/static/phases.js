// What a training run's success was before, during and after training: never one number for all.
// Knows no element.

import { OF_STEPS, phasePlace } from "./entries.js";
import { isAlike, summarize, varies } from "./filters.js";
import { percent } from "./marks.js";

function byValue(entries, name) {
  const found = new Map();
  for (const entry of entries) {
    if (!found.has(entry[name])) found.set(entry[name], []);
    found.get(entry[name]).push(entry);
  }
  return found;
}

// Whether entries differ in when they were played and in nothing else that forbids a mean.
function differInMomentOnly(entries) {
  return !["run", "env", "limit"].some((name) => varies(entries, name));
}

function successOf(entries) {
  const { success, played } = summarize(entries);
  return { success, played };
}

// {phase, success, played, step} of each phase, of training and validations the last step's; []
// where entries differ in more than their phase.
export function phasesOf(entries) {
  if (!entries.length || !differInMomentOnly(entries)) return [];
  const phases = byValue(entries, "phase");
  const inOrder = [...phases].sort(([one], [other]) => phasePlace(one) - phasePlace(other));
  return inOrder.map(([phase, own]) => {
    const last = own.reduce((most, entry) => Math.max(most, entry.step), 0);
    const hasSteps = own[0].isTraining && OF_STEPS.has(phase);
    const episodes = hasSteps ? own.filter((entry) => entry.step === last) : own;
    return { phase, step: hasSteps ? last : null, ...successOf(episodes) };
  });
}

// One success for a run, in words, and as a share for its bar; null where nothing stands for it.
export function headline(entries) {
  if (isAlike(entries) && !entries[0]?.isTraining) {
    const { success } = summarize(entries);
    return success === null ? null : { caption: percent(success), share: success };
  }
  const phases = new Map(phasesOf(entries).map((one) => [one.phase, one]));
  const [before, after] = [phases.get("before training"), phases.get("after training")];
  if (before && after) {
    return { caption: `${percent(before.success)} → ${percent(after.success)}`, share: after.success };
  }
  // Of the kept weights; those that chose them read too high.
  const fresh = phases.get("fresh episodes");
  const last = fresh ?? phases.get("validation") ?? phases.get("training") ?? [...phases.values()].at(-1);
  if (!last || last.success === null) return null;
  const at = last.step === null ? "" : `, step ${last.step}`;
  return { caption: `${last.phase}${at}: ${percent(last.success)}`, share: last.success };
}
