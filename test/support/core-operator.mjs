// node core-operator.mjs DOOR ACTION TEXT INTERACTION DECISION: makes the program of core-program.ts act once.
const [door, action, text, interaction, decision] = process.argv.slice(2);
const steps = {
  submit: () => ({ do: 'submit', prompt: text }),
  cancel: () => ({ do: 'cancel' }),
  steer: () => ({ do: 'steer', text }),
  answer: () => ({ do: 'answer', interaction, decision: JSON.parse(decision) }),
};
const response = await fetch(door, { method: 'POST', body: JSON.stringify(steps[action]()) });
process.exit(response.ok ? 0 : 1);
