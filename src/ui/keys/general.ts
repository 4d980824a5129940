/** The commands that mean the same everywhere, with their default keys. Views add their own tables. */
import { type CommandTable, commandTable } from '../../present/command.ts';

const move = { group: 'Move', palette: false, repeats: true } as const;

export const tableCommands = commandTable('List', {
  up: { id: 'list.up', title: 'move up', keys: ['up', 'k'], ...move },
  down: { id: 'list.down', title: 'move down', keys: ['down', 'j'], ...move },
  pageUp: { id: 'list.page-up', title: 'move up a page', keys: ['pageup', 'ctrl-b'], ...move },
  pageDown: { id: 'list.page-down', title: 'move down a page', keys: ['pagedown', 'ctrl-f'], ...move },
  halfUp: { id: 'list.half-up', title: 'move up half a page', keys: ['ctrl-u'], ...move },
  halfDown: { id: 'list.half-down', title: 'move down half a page', keys: ['ctrl-d'], ...move },
  top: { id: 'list.top', title: 'go to the first', keys: ['g', 'home'], ...move },
  bottom: { id: 'list.bottom', title: 'go to the last', keys: ['G', 'end'], ...move },
  open: { id: 'list.open', title: 'open', keys: ['enter'], hint: 'open', rank: 'follow' },
  filter: { id: 'list.filter', title: 'filter', keys: ['/'], hint: 'filter' },
  sort: { id: 'list.sort', title: 'sort by the next column', keys: ['s'] },
  reverse: { id: 'list.reverse', title: 'reverse the order', keys: ['S'] },
  clearFilter: { id: 'list.clear-filter', title: 'clear the filter, or the marks', keys: ['esc'], palette: false },
  stop: { id: 'list.stop', title: 'stop reading the rest of the list', keys: ['esc'], hint: 'stop', palette: false },
  mark: { id: 'list.mark', title: 'mark it and go down: actions apply to all marked rows', keys: ['space'] },
  unmark: { id: 'list.unmark', title: 'clear all marks', keys: ['ctrl-space', 'U'] },
});

export const listCommands = {
  ...tableCommands,
  ...commandTable('List', {
    references: {
      id: 'list.references',
      title: "the row's references, such as its model",
      keys: ['tab'],
      hint: 'references',
    },
    columns: { id: 'list.columns', title: 'choose the columns, their widths and the order', keys: ['C'] },
  }),
};

export const scrollCommands = commandTable('Search', {
  up: { id: 'scroll.up', title: 'scroll up', keys: ['up', 'k'], ...move },
  down: { id: 'scroll.down', title: 'scroll down', keys: ['down', 'j'], ...move },
  pageUp: { id: 'scroll.page-up', title: 'scroll up a page', keys: ['pageup', 'ctrl-b'], ...move },
  pageDown: { id: 'scroll.page-down', title: 'scroll down a page', keys: ['pagedown', 'ctrl-f', 'space'], ...move },
  halfUp: { id: 'scroll.half-up', title: 'scroll up half a page', keys: ['ctrl-u'], ...move },
  halfDown: { id: 'scroll.half-down', title: 'scroll down half a page', keys: ['ctrl-d'], ...move },
  top: { id: 'scroll.top', title: 'go to the beginning', keys: ['g', 'home'], ...move },
  bottom: { id: 'scroll.bottom', title: 'go to the end', keys: ['G', 'end'], ...move },
  search: { id: 'scroll.search', title: 'search', keys: ['/'], hint: 'search' },
  next: { id: 'scroll.next', title: 'next match', keys: ['n'] },
  previous: { id: 'scroll.previous', title: 'previous match', keys: ['N'] },
  clearSearch: { id: 'scroll.clear-search', title: 'clear the search', keys: ['esc'], palette: false },
});

export const recordCommands = commandTable('This', {
  yank: { id: 'item.yank', title: 'copy the id, or the ids of all marked rows', keys: ['y'] },
  yankJson: { id: 'item.yank-json', title: 'copy as JSON', keys: ['Y'] },
  pin: { id: 'item.pin', title: 'pin to Watch, or unpin', keys: ['p'], hint: 'pin', rank: 'follow' },
  pager: { id: 'item.pager', title: 'open in the pager ($PAGER)', keys: ['o'] },
  editor: { id: 'item.editor', title: 'open in the editor ($EDITOR)', keys: ['O'] },
  export: { id: 'item.export', title: 'export to a file', keys: ['x'] },
  tree: { id: 'item.tree', title: 'show in the tree of everything', keys: ['ctrl-t'] },
  refresh: { id: 'item.refresh', title: 'refresh now', keys: ['r'] },
  actions: { id: 'item.actions', title: 'choose an action', keys: ['a'], hint: 'actions', palette: false },
  previous: { id: 'item.previous', title: 'previous item', keys: ['['], counts: true },
  next: { id: 'item.next', title: 'next item', keys: [']'], counts: true },
});

