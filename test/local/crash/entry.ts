/** Runs a local service in its own process, so that it can be killed. Prints its address. */
import { flushCompileCache } from 'node:module';
import { serve } from '../../../src/local/daemon/serve.ts';

const [, , dataFolder = '', upstream] = process.argv;
const service = await serve({ dataFolder, ...(upstream && { upstream: { url: upstream, key: undefined } }) });
process.stdout.write(`${JSON.stringify({ baseUrl: service.baseUrl, apiKey: service.apiKey })}\n`);
// A killed process writes nothing at its end.
flushCompileCache();
