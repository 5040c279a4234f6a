import type { ChoiceQuestion } from '../../protocol/interactions.ts';

/** The words of the demo. Plain data and pure functions: what it says and what it writes. */
export const DEMO_FILE = 'agent-runtime-demo.md';

export const opening =
  'This is a demo without a model: the words are fixed, and nothing here understands what you wrote. ' +
  'It shows how an agent streams text, asks you a question, asks before it changes a file, and stops when you say so. ' +
  'First, two questions.';

export const questions: readonly ChoiceQuestion[] = [
  {
    id: 'tone',
    header: 'Tone',
    question: 'How should the greeting in the file sound?',
    options: [
      { label: 'Friendly', description: 'A warm line.' },
      { label: 'Formal', description: 'A polite line.' },
    ],
  },
  {
    id: 'sections',
    header: 'Sections',
    question: 'What should the file contain? Choose as many as you like, or write your own.',
    multi_select: true,
    is_other: true,
    options: [
      { label: 'What was asked', description: 'Your answers to these questions.' },
      { label: 'What an agent may do', description: 'Three lines about permissions.' },
    ],
  },
];

export type Answers = ReadonlyMap<string, readonly string[]>;

/** The file as the answers want it. Texts of the person are kept on one line each. */
export function fileContent(answers: Answers): string {
  const tone = answers.get('tone')?.[0];
  const sections = answers.get('sections') ?? [];
  const greeting = tone === 'Formal' ? 'Good day.' : tone === undefined ? 'Hello.' : 'Hello, and welcome!';
  const lines = [
    '# Agent Runtime demo',
    '',
    greeting,
    '',
    'This file was written by the demo, which has no model.',
  ];
  for (const section of sections.map(oneLine).filter((name) => name !== '')) {
    lines.push('', `## ${section}`, '', ...bodyOf(section, answers));
  }
  return `${lines.join('\n')}\n`;
}

function bodyOf(section: string, answers: Answers): readonly string[] {
  if (section === 'What was asked') {
    return questions.map(({ id, question }) => {
      const given = (answers.get(id) ?? []).map(oneLine).join(', ');
      return `- ${question} ${given === '' ? 'No answer.' : given}`;
    });
  }
  if (section === 'What an agent may do') {
    return [
      '- Read the folder you chose.',
      '- Ask before it changes a file or runs a command.',
      '- Stop when you stop it.',
    ];
  }
  return ['You asked for this section.'];
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 200);

export const closing = {
  written: (path: string): string =>
    `Done: ${path} is in your folder, as the change showed. That is all this demo does.`,
  denied: 'You did not allow the change, so nothing was written. That is all this demo does.',
  notAsked: 'There is no folder here, so nothing is written. That is all this demo does.',
  failed: (reason: string): string => `The file was not written: ${reason}. That is all this demo does.`,
} as const;

export const noAnswers = 'No answers, so the file takes its usual form. ';
export const thanks = 'Thank you. ';
export const beforeChange =
  'Next it asks whether it may write one file. You see the whole change before you decide.';
export const steered = (count: number): string =>
  `Your ${count === 1 ? 'message' : `${count} messages`} arrived. This demo cannot read it, and goes on. `;

/** Small pieces, as a model would stream them. */
export const pieces = (text: string): readonly string[] => text.match(/\S+\s*(?:\S+\s*)?/g) ?? [];
