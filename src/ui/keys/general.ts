/** The commands with the same meaning everywhere, with the keys of the design. Views add their own tables. */
import type { CommandTable } from '../../present/command.ts';

const move = { group: 'Move', palette: false, repeats: true } as const;

export const tableCommands = {
  up: { id: 'list.up', title: 'move up', keys: ['up', 'k'], ...move },
  down: { id: 'list.down', title: 'move down', keys: ['down', 'j'], ...move },
  pageUp: { id: 'list.page-up', title: 'move up a page', keys: ['pageup', 'ctrl-b'], ...move },
  pageDown: { id: 'list.page-down', title: 'move down a page', keys: ['pagedown', 'ctrl-f'], ...move },
  halfUp: { id: 'list.half-up', title: 'move up half a page', keys: ['ctrl-u'], ...move },
  halfDown: { id: 'list.half-down', title: 'move down half a page', keys: ['ctrl-d'], ...move },
  top: { id: 'list.top', title: 'go to the first', keys: ['g', 'home'], ...move },
  bottom: { id: 'list.bottom', title: 'go to the last', keys: ['G', 'end'], ...move },
  open: { id: 'list.open', title: 'open', keys: ['enter'], group: 'List', hint: 'open', rank: 'follow' },
  filter: { id: 'list.filter', title: 'filter', keys: ['/'], group: 'List', hint: 'filter' },
  sort: { id: 'list.sort', title: 'sort by the next column', keys: ['s'], group: 'List' },
  reverse: { id: 'list.reverse', title: 'reverse the order', keys: ['S'], group: 'List' },
  clearFilter: {
    id: 'list.clear-filter',
    title: 'clear the filter, or the marks',
    keys: ['esc'],
    group: 'List',
    palette: false,
  },
  stop: {
    id: 'list.stop',
    title: 'stop reading the rest of the list',
    keys: ['esc'],
    group: 'List',
    hint: 'stop',
    palette: false,
  },
  mark: {
    id: 'list.mark',
    title: 'mark, so that actions apply to all marked rows',
    keys: ['space'],
    group: 'List',
  },
  unmark: { id: 'list.unmark', title: 'clear all marks', keys: ['ctrl-space', 'U'], group: 'List' },
} as const satisfies CommandTable;

export const listCommands = {
  ...tableCommands,
  references: {
    id: 'list.references',
    title: 'the references of the row, such as its model',
    keys: ['tab'],
    group: 'List',
    hint: 'references',
  },
  columns: { id: 'list.columns', title: 'choose the columns and their widths', keys: ['C'], group: 'List' },
} as const satisfies CommandTable;

export const scrollCommands = {
  up: { id: 'scroll.up', title: 'scroll up', keys: ['up', 'k'], ...move },
  down: { id: 'scroll.down', title: 'scroll down', keys: ['down', 'j'], ...move },
  pageUp: { id: 'scroll.page-up', title: 'scroll up a page', keys: ['pageup', 'ctrl-b'], ...move },
  pageDown: { id: 'scroll.page-down', title: 'scroll down a page', keys: ['pagedown', 'ctrl-f', 'space'], ...move },
  halfUp: { id: 'scroll.half-up', title: 'scroll up half a page', keys: ['ctrl-u'], ...move },
  halfDown: { id: 'scroll.half-down', title: 'scroll down half a page', keys: ['ctrl-d'], ...move },
  top: { id: 'scroll.top', title: 'go to the beginning', keys: ['g', 'home'], ...move },
  bottom: { id: 'scroll.bottom', title: 'go to the end', keys: ['G', 'end'], ...move },
  search: { id: 'scroll.search', title: 'search', keys: ['/'], group: 'Search', hint: 'search' },
  next: { id: 'scroll.next', title: 'next match', keys: ['n'], group: 'Search' },
  previous: { id: 'scroll.previous', title: 'previous match', keys: ['N'], group: 'Search' },
  clearSearch: { id: 'scroll.clear-search', title: 'clear the search', keys: ['esc'], group: 'Search', palette: false },
} as const satisfies CommandTable;

export const recordCommands = {
  yank: { id: 'item.yank', title: 'copy the id, or the ids of all marked rows', keys: ['y'], group: 'This' },
  yankJson: { id: 'item.yank-json', title: 'copy as JSON', keys: ['Y'], group: 'This' },
  pin: {
    id: 'item.pin',
    title: 'pin to Watch, or unpin',
    keys: ['p'],
    group: 'This',
    hint: 'pin',
    rank: 'follow',
  },
  pager: { id: 'item.pager', title: 'open in the pager ($PAGER)', keys: ['o'], group: 'This' },
  editor: { id: 'item.editor', title: 'open in the editor ($EDITOR)', keys: ['O'], group: 'This' },
  export: { id: 'item.export', title: 'export to a file', keys: ['x'], group: 'This' },
  tree: { id: 'item.tree', title: 'show in the tree of everything', keys: ['ctrl-t'], group: 'This' },
  refresh: { id: 'item.refresh', title: 'refresh now', keys: ['r'], group: 'This' },
  actions: {
    id: 'item.actions',
    title: 'choose an action',
    keys: ['a'],
    group: 'This',
    hint: 'actions',
    palette: false,
  },
  previous: { id: 'item.previous', title: 'previous item', keys: ['['], group: 'This', counts: true },
  next: { id: 'item.next', title: 'next item', keys: [']'], group: 'This', counts: true },
} as const satisfies CommandTable;

