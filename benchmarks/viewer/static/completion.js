// Splits a turn into the policy's thought and its action, for reading only.
// `turn.action` is what the environment read; nothing is lost or changed.

const THOUGHT = /^\s*Thought:\s*/i;

function byHeadings(text) {
  const found = [...text.matchAll(/^[ \t]*Action:[ \t]*/gim)].at(-1);
  if (!found) return null;
  return {
    thought: text.slice(0, found.index).replace(THOUGHT, "").trim(),
    action: text.slice(found.index + found[0].length).trim(),
  };
}

function byTags(text) {
  const found = /^\s*<think>([\s\S]*?)<\/think>\s*/.exec(text);
  return found && { thought: found[1].trim(), action: text.slice(found[0].length).trim() };
}

function byFence(text) {
  const found = [...text.matchAll(/```(?:\w*\n)?([\s\S]*?)```/g)].at(-1);
  if (!found) return null;
  const around = `${text.slice(0, found.index)}${text.slice(found.index + found[0].length)}`;
  return { thought: around.replace(THOUGHT, "").trim(), action: found[1].trim() };
}

// Gives {thought, action}; all that the environment read is the action where no form is recognized.
export function takeApart({ completion, action: read }) {
  const parts = byTags(read) ?? byHeadings(read) ?? byFence(read) ?? { thought: "", action: read.trim() };
  const before = completion.endsWith(read) ? completion.slice(0, completion.length - read.length) : "";
  const thoughts = [before.replace(/<\/?think>/g, " ").trim(), parts.thought];
  return { thought: thoughts.filter(Boolean).join("\n"), action: parts.action };
}