export const globalCommands = {
  ...commandTable('Panes', {
    left: { id: 'pane.left', title: 'to the pane on the left', keys: ['left', 'h', 'shift-tab'], palette: false },
    right: { id: 'pane.right', title: 'to the pane on the right', keys: ['right', 'l', 'tab'], palette: false },
    facts: {
      id: 'pane.facts',
      title: 'show or hide the facts, in every view',
      keys: ['F'],
      hint: 'facts',
      rank: 'last',
    },
    sections: { id: 'pane.sections', title: 'show or hide the sections', keys: ['B'] },
  }),
  ...commandTable('Go', {
    back: { id: 'go.up', title: 'back', keys: ['esc'], palette: false },
    last: { id: 'go.last', title: 'previous view', keys: ['-'] },
    historyBack: { id: 'go.back', title: 'back in history', keys: ['alt-left'] },
    historyForward: { id: 'go.forward', title: 'forward in history', keys: ['alt-right'] },
  }),
  ...commandTable('Program', {
    palette: { id: 'app.palette', title: 'command palette', keys: [':'], hint: 'go', palette: false },
    help: { id: 'app.help', title: 'help', keys: ['?'], hint: 'help' },
    inbox: {
      id: 'app.inbox',
      title: 'open the inbox: work that ended, failed or stalled',
      keys: ['I'],
      hint: 'inbox',
      rank: 'last',
    },
    notices: { id: 'app.notices', title: 'show the latest notices', keys: ['!'] },
    connect: {
      id: 'app.connect',
      title: "connect to another service, or change this one's settings",
      keys: ['ctrl-k'],
    },
    pause: { id: 'app.pause', title: 'pause or resume polling', keys: ['P'] },
    repaint: { id: 'app.repaint', title: 'redraw the screen', keys: ['ctrl-l'] },
    suspend: { id: 'app.suspend', title: 'suspend to the shell', keys: ['ctrl-z'] },
    quit: { id: 'app.quit', title: 'quit', keys: ['q', 'ctrl-c'] },
  }),
};

const typing = { group: 'Typing', palette: false } as const;

export const typingCommands = commandTable(typing, {
  up: { id: 'typing.up', title: 'the row above', keys: ['up'], ...move },
  down: { id: 'typing.down', title: 'the row below', keys: ['down'], ...move },
  complete: { id: 'typing.complete', title: 'complete the column or the value', keys: ['tab'] },
  accept: { id: 'typing.accept', title: 'keep the text', keys: ['enter'], hint: 'keep' },
  cancel: { id: 'typing.cancel', title: 'clear the text', keys: ['esc'], hint: 'clear' },
});

const overlay = { group: 'Window', palette: false } as const;

export const overlayCommands = commandTable(overlay, {
  close: { id: 'overlay.close', title: 'close', keys: ['esc'], hint: 'close' },
  submit: { id: 'overlay.submit', title: 'confirm', keys: ['enter'], hint: 'ok' },
  quit: { id: 'overlay.quit', title: 'close', keys: ['q'] },
});

const palette = { group: 'Palette', palette: false } as const;

export const paletteCommands = commandTable(palette, {
  up: { id: 'palette.up', title: 'the entry above', keys: ['up', 'ctrl-p'], ...move },
  down: { id: 'palette.down', title: 'the entry below', keys: ['down', 'ctrl-n'], ...move },
  complete: { id: 'palette.complete', title: 'complete the text', keys: ['tab'] },
});

const reference = { group: 'Facts', palette: false } as const;

/** Open the resources that facts refer to. */
export const referenceCommands = commandTable(reference, {
  next: { id: 'reference.next', title: 'the next reference in the facts', keys: ['tab', 'down', 'j'] },
  previous: { id: 'reference.previous', title: 'the previous reference in the facts', keys: ['shift-tab', 'up', 'k'] },
  open: { id: 'reference.open', title: 'open the selected reference', keys: ['enter'], hint: 'open', rank: 'follow' },
});

const form = { group: 'Form', palette: false } as const;