export const globalCommands = {
  left: {
    id: 'pane.left',
    title: 'to the pane on the left',
    keys: ['left', 'h', 'shift-tab'],
    group: 'Panes',
    palette: false,
  },
  right: {
    id: 'pane.right',
    title: 'to the pane on the right',
    keys: ['right', 'l', 'tab'],
    group: 'Panes',
    palette: false,
  },
  facts: {
    id: 'pane.facts',
    title: 'show or hide the facts, in every view',
    keys: ['F'],
    group: 'Panes',
    hint: 'facts',
    rank: 'last',
  },
  sections: { id: 'pane.sections', title: 'show or hide the sections', keys: ['B'], group: 'Panes' },
  back: { id: 'go.up', title: 'back', keys: ['esc'], group: 'Go', palette: false },
  last: { id: 'go.last', title: 'previous view', keys: ['-'], group: 'Go' },
  historyBack: { id: 'go.back', title: 'back in history', keys: ['alt-left'], group: 'Go' },
  historyForward: { id: 'go.forward', title: 'forward in history', keys: ['alt-right'], group: 'Go' },
  palette: { id: 'app.palette', title: 'command palette', keys: [':'], group: 'Program', hint: 'go', palette: false },
  help: { id: 'app.help', title: 'help', keys: ['?'], group: 'Program', hint: 'help' },
  inbox: {
    id: 'app.inbox',
    title: 'open the inbox: what ended, failed or stalled',
    keys: ['I'],
    group: 'Program',
    hint: 'inbox',
    rank: 'last',
  },
  notices: { id: 'app.notices', title: 'show the latest notices', keys: ['!'], group: 'Program' },
  connect: {
    id: 'app.connect',
    title: 'connect to another service, or change the settings of this one',
    keys: ['ctrl-k'],
    group: 'Program',
  },
  pause: { id: 'app.pause', title: 'pause or resume polling', keys: ['P'], group: 'Program' },
  repaint: { id: 'app.repaint', title: 'redraw the screen', keys: ['ctrl-l'], group: 'Program' },
  suspend: { id: 'app.suspend', title: 'suspend to the shell', keys: ['ctrl-z'], group: 'Program' },
  quit: { id: 'app.quit', title: 'quit', keys: ['q', 'ctrl-c'], group: 'Program' },
} as const satisfies CommandTable;

export const typingCommands = {
  up: { id: 'typing.up', title: 'the row above', keys: ['up'], ...move },
  down: { id: 'typing.down', title: 'the row below', keys: ['down'], ...move },
  complete: {
    id: 'typing.complete',
    title: 'complete the column or the value',
    keys: ['tab'],
    group: 'Typing',
    palette: false,
  },
  accept: {
    id: 'typing.accept',
    title: 'keep the text',
    keys: ['enter'],
    group: 'Typing',
    hint: 'keep',
    palette: false,
  },
  cancel: {
    id: 'typing.cancel',
    title: 'clear the text',
    keys: ['esc'],
    group: 'Typing',
    hint: 'clear',
    palette: false,
  },
} as const satisfies CommandTable;

export const overlayCommands = {
  close: { id: 'overlay.close', title: 'close', keys: ['esc'], group: 'Window', hint: 'close', palette: false },
  submit: { id: 'overlay.submit', title: 'confirm', keys: ['enter'], group: 'Window', hint: 'ok', palette: false },
  quit: { id: 'overlay.quit', title: 'close', keys: ['q'], group: 'Window', palette: false },
} as const satisfies CommandTable;

export const paletteCommands = {
  up: { id: 'palette.up', title: 'the entry above', keys: ['up', 'ctrl-p'], ...move },
  down: { id: 'palette.down', title: 'the entry below', keys: ['down', 'ctrl-n'], ...move },
  complete: {
    id: 'palette.complete',
    title: 'complete the text',
    keys: ['tab'],
    group: 'Palette',
    palette: false,
  },
} as const satisfies CommandTable;

const door = { group: 'Facts', palette: false } as const;

/** For facts: the resources that they refer to open from there. */
export const doorCommands = {
  next: { id: 'door.next', title: 'the next reference in the facts', keys: ['tab', 'down', 'j'], ...door },
  previous: {
    id: 'door.previous',
    title: 'the previous reference in the facts',
    keys: ['shift-tab', 'up', 'k'],
    ...door,
  },
  open: {
    id: 'door.open',
    title: 'open the selected reference',
    keys: ['enter'],
    hint: 'open',
    rank: 'follow',
    ...door,
  },
} as const satisfies CommandTable;

