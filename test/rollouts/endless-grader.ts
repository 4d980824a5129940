/** A grader that never ends, and its child process. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * @param onBegun called once the child runs. If it returns false, the grader ends, and fails.
 * @returns its command line, and a promise that resolves once the child has ended
 */
export async function endlessGrader(onBegun: () => unknown) {
  const folder = mkdtempSync(join(tmpdir(), 'grader-'));
  const ended = Promise.withResolvers<void>();
  // The child holds a connection for as long as it runs.
  const server = createServer(socket => {
    socket.on('error', () => {}).on('close', () => ended.resolve());
    if (onBegun() === false) socket.destroy();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const { port } = server.address() as AddressInfo;
  const [parent, child] = [join(folder, 'parent.mjs'), join(folder, 'child.mjs')];
  writeFileSync(
    child,
    `import { connect } from 'node:net'; connect(${port}, '127.0.0.1').on('close', () => process.exit(1));`,
  );
  writeFileSync(
    parent,
    `import { spawn } from 'node:child_process'; spawn(process.execPath, ['${child}']).on('close', code => process.exit(code));`,
  );
  return { line: `${process.execPath} ${parent}`, ended: ended.promise };
}
