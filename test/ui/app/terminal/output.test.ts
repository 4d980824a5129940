/** Writes that a slow terminal accepts bit by bit. */
import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { Output, type OutputStream } from '../../../../src/ui/app/terminal/output.ts';

/** A terminal that accepts a write only when asked to. */
function slowTerminal() {
  const waiting: (() => void)[] = [];
  const state = { written: '', drained: 0 };
  const write = (bytes: string, done: () => void): boolean => {
    state.written += bytes;
    waiting.push(done);
    return false;
  };
  const stream = Object.assign(new EventEmitter(), { fd: -1, write }) as unknown as OutputStream;
  const output = new Output(stream, () => {
    state.drained += 1;
  });
  return { output, state, accept: () => waiting.shift()?.() };
}

const image = 'x'.repeat(40_000);

it('writes long output in slices, each once the terminal has accepted the last, and then what came meanwhile', () => {
  const { output, state, accept } = slowTerminal();
  output.writeLong(image);
  expect(state.written.length).toBe(16_384);
  output.write('bell');
  accept();
  expect(state.written.length).toBe(32_768);
  accept();
  expect(state).toEqual({ written: image, drained: 0 });
  accept();
  expect(state).toEqual({ written: `${image}bell`, drained: 0 });
  expect(output.isBlocked).toBe(true);
  accept();
  expect(state.drained).toBe(1);
  expect(output.cutOff()).toBe('');
});

it('cuts long output for what follows, and ends the sequence that it was in', () => {
  const { output, state, accept } = slowTerminal();
  output.writeLong(image);
  output.write('bell');
  output.write(`${output.cutOff()}frame`);
  output.writeLong('next');
  for (let round = 0; round < 4; round += 1) accept();
  expect(state.written.slice(16_384)).toBe('\u001b\\bellframenext');
  expect(output.cutOff()).toBe('');
  expect(output.isBlocked).toBe(false);
});
