import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { startService } from './running.ts';

it('passes a body on as it came: compressed, with a byte-order mark, with invalid text', async () => {
  const seen: { bytes: Buffer; encoding: string | undefined }[] = [];
  const upstream = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      seen.push({ bytes: Buffer.concat(parts), encoding: request.headers['content-encoding'] });
      response.setHeader('Content-Type', 'application/json').end('{"choices":[]}');
    });
  });
  await new Promise<void>(resolve => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  const relayed = await startService({ upstream: { url: `http://127.0.0.1:${port}`, key: undefined } });
  onTestFinished(async () => {
    await relayed.end();
    upstream.close();
  });
  const json = Buffer.from('{"model":"far","messages":[{"role":"user","content":"x"}]}');
  const odd = Buffer.from(json);
  odd[odd.indexOf('"x"') + 1] = 0xff;
  const bodies: [Buffer, string | undefined][] = [
    [Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), json]), undefined],
    [odd, undefined],
    [gzipSync(json), 'gzip'],
  ];
  for (const [body, encoding] of bodies) {
    const answer = await fetch(`${relayed.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'X-API-Key': relayed.apiKey, ...(encoding && { 'Content-Encoding': encoding }) },
      body: new Uint8Array(body),
    });
    expect([answer.status, answer.headers.get('x-request-id')]).toEqual([200, expect.stringContaining('req_')]);
    expect(seen.at(-1)).toEqual({ bytes: body, encoding });
  }
});
