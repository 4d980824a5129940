/**
 * Loaded before the program (`node --require`): notes the CPU time that the main thread has taken when the terminal is
 * sent something that holds `FIRST_FRAME_TEXT`, in milliseconds, in the file `FIRST_FRAME_FILE`, and ends the program.
 */
const { writeFileSync } = require('node:fs');
const { Socket } = require('node:net');

const { FIRST_FRAME_TEXT = '', FIRST_FRAME_FILE = '' } = process.env;
const { _write: write } = Socket.prototype;
Socket.prototype._write = function noteAndWrite(data, ...rest) {
  if (this.isTTY && String(data).includes(FIRST_FRAME_TEXT)) {
    const { user, system } = process.threadCpuUsage();
    writeFileSync(FIRST_FRAME_FILE, String((user + system) / 1_000));
    // In a turn of its own, so that compiled code is kept as after any other end.
    process.exit(0);
  }
  return write.call(this, data, ...rest);
};
