/**
 * Loaded before the program (`node --require`). When the program sends the terminal a text that contains
 * `FIRST_FRAME_TEXT`, writes the CPU time of the main thread in milliseconds to the file `FIRST_FRAME_FILE`, and ends
 * the program.
 */
const { writeFileSync } = require('node:fs');
const { Socket } = require('node:net');

const { FIRST_FRAME_TEXT = '', FIRST_FRAME_FILE = '' } = process.env;
const { _write: write } = Socket.prototype;
Socket.prototype._write = function noteAndWrite(data, ...rest) {
  if (this.isTTY && String(data).includes(FIRST_FRAME_TEXT)) {
    const { user, system } = process.threadCpuUsage();
    writeFileSync(FIRST_FRAME_FILE, String((user + system) / 1_000));
    // In a later turn, so that compiled code is cached as after any other exit.
    process.exit(0);
  }
  return write.call(this, data, ...rest);
};