const form = { group: 'Form', palette: false } as const;

export const formCommands = {
  submit: { id: 'form.submit', title: 'submit the form', keys: ['enter'], hint: 'send', ...form },
  cancel: { id: 'form.cancel', title: 'close the form', keys: ['esc'], hint: 'cancel', ...form },
  next: { id: 'form.next', title: 'next field', keys: ['tab'], hint: 'next field', ...form },
  previous: { id: 'form.previous', title: 'previous field', keys: ['shift-tab'], ...form },
  down: { id: 'form.down', title: 'field below', keys: ['down'], ...form },
  up: { id: 'form.up', title: 'field above', keys: ['up'], ...form },
  optionNext: { id: 'form.option-next', title: 'next option', keys: ['right', 'space'], ...form },
  optionPrevious: { id: 'form.option-previous', title: 'previous option', keys: ['left'], ...form },
  help: { id: 'form.help', title: 'help; ? in a choice', keys: ['ctrl-g', '?'], hint: 'help', ...form },
  preview: { id: 'form.preview', title: 'show the request', keys: ['ctrl-p'], hint: 'request', ...form },
} as const satisfies CommandTable;

export const confirmCommands = {
  yes: { id: 'confirm.yes', title: 'confirm', keys: ['y'], group: 'Confirmation', hint: 'yes', palette: false },
  no: {
    id: 'confirm.no',
    title: 'cancel',
    keys: ['esc', 'n', 'enter', 'q'],
    group: 'Confirmation',
    hint: 'no',
    palette: false,
  },
  typed: {
    id: 'confirm.typed',
    title: 'confirm the typed text',
    keys: ['enter'],
    group: 'Confirmation',
    hint: 'yes',
    palette: false,
  },
  leave: {
    id: 'confirm.leave',
    title: 'cancel while typing',
    keys: ['esc'],
    group: 'Confirmation',
    hint: 'no',
    palette: false,
  },
} as const satisfies CommandTable;

export const errorCommands = {
  copyRequest: {
    id: 'error.copy-request',
    title: 'copy the id of the request that failed',
    keys: ['ctrl-y'],
    group: 'This',
    hint: 'copy request id',
    rank: 'last',
  },
} as const satisfies CommandTable;

const failure = { group: 'Failure', palette: false } as const;

export const failureCommands = {
  again: { id: 'failure.again', title: 'try again', keys: ['r', 'enter'], hint: 'try again', ...failure },
  back: { id: 'failure.back', title: 'back', keys: ['esc'], hint: 'back', ...failure },
} as const satisfies CommandTable;

export const menuCommands = {
  up: { id: 'menu.up', title: 'the choice above', ...move, keys: ['up', 'k'] },
  down: { id: 'menu.down', title: 'the choice below', ...move, keys: ['down', 'j'] },
  pageUp: { id: 'menu.page-up', title: 'up a page', ...move, keys: ['pageup'] },
  pageDown: { id: 'menu.page-down', title: 'down a page', ...move, keys: ['pagedown'] },
  first: { id: 'menu.first', title: 'the first choice', ...move, keys: ['home'] },
  last: { id: 'menu.last', title: 'the last choice', ...move, keys: ['end'] },
  choose: { id: 'menu.choose', title: 'choose', keys: ['enter'], group: 'Window', hint: 'choose', palette: false },
} as const satisfies CommandTable;

const picker = { group: 'Files', palette: false } as const;

export const pickerCommands = {
  up: { id: 'picker.up', title: 'the entry above', keys: ['up'], ...picker, repeats: true },
  down: { id: 'picker.down', title: 'the entry below', keys: ['down'], ...picker, repeats: true },
  parent: { id: 'picker.parent', title: 'to the parent folder', keys: ['left'], hint: 'up', ...picker },
  use: { id: 'picker.use', title: 'choose this folder', keys: ['ctrl-o'], hint: 'choose the folder', ...picker },
} as const satisfies CommandTable;

const columnChooser = { group: 'Columns', palette: false } as const;

export const columnCommands = {
  up: { id: 'columns.up', title: 'the column above', keys: ['up', 'k'], ...columnChooser, repeats: true },
  down: { id: 'columns.down', title: 'the column below', keys: ['down', 'j'], ...columnChooser, repeats: true },
  toggle: { id: 'columns.toggle', title: 'show or hide it', keys: ['space', 'enter'], hint: 'show', ...columnChooser },
  wider: { id: 'columns.wider', title: 'make it wider', keys: ['right', '+'], hint: 'wider', ...columnChooser },
  narrower: { id: 'columns.narrower', title: 'make it narrower', keys: ['left', '-'], ...columnChooser },
  reset: { id: 'columns.reset', title: 'reset all columns', keys: ['0'], hint: 'reset', ...columnChooser },
} as const satisfies CommandTable;

/** All general tables by layer; within a layer, a key has one meaning. */
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
  doorCommands,
  failureCommands,
  errorCommands,
];