export const formCommands = commandTable(form, {
  submit: { id: 'form.submit', title: 'submit the form', keys: ['enter'], hint: 'send' },
  cancel: { id: 'form.cancel', title: 'close the form', keys: ['esc'], hint: 'cancel' },
  next: { id: 'form.next', title: 'next field', keys: ['tab'], hint: 'next field' },
  previous: { id: 'form.previous', title: 'previous field', keys: ['shift-tab'] },
  down: { id: 'form.down', title: 'field below', keys: ['down'] },
  up: { id: 'form.up', title: 'field above', keys: ['up'] },
  optionNext: { id: 'form.option-next', title: 'next option', keys: ['right', 'space'] },
  optionPrevious: { id: 'form.option-previous', title: 'previous option', keys: ['left'] },
  help: { id: 'form.help', title: 'help (? in a choice)', keys: ['ctrl-g', '?'], hint: 'help' },
  preview: { id: 'form.preview', title: 'show the request', keys: ['ctrl-p'], hint: 'request' },
});

const confirm = { group: 'Confirmation', palette: false } as const;

export const confirmCommands = commandTable(confirm, {
  yes: { id: 'confirm.yes', title: 'confirm', keys: ['y'], hint: 'yes' },
  no: { id: 'confirm.no', title: 'cancel', keys: ['esc', 'n', 'enter', 'q'], hint: 'no' },
  typed: { id: 'confirm.typed', title: 'confirm the typed text', keys: ['enter'], hint: 'yes' },
  leave: { id: 'confirm.leave', title: 'cancel while typing', keys: ['esc'], hint: 'no' },
});

export const errorCommands = commandTable('This', {
  copyRequest: {
    id: 'error.copy-request',
    title: "copy the failed request's id",
    keys: ['ctrl-y'],
    hint: 'copy request id',
    rank: 'last',
  },
});

const failure = { group: 'Failure', palette: false } as const;

export const failureCommands = commandTable(failure, {
  again: { id: 'failure.again', title: 'try again', keys: ['r', 'enter'], hint: 'try again' },
  back: { id: 'failure.back', title: 'back', keys: ['esc'], hint: 'back' },
});

const menu = { group: 'Window', palette: false } as const;

export const menuCommands = commandTable(menu, {
  up: { id: 'menu.up', title: 'the choice above', ...move, keys: ['up', 'k'] },
  down: { id: 'menu.down', title: 'the choice below', ...move, keys: ['down', 'j'] },
  pageUp: { id: 'menu.page-up', title: 'up a page', ...move, keys: ['pageup'] },
  pageDown: { id: 'menu.page-down', title: 'down a page', ...move, keys: ['pagedown'] },
  first: { id: 'menu.first', title: 'the first choice', ...move, keys: ['home'] },
  last: { id: 'menu.last', title: 'the last choice', ...move, keys: ['end'] },
  choose: { id: 'menu.choose', title: 'choose', keys: ['enter'], hint: 'choose' },
});

const picker = { group: 'Files', palette: false } as const;

export const pickerCommands = commandTable(picker, {
  up: { id: 'picker.up', title: 'the entry above', keys: ['up'], repeats: true },
  down: { id: 'picker.down', title: 'the entry below', keys: ['down'], repeats: true },
  parent: { id: 'picker.parent', title: 'to the parent folder', keys: ['left'], hint: 'up' },
  use: { id: 'picker.use', title: 'choose this folder', keys: ['ctrl-o'], hint: 'choose the folder' },
});

const column = { group: 'Columns', palette: false } as const;

export const columnCommands = commandTable(column, {
  up: { id: 'columns.up', title: 'the column above', keys: ['up', 'k'], repeats: true },
  down: { id: 'columns.down', title: 'the column below', keys: ['down', 'j'], repeats: true },
  toggle: { id: 'columns.toggle', title: 'show or hide it', keys: ['space', 'enter'], hint: 'show' },
  wider: { id: 'columns.wider', title: 'make it wider', keys: ['right', '+'], hint: 'wider' },
  narrower: { id: 'columns.narrower', title: 'make it narrower', keys: ['left', '-'] },
  sort: { id: 'columns.sort', title: 'sort by it; again to reverse, then to unsort', keys: ['s'], hint: 'sort' },
  reset: { id: 'columns.reset', title: 'reset all columns', keys: ['0'], hint: 'reset' },
});

/** All general tables, one per layer; within a layer, a key has one meaning. */
export const generalLayers: readonly CommandTable[] = [
  listCommands,
  scrollCommands,
  recordCommands,
  globalCommands,
  typingCommands,
  overlayCommands,
  paletteCommands,
  formCommands,
  confirmCommands,
  columnCommands,
  menuCommands,
  pickerCommands,
  referenceCommands,
  failureCommands,
  errorCommands,
];
