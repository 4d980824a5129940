/** What can be done in a conversation. */
import type { CommandTable } from '../../../present/command.ts';

const group = 'Chat';

export const chatCommands = {
  send: { id: 'chat.send', title: 'send', keys: ['enter'], group, hint: 'send', palette: false },
  leave: {
    id: 'chat.leave',
    title: 'leave the input, to read and act',
    keys: ['esc'],
    group,
    hint: 'read',
    palette: false,
  },
  write: { id: 'chat.write', title: 'write', keys: ['i', 'enter'], group, hint: 'write' },
  cancel: { id: 'chat.cancel', title: 'stop the answer', keys: ['ctrl-c', 'esc'], group, hint: 'stop' },
  model: { id: 'chat.model', title: 'choose the model', keys: ['ctrl-o', 'm'], group, hint: 'model' },
  settings: { id: 'chat.settings', title: 'set the parameters', keys: ['ctrl-t', 't'], group, hint: 'parameters' },
  regenerate: { id: 'chat.regenerate', title: 'answer the last question again', keys: ['R'], group },
  edit: { id: 'chat.edit', title: 'edit the last question', keys: ['E'], group },
  side: { id: 'chat.side', title: 'read the other of two models', keys: ['v'], group },
  clear: { id: 'chat.clear', title: 'begin a new conversation', keys: ['N'], group },
  history: { id: 'chat.history', title: 'continue an earlier conversation', keys: ['H'], group, hint: 'earlier' },
  forget: { id: 'chat.forget', title: 'forget the conversation, also on disk', keys: ['X'], group },
  save: { id: 'chat.save', title: 'save the conversation as a trajectory', keys: ['S'], group, writes: true },
  copy: { id: 'chat.copy', title: 'copy the last answer', keys: ['y'], group },
} as const satisfies CommandTable;
